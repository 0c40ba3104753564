// SPDX-License-Identifier: Apache-2.0
//
// Command buffers of a driven device: the recordings that began on a thread, and if they are inside
// a render pass. The Direct3D 12 backend decides on the writes into them.
#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "app/vulkan/driver_half.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/handle_map.h"

namespace cairn {
namespace {

constinit HandleMap<VkCommandBuffer, DrivenCommands> commands_of;
constinit std::atomic<uint64_t> recordings_begun{0};

// ---- Pools and buffers ---------------------------------------------------------------------------

DriverHalfDevice& HalfOf(VkDevice device) {
  return *DeviceOf(device)->driver_half;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateCommandPool(VkDevice device,
                                                 const VkCommandPoolCreateInfo* info,
                                                 const VkAllocationCallbacks* allocator,
                                                 VkCommandPool* pool) {
  DriverHalfDevice& half = HalfOf(device);
  DeviceSeenScope::Note(&half);
  const DeviceFunctions& vk = half.device().vk;
  const VkResult result = vk.CreateCommandPool(device, info, allocator, pool);
  if (result != VK_SUCCESS || half.NotePool(*pool, *info)) return result;
  vk.DestroyCommandPool(device, *pool, allocator);
  *pool = VK_NULL_HANDLE;
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR void VKAPI_CALL DestroyCommandPool(VkDevice device, VkCommandPool pool,
                                              const VkAllocationCallbacks* allocator) {
  DriverHalfDevice& half = HalfOf(device);
  half.ForgetPool(pool);
  half.device().vk.DestroyCommandPool(device, pool, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL ResetCommandPool(VkDevice device, VkCommandPool pool,
                                                VkCommandPoolResetFlags flags) {
  DriverHalfDevice& half = HalfOf(device);
  half.EndRecordings(pool);
  return half.device().vk.ResetCommandPool(device, pool, flags);
}

VKAPI_ATTR VkResult VKAPI_CALL AllocateCommandBuffers(VkDevice device,
                                                      const VkCommandBufferAllocateInfo* info,
                                                      VkCommandBuffer* buffers) {
  DriverHalfDevice& half = HalfOf(device);
  const DeviceFunctions& vk = half.device().vk;
  const VkResult result = vk.AllocateCommandBuffers(device, info, buffers);
  const uint32_t count = info->commandBufferCount;
  if (result != VK_SUCCESS ||
      half.NoteCommandBuffers(info->commandPool, info->level, {buffers, count})) {
    return result;
  }
  vk.FreeCommandBuffers(device, info->commandPool, count, buffers);
  std::fill_n(buffers, count, VK_NULL_HANDLE);
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR void VKAPI_CALL FreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t count,
                                              const VkCommandBuffer* buffers) {
  DriverHalfDevice& half = HalfOf(device);
  half.ForgetCommandBuffers(pool, {buffers, count});
  half.device().vk.FreeCommandBuffers(device, pool, count, buffers);
}

// ---- Recordings ----------------------------------------------------------------------------------

const DeviceFunctions& NextOf(const DrivenCommands& commands) {
  return commands.device->device().vk;
}

VKAPI_ATTR VkResult VKAPI_CALL BeginCommandBuffer(VkCommandBuffer handle,
                                                  const VkCommandBufferBeginInfo* info) {
  DrivenCommands& commands = *DrivenCommandsOf(handle);
  commands.recording = 0;
  const VkResult result = NextOf(commands).BeginCommandBuffer(handle, info);
  if (result != VK_SUCCESS || commands.secondary) return result;
  commands.in_render_pass = false;
  commands.drains = 0;
  commands.recording = recordings_begun.fetch_add(1, std::memory_order_relaxed) + 1;
  if (ListOpenScope* const opening = ListOpenScope::Current()) {
    opening->NoteBegin({handle, commands.recording});
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL EndCommandBuffer(VkCommandBuffer handle) {
  DrivenCommands& commands = *DrivenCommandsOf(handle);
  commands.recording = 0;
  return NextOf(commands).EndCommandBuffer(handle);
}

VKAPI_ATTR VkResult VKAPI_CALL ResetCommandBuffer(VkCommandBuffer handle,
                                                  VkCommandBufferResetFlags flags) {
  DrivenCommands& commands = *DrivenCommandsOf(handle);
  commands.recording = 0;
  return NextOf(commands).ResetCommandBuffer(handle, flags);
}

// ---- Render passes -------------------------------------------------------------------------------

// Returns the function that exists: it became part of Vulkan, or of an older extension, under
// another name.
template <typename Function>
Function Either(Function core, Function extension) {
  return core != nullptr ? core : extension;
}

VKAPI_ATTR void VKAPI_CALL CmdBeginRenderPass(VkCommandBuffer handle,
                                              const VkRenderPassBeginInfo* info,
                                              VkSubpassContents contents) {
  DrivenCommands& commands = *DrivenCommandsOf(handle);
  commands.in_render_pass = true;
  commands.drains = 0;
  NextOf(commands).CmdBeginRenderPass(handle, info, contents);
}

VKAPI_ATTR void VKAPI_CALL CmdEndRenderPass(VkCommandBuffer handle) {
  DrivenCommands& commands = *DrivenCommandsOf(handle);
  NextOf(commands).CmdEndRenderPass(handle);
  commands.in_render_pass = false;
}

VKAPI_ATTR void VKAPI_CALL CmdBeginRenderPass2(VkCommandBuffer handle,
                                               const VkRenderPassBeginInfo* info,
                                               const VkSubpassBeginInfo* subpass) {
  DrivenCommands& commands = *DrivenCommandsOf(handle);
  commands.in_render_pass = true;
  commands.drains = 0;
  const DeviceFunctions& vk = NextOf(commands);
  Either(vk.CmdBeginRenderPass2, vk.CmdBeginRenderPass2KHR)(handle, info, subpass);
}

VKAPI_ATTR void VKAPI_CALL CmdEndRenderPass2(VkCommandBuffer handle, const VkSubpassEndInfo* info) {
  DrivenCommands& commands = *DrivenCommandsOf(handle);
  const DeviceFunctions& vk = NextOf(commands);
  Either(vk.CmdEndRenderPass2, vk.CmdEndRenderPass2KHR)(handle, info);
  commands.in_render_pass = false;
}

VKAPI_ATTR void VKAPI_CALL CmdBeginRendering(VkCommandBuffer handle, const VkRenderingInfo* info) {
  DrivenCommands& commands = *DrivenCommandsOf(handle);
  commands.in_render_pass = true;
  commands.drains = 0;
  const DeviceFunctions& vk = NextOf(commands);
  Either(vk.CmdBeginRendering, vk.CmdBeginRenderingKHR)(handle, info);
}

VKAPI_ATTR void VKAPI_CALL CmdEndRendering(VkCommandBuffer handle) {
  DrivenCommands& commands = *DrivenCommandsOf(handle);
  const DeviceFunctions& vk = NextOf(commands);
  Either(vk.CmdEndRendering, vk.CmdEndRenderingKHR)(handle);
  commands.in_render_pass = false;
}

}  // namespace

DrivenCommands::DrivenCommands() = default;
DrivenCommands::~DrivenCommands() = default;

bool DrivenCommands::InsideRenderPass() const {
  return exact != nullptr ? exact->inside_pass() : in_render_pass;
}

DrivenCommands* DrivenCommandsOf(VkCommandBuffer command_buffer) {
  return commands_of.Find(command_buffer);
}

const DeviceFunctions& NoteDrivenWork(VkCommandBuffer command_buffer) {
  DrivenCommands& commands = *DrivenCommandsOf(command_buffer);
  commands.drains = 0;
  return NextOf(commands);
}

const DeviceFunctions& NoteDrivenBarrier(VkCommandBuffer command_buffer, BarrierKind kind) {
  DrivenCommands& commands = *DrivenCommandsOf(command_buffer);
  if (commands.witnesses != nullptr && !commands.in_render_pass) {
    commands.drains |= commands.witnesses->Of(kind);
  }
  return NextOf(commands);
}

DriverHalfDevice::~DriverHalfDevice() {
  for (const auto& [handle, pool] : pools_) {
    for (const auto& commands : pool.buffers) commands_of.Erase(commands->handle);
  }
}

bool DriverHalfDevice::NotePool(VkCommandPool pool, const VkCommandPoolCreateInfo& info) noexcept {
  const uint32_t family = info.queueFamilyIndex;
  constexpr VkQueueFlags kFilling = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  try {
    const std::lock_guard lock(mutex_);
    Pool& noted = pools_[pool];
    noted.only_transfers = family < device_.queue_families.size() &&
                           (device_.queue_families[family].queueFlags & kFilling) == 0;
    noted.witnesses = barriers_.Of(family);
    noted.exact_canary = device_.exact != nullptr && device_.exact->MayRunCanary(info);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool DriverHalfDevice::NoteCommandBuffers(VkCommandPool pool, VkCommandBufferLevel level,
                                          std::span<const VkCommandBuffer> buffers) noexcept {
  size_t noted_count = 0;
  try {
    const std::lock_guard lock(mutex_);
    Pool& noted = pools_[pool];
    for (const VkCommandBuffer buffer : buffers) {
      auto commands = std::make_unique<DrivenCommands>();
      commands->handle = buffer;
      commands->device = this;
      commands->secondary = level != VK_COMMAND_BUFFER_LEVEL_PRIMARY;
      commands->only_transfers = noted.only_transfers;
      commands->witnesses = noted.witnesses;
      if (device_.exact != nullptr) {
        commands->exact = std::make_unique<ExactCommands>(
            *device_.exact,
            ExactCommandsDesc{
                .handle = buffer, .secondary = commands->secondary, .canary = noted.exact_canary});
      }
      if (!commands_of.Set(buffer, commands.get())) throw std::bad_alloc();
      noted.buffers.push_back(std::move(commands));
      ++noted_count;
    }
    return true;
  } catch (const std::bad_alloc&) {
    // The command buffer that was not kept may still be in the map.
    if (noted_count < buffers.size()) commands_of.Erase(buffers[noted_count]);
    ForgetCommandBuffers(pool, buffers.first(noted_count));
    return false;
  }
}

void DriverHalfDevice::ForgetCommandBuffers(VkCommandPool pool,
                                            std::span<const VkCommandBuffer> buffers) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return;
  for (const VkCommandBuffer buffer : buffers) {
    if (buffer == VK_NULL_HANDLE) continue;
    commands_of.Erase(buffer);
    std::erase_if(found->second.buffers,
                  [buffer](const auto& commands) { return commands->handle == buffer; });
  }
}

void DriverHalfDevice::ForgetPool(VkCommandPool pool) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return;
  for (const auto& commands : found->second.buffers) commands_of.Erase(commands->handle);
  pools_.erase(found);
}

void DriverHalfDevice::EndRecordings(VkCommandPool pool) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return;
  for (const auto& commands : found->second.buffers) commands->recording = 0;
}

std::span<const Intercept> DrivenCommandIntercepts() {
  static const Intercept kIntercepts[] = {
      InterceptOf<PFN_vkCreateCommandPool>("vkCreateCommandPool", CreateCommandPool),
      InterceptOf<PFN_vkDestroyCommandPool>("vkDestroyCommandPool", DestroyCommandPool),
      InterceptOf<PFN_vkResetCommandPool>("vkResetCommandPool", ResetCommandPool),
      InterceptOf<PFN_vkAllocateCommandBuffers>("vkAllocateCommandBuffers", AllocateCommandBuffers),
      InterceptOf<PFN_vkFreeCommandBuffers>("vkFreeCommandBuffers", FreeCommandBuffers),
      InterceptOf<PFN_vkBeginCommandBuffer>("vkBeginCommandBuffer", BeginCommandBuffer),
      InterceptOf<PFN_vkEndCommandBuffer>("vkEndCommandBuffer", EndCommandBuffer),
      InterceptOf<PFN_vkResetCommandBuffer>("vkResetCommandBuffer", ResetCommandBuffer),
      InterceptOf<PFN_vkCmdBeginRenderPass>("vkCmdBeginRenderPass", CmdBeginRenderPass),
      InterceptOf<PFN_vkCmdEndRenderPass>("vkCmdEndRenderPass", CmdEndRenderPass),
      InterceptOf<PFN_vkCmdBeginRenderPass2>("vkCmdBeginRenderPass2", CmdBeginRenderPass2),
      InterceptOf<PFN_vkCmdBeginRenderPass2>("vkCmdBeginRenderPass2KHR", CmdBeginRenderPass2),
      InterceptOf<PFN_vkCmdEndRenderPass2>("vkCmdEndRenderPass2", CmdEndRenderPass2),
      InterceptOf<PFN_vkCmdEndRenderPass2>("vkCmdEndRenderPass2KHR", CmdEndRenderPass2),
      InterceptOf<PFN_vkCmdBeginRendering>("vkCmdBeginRendering", CmdBeginRendering),
      InterceptOf<PFN_vkCmdBeginRendering>("vkCmdBeginRenderingKHR", CmdBeginRendering),
      InterceptOf<PFN_vkCmdEndRendering>("vkCmdEndRendering", CmdEndRendering),
      InterceptOf<PFN_vkCmdEndRendering>("vkCmdEndRenderingKHR", CmdEndRendering),
  };
  return kIntercepts;
}

}  // namespace cairn
