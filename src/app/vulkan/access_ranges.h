// SPDX-License-Identifier: Apache-2.0
//
// The experiment "bounds" (docs/internals/why.md): the buffers of a device that have addresses, as the shaders read them
// (access_record.h).
#ifndef CAIRN_APP_VULKAN_ACCESS_RANGES_H_
#define CAIRN_APP_VULKAN_ACCESS_RANGES_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "app/breadcrumbs/vulkan_functions.h"
#include "app/breadcrumbs/vulkan_memory.h"
#include "base/status.h"
#include "format/experiment/access_record.h"

namespace cairn {

// Threads: any. A change of a buffer costs a copy of the list, which is some bytes a buffer.
class AccessRanges {
 public:
  // Beyond, shaders may access everything.
  static constexpr size_t kMostRanges = 8192;
  // A shader that began to search one list has finished when so many others have been written.
  static constexpr size_t kLists = 16;

  using AddressOf = std::function<uint64_t(VkBuffer)>;  // 0 for none
  using Overflowed = std::function<void()>;

  // kUnsupported, kOutOfMemory: the device refuses the memory. `device` outlives it. flags: of allocations that have
  // addresses. overflowed: called for a list that is too long, with a lock held; may be empty.
  static Result<std::unique_ptr<AccessRanges>> Make(const VulkanDevice& device,
                                                    VkMemoryAllocateFlags flags,
                                                    AddressOf address_of, Overflowed overflowed);

  // Addresses of the parts, as spirv::AccessChecks takes them.
  uint64_t table() const { return address_; }
  uint64_t zeros() const;
  uint64_t spare() const;

  // A buffer that may be asked for its address once it has memory; a sparse one has it from the start.
  // May throw std::bad_alloc, as the others.
  void AddBuffer(VkBuffer buffer, uint64_t size_bytes, bool is_sparse);
  void BindBuffer(VkBuffer buffer, VkDeviceMemory memory);
  void RemoveBuffer(VkBuffer buffer);
  // Nothing may access the buffers in it any more.
  void RemoveMemory(VkDeviceMemory memory);

 private:
  struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    uint64_t size_bytes = 0;
    uint64_t address = 0;  // 0: none yet
    uint64_t memory = 0;
  };
  AccessRanges() = default;
  void Allow(Buffer& buffer, uint64_t memory);
  bool Forbid(const Buffer& buffer);
  void Publish();

  AddressOf address_of_;
  Overflowed overflowed_;
  VulkanBuffer memory_;
  uint64_t address_ = 0;
  std::mutex mutex_;
  std::unordered_map<uint64_t, Buffer> buffers_;  // all guarded by mutex_
  std::multimap<uint64_t, Buffer> by_address_;
  std::unordered_multimap<uint64_t, uint64_t> by_memory_;  // memory, buffer
  size_t next_list_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_ACCESS_RANGES_H_
