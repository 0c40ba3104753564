// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/capture/structure_capture.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"
#include "format/calls/structure_inputs.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// A structure that was copied and updated in turn more often is not restored.
constexpr size_t kMostSteps = 16;

}  // namespace

// ---- Lists -----------------------------------------------------------------------------------------

void ListStructures::Build(const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC& desc) {
  Step step;
  step.to = desc.DestAccelerationStructureData;
  step.inputs = desc.Inputs;
  if ((desc.Inputs.Flags & D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE) !=
      0) {
    step.step = StructureStep::kUpdate;
    step.from = desc.SourceAccelerationStructureData;
  }
  const bool pointers = desc.Inputs.DescsLayout == D3D12_ELEMENTS_LAYOUT_ARRAY_OF_POINTERS;
  if (desc.Inputs.Type == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL) {
    if (pointers) step.lost = "its instances are an array of pointers";
  } else if (desc.Inputs.Type == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL) {
    const UINT count = desc.Inputs.pGeometryDescs == nullptr ? 0 : desc.Inputs.NumDescs;
    step.geometries.reserve(count);
    for (UINT i = 0; i < count; ++i) {
      const D3D12_RAYTRACING_GEOMETRY_DESC& geometry =
          pointers ? *desc.Inputs.ppGeometryDescs[i] : desc.Inputs.pGeometryDescs[i];
      uint32_t type = 0;  // later types have pointers, which end with this call
      std::memcpy(&type, &geometry.Type, sizeof(type));
      if (type > D3D12_RAYTRACING_GEOMETRY_TYPE_PROCEDURAL_PRIMITIVE_AABBS) {
        step.lost = "it has geometry of type " + std::to_string(type);
        step.geometries.clear();
        break;
      }
      step.geometries.push_back(geometry);
    }
  } else {
    step.lost = "it is of type " + std::to_string(static_cast<int>(desc.Inputs.Type));
  }
  steps_.push_back(std::move(step));
}

void ListStructures::Copy(D3D12_GPU_VIRTUAL_ADDRESS to, D3D12_GPU_VIRTUAL_ADDRESS from,
                          D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE mode) {
  Step step;
  step.to = to;
  step.from = from;
  switch (mode) {
    case D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE:
      step.step = StructureStep::kClone;
      break;
    case D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_COMPACT:
      step.step = StructureStep::kCompact;
      break;
    case D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_DESERIALIZE:
      step.lost = "it was deserialised";
      break;
    default: return;  // it makes no structure
  }
  steps_.push_back(std::move(step));
}

// ---- Buffers ---------------------------------------------------------------------------------------

void StructureCapture::AddBuffer(uint64_t number, ID3D12Resource* real, uint64_t size_bytes) {
  if (!IsWanted()) return;
  const D3D12_GPU_VIRTUAL_ADDRESS address = real->GetGPUVirtualAddress();
  if (address == 0) return;
  const std::lock_guard lock(mutex_);
  if (!buffers_.emplace(number, Buffer{real, address, size_bytes}).second) return;
  addresses_.emplace(address, number);
}

void StructureCapture::RemoveBuffer(uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(number);
  if (found == buffers_.end()) return;
  const auto [first, last] = addresses_.equal_range(found->second.address);
  for (auto each = first; each != last; ++each) {
    if (each->second != number) continue;
    addresses_.erase(each);
    break;
  }
  buffers_.erase(found);
  structures_.erase(structures_.lower_bound(Place{number, 0}),
                    structures_.lower_bound(Place{number + 1, 0}));
}

// Placed buffers may overlap: the one that begins last.
const StructureCapture::Buffer* StructureCapture::FindBuffer(D3D12_GPU_VIRTUAL_ADDRESS address,
                                                             uint64_t* number) const {
  for (auto next = addresses_.upper_bound(address); next != addresses_.begin();) {
    --next;
    const Buffer& buffer = buffers_.at(next->second);
    if (address - buffer.address >= buffer.size_bytes) continue;
    *number = next->second;
    return &buffer;
  }
  return nullptr;
}

bool StructureCapture::PlaceOf(D3D12_GPU_VIRTUAL_ADDRESS address, Place* place) const {
  const Buffer* const buffer = FindBuffer(address, &place->buffer);
  if (buffer != nullptr) place->offset_bytes = address - buffer->address;
  return buffer != nullptr;
}

// ---- Inputs ----------------------------------------------------------------------------------------

