// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/replay_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "d3d12abi/aggregates.h"
#include "format/calls/object_text.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

std::array<const InterfaceInfo*, kMethodCount> FindInterfaces() {
  std::array<const InterfaceInfo*, kMethodCount> result = {};
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const std::string_view name = Describe(static_cast<Method>(i)).name;
    const std::string_view wanted = name.substr(0, name.find(':'));
    for (const InterfaceInfo& known : Interfaces()) {
      if (wanted == known.name) result[i] = &known;
    }
  }
  return result;
}

// The newest version of the chain that the object has, with a reference; null if it has none.
const InterfaceInfo* NewestVersion(Chain chain, IUnknown* real, ComPtr<IUnknown>* pointer) {
  const ChainInfo& info = Describe(chain);
  for (const InterfaceInfo* version = info.newest; version != nullptr; version = version->base) {
    GUID iid;
    static_assert(sizeof(iid) == sizeof(version->iid));
    std::memcpy(&iid, &version->iid, sizeof(iid));
    if (SUCCEEDED(real->QueryInterface(iid, pointer->Receive())) && pointer->get() != nullptr) {
      return version;
    }
    if (version == info.first) break;
  }
  return nullptr;
}

}  // namespace

const InterfaceInfo* InterfaceOf(Method method) {
  static const std::array<const InterfaceInfo*, kMethodCount> interfaces = FindInterfaces();
  return interfaces[static_cast<size_t>(method)];
}

bool DerivesFrom(const InterfaceInfo* derived, const InterfaceInfo* base) {
  while (derived != nullptr && derived != base) derived = derived->base;
  return derived != nullptr;
}

Result<ReplayObject*> ReplayObjects::Add(uint64_t number, Chain chain, uint64_t device,
                                         IUnknown* real) {
  if (number == kNoObject || number == kForeignObject || objects_.contains(number)) {
    return Status(StatusCode::kCorrupt, fmt::format("number {} is taken already", number));
  }
  auto object = std::make_unique<ReplayObject>();
  object->number = number;
  object->device = device;
  object->chain = chain;
  object->version = NewestVersion(chain, real, &object->pointer);
  if (object->version == nullptr) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("object {} is no {}", number, ObjectKindText(chain)));
  }
  if (chain == Chain::kID3D12Resource) {
    object->desc = GetDesc(object->As<ID3D12Resource>());
    if (object->desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) {
      object->gpu_address = object->As<ID3D12Resource>()->GetGPUVirtualAddress();
      real_addresses_.Add(object->gpu_address, object->desc.Width, number);
    }
  }
  ReplayObject* const added = object.get();
  // A device is one object, whichever creation gave it out: the number that came last counts.
  const auto [name, is_new] = numbers_.try_emplace(object->pointer.get(), number);
  if (!is_new) further_numbers_[object->pointer.get()].insert(name->second);
  name->second = number;
  absent_.erase(number);
  objects_.emplace(number, std::move(object));
  return added;
}

Status ReplayObjects::SetFacts(ReplayObject* object, const ResourceFacts& facts) {
  if (object->chain != Chain::kID3D12Resource) {
    return Status(StatusCode::kCorrupt, "facts of a resource for an object that is none");
  }
  object->is_image = facts.is_image != 0;
  if (facts.gpu_address == 0) return Status();
  if (object->gpu_address == 0 || facts.size_bytes == 0 || facts.size_bytes > object->desc.Width ||
      facts.gpu_address + facts.size_bytes < facts.gpu_address) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} bytes at address 0x{:x} for a buffer of {} bytes",
                              facts.size_bytes, facts.gpu_address, object->desc.Width));
  }
  addresses_.Add(facts.gpu_address, facts.size_bytes, object->number);
  return Status();
}

Status ReplayObjects::SetFacts(ReplayObject* object, const DescriptorHeapFacts& facts) {
  if (object->chain != Chain::kID3D12DescriptorHeap) {
    return Status(StatusCode::kCorrupt, "facts of a descriptor heap for an object that is none");
  }
  auto* const heap = object->As<ID3D12DescriptorHeap>();
  object->heap = GetDesc(heap);
  const uint64_t bytes = uint64_t{facts.count} * facts.increment_bytes;
  const bool wraps =
      facts.cpu_start + bytes < bytes || (facts.gpu_start != 0 && facts.gpu_start + bytes < bytes);
  if (facts.increment_bytes == 0 || facts.count != object->heap.NumDescriptors || wraps) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} descriptors of {} bytes for a heap of {}", facts.count,
                              facts.increment_bytes, object->heap.NumDescriptors));
  }
  ComPtr<ID3D12Device> device;
  if (FAILED(heap->GetDevice(__uuidof(ID3D12Device), device.Receive()))) {
    return Status(StatusCode::kInternal, "a descriptor heap gives no device");
  }
  object->increment_bytes = device->GetDescriptorHandleIncrementSize(object->heap.Type);
  object->recorded_increment_bytes = facts.increment_bytes;
  object->cpu_start = GetCpuStart(heap).ptr;
  cpu_descriptors_.Add(facts.cpu_start, bytes, object->number);
  if ((object->heap.Flags & D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE) != 0 &&
      facts.gpu_start != 0) {
    object->gpu_start = GetGpuStart(heap).ptr;
    gpu_descriptors_.Add(facts.gpu_start, bytes, object->number);
  }
  return Status();
}

