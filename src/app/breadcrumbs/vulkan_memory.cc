// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_memory.h"

#include <fmt/format.h>

#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace cairn {
namespace {

constexpr uint32_t kNoMemoryType = UINT32_MAX;

Status VulkanError(const char* call, VkResult result) {
  const StatusCode code =
      result == VK_ERROR_DEVICE_LOST ? StatusCode::kDeviceLost
      : result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY
          ? StatusCode::kOutOfMemory
          : StatusCode::kUnsupported;
  return Status(code, fmt::format("{} returned {}", call, VulkanResultName(result)));
}

// The best coherent memory type among `allowed`, or kNoMemoryType.
uint32_t ChooseMemoryType(const VulkanDevice& device, uint32_t allowed) {
  constexpr VkMemoryPropertyFlags kNeeded =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  // AMD's device-coherent memory needs a feature that the application may not have enabled.
  constexpr VkMemoryPropertyFlags kRefused = VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD |
                                             VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD |
                                             VK_MEMORY_PROPERTY_PROTECTED_BIT;
  uint32_t best = kNoMemoryType;
  int best_score = -1;
  for (uint32_t i = 0; i < device.memory_properties.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = device.memory_properties.memoryTypes[i].propertyFlags;
    if ((allowed >> i & 1) == 0 || (flags & kNeeded) != kNeeded || (flags & kRefused) != 0)
      continue;
    const int score = ((flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0 ? 1 : 0) +
                      ((flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) == 0 ? 2 : 0);
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  return best;
}

}  // namespace

VulkanBuffer::VulkanBuffer(VulkanBuffer&& other) noexcept {
  *this = std::move(other);
}

VulkanBuffer& VulkanBuffer::operator=(VulkanBuffer&& other) noexcept {
  if (this != &other) {
    Destroy();
    device_ = std::exchange(other.device_, nullptr);
    buffer_ = std::exchange(other.buffer_, VK_NULL_HANDLE);
    memory_ = std::exchange(other.memory_, VK_NULL_HANDLE);
    mapped_ = std::exchange(other.mapped_, nullptr);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
  }
  return *this;
}

VulkanBuffer::~VulkanBuffer() {
  Destroy();
}

void VulkanBuffer::Destroy() {
  if (device_ == nullptr) return;
  device_->vk.DestroyBuffer(device_->device, buffer_, nullptr);
  device_->vk.FreeMemory(device_->device, memory_, nullptr);
  Abandon();
}

void VulkanBuffer::Abandon() {
  device_ = nullptr;
  buffer_ = VK_NULL_HANDLE;
  memory_ = VK_NULL_HANDLE;
  mapped_ = nullptr;
  size_bytes_ = 0;
}

Status VulkanBuffer::CreateBuffer(const VulkanDevice& device, size_t size_bytes,
                                  VkBufferUsageFlags more_usage, const void* next) {
  device_ = &device;
  size_bytes_ = size_bytes;
  // Lists of every queue family write here, without ownership transfers.
  std::vector<uint32_t> families(device.queue_families.size());
  std::iota(families.begin(), families.end(), 0);
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.pNext = next;
  info.size = size_bytes;
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | more_usage;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  if (families.size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = static_cast<uint32_t>(families.size());
    info.pQueueFamilyIndices = families.data();
  }
  const VkResult result = device.vk.CreateBuffer(device.device, &info, nullptr, &buffer_);
  return result == VK_SUCCESS ? Status() : VulkanError("vkCreateBuffer", result);
}

Status VulkanBuffer::AllocateAndBind(VkDeviceSize size_bytes, uint32_t memory_type,
                                     const void* next) {
  VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.pNext = next;
  info.allocationSize = size_bytes;
  info.memoryTypeIndex = memory_type;
  VkResult result = device_->vk.AllocateMemory(device_->device, &info, nullptr, &memory_);
  if (result != VK_SUCCESS) return VulkanError("vkAllocateMemory", result);
  result = device_->vk.BindBufferMemory(device_->device, buffer_, memory_, 0);
  return result == VK_SUCCESS ? Status() : VulkanError("vkBindBufferMemory", result);
}

Result<VulkanBuffer> VulkanBuffer::CreateHostVisible(const VulkanDevice& device, size_t size_bytes,
                                                     VkBufferUsageFlags more_usage,
                                                     VkMemoryAllocateFlags flags) {
  VulkanBuffer buffer;
  CAIRN_RETURN_IF_ERROR(buffer.CreateBuffer(device, size_bytes, more_usage, nullptr));
  VkMemoryRequirements needs = {};
  device.vk.GetBufferMemoryRequirements(device.device, buffer.buffer_, &needs);
  const uint32_t type = ChooseMemoryType(device, needs.memoryTypeBits);
  if (type == kNoMemoryType) {
    return Status(StatusCode::kUnsupported,
                  "the device has no host-visible coherent memory type for a buffer");
  }
  VkMemoryAllocateFlagsInfo with_flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  with_flags.flags = flags;
  CAIRN_RETURN_IF_ERROR(
      buffer.AllocateAndBind(needs.size, type, flags != 0 ? &with_flags : nullptr));
  void* mapped = nullptr;
  const VkResult result =
      device.vk.MapMemory(device.device, buffer.memory_, 0, VK_WHOLE_SIZE, 0, &mapped);
  if (result != VK_SUCCESS) return VulkanError("vkMapMemory", result);
  buffer.mapped_ = static_cast<std::byte*>(mapped);
  std::memset(mapped, 0, size_bytes);
  return buffer;
}

Result<VulkanBuffer> VulkanBuffer::ImportHost(const VulkanDevice& device, std::byte* memory,
                                              size_t size_bytes, VkBufferUsageFlags more_usage,
                                              VkMemoryAllocateFlags flags) {
  const auto unsupported = [](std::string reason) {
    return Status(StatusCode::kUnsupported, std::move(reason));
  };
  if (device.vk.GetMemoryHostPointerPropertiesEXT == nullptr || device.import_alignment == 0) {
    return unsupported(NotEnabledReason(device, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME));
  }
  if (reinterpret_cast<uintptr_t>(memory) % device.import_alignment != 0 ||
      size_bytes % device.import_alignment != 0) {
    return unsupported(fmt::format("{} bytes at {} are not multiples of the device's alignment, {}",
                                   size_bytes, static_cast<void*>(memory),
                                   device.import_alignment));
  }
  constexpr VkExternalMemoryHandleTypeFlagBits kHandleType =
      VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkMemoryHostPointerPropertiesEXT properties = {
      VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  const VkResult result =
      device.vk.GetMemoryHostPointerPropertiesEXT(device.device, kHandleType, memory, &properties);
  if (result != VK_SUCCESS) return VulkanError("vkGetMemoryHostPointerPropertiesEXT", result);

  VulkanBuffer buffer;
  VkExternalMemoryBufferCreateInfo external = {
      VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = kHandleType;
  CAIRN_RETURN_IF_ERROR(buffer.CreateBuffer(device, size_bytes, more_usage, &external));
  VkMemoryRequirements needs = {};
  device.vk.GetBufferMemoryRequirements(device.device, buffer.buffer_, &needs);
  if (needs.size > size_bytes) {
    return unsupported(
        fmt::format("a buffer of {} bytes needs {} bytes of memory here", size_bytes, needs.size));
  }
  const uint32_t type = ChooseMemoryType(device, needs.memoryTypeBits & properties.memoryTypeBits);
  if (type == kNoMemoryType) {
    return unsupported("no coherent memory type takes these pages for a buffer");
  }
  VkImportMemoryHostPointerInfoEXT import = {VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
  import.handleType = kHandleType;
  import.pHostPointer = memory;
  VkMemoryAllocateFlagsInfo with_flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  with_flags.flags = flags;
  if (flags != 0) import.pNext = &with_flags;
  CAIRN_RETURN_IF_ERROR(buffer.AllocateAndBind(size_bytes, type, &import));
  buffer.mapped_ = memory;
  return buffer;
}

}  // namespace cairn
