// SPDX-License-Identifier: Apache-2.0
//
// ListBreadcrumbs: what the layer notes of one command list while the application records it. It is
// the state of the list's wrapper, and knows no Direct3D: the recording lies in the device's Context,
// the GPU's writes are made by the context's backend on the real list.
//
//   state      from                                to
//   none       construction, Release               Start
//   open       Start (created, or reset)           End (Close)
//   ended      End                                 Release (reset, or destroyed)
//
// In all states but `open` everything but Start and Release does nothing, so that a list behaves as
// the real one whatever the application does with it. Also with an open recording nothing here can
// fail the application's call: what finds no room is counted in the block and missing in the report.
//
// Writes are left out where they could change what the application's commands do:
//   - inside a render pass of BeginRenderPass, and between passes that suspend and resume;
//   - while a query counts what the pipeline does: a driver may implement copies with shaders, and
//     would count those;
// Bundles and video lists have no writes at all: the backend has no method for their types. The events
// are noted all the same.
//
// Threads: like the list itself, one at a time. Cost: d3d12_work_bench.
#ifndef CAIRN_APP_D3D12_WORK_H_
#define CAIRN_APP_D3D12_WORK_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cairn/breadcrumbs.h"

#include "app/breadcrumbs/command_list.h"
#include "app/capture/capture.h"
#include "d3d12abi/d3d12_api.h"
#include "format/block/block.h"
#include "format/block/pipeline_description.h"
#include "format/block/work_arguments.h"

