// SPDX-License-Identifier: Apache-2.0
//
// The layer's state of a command buffer: the recording in the device's Context, and the open render
// pass, labels and the like. The intercepts of commands find it by CommandBufferOf.
//
//   state        from                                    to
//   none         vkAllocateCommandBuffers, a reset       vkBeginCommandBuffer
//   open         vkBeginCommandBuffer                    vkEndCommandBuffer
//   ended        vkEndCommandBuffer                      a reset, or the next vkBeginCommandBuffer
//
// In all states but `open` commands are passed on and nothing is noted.
//
// Threads: like the command buffer, one at a time.
#ifndef CAIRN_APP_VULKAN_COMMAND_BUFFER_H_
#define CAIRN_APP_VULKAN_COMMAND_BUFFER_H_

#include <vulkan/vulkan_core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cairn/breadcrumbs.h"

#include "app/breadcrumbs/command_list.h"
#include "app/breadcrumbs/layer_identity.h"
#include "app/vulkan/device.h"
#include "app/vulkan/handle_map.h"
#include "format/block/descriptor_sets.h"
#include "format/witness/witnesses.h"

namespace cairn {

// The bound pipeline that a command runs.
enum class WorkPoint : uint8_t { kGraphics, kCompute, kRayTracing, kNone, kCount };
inline WorkPoint PointOf(VkPipelineBindPoint point) {
  switch (point) {
    case VK_PIPELINE_BIND_POINT_GRAPHICS: return WorkPoint::kGraphics;
    case VK_PIPELINE_BIND_POINT_COMPUTE: return WorkPoint::kCompute;
    case VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR: return WorkPoint::kRayTracing;
    default: return WorkPoint::kNone;
  }
}

struct CommandPoolState;
class ExactCommands;

// Sets and vertex buffers with higher numbers are noted each time they are bound.
inline constexpr uint32_t kRememberedSets = 8;
inline constexpr uint32_t kRememberedVertexBuffers = 16;

struct CommandBufferState {
  CommandBufferState();
  ~CommandBufferState();

  // Members that every command reads.
  CommandList* open = nullptr;  // `list` between vkBeginCommandBuffer and vkEndCommandBuffer
  const DeviceFunctions* vk = nullptr;  // of the next layer
  // Numbers in the Context; that of WorkPoint::kNone stays 0.
  std::array<CairnPipeline, static_cast<size_t>(WorkPoint::kCount)> pipelines{};
  // The bind point whose next command the last WorkLabel announced; kCount: none.
  WorkPoint announced_at = WorkPoint::kCount;
  CairnMarkerType announced_type = CAIRN_MARKER_PASS;
  CairnPipeline announced_pipeline = 0;
  bool checkpoints = false;  // an NV checkpoint goes with every command
  // The witnesses of its queue family; null if no barrier was measured to hold.
  const WitnessFlags* witnesses = nullptr;

  // Bound descriptor sets, by WorkPoint and number; 0: none, or not known.
  std::array<std::array<DescriptorSetPlace, kRememberedSets>, static_cast<size_t>(WorkPoint::kNone)>
      sets{};
  std::array<VkBuffer, kRememberedVertexBuffers> vertex_buffers{};
  VkBuffer index_buffer = VK_NULL_HANDLE;
  // Called at the begin, and behind secondary command buffers, whose binds are undefined there.
  void ForgetBinds() {
    pipelines.fill(0);
    sets = {};
    vertex_buffers = {};
    index_buffer = VK_NULL_HANDLE;
  }

  // Nothing is written where writes could change the effect of the application's commands.
  bool in_render_pass = false;
  bool only_secondaries = false;  // the subpass takes nothing but vkCmdExecuteCommands
  bool suspends = false;          // the dynamic render pass that it is in
  bool suspended = false;  // from the end of a suspended dynamic render pass to its resumption
  bool in_video = false;
  bool conditional = false;  // what follows may be skipped
  bool after_performance_query =
      false;                      // until the end: that of a query has to be the last command
  uint32_t counting_queries = 0;  // that would count what a write may be made of
  uint32_t open_labels = 0;
  uint32_t work_label = 0;  // the open one that is a WorkLabel, counted from 1; 0: none
  // CommandList::progress_value after the labels and binds that the recording begins with: as long as
  // it holds, there was nothing else, and a suspended dynamic render pass of an earlier command buffer may go on.
  uint32_t labels_only = 0;

  // The current or last recording, which may be submitted. Null for none: never begun, reset, or
  // begun when no recording was free.
  CommandList* list = nullptr;
  LayerList identity{};  // for libcairn in the same process; its recording is `list`

  VkCommandBuffer handle = VK_NULL_HANDLE;
  DeviceState* device = nullptr;
  CommandPoolState* pool = nullptr;
  CommandBufferState* previous = nullptr;  // of the pool
  CommandBufferState* next = nullptr;
  bool secondary = false;
  std::unique_ptr<ExactCommands> exact;  // with DeviceState::exact
  std::string name;                      // of the object, in UTF-8: of its next recordings
};

extern constinit HandleMap<VkCommandBuffer, CommandBufferState> command_buffers;

// Null for a command buffer of a device without breadcrumbs; never null in an intercept of one with.
inline CommandBufferState* CommandBufferOf(VkCommandBuffer command_buffer) {
  return command_buffers.Find(command_buffer);
}

// Updates the recording's silence after one of the members above has changed.
void UpdateSilence(CommandBufferState& state);

// A bind, in a recording that is open. It is nothing that the GPU is given: a suspended render pass may go on behind
// it.
inline void NoteBind(CommandBufferState& state, BindPoint point, uint32_t slot, uint64_t value,
                     bool is_address) {
  const bool nothing_yet = state.open->progress_value() == state.labels_only;
  static_cast<void>(state.open->Bind(point, slot, value, is_address));
  if (nothing_yet) state.labels_only = state.open->progress_value();
}

// Sets a checkpoint for the last recorded event.
void SetCheckpoint(CommandBufferState& state);

// All command pools of the device that still exist: its end.
void ForgetCommandPools(DeviceState& device);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_COMMAND_BUFFER_H_
