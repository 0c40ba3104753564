// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/call_numbers.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr uint64_t kRound = uint64_t{1} << 32;

TEST(CallNumbers, BelowFourBillionTheyAreWhatTheyAre) {
  for (const uint64_t last : {uint64_t{18'233}, kRound - 1}) {
    EXPECT_EQ(1u, CallNumberOf(1, last));
    EXPECT_EQ(18'233u, CallNumberOf(18'233, last));
  }
  // The snapshot was taken after `last` was requested: no other call number is known.
  EXPECT_EQ(20'000u, CallNumberOf(20'000, 18'233));
}

TEST(CallNumbers, BeyondItIsTheLargestThatThereCanBe) {
  EXPECT_EQ(kRound + 5, CallNumberOf(5, kRound + 5));
  EXPECT_EQ(kRound + 5, CallNumberOf(5, kRound + 6));
  EXPECT_EQ(5u, CallNumberOf(5, kRound + 4));
  EXPECT_EQ(kRound - 1, CallNumberOf(0xFFFFFFFF, kRound));
  EXPECT_EQ(3 * kRound + 7, CallNumberOf(7, 3 * kRound + 7));
  EXPECT_EQ(2 * kRound + 8, CallNumberOf(8, 3 * kRound + 7));
  EXPECT_EQ(~uint64_t{0}, CallNumberOf(0xFFFFFFFF, ~uint64_t{0}));
}

TEST(CallNumbers, NoneStaysNone) {
  EXPECT_EQ(0u, CallNumberOf(0, 0));
  EXPECT_EQ(0u, CallNumberOf(0, 5 * kRound + 3));
}

// From the definition: of every number not older than a round the low half brings it back.
TEST(CallNumbers, EveryRecentNumberComesBack) {
  for (const uint64_t last : {kRound + 1, kRound + 0x8000'0000, 2 * kRound - 1, 2 * kRound,
                              7 * kRound + 12'345, (uint64_t{1} << 62) + 99}) {
    for (const uint64_t age : {uint64_t{0}, uint64_t{1}, uint64_t{1'000}, uint64_t{0x7FFF'FFFF},
                               uint64_t{0x8000'0000}, kRound - 2, kRound - 1}) {
      const uint64_t number = last - age;
      if (static_cast<uint32_t>(number) == 0) continue;
      EXPECT_EQ(number, CallNumberOf(static_cast<uint32_t>(number), last)) << last << " " << age;
    }
  }
}

TEST(CallNumbers, OfASnapshotOnlyBeginsHaveThem) {
  Snapshot snapshot;
  snapshot.events.resize(3);
  snapshot.events[0].call = 9;
  snapshot.events[1].kind = EventKind::kEnd;
  snapshot.events[1].call = 9;
  RestoreCallNumbers(&snapshot, kRound + 100);
  EXPECT_EQ(kRound + 9, snapshot.events[0].call);
  EXPECT_EQ(9u, snapshot.events[1].call);
  EXPECT_EQ(0u, snapshot.events[2].call);
}

}  // namespace
}  // namespace cairn
