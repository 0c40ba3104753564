// SPDX-License-Identifier: Apache-2.0
//
// GPU addresses of buffers and acceleration structures, asked for when they are bound: for devices that do
// not report what has which address (address_binding.h). The entries are those of ObjectNames.
//
// Threads: any. May throw std::bad_alloc.
#ifndef CAIRN_VULKAN_ADDRESSES_H_
#define CAIRN_VULKAN_ADDRESSES_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>

#include "vulkan/device.h"
#include "vulkan/object_names.h"
#include "vulkan/sharded_map.h"

namespace cairn {

class Addresses {
 public:
  Addresses(const DeviceState& device, ObjectNames& names) : device_(device), names_(names) {}

  // Sparse buffers have an address from the start, others once memory is bound.
  void AddBuffer(VkBuffer buffer, const VkBufferCreateInfo& info);
  void OnBound(VkBuffer buffer);
  void ForgetBuffer(VkBuffer buffer);
  void AddStructure(VkAccelerationStructureKHR structure, uint64_t size_bytes);

 private:
  void Ask(VkBuffer buffer, uint64_t size_bytes);

  const DeviceState& device_;
  ObjectNames& names_;
  ShardedMap<uint64_t> sizes_;  // of buffers that may be asked for their address, not bound yet
};

}  // namespace cairn

#endif  // CAIRN_VULKAN_ADDRESSES_H_
