// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_FORMAT_TRACE_FRAME_RANGE_H_
#define CAIRN_FORMAT_TRACE_FRAME_RANGE_H_

#include <cstdint>

namespace cairn {

inline constexpr uint64_t kNoFrame = ~uint64_t{0};

// Frames as the program counts: from 0.
struct FrameRange {
  uint64_t first = 0;
  uint64_t end = kNoFrame;  // behind the last; kNoFrame: all from `first` on
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_FRAME_RANGE_H_
