// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/fence_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kFence = 1;
constexpr uint64_t kOther = 2;
constexpr uint64_t kQueue = 10;
constexpr uint64_t kCopyQueue = 11;

TEST(FenceModelTest, InitialValueIsReached) {
  FenceModel model;
  model.Create(kFence, 3);
  EXPECT_TRUE(model.Reachable(kFence, 3));
  EXPECT_FALSE(model.Reachable(kFence, 4));
  EXPECT_FALSE(model.Reachable(kOther, 0));
}

TEST(FenceModelTest, AwaitedValueIsGivenOnceWhenItsSignalIsEnqueued) {
  FenceModel model;
  model.Create(kFence, 0);
  model.Await({{kFence, 2}});
  model.SignalFromQueue(kQueue, kFence, 1);
  EXPECT_THAT(model.TakeReachable(), IsEmpty());
  model.SignalFromQueue(kQueue, kFence, 2);
  EXPECT_THAT(model.TakeReachable(), ElementsAre(ElementsAre(FenceValue{kFence, 2})));
  EXPECT_THAT(model.TakeReachable(), IsEmpty());
}

TEST(FenceModelTest, SignalBehindAWaitCountsWhenTheWaitCanEnd) {
  FenceModel model;
  model.Create(kFence, 0);
  model.Create(kOther, 0);
  model.WaitOnQueue(kQueue, kOther, 5);
  model.SignalFromQueue(kQueue, kFence, 1);
  EXPECT_FALSE(model.Reachable(kFence, 1));
  EXPECT_TRUE(model.Blocked(kQueue));
  model.SignalFromCpu(kOther, 5);
  EXPECT_TRUE(model.Reachable(kFence, 1));
  EXPECT_FALSE(model.Blocked(kQueue));
}

TEST(FenceModelTest, QueuesThatWaitForEachOtherInTurn) {
  FenceModel model;
  model.Create(kFence, 0);
  model.Create(kOther, 0);
  model.WaitOnQueue(kCopyQueue, kFence, 1);
  model.SignalFromQueue(kCopyQueue, kOther, 1);
  model.WaitOnQueue(kQueue, kOther, 1);
  model.SignalFromQueue(kQueue, kFence, 2);
  EXPECT_FALSE(model.Reachable(kFence, 2));
  model.SignalFromCpu(kFence, 1);
  EXPECT_TRUE(model.Reachable(kOther, 1));
  EXPECT_TRUE(model.Reachable(kFence, 2));
}

TEST(FenceModelTest, ValueSetBackIsReachableNoLonger) {
  FenceModel model;
  model.Create(kFence, 0);
  model.SignalFromQueue(kQueue, kFence, 5);
  model.SignalFromCpu(kFence, 0);
  EXPECT_FALSE(model.Reachable(kFence, 1));
}

TEST(FenceModelTest, OneOfSeveralIsEnough) {
  FenceModel model;
  model.Create(kFence, 0);
  model.Create(kOther, 0);
  model.Await({{kFence, 2}, {kOther, 7}});
  EXPECT_THAT(model.TakeReachable(), IsEmpty());
  model.SignalFromQueue(kQueue, kOther, 7);
  EXPECT_THAT(model.TakeReachable(), ElementsAre(ElementsAre(FenceValue{kOther, 7})));
  model.SignalFromQueue(kQueue, kFence, 2);
  EXPECT_THAT(model.TakeReachable(), IsEmpty());
}

TEST(FenceModelTest, TheCpuWaitsForNoFenceThatEnded) {
  FenceModel model;
  model.Create(kFence, 0);
  model.Create(kOther, 0);
  model.Await({{kOther, 9}});
  model.Await({{kOther, 9}, {kFence, 1}});
  model.Remove(kOther);
  EXPECT_THAT(model.TakeReachable(), IsEmpty());
  model.SignalFromCpu(kFence, 1);
  EXPECT_THAT(model.TakeReachable(), ElementsAre(ElementsAre(FenceValue{kFence, 1})));
}

// A trace may ask for any number of events.
TEST(FenceModelTest, WaitsHaveABound) {
  FenceModel model;
  model.Create(kFence, 0);
  model.Create(kOther, 0);
  constexpr uint64_t kMost = FenceModel::kMostAwaited;
  for (uint64_t i = 0; i < kMost; ++i) {
    EXPECT_TRUE(model.Await({{kFence, kMost + i}}));
    EXPECT_THAT(model.TakeReachable(), IsEmpty());
    model.SignalFromQueue(kQueue, kFence, i);
  }
  EXPECT_FALSE(model.Await({{kOther, 1}}));
  model.SignalFromCpu(kOther, 1);
  EXPECT_THAT(model.TakeReachable(), IsEmpty()) << "not kept";
  model.SignalFromCpu(kFence, kMost + 1);
  EXPECT_THAT(model.TakeReachable(), ElementsAre(ElementsAre(FenceValue{kFence, kMost}),
                                                 ElementsAre(FenceValue{kFence, kMost + 1})));
  EXPECT_TRUE(model.Await({{kOther, 1}, {kOther, 2}})) << "one value, the least";
  EXPECT_TRUE(model.Await({{kOther, 3}}));
  EXPECT_FALSE(model.Await({{kOther, 4}}));
  EXPECT_THAT(model.TakeReachable(), ElementsAre(ElementsAre(FenceValue{kOther, 1})));
  model.Remove(kFence);
  const std::vector<FenceValue> many(kMost, FenceValue{kOther, 5});
  EXPECT_FALSE(model.Await(many)) << "there is one";
  model.SignalFromCpu(kOther, 3);
  EXPECT_THAT(model.TakeReachable(), ElementsAre(ElementsAre(FenceValue{kOther, 3})));
  EXPECT_TRUE(model.Await(many));
}

