// SPDX-License-Identifier: Apache-2.0
//
// The payload of a RECD chunk (docs/formats/trace-format.md): records by columns, so that what is alike lies
// together and compresses. Nothing but bytes: no files, no state beyond one chunk.
#ifndef CAIRN_FORMAT_TRACE_RECORD_CHUNK_H_
#define CAIRN_FORMAT_TRACE_RECORD_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "format/calls/record.h"
#include "format/trace/record_kinds.h"

namespace cairn {

// Limits that writer and reader share.
inline constexpr uint32_t kMaxRecordsInChunk = 1u << 20;
inline constexpr uint32_t kMaxRecordChunkBytes = 16u << 20;  // raw
inline constexpr uint32_t kMaxTraceThreads = 1u << 20;       // in TEND; indices may be larger
inline constexpr uint32_t kMaxBodyBytes = kMaxBlobBytes + sizeof(BlobBody);
inline constexpr uint8_t kLastRecordKind = static_cast<uint8_t>(RecordKind::kStructure);

// The location of the bytes of a kBlob record.
struct StoredBlob {
  uint64_t number = 0;        // of the record
  uint64_t chunk_offset = 0;  // in the file, of the header of the BLOB chunk; 0: not yet written
  uint32_t offset_bytes = 0;  // in the chunk's payload
  uint32_t size_bytes = 0;
};

// The header of a payload of records.
struct RecordChunkHeader {
  uint64_t first_number = 0;
  uint64_t last_number = 0;
  uint64_t first_frame = 0;  // ordinal, from 0, of the frame that the first record belongs to
  uint32_t record_count = 0;
  uint32_t frame_ends = 0;
};

class RecordChunkEncoder {
 public:
  // A record that CheckRecord accepts, later than the one before. `blob`: where a kBlob's bytes are.
  void Add(const Record& record, const StoredBlob* blob);
  // The chunk that blobs without a place have gone into.
  void PlaceBlobs(uint64_t chunk_offset);

  bool empty() const { return records_.empty(); }
  size_t record_count() const { return records_.size(); }
  // About as many as the payload will have.
  size_t size_bytes() const { return bodies_.size() + records_.size() * kColumnBytes; }
  RecordChunkHeader header(uint64_t first_frame) const;

  // The payload; the encoder is empty afterwards.
  std::vector<std::byte> Take(uint64_t first_frame);

 private:
  static constexpr size_t kColumnBytes = 6;
  struct Pending {
    RecordKind kind;
    uint8_t flags;
    uint16_t method;
    uint32_t thread;
    uint64_t number;
    uint64_t object;
    uint64_t call;  // kResult
    size_t body_offset;
    size_t body_bytes;
  };

  std::vector<Pending> records_;
  std::vector<std::byte> bodies_;
  std::vector<StoredBlob> blobs_;
  uint32_t frame_ends_ = 0;
};

// Returns Ok if a record may stand in a trace: kInvalidArgument with its fault.
Status CheckRecord(const Record& record, RecordKinds kinds);

struct DecodedRecords {
  RecordChunkHeader header;
  std::vector<Record> records;    // their bodies lie in `bodies`
  std::vector<StoredBlob> blobs;  // of the kBlob records, in order
  std::vector<std::byte> bodies;
};

// Errors: kCorrupt.
Result<RecordChunkHeader> DecodeRecordChunkHeader(std::span<const std::byte> payload);
// Takes at most 100 bytes for each byte of `payload`, and not more than 200 MiB. kBlob records have the
// BlobBody alone. Errors: kCorrupt, with the number of the record where that is known.
Result<DecodedRecords> DecodeRecordChunk(std::span<const std::byte> payload);

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_RECORD_CHUNK_H_
