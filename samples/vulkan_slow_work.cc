// SPDX-License-Identifier: Apache-2.0
#include "vulkan_slow_work.h"

#include <algorithm>
#include <cmath>

#include "embedded/hang.comp.spv.h"
#include "work_clock.h"

namespace sample {
namespace {

constexpr uint32_t kMaxGroups = 65535;
constexpr uint32_t kWordsPerGroup = 64;
constexpr uint32_t kMaxTrips = 1u << 24;
constexpr double kLongEnoughToMeasure = 0.1;

// The two numbers that make a dispatch longer. On a GPU groups run side by side until it is full, so it
// gets all groups and more trips; lavapipe leaves loops after 65,535 trips, so it gets more groups.
struct Size {
  uint32_t group_count;
  uint32_t trips;
};

Size SizeOf(const Device& device, double amount) {
  const double limit = device.on_cpu() ? kMaxGroups : kMaxTrips;
  const auto scaled = static_cast<uint32_t>(std::clamp(amount, 1.0, limit));
  return device.on_cpu() ? Size{scaled, 4096} : Size{kMaxGroups, scaled};
}

double Measure(Device& device, const SlowWork& work) {
  const List list = device.BeginList(device.graphics(), nullptr);
  Dispatch(list, nullptr, work.pipeline, &work.constants, sizeof(work.constants), work.group_count);
  device.EndList(list);
  const WorkClock clock;
  device.WaitOrReportLoss(device.Submit(device.graphics(), {list}), 60);
  return clock.Seconds();
}

}  // namespace

SlowWork CreateSlowWork(Device& device, const char* name, double seconds) {
  SlowWork work;
  const Buffer buffer = device.CreateBuffer(kMaxGroups * kWordsPerGroup);
  work.pipeline =
      CreateComputePipeline(device, name, {kHangCompSpv, sizeof(kHangCompSpv), "SlowCS"}, buffer);
  work.constants.seed = 1;
  double measured = 0;
  double amount = 1;
  // Once in vain: a device may compile when it is first needed, which is no work.
  const Size least = SizeOf(device, amount);
  work.group_count = least.group_count;
  work.constants.trips = least.trips;
  Measure(device, work);
  for (int attempt = 0; attempt < 16; ++attempt) {
    const Size size = SizeOf(device, amount);
    work.group_count = size.group_count;
    work.constants.trips = size.trips;
    measured = std::min(Measure(device, work), Measure(device, work));
    if (measured >= kLongEnoughToMeasure) break;
    amount *= 2;
  }
  const Size size = SizeOf(device, amount * seconds / measured);
  work.group_count = size.group_count;
  work.constants.trips = size.trips;
  return work;
}

}  // namespace sample
