// SPDX-License-Identifier: Apache-2.0
#include "os/quick_thread_slot.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace cairn {
namespace {

TEST(QuickThreadSlot, EachThreadHasItsOwnPointer) {
  QuickThreadSlot slot;
  int here = 0;
  slot.Set(&here);
  EXPECT_EQ(slot.Get(), nullptr) << "it is closed";
  slot.Open();
  ASSERT_TRUE(slot.is_open());
  EXPECT_EQ(slot.Get(), nullptr);
  slot.Set(&here);
  EXPECT_EQ(slot.Get(), &here);
  std::thread([&slot] {
    EXPECT_EQ(slot.Get(), nullptr);
    int there = 0;
    slot.Set(&there);
    EXPECT_EQ(slot.Get(), &there);
  }).join();
  EXPECT_EQ(slot.Get(), &here);
}

TEST(QuickThreadSlot, ThereAreNotMoreThanTheSystemHas) {
  std::vector<std::unique_ptr<QuickThreadSlot>> slots;
  do {
    slots.push_back(std::make_unique<QuickThreadSlot>());
    slots.back()->Open();
  } while (slots.back()->is_open() && slots.size() < 100);
  EXPECT_LT(slots.size(), 65u);
  std::vector<char> values(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) slots[i]->Set(&values[i]);
  for (size_t i = 0; i + 1 < slots.size(); ++i) EXPECT_EQ(slots[i]->Get(), &values[i]) << i;
  EXPECT_EQ(slots.back()->Get(), nullptr);
}

}  // namespace
}  // namespace cairn
