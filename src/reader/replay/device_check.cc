// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/device_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "d3d12abi/aggregates.h"
#include "d3d12gen/interfaces.h"
#include "d3d12gen/roles.h"
#include "format/calls/object_text.h"
#include "reader/replay/replay_objects.h"
#include "reader/replay/structure_questions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr uint64_t kRefused = std::numeric_limits<uint64_t>::max();  // GetResourceAllocationInfo
constexpr size_t kMostKept = 1 << 16;

template <typename T>
T At(const DecodedCall& call, size_t index) {
  T value = {};
  if (index < call.arguments.size() && call.arguments[index] != nullptr) {
    std::memcpy(&value, call.arguments[index], sizeof(value));
  }
  return value;
}

bool IsCreation(Method method) {
  switch (method) {
    case Method::ID3D12Device_CreateCommittedResource:
    case Method::ID3D12Device4_CreateCommittedResource1:
    case Method::ID3D12Device8_CreateCommittedResource2:
    case Method::ID3D12Device10_CreateCommittedResource3:
    case Method::ID3D12Device_CreateReservedResource:
    case Method::ID3D12Device4_CreateReservedResource1:
    case Method::ID3D12Device10_CreateReservedResource2:
    case Method::ID3D12Device_CreatePlacedResource:
    case Method::ID3D12Device8_CreatePlacedResource1:
    case Method::ID3D12Device_CreateHeap:
    case Method::ID3D12Device4_CreateHeap1: return true;
    default: return false;
  }
}

bool IsAllocationQuestion(Method method) {
  return method == Method::ID3D12Device_GetResourceAllocationInfo ||
         method == Method::ID3D12Device4_GetResourceAllocationInfo1 ||
         method == Method::ID3D12Device8_GetResourceAllocationInfo2;
}

bool IsQuestion(Method method) {
  return IsAllocationQuestion(method) ||
         method == Method::ID3D12Device5_GetRaytracingAccelerationStructurePrebuildInfo;
}

std::string KeyOf(uint64_t device, const D3D12_RESOURCE_DESC& desc) {
  // Without the padding.
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", device,
                     static_cast<int>(desc.Dimension), desc.Alignment, desc.Width, desc.Height,
                     desc.DepthOrArraySize, desc.MipLevels, static_cast<int>(desc.Format),
                     desc.SampleDesc.Count, desc.SampleDesc.Quality, static_cast<int>(desc.Layout),
                     static_cast<int>(desc.Flags));
}

// Sampler feedback maps need more than the first fields of D3D12_RESOURCE_DESC1 say.
bool IsFeedback(const D3D12_RESOURCE_DESC& desc) {
  constexpr uint32_t kMinMip = 189;  // DXGI_FORMAT_SAMPLER_FEEDBACK_...: newer than the headers
  constexpr uint32_t kMipRegionUsed = 190;
  return NumberOf(desc.Format) == kMinMip || NumberOf(desc.Format) == kMipRegionUsed;
}

// Calls for which a replay needs no interface.
bool NeedsNoInterface(Replay replay) {
  return replay == Replay::kSkip || replay == Replay::kImport || replay == Replay::kAwaitEvents;
}

bool Overlap(uint64_t one, uint64_t one_size, uint64_t other, uint64_t other_size) {
  return one < other ? other - one < one_size : one - other < other_size;
}

}  // namespace

bool DeviceCheck::Moves(uint64_t device) const {
  const DeviceContext* const context = devices_->Find(device);
  return context != nullptr && context->is_another;
}

void DeviceCheck::Follow(const Record& record) {
  switch (record.kind) {
    case RecordKind::kCall:
      if (const auto method = trace_->MethodOf(record);
          method && (IsAllocationQuestion(*method) || IsCreation(*method))) {
        const ResourceMemory memory = RoleOf(*method).memory;
        const bool lies_in_heap =
            memory != ResourceMemory::kCommitted && memory != ResourceMemory::kReserved;
        if (lies_in_heap) Keep(record, *method);
      }
      return;
    case RecordKind::kResult: return OnResult(record);
    case RecordKind::kObject: return OnObject(record);
    case RecordKind::kObjectEnd: return OnObjectEnd(record);
    default: return;
  }
}

