// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/structure_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "d3d12abi/buffer_desc.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr D3D12_RESOURCE_STATES kStructureState =
    D3D12_RESOURCE_STATE_RAYTRACING_ACCELERATION_STRUCTURE;

// The geometries of a record, with inputs at `inputs`.
std::vector<D3D12_RAYTRACING_GEOMETRY_DESC> GeometriesAt(
    const std::vector<StructureGeometry>& geometries, D3D12_GPU_VIRTUAL_ADDRESS inputs) {
  std::vector<D3D12_RAYTRACING_GEOMETRY_DESC> descs;
  for (const StructureGeometry& geometry : geometries) {
    D3D12_RAYTRACING_GEOMETRY_DESC desc = {};
    desc.Type = static_cast<D3D12_RAYTRACING_GEOMETRY_TYPE>(geometry.type);
    desc.Flags = static_cast<D3D12_RAYTRACING_GEOMETRY_FLAGS>(geometry.flags);
    if (geometry.type == kBoxes) {
      desc.AABBs.AABBCount = geometry.count;
      desc.AABBs.AABBs = {inputs + geometry.offset_bytes, geometry.stride_bytes};
    } else {
      D3D12_RAYTRACING_GEOMETRY_TRIANGLES_DESC& triangles = desc.Triangles;
      triangles.VertexFormat = static_cast<DXGI_FORMAT>(geometry.format);
      triangles.VertexCount = static_cast<UINT>(geometry.count);
      triangles.VertexBuffer = {inputs + geometry.offset_bytes, geometry.stride_bytes};
      if (geometry.index_offset_bytes != kNoStructureInput) {
        triangles.IndexFormat = static_cast<DXGI_FORMAT>(geometry.index_format);
        triangles.IndexCount = geometry.index_count;
        triangles.IndexBuffer = inputs + geometry.index_offset_bytes;
      }
      if (geometry.transform_offset_bytes != kNoStructureInput) {
        triangles.Transform3x4 = inputs + geometry.transform_offset_bytes;
      }
    }
    descs.push_back(desc);
  }
  return descs;
}

}  // namespace

Status StructurePlayer::Play(const Record& record) {
  const auto leave_out = [&](const std::string& why) {
    parts_.log->LeaveOut(record.number, "acceleration structures that were there: " + why);
    return Status();
  };
  std::span<const std::byte> rest = record.body;
  const Result<StructureBody> body = DecodeBody<StructureBody>(&rest);
  if (!body.ok()) return leave_out(body.status().message());
  ReplayObject* const object = parts_.objects->Find(record.object);
  if (object == nullptr && parts_.objects->IsAbsent(record.object)) return Status();
  if (object == nullptr || object->chain != Chain::kID3D12Resource ||
      object->desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
    return leave_out(fmt::format("there is no buffer {} here", record.object));
  }
  if ((object->desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS) == 0) {
    return leave_out(fmt::format("buffer {} cannot hold one", record.object));
  }
  DeviceContext* const context = parts_.devices->Find(object->device);
  if (context == nullptr || context->lost) return Status();
  const bool begins = body->step == static_cast<uint32_t>(StructureStep::kBuild);
  const bool is_same =
      structure_.object == record.object && structure_.offset_bytes == body->offset_bytes;
  if (!begins && is_same && structure_.address == 0) return Status();  // the build was left out
  if (begins || !is_same) {
    structure_ = {};
    structure_.object = record.object;
    structure_.offset_bytes = body->offset_bytes;
  }
  const Status made = MakeStep(*body, object, context, rest);
  if (made.ok()) {
    if (!structure_.memory) built_.insert(structure_.address);
    if (body->steps_left == 0) structure_ = {};
    return Status();
  }
  structure_.address = 0;
  if (parts_.log->failed()) return made;
  if (made.code() == StatusCode::kDeviceLost) {
    structure_.memory.Detach();  // the GPU may be at it
    return parts_.devices->Lose(context, made.message());
  }
  return leave_out(made.message());
}

Status StructurePlayer::MakeStep(const StructureBody& body, ReplayObject* object,
                                 DeviceContext* context, std::span<const std::byte> rest) {
  parts_.cost->AddSubmission();
  CAIRN_RETURN_IF_ERROR(parts_.check_cost());
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  if (context->barriers == nullptr) {
    context->barriers = std::make_unique<OneShotList>(context->device.get());
  }
  const Result<ID3D12GraphicsCommandList*> list = context->barriers->Begin(*queue);
  if (!list.ok()) return list.status();
  const Step step = {body, object, context, context->device.As<ID3D12Device5>(),
                     ComPtr(*list).As<ID3D12GraphicsCommandList4>()};
  if (!step.device || !step.list) {
    return {StatusCode::kUnsupported, "this device has no ray tracing"};
  }
  const auto kind = static_cast<StructureStep>(body.step);
  if (kind != StructureStep::kBuild && structure_.address == 0) {
    return {StatusCode::kCorrupt, "one is updated or copied that was not built"};
  }
  if (kind == StructureStep::kClone || kind == StructureStep::kCompact) return Copy(step);
  if (kind != StructureStep::kBuild && kind != StructureStep::kUpdate) {
    return {StatusCode::kUnsupported, fmt::format("a step of kind {}", body.step)};
  }
  arena_.Reset();
  const Result<std::span<const std::byte>> bytes = DecodeBytes(&rest, parts_.blobs, &arena_);
  if (!bytes.ok()) return bytes.status();
  Result<StructureInputs> inputs = ReadStructureInputs(body, *bytes);
  if (!inputs.ok()) return inputs.status();
  return Build(step, *std::move(inputs));
}

