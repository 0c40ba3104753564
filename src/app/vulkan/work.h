// SPDX-License-Identifier: Apache-2.0
//
// WorkScope: a breadcrumb around one command, as the generated intercepts make it.
//
// Cost: vulkan_layer_bench.
#ifndef CAIRN_APP_VULKAN_WORK_H_
#define CAIRN_APP_VULKAN_WORK_H_

#include <vulkan/vulkan_core.h>

#include "cairn/marker_types.h"

#include "app/breadcrumbs/vulkan_witnesses.h"
#include "app/vulkan/command_buffer.h"

namespace cairn {

class WorkScope {
 public:
  // Begins a command of this type, which runs the pipeline bound at `point`. Construct it before
  // calling the next layer's function.
  WorkScope(VkCommandBuffer command_buffer, CairnMarkerType type, WorkPoint point)
      : state_(*CommandBufferOf(command_buffer)) {
    CommandList* const open = state_.open;
    if (open == nullptr) return;
    CairnPipeline pipeline = state_.pipelines[static_cast<size_t>(point)];
    if (state_.announced_at == point) [[unlikely]] {
      type = state_.announced_type;
      pipeline = state_.announced_pipeline;
      state_.announced_at = WorkPoint::kCount;
    }
    // Otherwise the one that the application told libcairn of.
    if (pipeline != 0) {
      open->BeginWork(type, pipeline);
    } else {
      open->BeginWork(type);
    }
    if (state_.checkpoints) [[unlikely]]
      SetCheckpoint(state_);
  }
  ~WorkScope() {
    if (state_.open != nullptr) state_.open->EndWork(drains_);
  }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

  // Records a barrier with these arguments and its strength. Barriers inside of a render pass were
  // not measured.
  template <typename... Arguments>
  void NoteBarrier(Arguments... arguments) {
    if (state_.witnesses == nullptr || state_.in_render_pass) return;
    drains_ = state_.witnesses->Of(KindOfBarrier(arguments...));
  }
  // Records a dispatch of this size. A skipped dispatch drains nothing.
  void NoteDispatch(uint32_t x, uint32_t y, uint32_t z) {
    if (state_.witnesses == nullptr || state_.conditional) return;
    if (x != 0 && y != 0 && z != 0) drains_ = state_.witnesses->dispatch;
  }
  // The numbers that it was recorded with: work_arguments.h.
  void NoteArguments(const WorkArguments& arguments) {
    if (state_.open != nullptr) state_.open->NoteArguments(arguments);
  }
  // Commands from here on may be skipped.
  void SetConditional(bool conditional) { state_.conditional = conditional; }
  // The command is not to reach the next layer: CommandList::left_out.
  bool left_out() const { return state_.open != nullptr && state_.open->left_out(); }

  const DeviceFunctions& next() const { return *state_.vk; }
  CommandBufferState& state() const { return state_; }

 private:
  CommandBufferState& state_;
  uint8_t drains_ = 0;  // what is drained when the GPU is beyond it
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_WORK_H_
