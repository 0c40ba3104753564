// SPDX-License-Identifier: Apache-2.0
#include "truth/why/size.h"

#include <algorithm>

namespace cairn::truth::why {
namespace {

constexpr uint32_t kMostInOneDirection = 65535;
constexpr uint32_t kGroupsOnGpu = 64;
constexpr double kLongEnoughToMeasure = 0.2;
// Parts of the time that was asked for, in which healthy loops end.
constexpr uint32_t kShort = 32;
constexpr uint32_t kInnerTrips = 256;
// Below the trips after which lavapipe leaves.
constexpr uint32_t kMostTripsOnCpu = 60'000;

// `number`, which makes `time` longer, becomes so large that it takes `seconds`.
void Grow(uint32_t* number, uint32_t most, double seconds, const std::function<double()>& time) {
  // The first run compiles.
  time();
  double took = time();
  while (took < kLongEnoughToMeasure && *number <= most / 2) {
    *number *= 2;
    took = time();
  }
  *number =
      static_cast<uint32_t>(std::clamp(*number * seconds / took, 1.0, static_cast<double>(most)));
}

}  // namespace

std::vector<uint32_t> GroupsOf(uint32_t crowd) {
  if (crowd <= kMostInOneDirection) return {crowd, 1, 1};
  return {kMostInOneDirection, crowd / kMostInOneDirection, 1};
}

Size MeasureSize(double seconds, bool on_cpu, const TimeWork& time_loop,
                 const TimeWork& time_crowd) {
  Size size;
  size.groups = on_cpu ? 1 : kGroupsOnGpu;
  size.trips = on_cpu ? UINT32_MAX : 1;
  if (on_cpu) {
    Grow(&size.groups, kMostInOneDirection, seconds, [&] { return time_loop(size); });
  } else {
    Grow(&size.trips, UINT32_MAX, seconds, [&] { return time_loop(size); });
  }
  size.crowd = 1;
  Grow(&size.crowd, kMostInOneDirection * kMostInOneDirection, seconds,
       [&] { return time_crowd(size); });
  return size;
}

uint32_t ShortCount(const Size& size, bool on_cpu) {
  return on_cpu ? 250 : std::max(1u, size.trips / kInnerTrips / kShort);
}

uint32_t ShortGroups(const Size& size, bool on_cpu) {
  return on_cpu ? std::max(1u, size.groups / kShort) : 1;
}

uint32_t LongCount(const Size& size, bool on_cpu) {
  return std::min(size.trips, on_cpu ? kMostTripsOnCpu : UINT32_MAX);
}

}  // namespace cairn::truth::why
