// SPDX-License-Identifier: Apache-2.0
//
// Encodes the marker of VK_NV_device_diagnostic_checkpoints: a pointer-sized value that the driver
// returns unchanged. It names an event and its recording, so that nothing has to be looked up after
// a loss.
#ifndef CAIRN_APP_VULKAN_CHECKPOINT_MARKER_H_
#define CAIRN_APP_VULKAN_CHECKPOINT_MARKER_H_

#include <cstdint>

namespace cairn {

struct CheckpointMarker {
  uint32_t slot;            // of the context's recordings
  uint32_t progress_value;  // ProgressValue (block.h) of the event
};

// Returns a pointer that is never null: a progress value is never 0.
inline const void* EncodeCheckpoint(CheckpointMarker marker) {
  return reinterpret_cast<const void*>(uintptr_t{marker.slot} << 32 | marker.progress_value);
}
inline CheckpointMarker DecodeCheckpoint(const void* pointer) {
  const auto value = reinterpret_cast<uintptr_t>(pointer);
  return {static_cast<uint32_t>(uint64_t{value} >> 32), static_cast<uint32_t>(value)};
}
static_assert(sizeof(uintptr_t) == sizeof(uint64_t));

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_CHECKPOINT_MARKER_H_
