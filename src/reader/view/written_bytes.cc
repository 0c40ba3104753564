// SPDX-License-Identifier: Apache-2.0
#include "reader/view/written_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "d3d12gen/roles.h"
#include "format/calls/value_decoder.h"
#include "format/model/decoded_arguments.h"
#include "format/model/recordings.h"

namespace cairn::cli {
namespace {

constexpr uint32_t kUploadHeap = 2;  // D3D12_HEAP_TYPE

// Finds the first submission that executes a call, alone or in a bundle.
class ExecutionFinder {
 public:
  ExecutionFinder(TraceReader* trace, uint64_t call) : trace_(*trace), call_(call) {}

  // True: this record is the submission.
  bool Look(const Record& record) {
    if (record.kind == RecordKind::kObjectEnd) has_it_.End(record.object);
    if (record.number < call_) return false;
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value()) return false;
    const Role role = RoleOf(*method).role;
    if (record.kind == RecordKind::kResult) has_it_.OnResult(record, RoleOf(*method));
    if (record.kind != RecordKind::kCall) return false;
    if (record.number == call_) has_it_[record.object] = true;
    if (role == Role::kListReset) has_it_.Reset(record.object);
    if (role == Role::kBundle && Decode(record, *method) && Has(Value<uint64_t>(decoded_, 0))) {
      has_it_[record.object] = true;
    }
    if (method != Method::ID3D12CommandQueue_ExecuteCommandLists || !Decode(record, *method)) {
      return false;
    }
    const auto* const lists = Array<uint64_t>(decoded_, 1);
    for (uint64_t i = 0; lists != nullptr && i < decoded_.counts[1]; ++i) {
      if (Has(lists[i])) return true;
    }
    return false;
  }

 private:
  bool Has(uint64_t list) const {
    const bool* const has = has_it_.Find(list);
    return has != nullptr && *has;
  }
  bool Decode(const Record& record, Method method) {
    arena_.Reset();
    DecodeOptions options;
    options.blobs = &trace_;
    return DecodeArguments(Describe(method), record.body, options, &arena_, &decoded_).ok();
  }

  TraceReader& trace_;
  const uint64_t call_;
  Arena arena_;
  DecodedCall decoded_;
  Recordings<bool> has_it_;  // by list
};

class RangeReader {
 public:
  RangeReader(TraceReader* trace, std::span<const BytesToRead> wanted, WrittenBytes* written)
      : trace_(*trace), wanted_(wanted), ranges_(written->ranges) {
    ranges_.resize(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].size_bytes == 0) continue;
      ranges_[i].bytes.resize(std::min(wanted[i].size_bytes, BytesToRead::kMostBytes));
      by_buffer_[wanted[i].buffer].push_back(i);
    }
  }

  void Look(const Record& record) {
    if (record.kind != RecordKind::kMemory && record.kind != RecordKind::kContents) return;
    const auto found = by_buffer_.find(record.object);
    if (found == by_buffer_.end()) return;
    written_.insert(record.object);
    std::span<const std::byte> rest = record.body;
    uint64_t offset = 0;
    if (record.kind == RecordKind::kMemory) {
      const Result<MemoryBody> body = DecodeBody<MemoryBody>(&rest);
      if (!body.ok()) return;
      offset = body->offset_bytes;
    } else {
      const Result<ContentsBody> body = DecodeBody<ContentsBody>(&rest);
      if (!body.ok()) return;
      offset = body->offset_bytes;
    }
    arena_.Reset();
    const Result<std::span<const std::byte>> bytes = DecodeBytes(&rest, &trace_, &arena_);
    for (const size_t i : found->second) {
      if (bytes.ok()) {
        Copy(*bytes, offset, wanted_[i].offset_bytes, &ranges_[i].bytes);
      } else {
        ranges_[i].unknown = fmt::format("record {} cannot be read", record.number);
      }
    }
  }

  // Empties the ranges of which nothing is known.
  void Finish(const TraceState& state, bool is_executed) {
    for (size_t i = 0; i < wanted_.size(); ++i) {
      WrittenBytes::Range& range = ranges_[i];
      if (range.unknown.empty()) range.unknown = WhyUnknown(wanted_[i], state, is_executed);
      if (!range.unknown.empty()) range.bytes.clear();
    }
  }

 private:
  static void Copy(std::span<const std::byte> from, uint64_t from_offset, uint64_t to_offset,
                   std::vector<std::byte>* to) {
    const uint64_t skip = to_offset > from_offset ? to_offset - from_offset : 0;
    const uint64_t at = from_offset > to_offset ? from_offset - to_offset : 0;
    if (skip >= from.size() || at >= to->size()) return;
    std::memcpy(to->data() + at, from.data() + skip,
                std::min<uint64_t>(from.size() - skip, to->size() - at));
  }

  std::string WhyUnknown(const BytesToRead& wanted, const TraceState& state,
                         bool is_executed) const {
    if (wanted.size_bytes == 0) return "";
    if (!is_executed) return "no submission of the trace executes it";
    const TracedObject* const buffer = state.Find(wanted.buffer);
    if (buffer == nullptr || !buffer->resource.has_value()) return "its buffer is not in the trace";
    if (buffer->ended != 0) {
      return fmt::format("{} was destroyed before it was executed",
                         VisibleText(state.Object(wanted.buffer)));
    }
    const uint64_t size = buffer->resource->size_bytes;
    const std::string name = VisibleText(state.Object(wanted.buffer));
    if (wanted.offset_bytes > size || wanted.size_bytes > size - wanted.offset_bytes) {
      return fmt::format("it ends beyond the {} bytes of {}", GroupedDigits(size), name);
    }
    if (buffer->resource->heap_type != kUploadHeap) {
      return fmt::format("the GPU may write {}: only a playback knows it", name);
    }
    // Another resource at the same place may have been mapped in its stead.
    if (!written_.contains(wanted.buffer))
      return fmt::format("the trace has no write into {}", name);
    return "";
  }

  TraceReader& trace_;
  const std::span<const BytesToRead> wanted_;
  std::vector<WrittenBytes::Range>& ranges_;
  std::unordered_map<uint64_t, std::vector<size_t>> by_buffer_;
  std::unordered_set<uint64_t> written_;  // buffers of by_buffer_
  Arena arena_;
};

}  // namespace

Result<WrittenBytes> ReadWrittenBytes(TraceReader* trace, uint64_t call,
                                      std::span<const BytesToRead> wanted) {
  WrittenBytes written;
  written.state = std::make_unique<TraceState>(*trace);
  ExecutionFinder execution(trace, call);
  RangeReader ranges(trace, wanted, &written);
  TraceCursor cursor(*trace);
  Record record;
  while (written.executed_by == 0 && cursor.Next(&record)) {
    (void)written.state->Apply(record);
    ranges.Look(record);
    if (execution.Look(record)) written.executed_by = record.number;
  }
  CAIRN_RETURN_IF_ERROR(cursor.status());
  ranges.Finish(*written.state, written.executed_by != 0);
  return written;
}

}  // namespace cairn::cli
