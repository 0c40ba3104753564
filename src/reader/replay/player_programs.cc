// SPDX-License-Identifier: Apache-2.0
//
// SetProgram and DispatchGraph: identifiers of this implementation, and memory that is large enough here.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// BufferAddresses, which sees no headers that are so new, knows these.
static_assert(sizeof(D3D12_NODE_GPU_INPUT) == 24);
static_assert(offsetof(D3D12_NODE_GPU_INPUT, Records) == 8);
static_assert(sizeof(D3D12_MULTI_NODE_GPU_INPUT) == 24);
static_assert(offsetof(D3D12_MULTI_NODE_GPU_INPUT, NodeInputs) == 8);

Status PlayerImpl::TranslateProgram(CallInProgress* call) {
  if (call->method == Method::ID3D12GraphicsCommandList10_DispatchGraph) {
    const ReplayProgram* const program = bindings_.ProgramOf(call->record.object);
    if (program == nullptr || !program->is_work_graph) {
      return Status(StatusCode::kUnsupported, "its list has no work graph here");
    }
    // Decoded for this call alone.
    return CheckInputs(*program, call->At<D3D12_DISPATCH_GRAPH_DESC*>(0));
  }
  if (call->method != Method::ID3D12GraphicsCommandList10_SetProgram) {
    return call->Needless(CallPart::kPrograms);
  }
  auto* const desc = call->At<D3D12_SET_PROGRAM_DESC*>(0);
  D3D12_PROGRAM_IDENTIFIER* identifier = nullptr;
  switch (static_cast<uint32_t>(desc->Type)) {
    case D3D12_PROGRAM_TYPE_GENERIC_PIPELINE:
      identifier = &desc->GenericPipeline.ProgramIdentifier;
      break;
    case D3D12_PROGRAM_TYPE_RAYTRACING_PIPELINE:
      identifier = &desc->RaytracingPipeline.ProgramIdentifier;
      break;
    case D3D12_PROGRAM_TYPE_WORK_GRAPH: identifier = &desc->WorkGraph.ProgramIdentifier; break;
    default:
      return Status(StatusCode::kUnsupported, fmt::format("programs of type {} are not known",
                                                          static_cast<uint32_t>(desc->Type)));
  }
  set_program_ = programs_.Find(call->object->device, *identifier);
  if (set_program_ == nullptr || objects_.Find(set_program_->state_object) == nullptr) {
    return Status(StatusCode::kUnsupported, "no state object gave its identifier here");
  }
  if (set_program_->is_work_graph != (desc->Type == D3D12_PROGRAM_TYPE_WORK_GRAPH)) {
    return Status(StatusCode::kCorrupt, "its program is of another type");
  }
  *identifier = set_program_->identifier;
  if (!set_program_->is_work_graph) return Status();
  return ProvideBackingMemory(call, &desc->WorkGraph);
}

// Sizes and contents are the implementation's own: where it needs more than was recorded, the work graph
// gets a buffer of the playback, and memory that this playback has not initialised for it is initialised.
Status PlayerImpl::ProvideBackingMemory(CallInProgress* call, D3D12_SET_WORK_GRAPH_DESC* desc) {
  const UINT64 least = set_program_->least_backing_bytes;
  D3D12_GPU_VIRTUAL_ADDRESS_RANGE& memory = desc->BackingMemory;
  DeviceContext* const context = devices_.Find(call->object->device);
  if (context == nullptr) return Status(StatusCode::kCorrupt, "its device is not there");
  const auto place = PlaceOfReal(memory.StartAddress);
  bool large_enough = false;
  if (place) {
    const UINT64 left = objects_.Find(place->buffer)->desc.Width - place->offset_bytes;
    memory.SizeInBytes = std::min(memory.SizeInBytes, left);
    // Only this implementation knows what stands there, and addresses of its own may.
    memory_.AddOwn(place->buffer);
    large_enough = memory.SizeInBytes >= least;
  }
  if (least == 0 && !large_enough) {
    memory = {};
    return Status();
  }
  if (!large_enough) {
    const Result<WorkGraphMemory::Own> own =
        context->graph_memory.Provide(context->device.get(), *set_program_, memory.StartAddress);
    if (!own.ok()) return own.status();
    if (own->is_new) {
      cost_.AddMemory(least);
      desc->Flags |= D3D12_SET_WORK_GRAPH_FLAG_INITIALIZE;
    }
    memory = {own->address, least};
  }
  if (!context->graph_memory.IsInitialised(*set_program_, memory.StartAddress)) {
    desc->Flags |= D3D12_SET_WORK_GRAPH_FLAG_INITIALIZE;
  }
  return Status();
}

void PlayerImpl::NoteProgram(CallInProgress* call) {
  const uint64_t list = call->record.object;
  const ReplayObject* const owner = objects_.Find(set_program_->state_object);
  bindings_.SetProgram(call, owner == nullptr ? ComPtr<IUnknown>() : owner->pointer, set_program_);
  const auto* const desc = call->At<const D3D12_SET_PROGRAM_DESC*>(0);
  if (desc->Type != D3D12_PROGRAM_TYPE_WORK_GRAPH) return;
  DeviceContext* const context = devices_.Find(call->object->device);
  if (context != nullptr && (desc->WorkGraph.Flags & D3D12_SET_WORK_GRAPH_FLAG_INITIALIZE) != 0) {
    context->graph_memory.NoteInitialised(*set_program_,
                                          desc->WorkGraph.BackingMemory.StartAddress);
  }
  const D3D12_GPU_VIRTUAL_ADDRESS_RANGE_AND_STRIDE& table =
      desc->WorkGraph.NodeLocalRootArgumentsTable;
  if (const auto place = PlaceOfReal(table.StartAddress); place && table.SizeInBytes != 0) {
    addresses_.RootArguments(list, place->buffer, place->offset_bytes, table.SizeInBytes,
                             table.StrideInBytes);
  }
}

void PlayerImpl::NoteGraphInputs(CallInProgress* call) {
  const auto* const desc = call->At<const D3D12_DISPATCH_GRAPH_DESC*>(0);
  const bool several = desc->Mode == D3D12_DISPATCH_MODE_MULTI_NODE_GPU_INPUT;
  if (!several && desc->Mode != D3D12_DISPATCH_MODE_NODE_GPU_INPUT) return;
  const auto place = PlaceOfReal(several ? desc->MultiNodeGPUInput : desc->NodeGPUInput);
  if (!place) return;
  addresses_.NodeInput(call->record.object, place->buffer, place->offset_bytes, several);
}

// `result`: what the call returned.
void PlayerImpl::NoteNewProgram(CallInProgress* call, const void* result) {
  D3D12_PROGRAM_IDENTIFIER identifier;
  std::memcpy(&identifier, result, sizeof(identifier));
  ReplayProgram program = DescribeProgram(call->object->pointer.get(), call->At<const WCHAR*>(0),
                                          call->record.object, identifier);
  program.device = call->object->device;
  programs_.Asked(call->record.number, std::move(program));
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
