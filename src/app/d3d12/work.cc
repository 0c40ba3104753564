// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/work.h"

#include <algorithm>
#include <new>
#include <utility>

#include "app/breadcrumbs/context.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

CairnQueueType QueueTypeOf(D3D12_COMMAND_LIST_TYPE type) {
  switch (type) {
    case D3D12_COMMAND_LIST_TYPE_DIRECT: return CAIRN_QUEUE_DIRECT;
    case D3D12_COMMAND_LIST_TYPE_COMPUTE: return CAIRN_QUEUE_COMPUTE;
    case D3D12_COMMAND_LIST_TYPE_COPY: return CAIRN_QUEUE_COPY;
    default: return CAIRN_QUEUE_OTHER;
  }
}

void PipelineNote::SetStage(ShaderStage stage, uint64_t hash) {
  stages_ |= 1u << stage;
  hashes_[stage] = hash;
}

CairnPipeline PipelineNote::Register(Context& context, const void* application, const char* name) {
  // The hash as people see it in tools; "shader" where there is none.
  char texts[kStageCount][2 * sizeof(uint64_t) + 1];
  const char* shaders[kStageCount] = {};
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    if ((stages_ & 1u << stage) == 0) continue;
    shaders[stage] = "shader";
    if (hashes_[stage] == 0) continue;
    constexpr size_t kDigits = 2 * sizeof(uint64_t);
    for (size_t i = 0; i < kDigits; ++i) {
      texts[stage][i] = "0123456789abcdef"[hashes_[stage] >> 4 * (kDigits - 1 - i) & 15];
    }
    texts[stage][kDigits] = 0;
    shaders[stage] = texts[stage];
  }
  if (name != nullptr && name[0] == 0) name = nullptr;
  CairnPipeline number = 0;
  try {
    if (!context.RegisterPipeline(application, name, shaders, hashes_, description_, &number)
             .ok()) {
      return 0;
    }
  } catch (const std::bad_alloc&) {
    return 0;
  }
  CairnPipeline earlier = 0;
  if (number_.compare_exchange_strong(earlier, number)) return number;
  // Another thread was first.
  static_cast<void>(context.UnregisterPipeline(number).ok());
  return earlier;
}

void PipelineNote::End(Context& context) {
  const CairnPipeline number = number_.exchange(0);
  if (number != 0) static_cast<void>(context.UnregisterPipeline(number).ok());
}

void ListBreadcrumbs::Start(Context* context, const ListStart& start) {
  Release();
  ForgetState();
  if (context == nullptr) return;
  CairnCommandListDesc desc{};
  desc.struct_size = sizeof(desc);
  desc.flags = CAIRN_LIST_HELD;
  desc.native = start.real;
  desc.queue_type = QueueTypeOf(start.type);
  desc.name = start.name;
  desc.pipeline = start.pipeline;
  CommandList* list = nullptr;
  // Without room the list is counted as dropped, and recorded without breadcrumbs.
  try {
    if (!context->BeginCommandList(desc, &list, start.application).ok()) return;
  } catch (const std::bad_alloc&) {
    return;
  }
  context_ = context;
  recording_ = list;
  open_ = list;
}

void ListBreadcrumbs::End() {
  if (open_ == nullptr) return;
  open_events_ = 0;  // Open events end with the list.
  std::exchange(open_, nullptr)->End();
}

void ListBreadcrumbs::Release() {
  open_ = nullptr;
  open_events_ = 0;
  if (recording_ == nullptr) return;
  // This fails only if the application released the recording itself, through libcairn.
  try {
    static_cast<void>(context_->ReleaseCommandList(std::exchange(recording_, nullptr)).ok());
  } catch (const std::bad_alloc&) {
    // A slot stays used until the device ends.
  }
}

void ListBreadcrumbs::ForgetState() {
  open_events_ = 0;
  statistics_queries_ = 0;
  inside_render_pass_ = false;
  pass_suspends_ = false;
  silent_ = false;
  predicated_ = false;
  std::fill_n(render_targets_.begin(), std::exchange(render_target_count_, 0), 0);
  depth_stencil_ = 0;
  std::fill_n(vertex_buffers_.begin(), std::exchange(vertex_buffer_count_, 0), 0);
  index_buffer_ = 0;
  streams_.fill(0);
  for (RootParameters& root : roots_) {
    std::fill_n(root.points.begin(), std::exchange(root.used, 0), 0);
    root.signature = nullptr;
  }
}

void ListBreadcrumbs::NoteEvent(uint64_t event_id, uint32_t metadata, const void* data,
                                uint32_t size) {
  // The end is counted even if the event found no room.
  static_cast<void>(open_->BeginAnnotation(event_id, metadata, data, size, CAIRN_MARKER_PASS));
  ++open_events_;
}

void ListBreadcrumbs::NoteUnnamedEvent() {
  static_cast<void>(open_->BeginUnnamed(CAIRN_MARKER_PASS));
  ++open_events_;
}

