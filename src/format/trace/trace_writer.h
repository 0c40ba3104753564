// SPDX-License-Identifier: Apache-2.0
//
// Records, in the order of their numbers, into chunks of a .cairn file. docs/formats/trace-format.md.
//
//   TraceWriter writer(&file);
//   writer.Begin(facts);
//   writer.Add(record); ...
//   writer.Finish(unreturned);      index; the file itself is finished by its owner
//
// One thread. Memory: four chunks (kTraceChunkBytes each), 80 bytes for each distinct blob of the last
// kKnownBlobs, and 48 bytes for each chunk written.
#ifndef CAIRN_FORMAT_TRACE_TRACE_WRITER_H_
#define CAIRN_FORMAT_TRACE_TRACE_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/calls/record.h"
#include "format/file/file_writer.h"
#include "format/trace/record_kinds.h"

namespace cairn {

inline constexpr ChunkType kTraceTableChunk =
    MakeChunkType("TABL");  // names of methods, chains; facts
inline constexpr ChunkType kTraceRecordChunk = MakeChunkType("RECD");  // records
inline constexpr ChunkType kTraceBlobChunk = MakeChunkType("BLOB");    // bytes of blobs
inline constexpr ChunkType kTraceIndexChunk =
    MakeChunkType("TIDX");  // where which frame and record is
inline constexpr ChunkType kTraceEndChunk = MakeChunkType("TEND");  // threads, and unreturned calls
inline constexpr size_t kTraceChunkBytes = 1u << 20;                // raw, of records; of blobs
inline constexpr size_t kKnownBlobs = 1u << 20;

struct TraceFacts {
  std::string program;
  std::string command_line;
  std::string library_version;
  uint64_t process_id = 0;
  uint64_t start_realtime_ns = 0;
  uint64_t start_monotonic_ns = 0;
  bool trimmed = false;  // made from another trace
};

struct TraceThread {
  uint32_t index = 0;
  uint32_t thread_id = 0;
  std::string name;
  uint64_t unreturned_call = 0;  // 0: none
};

// The totals that a finished trace stores.
struct TraceTotals {
  uint64_t records = 0;
  uint64_t calls = 0;
  uint64_t frames = 0;       // ends of frames
  uint64_t first_frame = 0;  // FrameBody::frame of the first of them
  uint64_t objects = 0;
  uint64_t blobs = 0;
  uint64_t blob_bytes = 0;         // as recorded
  uint64_t stored_blob_bytes = 0;  // each distinct blob once, before compression
};

struct TraceTable;  // format/trace/trace_tables.h

class TraceWriter {
 public:
  // `file` must outlive the writer. `chunk_bytes`: raw size of a chunk, at most 8 MiB; larger ones are
  // smaller in the file, and take longer to seek into.
  explicit TraceWriter(FileWriter* file, size_t chunk_bytes = kTraceChunkBytes);
  ~TraceWriter();

  // First of all. The second: records of another trace follow, whose numbers of methods and chains mean
  // what its table says (TraceReader::table()).
  Status Begin(const TraceFacts& facts);
  Status Begin(const TraceTable& table);
  // Numbers must rise. kBlob records come with their bytes in `body` behind BlobBody (never spilled):
  // equal bytes are stored once.
  // Errors: kInvalidArgument (CheckRecord of format/trace/record_chunk.h, or a number that does not rise): the
  // record is left out, and the writer goes on; others are those of FileWriter::Append.
  Status Add(const Record& record, RecordKinds kinds = RecordKinds::kKnown);
  // Writes all added records into chunks of the file; without this call a chunk is written when it
  // is full.
  Status Flush();
  // Flushes, and writes the end, the index and the table once more. Nothing may be added afterwards.
  // `ended` false: the copy of a recording that was cut, which is to stay one.
  Status Finish(std::span<const TraceThread> threads, bool ended = true);

  const TraceTotals& totals() const;
  uint64_t records() const { return totals().records; }
  uint64_t frames() const { return totals().frames; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_TRACE_WRITER_H_
