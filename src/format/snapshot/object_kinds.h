// SPDX-License-Identifier: Apache-2.0
//
// The meaning of Object::kind: D3D12_DRED_ALLOCATION_TYPE, kVulkanObject and a VkObjectType,
// numbers of the two APIs' public headers, which nothing here includes, or kD3D11Object and a
// D3D11Kind.
#ifndef CAIRN_FORMAT_SNAPSHOT_OBJECT_KINDS_H_
#define CAIRN_FORMAT_SNAPSHOT_OBJECT_KINDS_H_

#include <cstdint>
#include <string_view>

#include "format/block/block.h"

namespace cairn {

inline constexpr uint32_t kD3D12QueueKind = 19;
inline constexpr uint32_t kD3D12PipelineStateKind = 21;
inline constexpr uint32_t kD3D12CommandListKind = 22;
inline constexpr uint32_t kD3D12FenceKind = 23;
inline constexpr uint32_t kD3D12DescriptorHeapKind = 24;
inline constexpr uint32_t kD3D12StateObjectKind = 42;

inline constexpr uint32_t kVulkanQueueKind = kVulkanObject | 4;
inline constexpr uint32_t kVulkanSemaphoreKind = kVulkanObject | 5;
inline constexpr uint32_t kVulkanCommandBufferKind = kVulkanObject | 6;
inline constexpr uint32_t kVulkanFenceKind = kVulkanObject | 7;
inline constexpr uint32_t kVulkanMemoryKind = kVulkanObject | 8;
inline constexpr uint32_t kVulkanBufferKind = kVulkanObject | 9;
inline constexpr uint32_t kVulkanImageKind = kVulkanObject | 10;
inline constexpr uint32_t kVulkanBufferViewKind = kVulkanObject | 13;
inline constexpr uint32_t kVulkanImageViewKind = kVulkanObject | 14;
inline constexpr uint32_t kVulkanPipelineKind = kVulkanObject | 19;
inline constexpr uint32_t kVulkanSamplerKind = kVulkanObject | 21;
inline constexpr uint32_t kVulkanAccelerationStructureKind = kVulkanObject | 1000150000;

// Returns true for kinds of objects that queues wait for and signal.
constexpr bool IsSemaphoreKind(uint32_t kind) {
  return kind == kVulkanSemaphoreKind || kind == kD3D12FenceKind;
}
// Returns true for kinds of objects that only the CPU waits for.
constexpr bool IsFenceKind(uint32_t kind) {
  return kind == kVulkanFenceKind;
}

// Returns true if Object::gpu_address of this kind is an address. That of a descriptor heap is a
// handle.
constexpr bool HasGpuAddresses(uint32_t kind) {
  return kind != kD3D12DescriptorHeapKind;
}

// "resource", "command buffer"; "object" for 0 and for kinds that this version does not know.
std::string_view ObjectKindWord(uint32_t kind);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_OBJECT_KINDS_H_