// The places of a step's inputs, and where they lie in the copy.
class StructureCapture::InputLayout {
 public:
  struct Part {
    D3D12_GPU_VIRTUAL_ADDRESS address;
    uint64_t size_bytes;
    uint64_t offset_bytes;
  };

  // Describes `step` in `described`. kUnsupported: it cannot be repeated.
  static Result<InputLayout> Of(const ListStructures::Step& step, Step* described) {
    InputLayout layout;
    described->type = step.inputs.Type;
    described->flags =
        step.inputs.Flags & ~D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE;
    if (step.inputs.Type == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL) {
      described->count = step.inputs.NumDescs;
      uint64_t bytes = 0;
      (void)SpanBytes(step.inputs.NumDescs, kInstanceDescBytes, kInstanceDescBytes, &bytes);
      layout.Add(step.inputs.InstanceDescs, bytes);
      return layout;
    }
    described->count = static_cast<uint32_t>(step.geometries.size());
    for (const D3D12_RAYTRACING_GEOMETRY_DESC& desc : step.geometries) {
      StructureGeometry geometry = {};
      CAIRN_RETURN_IF_ERROR(layout.AddGeometry(desc, &geometry));
      described->geometries.push_back(geometry);
    }
    return layout;
  }

  const std::vector<Part>& parts() const { return parts_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  Status AddGeometry(const D3D12_RAYTRACING_GEOMETRY_DESC& desc, StructureGeometry* geometry) {
    geometry->type = desc.Type;
    geometry->flags = desc.Flags;
    geometry->index_offset_bytes = kNoStructureInput;
    geometry->transform_offset_bytes = kNoStructureInput;
    uint64_t bytes = 0;
    if (desc.Type == D3D12_RAYTRACING_GEOMETRY_TYPE_PROCEDURAL_PRIMITIVE_AABBS) {
      geometry->count = desc.AABBs.AABBCount;
      geometry->stride_bytes = desc.AABBs.AABBs.StrideInBytes;
      if (geometry->count > 1 && geometry->stride_bytes == 0) return WithoutStride();
      if (!SpanBytes(geometry->count, geometry->stride_bytes, kBoxBytes, &bytes)) return TooLarge();
      geometry->offset_bytes = Add(desc.AABBs.AABBs.StartAddress, bytes);
      return Status();
    }
    const D3D12_RAYTRACING_GEOMETRY_TRIANGLES_DESC& triangles = desc.Triangles;
    const uint64_t vertex_bytes = VertexBytes(triangles.VertexFormat);
    if (desc.Type != D3D12_RAYTRACING_GEOMETRY_TYPE_TRIANGLES || vertex_bytes == 0) {
      return {StatusCode::kUnsupported,
              "it has geometry of type " + std::to_string(static_cast<int>(desc.Type)) +
                  " with vertices of format " +
                  std::to_string(static_cast<int>(triangles.VertexFormat))};
    }
    geometry->format = triangles.VertexFormat;
    geometry->count = triangles.VertexCount;
    geometry->stride_bytes = triangles.VertexBuffer.StrideInBytes;
    if (geometry->count > 1 && geometry->stride_bytes == 0) return WithoutStride();
    if (!SpanBytes(geometry->count, geometry->stride_bytes, vertex_bytes, &bytes)) {
      return TooLarge();
    }
    geometry->offset_bytes = Add(triangles.VertexBuffer.StartAddress, bytes);
    if (triangles.IndexBuffer != 0 && triangles.IndexFormat != DXGI_FORMAT_UNKNOWN) {
      geometry->index_format = triangles.IndexFormat;
      geometry->index_count = triangles.IndexCount;
      geometry->index_offset_bytes =
          Add(triangles.IndexBuffer,
              uint64_t{triangles.IndexCount} * IndexBytes(geometry->index_format));
    }
    if (triangles.Transform3x4 != 0) {
      geometry->transform_offset_bytes = Add(triangles.Transform3x4, kTransformBytes);
    }
    return Status();
  }
  static Status TooLarge() { return {StatusCode::kUnsupported, "its geometry has no size"}; }
  static Status WithoutStride() {
    return {StatusCode::kUnsupported, "its elements have no stride"};
  }

  // Returns where the bytes lie in the copy. Geometries of a mesh often share their vertices.
  uint64_t Add(D3D12_GPU_VIRTUAL_ADDRESS address, uint64_t size_bytes) {
    if (size_bytes == 0) return size_bytes_;
    const auto [known, is_new] = offsets_.try_emplace({address, size_bytes}, size_bytes_);
    if (!is_new) return known->second;
    parts_.push_back({address, size_bytes, size_bytes_});
    const uint64_t offset = size_bytes_;
    size_bytes_ += (size_bytes + kStructureInputAlignment - 1) & ~(kStructureInputAlignment - 1);
    return offset;
  }

  std::vector<Part> parts_;
  std::map<std::pair<D3D12_GPU_VIRTUAL_ADDRESS, uint64_t>, uint64_t> offsets_;
  uint64_t size_bytes_ = 0;
};

Status StructureCapture::CopyInputs(const InputLayout& layout, ID3D12CommandQueue* queue,
                                    Copies** copies, std::shared_ptr<Inputs>* inputs) {
  *inputs = std::make_shared<Inputs>(&kept_bytes_);
  if (layout.size_bytes() == 0) return Status();
  std::vector<const Buffer*> sources;
  for (const InputLayout::Part& part : layout.parts()) {
    uint64_t number = 0;
    const Buffer* const buffer = FindBuffer(part.address, &number);
    if (buffer == nullptr ||
        part.size_bytes > buffer->size_bytes - (part.address - buffer->address)) {
      return {StatusCode::kUnsupported, "its inputs are in no buffer"};
    }
    sources.push_back(buffer);
  }
  if (layout.size_bytes() > most_bytes_ - kept_bytes_) {
    return {StatusCode::kUnsupported,
            "the inputs of all structures are more than " + std::to_string(most_bytes_) + " bytes"};
  }
  // Not among the program's structures: vkd3d-proton takes the rest of a block of memory as the structure's own, and
  // lavapipe fills all of a structure with zeros before it builds.
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_READBACK;
  const D3D12_RESOURCE_DESC desc = BufferDesc(layout.size_bytes());
  CAIRN_RETURN_IF_ERROR(CheckHresult(
      real_->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                     D3D12_RESOURCE_STATE_COPY_DEST, nullptr,
                                     __uuidof(ID3D12Resource), (*inputs)->buffer.Receive()),
      "a copy of its inputs: CreateCommittedResource"));
  (*inputs)->size_bytes = layout.size_bytes();
  kept_bytes_ += layout.size_bytes();
  if (*copies == nullptr) {
    Result<Copies*> opened = OpenCopies(queue);
    if (!opened.ok()) return opened.status();
    *copies = *opened;
  }
  (*copies)->inputs.push_back(*inputs);
  // All buffers are in the common state between submissions, and are promoted.
  for (size_t i = 0; i < sources.size(); ++i) {
    const InputLayout::Part& part = layout.parts()[i];
    (*copies)->list->CopyBufferRegion((*inputs)->buffer.get(), part.offset_bytes, sources[i]->real,
                                      part.address - sources[i]->address, part.size_bytes);
  }
  return Status();
}