ID3D12Device* DeviceCheck::DeviceOf(uint64_t number) {
  DeviceContext* const context = devices_->Find(number);
  return context == nullptr ? nullptr : context->device.get();
}

void DeviceCheck::Add(DeviceDifference::Kind kind, uint64_t call, bool prevents, std::string text,
                      const std::string& key) {
  if (!key.empty()) {
    const auto found = known_.find(key);
    if (found != known_.end()) {
      ++differences_[found->second].count;
      return;
    }
  }
  if (differences_.size() >= kMost) {
    ++not_kept_;
    not_kept_prevents_ |= prevents;
    return;
  }
  if (!key.empty()) known_[key] = differences_.size();
  differences_.push_back({kind, call, 1, prevents, std::move(text)});
}

void DeviceCheck::AddFeature(const std::string& name) {
  Add(DeviceDifference::Kind::kFeature, 0, false,
      fmt::format("{}: this device's answer is another one", name));
}

std::vector<DeviceDifference> DeviceCheck::Take() {
  // Calls that had no result when the recording ended.
  for (const auto& [call, method] : missing_) AddMissing(call, method);
  missing_.clear();
  if (not_kept_ != 0) {
    differences_.push_back({DeviceDifference::Kind::kFurther, 0, not_kept_, not_kept_prevents_,
                            fmt::format("{} further differences", GroupedDigits(not_kept_))});
  }
  return std::move(differences_);
}

void DeviceCheck::OnCall(const Record& record) {
  const std::optional<Method> method = trace_->MethodOf(record);
  if (!method) {
    Add(DeviceDifference::Kind::kInterface, record.number, true,
        fmt::format("{}: this version of Cairn does not know it", trace_->MethodName(record)),
        trace_->MethodName(record));
    return;
  }
  CheckInterface(record, *method);
  Keep(record, *method);
}

// The interfaces of devices and lists, which are what newer features need.
void DeviceCheck::CheckInterface(const Record& record, Method method) {
  const InterfaceInfo* const wanted = InterfaceOf(method);
  if (wanted == nullptr || NeedsNoInterface(RoleOf(method).replay)) return;
  const bool of_device = wanted->chain == Chain::kID3D12Device;
  if (!of_device && wanted->chain != Chain::kID3D12GraphicsCommandList) return;
  uint64_t number = record.object;
  if (!of_device) {
    const auto object = objects_.find(record.object);
    if (object == objects_.end()) return;
    number = object->second.device;
  }
  if (HasInterface(number, of_device, wanted)) return;
  const bool answers = std::strcmp(Describe(method).result.type, "HRESULT") == 0;
  if (answers && missing_.size() < kMostKept) {
    missing_[record.number] = method;
  } else {
    AddMissing(record.number, method);
  }
}

void DeviceCheck::AddMissing(uint64_t call, Method method) {
  Add(DeviceDifference::Kind::kInterface, call, true,
      fmt::format("{}: this device has no {}", Describe(method).name, InterfaceOf(method)->name),
      Describe(method).name);
}

// True also where the device is not there, or makes no list.
bool DeviceCheck::HasInterface(uint64_t number, bool of_device, const InterfaceInfo* wanted) {
  ID3D12Device* const device = DeviceOf(number);
  if (device == nullptr) return true;
  const auto [found, is_new] = interfaces_.try_emplace({number, wanted}, true);
  if (!is_new) return found->second;
  cost_->AddObject();
  IUnknown* asked = device;
  if (!of_device) {
    ComPtr<ID3D12GraphicsCommandList>& list = lists_[number];
    if (!list) {
      ComPtr<ID3D12CommandAllocator> allocator;
      (void)device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                           __uuidof(ID3D12CommandAllocator), allocator.Receive());
      if (!allocator || FAILED(device->CreateCommandList(
                            0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.get(), nullptr,
                            __uuidof(ID3D12GraphicsCommandList), list.Receive()))) {
        return true;
      }
      (void)list->Close();
    }
    asked = list.get();
  }
  GUID iid;
  std::memcpy(&iid, &wanted->iid, sizeof(iid));
  ComPtr<IUnknown> there;
  found->second = SUCCEEDED(asked->QueryInterface(iid, there.Receive())) && there;
  return found->second;
}