// Each queue lets the next one go, which was there before it.
TEST(FenceModelTest, AChainOfQueues) {
  constexpr uint64_t kQueues = 50000;
  FenceModel model;
  for (uint64_t i = 0; i <= kQueues; ++i) model.Create(i, 0);
  for (uint64_t i = kQueues; i > 0; --i) {
    model.WaitOnQueue(1000000 + i, i - 1, 1);
    model.SignalFromQueue(1000000 + i, i, 1);
  }
  EXPECT_TRUE(model.Await({{kQueues, 1}}));
  EXPECT_FALSE(model.Reachable(1, 1));
  model.SignalFromCpu(0, 1);
  EXPECT_TRUE(model.Reachable(kQueues, 1));
  EXPECT_FALSE(model.Blocked(1000000 + kQueues));
  EXPECT_EQ(model.TakeReachable().size(), 1u);
}

// A queue that ended while it waited is woken no more.
TEST(FenceModelTest, AQueueThatEndedSignalsNothing) {
  FenceModel model;
  model.Create(kFence, 0);
  model.Create(kOther, 0);
  model.WaitOnQueue(kQueue, kOther, 1);
  model.SignalFromQueue(kQueue, kFence, 1);
  model.Remove(kQueue);
  model.SignalFromCpu(kOther, 1);
  EXPECT_FALSE(model.Reachable(kFence, 1));
}

// The implementation holds the fence, and nobody else can signal it.
TEST(FenceModelTest, QueueThatWaitsForAFenceThatEndedIsStuck) {
  FenceModel model;
  model.Create(kFence, 0);
  model.Create(kOther, 0);
  model.WaitOnQueue(kQueue, kOther, 9);
  model.SignalFromQueue(kQueue, kFence, 1);
  model.Remove(kOther);
  EXPECT_TRUE(model.Blocked(kQueue));
  EXPECT_FALSE(model.Reachable(kFence, 1));
  model.Remove(kQueue);
  EXPECT_FALSE(model.Blocked(kQueue));
}

TEST(FenceModelTest, WhatAFenceReallyHasCounts) {
  FenceModel model;
  model.Create(kFence, 0);
  model.SignalFromQueue(kQueue, kFence, 5);
  model.Correct(kFence, 3);
  EXPECT_FALSE(model.Reachable(kFence, 4));
  EXPECT_TRUE(model.Reachable(kFence, 3));
}

TEST(FenceModelTest, AFenceWithTwoNumbers) {
  FenceModel model;
  model.Create(1, 5);
  model.Create(2, 0);
  model.AddNumber(2, 1);
  EXPECT_TRUE(model.HasNumbers(1));
  EXPECT_TRUE(model.HasNumbers(2));
  EXPECT_TRUE(model.Reachable(2, 5));
  model.WaitOnQueue(9, 2, 7);
  EXPECT_TRUE(model.Blocked(9));
  EXPECT_TRUE(model.Await({{2, 7}}));
  model.SignalFromQueue(8, 1, 7);
  EXPECT_FALSE(model.Blocked(9));
  EXPECT_EQ(model.TakeReachable().size(), 1u);
  model.Remove(1);
  EXPECT_TRUE(model.Reachable(2, 7)) << "it lives under its other number";
  EXPECT_FALSE(model.HasNumbers(2)) << "the only one that is left";
  model.Remove(2);
  EXPECT_FALSE(model.HasNumbers(1));
  EXPECT_FALSE(model.Reachable(1, 0)) << "nothing is left of it";
  model.AddNumber(3, 3);
  EXPECT_FALSE(model.HasNumbers(3));
}

TEST(FenceModelTest, WaitsAreGivenByTheNumbersTheyCameWith) {
  FenceModel model;
  model.Create(1, 0);
  model.Create(2, 0);
  model.AddNumber(2, 1);
  EXPECT_TRUE(model.Await({{2, 7}}));
  EXPECT_TRUE(model.Await({{1, 9}, {2, 8}}));
  model.Remove(1);
  model.SignalFromCpu(2, 9);
  EXPECT_THAT(model.TakeReachable(),
              ElementsAre(ElementsAre(FenceValue{2, 7}), ElementsAre(FenceValue{2, 8})));
}

// As the player does with the last number of a fence.
TEST(FenceModelTest, QueuesDoNotWaitForAFenceWhoseFirstNumberEndedFirst) {
  FenceModel model;
  model.Create(1, 0);
  model.Create(2, 0);
  model.AddNumber(2, 1);
  model.WaitOnQueue(9, 1, 7);
  for (const uint64_t fence : {1, 2}) {
    if (!model.HasNumbers(fence)) model.SignalFromCpu(fence, UINT64_MAX);
    model.Remove(fence);
  }
  EXPECT_FALSE(model.Blocked(9));
  model.Create(1, 0);
  EXPECT_FALSE(model.Reachable(1, 1)) << "another fence";
}

}  // namespace
}  // namespace cairn
