// SPDX-License-Identifier: Apache-2.0
//
// The calls that make, bind and end buffers, on a device whose accesses are checked: below the layer's own, and in front
// of the next layer.
#include <array>

#include "app/vulkan/access_ranges.h"
#include "app/vulkan/addresses.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/loop_experiment.h"

namespace cairn {
namespace {

LoopDevice& LoopsOf(VkDevice device) {
  return *DeviceOf(device)->loops;
}

VkResult VKAPI_CALL MakeBuffer(VkDevice device, const VkBufferCreateInfo* info,
                               const VkAllocationCallbacks* allocator, VkBuffer* buffer) {
  LoopDevice& loops = LoopsOf(device);
  const VkResult result = loops.next().CreateBuffer(device, info, allocator, buffer);
  if (result == VK_SUCCESS && WantsAddress(*info)) {
    Quietly([&] {
      const bool is_sparse = (info->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0;
      loops.ranges()->AddBuffer(*buffer, info->size, is_sparse);
    });
  }
  return result;
}

VkResult VKAPI_CALL BindMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                               VkDeviceSize offset) {
  LoopDevice& loops = LoopsOf(device);
  const VkResult result = loops.next().BindBufferMemory(device, buffer, memory, offset);
  if (result == VK_SUCCESS) Quietly([&] { loops.ranges()->BindBuffer(buffer, memory); });
  return result;
}

template <auto kNext>
VkResult VKAPI_CALL BindMemory2(VkDevice device, uint32_t count,
                                const VkBindBufferMemoryInfo* infos) {
  LoopDevice& loops = LoopsOf(device);
  const VkResult result = (loops.next().*kNext)(device, count, infos);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    for (uint32_t i = 0; i < count; ++i)
      loops.ranges()->BindBuffer(infos[i].buffer, infos[i].memory);
  });
  return result;
}

// Before it is gone: another one may get its address at once.
void VKAPI_CALL EndBuffer(VkDevice device, VkBuffer buffer,
                          const VkAllocationCallbacks* allocator) {
  LoopDevice& loops = LoopsOf(device);
  Quietly([&] { loops.ranges()->RemoveBuffer(buffer); });
  loops.next().DestroyBuffer(device, buffer, allocator);
}

void VKAPI_CALL EndMemory(VkDevice device, VkDeviceMemory memory,
                          const VkAllocationCallbacks* allocator) {
  LoopDevice& loops = LoopsOf(device);
  Quietly([&] { loops.ranges()->RemoveMemory(memory); });
  loops.next().FreeMemory(device, memory, allocator);
}

}  // namespace

std::span<const ExactFunction> AccessFunctions() {
  using Functions = DeviceFunctions;
  static const std::array functions = {
      Replace<&Functions::CreateBuffer>("vkCreateBuffer", MakeBuffer),
      Replace<&Functions::BindBufferMemory>("vkBindBufferMemory", BindMemory),
      Replace<&Functions::BindBufferMemory2>("vkBindBufferMemory2",
                                             BindMemory2<&Functions::BindBufferMemory2>),
      Replace<&Functions::BindBufferMemory2KHR>("vkBindBufferMemory2KHR",
                                                BindMemory2<&Functions::BindBufferMemory2KHR>),
      Replace<&Functions::DestroyBuffer>("vkDestroyBuffer", EndBuffer),
      Replace<&Functions::FreeMemory>("vkFreeMemory", EndMemory),
  };
  return functions;
}

}  // namespace cairn
