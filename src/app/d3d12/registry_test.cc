// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace cairn {
namespace {

struct Counted {
  std::atomic<uint32_t> count{1};
  bool AddReferenceIfAlive() {
    uint32_t known = count.load();
    while (known != 0 && !count.compare_exchange_weak(known, known + 1)) {
    }
    return known != 0;
  }
};

TEST(RegistryTest, FindsWhatWasAddedUntilItIsRemoved) {
  Registry<Counted> registry;
  Counted first, second;
  int real_first = 0, real_second = 0;
  EXPECT_EQ(registry.Find(&real_first), nullptr);
  registry.Add(&real_first, &first);
  registry.Add(&real_second, &second);
  EXPECT_EQ(registry.Find(&real_first), &first);
  EXPECT_EQ(registry.Find(&real_second), &second);
  EXPECT_EQ(registry.size(), 2u);
  registry.Remove(&real_first, &first);
  EXPECT_EQ(registry.Find(&real_first), nullptr);
  EXPECT_EQ(registry.Find(&real_second), &second);
}

TEST(RegistryTest, ADyingWrapperIsNotHandedOutAndDoesNotRemoveItsSuccessor) {
  Registry<Counted> registry;
  Counted dying, successor;
  int real = 0;
  registry.Add(&real, &dying);
  EXPECT_EQ(registry.FindAndAddReference(&real), &dying);
  EXPECT_EQ(dying.count, 2u);
  dying.count = 0;
  EXPECT_EQ(registry.FindAndAddReference(&real), nullptr);
  registry.Add(&real, &successor);
  registry.Remove(&real, &dying);
  EXPECT_EQ(registry.Find(&real), &successor);
}

TEST(RegistryTest, VisitsEveryEntry) {
  Registry<Counted> registry;
  std::vector<Counted> wrappers(500);
  for (Counted& wrapper : wrappers) registry.Add(&wrapper, &wrapper);
  uint32_t visited = 0;
  registry.ForEach([&](Counted* wrapper) {
    ++visited;
    wrapper->count = 7;
  });
  EXPECT_EQ(visited, 500u);
  for (const Counted& wrapper : wrappers) EXPECT_EQ(wrapper.count, 7u);
}

TEST(RegistryTest, ManyThreadsAtOnce) {
  Registry<Counted> registry;
  constexpr int kThreads = 4, kRounds = 2000;
  std::vector<Counted> shared(16);
  for (Counted& wrapper : shared) registry.Add(&wrapper, &wrapper);
  std::vector<std::thread> threads;
  std::atomic<uint32_t> found = 0;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Counted own;
      for (int i = 0; i < kRounds; ++i) {
        registry.Add(&own, &own);
        if (registry.Find(&own) == &own) ++found;
        Counted& other = shared[static_cast<size_t>(i + t) % shared.size()];
        if (registry.FindAndAddReference(&other) == &other) ++found;
        registry.Remove(&own, &own);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 2u * kThreads * kRounds);
  EXPECT_EQ(registry.size(), shared.size());
  uint32_t references = 0;
  for (const Counted& wrapper : shared) references += wrapper.count - 1;
  EXPECT_EQ(references, uint32_t{kThreads * kRounds});
}

}  // namespace
}  // namespace cairn
