// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_CLOCK_H_
#define CAIRN_OS_CLOCK_H_

#include <cstdint>

namespace cairn {

// Nanoseconds since an arbitrary start, never going back, equal in all processes of this machine
// (CLOCK_MONOTONIC). For durations and order.
uint64_t MonotonicNs();

// Nanoseconds since 1970-01-01 UTC (CLOCK_REALTIME). For dates that people read; may jump.
uint64_t RealtimeNs();

}  // namespace cairn

#endif  // CAIRN_OS_CLOCK_H_