void ListBreadcrumbs::NoteUnnamedMarker() {
  static_cast<void>(open_->BeginUnnamed(CAIRN_MARKER_SET_MARKER));
  open_->EndMarker();
}

void ListBreadcrumbs::NoteEventEnd() {
  --open_events_;
  open_->EndMarker();
}

void ListBreadcrumbs::NoteMarker(uint64_t event_id, uint32_t metadata, const void* data,
                                 uint32_t size) {
  static_cast<void>(
      open_->BeginAnnotation(event_id, metadata, data, size, CAIRN_MARKER_SET_MARKER));
  open_->EndMarker();
}

void ListBreadcrumbs::SetRenderTarget(uint32_t slot, uint32_t object) {
  if (slot >= kRenderTargets) return;
  render_target_count_ = std::max(render_target_count_, slot + 1);
  BindObject(BindPoint::kRenderTarget, slot, object, render_targets_[slot]);
}

void ListBreadcrumbs::EndRenderTargets(uint32_t count) {
  for (uint32_t slot = count; slot < render_target_count_; ++slot) {
    BindObject(BindPoint::kRenderTarget, slot, 0, render_targets_[slot]);
  }
  render_target_count_ = std::min(render_target_count_, count);
}

void ListBreadcrumbs::SetDepthStencil(uint32_t object) {
  BindObject(BindPoint::kDepthStencil, 0, object, depth_stencil_);
}

void ListBreadcrumbs::SetVertexBuffer(uint32_t slot, uint64_t address) {
  if (slot >= kVertexBuffers) return;
  vertex_buffer_count_ = std::max(vertex_buffer_count_, slot + 1);
  BindAddress(BindPoint::kVertexBuffer, slot, address, vertex_buffers_[slot]);
}

void ListBreadcrumbs::SetStreamOutput(uint32_t slot, uint64_t address) {
  if (slot >= kStreams) return;
  BindAddress(BindPoint::kStreamOutput, slot, address, streams_[slot]);
}

void ListBreadcrumbs::NoteRootAddress(bool compute, BindPoint point, uint32_t parameter,
                                      uint64_t address) {
  if (parameter >= kMaxRootParameters) return;
  RootParameters& root = roots_[compute ? 1 : 0];
  root.points[parameter] = address == 0 ? 0 : static_cast<uint8_t>(point);
  root.used = std::max(root.used, parameter + 1);
  // Constants change from draw to draw: comparing would cost more than it saves.
  open_->Bind(point, parameter | (compute ? kBindSlotOfCompute : 0), address, true);
}

void ListBreadcrumbs::UnbindRootParameters(bool compute) {
  RootParameters& root = roots_[compute ? 1 : 0];
  for (uint32_t parameter = 0; parameter < root.used; ++parameter) {
    const uint8_t point = std::exchange(root.points[parameter], uint8_t{0});
    if (point == 0) continue;
    open_->Bind(static_cast<BindPoint>(point), parameter | (compute ? kBindSlotOfCompute : 0), 0,
                true);
  }
  root.used = 0;
}

void ListBreadcrumbs::NoteRootSignature(bool compute, const void* signature) {
  roots_[compute ? 1 : 0].signature = signature;
  UnbindRootParameters(compute);
}

void ListBreadcrumbs::UnbindEverything() {
  if (open_ == nullptr) return;
  EndRenderTargets(0);
  SetDepthStencil(0);
  for (uint32_t slot = 0; slot < vertex_buffer_count_; ++slot) SetVertexBuffer(slot, 0);
  SetIndexBuffer(0);
  for (uint32_t slot = 0; slot < kStreams; ++slot) SetStreamOutput(slot, 0);
  SetRootSignature(false, nullptr);
  SetRootSignature(true, nullptr);
}

void ListBreadcrumbs::UpdateSilence() {
  const bool silent = inside_render_pass_ || statistics_queries_ != 0;
  if (open_ == nullptr || silent == silent_) return;
  silent_ = silent;
  open_->SetInsideRenderPass(silent);
}

void ListBreadcrumbs::BeginRenderPassWork(bool resumes, bool suspends) {
  // Between a pass that suspends and the one that resumes it the GPU may be given nothing at all.
  if (resumes) {
    inside_render_pass_ = true;
    UpdateSilence();
  }
  BeginWork(CAIRN_MARKER_BEGIN_RENDER_PASS);
  inside_render_pass_ = true;
  pass_suspends_ = suspends;
  UpdateSilence();
}

void ListBreadcrumbs::EndRenderPass() {
  if (pass_suspends_) return;
  inside_render_pass_ = false;
  UpdateSilence();
}

void ListBreadcrumbs::BeginStatisticsQuery() {
  ++statistics_queries_;
  UpdateSilence();
}

void ListBreadcrumbs::EndStatisticsQuery() {
  if (statistics_queries_ == 0) return;
  --statistics_queries_;
  UpdateSilence();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
