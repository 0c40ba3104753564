// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/own_structures.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "reader/replay/structure_questions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

using PrebuildInfo = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO;

constexpr uint32_t kUpdates = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE;

// Returns what a build of these inputs needs, also for those of an update.
PrebuildInfo SizesOf(ID3D12Device5* device,
                     D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS inputs) {
  const uint32_t flags = NumberOf(inputs.Flags) & ~kUpdates;
  std::memcpy(&inputs.Flags, &flags, sizeof(flags));
  PrebuildInfo info = {};
  device->GetRaytracingAccelerationStructurePrebuildInfo(&inputs, &info);
  return info;
}

}  // namespace

Status OwnStructures::PlaceBuild(DeviceContext* context, uint64_t list,
                                 D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc) {
  if (!context->is_another || desc == nullptr) return Status();
  const StructureMap& map = context->structures;
  const bool updates = (NumberOf(desc->Inputs.Flags) & kUpdates) != 0;
  const D3D12_GPU_VIRTUAL_ADDRESS source = desc->SourceAccelerationStructureData;
  if (updates) {
    desc->SourceAccelerationStructureData = map.Now(source);
    context->lists.Give(list, desc->SourceAccelerationStructureData);
  }
  const ComPtr<ID3D12Device5> device = context->device.As<ID3D12Device5>();
  if (!device || !IsWhole(desc->Inputs)) {
    return PlaceUnknown(context, desc->DestAccelerationStructureData);
  }
  const uint64_t before = map.Now(desc->DestAccelerationStructureData);
  parts_.cost->AddQuestion();
  const PrebuildInfo sizes = SizesOf(device.get(), desc->Inputs);
  bool moved_scratch = false;
  CAIRN_RETURN_IF_ERROR(PlaceScratch(
      context, list, updates ? sizes.UpdateScratchDataSizeInBytes : sizes.ScratchDataSizeInBytes,
      desc->DestAccelerationStructureData, &desc->ScratchAccelerationStructureData,
      &moved_scratch));
  if (updates && source == desc->DestAccelerationStructureData) {
    desc->DestAccelerationStructureData = desc->SourceAccelerationStructureData;
  } else {
    // An update takes what its build takes.
    const uint64_t size =
        std::max(sizes.ResultDataMaxSizeInBytes, updates ? map.SizeAt(source) : uint64_t{0});
    CAIRN_RETURN_IF_ERROR(Place(context, size, &desc->DestAccelerationStructureData));
  }
  context->lists.Give(list, desc->DestAccelerationStructureData, before);
  if (moved_scratch) ++parts_.log->result().moved.scratches;
  return Status();
}

Status OwnStructures::PlaceCopy(DeviceContext* context, uint64_t list,
                                D3D12_GPU_VIRTUAL_ADDRESS* to, D3D12_GPU_VIRTUAL_ADDRESS* from,
                                uint32_t mode) {
  if (!context->is_another) return Status();
  // Its source is what SERIALIZE wrote.
  if (mode == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_DESERIALIZE) {
    return PlaceUnknown(context, *to);
  }
  const uint64_t size = context->structures.SizeAt(*from);
  *from = context->structures.Now(*from);
  context->lists.Give(list, *from);
  const bool copies = mode == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE ||
                      mode == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_COMPACT;
  if (!copies) return Status();
  // How large a compacted copy is, the GPU says when the structure is built: no larger than that.
  if (size == 0) return PlaceUnknown(context, *to);
  const uint64_t before = context->structures.Now(*to);
  CAIRN_RETURN_IF_ERROR(Place(context, size, to));
  context->lists.Give(list, *to, before);
  return Status();
}

Status OwnStructures::PlaceUnknown(DeviceContext* context, D3D12_GPU_VIRTUAL_ADDRESS place) {
  StructureMap& map = context->structures;
  if (map.Now(place) == place) {
    const auto room = RoomAt(context, place);
    if (!room) return Status();
    if (map.Room(place, room->end) == 0) {
      return {
          StatusCode::kUnsupported,
          "its place is in the memory that another acceleration structure needs on this device"};
    }
    map.Take(place, 0, room->buffer);
    return Status();
  }
  return {StatusCode::kUnsupported,
          "it takes the place of an acceleration structure that needs more memory on this device, "
          "and nobody knows how much it needs itself"};
}

std::optional<ReplayObjects::Room> OwnStructures::RoomAt(DeviceContext* context, uint64_t place,
                                                         uint64_t without) {
  parts_.cost->AddComparisons(parts_.objects->MostLooked());
  return parts_.objects->RoomAt(context->number, place, without);
}

