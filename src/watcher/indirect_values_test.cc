// SPDX-License-Identifier: Apache-2.0
#include "watcher/indirect_values.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "cairn/marker_types.h"

#include "format/block/indirect_values.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/test_block.h"

namespace cairn {
namespace {

// A dispatch whose arguments lie at this address of the test's own memory.
Snapshot SnapshotOf(uint64_t address) {
  TestBlock block;
  const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 1, "Main");
  const uint32_t begin = block.Begin(list, CAIRN_MARKER_DISPATCH_INDIRECT);
  const ArgumentNumbers numbers = IndirectArguments(1, 16).main;
  block.BindAddress(list, static_cast<BindPoint>(numbers.point), numbers.first, numbers.rest);
  block.BindAddress(list, static_cast<BindPoint>(kIndirectHostAddress), 0, address);
  block.End(list, begin);
  return std::move(SnapshotFromBlock(block.bytes(), 1).value());
}

TEST(IndirectValues, AreReadWhereTheRecordingSaysThatTheyLie) {
  const uint32_t values[] = {0xFEFEFEFE, 2, 3, 4};
  Snapshot snapshot = SnapshotOf(reinterpret_cast<uintptr_t>(values));
  ReadIndirectValues(OwnProcessId(), &snapshot);
  const Event& event = snapshot.events[2];
  EXPECT_EQ(event.type, static_cast<uint16_t>(kIndirectValues));
  EXPECT_EQ(snapshot.binds[event.detail].slot, 0xFEFEFEFE);
  EXPECT_EQ(snapshot.binds[event.detail].value, uint64_t{3} << 32 | 2);
  EXPECT_EQ(snapshot.events[1].type, static_cast<uint16_t>(ArgumentsPoint::kIndirect));
}

TEST(IndirectValues, WhatCannotBeReadIsLeftOutAndTheAddressWithIt) {
  for (const uint64_t address : {uint64_t{16}, UINT64_MAX - 3, uint64_t{0}}) {
    Snapshot snapshot = SnapshotOf(address);
    ReadIndirectValues(OwnProcessId(), &snapshot);
    const Event& event = snapshot.events[2];
    EXPECT_EQ(event.type, static_cast<uint16_t>(kIndirectHostAddress)) << address;
    EXPECT_EQ(snapshot.binds[event.detail].value, 0u) << address;
    EXPECT_EQ(snapshot.binds[event.detail].slot, 0u) << address;
  }
}

TEST(IndirectValues, OfAProcessThatIsNotThereNothingIsRead) {
  const uint32_t values[] = {1, 2, 3};
  Snapshot snapshot = SnapshotOf(reinterpret_cast<uintptr_t>(values));
  ReadIndirectValues(0x7FFFFFFF, &snapshot);
  EXPECT_EQ(snapshot.events[2].type, static_cast<uint16_t>(kIndirectHostAddress));
}

}  // namespace
}  // namespace cairn
