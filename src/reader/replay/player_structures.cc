// SPDX-License-Identifier: Apache-2.0
//
// Acceleration structures on devices where they, or their builds, need more memory than when they were recorded: they
// get memory of the player's, and the addresses that the program has of them mean that.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/text.h"
#include "d3d12abi/aggregates.h"
#include "reader/replay/player_impl.h"
#include "reader/replay/structure_questions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

using PrebuildInfo = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO;

constexpr uint32_t kUpdates = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE;

}  // namespace

// The program asks how large a structure will be. So does the playback: how the answers differ says for which
// structures there may be too little room, wherever the program puts them.
void PlayerImpl::AskStructureSizes(const Record& record) {
  constexpr size_t kMostAsked = 1 << 16;
  DeviceContext* const context = devices_.Find(record.object);
  if (context == nullptr || context->lost || asked_sizes_.size() >= kMostAsked) return;
  const ComPtr<ID3D12Device5> device = context->device.As<ID3D12Device5>();
  if (!device) return;
  arena_.Reset();
  DecodeOptions options;
  options.wchar_bytes = library_.wchar_bytes;
  options.blobs = trace_;
  DecodedCall call;
  const MethodInfo& method =
      Describe(Method::ID3D12Device5_GetRaytracingAccelerationStructurePrebuildInfo);
  if (!DecodeArguments(method, record.body, options, &arena_, &call).ok()) return;
  const auto* const inputs =
      *static_cast<const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS**>(call.arguments[0]);
  if (inputs == nullptr || !IsWhole(*inputs)) return;
  cost_.AddQuestion();
  AskedSizes& asked = asked_sizes_[record.number];
  asked.device = record.object;
  asked.here = PrebuildInfoOf(device.get(), *inputs);
  asked.updates = Updates(*inputs);
}

// `results`: behind ResultBody.
void PlayerImpl::CompareStructureSizes(uint64_t call, std::span<const std::byte> results) {
  const auto found = asked_sizes_.find(call);
  if (found == asked_sizes_.end()) return;
  const AskedSizes asked = found->second;
  asked_sizes_.erase(found);
  DeviceContext* const context = devices_.Find(asked.device);
  arena_.Reset();
  DecodeOptions options;
  options.wchar_bytes = library_.wchar_bytes;
  options.blobs = trace_;
  DecodedCall decoded;
  const MethodInfo& method =
      Describe(Method::ID3D12Device5_GetRaytracingAccelerationStructurePrebuildInfo);
  if (context == nullptr || !DecodeResults(method, results, options, &arena_, &decoded).ok() ||
      decoded.arguments[1] == nullptr) {
    return;
  }
  const auto* const recorded = *static_cast<const PrebuildInfo**>(decoded.arguments[1]);
  if (recorded == nullptr) return;
  const PrebuildInfo& here = asked.here;
  DeviceContext::StructureSizes& sizes = context->structure_sizes;
  sizes.asked = true;
  sizes.differ |= here.ResultDataMaxSizeInBytes != recorded->ResultDataMaxSizeInBytes;
  sizes.more |= here.ResultDataMaxSizeInBytes > recorded->ResultDataMaxSizeInBytes;
  sizes.more_scratch |=
      here.ScratchDataSizeInBytes > recorded->ScratchDataSizeInBytes ||
      (asked.updates && here.UpdateScratchDataSizeInBytes > recorded->UpdateScratchDataSizeInBytes);
}

Status PlayerImpl::ProvideStructureMemory(CallInProgress* call) {
  DeviceContext* const context = devices_.Find(call->object->device);
  if (context == nullptr) return Status();
  switch (call->method) {
    case Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure:
      // Decoded for this call alone.
      return ProvideForBuild(context,
                             call->At<D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC*>(0));
    case Method::ID3D12GraphicsCommandList4_CopyRaytracingAccelerationStructure:
      return ProvideForCopy(call, context);
    default: return Status();
  }
}

