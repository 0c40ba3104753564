// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/handle_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace cairn {
namespace {

HandleTree tree;
int values[8];

TEST(HandleTree, FindsWhatWasSetAndNothingElse) {
  EXPECT_EQ(tree.Find(0x7f0012345678), nullptr);
  EXPECT_TRUE(tree.Set(0x7f0012345678, &values[0]));
  EXPECT_EQ(tree.Find(0x7f0012345678), &values[0]);
  const std::vector<uint64_t> others = {0x7f0012345670, 0x7f0012345680, 0x7f1012345678,
                                        0x6f0012345678, 0x7f0012365678, 0x000012345678};
  for (const uint64_t other : others) {
    EXPECT_EQ(tree.Find(other), nullptr) << other;
  }
  EXPECT_TRUE(tree.Set(0x7f0012345678, &values[1]));
  EXPECT_EQ(tree.Find(0x7f0012345678), &values[1]);
  EXPECT_TRUE(tree.Set(0x7f0012345678, nullptr));
  EXPECT_EQ(tree.Find(0x7f0012345678), nullptr);
}

TEST(HandleTree, TakesValuesThatAreNoPointers) {
  const uint64_t handles[] = {
      1, 2, 3, 7, 0xFFFFFFFFFFFFFFFF, uint64_t{1} << 47, 0x8000000000000008};
  for (size_t i = 0; i < std::size(handles); ++i) {
    EXPECT_EQ(tree.Find(handles[i]), nullptr);
    EXPECT_TRUE(tree.Set(handles[i], &values[i]));
  }
  for (size_t i = 0; i < std::size(handles); ++i) {
    EXPECT_EQ(tree.Find(handles[i]), &values[i]);
    EXPECT_TRUE(tree.Set(handles[i], nullptr));
    EXPECT_EQ(tree.Find(handles[i]), nullptr);
  }
}

TEST(HandleTree, BothEndsOfTheRange) {
  const uint64_t last = (uint64_t{1} << 47) - 8;
  for (const uint64_t handle : {uint64_t{0}, uint64_t{8}, last}) {
    EXPECT_TRUE(tree.Set(handle, &values[3]));
    EXPECT_EQ(tree.Find(handle), &values[3]);
    EXPECT_TRUE(tree.Set(handle, nullptr));
  }
}

// Each thread owns the handles that leave its remainder; all share the nodes of the tree.
TEST(HandleTree, ThreadsAddAndRemoveWhileOthersLook) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kHandles = 4096;
  static HandleTree shared;
  const auto handle = [](uint64_t i) { return uint64_t{0x550000000000} + i * 4096 + i * 8; };
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = t; i < kHandles; i += kThreads) {
        shared.Set(handle(i), &values[t]);
        shared.Set(i * 2 + 1, &values[t]);
        // A handle of another thread is found or not, but never with a wrong value.
        const uint64_t neighbour = i ^ 1;
        void* const seen = shared.Find(handle(neighbour));
        if (seen != nullptr && seen != &values[neighbour % kThreads]) ++wrong;
        if (shared.Find(handle(i)) != &values[t]) ++wrong;
        if (shared.Find(i * 2 + 1) != &values[t]) ++wrong;
        if (i % 3 == 0) shared.Set(handle(i), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  for (uint64_t i = 0; i < kHandles; ++i) {
    EXPECT_EQ(shared.Find(handle(i)), i % 3 == 0 ? nullptr : &values[i % kThreads]);
  }
}

TEST(HandleMap, IsTyped) {
  struct Thing {};
  static HandleMap<Thing*, int> map;
  Thing thing;
  const auto aligned = reinterpret_cast<Thing*>(reinterpret_cast<uintptr_t>(&thing) / 8 * 8);
  EXPECT_TRUE(map.Set(aligned, &values[2]));
  EXPECT_EQ(map.Find(aligned), &values[2]);
  map.Erase(aligned);
  EXPECT_EQ(map.Find(aligned), nullptr);
}

}  // namespace
}  // namespace cairn
