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

}  // namespace
}  // namespace cairn
