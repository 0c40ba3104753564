// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/thread_number.h"

#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>
#include <vector>

namespace cairn {
namespace {

TEST(ThreadNumber, AThreadThatFollowsAnotherTakesItsNumber) {
  const uint32_t own = ThreadNumber();
  std::set<uint32_t> numbers;
  for (int i = 0; i < 100; ++i) {
    std::thread([&] { numbers.insert(ThreadNumber()); }).join();
  }
  EXPECT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers.count(own), 0u);
  EXPECT_EQ(ThreadNumber(), own);
}

TEST(ThreadNumber, LivingThreadsHaveDifferentNumbersFromTheSmallestOn) {
  constexpr uint32_t kThreads = 100;  // more than a word has bits
  std::vector<uint32_t> numbers(kThreads);
  std::vector<std::thread> threads;
  std::latch all_asked(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      numbers[i] = ThreadNumber();
      all_asked.arrive_and_wait();
      EXPECT_EQ(ThreadNumber(), numbers[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint32_t> all(numbers.begin(), numbers.end());
  all.insert(ThreadNumber());
  EXPECT_EQ(all.size(), kThreads + 1);
  EXPECT_EQ(*all.rbegin(), kThreads);
}

}  // namespace
}  // namespace cairn