Result<StructureCapture::Copies*> StructureCapture::OpenCopies(ID3D12CommandQueue* queue) {
  const D3D12_COMMAND_LIST_TYPE type = GetDesc(queue).Type;
  auto found = std::find_if(copies_.begin(), copies_.end(),
                            [&](Copies& each) { return each.type == type && HasEnded(&each); });
  if (found != copies_.end()) {
    CAIRN_RETURN_IF_ERROR(CheckHresult(found->allocator->Reset(), "ID3D12CommandAllocator::Reset"));
    CAIRN_RETURN_IF_ERROR(CheckHresult(found->list->Reset(found->allocator.get(), nullptr),
                                       "ID3D12GraphicsCommandList::Reset"));
    ++found->value;
    return &*found;
  }
  Copies made;
  made.type = type;
  made.value = 1;
  CAIRN_RETURN_IF_ERROR(
      CheckHresult(real_->CreateCommandAllocator(type, __uuidof(ID3D12CommandAllocator),
                                                 made.allocator.Receive()),
                   "CreateCommandAllocator"));
  CAIRN_RETURN_IF_ERROR(CheckHresult(
      real_->CreateCommandList(0, type, made.allocator.get(), nullptr,
                               __uuidof(ID3D12GraphicsCommandList), made.list.Receive()),
      "CreateCommandList"));
  CAIRN_RETURN_IF_ERROR(CheckHresult(
      real_->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), made.fence.Receive()),
      "CreateFence"));
  copies_.push_back(std::move(made));
  return &copies_.back();
}

