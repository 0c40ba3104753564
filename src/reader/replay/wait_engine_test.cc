// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/wait_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "d3d12abi/buffer_desc.h"
#include "os/clock.h"
#include "reader/replay/testing/test_call.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr uint64_t kDevice = TestObjects::kDevice;
constexpr uint64_t kQueue = 10, kFence = 20, kOther = 21, kBuffer = 30;
constexpr uint64_t kLostValue = ~uint64_t{0};
constexpr uint64_t kMs = 1'000'000;

class WaitEngineTest : public testing::Test {
 protected:
  WaitEngineTest() {
    options_.on_unfinished = [this](uint64_t first, uint64_t last) {
      unfinished_.emplace_back(first, last);
    };
    engine_ = std::make_unique<WaitEngine>(options_, library_, &objects_.table, &devices_, &log_,
                                           [this] { return recorded_frame_ns_; });
    context_ = devices_.Add(kDevice,
                            ComPtr<ID3D12Device>(objects_.table.Find(kDevice)->As<ID3D12Device>()));
    objects_.AddQueue(kQueue);
    context_->queues[kQueue] = {};
    for (const uint64_t fence : {kFence, kOther}) {
      objects_.AddFence(fence);
      engine_->fences().Create(fence, 0);
    }
    log_.Begin(7);
  }
  ~WaitEngineTest() override { HoldFakeSignals(false); }

  ID3D12Fence* Fence(uint64_t number) { return objects_.table.Find(number)->As<ID3D12Fence>(); }
  void Signal(uint64_t fence, uint64_t value) {
    auto* const queue = objects_.table.Find(kQueue)->As<ID3D12CommandQueue>();
    EXPECT_EQ(queue->Signal(Fence(fence), value), S_OK);
    engine_->fences().SignalFromQueue(kQueue, fence, value);
    engine_->unfinished().Signalled(kQueue, fence, value);
  }
  Status Await(std::vector<FenceValue> any) { return engine_->Await(any); }

  TestObjects objects_;
  PlayerOptions options_;
  D3D12Library library_;
  PlayLog log_{options_};
  ReplayDevices devices_{options_, &log_};
  uint64_t recorded_frame_ns_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> unfinished_;
  std::unique_ptr<WaitEngine> engine_;
  DeviceContext* context_ = nullptr;
};

TEST_F(WaitEngineTest, ReachedValueEndsWorkBeforeIt) {
  engine_->unfinished().Submitted(kQueue, 5);
  Signal(kFence, 1);
  EXPECT_TRUE(Await({{kFence, 1}}).ok());
  EXPECT_THAT(unfinished_, ElementsAre(Pair(5, 5), Pair(0, 0)));
}

TEST_F(WaitEngineTest, OneOfSeveralIsEnough) {
  HoldFakeSignals(true);
  Signal(kOther, 1);
  Fence(kFence)->Signal(3);
  EXPECT_TRUE(Await({{kOther, 1}, {kFence, 3}}).ok());
  EXPECT_EQ(Fence(kOther)->GetCompletedValue(), 0u);
  EXPECT_FALSE(log_.failed());
}

// A fence that is not here may be the one that was signalled.
TEST_F(WaitEngineTest, FenceThatIsNotHereIsNotWaitedFor) {
  HoldFakeSignals(true);
  Signal(kFence, 1);
  EXPECT_TRUE(Await({{kFence, 1}, {99, 1}}).ok());
  EXPECT_TRUE(Await({{kQueue, 1}}).ok());  // no fence
  EXPECT_TRUE(Await({}).ok());
}

TEST_F(WaitEngineTest, ValueThatDoesNotComeIsAHang) {
  options_.wait_timeout_ns = 20 * kMs;
  HoldFakeSignals(true);
  Signal(kFence, 2);
  const Status status = Await({{kFence, 2}});
  EXPECT_EQ(status.code(), StatusCode::kDeviceLost);
  EXPECT_EQ(status.message(), "record 7: fence 20 reached 0, not 2, within 0.02 s: the GPU hangs");
  EXPECT_EQ(log_.failure(), PlayerFailure::kHang);
  EXPECT_EQ(log_.failed_call(), 7u);
}

