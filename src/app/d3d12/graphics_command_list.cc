// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/graphics_command_list.h"

#include <algorithm>
#include <span>
#include <string>

#include "app/breadcrumbs/driver_half.h"
#include "app/d3d12/device.h"
#include "app/settings/log.h"
#include "format/block/block.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

// Kinds of queries whose results count what commands do to the pipeline, not what is drawn.
bool CountsThePipeline(D3D12_QUERY_TYPE type) {
  return type == D3D12_QUERY_TYPE_PIPELINE_STATISTICS ||
         type == D3D12_QUERY_TYPE_PIPELINE_STATISTICS1;
}

// The implementation gives a list one of several command buffers, and has more of them with breadcrumbs.
void WarnOfKeptVulkan() {
  LogOnce(
      LogLevel::kWarning, "kept Vulkan command buffer",
      "the program keeps the Vulkan command buffer of a command list over Reset: behind the list "
      "there may be another one now, and what the program records into the first is lost. "
      "Nothing promises that it works; where it does without Cairn, try --breadcrumbs off");
}

}  // namespace

WrappedID3D12GraphicsCommandList::WrappedID3D12GraphicsCommandList(WrappedID3D12Device& device,
                                                                   void* real)
    : Thin(real), work_(device, *this, Thin::real()) {
  breadcrumbs_ = work_.notes_if_on();
  Join(device);
  ResetCapture();
}

HRESULT WrappedID3D12GraphicsCommandList::Close() {
  // The last write must not be skipped: everything before it is proven by it. Predication ends with
  // the list anyway.
  if (notes().predicated()) {
    real()->SetPredication(nullptr, 0, D3D12_PREDICATION_OP_EQUAL_ZERO);
  }
  work_.Closing();
  const HRESULT result = Thin::Close();
  work_.Closed(result);
  return result;
}

HRESULT WrappedID3D12GraphicsCommandList::Reset(ID3D12CommandAllocator* allocator,
                                                ID3D12PipelineState* initial_state) {
  const ListOpenScope opening;  // for the backend, when the recording starts
  if (vulkan_taken_) [[unlikely]]
    WarnOfKeptVulkan();
  const HRESULT result = Thin::Reset(allocator, initial_state);
  // A list that refuses stays what it was: open, or closed and still to be executed.
  if (SUCCEEDED(result)) {
    work_.Opened(allocator, AsWrapper(initial_state));
    ResetCapture();
  }
  return result;
}

void WrappedID3D12GraphicsCommandList::ClearState(ID3D12PipelineState* state) {
  Thin::ClearState(state);
  notes().UnbindEverything();
  notes().SetPredicated(false);
  work_.SetPipeline(AsWrapper(state));
}

void WrappedID3D12GraphicsCommandList::SetPipelineState(ID3D12PipelineState* state) {
  work_.SetPipeline(AsWrapper(state));
  Thin::SetPipelineState(state);
}

void WrappedID3D12GraphicsCommandList::SetPipelineState1(ID3D12StateObject* state_object) {
  work_.SetPipeline(AsWrapper(state_object));
  Thin::SetPipelineState1(state_object);
}

void WrappedID3D12GraphicsCommandList::SetProgram(const D3D12_SET_PROGRAM_DESC* desc) {
  // Programs of all types begin with their identifier.
  const NotedProgram program = desc == nullptr
                                   ? NotedProgram()
                                   : Programs().Find(device(), desc->WorkGraph.ProgramIdentifier);
  work_.SetPipeline(program.state_object);
  if (captured_ != nullptr) captured_->record_bytes = program.record_bytes;
  Thin::SetProgram(desc);
}

void WrappedID3D12GraphicsCommandList::DispatchGraph(const D3D12_DISPATCH_GRAPH_DESC* desc) {
  Scratch scratch;
  std::span<const UINT> record_bytes;
  if (captured_ != nullptr && captured_->record_bytes != nullptr) {
    record_bytes = *captured_->record_bytes;
  }
  const bool recorded = Capture::Active() != nullptr;
  CallScope call(*this, Method::ID3D12GraphicsCommandList10_DispatchGraph,
                 recorded ? RecordableInputs(scratch, desc, record_bytes) : desc);
  const WorkScope work(*this, CAIRN_MARKER_DISPATCH_GRAPH);
  if (!work.left_out()) real()->DispatchGraph(desc);
}