void DeviceCheck::Keep(const Record& record, Method method) {
  const bool is_question = IsQuestion(method);
  if (!is_question && !IsCreation(method)) return;
  ID3D12Device* const device = DeviceOf(record.object);
  if (device == nullptr || asked_.size() >= kMostKept) return;
  DecodeOptions options;
  options.wchar_bytes = wchar_bytes_;
  options.blobs = trace_;
  DecodedCall call;
  arena_.Reset();
  if (!DecodeArguments(Describe(method), record.body, options, &arena_, &call).ok()) return;
  cost_->AddQuestion();
  Asked asked = {.method = method, .device = record.object};
  const auto set_desc = [&](size_t index) {
    const auto* const desc = At<const D3D12_RESOURCE_DESC*>(call, index);
    if (desc == nullptr) return false;
    std::memcpy(&asked.desc, desc, sizeof(asked.desc));
    if (IsFeedback(asked.desc)) return false;
    asked.allocation = GetAllocationInfo(device, asked.desc);
    return true;
  };
  bool known = false;
  switch (method) {
    case Method::ID3D12Device_CreateCommittedResource:
    case Method::ID3D12Device4_CreateCommittedResource1:
    case Method::ID3D12Device8_CreateCommittedResource2:
    case Method::ID3D12Device10_CreateCommittedResource3: known = set_desc(2); break;
    case Method::ID3D12Device_CreateReservedResource:
    case Method::ID3D12Device4_CreateReservedResource1:
    case Method::ID3D12Device10_CreateReservedResource2: known = set_desc(0); break;
    case Method::ID3D12Device_CreatePlacedResource:
    case Method::ID3D12Device8_CreatePlacedResource1:
      asked.heap = At<uint64_t>(call, 0);  // the number in place of the pointer
      asked.offset = At<UINT64>(call, 1);
      known = set_desc(2);
      break;
    case Method::ID3D12Device_CreateHeap:
    case Method::ID3D12Device4_CreateHeap1: {
      const auto* const desc = At<const D3D12_HEAP_DESC*>(call, 0);
      known = desc != nullptr;
      if (known) asked.heap_size_bytes = desc->SizeInBytes;
      break;
    }
    case Method::ID3D12Device_GetResourceAllocationInfo:
    case Method::ID3D12Device4_GetResourceAllocationInfo1:
    case Method::ID3D12Device8_GetResourceAllocationInfo2:
      known = At<UINT>(call, 1) == 1 && set_desc(2);
      break;
    default: {
      const auto* const inputs =
          At<const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS*>(call, 0);
      ComPtr<ID3D12Device5> newer;
      (void)device->QueryInterface(__uuidof(ID3D12Device5), newer.Receive());
      known = inputs != nullptr && IsWhole(*inputs) && newer;
      if (known) {
        newer->GetRaytracingAccelerationStructurePrebuildInfo(inputs, &asked.structure);
        asked.updates = (NumberOf(inputs->Flags) &
                         D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_ALLOW_UPDATE) != 0;
      }
      break;
    }
  }
  if (known) asked_[record.number] = asked;
}

void DeviceCheck::OnResult(const Record& record) {
  std::span<const std::byte> rest = record.body;
  const Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
  if (!body.ok()) return;
  if (const auto missing = missing_.find(body->call); missing != missing_.end()) {
    HRESULT recorded = S_OK;
    if (rest.size() >= sizeof(recorded)) std::memcpy(&recorded, rest.data(), sizeof(recorded));
    if (SUCCEEDED(recorded)) AddMissing(missing->first, missing->second);
    missing_.erase(missing);
  }
  const auto found = asked_.find(body->call);
  if (found == asked_.end()) return;
  const Asked asked = found->second;
  asked_.erase(found);
  if (!IsQuestion(asked.method)) return;
  DecodeOptions options;
  options.wchar_bytes = wchar_bytes_;
  options.blobs = trace_;
  DecodedCall recorded;
  arena_.Reset();
  if (!DecodeResults(Describe(asked.method), rest, options, &arena_, &recorded).ok()) return;
  if (IsAllocationQuestion(asked.method)) {
    D3D12_RESOURCE_ALLOCATION_INFO info = {};
    if (recorded.result == nullptr) return;
    std::memcpy(&info, recorded.result, sizeof(info));
    CheckAllocation(body->call, asked, info);
    return;
  }
  const auto* const info =
      At<const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO*>(recorded, 1);
  if (info != nullptr) CheckStructure(body->call, asked, *info);
}

