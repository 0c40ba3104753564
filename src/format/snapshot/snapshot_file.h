// SPDX-License-Identifier: Apache-2.0
//
// A Snapshot as chunks of a .cairn file. The payloads are specified in docs/formats/cairn-file.md, "Snapshot
// chunks".
#ifndef CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_FILE_H_
#define CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_FILE_H_

#include "base/status.h"
#include "format/file/chunk.h"
#include "format/file/file_reader.h"
#include "format/file/file_writer.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

inline constexpr ChunkType kProcessChunk = MakeChunkType("PROC");
inline constexpr ChunkType kTextChunk = MakeChunkType("TEXT");
inline constexpr ChunkType kDeviceChunk = MakeChunkType("DEVS");
inline constexpr ChunkType kQueueChunk = MakeChunkType("QUEU");
inline constexpr ChunkType kPipelineChunk = MakeChunkType("PIPE");
inline constexpr ChunkType kRecordingChunk = MakeChunkType("RECS");
inline constexpr ChunkType kEventChunk = MakeChunkType("EVNT");
inline constexpr ChunkType kSubmissionChunk = MakeChunkType("SUBM");
inline constexpr ChunkType kRawMarkerChunk = MakeChunkType("RAWM");
inline constexpr ChunkType kAnnotationChunk = MakeChunkType("ANNO");
inline constexpr ChunkType kObjectChunk = MakeChunkType("OBJS");
inline constexpr ChunkType kThreadChunk = MakeChunkType("THRD");
inline constexpr ChunkType kReportedEventIdChunk = MakeChunkType("EVID");
inline constexpr ChunkType kQueueMarkerChunk = MakeChunkType("QMRK");
inline constexpr ChunkType kSyncChunk = MakeChunkType("SYNC");
inline constexpr ChunkType kFaultChunk = MakeChunkType("FALT");
inline constexpr ChunkType kSubmissionEndChunk = MakeChunkType("ENDS");
inline constexpr ChunkType kMemoryChunk = MakeChunkType("MEMO");
inline constexpr ChunkType kVendorBinaryChunk = MakeChunkType("FBIN");
inline constexpr ChunkType kCheckpointChunk = MakeChunkType("CKPT");
inline constexpr ChunkType kShaderChunk = MakeChunkType("SHDR");
inline constexpr ChunkType kShaderCodeChunk = MakeChunkType("SHDC");
inline constexpr ChunkType kKernelLogChunk = MakeChunkType("KLOG");
inline constexpr ChunkType kDestructionChunk = MakeChunkType("DSTR");
inline constexpr ChunkType kDescriptorSetChunk = MakeChunkType("DSET");
inline constexpr ChunkType kPipelineDescriptorChunk = MakeChunkType("PDSC");
inline constexpr ChunkType kDescribedPipelineChunk = MakeChunkType("PTGT");
inline constexpr ChunkType kUserDataChunk = MakeChunkType("UDAT");
inline constexpr ChunkType kUserDataBytesChunk = MakeChunkType("UDAB");
inline constexpr ChunkType kLossChunk = MakeChunkType("LOSS");

// An empty chunk before each snapshot of a file that holds more than this snapshot. If a file has
// several snapshots, the last one counts.
inline constexpr ChunkType kSnapshotStartChunk = MakeChunkType("SNAP");

// Bits of an event in EVNT.
inline constexpr unsigned kEventBitEnd = 1;
inline constexpr unsigned kEventBitMatched = 2;
// 16, 32 and 64 of an end are kEventDrainsOther, kEventDrainsDispatches and kEventDrainsDraws.
inline constexpr unsigned kEventBitAnnotation = 32;  // of a begin
inline constexpr unsigned kEventBitAddress = 64;     // of a bind
inline constexpr unsigned kEventBitBind = 128;

// Limits of the data read back, against payloads that decode to far more than they hold. All rows
// of tables together, and all names, cost no more than the file's size allows
// (format/file/file_cost.h).
inline constexpr uint64_t kMaxFileTextBytes = uint64_t{256} << 20;
inline constexpr size_t kMaxRowTextBytes = 1u << 16;  // of a text that stands in its row
inline constexpr uint32_t kMaxFileNameBytes = 4096;   // longer ones are cut
inline constexpr uint32_t kShortNameBytes = 64;  // which any row may have, however many there are
inline constexpr uint32_t kMaxFileIncidents = 65536;
inline constexpr uint32_t kMaxFileKernelLines = 4096;  // a kernel keeps no more of them
inline constexpr uint32_t kMaxFileLosses = 10'000;     // later ones are not told
inline constexpr uint32_t kMaxFileObjects = 1u << 20;
inline constexpr uint32_t kMaxFileRecordings = 4u << 20;
inline constexpr uint32_t kMaxShaderDescriptors = 4096;  // of a pipeline
inline constexpr uint32_t kMaxFileRawMarkers = 16u << 20;
inline constexpr uint64_t kMaxFileBlobBytes = uint64_t{64} << 20;

// Writes the process and the incidents, and syncs: a few hundred bytes that say what happened, on
// disk before anything that takes time. Uses only `process`, `incidents` and `text`, so the caller
// need not have read the block yet. Errors: those of FileWriter.
Status WriteSnapshotHead(const Snapshot& snapshot, FileWriter* writer);

// Writes everything, process and incidents once more (the last one read counts). Neither syncs nor
// finishes. Errors: those of FileWriter. Cost: bench WriteSnapshot.
Status WriteSnapshotBody(const Snapshot& snapshot, FileWriter* writer);

// Head, then body.
Status WriteSnapshot(const Snapshot& snapshot, FileWriter* writer);

// Reads the snapshot of a file. Missing, damaged and contradictory data are omitted and named in
// Snapshot::losses, together with the reader's own losses. The result is as consistent as one that
// was taken from a block, whatever the payloads say.
// Errors: kNotFound when the file holds no process chunk: it may be fine, but holds no snapshot.
Result<Snapshot> ReadSnapshot(const FileReader& reader);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_FILE_H_
