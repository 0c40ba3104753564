// SPDX-License-Identifier: Apache-2.0
#include "format/model/unneeded_contents.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <unordered_map>

#include "d3d12gen/chains.h"
#include "d3d12gen/methods.h"
#include "format/calls/created_object.h"
#include "format/model/call_kinds.h"
#include "format/model/call_values.h"
#include "format/model/resource_shape.h"
#include "format/model/resource_uses.h"
#include "format/trace/address_map.h"

namespace cairn {
namespace {

constexpr uint32_t kDefaultHeap = 1;  // D3D12_HEAP_TYPE
constexpr uint32_t kViewHeap =
    0;  // D3D12_DESCRIPTOR_HEAP_TYPE: constants, resources to read and write

// Returns true for calls that neither read nor change the contents of resources, whatever their arguments.
bool LeavesContents(Method method) {
  switch (RoleOf(method).role) {
    case Role::kQuestion:
    case Role::kHint:
    case Role::kCreate:
    case Role::kProperty:
    case Role::kPrivateData:
    case Role::kIdentifier:
    case Role::kResidency:
    case Role::kSignal:
    case Role::kWait:
    case Role::kAllocatorReset:
    case Role::kLoseDevice: return true;
    default: return false;
  }
}

}  // namespace

class UnneededContents::Search {
 public:
  explicit Search(TraceReader* trace) : trace_(*trace) {}

  Status Run() {
    CAIRN_RETURN_IF_ERROR(ForEach([this](const Record& record) { LookForViews(record); }));
    CAIRN_RETURN_IF_ERROR(ForEach([this](const Record& record) { Follow(record); }));
    return Status();
  }

  void Fill(UnneededContents* result) const {
    if (lost_ || lists_.lost()) return;
    for (const auto& [number, resource] : resources_) {
      if (!resource.committed || resource.kept || resource.several_queues) continue;
      if (resource.buffer) {
        if (resource.first[0] != First::kRead) result->buffers_.insert(number);
        continue;
      }
      for (uint32_t i = 0; i < resource.first.size(); ++i) {
        if (resource.first[i] != First::kRead) result->textures_.insert({number, i});
      }
    }
  }

 private:
  // The first operation on a subresource.
  enum class First : uint8_t { kNothing, kOverwrite, kRead };
  struct Resource {
    bool committed = false;  // and in memory that only the GPU reaches
    bool kept = false;       // the CPU, or something unknown, works with it
    bool several_queues = false;
    bool buffer = false;
    bool simultaneous_access = false;
    uint64_t queue = 0;
    std::vector<First> first;     // by subresource
    std::vector<uint32_t> state;  // D3D12_RESOURCE_STATES
  };
  struct Heap {
    std::vector<uint64_t> resources;  // that ever had a view in it
    std::vector<uint64_t> copied_from;
  };

  template <typename Visit>
  Status ForEach(const Visit& visit) {
    TraceCursor cursor(trace_);
    Record record;
    while (cursor.Next(&record)) visit(record);
    // An unreadable record may have used anything.
    lost_ = lost_ || !cursor.losses().empty();
    return cursor.status();
  }
  Resource* Find(uint64_t number) {
    const auto found = resources_.find(number);
    return found == resources_.end() ? nullptr : &found->second;
  }

  // ---- First round: objects, and what has views where.

  void LookForViews(const Record& record) {
    if (record.kind == RecordKind::kObject) return AddObject(record);
    if (record.kind != RecordKind::kCall) return;
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value()) {
      lost_ = true;
      return;
    }
    if (RoleOf(*method).memory == ResourceMemory::kCommitted) committing_.insert(record.number);
    any_address_ = any_address_ || RoleOf(*method).follows_addresses;
    const CallRole& role = RoleOf(*method);
    const bool copies = CopiesDescriptors(role);
    if (role.role != Role::kView && !copies) return;
    if (!Read(record, *method)) return;
    if (copies) {
      AddCopies();
    } else {
      any_address_ = any_address_ || ViewsAddresses(*method, call_);
      AddView();
    }
  }

  void AddObject(const Record& record) {
    const Result<CreatedObject> made = DecodeObject(record);
    if (!made.ok()) return;
    if (const auto& facts = made->resource) {
      addresses_.Add(facts->gpu_address, facts->size_bytes, record.object, record.number);
      const std::optional<ResourceShape> shape = ShapeOf(*facts);
      if (!shape.has_value()) return;
      Resource& resource = resources_[record.object];
      resource.committed =
          committing_.contains(made->body.creator) && facts->heap_type == kDefaultHeap;
      resource.buffer = shape->buffer;
      resource.simultaneous_access = shape->simultaneous_access;
      resource.first.assign(shape->subresource_count(), First::kNothing);
      resource.state.assign(shape->subresource_count(), 0);
    } else if (made->heap.has_value() && made->heap->type == kViewHeap) {
      descriptors_.Add(made->heap->cpu_start, HeapBytes(*made->heap), record.object, record.number);
    }
  }