Status PlayerImpl::ProvideForBuild(DeviceContext* context,
                                   D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc) {
  const ComPtr<ID3D12Device5> device = context->device.As<ID3D12Device5>();
  if (!device || !IsWhole(desc->Inputs)) return Status();
  cost_.AddQuestion();
  const PrebuildInfo sizes = PrebuildInfoOf(device.get(), desc->Inputs);
  const bool updates = (NumberOf(desc->Inputs.Flags) & kUpdates) != 0;
  const auto target = objects_.PlaceOfStructure(desc->DestAccelerationStructureData);
  if (!target) return Status();
  CAIRN_RETURN_IF_ERROR(ProvideScratch(
      context, updates ? sizes.UpdateScratchDataSizeInBytes : sizes.ScratchDataSizeInBytes, *target,
      &desc->ScratchAccelerationStructureData));
  uint64_t size = sizes.ResultDataMaxSizeInBytes;
  if (updates) {
    // It takes what its build takes, and may stay where that is.
    if (desc->SourceAccelerationStructureData == desc->DestAccelerationStructureData) {
      return Status();
    }
    size = std::max(size, SizeOfStructure(desc->SourceAccelerationStructureData));
  }
  return ProvideTarget(context, *target, size, context->structure_sizes.more,
                       &desc->DestAccelerationStructureData);
}

Status PlayerImpl::ProvideForCopy(CallInProgress* call, DeviceContext* context) {
  const uint32_t mode = NumberOf(call->At<D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE>(2));
  const bool compacts = mode == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_COMPACT;
  if (!compacts && mode != D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE) {
    return Status();
  }
  auto& target = call->At<D3D12_GPU_VIRTUAL_ADDRESS>(0);
  const auto place = objects_.PlaceOfStructure(target);
  const uint64_t size = SizeOfStructure(call->At<D3D12_GPU_VIRTUAL_ADDRESS>(1));
  if (!place) return Status();
  const DeviceContext::StructureSizes& sizes = context->structure_sizes;
  // A compacted copy is as large as this device says when the GPU has built the structure: no larger than that.
  const bool moves = size != 0 && (compacts ? sizes.differ : sizes.more);
  if (compacts && !moves) {
    ReplayObject* const buffer = objects_.Find(place->object);
    const auto known = buffer->structures.find(place->offset_bytes);
    if (known == buffer->structures.end() || known->second.own_address == 0) {
      objects_.PlaceStructure(buffer, place->offset_bytes, {});
      return Status();
    }
  }
  return ProvideTarget(context, *place, size, moves, &target);
}

// Returns what a structure takes here at most; 0: unknown.
uint64_t PlayerImpl::SizeOfStructure(uint64_t real) {
  const auto place = objects_.PlaceOfStructure(real);
  const ReplayObject* const buffer = place ? objects_.Find(place->object) : nullptr;
  if (buffer == nullptr) return 0;
  const auto found = buffer->structures.find(place->offset_bytes);
  return found == buffer->structures.end() ? 0 : found->second.size_bytes;
}

// Builds that the program orders by their scratch memory have the same memory here.
Status PlayerImpl::ProvideScratch(DeviceContext* context, uint64_t size_bytes,
                                  AddressMap::Place target, D3D12_GPU_VIRTUAL_ADDRESS* address) {
  if (size_bytes == 0) return Status();
  const auto given = objects_.PlaceOfReal(*address);
  const ReplayObject* const buffer = given ? objects_.Find(given->object) : nullptr;
  const bool fits = buffer != nullptr && size_bytes <= buffer->desc.Width - given->offset_bytes;
  if (fits && !context->structure_sizes.more_scratch) return Status();
  const AddressMap::Place place = given.value_or(target);
  const Result<D3D12_GPU_VIRTUAL_ADDRESS> own = context->scratch_memory.Provide(
      context->device.get(), &cost_, {place.object, place.offset_bytes}, size_bytes);
  if (!own.ok()) return own.status();
  *address = *own;
  own_scratches_.insert({place.object, place.offset_bytes});
  return Status();
}

