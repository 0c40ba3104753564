// SPDX-License-Identifier: Apache-2.0
#include "format/model/fence_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "format/calls/call_builder.h"
#include "format/trace/testing/test_trace.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr uint64_t kDevice = 1, kFence = 2, kOther = 3, kQueue = 4, kCopies = 5, kOpened = 6;

class FenceStateTest : public testing::Test {
 protected:
  FenceStateTest() {
    trace_.Object(kDevice, Chain::kID3D12Device, kDevice);
    trace_.Object(kQueue, Chain::kID3D12CommandQueue, kDevice);
    trace_.Object(kCopies, Chain::kID3D12CommandQueue, kDevice);
    void* place = nullptr;
    const Bytes16 iid;
    creation_ =
        trace_.Make(Method::ID3D12Device_CreateFence, kDevice, uint64_t{10}, 0u, iid, &place);
    trace_.Object(kFence, Chain::kID3D12Fence, kDevice, creation_);
    trace_.Object(kOther, Chain::kID3D12Fence, kDevice);
  }
  struct Bytes16 {
    uint8_t bytes[16] = {};
  };

  uint64_t Signal(uint64_t queue, uint64_t value) {
    return trace_.Make(Method::ID3D12CommandQueue_Signal, queue, ObjectPointer(kFence), value);
  }
  uint64_t Wait(uint64_t queue, uint64_t value) {
    return trace_.Make(Method::ID3D12CommandQueue_Wait, queue, ObjectPointer(kFence), value);
  }
  uint64_t AwaitEvent(uint64_t value, bool event = true) {
    return trace_.Make(Method::ID3D12Fence_SetEventOnCompletion, kFence, value,
                       reinterpret_cast<void*>(uintptr_t{event ? 77u : 0u}));
  }
  // After the record `until`. The trace is complete when it is first read.
  FenceState At(uint64_t fence = kFence, uint64_t until = std::numeric_limits<uint64_t>::max()) {
    TraceReader trace = trace_.Open();
    FenceTracker fences(&trace);
    TraceCursor cursor(trace);
    Record record;
    while (cursor.Next(&record) && record.number <= until) fences.Look(record);
    const auto found = fences.fences().find(fence);
    return found == fences.fences().end() ? FenceState() : found->second;
  }

  TestTrace trace_;
  uint64_t creation_ = 0;
};

TEST_F(FenceStateTest, BeginsWithItsInitialValue) {
  EXPECT_EQ(At().completed, (FenceState::Value{10, creation_}));
}

// Another process has made it, and may have signalled it.
TEST_F(FenceStateTest, AnOpenedFenceHasAnUnknownValue) {
  void* place = nullptr;
  const uint64_t opening = trace_.Make(Method::ID3D12Device_OpenSharedHandle, kDevice,
                                       reinterpret_cast<void*>(uintptr_t{9}), Bytes16{}, &place);
  trace_.Object(kOpened, Chain::kID3D12Fence, kDevice, opening);
  const uint64_t wait =
      trace_.Make(Method::ID3D12CommandQueue_Wait, kQueue, ObjectPointer(kOpened), uint64_t{0});
  const uint64_t asked = trace_.Make(Method::ID3D12Fence_GetCompletedValue, kOpened);
  const uint64_t known = trace_.Gave(asked, uint64_t{4});
  EXPECT_EQ(At(kOpened, wait).completed, std::nullopt);
  EXPECT_THAT(At(kOpened, wait).queue_waits, ElementsAre(Pair(kQueue, FenceState::Value{0, wait})));
  EXPECT_EQ(At(kOpened).completed, (FenceState::Value{4, known}));
  EXPECT_EQ(At(kOther).completed, std::nullopt);
}

