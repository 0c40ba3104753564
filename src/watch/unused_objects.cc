// SPDX-License-Identifier: Apache-2.0
#include "watch/unused_objects.h"

#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calls/value_decoder.h"
#include "d3d12gen/chains.h"
#include "d3d12gen/methods.h"
#include "watch/call_kinds.h"
#include "watch/call_values.h"
#include "watch/overlapping_ranges.h"

namespace cairn {

// One pass over the trace, then from what is needed to what that needs.
class UnusedObjects::Search {
 public:
  explicit Search(TraceReader* trace) : trace_(*trace) {}

  Status Run() {
    TraceCursor cursor(trace_);
    Record record;
    while (cursor.Next(&record)) Look(record);
    CAIRN_RETURN_IF_ERROR(cursor.status());
    if (any_address_) {
      for (const uint64_t buffer : buffers_) Need(buffer);
    }
    while (!to_follow_.empty()) {
      const uint64_t object = to_follow_.back();
      to_follow_.pop_back();
      for (const uint64_t used : uses_[object]) Need(used);
    }
    return Status();
  }

  // Of the objects that were restored.
  void Fill(UnusedObjects* result) const {
    if (unknown_calls_) return;
    for (const uint64_t object : restored_) {
      if (needed_.count(object) == 0) result->unused_.insert(object);
    }
    for (const auto& [call, owners] : owners_of_calls_) {
      bool needed = false;
      for (const uint64_t owner : owners) needed = needed || result->unused_.count(owner) == 0;
      if (!needed) result->dropped_calls_.insert(call);
    }
  }

 private:
  void Need(uint64_t object) {
    if (object != kNoObject && needed_.insert(object).second) to_follow_.push_back(object);
  }

  void Look(const Record& record) {
    // A recording from the beginning restores nothing.
    started_ = started_ || (record.flags & kRecordRestores) == 0;
    switch (record.kind) {
      case RecordKind::kObject: LookAtObject(record); break;
      case RecordKind::kCall: LookAtCall(record); break;
      case RecordKind::kFrame: Need(record.object); break;
      default: break;
    }
  }

  void LookAtCall(const Record& record) {
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value()) {
      unknown_calls_ = true;
      return;
    }
    any_address_ = any_address_ || GpuReadsAddresses(*method);
    Record known = record;
    known.method = static_cast<uint16_t>(*method);
    if (started_) {
      LookAtRecorded(known);
    } else {
      LookAtRestored(known);
    }
  }

  void LookAtObject(const Record& record) {
    std::span<const std::byte> rest = record.body;
    const Result<ObjectBody> body = DecodeBody<ObjectBody>(&rest);
    if (!body.ok()) return;
    std::vector<uint64_t>& uses = uses_[record.object];
    uses.push_back(body->device);
    const auto creator = values_of_calls_.find(body->creator);
    if (creator != values_of_calls_.end()) {
      uses.insert(uses.end(), creator->second.begin(), creator->second.end());
      owners_of_calls_[body->creator].push_back(record.object);
    }
    const Chain chain = trace_.ChainOf(body->chain);
    if (started_ || body->creator == 0 || chain == Chain::kID3D12CommandQueue) Need(record.object);
    if (!started_) restored_.push_back(record.object);
    if (body->facts == kResourceFacts) {
      const Result<ResourceFacts> facts = DecodeBody<ResourceFacts>(&rest);
      if (!facts.ok() || facts->gpu_address == 0) return;
      addresses_.Add(facts->gpu_address, facts->size_bytes, record.object, record.number);
      buffers_.push_back(record.object);
    } else if (body->facts == kDescriptorHeapFacts) {
      const Result<DescriptorHeapFacts> facts = DecodeBody<DescriptorHeapFacts>(&rest);
      if (!facts.ok()) return;
      const uint64_t bytes = uint64_t{facts->count} * facts->increment_bytes;
      cpu_descriptors_.Add(facts->cpu_start, bytes, record.object, record.number);
      gpu_descriptors_.Add(facts->gpu_start, bytes, record.object, record.number);
    }
  }

