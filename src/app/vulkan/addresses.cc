// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/addresses.h"

#include "app/vulkan/device_objects.h"
#include "app/vulkan/host_memory.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/resource_descriptions.h"

namespace cairn {

bool WantsAddress(const VkBufferCreateInfo& info) {
#ifdef VK_KHR_maintenance5
  if (const auto* const flags = FindInChain<VkBufferUsageFlags2CreateInfoKHR>(
          info.pNext, VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO_KHR)) {
    return (flags->usage & VK_BUFFER_USAGE_2_SHADER_DEVICE_ADDRESS_BIT_KHR) != 0;
  }
#endif
  return (info.usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
}

void Addresses::AddBuffer(VkBuffer buffer, const VkBufferCreateInfo& info) {
  if (!WantsAddress(info)) return;
  const bool sparse = (info.flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0;
  buffers_.Set(HandleValue(buffer), {info.size, sparse});
  if (sparse) Ask(buffer, info.size);
}

void Addresses::OnBound(VkBuffer buffer) {
  uint64_t size_bytes = 0;
  const bool known = buffers_.Visit(HandleValue(buffer), [&](Buffer& state) {
    size_bytes = state.size_bytes;
    state.has_memory = true;
  });
  if (known) Ask(buffer, size_bytes);
}

void Addresses::ForgetBuffer(VkBuffer buffer) {
  buffers_.Erase(HandleValue(buffer));
}

void Addresses::Ask(VkBuffer buffer, uint64_t size_bytes) {
  VkBufferDeviceAddressInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  info.buffer = buffer;
  // A device of Vulkan 1.2 has the first whatever was enabled: one that was enabled comes before it.
  PFN_vkGetBufferDeviceAddress get = device_.vk.GetBufferDeviceAddressKHR;
  if (get == nullptr) get = device_.vk.GetBufferDeviceAddressEXT;
  if (get == nullptr) get = device_.vk.GetBufferDeviceAddress;
  const VkDeviceAddress address = get == nullptr ? 0 : get(device_.handle, &info);
  if (address == 0) return;
  names_.Bind({VK_OBJECT_TYPE_BUFFER, HandleValue(buffer)}, address, size_bytes);
}

void Addresses::AddStructure(VkAccelerationStructureKHR structure, VkBuffer buffer,
                             uint64_t size_bytes) {
  bool has_address = false;
  buffers_.Visit(HandleValue(buffer), [&](Buffer& state) { has_address = state.has_memory; });
  if (!has_address) return;
  if (device_.vk.GetAccelerationStructureDeviceAddressKHR == nullptr) return;
  VkAccelerationStructureDeviceAddressInfoKHR info = {};
  info.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR;
  info.accelerationStructure = structure;
  const VkDeviceAddress address =
      device_.vk.GetAccelerationStructureDeviceAddressKHR(device_.handle, &info);
  if (address == 0) return;
  names_.Bind({VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_KHR, HandleValue(structure)}, address,
              size_bytes);
}

namespace {

VkResult VKAPI_CALL CreateBuffer(VkDevice device, const VkBufferCreateInfo* info,
                                 const VkAllocationCallbacks* allocator, VkBuffer* buffer) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateBuffer(device, info, allocator, buffer);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    state.objects->names.Describe({VK_OBJECT_TYPE_BUFFER, HandleValue(*buffer)},
                                  PackDescription(DescriptionOf(*info)), info->size);
  });
  if (!state.reports_address_bindings) {
    Quietly([&] { state.objects->addresses.AddBuffer(*buffer, *info); });
  }
  return result;
}

void NoteBound(VkDevice device, DeviceObjects& objects, VkBuffer buffer, VkDeviceMemory memory,
               VkDeviceSize offset) {
  NoteBufferMemory(device, buffer, memory, offset);
  objects.memory_users.Add({VK_OBJECT_TYPE_BUFFER, HandleValue(buffer)},
                           {VK_OBJECT_TYPE_DEVICE_MEMORY, HandleValue(memory)});
  objects.addresses.OnBound(buffer);
}

VkResult VKAPI_CALL BindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                     VkDeviceSize offset) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.BindBufferMemory(device, buffer, memory, offset);
  if (result == VK_SUCCESS)
    Quietly([&] { NoteBound(device, *state.objects, buffer, memory, offset); });
  return result;
}

template <auto kNext>
VkResult VKAPI_CALL BindBufferMemory2(VkDevice device, uint32_t count,
                                      const VkBindBufferMemoryInfo* infos) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = (state.vk.*kNext)(device, count, infos);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    for (uint32_t i = 0; i < count; ++i) {
      NoteBound(device, *state.objects, infos[i].buffer, infos[i].memory, infos[i].memoryOffset);
    }
  });
  return result;
}

void VKAPI_CALL DestroyBuffer(VkDevice device, VkBuffer buffer,
                              const VkAllocationCallbacks* allocator) {
  const DeviceState& state = *DeviceOf(device);
  state.objects->addresses.ForgetBuffer(buffer);
  ForgetBufferMemory(device, buffer);
  state.objects->Forget(VK_OBJECT_TYPE_BUFFER, HandleValue(buffer));
  state.vk.DestroyBuffer(device, buffer, allocator);
}

VkResult VKAPI_CALL CreateAccelerationStructureKHR(VkDevice device,
                                                   const VkAccelerationStructureCreateInfoKHR* info,
                                                   const VkAllocationCallbacks* allocator,
                                                   VkAccelerationStructureKHR* structure) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result =
      state.vk.CreateAccelerationStructureKHR(device, info, allocator, structure);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    state.objects->memory_users.Add(
        {VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_KHR, HandleValue(*structure)},
        {VK_OBJECT_TYPE_BUFFER, HandleValue(info->buffer)});
    if (state.reports_address_bindings) return;
    state.objects->addresses.AddStructure(*structure, info->buffer, info->size);
  });
  return result;
}

}  // namespace

std::span<const Intercept> AddressIntercepts() {
  static const Intercept kTable[] = {
      InterceptOf<PFN_vkCreateBuffer>("vkCreateBuffer", CreateBuffer),
      InterceptOf<PFN_vkBindBufferMemory>("vkBindBufferMemory", BindBufferMemory),
      InterceptOf<PFN_vkBindBufferMemory2>("vkBindBufferMemory2",
                                           BindBufferMemory2<&DeviceFunctions::BindBufferMemory2>),
      InterceptOf<PFN_vkBindBufferMemory2>(
          "vkBindBufferMemory2KHR", BindBufferMemory2<&DeviceFunctions::BindBufferMemory2KHR>),
      InterceptOf<PFN_vkDestroyBuffer>("vkDestroyBuffer", DestroyBuffer),
      InterceptOf<PFN_vkCreateAccelerationStructureKHR>("vkCreateAccelerationStructureKHR",
                                                        CreateAccelerationStructureKHR),
  };
  return kTable;
}

}  // namespace cairn
