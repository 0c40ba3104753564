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
  if (!context->is_another || desc == nullptr || !IsWhole(desc->Inputs)) return Status();
  const ComPtr<ID3D12Device5> device = context->device.As<ID3D12Device5>();
  if (!device) return Status();
  parts_.cost->AddQuestion();
  const PrebuildInfo sizes = SizesOf(device.get(), desc->Inputs);
  const bool updates = (NumberOf(desc->Inputs.Flags) & kUpdates) != 0;
  CAIRN_RETURN_IF_ERROR(PlaceScratch(
      context, list, updates ? sizes.UpdateScratchDataSizeInBytes : sizes.ScratchDataSizeInBytes,
      &desc->ScratchAccelerationStructureData));
  uint64_t size = sizes.ResultDataMaxSizeInBytes;
  if (updates) {
    // It takes what its build takes, and may stay where that is.
    const D3D12_GPU_VIRTUAL_ADDRESS source = desc->SourceAccelerationStructureData;
    if (source == desc->DestAccelerationStructureData) return Status();
    if (const auto from = parts_.objects->RecordedAt(source)) {
      size = std::max(size, parts_.objects->structures().SizeOf(from->address));
    }
  }
  return Place(context, size, &desc->DestAccelerationStructureData);
}

Status OwnStructures::PlaceCopy(DeviceContext* context, D3D12_GPU_VIRTUAL_ADDRESS* to,
                                D3D12_GPU_VIRTUAL_ADDRESS from, uint32_t mode) {
  const bool copies = mode == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE ||
                      mode == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_COMPACT;
  const auto source = parts_.objects->RecordedAt(from);
  if (!context->is_another || !copies || !source) return Status();
  // How large a compacted copy is, the GPU says when the structure is built: no larger than that.
  const uint64_t size = parts_.objects->structures().SizeOf(source->address);
  return size == 0 ? Status() : Place(context, size, to);
}

Status OwnStructures::Place(DeviceContext* context, uint64_t size_bytes,
                            D3D12_GPU_VIRTUAL_ADDRESS* address) {
  const auto recorded = parts_.objects->RecordedAt(*address);
  if (!context->is_another || !recorded) return Status();
  StructureMap& map = parts_.objects->structures();
  const uint64_t before = map.OwnOf(recorded->address);
  if (before == 0 && size_bytes <= map.Room(recorded->address, recorded->end)) {
    map.Take(recorded->address, size_bytes, recorded->buffer);
    return Status();
  }
  const Result<D3D12_GPU_VIRTUAL_ADDRESS> own = context->structure_memory.Provide(
      context->device.get(), parts_.cost, {recorded->buffer, recorded->address}, size_bytes);
  if (!own.ok()) return own.status();
  *address = *own;
  if (map.Move(recorded->address, size_bytes, recorded->buffer, *own)) {
    ++parts_.log->result().moved.structures;
    parts_.memory->AddOwn(recorded->buffer);
  }
  return *own == before ? Status() : MoveViews(context, *recorded, *own);
}

Status OwnStructures::PlaceScratch(DeviceContext* context, uint64_t list, uint64_t size_bytes,
                                   D3D12_GPU_VIRTUAL_ADDRESS* address) {
  const auto recorded = parts_.objects->RecordedAt(*address);
  if (size_bytes == 0 || !recorded) return Status();
  StructureMap& map = parts_.objects->scratches();
  if (size_bytes <= map.Room(recorded->address, recorded->end)) {
    map.Take(recorded->address, size_bytes, recorded->buffer);
    return Status();
  }
  // Builds of one list that the program orders by their scratch memory have the same memory here, too.
  const Result<D3D12_GPU_VIRTUAL_ADDRESS> own = context->scratch_memory.Provide(
      context->device.get(), parts_.cost, {list, recorded->address}, size_bytes);
  if (!own.ok()) return own.status();
  *address = *own;
  ++parts_.log->result().moved.scratches;
  parts_.memory->AddOwn(recorded->buffer);
  return Status();
}

Status OwnStructures::MoveViews(DeviceContext* context, const ReplayObjects::Recorded& structure,
                                D3D12_GPU_VIRTUAL_ADDRESS address) {
  const ReplayObject* const buffer = parts_.objects->Find(structure.buffer);
  if (buffer == nullptr) return Status();
  uint64_t looked = 0;
  const std::vector<D3D12_CPU_DESCRIPTOR_HANDLE> views =
      parts_.views->ViewsOfStructure(buffer->device, structure.address, &looked);
  parts_.cost->AddComparisons(looked);
  if (views.empty()) return Status();
  // The GPU may read them for the frame before.
  CAIRN_RETURN_IF_ERROR(parts_.waits->WaitForDevices());
  D3D12_SHADER_RESOURCE_VIEW_DESC desc = {};
  desc.ViewDimension = D3D12_SRV_DIMENSION_RAYTRACING_ACCELERATION_STRUCTURE;
  desc.Shader4ComponentMapping = D3D12_DEFAULT_SHADER_4_COMPONENT_MAPPING;
  desc.RaytracingAccelerationStructure.Location = address;
  for (const D3D12_CPU_DESCRIPTOR_HANDLE& view : views) {
    parts_.cost->AddQuestion();
    context->device->CreateShaderResourceView(nullptr, &desc, view);
  }
  return Status();
}

Status OwnStructures::EndScratch(DeviceContext* context, uint64_t list) {
  std::vector<ComPtr<IUnknown>> ended = context->scratch_memory.Remove(list);
  if (ended.empty()) return Status();
  for (ComPtr<IUnknown>& block : ended) context->ended.push_back(std::move(block));
  return parts_.waits->SweepEnded(context);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
