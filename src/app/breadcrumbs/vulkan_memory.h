// SPDX-License-Identifier: Apache-2.0
//
// A Vulkan buffer with its memory, readable by the CPU at any time.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_MEMORY_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_MEMORY_H_

#include <cstddef>

#include "app/breadcrumbs/vulkan_functions.h"
#include "base/status.h"

namespace cairn {

// Move-only; destroys what it holds, so the GPU must have finished with it. `device` (the struct)
// must outlive it.
class VulkanBuffer {
 public:
  VulkanBuffer() = default;
  VulkanBuffer(VulkanBuffer&& other) noexcept;
  VulkanBuffer& operator=(VulkanBuffer&& other) noexcept;
  ~VulkanBuffer();

  // Host-visible coherent memory, mapped for its whole life, zeroed. Prefers memory that is cached
  // by the CPU (it is read all the time) and not on the device (it is lost with the device).
  // `more_usage` is added to the use by copies, `flags` to the allocation.
  static Result<VulkanBuffer> CreateHostVisible(const VulkanDevice& device, size_t size_bytes,
                                                VkBufferUsageFlags more_usage = 0,
                                                VkMemoryAllocateFlags flags = 0);

  // Makes `size_bytes` at `memory` the buffer's memory; their content stays. Both have to be multiples
  // of device.import_alignment. kUnsupported with the reason if the extension is not enabled, the
  // driver refuses, or no coherent memory type takes them. `memory` must outlive the buffer and must
  // not be a mapping of a disk file. `more_usage` and `flags` as above.
  static Result<VulkanBuffer> ImportHost(const VulkanDevice& device, std::byte* memory,
                                         size_t size_bytes, VkBufferUsageFlags more_usage = 0,
                                         VkMemoryAllocateFlags flags = 0);

  VkBuffer buffer() const { return buffer_; }
  std::byte* mapped() const { return mapped_; }
  size_t size_bytes() const { return size_bytes_; }

  // Forgets the Vulkan objects without destroying them: the GPU may still be using them.
  void Abandon();

 private:
  Status CreateBuffer(const VulkanDevice& device, size_t size_bytes, VkBufferUsageFlags more_usage,
                      const void* next);
  Status AllocateAndBind(VkDeviceSize size_bytes, uint32_t memory_type, const void* next);
  void Destroy();

  const VulkanDevice* device_ = nullptr;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::byte* mapped_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_MEMORY_H_
