// SPDX-License-Identifier: Apache-2.0
#include "os/clock.h"

#include "os/linux_half.h"
#include "os/windows/system.h"

namespace cairn {

uint64_t MonotonicNs() {
  // Wine's counter runs by another clock than the watcher's.
  if (const LinuxHalf* const half = FindLinuxHalf()) return half->MonotonicNs();
  LARGE_INTEGER ticks;
  LARGE_INTEGER ticks_a_second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&ticks_a_second);
  const auto now = static_cast<uint64_t>(ticks.QuadPart);
  const auto frequency = static_cast<uint64_t>(ticks_a_second.QuadPart);
  // Compute in two parts: the product of all ticks would overflow.
  return now / frequency * 1'000'000'000 + now % frequency * 1'000'000'000 / frequency;
}

uint64_t RealtimeNs() {
  // The time from 1601 to 1970, in the system's units of 100 ns.
  constexpr uint64_t kToUnixEpoch = 116'444'736'000'000'000;
  FILETIME time;
  GetSystemTimePreciseAsFileTime(&time);
  const uint64_t units = uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
  return (units - kToUnixEpoch) * 100;
}

}  // namespace cairn
