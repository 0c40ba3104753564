// SPDX-License-Identifier: Apache-2.0
//
// The amount of work that looks like a hang on this device, and still ends.
#ifndef CAIRN_TESTS_TRUTH_WHY_SIZE_H_
#define CAIRN_TESTS_TRUTH_WHY_SIZE_H_

#include <cstdint>
#include <functional>
#include <vector>

namespace cairn::truth::why {

// How much work takes the seconds that were asked for, on this device.
struct Size {
  // Of a loop. On a GPU groups run side by side, and make as many trips as it takes; lavapipe leaves all loops of an
  // invocation after 65,535 trips, so there it takes more groups.
  uint32_t groups = 0;
  uint32_t trips = 0;
  uint32_t crowd = 0;  // groups without loops
};

// Threes of groups that are no more than 65,535 in a direction, as the arguments of a dispatch.
std::vector<uint32_t> GroupsOf(uint32_t crowd);

// `time_loop` and `time_crowd` run work of that size, and return how many seconds it took.
using TimeWork = std::function<double(const Size& size)>;
Size MeasureSize(double seconds, bool on_cpu, const TimeWork& time_loop,
                 const TimeWork& time_crowd);

// Constants::count of healthy_loops and writer, and their groups: that takes a while, but no watchdog's time.
uint32_t ShortCount(const Size& size, bool on_cpu);
uint32_t ShortGroups(const Size& size, bool on_cpu);
// Trips of a loop that ends by its condition.
uint32_t LongCount(const Size& size, bool on_cpu);

}  // namespace cairn::truth::why

#endif  // CAIRN_TESTS_TRUTH_WHY_SIZE_H_