  // The objects that a call refers to, by whatever.
  std::vector<uint64_t> ObjectsOf(const Record& record) {
    unknown_calls_ = !reader_.Read(record, &trace_, &values_) || unknown_calls_;
    std::vector<uint64_t> objects = values_.objects;
    const auto add_owners = [&objects](const OverlappingRanges& ranges, uint64_t value) {
      ranges.ForEachAt(value, [&](const auto& range) { objects.push_back(range.object); });
    };
    for (const uint64_t value : values_.gpu_addresses) add_owners(addresses_, value);
    for (const uint64_t value : values_.cpu_descriptors) add_owners(cpu_descriptors_, value);
    for (const uint64_t value : values_.gpu_descriptors) add_owners(gpu_descriptors_, value);
    return objects;
  }

  void LookAtRecorded(const Record& record) {
    Need(record.object);
    for (const uint64_t object : ObjectsOf(record)) Need(object);
  }

  void LookAtRestored(const Record& record) {
    std::vector<uint64_t> objects = ObjectsOf(record);
    const auto owned_by = [&](uint64_t owner) {
      std::vector<uint64_t>& uses = uses_[owner];
      uses.insert(uses.end(), objects.begin(), objects.end());
      uses.push_back(record.object);
      owners_of_calls_[record.number].push_back(owner);
    };
    switch (CallKindOf(record.method)) {
      case CallKind::kView:
        // The last of the handles is the one that is written.
        if (!values_.cpu_descriptors.empty()) {
          cpu_descriptors_.ForEachAt(values_.cpu_descriptors.back(),
                                     [&](const auto& range) { owned_by(range.object); });
        }
        break;
      case CallKind::kQueueSignal:
      case CallKind::kTileMapping:
        if (!values_.objects.empty()) owned_by(values_.objects.front());
        break;
      case CallKind::kOther:
        // Owned by what it creates, which comes behind it.
        objects.push_back(record.object);
        values_of_calls_[record.number] = std::move(objects);
        break;
      default: owned_by(record.object); break;
    }
  }

  TraceReader& trace_;
  CallValuesReader reader_;
  CallValues values_;
  bool started_ = false;
  bool any_address_ = false;
  bool unknown_calls_ = false;  // which may refer to anything
  std::vector<uint64_t> restored_;
  std::vector<uint64_t> buffers_;
  OverlappingRanges addresses_;
  OverlappingRanges cpu_descriptors_;
  OverlappingRanges gpu_descriptors_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> uses_;             // object -> objects
  std::unordered_map<uint64_t, std::vector<uint64_t>> values_of_calls_;  // that may create objects
  std::unordered_map<uint64_t, std::vector<uint64_t>> owners_of_calls_;
  std::unordered_set<uint64_t> needed_;
  std::vector<uint64_t> to_follow_;
};

Result<UnusedObjects> UnusedObjects::Find(TraceReader* trace) {
  Search search(trace);
  CAIRN_RETURN_IF_ERROR(search.Run());
  UnusedObjects result;
  search.Fill(&result);
  return result;
}

bool UnusedObjects::Keep(Record* record, uint64_t) {
  switch (record->kind) {
    case RecordKind::kCall: return dropped_calls_.count(record->number) == 0;
    case RecordKind::kResult: {
      ResultBody body{};
      if (record->body.size() < sizeof(body)) return true;
      std::memcpy(&body, record->body.data(), sizeof(body));
      return dropped_calls_.count(body.call) == 0;
    }
    case RecordKind::kDevice:
    case RecordKind::kObject:
    case RecordKind::kObjectEnd:
    case RecordKind::kContents:
    case RecordKind::kMemory:
    case RecordKind::kReadback: return unused_.count(record->object) == 0;
    default: return true;
  }
}

}  // namespace cairn
