// SPDX-License-Identifier: Apache-2.0
//
// The record that the GPU writes for each limited loop. All zeros: the loop was not left yet.
#ifndef CAIRN_FORMAT_EXPERIMENT_LOOP_RECORD_H_
#define CAIRN_FORMAT_EXPERIMENT_LOOP_RECORD_H_

#include <cstddef>
#include <cstdint>

namespace cairn {

// Little-endian words, aligned to 64 bytes. Counts wrap around at 2^32.
struct LoopRecord {
  // How often the loop was left, by its own condition or by the limit; over all invocations.
  uint32_t executions;
  uint32_t most_trips;  // of one execution
  uint32_t cuts;        // executions that the limit ended
  uint32_t first;       // 1 once the words below are written

  // The first execution that the limit ended.
  uint32_t invocation[4];  // see InvocationKind
  // Operands of the comparison that would have ended the loop, as bits, at its last trip.
  uint32_t left;
  uint32_t right;
  uint32_t unused[6];

  bool operator==(const LoopRecord&) const = default;
};
static_assert(sizeof(LoopRecord) == 64);

// The meaning of LoopRecord::invocation.
enum class InvocationKind : uint32_t {
  kUnknown = 0,
  kGlobal,    // GlobalInvocationId x, y, z: compute, task and mesh shaders
  kFragment,  // FragCoord x and y, cut to whole pixels
  kVertex,    // VertexIndex, InstanceIndex
  kLaunch,    // LaunchIdKHR x, y, z: ray tracing
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_EXPERIMENT_LOOP_RECORD_H_