bool StructureCapture::HasEnded(Copies* copies) {
  if (copies->fence->GetCompletedValue() < copies->value) return false;
  for (const std::shared_ptr<Inputs>& inputs : copies->inputs) inputs->copied = true;
  copies->inputs.clear();
  return true;
}

void StructureCapture::SubmitCopies(ID3D12CommandQueue* queue, Copies* copies) {
  if (FAILED(copies->list->Close())) return;  // it never ends: Write() says so of each structure
  ID3D12CommandList* const list = copies->list.get();
  queue->ExecuteCommandLists(1, &list);
  queue->Signal(copies->fence.get(), copies->value);
}

// ---- Steps -----------------------------------------------------------------------------------------

StructureCapture::Structure StructureCapture::SourceOf(const ListStructures::Step& step) const {
  Structure structure;
  if (step.step == StructureStep::kBuild) return structure;
  Place from;
  const auto found = PlaceOf(step.from, &from) ? structures_.find(from) : structures_.end();
  if (found != structures_.end()) return found->second;
  structure.lost = "it is made of one that nothing has built";
  return structure;
}

Status StructureCapture::AddStep(const ListStructures::Step& step, ID3D12CommandQueue* queue,
                                 Copies** copies, Structure* structure) {
  if (!step.lost.empty()) return {StatusCode::kUnsupported, step.lost};
  if (!structure->lost.empty()) return {StatusCode::kUnsupported, structure->lost};
  std::vector<Step>& steps = structure->steps;
  Step described;
  described.step = step.step;
  if (step.step == StructureStep::kBuild || step.step == StructureStep::kUpdate) {
    const Result<InputLayout> layout = InputLayout::Of(step, &described);
    if (!layout.ok()) return layout.status();
    CAIRN_RETURN_IF_ERROR(CopyInputs(*layout, queue, copies, &described.inputs));
  } else {
    described.type = steps.back().type;
    described.flags = steps.back().flags;
  }
  // An update needs what was built, and nothing of an update before.
  if (step.step == StructureStep::kUpdate && steps.back().step == StructureStep::kUpdate) {
    steps.pop_back();
  }
  if (steps.size() >= kMostSteps) {
    return {StatusCode::kUnsupported,
            "it was copied and updated more than " + std::to_string(kMostSteps) + " times"};
  }
  steps.push_back(std::move(described));
  return Status();
}

uint64_t StructureCapture::SizeOf(const ListStructures::Step& step) const {
  const auto device = ComPtr<ID3D12Device>(real_).As<ID3D12Device5>();
  if (!device || !step.lost.empty()) return 0;
  D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS inputs = step.inputs;
  if (inputs.Type != D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL) {
    inputs.DescsLayout = D3D12_ELEMENTS_LAYOUT_ARRAY;
    inputs.NumDescs = static_cast<UINT>(step.geometries.size());
    inputs.pGeometryDescs = step.geometries.data();
  }
  D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO sizes = {};
  device->GetRaytracingAccelerationStructurePrebuildInfo(&inputs, &sizes);
  return sizes.ResultDataMaxSizeInBytes;
}

void StructureCapture::Overwrite(const Place& place, uint64_t size_bytes) {
  auto next = structures_.lower_bound(place);
  if (next != structures_.begin()) {
    const auto before = std::prev(next);
    if (before->first.buffer == place.buffer &&
        place.offset_bytes - before->first.offset_bytes < before->second.size_bytes) {
      structures_.erase(before);
    }
  }
  while (next != structures_.end() && next->first.buffer == place.buffer &&
         next->first.offset_bytes - place.offset_bytes < std::max<uint64_t>(size_bytes, 1)) {
    next = structures_.erase(next);
  }
}

void StructureCapture::Follow(const ListStructures::Step& step, ID3D12CommandQueue* queue,
                              Copies** copies) {
  Place to;
  if (!PlaceOf(step.to, &to)) return;
  Structure structure = SourceOf(step);
  if (const Status added = AddStep(step, queue, copies, &structure); !added.ok()) {
    structure.lost = added.message();
    structure.steps.clear();
  }
  structure.sequence = next_sequence_++;
  if (step.step == StructureStep::kBuild) structure.size_bytes = SizeOf(step);
  if (step.step == StructureStep::kCompact) structure.size_bytes = 0;
  Overwrite(to, structure.size_bytes);
  structures_.emplace(to, std::move(structure));
}

