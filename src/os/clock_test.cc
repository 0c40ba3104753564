// SPDX-License-Identifier: Apache-2.0
#include "os/clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace cairn {
namespace {

// The standard library's clocks are the same kernel clocks here: a reading lies between two others.
template <typename Clock>
uint64_t Now() {
  return static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

TEST(Clock, MonotonicIsTheKernelsClock) {
  const uint64_t before = Now<std::chrono::steady_clock>();
  const uint64_t now = MonotonicNs();
  const uint64_t after = Now<std::chrono::steady_clock>();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(Clock, RealtimeCountsFrom1970) {
  constexpr uint64_t kYear2020Ns = 1'577'836'800'000'000'000;
  constexpr uint64_t kYear2200Ns = 7'258'118'400'000'000'000;
  EXPECT_GT(RealtimeNs(), kYear2020Ns);
  EXPECT_LT(RealtimeNs(), kYear2200Ns);
}

}  // namespace
}  // namespace cairn