// Three times what the frame took, if that is asked for.
TEST_F(WaitEngineTest, HangsByTheRecordedFrame) {
  options_.wait_timeout_ns = 4 * kMs;
  options_.wait_as_recorded = true;
  recorded_frame_ns_ = 10 * kMs;
  HoldFakeSignals(true);
  Signal(kFence, 2);
  EXPECT_EQ(Await({{kFence, 2}}).message(),
            "record 7: fence 20 reached 0, not 2, within 0.03 s: the GPU hangs");
  options_.canary = true;  // searches keep to their time-out
  EXPECT_EQ(Await({{kFence, 2}}).message(),
            "record 7: fence 20 reached 0, not 2, within 0.004 s: the GPU hangs");
}

// Nothing is at work that could bring it.
TEST_F(WaitEngineTest, ValueThatNothingBringsIsLeftOut) {
  options_.wait_timeout_ns = 60'000 * kMs;
  engine_->fences().SignalFromQueue(kQueue, kFence, 5);  // a call that was not made here
  EXPECT_TRUE(Await({{kFence, 5}}).ok());
  ASSERT_EQ(log_.result().left_out.size(), 1u);
  EXPECT_EQ(log_.result().left_out[0].what,
            "a wait for fence 20: it reached 0, not 5, when all queues had finished");
  EXPECT_EQ(log_.result().left_out[0].first, 7u);
  EXPECT_FALSE(engine_->fences().Reachable(kFence, 5));
}

TEST_F(WaitEngineTest, InterruptionEndsAWait) {
  options_.interrupted = [] { return true; };
  HoldFakeSignals(true);
  engine_->unfinished().Submitted(kQueue, 5);
  Signal(kFence, 1);
  EXPECT_TRUE(Await({{kFence, 1}}).ok());
  EXPECT_TRUE(log_.result().interrupted);
  EXPECT_TRUE(engine_->WaitForQueue(kQueue, context_).ok());
  EXPECT_THAT(unfinished_, ElementsAre(Pair(5, 5)));  // nobody saw it end
}

// Fences of lost devices have that value; here the program did not give it.
TEST_F(WaitEngineTest, GreatestValueMeansThatTheDeviceIsLost) {
  Fence(kFence)->Signal(kLostValue);
  EXPECT_TRUE(Await({{kFence, 1}}).ok());
  EXPECT_TRUE(context_->lost);
  EXPECT_EQ(devices_.Judge().message(),
            "record 7: fence 20 has the value that says that the device is lost");
}

TEST_F(WaitEngineTest, GreatestValueOfTheProgram) {
  Signal(kFence, kLostValue);
  EXPECT_TRUE(Await({{kFence, 1}}).ok());
  EXPECT_FALSE(context_->lost);
  EXPECT_EQ(log_.result().skipped, 0u);  // it has been reached
}

// ---- Queues ----

TEST_F(WaitEngineTest, QueueThatIsIdleHasNothingUnfinished) {
  engine_->unfinished().Submitted(kQueue, 5);
  EXPECT_TRUE(engine_->WaitForQueue(kQueue, context_).ok());
  EXPECT_THAT(unfinished_, ElementsAre(Pair(5, 5), Pair(0, 0)));
}

TEST_F(WaitEngineTest, QueueThatDoesNotComeToItsEnd) {
  options_.wait_timeout_ns = 20 * kMs;
  HoldFakeSignals(true);
  EXPECT_EQ(engine_->WaitForDevices().message(),
            "record 7: queue 10 reached 0, not 1, within 0.02 s: the GPU hangs");
  EXPECT_FALSE(engine_->Settle());
  HoldFakeSignals(false);
  EXPECT_TRUE(engine_->Settle());
}

TEST_F(WaitEngineTest, BlockedQueueIsNotWaitedFor) {
  HoldFakeSignals(true);
  EXPECT_FALSE(engine_->AnyBlocked());
  engine_->fences().WaitOnQueue(kQueue, kFence, 3);
  EXPECT_TRUE(engine_->AnyBlocked());
  engine_->unfinished().Submitted(kQueue, 5);
  EXPECT_TRUE(engine_->WaitForDevices().ok());
  EXPECT_TRUE(engine_->Settle());
  EXPECT_THAT(unfinished_, ElementsAre(Pair(5, 5)));
}

TEST_F(WaitEngineTest, LostDeviceIsNotWaitedFor) {
  HoldFakeSignals(true);
  EXPECT_TRUE(devices_.Lose(context_, "it is gone").ok());
  EXPECT_TRUE(engine_->WaitForDevices().ok());
  EXPECT_FALSE(engine_->Settle());
}

