// SPDX-License-Identifier: Apache-2.0
//
// Memory of the device: what shaders reach, and the words that outlive the program.
#include <cstring>

#include "truth/gpu.h"

namespace cairn::truth {
namespace {

constexpr auto kImported = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

VkBuffer MakeBuffer(VkDevice device, VkDeviceSize size_bytes, const uint32_t families[2],
                    const void* next) {
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.pNext = next;
  info.size = size_bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
               VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  if (families[0] != families[1]) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = 2;
    info.pQueueFamilyIndices = families;
  }
  VkBuffer buffer = VK_NULL_HANDLE;
  Check(vkCreateBuffer(device, &info, nullptr, &buffer), "vkCreateBuffer");
  return buffer;
}

void Bind(VkDevice device, GpuBuffer* buffer) {
  Check(vkBindBufferMemory(device, buffer->buffer, buffer->memory, 0), "vkBindBufferMemory");
  VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  info.buffer = buffer->buffer;
  buffer->address = vkGetBufferDeviceAddress(device, &info);
}

}  // namespace

uint32_t Gpu::FindMemory(uint32_t allowed_types, VkMemoryPropertyFlags needed,
                         VkMemoryPropertyFlags wanted) const {
  VkPhysicalDeviceMemoryProperties memory = {};
  vkGetPhysicalDeviceMemoryProperties(physical_device_, &memory);
  for (const VkMemoryPropertyFlags flags : {needed | wanted, needed}) {
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      const bool fits = (memory.memoryTypes[i].propertyFlags & flags) == flags;
      if ((allowed_types >> i & 1) != 0 && fits) return i;
    }
  }
  return UINT32_MAX;
}

VkDeviceMemory Gpu::Allocate(const VkMemoryRequirements& needs, uint32_t type, const void* import) {
  VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.pNext = import;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.pNext = &flags;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = type;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  const VkResult result = vkAllocateMemory(device_, &allocation, nullptr, &memory);
  if (import == nullptr) Check(result, "vkAllocateMemory");
  return memory;
}

GpuBuffer Gpu::CreateBuffer(VkDeviceSize size_bytes, bool visible, const char* name) {
  GpuBuffer buffer = CreateUnwritten(size_bytes, visible, name);
  if (visible) std::memset(buffer.mapped, 0, size_bytes);
  return buffer;
}

GpuBuffer Gpu::CreateUnwritten(VkDeviceSize size_bytes, bool visible, const char* name) {
  const uint32_t families[] = {queues_[0].family, queues_[1].family};
  GpuBuffer buffer;
  buffer.size_bytes = size_bytes;
  buffer.buffer = MakeBuffer(device_, size_bytes, families, nullptr);
  Name(VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer.buffer, name);
  VkMemoryRequirements needs = {};
  vkGetBufferMemoryRequirements(device_, buffer.buffer, &needs);
  constexpr VkMemoryPropertyFlags kVisible =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const uint32_t type =
      visible ? FindMemory(needs.memoryTypeBits, kVisible, VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
              : FindMemory(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
  if (type == UINT32_MAX) Fail("the device has no suitable memory type");
  buffer.memory = Allocate(needs, type, nullptr);
  Bind(device_, &buffer);
  if (!visible) return buffer;
  Check(vkMapMemory(device_, buffer.memory, 0, VK_WHOLE_SIZE, 0, &buffer.mapped), "vkMapMemory");
  return buffer;
}

void Gpu::Destroy(const GpuBuffer& buffer) {
  vkDestroyBuffer(device_, buffer.buffer, nullptr);
  vkFreeMemory(device_, buffer.memory, nullptr);
}

bool Gpu::Import(Notes* notes, GpuBuffer* buffer) {
  const auto ask = reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
      vkGetDeviceProcAddr(device_, "vkGetMemoryHostPointerPropertiesEXT"));
  VkMemoryHostPointerPropertiesEXT memory = {VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  if (ask == nullptr || ask(device_, kImported, notes->words(), &memory) != VK_SUCCESS)
    return false;
  VkExternalMemoryBufferCreateInfo external = {
      VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = kImported;
  const uint32_t families[] = {queues_[0].family, queues_[1].family};
  buffer->size_bytes = notes->words_bytes();
  buffer->buffer = MakeBuffer(device_, buffer->size_bytes, families, &external);
  VkMemoryRequirements needs = {};
  vkGetBufferMemoryRequirements(device_, buffer->buffer, &needs);
  const uint32_t type = FindMemory(needs.memoryTypeBits & memory.memoryTypeBits, 0,
                                   VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  if (type == UINT32_MAX || needs.size > buffer->size_bytes) return false;
  VkImportMemoryHostPointerInfoEXT import = {VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
  import.handleType = kImported;
  import.pHostPointer = notes->words();
  buffer->memory = Allocate(needs, type, &import);
  if (buffer->memory == VK_NULL_HANDLE) return false;
  Bind(device_, buffer);
  return true;
}

GpuBuffer Gpu::CreateWords(Notes* notes) {
  GpuBuffer buffer;
  // NVIDIA's driver refuses memory of files on disks, and may fail what is allocated behind that.
  words_are_imported_ = words_are_imported_ && notes->in_memory() && Import(notes, &buffer);
  if (words_are_imported_) return buffer;
  if (buffer.buffer != VK_NULL_HANDLE) vkDestroyBuffer(device_, buffer.buffer, nullptr);
  buffer = CreateBuffer(notes->words_bytes(), true, "Notes");
  notes->CopyFrom(buffer.mapped);
  return buffer;
}

}  // namespace cairn::truth
