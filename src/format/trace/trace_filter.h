// SPDX-License-Identifier: Apache-2.0
//
// Copies a trace, all of it or what somebody chooses.
//
//   class WithoutDraws final : public RecordFilter {
//     bool Keep(Record* record, uint64_t) override { return !draws_.contains(record->number); }
//   };
//   Result<FileWriter> file = FileWriter::Create(path);
//   Result<CopiedTrace> copied = CopyTrace(&trace, &filter, {}, &*file);
//   CAIRN_RETURN_IF_ERROR(file->Finish());
#ifndef CAIRN_FORMAT_TRACE_TRACE_FILTER_H_
#define CAIRN_FORMAT_TRACE_TRACE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "format/file/file_writer.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_tables.h"
#include "format/trace/trace_writer.h"

namespace cairn {

// Says what goes into the copy. Records keep their numbers.
class RecordFilter {
 public:
  virtual ~RecordFilter() = default;
  // The records come twice, from the first to the last, and the answers must be the same: before each
  // round this is called.
  virtual void Start() {}
  // Returns true to copy the record. Not called for kBlob records: the copy holds the blobs that
  // copied records refer to. May change the record, but not kind, number and thread; a new body
  // must live until the next call. Also called for records of kinds that this build does not know,
  // which are better kept.
  virtual bool Keep(Record* record, uint64_t frame) = 0;
  // May change the bytes of a blob that is copied, but not how many there are. Called in the second round.
  virtual void ChangeBlob(uint64_t, std::span<std::byte>) {}
};

// Chains filters: keeps the records that all of them keep, as the last one returned them.
class RecordFilters final : public RecordFilter {
 public:
  // The filters must outlive it.
  explicit RecordFilters(std::vector<RecordFilter*> filters) : filters_(std::move(filters)) {}

  void Start() override {
    for (RecordFilter* const filter : filters_) filter->Start();
  }
  bool Keep(Record* record, uint64_t frame) override {
    for (RecordFilter* const filter : filters_) {
      if (!filter->Keep(record, frame)) return false;
    }
    return true;
  }
  void ChangeBlob(uint64_t number, std::span<std::byte> bytes) override {
    for (RecordFilter* const filter : filters_) filter->ChangeBlob(number, bytes);
  }

 private:
  std::vector<RecordFilter*> filters_;
};

struct CopyOptions {
  bool trimmed = true;  // the copy says that it was made from another trace
  // Replaces the facts of the trace. The option `trimmed` applies as well.
  std::optional<TraceFacts> facts = std::nullopt;
  TraceRedaction redaction = {};  // of the copy, beside that of the original
  std::optional<std::vector<TraceThread>> threads = std::nullopt;  // replaces those of the trace
  bool other_chunks = false;  // those of a crash's snapshot, and those that nobody knows
  size_t chunk_bytes = kTraceChunkBytes;
  // Called now and then with the progress; if it returns false, copying ends with `interrupted`.
  // May be null.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

struct CopiedTrace {
  TraceTotals totals;
  bool interrupted = false;
  std::vector<Loss> losses;  // what could not be read, and is therefore not in the copy
};

// `filter`: null for everything. Appends to `to` and leaves finishing it to its owner. Memory: that of
// reader and writer, and 40 bytes for each blob in the copy.
// Errors: those of TraceWriter, and of the reader but for damage, which is in `losses`.
Result<CopiedTrace> CopyTrace(TraceReader* from, RecordFilter* filter, const CopyOptions& options,
                              FileWriter* to);

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_TRACE_FILTER_H_
