// SPDX-License-Identifier: Apache-2.0
#include "format/trace/trace_writer.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "format/trace/record_chunk.h"
#include "format/trace/trace_tables.h"

namespace cairn {
namespace {

constexpr size_t kLargestChunkBytes = 8u << 20;

struct BlobKey {
  uint64_t low = 0;
  uint64_t high = 0;
  uint32_t size_bytes = 0;
  friend bool operator==(const BlobKey&, const BlobKey&) = default;
};

struct BlobKeyHash {
  size_t operator()(const BlobKey& key) const { return static_cast<size_t>(key.low); }
};

// Maps a blob's bytes to its place in the file. Two generations: when the younger one is full, the
// older one is dropped, so that blobs not seen for long cost no memory.
class KnownBlobs {
 public:
  StoredBlob* Find(const BlobKey& key) {
    if (const auto found = young_.find(key); found != young_.end()) return &found->second;
    const auto found = old_.find(key);
    if (found == old_.end()) return nullptr;
    // The blob is in use again: move it to the younger ones.
    const StoredBlob blob = found->second;
    old_.erase(found);
    return Add(key, blob);
  }

  StoredBlob* Add(const BlobKey& key, const StoredBlob& blob) {
    if (young_.size() >= kKnownBlobs / 2) {
      old_ = std::move(young_);
      young_.clear();
    }
    return &young_.insert_or_assign(key, blob).first->second;
  }

 private:
  using Map = std::unordered_map<BlobKey, StoredBlob, BlobKeyHash>;
  Map young_;
  Map old_;
};

}  // namespace

struct TraceWriter::State {
  State(FileWriter* to, size_t bytes)
      : file(to), chunk_bytes(std::min(bytes, kLargestChunkBytes)) {}

  Status StoreBlob(const Record& record, StoredBlob* blob);
  Status WriteBlobs();
  Status WriteRecords();

  FileWriter* file;
  size_t chunk_bytes;
  TraceTable table;
  TraceTotals totals;
  RecordChunkEncoder encoder;
  std::vector<std::byte> blob_bytes;  // of the BLOB chunk to come
  std::vector<BlobKey> new_blobs;     // that are in it
  KnownBlobs known;
  TraceIndex index;
  uint64_t last_number = 0;
  uint64_t first_frame = 0;  // of the records in `encoder`
};

Status TraceWriter::State::StoreBlob(const Record& record, StoredBlob* blob) {
  const std::span<const std::byte> bytes = record.body.subspan(sizeof(BlobBody));
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  const BlobKey key{hash.low64, hash.high64, static_cast<uint32_t>(bytes.size())};
  ++totals.blobs;
  totals.blob_bytes += bytes.size();
  if (const StoredBlob* known_blob = known.Find(key); known_blob != nullptr) {
    *blob = *known_blob;
  } else {
    if (!blob_bytes.empty() && blob_bytes.size() + bytes.size() > chunk_bytes) {
      CAIRN_RETURN_IF_ERROR(WriteBlobs());
    }
    blob->chunk_offset = 0;
    blob->offset_bytes = static_cast<uint32_t>(blob_bytes.size());
    blob->size_bytes = key.size_bytes;
    blob_bytes.insert(blob_bytes.end(), bytes.begin(), bytes.end());
    known.Add(key, *blob);
    new_blobs.push_back(key);
    totals.stored_blob_bytes += bytes.size();
  }
  blob->number = record.number;
  return Status();
}

Status TraceWriter::State::WriteBlobs() {
  if (new_blobs.empty()) return Status();
  const uint64_t offset = file->size_bytes();
  CAIRN_RETURN_IF_ERROR(file->Append(kTraceBlobChunk, blob_bytes));
  encoder.PlaceBlobs(offset);
  for (const BlobKey& key : new_blobs) {
    // Only what was forgotten meanwhile is not found.
    if (StoredBlob* blob = known.Find(key); blob != nullptr) blob->chunk_offset = offset;
  }
  blob_bytes.clear();
  new_blobs.clear();
  return Status();
}

Status TraceWriter::State::WriteRecords() {
  if (encoder.empty()) return Status();
  // Records refer to blobs by their place, and a reader may stop anywhere: blobs come first.
  CAIRN_RETURN_IF_ERROR(WriteBlobs());
  const TraceIndexEntry entry{file->size_bytes(), encoder.header(first_frame)};
  CAIRN_RETURN_IF_ERROR(file->Append(kTraceRecordChunk, encoder.Take(first_frame)));
  index.entries.push_back(entry);
  first_frame = totals.frames;
  return Status();
}

TraceWriter::TraceWriter(FileWriter* file, size_t chunk_bytes)
    : state_(std::make_unique<State>(file, chunk_bytes)) {}
TraceWriter::~TraceWriter() = default;

Status TraceWriter::Begin(const TraceFacts& facts) {
  return Begin(MakeTraceTable(facts));
}

Status TraceWriter::Begin(const TraceTable& table) {
  state_->table = table;
  return state_->file->Append(kTraceTableChunk, EncodeTraceTable(state_->table));
}

Status TraceWriter::Add(const Record& record, RecordKinds kinds) {
  State& state = *state_;
  CAIRN_RETURN_IF_ERROR(CheckRecord(record, kinds));
  if (record.number <= state.last_number) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("record {} comes after record {}", record.number, state.last_number));
  }
  if (state.encoder.size_bytes() >= state.chunk_bytes ||
      state.encoder.record_count() == kMaxRecordsInChunk) {
    CAIRN_RETURN_IF_ERROR(state.WriteRecords());
  }
  StoredBlob blob;
  if (record.kind == RecordKind::kBlob) CAIRN_RETURN_IF_ERROR(state.StoreBlob(record, &blob));
  state.encoder.Add(record, &blob);
  state.last_number = record.number;
  ++state.totals.records;
  state.totals.calls += record.kind == RecordKind::kCall;
  state.totals.objects += record.kind == RecordKind::kObject;
  if (record.kind == RecordKind::kFrame) {
    if (state.totals.frames++ == 0) {
      FrameBody body;
      std::memcpy(&body, record.body.data(), sizeof(body));
      state.totals.first_frame = body.frame;
    }
  }
  return Status();
}

Status TraceWriter::Flush() {
  return state_->WriteRecords();
}

Status TraceWriter::Finish(std::span<const TraceThread> threads, bool ended) {
  CAIRN_RETURN_IF_ERROR(state_->WriteRecords());
  // Without the table nothing can be understood: a damaged one shall not cost the trace.
  CAIRN_RETURN_IF_ERROR(state_->file->Append(kTraceTableChunk, EncodeTraceTable(state_->table)));
  if (ended) {
    CAIRN_RETURN_IF_ERROR(state_->file->Append(kTraceEndChunk, EncodeTraceEnd(threads)));
  }
  state_->index.totals = state_->totals;
  return state_->file->Append(kTraceIndexChunk, EncodeTraceIndex(state_->index));
}

const TraceTotals& TraceWriter::totals() const {
  return state_->totals;
}

}  // namespace cairn
