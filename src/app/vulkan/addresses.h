// SPDX-License-Identifier: Apache-2.0
//
// GPU addresses of buffers and acceleration structures, asked for when they are bound: for devices that do
// not report what has which address (address_binding.h). The entries are those of ObjectNames.
//
// Threads: any. May throw std::bad_alloc.
#ifndef CAIRN_APP_VULKAN_ADDRESSES_H_
#define CAIRN_APP_VULKAN_ADDRESSES_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>

#include "app/vulkan/device.h"
#include "app/vulkan/object_names.h"
#include "app/vulkan/sharded_map.h"

namespace cairn {

// True for a buffer that may be asked for its address.
bool WantsAddress(const VkBufferCreateInfo& info);

class Addresses {
 public:
  Addresses(const DeviceState& device, ObjectNames& names) : device_(device), names_(names) {}

  // Sparse buffers have an address from the start, others once memory is bound.
  void AddBuffer(VkBuffer buffer, const VkBufferCreateInfo& info);
  void OnBound(VkBuffer buffer);
  void ForgetBuffer(VkBuffer buffer);
  // Adds a structure. It has an address if its buffer has one.
  void AddStructure(VkAccelerationStructureKHR structure, VkBuffer buffer, uint64_t size_bytes);

 private:
  struct Buffer {
    uint64_t size_bytes = 0;
    bool has_memory = false;  // or needs none: sparse
  };

  void Ask(VkBuffer buffer, uint64_t size_bytes);

  const DeviceState& device_;
  ObjectNames& names_;
  ShardedMap<Buffer> buffers_;  // that may be asked for their address, as soon as they have memory
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_ADDRESSES_H_
