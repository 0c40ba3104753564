// SPDX-License-Identifier: Apache-2.0
//
// What the layer knows of a command buffer: the recording in the device's Context, and what the recorded
// commands are in the middle of. The intercepts of commands find it by CommandBufferOf and use it through
// WorkScope.
//
// Threads: like the command buffer, one at a time.
#ifndef CAIRN_VULKAN_COMMAND_BUFFER_H_
#define CAIRN_VULKAN_COMMAND_BUFFER_H_

#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <string>

#include "cairn/breadcrumbs.h"

#include "breadcrumbs/command_list.h"
#include "vulkan/device.h"

namespace cairn {

// Which pipeline a command runs: an index.
enum class WorkPoint : uint8_t { kGraphics, kCompute, kRayTracing, kOther, kCount };

struct CommandPoolState;

struct CommandBufferState {
  VkCommandBuffer handle = VK_NULL_HANDLE;
  DeviceState* device = nullptr;
  CommandPoolState* pool = nullptr;
  CairnQueueType queue_type = CAIRN_QUEUE_OTHER;
  bool secondary = false;

  // What is recorded now, or was last, and may be submitted; null for none: never begun, reset, or
  // begun where nothing may be written (protected) or no recording was free.
  CommandList* list = nullptr;
  CommandList* open = nullptr;  // `list` between vkBeginCommandBuffer and vkEndCommandBuffer

  std::array<CairnPipeline, static_cast<size_t>(WorkPoint::kCount)> pipelines{};
  uint32_t open_labels = 0;
  uint32_t statistics_queries = 0;
  bool in_render_pass = false;
  bool suspended = false;  // between dynamic render passes that suspend and resume
  bool in_video = false;
  bool simultaneous = false;

  std::string name;  // of the object, in UTF-8; for its next recordings
};

// Null for a command buffer of a device without breadcrumbs.
CommandBufferState* CommandBufferOf(VkCommandBuffer command_buffer);

}  // namespace cairn

#endif  // CAIRN_VULKAN_COMMAND_BUFFER_H_
