// SPDX-License-Identifier: Apache-2.0
#include "format/elimination/leave_out_class.h"

#include "cairn/marker_types.h"

#include "format/block/marker_kinds.h"

namespace cairn {
namespace {

// Runs units of the GPU's own, or programs of the driver.
bool RunsUnits(uint32_t type) {
  switch (type) {
    case CAIRN_MARKER_BUILD_ACCELERATION_STRUCTURES:
    case CAIRN_MARKER_BUILD_ACCELERATION_STRUCTURES_INDIRECT:
    case CAIRN_MARKER_BUILD_MICROMAPS:
    case CAIRN_MARKER_BUILD_RAY_TRACING_ACCELERATION_STRUCTURE:
    case CAIRN_MARKER_DECODE_FRAME:
    case CAIRN_MARKER_DECODE_VIDEO:
    case CAIRN_MARKER_ENCODE_FRAME:
    case CAIRN_MARKER_ENCODE_VIDEO:
    case CAIRN_MARKER_ESTIMATE_MOTION:
    case CAIRN_MARKER_EXECUTE_META_COMMAND:
    case CAIRN_MARKER_OPTICAL_FLOW_EXECUTE:
    case CAIRN_MARKER_PROCESS_FRAMES: return true;
    default: return false;
  }
}

// Transfers that stay: programs wait for what they write, or they write nothing.
bool IsWaitedFor(uint32_t type) {
  switch (type) {
    case CAIRN_MARKER_ATOMIC_COPY_BUFFER_UINT:
    case CAIRN_MARKER_ATOMIC_COPY_BUFFER_UINT64:
    case CAIRN_MARKER_DISCARD_RESOURCE:
    case CAIRN_MARKER_PRESENT:
    case CAIRN_MARKER_WRITE_BUFFER_IMMEDIATE:
    case CAIRN_MARKER_WRITE_BUFFER_MARKER: return true;
    default: return false;
  }
}

// Copies that are no plain transfers.
bool WritesResults(uint32_t type) {
  switch (type) {
    case CAIRN_MARKER_DECOMPRESS_MEMORY:
    case CAIRN_MARKER_EMIT_RAY_TRACING_ACCELERATION_STRUCTURE_POST_BUILD_INFO:
    case CAIRN_MARKER_WRITE_ACCELERATION_STRUCTURES_PROPERTIES:
    case CAIRN_MARKER_WRITE_MICROMAPS_PROPERTIES: return true;
    default: return false;
  }
}

}  // namespace

LeaveOutClass LeaveOutClassOf(uint32_t type) {
  if (RunsShaders(type) || RunsUnits(type)) return LeaveOutClass::kShader;
  const bool is_copy = (IsTransfer(type) && !IsWaitedFor(type)) || WritesResults(type);
  return is_copy ? LeaveOutClass::kCopy : LeaveOutClass::kStays;
}

}  // namespace cairn
