// SPDX-License-Identifier: Apache-2.0
//
// Memory, buffers and images, and their GPU addresses. All memory is the host's; imported memory is
// the application's own pages.
#include <algorithm>

#include "icd/entry.h"
#include "icd/objects.h"

namespace cairn::icd {
namespace {

constexpr VkDeviceSize kAddressGranularity = 1 << 16;
constexpr uint32_t kHostMemoryTypes = 0b110;
constexpr uint32_t kAllMemoryTypes = 0b111;

VkDeviceSize RoundUp(VkDeviceSize value, VkDeviceSize granularity) {
  return (value + granularity - 1) / granularity * granularity;
}

// With a gap behind each range that is never mapped.
VkDeviceAddress TakeAddresses(Device* device, VkDeviceSize size_bytes) {
  const VkDeviceSize needed = RoundUp(size_bytes, kAddressGranularity) + kAddressGranularity;
  std::lock_guard lock(device->mutex);
  for (auto range = device->free_ranges.begin(); range != device->free_ranges.end(); ++range) {
    if (range->second != needed) continue;
    const VkDeviceAddress address = range->first;
    device->free_ranges.erase(range);
    return address;
  }
  const VkDeviceAddress address = device->next_address;
  device->next_address += needed;
  return address;
}

void GiveBackAddresses(Device* device, const Memory& memory) {
  if (!device->instance->settings.reuse_addresses) return;
  std::lock_guard lock(device->mutex);
  device->free_ranges[memory.address] =
      RoundUp(memory.size_bytes, kAddressGranularity) + kAddressGranularity;
}

}  // namespace

std::atomic<VkDeviceSize>& DeviceHeapUsage() {
  static std::atomic<VkDeviceSize> usage{0};
  return usage;
}

namespace {

VkResult Provide(const VkMemoryAllocateInfo& info, Device* device, Memory* memory) {
  memory->size_bytes = info.allocationSize;
  const auto* import = Find<VkImportMemoryHostPointerInfoEXT>(
      info.pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
  if (import != nullptr && import->handleType != 0) {
    if (device->instance->settings.refuse_imports) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    const auto address = reinterpret_cast<uintptr_t>(import->pHostPointer);
    if (address % kImportAlignment != 0 || info.allocationSize % kImportAlignment != 0) {
      return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    memory->data = static_cast<std::byte*>(import->pHostPointer);
    return VK_SUCCESS;
  }
  memory->in_device_heap = info.memoryTypeIndex != 1;
  if (memory->in_device_heap) {
    const VkDeviceSize before = DeviceHeapUsage().fetch_add(info.allocationSize);
    if (before + info.allocationSize > kDeviceHeapBytes) {
      DeviceHeapUsage() -= info.allocationSize;
      memory->in_device_heap = false;
      return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
  }
  memory->pages = SparseMemory::Reserve(info.allocationSize);
  memory->data = memory->pages.data();
  return memory->data == nullptr ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_SUCCESS;
}

VkResult VKAPI_CALL AllocateMemory(VkDevice device, const VkMemoryAllocateInfo* info,
                                   const VkAllocationCallbacks*, VkDeviceMemory* output) {
  auto memory = std::make_unique<Memory>();
  const VkResult result = Provide(*info, Of(device), memory.get());
  if (result != VK_SUCCESS) return result;
  memory->address = TakeAddresses(Of(device), memory->size_bytes);
  *output = To<VkDeviceMemory>(memory.get());
  TellBinding(*Of(device), VK_OBJECT_TYPE_DEVICE_MEMORY, reinterpret_cast<uint64_t>(*output),
              memory->address, memory->size_bytes, true, false);
  static_cast<void>(memory.release());
  return VK_SUCCESS;
}

void VKAPI_CALL FreeMemory(VkDevice device, VkDeviceMemory handle, const VkAllocationCallbacks*) {
  if (handle == VK_NULL_HANDLE) return;
  const std::unique_ptr<Memory> memory(From<Memory>(handle));
  TellBinding(*Of(device), VK_OBJECT_TYPE_DEVICE_MEMORY, reinterpret_cast<uint64_t>(handle),
              memory->address, memory->size_bytes, false, false);
  GiveBackAddresses(Of(device), *memory);
  if (memory->in_device_heap) DeviceHeapUsage() -= memory->size_bytes;
}

VkResult VKAPI_CALL MapMemory(VkDevice, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize,
                              VkMemoryMapFlags, void** data) {
  *data = From<Memory>(memory)->data + offset;
  return VK_SUCCESS;
}

void VKAPI_CALL GetDeviceMemoryCommitment(VkDevice, VkDeviceMemory memory, VkDeviceSize* size) {
  *size = From<Memory>(memory)->size_bytes;
}

VkResult VKAPI_CALL GetMemoryHostPointerPropertiesEXT(VkDevice, VkExternalMemoryHandleTypeFlagBits,
                                                      const void*,
                                                      VkMemoryHostPointerPropertiesEXT* output) {
  output->memoryTypeBits = kHostMemoryTypes;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL CreateBuffer(VkDevice, const VkBufferCreateInfo* info,
                                 const VkAllocationCallbacks*, VkBuffer* output) {
  auto buffer = std::make_unique<Buffer>();
  buffer->size_bytes = info->size;
  *output = To<VkBuffer>(buffer.release());
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyBuffer(VkDevice device, VkBuffer handle, const VkAllocationCallbacks*) {
  if (handle == VK_NULL_HANDLE) return;
  const std::unique_ptr<Buffer> buffer(From<Buffer>(handle));
  if (buffer->memory == nullptr) return;
  TellBinding(*Of(device), VK_OBJECT_TYPE_BUFFER, reinterpret_cast<uint64_t>(handle),
              buffer->address(), buffer->size_bytes, false, false);
}

VkResult VKAPI_CALL BindBufferMemory2(VkDevice device, uint32_t count,
                                      const VkBindBufferMemoryInfo* infos) {
  for (uint32_t i = 0; i < count; ++i) {
    Buffer* buffer = From<Buffer>(infos[i].buffer);
    buffer->memory = From<Memory>(infos[i].memory);
    buffer->offset = infos[i].memoryOffset;
    TellBinding(*Of(device), VK_OBJECT_TYPE_BUFFER, reinterpret_cast<uint64_t>(infos[i].buffer),
                buffer->address(), buffer->size_bytes, true, false);
  }
  return VK_SUCCESS;
}

VkResult VKAPI_CALL BindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                     VkDeviceSize offset) {
  VkBindBufferMemoryInfo info = {VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO};
  info.buffer = buffer;
  info.memory = memory;
  info.memoryOffset = offset;
  return BindBufferMemory2(device, 1, &info);
}

VkMemoryRequirements BufferNeeds(VkDeviceSize size_bytes) {
  return {RoundUp(size_bytes, kMemoryAlignment), kMemoryAlignment, kAllMemoryTypes};
}

void VKAPI_CALL GetBufferMemoryRequirements(VkDevice, VkBuffer buffer,
                                            VkMemoryRequirements* requirements) {
  *requirements = BufferNeeds(From<Buffer>(buffer)->size_bytes);
}

void VKAPI_CALL GetBufferMemoryRequirements2(VkDevice, const VkBufferMemoryRequirementsInfo2* info,
                                             VkMemoryRequirements2* requirements) {
  requirements->memoryRequirements = BufferNeeds(From<Buffer>(info->buffer)->size_bytes);
}

void VKAPI_CALL GetDeviceBufferMemoryRequirements(VkDevice,
                                                  const VkDeviceBufferMemoryRequirements* info,
                                                  VkMemoryRequirements2* requirements) {
  requirements->memoryRequirements = BufferNeeds(info->pCreateInfo->size);
}

VkDeviceAddress VKAPI_CALL GetBufferDeviceAddress(VkDevice, const VkBufferDeviceAddressInfo* info) {
  return From<Buffer>(info->buffer)->address();
}

uint64_t VKAPI_CALL GetBufferOpaqueCaptureAddress(VkDevice, const VkBufferDeviceAddressInfo* info) {
  return From<Buffer>(info->buffer)->address();
}

uint64_t VKAPI_CALL
GetDeviceMemoryOpaqueCaptureAddress(VkDevice, const VkDeviceMemoryOpaqueCaptureAddressInfo* info) {
  return From<Memory>(info->memory)->address;
}

const Entry kEntries[] = {
    CAIRN_ICD_ENTRY(AllocateMemory),
    CAIRN_ICD_ENTRY(FreeMemory),
    CAIRN_ICD_ENTRY(MapMemory),
    CAIRN_ICD_NOTHING(UnmapMemory),
    CAIRN_ICD_NOTHING(FlushMappedMemoryRanges),
    CAIRN_ICD_NOTHING(InvalidateMappedMemoryRanges),
    CAIRN_ICD_ENTRY(GetDeviceMemoryCommitment),
    CAIRN_ICD_EXTENSION(GetMemoryHostPointerPropertiesEXT,
                        VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME),
    CAIRN_ICD_ENTRY(CreateBuffer),
    CAIRN_ICD_ENTRY(DestroyBuffer),
    CAIRN_ICD_ENTRY(BindBufferMemory),
    CAIRN_ICD_ENTRY(BindBufferMemory2),
    CAIRN_ICD_ENTRY(GetBufferMemoryRequirements),
    CAIRN_ICD_ENTRY(GetBufferMemoryRequirements2),
    CAIRN_ICD_ENTRY(GetDeviceBufferMemoryRequirements),
    CAIRN_ICD_ENTRY(GetBufferDeviceAddress),
    CAIRN_ICD_NAMED(vkGetBufferDeviceAddressKHR, GetBufferDeviceAddress,
                    VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME),
    CAIRN_ICD_ENTRY(GetBufferOpaqueCaptureAddress),
    CAIRN_ICD_ENTRY(GetDeviceMemoryOpaqueCaptureAddress),
};

}  // namespace

std::span<const Entry> MemoryEntries() {
  return kEntries;
}

}  // namespace cairn::icd
