// SPDX-License-Identifier: Apache-2.0
//
// The arguments of commands whose sizes lie in arrays and structs of the application: codegen/vulkan.py says which
// command calls which. An array that is null though it is counted is the application's mistake: it counts as empty.
#ifndef CAIRN_APP_VULKAN_COMMAND_ARGUMENTS_H_
#define CAIRN_APP_VULKAN_COMMAND_ARGUMENTS_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <cstdlib>

#include "app/vulkan/command_buffer.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/host_memory.h"
#include "format/block/indirect_values.h"
#include "format/block/work_arguments.h"

namespace cairn {

// Notes that the command that is about to begin, and no other, uses this buffer.
inline void NoteUsed(CommandBufferState& state, BindPoint point, uint32_t slot, VkBuffer buffer) {
  if (buffer == VK_NULL_HANDLE || state.open == nullptr) return;
  NoteBind(state, point, slot, state.device->objects->names.PlaceOf(buffer), /*is_address=*/false);
}
// Records that the command reads its arguments from this buffer, and their number from `count`.
inline void NoteIndirect(VkCommandBuffer command_buffer, VkBuffer arguments,
                         VkBuffer count = VK_NULL_HANDLE) {
  CommandBufferState& state = *CommandBufferOf(command_buffer);
  NoteUsed(state, BindPoint::kIndirectArguments, 0, arguments);
  NoteUsed(state, BindPoint::kIndirectArguments, 1, count);
}
// Records that the command writes this buffer.
inline void NoteWritten(VkCommandBuffer command_buffer, VkBuffer destination,
                        VkBuffer source = VK_NULL_HANDLE) {
  CommandBufferState& state = *CommandBufferOf(command_buffer);
  NoteUsed(state, BindPoint::kDestination, 0, destination);
  NoteUsed(state, BindPoint::kSource, 0, source);
}

// Records, once the command has begun, the address of its first arguments in the program's memory,
// if it is known.
inline void NoteHostAddress(CommandBufferState& state, VkBuffer arguments, VkDeviceSize offset) {
  if (state.open == nullptr || arguments == VK_NULL_HANDLE) return;
  const uint64_t address = HostAddressOf(state.device->handle, arguments, offset);
  if (address != 0) state.open->NoteArguments({{kIndirectHostAddress, 0, address}, {}});
}

// VkBufferCopy, VkBufferCopy2. Programs that copy a thousand regions at a time do not wait for a sum.
inline constexpr uint32_t kMostRegionsCounted = 16;
template <typename Region>
WorkArguments BufferCopyArguments(uint32_t count, const Region* regions) {
  if (regions == nullptr) count = 0;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count && i < kMostRegionsCounted; ++i) bytes += regions[i].size;
  // 0: unknown.
  return ByteArguments(count, count > kMostRegionsCounted ? 0 : bytes);
}
template <typename Info>
WorkArguments BufferCopyArguments(const Info* info) {
  return BufferCopyArguments(info->regionCount, info->pRegions);
}

// Returns the extent of a region that is copied or resolved.
template <typename Region>
const VkExtent3D& ExtentOf(const Region& region) {
  if constexpr (requires { region.imageExtent; }) {
    return region.imageExtent;
  } else {
    return region.extent;
  }
}
inline VkExtent3D ExtentOf(const VkOffset3D (&corners)[2]) {
  const auto length = [](int32_t from, int32_t to) {
    return static_cast<uint32_t>(from < to ? int64_t{to} - from : int64_t{from} - to);
  };
  return {length(corners[0].x, corners[1].x), length(corners[0].y, corners[1].y),
          length(corners[0].z, corners[1].z)};
}
inline VkExtent3D ExtentOf(const VkImageBlit& region) {
  return ExtentOf(region.dstOffsets);
}
inline VkExtent3D ExtentOf(const VkImageBlit2& region) {
  return ExtentOf(region.dstOffsets);
}

template <typename Region>
WorkArguments ImageCopyArguments(uint32_t count, const Region* regions) {
  if (regions == nullptr || count == 0) return TexelArguments(0, 0, 0, 0);
  const VkExtent3D extent = ExtentOf(regions[0]);
  return TexelArguments(extent.width, extent.height, extent.depth, count);
}
template <typename Info>
WorkArguments ImageCopyArguments(const Info* info) {
  return ImageCopyArguments(info->regionCount, info->pRegions);
}

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_COMMAND_ARGUMENTS_H_
