// SPDX-License-Identifier: Apache-2.0
//
// The state of a TraceReader, which its cursors read.
#ifndef CAIRN_FORMAT_TRACE_DECODED_SPANS_H_
#define CAIRN_FORMAT_TRACE_DECODED_SPANS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "format/trace/record_chunk.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_tables.h"

namespace cairn {

struct TraceReader::State {
  explicit State(FileReader from) : file(std::move(from)) {}

  // Returns the records of spans[index]; they live as long as a reference to them.
  Result<std::shared_ptr<const DecodedRecords>> Span(size_t index);
  // Decodes a span on a thread of its own, for a later Span(index). One at a time: the last one
  // requested.
  void DecodeAhead(size_t index);
  // The payload of the BLOB chunk at `offset` of the file, valid until the next call.
  Result<std::span<const std::byte>> BlobChunk(uint64_t offset);

  FileReader file;
  TraceTable table;
  TraceMeaning meaning;
  std::vector<TraceSpan> spans;
  std::vector<TraceThread> threads;
  std::optional<TraceTotals> totals;
  std::optional<uint64_t> first_frame;
  uint64_t record_count = 0;
  uint64_t blob_budget = UINT64_MAX;  // bytes
  bool finished = false;
  const std::atomic<bool>* ended = nullptr;
  std::vector<Loss> losses;
  // Last used first.
  std::vector<std::pair<size_t, std::shared_ptr<const DecodedRecords>>> span_cache;
  std::vector<std::pair<size_t, std::vector<std::byte>>> blob_cache;
  // Last: it reads what stands above.
  std::optional<std::pair<size_t, std::future<Result<DecodedRecords>>>> ahead;

 private:
  Result<DecodedRecords> Decode(size_t index) const;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_DECODED_SPANS_H_
