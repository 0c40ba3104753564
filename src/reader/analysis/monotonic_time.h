// SPDX-License-Identifier: Apache-2.0
//
// Times of incidents and snapshots on the clock of submissions. Part of findings.h.
#ifndef CAIRN_READER_ANALYSIS_MONOTONIC_TIME_H_
#define CAIRN_READER_ANALYSIS_MONOTONIC_TIME_H_

#include <cstdint>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Returns CLOCK_MONOTONIC at a time of CLOCK_REALTIME in the life of the process; 0: not known.
inline uint64_t MonotonicOf(const Process& process, uint64_t realtime_ns) {
  if (process.start_monotonic_ns == 0 || realtime_ns < process.start_time_ns) return 0;
  return realtime_ns - process.start_time_ns + process.start_monotonic_ns;
}

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_MONOTONIC_TIME_H_