// Two threads have asked, and the one that asked first is recorded last.
TEST_F(FenceStateTest, ALateResultDoesNotBringAFenceBack) {
  Signal(kQueue, 12);
  const uint64_t first = trace_.Make(Method::ID3D12Fence_GetCompletedValue, kFence);
  const uint64_t second = trace_.Make(Method::ID3D12Fence_GetCompletedValue, kFence);
  const uint64_t known = trace_.Gave(second, uint64_t{12});
  trace_.Gave(first, uint64_t{11});
  AwaitEvent(12);
  EXPECT_EQ(At().completed, (FenceState::Value{12, known}));
  EXPECT_THAT(At().event_waits, IsEmpty());
}

TEST_F(FenceStateTest, ASignalBringsAFenceBack) {
  Signal(kQueue, 20);
  const uint64_t high = trace_.Make(Method::ID3D12Fence_GetCompletedValue, kFence);
  const uint64_t highest = trace_.Gave(high, uint64_t{20});
  Signal(kCopies, 5);
  Signal(kCopies, 7);
  const uint64_t low = trace_.Make(Method::ID3D12Fence_GetCompletedValue, kFence);
  const uint64_t none = trace_.Gave(low, uint64_t{4});
  const uint64_t back = trace_.Gave(low, uint64_t{7});
  EXPECT_EQ(At(kFence, none).completed, (FenceState::Value{20, highest}));
  EXPECT_EQ(At().completed, (FenceState::Value{7, back}));
}

// All fences of a lost device have the greatest value: nothing is known of their work.
TEST_F(FenceStateTest, ALostDeviceCompletesNothing) {
  constexpr uint64_t kMost = FenceState::kMostValue;
  const uint64_t wait = AwaitEvent(11);
  const uint64_t asked = trace_.Make(Method::ID3D12Fence_GetCompletedValue, kFence);
  const uint64_t lost = trace_.Gave(asked, kMost);
  Signal(kQueue, kMost);  // now the program gives it
  const uint64_t again = trace_.Make(Method::ID3D12Fence_GetCompletedValue, kFence);
  const uint64_t given = trace_.Gave(again, kMost);
  EXPECT_EQ(At(kFence, lost).completed, (FenceState::Value{10, creation_}));
  EXPECT_THAT(At(kFence, lost).event_waits, ElementsAre(Pair(11, wait)));
  EXPECT_EQ(At().completed, (FenceState::Value{kMost, given}));
}

TEST_F(FenceStateTest, QueuesSignalAndWait) {
  Signal(kQueue, 11);
  const uint64_t second = Signal(kQueue, 12);
  const uint64_t copied = Signal(kCopies, 20);
  Wait(kCopies, 10);  // is there already
  const uint64_t wait = Wait(kCopies, 12);
  const FenceState state = At();
  EXPECT_EQ(state.completed->value, 10u);
  EXPECT_THAT(state.signals, ElementsAre(Pair(kQueue, FenceState::Value{12, second}),
                                         Pair(kCopies, FenceState::Value{20, copied})));
  EXPECT_THAT(state.queue_waits, ElementsAre(Pair(kCopies, FenceState::Value{12, wait})));
}

TEST_F(FenceStateTest, WaitsEndWhenTheValueIsKnown) {
  Wait(kQueue, 12);
  Wait(kCopies, 13);
  AwaitEvent(11);
  const uint64_t later = AwaitEvent(14);
  const uint64_t asked = trace_.Make(Method::ID3D12Fence_GetCompletedValue, kFence);
  const uint64_t known = trace_.Gave(asked, uint64_t{12});
  const FenceState state = At();
  EXPECT_EQ(state.completed, (FenceState::Value{12, known}));
  EXPECT_THAT(state.queue_waits, ElementsAre(Pair(kCopies, testing::_)));
  EXPECT_THAT(state.event_waits, ElementsAre(Pair(14, later)));
}

TEST_F(FenceStateTest, ReachedValuesAndThoseThatNobodySaw) {
  AwaitEvent(11);
  AwaitEvent(12);
  const uint64_t last = AwaitEvent(13);
  const uint64_t seen =
      trace_.Add(RecordKind::kFenceReached, kFence, BodyBytes(FenceReachedBody{11, 1}));
  trace_.Add(RecordKind::kFenceReached, kFence, BodyBytes(FenceReachedBody{12, 0}));
  trace_.Add(RecordKind::kFenceReached, kFence, {});  // too short
  trace_.Add(RecordKind::kFenceReached, kQueue, BodyBytes(FenceReachedBody{99, 1}));
  const FenceState state = At();
  EXPECT_EQ(state.completed, (FenceState::Value{11, seen}));
  EXPECT_THAT(state.event_waits, ElementsAre(Pair(13, last)));
}