void DeviceCheck::CheckAllocation(uint64_t call, const Asked& asked,
                                  const D3D12_RESOURCE_ALLOCATION_INFO& recorded) {
  if (recorded.SizeInBytes == kRefused) return;
  const std::string key = KeyOf(asked.device, asked.desc);
  if (recorded_sizes_.size() < kMostKept) recorded_sizes_[key] = recorded.SizeInBytes;
  const D3D12_RESOURCE_ALLOCATION_INFO& here = asked.allocation;
  if (here.SizeInBytes == recorded.SizeInBytes && here.Alignment == recorded.Alignment) return;
  // A resource that is refused is told where it is created.
  if (here.SizeInBytes == kRefused) return;
  Add(DeviceDifference::Kind::kAllocation, call, false,
      fmt::format("a resource of {} bytes, alignment {}, when it was recorded needs {} bytes, "
                  "alignment {}, here",
                  GroupedDigits(recorded.SizeInBytes), GroupedDigits(recorded.Alignment),
                  GroupedDigits(here.SizeInBytes), GroupedDigits(here.Alignment)),
      "allocation " + key);
}

void DeviceCheck::CheckStructure(
    uint64_t call, const Asked& asked,
    const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO& recorded) {
  struct Size {
    const char* name;
    uint64_t here;
    uint64_t recorded;
    bool counts = true;
  };
  const Size sizes[] = {
      {"an acceleration structure", asked.structure.ResultDataMaxSizeInBytes,
       recorded.ResultDataMaxSizeInBytes},
      {"the scratch memory of a build", asked.structure.ScratchDataSizeInBytes,
       recorded.ScratchDataSizeInBytes},
      {"the scratch memory of an update", asked.structure.UpdateScratchDataSizeInBytes,
       recorded.UpdateScratchDataSizeInBytes, asked.updates}};
  for (const Size& size : sizes) {
    if (!size.counts || size.here <= size.recorded) continue;
    // The program gave as much memory as it was told.
    Add(DeviceDifference::Kind::kStructure, call, !Moves(asked.device),
        fmt::format("{} needs {} bytes here, and {} when it was recorded", size.name,
                    GroupedDigits(size.here), GroupedDigits(size.recorded)),
        fmt::format("{} {} {}", size.name, size.here, size.recorded));
  }
}

void DeviceCheck::OnObject(const Record& record) {
  std::span<const std::byte> rest = record.body;
  const Result<ObjectBody> body = DecodeBody<ObjectBody>(&rest);
  if (!body.ok()) return;
  Object& object = objects_[record.object];
  object = {trace_->ChainOf(body->chain), body->device, 0};
  const auto creation = asked_.find(body->creator);
  if (creation == asked_.end()) return;
  const Asked& asked = creation->second;
  if (asked.heap_size_bytes != 0) {
    heaps_[record.object] = {asked.heap_size_bytes, {}};
    return;
  }
  if (asked.allocation.SizeInBytes == kRefused) {
    Add(DeviceDifference::Kind::kAllocation, body->creator, true,
        ObjectText(Chain::kID3D12Resource, record.object) + ": this device makes none like it");
    return;
  }
  if (asked.heap == 0) return;
  object.heap = asked.heap;
  CheckPlaced(record.object, asked);
}

DeviceCheck::Placed DeviceCheck::PlacedOf(const Asked& asked) const {
  const auto recorded = recorded_sizes_.find(KeyOf(asked.device, asked.desc));
  return {asked.offset, asked.allocation.SizeInBytes,
          recorded == recorded_sizes_.end() ? 0 : recorded->second};
}