namespace cairn {

class Context;

inline namespace CAIRN_D3D12_NAMESPACE {

// The queue type that a list or queue of this type counts as.
CairnQueueType QueueTypeOf(D3D12_COMMAND_LIST_TYPE type);

// The data of a pipeline for reports: a member of the wrappers of pipeline states and state
// objects. The pipeline is registered with the context when a list first uses it, so that the
// thousands that are created and never used cost nothing there.
class PipelineNote {
 public:
  PipelineNote() = default;
  PipelineNote(const PipelineNote&) = delete;
  PipelineNote& operator=(const PipelineNote&) = delete;

  // While the pipeline is created: it has this stage. `hash`: what KeepDxbc returned of its code, 0: unknown.
  void SetStage(ShaderStage stage, uint64_t hash);
  void SetDescription(const PipelineDescription& description) {
    description_ = PackDescription(description);
  }

  // The pipeline's number in the context; 0 until it is registered.
  CairnPipeline number() const { return number_.load(std::memory_order_acquire); }
  // `application` is the pointer that the application holds, `name` in UTF-8. The number; 0 where the
  // context has no room. Any thread: the first registers it.
  CairnPipeline Register(Context& context, const void* application, const char* name);
  // Call it when the pipeline is destroyed. (Its present name is found by the pointer, so that
  // other names need no call.)
  void End(Context& context);

 private:
  std::atomic<CairnPipeline> number_{0};
  uint32_t stages_ = 0;                         // bits
  std::array<uint64_t, kStageCount> hashes_{};  // 0: unknown
  uint64_t description_ = 0;                    // 0: none
};

// A recording that begins.
struct ListStart {
  void* real = nullptr;         // the real list, which the GPU's writes are recorded on
  void* application = nullptr;  // the pointer that the application holds
  D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT;
  const char* name = nullptr;  // UTF-8; copied
  CairnPipeline pipeline = 0;
};

class ListBreadcrumbs {
 public:
  // The existing slots; others are ignored.
  static constexpr uint32_t kVertexBuffers = D3D12_IA_VERTEX_INPUT_RESOURCE_SLOT_COUNT;
  static constexpr uint32_t kRenderTargets = D3D12_SIMULTANEOUS_RENDER_TARGET_COUNT;
  static constexpr uint32_t kStreams = D3D12_SO_BUFFER_SLOT_COUNT;

  ListBreadcrumbs() = default;
  ~ListBreadcrumbs() { Release(); }
  ListBreadcrumbs(const ListBreadcrumbs&) = delete;
  ListBreadcrumbs& operator=(const ListBreadcrumbs&) = delete;

  // Starts a recording. The real list must be open and empty. Releases the earlier recording first.
  // Does nothing if `context` is null: breadcrumbs are off.
  void Start(Context* context, const ListStart& start);

  // The real list is about to be closed.
  void End();

  // The recording is never executed again, apart from executions that the GPU has not finished yet.
  void Release();

  bool open() const { return open_ != nullptr; }
  // Returns the last recording, open or ended; null for none. Used by submissions, and when the
  // application uses libcairn on this list.
  CommandList* recording() const { return recording_; }

  // Assigns the next events to the capture's call that this thread is in.
  void NoteCall() {
    if (Capture::Active() != nullptr && open_ != nullptr) [[unlikely]]
      open_->SetCall(static_cast<uint32_t>(Capture::CurrentCall()));
  }

  // Begins a single command of the GPU, around the call of the real list. Nothing is recorded
  // inside of it.
  void BeginWork(CairnMarkerType type) {
    if (open_ == nullptr) return;
    NoteCall();
    open_->BeginWork(type);
  }
  // Records the arguments of the command. Call it after BeginWork.
  void NoteArguments(const WorkArguments& arguments) {
    if (open_ != nullptr) open_->NoteArguments(arguments);
  }
  void EndWork() {
    if (open_ != nullptr) open_->EndWork();
  }
  // Ends a barrier, which drains what the barrier recorded below the API drains.
  void EndBarrier() {
    if (open_ != nullptr) open_->EndWork(open_->DrainsBelow());
  }
  // Returns CommandList::left_out. Call it after BeginWork.
  bool left_out() const { return open_ != nullptr && open_->left_out(); }
  // The same with a name, that of the bundle, say; "" for none. The name is copied.
  void BeginNamedWork(CairnMarkerType type, const char* name) {
    if (open_ == nullptr) return;
    NoteCall();
    open_->BeginMarker(type, name, CAIRN_NAME_COPY);
  }
  void EndNamedWork() {
    if (open_ != nullptr) open_->EndMarker();
  }

  // The application's annotations, as passed. `event_id` is 0 where none was given out. An end without
  // a begin is ignored; begins that are still open at the end of the list end there.
  void BeginEvent(uint64_t event_id, uint32_t metadata, const void* data, uint32_t size) {
    if (open_ != nullptr) NoteEvent(event_id, metadata, data, size);
  }
  // Begins an event without its data, where these must not be kept: only the scope is recorded.
  void BeginUnnamedEvent() {
    if (open_ != nullptr) NoteUnnamedEvent();
  }
  void SetUnnamedMarker() {
    if (open_ != nullptr) NoteUnnamedMarker();
  }
  void EndEvent() {
    if (open_events_ != 0) NoteEventEnd();
  }
  void SetMarker(uint64_t event_id, uint32_t metadata, const void* data, uint32_t size) {
    if (open_ != nullptr) NoteMarker(event_id, metadata, data, size);
  }

  void SetPipeline(CairnPipeline pipeline) {
    if (open_ != nullptr) open_->SetPipeline(pipeline);
  }

  // `object` is 1 + an index into the block's object table, 0 for nothing. A binding that is
  // already set is not recorded again.
  void SetRenderTarget(uint32_t slot, uint32_t object);
  // Slots from `count` on hold nothing any more.
  void EndRenderTargets(uint32_t count);
  void SetDepthStencil(uint32_t object);
  // GPU virtual addresses, 0 for nothing.
  void SetVertexBuffer(uint32_t slot, uint64_t address);
  void SetIndexBuffer(uint64_t address) {
    BindAddress(BindPoint::kIndexBuffer, 0, address, index_buffer_);
  }
  void SetStreamOutput(uint32_t slot, uint64_t address);
  // A root parameter; the point is one of the three kRoot... ones.
  void SetRootAddress(bool compute, BindPoint point, uint32_t parameter, uint64_t address) {
    if (open_ != nullptr) NoteRootAddress(compute, point, parameter, address);
  }
  // Sets a root signature; another one clears the root parameters. `signature` only distinguishes
  // them.
  void SetRootSignature(bool compute, const void* signature) {
    if (open_ != nullptr && roots_[compute ? 1 : 0].signature != signature) {
      NoteRootSignature(compute, signature);
    }
  }
  // ClearState: nothing is bound.
  void UnbindEverything();

  // Records an object that the next command reads or writes; it holds for that command only.
  void UseObject(BindPoint point, uint32_t slot, uint32_t object) {
    if (open_ != nullptr && object != 0) open_->Bind(point, slot, object, false);
  }
  void UseAddress(BindPoint point, uint32_t slot, uint64_t address) {
    if (open_ != nullptr && address != 0) open_->Bind(point, slot, address, true);
  }

  // BeginRenderPass: begins its work, and the silence. EndWork follows as for other work.
  void BeginRenderPassWork(bool resumes, bool suspends);
  // EndRenderPass: after the real call, between its BeginWork and EndWork.
  void EndRenderPass();
  // Queries between whose begin and end nothing may be written.
  void BeginStatisticsQuery();
  void EndStatisticsQuery();
  void SetPredicated(bool predicated) { predicated_ = predicated; }
  // Returns true if the list is open and predication may skip its writes.
  bool predicated() const { return open_ != nullptr && predicated_; }

 private:
  static constexpr uint32_t kMaxRootParameters = 64;

  struct RootParameters {
    const void* signature = nullptr;
    // The BindPoint of the parameters that hold an address, 0 for the others.
    std::array<uint8_t, kMaxRootParameters> points{};
    uint32_t used = 0;  // parameters from here on hold nothing
  };

  // The list is open in these.
  void NoteEvent(uint64_t event_id, uint32_t metadata, const void* data, uint32_t size);
  void NoteUnnamedEvent();
  void NoteUnnamedMarker();
  void NoteEventEnd();
  void NoteMarker(uint64_t event_id, uint32_t metadata, const void* data, uint32_t size);
  void NoteRootAddress(bool compute, BindPoint point, uint32_t parameter, uint64_t address);
  void NoteRootSignature(bool compute, const void* signature);

  void ForgetState();
  void BindObject(BindPoint point, uint32_t slot, uint32_t object, uint32_t& bound) {
    if (open_ == nullptr || bound == object) return;
    bound = object;
    open_->Bind(point, slot, object, false);
  }
  void BindAddress(BindPoint point, uint32_t slot, uint64_t address, uint64_t& bound) {
    if (open_ == nullptr || bound == address) return;
    bound = address;
    open_->Bind(point, slot, address, true);
  }
  void UnbindRootParameters(bool compute);
  void UpdateSilence();

  // First what every call looks at.
  CommandList* open_ = nullptr;
  CommandList* recording_ = nullptr;
  Context* context_ = nullptr;
  uint32_t open_events_ = 0;
  uint32_t statistics_queries_ = 0;
  bool inside_render_pass_ = false;
  bool pass_suspends_ = false;
  bool silent_ = false;  // as the recording was told last
  bool predicated_ = false;
  uint32_t render_target_count_ = 0;  // slots from here on hold nothing
  std::array<uint32_t, kRenderTargets> render_targets_{};
  uint32_t depth_stencil_ = 0;
  uint32_t vertex_buffer_count_ = 0;
  uint64_t index_buffer_ = 0;
  std::array<uint64_t, kVertexBuffers> vertex_buffers_{};
  std::array<uint64_t, kStreams> streams_{};
  RootParameters roots_[2];  // of draws, of dispatches
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_WORK_H_