Status StructurePlayer::Build(const Step& step, StructureInputs inputs) {
  const StructureBody& body = step.body;
  const bool updates = static_cast<StructureStep>(body.step) == StructureStep::kUpdate;
  constexpr uint32_t kUpdatable = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_ALLOW_UPDATE;
  if (updates && (body.type != structure_.type || body.flags != structure_.flags ||
                  body.count != structure_.count || (body.flags & kUpdatable) == 0)) {
    return {StatusCode::kCorrupt, "an update is of something else than its build"};
  }
  const Result<ComPtr<ID3D12Resource>> upload = Upload(step, inputs.inputs);
  if (!upload.ok()) return upload.status();
  const D3D12_GPU_VIRTUAL_ADDRESS begin = (*upload)->GetGPUVirtualAddress();
  const std::vector<D3D12_RAYTRACING_GEOMETRY_DESC> geometries =
      GeometriesAt(inputs.geometries, begin);
  D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
  desc.Inputs.Type = static_cast<D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE>(body.type);
  desc.Inputs.Flags = static_cast<D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAGS>(
      body.flags & ~uint32_t{D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE});
  desc.Inputs.NumDescs = body.count;
  desc.Inputs.DescsLayout = D3D12_ELEMENTS_LAYOUT_ARRAY;
  if (body.type == kTopLevel) {
    desc.Inputs.InstanceDescs = begin;
  } else {
    desc.Inputs.pGeometryDescs = geometries.data();
  }
  D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO sizes = {};
  step.device->GetRaytracingAccelerationStructurePrebuildInfo(&desc.Inputs, &sizes);
  if (sizes.ResultDataMaxSizeInBytes == 0) {
    return {StatusCode::kUnsupported, "this device does not build them"};
  }
  if (updates && sizes.ResultDataMaxSizeInBytes > structure_.size_bytes) {
    return {StatusCode::kCorrupt, "an update is larger than the build"};
  }
  // An update stays where the build was.
  const uint64_t size = updates ? structure_.size_bytes : sizes.ResultDataMaxSizeInBytes;
  ComPtr<ID3D12Resource> memory;
  const Result<D3D12_GPU_VIRTUAL_ADDRESS> target = Target(step, size, &memory);
  if (!target.ok()) return target.status();
  if (updates) {
    desc.Inputs.Flags |= D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE;
    desc.SourceAccelerationStructureData = structure_.address;
  }
  Result<ComPtr<ID3D12Resource>> scratch = CreateBuffer(
      step.device.get(), D3D12_HEAP_TYPE_DEFAULT,
      std::max({sizes.ScratchDataSizeInBytes, sizes.UpdateScratchDataSizeInBytes, UINT64{1}}),
      D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  if (!scratch.ok()) return scratch.status();
  desc.ScratchAccelerationStructureData = (*scratch)->GetGPUVirtualAddress();
  desc.DestAccelerationStructureData = *target;
  step.list->BuildRaytracingAccelerationStructure(&desc, 0, nullptr);
  const Status run = Run(step);
  if (!run.ok()) {
    // The GPU may be at it.
    ComPtr<ID3D12Resource>(*upload).Detach();
    (*scratch).Detach();
    memory.Detach();
    return run;
  }
  structure_.address = *target;
  structure_.size_bytes = size;
  structure_.type = body.type;
  structure_.flags = body.flags;
  structure_.count = body.count;
  structure_.copies_left = body.copies_left;
  structure_.memory = std::move(memory);
  return Status();
}

Status StructurePlayer::Copy(const Step& step) {
  ComPtr<ID3D12Resource> memory;
  // How much a copy takes is the driver's: it took as much when it was recorded, and on another device no more than its
  // source.
  const bool lasts = step.body.copies_left == 0;
  const Result<D3D12_GPU_VIRTUAL_ADDRESS> target =
      Target(step, lasts && !step.context->is_another ? 1 : structure_.size_bytes, &memory);
  if (!target.ok()) return target.status();
  if (*target == structure_.address) return {StatusCode::kCorrupt, "one is copied onto itself"};
  const bool compacts = static_cast<StructureStep>(step.body.step) == StructureStep::kCompact;
  step.list->CopyRaytracingAccelerationStructure(
      *target, structure_.address,
      compacts ? D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_COMPACT
               : D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE);
  const Status run = Run(step);
  if (!run.ok()) {
    memory.Detach();
    return run;
  }
  structure_.address = *target;
  structure_.copies_left = step.body.copies_left;
  structure_.memory = std::move(memory);
  return Status();
}

Result<D3D12_GPU_VIRTUAL_ADDRESS> StructurePlayer::Target(const Step& step, uint64_t size_bytes,
                                                          ComPtr<ID3D12Resource>* memory) {
  const StructureBody& body = step.body;
  if (body.copies_left != 0) {
    const bool updates = static_cast<StructureStep>(body.step) == StructureStep::kUpdate;
    if (updates && structure_.memory && structure_.copies_left == body.copies_left) {
      *memory = structure_.memory;
      return structure_.address;
    }
    Result<ComPtr<ID3D12Resource>> made =
        CreateBuffer(step.device.get(), D3D12_HEAP_TYPE_DEFAULT, size_bytes, kStructureState);
    if (!made.ok()) return made.status();
    *memory = *std::move(made);
    return (*memory)->GetGPUVirtualAddress();
  }
  const uint64_t width = step.object->desc.Width;
  constexpr uint64_t kAlignment = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BYTE_ALIGNMENT;
  if (body.offset_bytes % kAlignment != 0 || body.offset_bytes >= width) {
    return Status(StatusCode::kCorrupt, fmt::format("one begins at {} in a buffer of {} bytes",
                                                    body.offset_bytes, width));
  }
  const bool is_there = static_cast<StructureStep>(body.step) == StructureStep::kUpdate &&
                        structure_.address != 0 && !structure_.memory;
  if (is_there) return structure_.address;
  if (step.context->is_another) {
    D3D12_GPU_VIRTUAL_ADDRESS address = step.object->gpu_address + body.offset_bytes;
    CAIRN_RETURN_IF_ERROR(parts_.own->Place(step.context, size_bytes, &address));
    return address;
  }
  if (size_bytes > width - body.offset_bytes) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("this device needs {} bytes for one that has {}", size_bytes,
                              width - body.offset_bytes));
  }
  return step.object->gpu_address + body.offset_bytes;
}

