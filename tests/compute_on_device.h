// SPDX-License-Identifier: Apache-2.0
//
// For tests: 64 invocations of a compute shader over one storage buffer, on a device that the test has made.
#ifndef CAIRN_TESTS_COMPUTE_ON_DEVICE_H_
#define CAIRN_TESTS_COMPUTE_ON_DEVICE_H_

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "app/breadcrumbs/vulkan_compute.h"
#include "vulkangen/device_functions.h"

namespace cairn {

constexpr uint32_t kInvocations = 64;
using InvocationWords = std::array<uint32_t, kInvocations>;
using ComputeConstants = std::array<uint32_t, 2>;

inline ComputeConstants Floats(float first, float second) {
  return {std::bit_cast<uint32_t>(first), std::bit_cast<uint32_t>(second)};
}

struct ComputeDevice {
  DeviceFunctions vk;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  VkPhysicalDeviceMemoryProperties memory = {};
};

// Memory that both sides see. `mapped` is null if it could not be made.
struct SharedBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  void* mapped = nullptr;
};

inline SharedBuffer MakeSharedBuffer(const ComputeDevice& on, VkBufferUsageFlags usage,
                                     size_t bytes) {
  SharedBuffer made;
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = usage;
  on.vk.CreateBuffer(on.device, &info, nullptr, &made.buffer);
  VkMemoryRequirements needs = {};
  on.vk.GetBufferMemoryRequirements(on.device, made.buffer, &needs);
  constexpr VkMemoryPropertyFlags kShared =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  if ((usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0) allocation.pNext = &flags;
  allocation.allocationSize = needs.size;
  while ((needs.memoryTypeBits >> allocation.memoryTypeIndex & 1) == 0 ||
         (on.memory.memoryTypes[allocation.memoryTypeIndex].propertyFlags & kShared) != kShared) {
    if (++allocation.memoryTypeIndex == on.memory.memoryTypeCount) return made;
  }
  on.vk.AllocateMemory(on.device, &allocation, nullptr, &made.memory);
  on.vk.BindBufferMemory(on.device, made.buffer, made.memory, 0);
  on.vk.MapMemory(on.device, made.memory, 0, VK_WHOLE_SIZE, 0, &made.mapped);
  return made;
}

inline void DestroySharedBuffer(const ComputeDevice& on, const SharedBuffer& made) {
  if (made.buffer != VK_NULL_HANDLE) on.vk.DestroyBuffer(on.device, made.buffer, nullptr);
  if (made.memory != VK_NULL_HANDLE) on.vk.FreeMemory(on.device, made.memory, nullptr);
}

inline void DispatchOnce(const ComputeDevice& on, const VulkanCompute& compute,
                         const ComputeConstants& constants) {
  VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool_info.queueFamilyIndex = on.family;
  VkCommandPool pool = VK_NULL_HANDLE;
  ASSERT_EQ(on.vk.CreateCommandPool(on.device, &pool_info, nullptr, &pool), VK_SUCCESS);
  VkCommandBufferAllocateInfo allocation = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocation.commandPool = pool;
  allocation.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  ASSERT_EQ(on.vk.AllocateCommandBuffers(on.device, &allocation, &commands), VK_SUCCESS);
  const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  on.vk.BeginCommandBuffer(commands, &begin);
  compute.Bind(on.vk, commands);
  on.vk.CmdPushConstants(commands, compute.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                         sizeof(constants), constants.data());
  on.vk.CmdDispatch(commands, 1, 1, 1);
  on.vk.EndCommandBuffer(commands);
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  EXPECT_EQ(on.vk.QueueSubmit(on.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
  EXPECT_EQ(on.vk.QueueWaitIdle(on.queue), VK_SUCCESS);
  on.vk.DestroyCommandPool(on.device, pool, nullptr);
}

// Runs 64 invocations of a module over 64 zeros in `results`, and returns them.
inline InvocationWords RunCompute(const ComputeDevice& on, const SharedBuffer& results,
                                  const std::vector<uint32_t>& words,
                                  const ComputeConstants& constants) {
  InvocationWords result = {};
  std::memcpy(results.mapped, result.data(), sizeof(result));
  VulkanCompute compute;
  const Status made = compute.Create(on.vk, on.device, words.data(), words.size() * 4,
                                     results.buffer, sizeof(constants));
  EXPECT_TRUE(made.ok()) << made.message();
  if (made.ok()) DispatchOnce(on, compute, constants);
  compute.Destroy(on.vk, on.device);
  std::memcpy(result.data(), results.mapped, sizeof(result));
  return result;
}

}  // namespace cairn

#endif  // CAIRN_TESTS_COMPUTE_ON_DEVICE_H_