// Methods whose breadcrumb holds more than the generated one. It begins after the call is recorded,
// because it stores the call's number.

void WrappedID3D12GraphicsCommandList::ExecuteBundle(ID3D12GraphicsCommandList* bundle) {
  CallScope call(*this, Method::ID3D12GraphicsCommandList_ExecuteBundle, bundle);
  if (notes().open()) {
    const Wrapper* const wrapper = AsWrapper(bundle);
    const std::string name = wrapper == nullptr ? std::string() : wrapper->Name();
    notes().UseObject(BindPoint::kSource, 0, NotedWrapper(wrapper));
    notes().BeginNamedWork(CAIRN_MARKER_EXECUTE_BUNDLE, name.c_str());
  }
  real()->ExecuteBundle(Unwrap(bundle));
  notes().EndNamedWork();
}

void WrappedID3D12GraphicsCommandList::BeginEvent(UINT metadata, const void* data, UINT size) {
  CallScope call(*this, Method::ID3D12GraphicsCommandList_BeginEvent, metadata, data, size);
  work_.BeginEvent(metadata, data, size);
  real()->BeginEvent(metadata, data, size);
}

void WrappedID3D12GraphicsCommandList::EndEvent() {
  Thin::EndEvent();
  work_.EndEvent();
}

void WrappedID3D12GraphicsCommandList::SetMarker(UINT metadata, const void* data, UINT size) {
  CallScope call(*this, Method::ID3D12GraphicsCommandList_SetMarker, metadata, data, size);
  work_.SetMarker(metadata, data, size);
  real()->SetMarker(metadata, data, size);
}

void WrappedID3D12GraphicsCommandList::BeginQuery(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type,
                                                  UINT index) {
  if (CountsThePipeline(type)) notes().BeginStatisticsQuery();
  Thin::BeginQuery(heap, type, index);
}

void WrappedID3D12GraphicsCommandList::EndQuery(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type,
                                                UINT index) {
  Thin::EndQuery(heap, type, index);
  if (CountsThePipeline(type)) notes().EndStatisticsQuery();
}

void WrappedID3D12GraphicsCommandList::SetPredication(ID3D12Resource* buffer, UINT64 offset,
                                                      D3D12_PREDICATION_OP operation) {
  Thin::SetPredication(buffer, offset, operation);
  notes().SetPredicated(buffer != nullptr);
}

void WrappedID3D12GraphicsCommandList::BeginRenderPass(
    UINT target_count, const D3D12_RENDER_PASS_RENDER_TARGET_DESC* targets,
    const D3D12_RENDER_PASS_DEPTH_STENCIL_DESC* depth_stencil, D3D12_RENDER_PASS_FLAGS flags) {
  CallScope call(*this, Method::ID3D12GraphicsCommandList4_BeginRenderPass, target_count, targets,
                 depth_stencil, flags);
  if (notes().open()) {
    const UINT noted =
        targets == nullptr ? 0 : std::min(target_count, ListBreadcrumbs::kRenderTargets);
    for (UINT slot = 0; slot < noted; ++slot) {
      notes().SetRenderTarget(slot, ObjectBehind(targets[slot].cpuDescriptor));
    }
    notes().EndRenderTargets(noted);
    notes().SetDepthStencil(depth_stencil == nullptr ? 0
                                                     : ObjectBehind(depth_stencil->cpuDescriptor));
  }
  notes().BeginRenderPassWork((flags & D3D12_RENDER_PASS_FLAG_RESUMING_PASS) != 0,
                              (flags & D3D12_RENDER_PASS_FLAG_SUSPENDING_PASS) != 0);
  if (captured_ != nullptr && targets != nullptr) {
    for (UINT i = 0; i < target_count; ++i) NoteTargets(1, &targets[i].cpuDescriptor, FALSE);
  }
  Scratch scratch;
  real()->BeginRenderPass(target_count, UnwrapArray(scratch, targets, target_count),
                          UnwrapArray(scratch, depth_stencil, 1), flags);
  notes().EndWork();
}

void WrappedID3D12GraphicsCommandList::EndRenderPass() {
  CallScope call(*this, Method::ID3D12GraphicsCommandList4_EndRenderPass);
  notes().BeginWork(CAIRN_MARKER_END_RENDER_PASS);
  real()->EndRenderPass();
  notes().EndRenderPass();
  notes().EndWork();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
