// SPDX-License-Identifier: Apache-2.0
//
// Records the contents of descriptor sets: written into the block when the program writes it
// (recorder/descriptor_sets.h), and bound in recordings by the place of the set's record. No
// reverse look-up happens here: the reader of the block finds the descriptors that lead to a
// destroyed object.
//
// Threads: as the API asks. Pools, and sets that are written, belong to one thread at a time; binding takes
// no lock.
#ifndef CAIRN_APP_VULKAN_SET_CONTENTS_H_
#define CAIRN_APP_VULKAN_SET_CONTENTS_H_

#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>

#include "app/recorder/descriptor_sets.h"
#include "app/vulkan/command_buffer.h"
#include "app/vulkan/descriptor_layouts.h"
#include "app/vulkan/sharded_map.h"

namespace cairn {

struct DescriptorPoolState;

struct DescriptorSetState {
  DescriptorSets::Slot slot;     // without a record where the block has no room
  DescriptorSetPlace place = 0;  // 0 without a record
  const DescriptorLayout* layout = nullptr;
  VkDescriptorSet handle = VK_NULL_HANDLE;
  DescriptorPoolState* pool = nullptr;
  DescriptorSetState* previous = nullptr;
  DescriptorSetState* next = nullptr;
};

// Null for sets of devices without breadcrumbs, and where there was no memory.
DescriptorSetState* SetStateOf(VkDescriptorSet set);
DescriptorLayout* LayoutOf(VkDescriptorSetLayout layout);
void SetLayoutOf(VkDescriptorSetLayout handle, DescriptorLayout* layout) noexcept;

// Adds the sets that the next layer returned. May throw std::bad_alloc: the rest is then unknown.
void AddSets(const DeviceState& device, const VkDescriptorSetAllocateInfo& info,
             const VkDescriptorSet* sets);
// Call it before the sets are freed. Their contents stay readable until the records are reused.
void ForgetSets(const DeviceState& device, uint32_t count, const VkDescriptorSet* sets) noexcept;
void ForgetSetsOf(const DeviceState& device, VkDescriptorPool pool) noexcept;
void ForgetDescriptorPool(const DeviceState& device, VkDescriptorPool pool) noexcept;
// The end of the device. (Pools that the program left.)
void ForgetDescriptorPools(const DeviceState& device, ShardedMap<VkDescriptorPool>& pools) noexcept;

// Writes descriptors. `destructions`: of the device's block.
void WriteSet(const VkWriteDescriptorSet& write, const Destructions& destructions);
void CopySet(const VkCopyDescriptorSet& copy);
// `info` is of a type of descriptor that has a VkDescriptorImageInfo, VkDescriptorBufferInfo, VkBufferView or
// acceleration structure there.
void WriteDescriptor(DescriptorRecord& record, uint32_t binding, VkDescriptorType type,
                     const void* info, const Destructions& destructions);

// A recording binds this set, if it did not before.
void BindSet(CommandBufferState& state, WorkPoint point, uint32_t number, DescriptorSetPlace place);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SET_CONTENTS_H_
