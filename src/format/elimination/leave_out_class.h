// SPDX-License-Identifier: Apache-2.0
//
// The classes of work in a command list that a run can leave out.
#ifndef CAIRN_FORMAT_ELIMINATION_LEAVE_OUT_CLASS_H_
#define CAIRN_FORMAT_ELIMINATION_LEAVE_OUT_CLASS_H_

#include <cstddef>
#include <cstdint>

namespace cairn {

enum class LeaveOutClass : uint8_t {
  kStays = 0,   // barriers, passes, queries, state; whatever is not known
  kShader = 1,  // draws, dispatches, rays, builds, video: what runs programs, or units of its own
  kCopy = 2,    // copies, clears, fills, resolves: what others read
};
inline constexpr size_t kLeaveOutClasses = 3;

// `type`: a CairnMarkerType.
LeaveOutClass LeaveOutClassOf(uint32_t type);

}  // namespace cairn

#endif  // CAIRN_FORMAT_ELIMINATION_LEAVE_OUT_CLASS_H_