  // The last of the handles is the one that is written.
  void AddView() {
    if (values_.cpu_descriptors.empty()) return;
    std::vector<uint64_t> seen;
    for (const uint64_t object : values_.objects) {
      if (resources_.contains(object)) seen.push_back(object);
    }
    for (const uint64_t address : values_.gpu_addresses) {
      addresses_.ForEachAt(address, [&](const auto& range) { seen.push_back(range.object); });
    }
    descriptors_.ForEachAt(values_.cpu_descriptors.back(), [&](const auto& range) {
      std::vector<uint64_t>& resources = heaps_[range.object].resources;
      resources.insert(resources.end(), seen.begin(), seen.end());
    });
  }

  // Any heap of the call may get what any other one has.
  void AddCopies() {
    std::vector<uint64_t> heaps;
    for (const uint64_t handle : values_.cpu_descriptors) {
      descriptors_.ForEachAt(handle, [&](const auto& range) { heaps.push_back(range.object); });
    }
    std::sort(heaps.begin(), heaps.end());
    heaps.erase(std::unique(heaps.begin(), heaps.end()), heaps.end());
    for (const uint64_t to : heaps) {
      for (const uint64_t from : heaps) {
        std::vector<uint64_t>& sources = heaps_[to].copied_from;
        const bool known = std::find(sources.begin(), sources.end(), from) != sources.end();
        if (to != from && !known) sources.push_back(from);
      }
    }
  }

  // The resources with views in a heap, also those that were copied from others. Looked up once.
  const std::vector<uint64_t>& SeenThrough(uint64_t heap) {
    const auto found = seen_through_.find(heap);
    if (found != seen_through_.end()) return found->second;
    std::vector<uint64_t> to_follow = {heap};
    std::unordered_set<uint64_t> followed = {heap};
    std::set<uint64_t> seen;
    while (!to_follow.empty()) {
      const Heap& from = heaps_[to_follow.back()];
      to_follow.pop_back();
      for (const uint64_t resource : from.resources) {
        if (resources_.contains(resource)) seen.insert(resource);
      }
      for (const uint64_t source : from.copied_from) {
        if (followed.insert(source).second) to_follow.push_back(source);
      }
    }
    return seen_through_[heap] = std::vector<uint64_t>(seen.begin(), seen.end());
  }

  // ---- Second round: what is done, in order.

  bool Read(const Record& record, Method method) {
    Record known = record;
    known.method = static_cast<uint16_t>(method);
    if (reader_.Read(known, &trace_, &values_, &call_)) return true;
    lost_ = true;
    return false;
  }

  void Follow(const Record& record) {
    started_ = started_ || (record.flags & kRecordRestores) == 0;
    switch (record.kind) {
      case RecordKind::kObject: return FollowObject(record);
      case RecordKind::kContents: return FollowContents(record);
      case RecordKind::kCall: return FollowCall(record);
      case RecordKind::kResult: return FollowResult(record);
      case RecordKind::kObjectEnd: return lists_.EndList(record.object);
      case RecordKind::kFrame: return ReadWhole(record.object);
      default: return;
    }
  }

  void FollowObject(const Record& record) {
    const Result<CreatedObject> made = DecodeObject(record);
    if (made.ok()) lists_.OnObject(record, *made);
  }

  void FollowContents(const Record& record) {
    std::span<const std::byte> rest = record.body;
    const Result<ContentsBody> body = DecodeBody<ContentsBody>(&rest);
    Resource* const resource = Find(record.object);
    if (!body.ok() || resource == nullptr || body->subresource >= resource->state.size()) return;
    resource->state[body->subresource] = body->state;
  }

