// SPDX-License-Identifier: Apache-2.0
#include "format/trace/trace_filter.h"

#include <cstring>
#include <unordered_set>
#include <utility>

#include "format/trace/blob_references.h"

namespace cairn {
namespace {

bool IsTraceChunk(ChunkType type) {
  return type == kTraceTableChunk || type == kTraceRecordChunk || type == kTraceBlobChunk ||
         type == kTraceIndexChunk || type == kTraceEndChunk;
}

class Copier {
 public:
  Copier(TraceReader* from, RecordFilter* filter, const CopyOptions& options, FileWriter* to)
      : from_(*from),
        filter_(filter),
        options_(options),
        to_(*to),
        writer_(to, options.chunk_bytes) {}

  Result<CopiedTrace> Copy() {
    rounds_ = filter_ == nullptr ? 1 : 2;
    if (filter_ != nullptr) CAIRN_RETURN_IF_ERROR(CollectBlobs());
    TraceTable table = from_.table();
    if (options_.facts.has_value()) table.facts = *options_.facts;
    table.facts.trimmed = table.facts.trimmed || options_.trimmed;
    table.redaction = table.redaction | options_.redaction;
    if (!copied_.interrupted) {
      CAIRN_RETURN_IF_ERROR(writer_.Begin(table));
      CAIRN_RETURN_IF_ERROR(CopyRecords());
    }
    if (!copied_.interrupted) CAIRN_RETURN_IF_ERROR(Finish());
    copied_.totals = writer_.totals();
    return std::move(copied_);
  }

 private:
  // False to stop.
  bool Progress() {
    if (options_.progress == nullptr || done_++ % kRecordsPerProgress != 0) return true;
    if (options_.progress(done_ - 1, from_.record_count() * rounds_)) return true;
    copied_.interrupted = true;
    return false;
  }

  Status CollectBlobs() {
    filter_->Start();
    TraceCursor cursor(from_, RecordKinds::kAll);
    Record record;
    while (Progress() && cursor.Next(&record)) {
      if (record.kind == RecordKind::kBlob || !filter_->Keep(&record, cursor.frame())) continue;
      ForEachBlobReference(record.body, [&](uint64_t number) { needed_blobs_.insert(number); });
    }
    return cursor.status();
  }

  Status CopyRecords() {
    if (filter_ != nullptr) filter_->Start();
    TraceCursor cursor(from_, RecordKinds::kAll);
    Record record;
    while (Progress() && cursor.Next(&record)) {
      if (record.kind == RecordKind::kBlob) {
        CAIRN_RETURN_IF_ERROR(CopyBlob(record));
      } else if (filter_ == nullptr || filter_->Keep(&record, cursor.frame())) {
        CAIRN_RETURN_IF_ERROR(writer_.Add(record, RecordKinds::kAll));
      }
    }
    for (const Loss& loss : cursor.losses()) copied_.losses.push_back(loss);
    return cursor.status();
  }

  Status CopyBlob(const Record& record) {
    if (filter_ != nullptr && !needed_blobs_.contains(record.number)) return Status();
    const Result<std::span<const std::byte>> bytes = from_.Blob(record.number);
    if (!bytes.ok()) {
      if (copied_.losses.size() < kMaxLosses) {
        copied_.losses.push_back({0, 0, bytes.status().message()});
      }
      return Status();
    }
    const BlobBody body{static_cast<uint32_t>(bytes->size()), 0};
    blob_.resize(sizeof(body) + bytes->size());
    std::memcpy(blob_.data(), &body, sizeof(body));
    if (!bytes->empty()) std::memcpy(blob_.data() + sizeof(body), bytes->data(), bytes->size());
    if (filter_ != nullptr) {
      filter_->ChangeBlob(record.number, std::span(blob_).subspan(sizeof(body)));
    }
    Record whole = record;
    whole.body = blob_;
    return writer_.Add(whole);
  }

  Status Finish() {
    const std::span<const TraceThread> threads =
        options_.threads.has_value() ? std::span<const TraceThread>(*options_.threads)
                                     : from_.threads();
    CAIRN_RETURN_IF_ERROR(writer_.Finish(threads, from_.finished() || options_.trimmed));
    if (!options_.other_chunks) return Status();
    const FileReader& file = from_.file();
    for (size_t i = 0; i < file.chunks().size(); ++i) {
      const ChunkInfo& chunk = file.chunks()[i];
      if (IsTraceChunk(chunk.type)) continue;
      const Result<std::vector<std::byte>> payload = file.Read(i);
      if (payload.ok()) {
        CAIRN_RETURN_IF_ERROR(to_.Append(chunk.type, *payload));
      } else {
        copied_.losses.push_back(
            {chunk.offset, chunk.end_offset() - chunk.offset, payload.status().message()});
      }
    }
    return Status();
  }

  TraceReader& from_;
  RecordFilter* filter_;
  const CopyOptions& options_;
  FileWriter& to_;
  TraceWriter writer_;
  CopiedTrace copied_;
  uint64_t done_ = 0;
  uint64_t rounds_ = 1;
  std::unordered_set<uint64_t> needed_blobs_;
  std::vector<std::byte> blob_;
};

}  // namespace

Result<CopiedTrace> CopyTrace(TraceReader* from, RecordFilter* filter, const CopyOptions& options,
                              FileWriter* to) {
  return Copier(from, filter, options, to).Copy();
}

}  // namespace cairn