Status PlayerImpl::ProvideTarget(DeviceContext* context, AddressMap::Place place,
                                 uint64_t size_bytes, bool moves,
                                 D3D12_GPU_VIRTUAL_ADDRESS* address) {
  ReplayObject* const buffer = objects_.Find(place.object);
  const auto known = buffer->structures.find(place.offset_bytes);
  const uint64_t before = known == buffer->structures.end() ? 0 : known->second.own_address;
  // A program that asked for the sizes has left room for them, and may use what others had before.
  const uint64_t room = context->structure_sizes.asked
                            ? buffer->desc.Width - place.offset_bytes
                            : RoomForStructure(*buffer, place.offset_bytes);
  if (!moves && before == 0 && size_bytes <= room) {
    objects_.PlaceStructure(buffer, place.offset_bytes, {size_bytes, 0});
    return Status();
  }
  const Result<D3D12_GPU_VIRTUAL_ADDRESS> own = context->structure_memory.Provide(
      context->device.get(), &cost_, {place.object, place.offset_bytes}, size_bytes);
  if (!own.ok()) return own.status();
  *address = *own;
  objects_.PlaceStructure(buffer, place.offset_bytes, {size_bytes, *own});
  own_structures_.insert({place.object, place.offset_bytes});
  if (*own == before) return Status();
  memory_.AddOwn(place.object);
  return MoveViews(context, place, *own);
}

// Views that were made before the structure was: they are to lead to where it lies now.
Status PlayerImpl::MoveViews(DeviceContext* context, AddressMap::Place place, uint64_t address) {
  const std::vector<D3D12_CPU_DESCRIPTOR_HANDLE> views =
      views_.ViewsOfStructure(place.object, place.offset_bytes);
  if (views.empty()) return Status();
  // The GPU may read them for the frame before.
  CAIRN_RETURN_IF_ERROR(waits_.WaitForDevices());
  D3D12_SHADER_RESOURCE_VIEW_DESC desc = {};
  desc.ViewDimension = D3D12_SRV_DIMENSION_RAYTRACING_ACCELERATION_STRUCTURE;
  desc.Shader4ComponentMapping = D3D12_DEFAULT_SHADER_4_COMPONENT_MAPPING;
  desc.RaytracingAccelerationStructure.Location = address;
  for (const D3D12_CPU_DESCRIPTOR_HANDLE& view : views) {
    cost_.AddQuestion();
    context->device->CreateShaderResourceView(nullptr, &desc, view);
  }
  return Status();
}

// Barriers name the program's buffers: they are to order what this playback has in their place as well.
void PlayerImpl::OrderOwnMemory(const CallInProgress& call) {
  if (RoleOf(call.method).role != Role::kBarrier) return;
  DeviceContext* const context = devices_.Find(call.object->device);
  const bool has_own =
      context != nullptr && !(context->structure_memory.empty() && context->scratch_memory.empty());
  if (!has_own) return;
  auto* const list = call.object->As<ID3D12GraphicsCommandList>();
  const D3D12_COMMAND_LIST_TYPE type = list->GetType();
  if (type != D3D12_COMMAND_LIST_TYPE_DIRECT && type != D3D12_COMMAND_LIST_TYPE_COMPUTE) return;
  D3D12_RESOURCE_BARRIER all = {};
  all.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  list->ResourceBarrier(1, &all);
}

void PlayerImpl::NoteOwnMemory() {
  const auto note = [&](size_t count, const char* what, const char* where) {
    if (count == 0) return;
    log_.Note(fmt::format("{} {} than when recorded: memory of the replay's holds {}",
                          GroupedDigits(count), what, where));
  };
  note(own_structures_.size(), "acceleration structures may need more memory here", "them");
  note(own_scratches_.size(), "scratch buffers of builds may have to be larger here",
       "what they held");
  if (own_heaps_ == 1) {
    log_.Note(
        "1 placed resource may need more memory here than when recorded: it has a heap of its own");
  } else if (own_heaps_ != 0) {
    log_.Note(
        fmt::format("{} placed resources may need more memory here than when recorded: each has a "
                    "heap of its own",
                    GroupedDigits(own_heaps_)));
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
