// SPDX-License-Identifier: Apache-2.0
#include "format/model/unused_objects.h"

#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "d3d12gen/chains.h"
#include "d3d12gen/methods.h"
#include "format/calls/created_object.h"
#include "format/calls/import_facts.h"
#include "format/model/call_kinds.h"
#include "format/model/call_values.h"
#include "format/trace/address_map.h"

namespace cairn {

namespace {

// Returns true for calls outside of lists that may make an object: only the objects that follow tell whether
// they did. All others leave something else: a descriptor, a name, a mapping, the value of a fence.
bool MayMakeSomething(const CallRole& role) {
  switch (role.role) {
    case Role::kProperty:
    case Role::kPrivateData:
    case Role::kIdentifier:
    case Role::kView:
    case Role::kCopyViews:
    case Role::kCopyViewRanges:
    case Role::kMap:
    case Role::kUnmap:
    case Role::kTiles:
    case Role::kSignal: return false;
    default: return role.timeline != Timeline::kList;
  }
}

// Calls that are work, or order it, whether or not anything else needs their object. Those of other objects
// are about these alone.
bool IsNeededItself(const CallRole& role) {
  if (role.role == Role::kQuestion || role.role == Role::kHint) return false;
  return role.chain == Chain::kID3D12Device || role.chain == Chain::kID3D12CommandQueue ||
         role.chain == Chain::kID3D12Fence || role.chain == Chain::kID3D12GraphicsCommandList;
}

}  // namespace

// Makes one pass over the trace, then follows the needs of needed objects.
class UnusedObjects::Search {
 public:
  enum class Of : uint8_t { kRestored, kAll };
  // `left`: may be null.
  Search(TraceReader* trace, Of of, RecordFilter* left) : trace_(*trace), of_(of), left_(left) {}

  Status Run() {
    if (left_ != nullptr) left_->Start();
    TraceCursor cursor(trace_);
    Record record;
    while (cursor.Next(&record)) {
      if (record.kind == RecordKind::kBlob) continue;
      if (left_ == nullptr || left_->Keep(&record, cursor.frame())) Look(record);
    }
    CAIRN_RETURN_IF_ERROR(cursor.status());
    for (const OtherCall& call : other_calls_) LookAtOther(call);
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

  void Fill(UnusedObjects* result) const {
    if (unknown_calls_) return;
    for (const uint64_t object : candidates_) {
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
      case RecordKind::kStructure: any_address_ = true; break;  // instances name bottom levels so
      default: break;
    }
  }

  void LookAtCall(const Record& record) {
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value()) {
      unknown_calls_ = true;
      return;
    }
    any_address_ = any_address_ || RoleOf(*method).follows_addresses;
    // SetProgram names the state object by what this returns.
    if (*method == Method::ID3D12StateObjectProperties1_GetProgramIdentifier) Need(record.object);
    Record known = record;
    known.method = static_cast<uint16_t>(*method);
    if (of_ == Of::kAll) {
      LookAtAny(known, *method);
    } else if (started_) {
      LookAtRecorded(known);
    } else {
      LookAtRestored(known);
    }
  }

  void LookAtObject(const Record& record) {
    const Result<CreatedObject> made = DecodeObject(record);
    if (!made.ok()) return;
    const ObjectBody* const body = &made->body;
    std::vector<uint64_t>& uses = uses_[record.object];
    uses.push_back(body->device);
    if (const std::optional<ImportFacts> import = ImportOf(record))
      uses.push_back(import->original);
    const auto creator = values_of_calls_.find(body->creator);
    if (creator != values_of_calls_.end()) {
      uses.insert(uses.end(), creator->second.begin(), creator->second.end());
      owners_of_calls_[body->creator].push_back(record.object);
    }
    const Chain chain = trace_.ChainOf(body->chain);
    const bool is_queue = chain == Chain::kID3D12CommandQueue;
    if (of_ == Of::kAll) {
      const bool is_image = body->creator == 0 && chain == Chain::kID3D12Resource;
      if ((body->creator == 0 && !is_image) || is_queue || chain == Chain::kID3D12Fence) {
        Need(record.object);
      }
    } else if (started_ || body->creator == 0 || is_queue) {
      Need(record.object);
    }
    if (of_ == Of::kAll || !started_) candidates_.push_back(record.object);
    if (const auto& facts = made->resource; facts.has_value() && facts->gpu_address != 0) {
      addresses_.Add(facts->gpu_address, facts->size_bytes, record.object, record.number);
      buffers_.push_back(record.object);
    }
    if (const auto& facts = made->heap) {
      cpu_descriptors_.Add(facts->cpu_start, HeapBytes(*facts), record.object, record.number);
      gpu_descriptors_.Add(facts->gpu_start, HeapBytes(*facts), record.object, record.number);
    }
  }

