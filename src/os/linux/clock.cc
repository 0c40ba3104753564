// SPDX-License-Identifier: Apache-2.0
#include "os/clock.h"

#include <time.h>

namespace cairn {
namespace {

uint64_t ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

uint64_t MonotonicNs() {
  return ReadClock(CLOCK_MONOTONIC);
}

uint64_t RealtimeNs() {
  return ReadClock(CLOCK_REALTIME);
}

}  // namespace cairn