// Resources that shared memory when they were recorded may share it here. At most so many are compared.
uint64_t DeviceCheck::NewNeighbour(const Heap& heap, const Placed& placed, size_t* compared) {
  constexpr size_t kMostNeighbours = 4096;
  for (const auto& [other, neighbour] : heap.resources) {
    if (++*compared > kMostNeighbours) break;
    const bool is_new =
        placed.recorded_size_bytes != 0 && neighbour.recorded_size_bytes != 0 &&
        Overlap(placed.offset, placed.size_bytes, neighbour.offset, neighbour.size_bytes) &&
        !Overlap(placed.offset, placed.recorded_size_bytes, neighbour.offset,
                 neighbour.recorded_size_bytes);
    if (is_new) return other;
  }
  return 0;
}

std::optional<DeviceCheck::Need> DeviceCheck::NeedOf(uint64_t call) const {
  constexpr uint64_t kBlock = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT;  // heaps have whole ones
  const auto found = asked_.find(call);
  if (found == asked_.end() || found->second.heap == 0) return std::nullopt;
  const Asked& asked = found->second;
  const auto heap = heaps_.find(asked.heap);
  const uint64_t size = asked.allocation.SizeInBytes;
  if (heap == heaps_.end() || size == kRefused) return std::nullopt;
  size_t compared = 0;
  Need need = {asked.allocation, NewNeighbour(heap->second, PlacedOf(asked), &compared) == 0};
  cost_->AddComparisons(compared);
  // The implementation took an offset that no device promises to take: it says itself if it does here.
  if (asked.offset % std::max<uint64_t>(asked.allocation.Alignment, 1) != 0) return need;
  const uint64_t bytes = heap->second.size_bytes;
  const uint64_t rest = bytes % kBlock == 0 ? 0 : kBlock - bytes % kBlock;
  need.fits &= bytes > kRefused - rest ||
               (asked.offset <= bytes + rest && size <= bytes + rest - asked.offset);
  return need;
}

void DeviceCheck::CheckPlaced(uint64_t number, const Asked& asked) {
  const auto found = heaps_.find(asked.heap);
  if (found == heaps_.end()) return;
  Heap& heap = found->second;
  const uint64_t size = asked.allocation.SizeInBytes;
  const uint64_t alignment = asked.allocation.Alignment;
  const std::string name = ObjectText(Chain::kID3D12Resource, number);
  const std::string place =
      fmt::format("at offset {} of heap {}", GroupedDigits(asked.offset), asked.heap);
  const bool prevents = !Moves(asked.device);
  if (alignment != 0 && asked.offset % alignment != 0) {
    Add(DeviceDifference::Kind::kPlacement, number, prevents,
        fmt::format("{} {} needs alignment {} here", name, place, GroupedDigits(alignment)));
  }
  if (asked.offset > heap.size_bytes || size > heap.size_bytes - asked.offset) {
    Add(DeviceDifference::Kind::kPlacement, number, prevents,
        fmt::format("{} {} needs {} bytes here, and the heap has {}", name, place,
                    GroupedDigits(size), GroupedDigits(heap.size_bytes)));
  }
  const Placed placed = PlacedOf(asked);
  size_t compared = 0;
  if (const uint64_t other = NewNeighbour(heap, placed, &compared); other != 0) {
    Add(DeviceDifference::Kind::kPlacement, number, prevents,
        fmt::format("{} {} needs {} bytes here, and overlaps {}, which it did not when it was "
                    "recorded",
                    name, place, GroupedDigits(size), ObjectText(Chain::kID3D12Resource, other)));
  }
  cost_->AddComparisons(compared);
  heap.resources[number] = placed;
}

void DeviceCheck::OnObjectEnd(const Record& record) {
  const auto found = objects_.find(record.object);
  if (found == objects_.end()) return;
  const auto heap = heaps_.find(found->second.heap);
  if (heap != heaps_.end()) heap->second.resources.erase(record.object);
  heaps_.erase(record.object);
  if (found->second.chain == Chain::kID3D12Device) {
    lists_.erase(record.object);
    std::erase_if(interfaces_,
                  [&](const auto& entry) { return entry.first.first == record.object; });
  }
  objects_.erase(found);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