  // The objects that a call refers to, by whatever.
  std::vector<uint64_t> ObjectsOf(const Record& record) {
    unknown_calls_ = !reader_.Read(record, &trace_, &values_, &call_) || unknown_calls_;
    any_address_ = any_address_ || ViewsAddresses(static_cast<Method>(record.method), call_);
    std::vector<uint64_t> objects = values_.objects;
    const auto add_owners = [&objects](const AddressMap& ranges, uint64_t value) {
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

  // The call is of use as long as `owner` is, which needs all that it refers to.
  void Own(uint64_t owner, const Record& record, const std::vector<uint64_t>& objects) {
    std::vector<uint64_t>& uses = uses_[owner];
    uses.insert(uses.end(), objects.begin(), objects.end());
    uses.push_back(record.object);
    owners_of_calls_[record.number].push_back(owner);
  }

  void LookAtRestored(const Record& record) {
    std::vector<uint64_t> objects = ObjectsOf(record);
    const CallRole& role = RoleOfNumber(record.method);
    if (MayMakeSomething(role)) {
      // The object that the call creates owns it; its record comes behind.
      objects.push_back(record.object);
      values_of_calls_[record.number] = std::move(objects);
    } else if (role.role == Role::kView) {
      // The last of the handles is the one that is written.
      if (values_.cpu_descriptors.empty()) return;
      cpu_descriptors_.ForEachAt(values_.cpu_descriptors.back(),
                                 [&](const auto& range) { Own(range.object, record, objects); });
    } else if (role.timeline == Timeline::kQueue) {
      // The object that it signals, or maps.
      if (!values_.objects.empty()) Own(values_.objects.front(), record, objects);
    } else {
      Own(record.object, record, objects);
    }
  }

  // A call of a trace that restores nothing.
  void LookAtAny(const Record& record, Method method) {
    const CallRole& role = RoleOf(method);
    if (IsCommand(role) || role.role == Role::kSignal) {
      LookAtRecorded(record);
    } else if (CopiesDescriptors(role)) {
      // Each of the heaps may get descriptors of another one.
      const std::vector<uint64_t> heaps = ObjectsOf(record);
      for (const uint64_t heap : heaps) Own(heap, record, heaps);
    } else {
      LookAtRestored(record);
      if (!MayMakeSomething(role)) return;
      other_calls_.push_back({record.number, record.object, IsNeededItself(role)});
    }
  }

  // A call of which it is only known at the end whether it made something.
  struct OtherCall {
    uint64_t number;
    uint64_t object;
    bool is_needed;
  };
  void LookAtOther(const OtherCall& call) {
    if (owners_of_calls_.contains(call.number)) return;
    const std::vector<uint64_t>& objects = values_of_calls_[call.number];
    if (call.is_needed) {
      for (const uint64_t object : objects) Need(object);
    } else {
      std::vector<uint64_t>& uses = uses_[call.object];
      uses.insert(uses.end(), objects.begin(), objects.end());
      owners_of_calls_[call.number].push_back(call.object);
    }
  }

  TraceReader& trace_;
  const Of of_;
  RecordFilter* const left_;
  CallValuesReader reader_;
  CallValues values_;
  DecodedCall call_;
  bool started_ = false;
  bool any_address_ = false;
  bool unknown_calls_ = false;        // which may refer to anything
  std::vector<uint64_t> candidates_;  // to be found of no use
  std::vector<OtherCall> other_calls_;
  std::vector<uint64_t> buffers_;
  AddressMap addresses_;
  AddressMap cpu_descriptors_;
  AddressMap gpu_descriptors_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> uses_;             // object -> objects
  std::unordered_map<uint64_t, std::vector<uint64_t>> values_of_calls_;  // that may create objects
  std::unordered_map<uint64_t, std::vector<uint64_t>> owners_of_calls_;
  std::unordered_set<uint64_t> needed_;
  std::vector<uint64_t> to_follow_;
};

Result<UnusedObjects> UnusedObjects::Find(TraceReader* trace) {
  return From(Search(trace, Search::Of::kRestored, nullptr));
}

Result<UnusedObjects> UnusedObjects::FindInAll(TraceReader* trace, RecordFilter* left) {
  return From(Search(trace, Search::Of::kAll, left));
}

Result<UnusedObjects> UnusedObjects::From(Search search) {
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
    case RecordKind::kStructure:
    case RecordKind::kMemory:
    case RecordKind::kResourceHash:
    case RecordKind::kFenceReached:
    case RecordKind::kReadback: return unused_.count(record->object) == 0;
    default: return true;
  }
}

}  // namespace cairn