TEST_F(FenceStateTest, ACallThatWaitsIsOverWithItsResult) {
  const uint64_t call = AwaitEvent(15, /*event=*/false);
  const uint64_t result = trace_.Gave(call, int32_t{0}, uint64_t{15}, nullptr);
  EXPECT_THAT(At(kFence, call).event_waits, ElementsAre(Pair(15, call)));
  EXPECT_THAT(At().event_waits, IsEmpty());
  EXPECT_EQ(At().completed, (FenceState::Value{15, result}));
}

TEST_F(FenceStateTest, SeveralFencesAtOnce) {
  void* fences[] = {ObjectPointer(kFence), ObjectPointer(kOther)};
  const uint64_t all[] = {30, 31};
  const uint64_t any[] = {40, 41};
  const Method method = Method::ID3D12Device1_SetEventOnMultipleFenceCompletion;
  const uint64_t first = trace_.Make(method, kDevice, fences, all, 2u, 0u, nullptr);
  const uint64_t over = trace_.Gave(first, int32_t{0}, fences, all, 2u, 0u, nullptr);
  const uint64_t second = trace_.Make(method, kDevice, fences, any, 2u, 1u, nullptr);
  trace_.Gave(second, int32_t{0}, fences, any, 2u, 1u, nullptr);
  EXPECT_THAT(At(kFence, first).event_waits, ElementsAre(Pair(30, first)));
  EXPECT_THAT(At(kOther, first).event_waits, ElementsAre(Pair(31, first)));
  EXPECT_EQ(At(kFence, over).completed, (FenceState::Value{30, over}));
  EXPECT_EQ(At(kOther, over).completed, (FenceState::Value{31, over}));
  EXPECT_THAT(At(kFence, over).event_waits, IsEmpty());
  EXPECT_THAT(At(kFence, second).event_waits, ElementsAre(Pair(40, second)));
  // One of them has its value; nobody knows which.
  EXPECT_THAT(At(kFence).event_waits, IsEmpty());
  EXPECT_THAT(At(kOther).event_waits, IsEmpty());
  EXPECT_EQ(At(kFence).completed->value, 30u);
  EXPECT_EQ(At(kOther).completed->value, 31u);
}

TEST_F(FenceStateTest, TheCpuSignalsAtOnceAndMayGoBack) {
  const uint64_t wait = AwaitEvent(11);
  const uint64_t back = trace_.Make(Method::ID3D12Fence_Signal, kFence, uint64_t{3});
  const uint64_t most =
      trace_.Make(Method::ID3D12Fence_Signal, kFence, std::numeric_limits<uint64_t>::max());
  trace_.ObjectEnd(kFence);
  EXPECT_EQ(At(kFence, back).completed, (FenceState::Value{3, back}));
  EXPECT_THAT(At(kFence, back).event_waits, ElementsAre(Pair(11, wait)));
  EXPECT_THAT(At(kFence, most).event_waits, IsEmpty());
  EXPECT_EQ(At().completed, std::nullopt);
}

TEST_F(FenceStateTest, HasABoundForEachFence) {
  for (uint64_t i = 0; i < 3 * FenceState::kMostEntries; ++i) {
    AwaitEvent(100 + i);
    Signal(1000 + i, i);
    Wait(1000 + i, 100 + i);
  }
  EXPECT_EQ(At().event_waits.size(), FenceState::kMostEntries);
  EXPECT_EQ(At().signals.size(), FenceState::kMostEntries);
  EXPECT_EQ(At().queue_waits.size(), FenceState::kMostEntries);
}

}  // namespace
}  // namespace cairn
