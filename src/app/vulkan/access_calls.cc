// SPDX-License-Identifier: Apache-2.0
//
// The calls that make, bind and end buffers, on a device whose accesses are checked: below the layer's own, and in front
// of the next layer.
#include <array>

#include "app/vulkan/access_ranges.h"
#include "app/vulkan/addresses.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/shader_experiment.h"

namespace cairn {
namespace {

ShaderExperiment& ExperimentOf(VkDevice device) {
  return *DeviceOf(device)->shader_experiment;
}

VkResult VKAPI_CALL MakeBuffer(VkDevice device, const VkBufferCreateInfo* info,
                               const VkAllocationCallbacks* allocator, VkBuffer* buffer) {
  ShaderExperiment& experiment = ExperimentOf(device);
  const VkResult result = experiment.next().CreateBuffer(device, info, allocator, buffer);
  if (result == VK_SUCCESS && WantsAddress(*info)) {
    Quietly([&] {
      const bool is_sparse = (info->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0;
      experiment.ranges()->AddBuffer(*buffer, info->size, is_sparse);
    });
  }
  return result;
}

VkResult VKAPI_CALL BindMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                               VkDeviceSize offset) {
  ShaderExperiment& experiment = ExperimentOf(device);
  const VkResult result = experiment.next().BindBufferMemory(device, buffer, memory, offset);
  if (result == VK_SUCCESS) Quietly([&] { experiment.ranges()->BindBuffer(buffer, memory); });
  return result;
}

template <auto kNext>
VkResult VKAPI_CALL BindMemory2(VkDevice device, uint32_t count,
                                const VkBindBufferMemoryInfo* infos) {
  ShaderExperiment& experiment = ExperimentOf(device);
  const VkResult result = (experiment.next().*kNext)(device, count, infos);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    for (uint32_t i = 0; i < count; ++i)
      experiment.ranges()->BindBuffer(infos[i].buffer, infos[i].memory);
  });
  return result;
}

// Before it is gone: another one may get its address at once.
void VKAPI_CALL EndBuffer(VkDevice device, VkBuffer buffer,
                          const VkAllocationCallbacks* allocator) {
  ShaderExperiment& experiment = ExperimentOf(device);
  Quietly([&] { experiment.ranges()->RemoveBuffer(buffer); });
  experiment.next().DestroyBuffer(device, buffer, allocator);
}

void VKAPI_CALL EndMemory(VkDevice device, VkDeviceMemory memory,
                          const VkAllocationCallbacks* allocator) {
  ShaderExperiment& experiment = ExperimentOf(device);
  Quietly([&] { experiment.ranges()->RemoveMemory(memory); });
  experiment.next().FreeMemory(device, memory, allocator);
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