Status StructurePlayer::Run(const Step& step) {
  Result<ID3D12CommandQueue*> queue = step.context->OwnQueue();
  if (!queue.ok()) return queue.status();
  return step.context->barriers->Run(*queue, parts_.limit);
}

Result<ComPtr<ID3D12Resource>> StructurePlayer::CreateBuffer(ID3D12Device* device,
                                                             D3D12_HEAP_TYPE type,
                                                             uint64_t size_bytes,
                                                             D3D12_RESOURCE_STATES state) {
  parts_.cost->AddMemory(size_bytes);
  CAIRN_RETURN_IF_ERROR(parts_.check_cost());
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = type;
  const D3D12_RESOURCE_DESC desc = BufferDesc(
      size_bytes, type == D3D12_HEAP_TYPE_DEFAULT ? D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
                                                  : D3D12_RESOURCE_FLAG_NONE);
  ComPtr<ID3D12Resource> buffer;
  CAIRN_RETURN_IF_ERROR(CheckHresult(
      device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                      __uuidof(ID3D12Resource), buffer.Receive()),
      "memory to build one: CreateCommittedResource"));
  return buffer;
}

// Instances name bottom levels by their addresses.
Result<ComPtr<ID3D12Resource>> StructurePlayer::Upload(const Step& step,
                                                       std::span<const std::byte> inputs) {
  Result<ComPtr<ID3D12Resource>> buffer =
      CreateBuffer(step.device.get(), D3D12_HEAP_TYPE_UPLOAD, std::max<size_t>(inputs.size(), 1),
                   D3D12_RESOURCE_STATE_GENERIC_READ);
  if (!buffer.ok()) return buffer.status();
  void* data = nullptr;
  CAIRN_RETURN_IF_ERROR(CheckHresult((*buffer)->Map(0, nullptr, &data), "ID3D12Resource::Map"));
  if (data == nullptr) return Status(StatusCode::kUnsupported, "inputs cannot be mapped");
  if (!inputs.empty()) std::memcpy(data, inputs.data(), inputs.size());
  for (uint64_t i = 0; step.body.type == kTopLevel && i < step.body.count; ++i) {
    const uint64_t at = i * kInstanceDescBytes + kInstanceStructure;
    uint64_t address = 0;
    std::memcpy(&address, inputs.data() + at, sizeof(address));
    const Result<uint64_t> real = parts_.objects->RealAddress(address);
    // An instance points to a structure that was built here; null is one that no ray hits.
    const uint64_t now = real.ok() ? step.context->structures.Now(*real) : 0;
    address = address != 0 && built_.contains(now) ? now : 0;
    std::memcpy(static_cast<std::byte*>(data) + at, &address, sizeof(address));
  }
  (*buffer)->Unmap(0, nullptr);
  return buffer;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
