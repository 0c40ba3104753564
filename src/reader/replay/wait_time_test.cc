// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/wait_time.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kTimeout = 3'000 * kMs;

// Looks every `step_ns` from 5 s on.
WaitTime Watched(uint64_t passed_ns, uint64_t step_ns) {
  WaitTime time(5'000 * kMs, kTimeout);
  for (uint64_t now = step_ns; now <= passed_ns; now += step_ns) time.Look(5'000 * kMs + now);
  return time;
}

TEST(WaitTime, WhoLooksOftenSeesAll) {
  const WaitTime time = Watched(2'000 * kMs, kMs);
  EXPECT_EQ(2'000 * kMs, time.seen_ns());
  EXPECT_EQ(2'000 * kMs, time.passed_ns());
}

TEST(WaitTime, WhoDidNotRunHasNotSeenIt) {
  WaitTime time = Watched(1'000 * kMs, kMs);
  time.Look(5'000 * kMs + 11'000 * kMs);
  EXPECT_EQ(1'250 * kMs, time.seen_ns());
  EXPECT_EQ(11'000 * kMs, time.passed_ns());
  // A clock of another core.
  time.Look(5'000 * kMs);
  EXPECT_EQ(11'000 * kMs, time.passed_ns());
}

TEST(WaitTime, AHangIsNotMadeByAPauseOfWhoWatches) {
  WaitTime time = Watched(1'000 * kMs, kMs);
  time.Look(5'000 * kMs + 60'000 * kMs);
  EXPECT_EQ(Punctuality::kInTime, PunctualityOf(time, /*ended=*/false, kTimeout));
  // The work ended meanwhile, and the time is unknown. It is neither clean nor a hang.
  EXPECT_EQ(Punctuality::kUnknown, PunctualityOf(time, /*ended=*/true, kTimeout));
}

// Also if the time-out is shorter than the usual limit of a pause.
TEST(WaitTime, APauseIsAtMostAQuarterOfTheTimeOut) {
  constexpr uint64_t kShort = kMs;
  WaitTime time(5'000 * kMs, kShort);
  for (const uint64_t look_ms : {200, 400, 600, 800}) {
    time.Look(5'000 * kMs + look_ms * kMs);
    EXPECT_EQ(Punctuality::kInTime, PunctualityOf(time, /*ended=*/false, kShort)) << look_ms;
    EXPECT_EQ(Punctuality::kUnknown, PunctualityOf(time, /*ended=*/true, kShort)) << look_ms;
  }
  EXPECT_EQ(kShort, time.seen_ns());
  time.Look(5'000 * kMs + 1'000 * kMs);
  EXPECT_EQ(Punctuality::kTooLate, PunctualityOf(time, /*ended=*/false, kShort));
  // A time-out of 0 makes no sense, but must end.
  WaitTime none(0, 0);
  none.Look(kMs);
  EXPECT_EQ(1u, none.seen_ns());
}

TEST(WaitTime, WhatTookTooLongIsAHangAlsoIfItEndedJustBeforeTheLook) {
  const WaitTime late = Watched(3'001 * kMs, kMs);
  EXPECT_EQ(Punctuality::kTooLate, PunctualityOf(late, /*ended=*/false, kTimeout));
  EXPECT_EQ(Punctuality::kTooLate, PunctualityOf(late, /*ended=*/true, kTimeout));
  const WaitTime punctual = Watched(3'000 * kMs, kMs);
  EXPECT_EQ(Punctuality::kInTime, PunctualityOf(punctual, /*ended=*/false, kTimeout));
  EXPECT_EQ(Punctuality::kInTime, PunctualityOf(punctual, /*ended=*/true, kTimeout));
}

}  // namespace
}  // namespace cairn