// Signals come in their order: what was awaited becomes reachable with the signal, and is waited for then.
TEST_F(WaitEngineTest, ReachableWaitsTakePlaceOnce) {
  options_.wait_timeout_ns = 20 * kMs;
  engine_->fences().Await({{kFence, 1}});
  HoldFakeSignals(true);
  EXPECT_TRUE(engine_->AwaitReachable().ok());
  Signal(kFence, 1);
  EXPECT_FALSE(engine_->AwaitReachable().ok());
  EXPECT_TRUE(engine_->AwaitReachable().ok());
}

TEST_F(WaitEngineTest, WaitsThatAreTooManyAreLeftOut) {
  for (uint64_t i = 0; i < FenceModel::kMostAwaited; ++i) {
    ASSERT_TRUE(engine_->AwaitWhenReachable({{kFence, i + 1}}).ok());
  }
  EXPECT_EQ(log_.result().skipped, 0u);
  EXPECT_TRUE(engine_->AwaitWhenReachable({{kOther, 1}}).ok());
  EXPECT_EQ(log_.result().skipped, 1u);
  ASSERT_EQ(log_.result().left_out.size(), 1u);
  EXPECT_EQ(log_.result().left_out[0].what,
            "a wait for fence 21: 65536 values are waited for already");
}

// ---- Objects that have ended ----

class SweepTest : public WaitEngineTest {
 protected:
  SweepTest() {
    objects_.AddResource(kBuffer, BufferDesc(256));
    buffer_ = objects_.table.Find(kBuffer)->pointer;
    objects_.table.Remove(kBuffer);
    context_->ended.push_back(buffer_);
  }
  // Nobody has it but this test.
  bool IsReleased() {
    buffer_->AddRef();
    return buffer_->Release() == 1;
  }

  ComPtr<IUnknown> buffer_;
};

TEST_F(SweepTest, ObjectsLiveUntilTheirQueuesAreIdle) {
  HoldFakeSignals(true);
  EXPECT_TRUE(engine_->SweepEnded(context_).ok());
  EXPECT_TRUE(engine_->SweepEnded(context_).ok());
  EXPECT_FALSE(IsReleased());
  HoldFakeSignals(false);
  EXPECT_TRUE(engine_->SweepEnded(context_).ok());
  EXPECT_TRUE(IsReleased());
}

TEST_F(SweepTest, WaitForTheDeviceReleasesThem) {
  EXPECT_TRUE(engine_->WaitForDevice(kDevice).ok());
  EXPECT_TRUE(IsReleased());
}

TEST_F(SweepTest, BlockedQueueKeepsThem) {
  engine_->fences().WaitOnQueue(kQueue, kFence, 3);
  EXPECT_TRUE(engine_->WaitForDevice(kDevice).ok());
  EXPECT_FALSE(IsReleased());
}

// Sixteen batches may wait; with one more the oldest is waited for.
TEST_F(SweepTest, ManyBatchesAreWaitedFor) {
  options_.wait_timeout_ns = 20 * kMs;
  HoldFakeSignals(true);
  for (int i = 0; i < 16; ++i) {
    context_->ended = {buffer_};
    EXPECT_TRUE(engine_->SweepEnded(context_).ok());
  }
  context_->ended = {buffer_};
  EXPECT_EQ(engine_->SweepEnded(context_).message(),
            "record 7: a queue reached 0, not 1, within 0.02 s: the GPU hangs");
}

// ---- Searches ----

// The fake device has no shaders: its canary cannot be made, which is said once and is no failure.
TEST_F(WaitEngineTest, SlowestSubmissionIsKept) {
  options_.canary = true;
  const uint64_t hour_ns = uint64_t{3600} * 1000 * kMs;
  options_.wait_timeout_ns = 2 * hour_ns;
  EXPECT_TRUE(engine_->WaitForSubmission(kQueue, context_, MonotonicNs()).ok());
  EXPECT_EQ(log_.result().slowest_submission, 7u);
  const uint64_t first_ns = log_.result().slowest_submission_ns;
  log_.Begin(8);
  const uint64_t longer_ns = first_ns + 1000 * kMs;
  EXPECT_TRUE(engine_->WaitForSubmission(kQueue, context_, MonotonicNs() - longer_ns).ok());
  EXPECT_EQ(log_.result().slowest_submission, 8u);
  EXPECT_GE(log_.result().slowest_submission_ns, longer_ns);
  EXPECT_THAT(log_.result().notes, ElementsAre(HasSubstr("no canary after submissions: ")));
}

}  // namespace
}  // namespace cairn
