// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/host_memory.h"

#include <array>

#include "app/vulkan/device_objects.h"
#include "app/vulkan/sharded_map.h"

namespace cairn {
namespace {

struct BufferPlace {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
};
struct Mapping {
  uint64_t address = 0;
  VkDeviceSize offset = 0;  // of the first mapped byte in the memory
};

// Never destroyed: a program may free memory while it exits.
ShardedMap<BufferPlace>& Buffers() {
  static auto& buffers = *new ShardedMap<BufferPlace>;
  return buffers;
}
ShardedMap<Mapping>& Mappings() {
  static auto& mappings = *new ShardedMap<Mapping>;
  return mappings;
}

// Handles need not differ between devices.
template <typename Handle>
uint64_t KeyOf(VkDevice device, Handle handle) {
  return HandleValue(handle) ^ HandleValue(device) << 16;
}

void NoteMapping(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, const void* data) {
  Quietly([&] {
    Mappings().Set(KeyOf(device, memory), {reinterpret_cast<uintptr_t>(data), offset});
  });
}

VkResult VKAPI_CALL MapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                              VkDeviceSize size, VkMemoryMapFlags flags, void** data) {
  const VkResult result = DeviceOf(device)->vk.MapMemory(device, memory, offset, size, flags, data);
  if (result == VK_SUCCESS) NoteMapping(device, memory, offset, *data);
  return result;
}

void VKAPI_CALL UnmapMemory(VkDevice device, VkDeviceMemory memory) {
  Mappings().Erase(KeyOf(device, memory));
  DeviceOf(device)->vk.UnmapMemory(device, memory);
}

#ifdef VK_KHR_map_memory2
template <auto kNext>
VkResult VKAPI_CALL MapMemory2(VkDevice device, const VkMemoryMapInfoKHR* info, void** data) {
  const VkResult result = (DeviceOf(device)->vk.*kNext)(device, info, data);
  if (result == VK_SUCCESS) NoteMapping(device, info->memory, info->offset, *data);
  return result;
}

template <auto kNext>
VkResult VKAPI_CALL UnmapMemory2(VkDevice device, const VkMemoryUnmapInfoKHR* info) {
  Mappings().Erase(KeyOf(device, info->memory));
  return (DeviceOf(device)->vk.*kNext)(device, info);
}
#endif

}  // namespace

void NoteBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                      VkDeviceSize offset) {
  Buffers().Set(KeyOf(device, buffer), {memory, offset});
}

void ForgetBufferMemory(VkDevice device, VkBuffer buffer) {
  Buffers().Erase(KeyOf(device, buffer));
}

uint64_t HostAddressOf(VkDevice device, VkBuffer buffer, VkDeviceSize offset) {
  BufferPlace place;
  if (!Buffers().Visit(KeyOf(device, buffer), [&](BufferPlace& known) { place = known; })) return 0;
  uint64_t address = 0;
  Mappings().Visit(KeyOf(device, place.memory), [&](const Mapping& mapping) {
    const VkDeviceSize in_memory = place.offset + offset;
    if (in_memory >= mapping.offset) address = mapping.address + (in_memory - mapping.offset);
  });
  return address;
}

std::span<const Intercept> HostMemoryIntercepts() {
  static const std::array intercepts = {
      InterceptOf<PFN_vkMapMemory>("vkMapMemory", MapMemory),
      InterceptOf<PFN_vkUnmapMemory>("vkUnmapMemory", UnmapMemory),
#ifdef VK_KHR_map_memory2
      InterceptOf<PFN_vkMapMemory2KHR>("vkMapMemory2KHR",
                                       MapMemory2<&DeviceFunctions::MapMemory2KHR>),
      InterceptOf<PFN_vkUnmapMemory2KHR>("vkUnmapMemory2KHR",
                                         UnmapMemory2<&DeviceFunctions::UnmapMemory2KHR>),
#endif
#ifdef VK_VERSION_1_4
      InterceptOf<PFN_vkMapMemory2>("vkMapMemory2", MapMemory2<&DeviceFunctions::MapMemory2>),
      InterceptOf<PFN_vkUnmapMemory2>("vkUnmapMemory2",
                                      UnmapMemory2<&DeviceFunctions::UnmapMemory2>),
#endif
  };
  return intercepts;
}

}  // namespace cairn