Status OwnStructures::Place(DeviceContext* context, uint64_t size_bytes,
                            D3D12_GPU_VIRTUAL_ADDRESS* address) {
  if (!context->is_another) return Status();
  const uint64_t place = *address;
  const auto room = RoomAt(context, place);
  if (!room) {
    return {StatusCode::kUnsupported, "its place is in no buffer that the replay finds"};
  }
  StructureMap& map = context->structures;
  const uint64_t before = map.Now(place);
  const uint64_t free_bytes =
      std::min(map.Room(place, room->end), context->scratches.Room(place, room->end));
  if (before == place && free_bytes != 0 && size_bytes <= free_bytes) {
    map.Take(place, size_bytes, room->buffer);
    return Status();
  }
  const uint64_t owner = before == place ? room->buffer : map.OwnerAt(place);
  const Result<D3D12_GPU_VIRTUAL_ADDRESS> own = context->structure_memory.Provide(
      context->device.get(), parts_.cost, {owner, place}, size_bytes);
  if (!own.ok()) return own.status();
  *address = *own;
  if (map.Move(place, size_bytes, owner, *own)) {
    ++parts_.log->result().moved.structures;
    parts_.memory->AddOwn(room->buffer);
  }
  return *own == before ? Status() : MoveViews(context, before, *own);
}

Status OwnStructures::PlaceScratch(DeviceContext* context, uint64_t list, uint64_t size_bytes,
                                   uint64_t made, D3D12_GPU_VIRTUAL_ADDRESS* address, bool* moved) {
  const uint64_t place = *address;
  const auto room = RoomAt(context, place);
  if (size_bytes == 0 || !room) return Status();
  // What is built is not in the map yet.
  const uint64_t end = made > place ? std::min(made, room->end) : room->end;
  if (size_bytes <=
      std::min(context->scratches.Room(place, end), context->structures.Room(place, end))) {
    context->scratches.Take(place, size_bytes, list);
    return Status();
  }
  // Builds of one list that the program orders by their scratch memory have the same memory here, too.
  const Result<D3D12_GPU_VIRTUAL_ADDRESS> own = context->scratch_memory.Provide(
      context->device.get(), parts_.cost, {list, place}, size_bytes);
  if (!own.ok()) return own.status();
  *address = *own;
  *moved = true;
  parts_.memory->AddOwn(room->buffer);
  return Status();
}

Status OwnStructures::MoveViews(DeviceContext* context, D3D12_GPU_VIRTUAL_ADDRESS from,
                                D3D12_GPU_VIRTUAL_ADDRESS to) {
  uint64_t looked = 0;
  const std::vector<D3D12_CPU_DESCRIPTOR_HANDLE> views =
      parts_.views->MoveStructure(context->number, from, to, &looked);
  parts_.cost->AddComparisons(looked);
  if (views.empty()) return Status();
  // The GPU may read them for the frame before.
  CAIRN_RETURN_IF_ERROR(parts_.waits->WaitForDevices());
  D3D12_SHADER_RESOURCE_VIEW_DESC desc = {};
  desc.ViewDimension = D3D12_SRV_DIMENSION_RAYTRACING_ACCELERATION_STRUCTURE;
  desc.Shader4ComponentMapping = D3D12_DEFAULT_SHADER_4_COMPONENT_MAPPING;
  desc.RaytracingAccelerationStructure.Location = to;
  for (const D3D12_CPU_DESCRIPTOR_HANDLE& view : views) {
    parts_.cost->AddQuestion();
    context->device->CreateShaderResourceView(nullptr, &desc, view);
  }
  return Status();
}

Status OwnStructures::End(DeviceContext* context, uint64_t object) {
  if (!context->is_another) return Status();
  const auto ended = context->structures.Remove(object, [&](uint64_t place) {
    const auto heir = RoomAt(context, place, object);
    if (heir) context->structure_memory.Give(object, {heir->buffer, place});
    return heir ? heir->buffer : 0;
  });
  // Their place may be that of structures again, and the GPU is never to read memory that has gone.
  for (const StructureMap::Ended& one : ended) {
    CAIRN_RETURN_IF_ERROR(MoveViews(context, one.own, one.place));
  }
  for (ComPtr<IUnknown>& block : context->structure_memory.Remove(object)) {
    context->ended.push_back(std::move(block));
  }
  return EndList(context, object);
}

Status OwnStructures::EndList(DeviceContext* context, uint64_t list) {
  context->scratches.Remove(list);
  context->lists.Remove(list);
  std::vector<ComPtr<IUnknown>> ended = context->scratch_memory.Remove(list);
  if (ended.empty()) return Status();
  for (ComPtr<IUnknown>& block : ended) context->ended.push_back(std::move(block));
  return parts_.waits->SweepEnded(context);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
