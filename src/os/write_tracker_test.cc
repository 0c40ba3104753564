// SPDX-License-Identifier: Apache-2.0
#include "os/write_tracker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "os/memory.h"
#include "os/testing/watched_memory.h"

namespace cairn {
namespace {

const size_t kPage = PageBytes();

struct Memory {
  explicit Memory(size_t pages) : all(pages * kPage), data(all.data()) {}
  void Set(size_t offset, int value) const {
    reinterpret_cast<volatile char*>(data)[offset] = static_cast<char>(value);
  }
  PageRange Pages(size_t first, size_t count) const {
    const auto begin = reinterpret_cast<uintptr_t>(data) + first * kPage;
    return {begin, begin + count * kPage};
  }
  WatchedMemory all;
  std::byte* data;
};

using Maker = std::unique_ptr<WriteTracker> (*)();
class WriteTrackerTest : public testing::TestWithParam<Maker> {};

TEST_P(WriteTrackerTest, FindsTheWrittenPagesOnce) {
  Memory memory(16);
  const auto tracker = GetParam()();
  if (tracker == nullptr) GTEST_SKIP() << "not here";
  const auto collect = [&](size_t first, size_t count) {
    std::vector<PageRange> written;
    EXPECT_TRUE(tracker->Collect(memory.Pages(first, count), &written));
    std::vector<size_t> pages;
    for (const PageRange& range : written) {
      for (uintptr_t at = range.begin; at < range.end; at += kPage) {
        pages.push_back((at - reinterpret_cast<uintptr_t>(memory.data)) / kPage);
      }
    }
    return pages;
  };
  memory.Set(0, 1);  // before
  ASSERT_TRUE(tracker->Add(memory.Pages(0, 16)));
  EXPECT_EQ(collect(0, 16), std::vector<size_t>{});
  memory.Set(3 * kPage + 5, 2);
  memory.Set(4 * kPage, 3);
  memory.Set(15 * kPage, 4);
  EXPECT_EQ(collect(0, 8), (std::vector<size_t>{3, 4}));
  EXPECT_EQ(collect(0, 16), std::vector<size_t>{15});
  memory.Set(3 * kPage + 5, 2);
  EXPECT_EQ(collect(0, 16), std::vector<size_t>{3}) << "written again, the same";
  EXPECT_EQ(memory.data[4 * kPage], std::byte{3});
  tracker->Remove(memory.Pages(0, 16));
  memory.Set(5 * kPage, 6);
  EXPECT_EQ(memory.data[5 * kPage], std::byte{6});
}

INSTANTIATE_TEST_SUITE_P(All, WriteTrackerTest,
                         testing::Values(&MakeKernelWriteTracker, &MakeFaultWriteTracker),
                         [](const auto& tested) {
                           return tested.param == &MakeKernelWriteTracker ? "kernel" : "faults";
                         });

// Removing the middle keeps what is known of both sides.
TEST_P(WriteTrackerTest, APartIsTrackedNoMore) {
  const Memory memory(8);
  const auto tracker = GetParam()();
  if (tracker == nullptr) GTEST_SKIP() << "not here";
  ASSERT_TRUE(tracker->Add(memory.Pages(0, 8)));
  for (const size_t page : {1u, 3u, 6u}) memory.Set(page * kPage, 1);
  tracker->Remove(memory.Pages(3, 2));
  memory.Set(4 * kPage, 2);
  std::vector<PageRange> written;
  EXPECT_TRUE(tracker->Collect(memory.Pages(0, 3), &written));
  EXPECT_TRUE(tracker->Collect(memory.Pages(5, 3), &written));
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(written[0].begin, memory.Pages(1, 1).begin);
  EXPECT_EQ(written[1].begin, memory.Pages(6, 1).begin);
}

TEST_P(WriteTrackerTest, WritesOfAnotherThreadAreFoundAgainAndAgain) {
  const Memory memory(4);
  const auto tracker = GetParam()();
  if (tracker == nullptr) GTEST_SKIP() << "not here";
  ASSERT_TRUE(tracker->Add(memory.Pages(0, 4)));
  std::atomic<bool> ends{false};
  auto* const value = reinterpret_cast<std::atomic<uint32_t>*>(memory.data + 2 * kPage);
  std::thread writer([&] {
    while (!ends) value->fetch_add(1);
  });
  for (int found = 0; found < 200;) {
    std::vector<PageRange> written;
    EXPECT_TRUE(tracker->Collect(memory.Pages(0, 4), &written));
    if (written.empty()) continue;
    ++found;
    EXPECT_EQ(written.size(), 1u);
    EXPECT_EQ(written[0].begin, memory.Pages(2, 1).begin);
  }
  ends = true;
  writer.join();
  tracker->Remove(memory.Pages(0, 4));
}

}  // namespace
}  // namespace cairn