  void FollowCall(const Record& record) {
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value()) return;
    const CallRole& role = RoleOf(*method);
    if (role.role == Role::kListReset) return;  // its result counts
    if (role.timeline == Timeline::kList) {
      if (Read(record, *method)) lists_.OnListCall(*method, record.object, call_, values_);
      return;
    }
    if (role.role == Role::kView) {
      if (Read(record, *method)) lists_.OnView(*method, call_, values_);
      return;
    }
    if (CopiesDescriptors(role)) {
      if (Read(record, *method)) lists_.OnCopies(call_, role.role == Role::kCopyViews);
      return;
    }
    if (!started_) return;  // what came of it is in the contents
    if (role.role == Role::kSubmit) {
      if (Read(record, *method)) Execute(record.object);
      return;
    }
    if (LeavesContents(*method) || !Read(record, *method)) return;
    KeepWhole(record.object);
    for (const uint64_t object : values_.objects) KeepWhole(object);
    for (const uint64_t address : values_.gpu_addresses) {
      addresses_.ForEachAt(address, [&](const auto& range) { KeepWhole(range.object); });
    }
  }

  void FollowResult(const Record& record) {
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value() || RoleOf(*method).role != Role::kListReset) return;
    if (Succeeded(record)) lists_.OnReset(record.object);
  }

  void Execute(uint64_t queue) {
    if (any_address_) KeepBuffers();
    for (const uint64_t list : values_.objects) {
      for (const ResourceUse& use : lists_.UsesOf(list)) Apply(use, queue);
    }
  }

  void Apply(const ResourceUse& use, uint64_t queue) {
    if (use.kind == ResourceUse::Kind::kHeap) {
      for (const uint64_t number : SeenThrough(use.object)) ReadThroughHeap(number, queue);
      return;
    }
    Resource* const resource = Find(use.object);
    if (resource == nullptr) return;
    UseOn(resource, queue);
    const uint64_t size = resource->first.size();
    const Subresources& part = use.subresources;
    const uint64_t count = use.whole() ? size : part.count;
    for (uint64_t k = 0, i = part.first; k < count && i < size; ++k, i += part.step) {
      if (use.kind == ResourceUse::Kind::kState) {
        resource->state[i] = use.state;
      } else if (resource->first[i] == First::kNothing) {
        const bool read = use.kind == ResourceUse::Kind::kRead;
        resource->first[i] = read ? First::kRead : First::kOverwrite;
      }
    }
  }

  // Records a use through a heap. The resource may be made later only: a heap holds every resource
  // that ever had a view in it.
  //
  // A queue that has the resource only in a heap may wait for the queue that works with it, in any
  // order of submission: that is a use, too.
  void ReadThroughHeap(uint64_t number, uint64_t queue) {
    Resource& resource = resources_[number];
    if (resource.kept || !resource.committed) return;
    UseOn(&resource, queue);
    const bool any_state = resource.simultaneous_access;
    for (size_t i = 0; i < resource.first.size(); ++i) {
      const uint32_t state = resource.state[i];
      const bool hidden = !any_state && (state == kDrawnInto || state == kDepthWritten);
      if (resource.first[i] == First::kNothing && !hidden) resource.first[i] = First::kRead;
    }
  }

  static void UseOn(Resource* resource, uint64_t queue) {
    if (resource->queue == 0) resource->queue = queue;
    resource->several_queues = resource->several_queues || resource->queue != queue;
  }
  void ReadWhole(uint64_t number) {
    Resource* const resource = Find(number);
    if (resource == nullptr) return;
    for (First& first : resource->first) {
      if (first == First::kNothing) first = First::kRead;
    }
  }
  void KeepWhole(uint64_t number) {
    if (Resource* const resource = Find(number)) resource->kept = true;
  }
  void KeepBuffers() {
    for (auto& [number, resource] : resources_) {
      if (resource.buffer) resource.kept = true;
    }
    any_address_ = false;  // once is enough
  }

  TraceReader& trace_;
  CallValuesReader reader_;
  CallValues values_;
  DecodedCall call_;
  ListUses lists_;
  bool lost_ = false;
  bool started_ = false;
  bool any_address_ = false;
  std::unordered_set<uint64_t> committing_;  // calls
  std::unordered_map<uint64_t, Resource> resources_;
  AddressMap addresses_;
  AddressMap descriptors_;
  std::unordered_map<uint64_t, Heap> heaps_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> seen_through_;
};

Result<UnneededContents> UnneededContents::Find(TraceReader* trace) {
  Search search(trace);
  CAIRN_RETURN_IF_ERROR(search.Run());
  UnneededContents result;
  search.Fill(&result);
  return result;
}

bool UnneededContents::Keep(Record* record, uint64_t) {
  ContentsBody body;
  if (record->kind != RecordKind::kContents || record->body.size() < sizeof(body)) return true;
  std::memcpy(&body, record->body.data(), sizeof(body));
  if (IsNeeded(record->object, body.subresource)) return true;
  if (buffers_.contains(record->object) || body.offset_bytes != 0) return false;
  body.row_pitch = 0;
  body.total_bytes = 0;
  body_.resize(sizeof(body) + sizeof(kNullBytes));
  std::memcpy(body_.data(), &body, sizeof(body));
  std::memcpy(body_.data() + sizeof(body), &kNullBytes, sizeof(kNullBytes));
  record->body = body_;
  return true;
}

}  // namespace cairn