void ReplayObjects::RemoveNumber(const void* pointer, uint64_t number) {
  const auto known = numbers_.find(pointer);
  if (known == numbers_.end()) return;
  const auto further = further_numbers_.find(pointer);
  if (further == further_numbers_.end()) {
    if (known->second == number) numbers_.erase(known);
    return;
  }
  std::set<uint64_t>& others = further->second;
  if (known->second == number) {
    known->second = *others.rbegin();
    others.erase(known->second);
  } else {
    others.erase(number);
  }
  if (others.empty()) further_numbers_.erase(further);
}

void ReplayObjects::Remove(uint64_t number) {
  absent_.erase(number);
  const auto found = objects_.find(number);
  if (found == objects_.end()) return;
  RemoveNumber(found->second->pointer.get(), number);
  addresses_.Remove(number);
  real_addresses_.Remove(number);
  cpu_descriptors_.Remove(number);
  gpu_descriptors_.Remove(number);
  recent_.Forget(number);
  objects_.erase(found);
}

void ReplayObjects::Abandon() {
  for (auto& [number, object] : objects_) {
    object->pointer.Detach();
    object->created.own_heap.Detach();
  }
  recent_.Clear();
  objects_.clear();
  numbers_.clear();
  further_numbers_.clear();
}

ReplayObject* ReplayObjects::LookUp(uint64_t number) {
  const auto found = objects_.find(number);
  return found == objects_.end() ? nullptr : recent_.Keep(number, found->second.get());
}

uint64_t ReplayObjects::NumberOf(const void* pointer) const {
  const auto found = numbers_.find(pointer);
  return found == numbers_.end() ? kNoObject : found->second;
}

Result<uint64_t> ReplayObjects::RealAddress(uint64_t recorded) const {
  const std::optional<AddressMap::Place> place = addresses_.Find(recorded);
  const auto found = place ? objects_.find(place->object) : objects_.end();
  if (found == objects_.end()) {
    return Status(StatusCode::kNotFound,
                  fmt::format("GPU address 0x{:x} is in no buffer that exists here", recorded));
  }
  return found->second->gpu_address + place->offset_bytes;
}

std::optional<ReplayObjects::Room> ReplayObjects::RoomAt(uint64_t device, uint64_t real,
                                                         uint64_t without) const {
  std::optional<Room> found;
  uint64_t farthest = 0;
  bool has_structures = false;  // the end is of a buffer that may have some
  real_addresses_.ForEachAt(real, [&](const AddressMap::Range& range) {
    const auto object = objects_.find(range.object);
    if (range.object == without || object == objects_.end() || object->second->device != device) {
      return;
    }
    const bool may_have =
        (object->second->desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS) != 0;
    if (!found || (may_have && !has_structures)) {
      has_structures = may_have;
      found = Room{found ? found->buffer : range.object, range.end};
    } else if (may_have == has_structures) {
      found->end = std::min(found->end, range.end);
    }
    if (range.end < farthest) return;
    farthest = range.end;
    found->buffer = range.object;
  });
  return found;
}

uint64_t ReplayObjects::MostLooked() const {
  return std::min<uint64_t>(real_addresses_.size(), AddressMap::kMostLooked);
}

Result<ReplayDescriptor> ReplayObjects::RealCpuDescriptor(uint64_t recorded) const {
  return Descriptor(cpu_descriptors_, recorded, /*gpu=*/false);
}

Result<ReplayDescriptor> ReplayObjects::RealGpuDescriptor(uint64_t recorded) const {
  return Descriptor(gpu_descriptors_, recorded, /*gpu=*/true);
}

Result<ReplayDescriptor> ReplayObjects::Descriptor(const AddressMap& map, uint64_t recorded,
                                                   bool gpu) const {
  const std::optional<AddressMap::Place> place = map.Find(recorded);
  const auto found = place ? objects_.find(place->object) : objects_.end();
  if (found == objects_.end()) {
    return Status(StatusCode::kNotFound,
                  fmt::format("descriptor 0x{:x} is in no heap that exists here", recorded));
  }
  const ReplayObject& heap = *found->second;
  const uint64_t index = place->offset_bytes / heap.recorded_increment_bytes;
  if (place->offset_bytes % heap.recorded_increment_bytes != 0 ||
      index >= heap.heap.NumDescriptors) {
    return Status(
        StatusCode::kNotFound,
        fmt::format("0x{:x} is no descriptor of descriptor heap {}", recorded, heap.number));
  }
  ReplayDescriptor result;
  result.real = (gpu ? heap.gpu_start : heap.cpu_start) + index * heap.increment_bytes;
  result.heap = heap.number;
  result.index = static_cast<uint32_t>(index);
  result.heap_count = heap.heap.NumDescriptors;
  result.heap_type = heap.heap.Type;
  return result;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