void StructureCapture::Executed(std::span<const ListStructures* const> lists,
                                ID3D12CommandQueue* queue) {
  if (!IsWanted()) return;
  if (std::all_of(lists.begin(), lists.end(),
                  [](const ListStructures* list) { return list->steps().empty(); })) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (Copies& each : copies_) HasEnded(&each);
  try {
    Copies* copies = nullptr;
    for (const ListStructures* const list : lists) {
      for (const ListStructures::Step& step : list->steps()) Follow(step, queue, &copies);
    }
    if (copies != nullptr) SubmitCopies(queue, copies);
  } catch (const std::bad_alloc&) {
    out_of_memory_ = true;
  }
}

// ---- The start -------------------------------------------------------------------------------------

Status StructureCapture::AppendInputs(const Inputs& inputs, std::vector<std::byte>* bytes) {
  if (!inputs.copied) return {StatusCode::kUnsupported, "its inputs could not be copied"};
  void* data = nullptr;
  CAIRN_RETURN_IF_ERROR(CheckHresult(inputs.buffer->Map(0, nullptr, &data), "ID3D12Resource::Map"));
  if (data == nullptr) return {StatusCode::kUnsupported, "ID3D12Resource::Map gave no address"};
  const auto* const begin = static_cast<const std::byte*>(data);
  bytes->insert(bytes->end(), begin, begin + inputs.size_bytes);
  const D3D12_RANGE nothing = {};
  inputs.buffer->Unmap(0, &nothing);
  return Status();
}

Status StructureCapture::WriteStructure(Capture& capture, const Place& place,
                                        const Structure& structure) {
  if (!structure.lost.empty()) return {StatusCode::kUnsupported, structure.lost};
  // All bytes first: a structure is in the trace with all of its steps, or not.
  std::vector<std::vector<std::byte>> bytes;
  uint32_t copies = 0;
  for (const Step& step : structure.steps) {
    std::vector<std::byte>& of_step =
        bytes.emplace_back(step.geometries.size() * sizeof(StructureGeometry));
    if (!of_step.empty()) std::memcpy(of_step.data(), step.geometries.data(), of_step.size());
    if (step.inputs == nullptr) {
      ++copies;
    } else if (step.inputs->size_bytes != 0) {
      CAIRN_RETURN_IF_ERROR(AppendInputs(*step.inputs, &of_step));
    }
  }
  for (size_t i = 0; i < structure.steps.size(); ++i) {
    const Step& step = structure.steps[i];
    if (step.inputs == nullptr) --copies;
    StructureBody body = {};
    body.offset_bytes = place.offset_bytes;
    body.step = static_cast<uint32_t>(step.step);
    body.steps_left = static_cast<uint32_t>(structure.steps.size() - 1 - i);
    body.copies_left = copies;
    body.type = step.type;
    body.flags = step.flags;
    body.count = step.count;
    capture.PutBytes(RecordKind::kStructure, place.buffer, BytesOf(body), bytes[i]);
  }
  return Status();
}

void StructureCapture::Write(Capture& capture) {
  const std::lock_guard lock(mutex_);
  std::erase_if(copies_, [](Copies& each) { return HasEnded(&each); });
  if (out_of_memory_) {
    capture.PutNote(NoteKind::kIncomplete,
                    "acceleration structures may be wrong: no memory when they were built");
  }
  // A top level is built of bottom levels, and of nothing that came later.
  std::vector<std::pair<Place, const Structure*>> ordered;
  for (const auto& [place, structure] : structures_) ordered.emplace_back(place, &structure);
  const auto rank = [](const Structure& structure) {
    const bool top = !structure.steps.empty() && structure.steps.back().type == kTopLevel;
    return std::pair(top, structure.sequence);
  };
  std::sort(ordered.begin(), ordered.end(),
            [&](const auto& a, const auto& b) { return rank(*a.second) < rank(*b.second); });
  for (const auto& [place, structure] : ordered) {
    const Status written = WriteStructure(capture, place, *structure);
    if (written.ok()) continue;
    capture.PutNote(NoteKind::kIncomplete, "the acceleration structure at byte " +
                                               std::to_string(place.offset_bytes) +
                                               " of resource #" + std::to_string(place.buffer) +
                                               " is not restored: " + written.message());
  }
  structures_.clear();
  buffers_.clear();
  addresses_.clear();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
