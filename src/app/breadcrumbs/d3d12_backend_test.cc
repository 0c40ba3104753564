// SPDX-License-Identifier: Apache-2.0
//
// On a real device: libvkd3d on whatever Vulkan driver the machine has.
#include "app/breadcrumbs/d3d12_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "app/breadcrumbs/testing/d3d12_test_gpu.h"

namespace cairn {
namespace {

constexpr uint32_t kGeneration = 3;
constexpr uint32_t kLists = 8;
constexpr uint32_t kRawMarkers = 64;
constexpr uint32_t kMaxTrips = 32768;  // of SlowWork

uint32_t Value(uint32_t sequence) {
  return ProgressValue(kGeneration, sequence);
}

class D3D12BackendTest : public testing::Test {
 protected:
  D3D12BackendTest()
      : device_(TestDevice()),
        words_(kLists, kRawMarkers),
        backend_(CreateD3D12Backend(device_.get())) {}

  void SetUp() override {
    const Status status = backend_->Initialize(words_.region(), &description_);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(direct_.Create(device_.get(), D3D12_COMMAND_LIST_TYPE_DIRECT).ok());
    ASSERT_TRUE(compute_.Create(device_.get(), D3D12_COMMAND_LIST_TYPE_COMPUTE).ok());
    ASSERT_TRUE(copy_.Create(device_.get(), D3D12_COMMAND_LIST_TYPE_COPY).ok());
  }

  // Opens the submitter's list and registers it.
  BackendList Begin(D3D12Submitter& submitter, uint32_t slot, bool reusable = false) {
    BackendList list;
    Result<ID3D12GraphicsCommandList*> native = submitter.Begin();
    EXPECT_TRUE(native.ok()) << native.status().message();
    if (!native.ok()) return list;
    list.native = *native;
    list.slot = slot;
    list.reusable = reusable;
    const Status status = backend_->BeginList(list);
    EXPECT_TRUE(status.ok()) << status.message();
    return list;
  }

  void Top(BackendList& list, uint32_t sequence) {
    EXPECT_TRUE(
        backend_->WriteProgress(list, WordKind::kReached, PipeLocation::kTop, Value(sequence)));
  }
  void Bottom(BackendList& list, uint32_t sequence) {
    EXPECT_TRUE(
        backend_->WriteProgress(list, WordKind::kPassed, PipeLocation::kBottom, Value(sequence)));
  }

  void SubmitAndWait(D3D12Submitter& submitter, uint32_t executions = 1) {
    Status status = submitter.Submit(executions);
    ASSERT_TRUE(status.ok()) << status.message();
    status = submitter.Wait(kTestLimit);
    ASSERT_TRUE(status.ok()) << status.message();
    backend_->Mirror();
  }

  uint32_t Reached(uint32_t slot) { return words_.progress(slot).reached.load(); }
  uint32_t Passed(uint32_t slot) { return words_.progress(slot).passed.load(); }
  uint32_t Runs(uint32_t slot) { return words_.progress(slot).runs.load(); }

  // Returns the references to the device, which show the resources that the backend and the test
  // hold.
  uint32_t DeviceReferences() {
    device_->AddRef();
    return device_->Release();
  }

  ComPtr<ID3D12Device> device_;
  TestWords words_;
  BackendDescription description_;
  std::unique_ptr<Backend> backend_;
  D3D12Submitter direct_;
  D3D12Submitter compute_;
  D3D12Submitter copy_;
};

TEST_F(D3D12BackendTest, SelfTestFindsTheWayThatWorksAndCallsNoStub) {
  EXPECT_EQ(description_.api, Api::kD3D12);
  EXPECT_EQ(description_.method, WriteMethod::kD3D12CopyBufferRegion);
  EXPECT_EQ(description_.memory, WordMemory::kMirrored);
  EXPECT_GT(description_.mirror_period_us, 0u);
#if defined(_WIN32)
  EXPECT_THAT(description_.driver_name, testing::HasSubstr(".dll, driver "));
#else
  EXPECT_THAT(description_.driver_name, testing::HasSubstr("libvkd3d"));
#endif
  EXPECT_FALSE(description_.device_name.empty());
  EXPECT_THAT(description_.driver_name, testing::HasSubstr("feature level 1"));

  std::vector<std::string> absent;
  std::vector<std::string> present;
  for (const SourceFinding& source : description_.sources) {
    EXPECT_FALSE(source.reason.empty()) << source.name;
    if (source.state == SourceState::kAbsent) absent.push_back(source.name);
    if (source.state == SourceState::kPresent) present.push_back(source.name);
  }
  EXPECT_LE(description_.sources.size(), kMaxSources);
  // libvkd3d 1.2 has a stub that would complain on the program's stderr; it lists no support.
  EXPECT_THAT(absent,
              testing::IsSupersetOf(
                  {"WriteBufferImmediate, direct queue", "WriteBufferImmediate, compute queue",
                   "WriteBufferImmediate, copy queue", "writes through the Vulkan layer"}));
  EXPECT_THAT(present, testing::ElementsAre("CopyBufferRegion top of pipe, direct queue",
                                            "CopyBufferRegion bottom of pipe, direct queue",
                                            "CopyBufferRegion top of pipe, compute queue",
                                            "CopyBufferRegion bottom of pipe, compute queue",
                                            "CopyBufferRegion top of pipe, copy queue",
                                            "CopyBufferRegion bottom of pipe, copy queue",
                                            "readback buffer"));
}

TEST_F(D3D12BackendTest, WordsArriveOnEveryQueueType) {
  uint32_t slot = 0;
  for (D3D12Submitter* submitter : {&direct_, &compute_, &copy_}) {
    BackendList list = Begin(*submitter, ++slot);
    for (uint32_t sequence = 1; sequence <= 10; ++sequence) {
      Top(list, sequence);
      Bottom(list, sequence);
    }
    Top(list, 11);
    SubmitAndWait(*submitter);
    EXPECT_EQ(Reached(slot), Value(11));
    EXPECT_EQ(Passed(slot), Value(10));
    EXPECT_EQ(Runs(slot), 0u);
    backend_->ReleaseList(list);
  }
  // Other slots are untouched.
  for (const uint32_t untouched : {0u, 4u, 5u, 6u, 7u}) {
    EXPECT_EQ(Reached(untouched), 0u);
    EXPECT_EQ(Passed(untouched), 0u);
  }
}

TEST_F(D3D12BackendTest, NothingIsRecordedInsideARenderPass) {
  BackendList list = Begin(direct_, 0);
  list.inside_render_pass = true;
  EXPECT_FALSE(backend_->WriteProgress(list, WordKind::kReached, PipeLocation::kTop, Value(1)));
  list.inside_render_pass = false;
  SubmitAndWait(direct_);
  EXPECT_EQ(Reached(0), 0u);
  backend_->ReleaseList(list);
}

// The words seen while the GPU worked. `in_flight`: reached without passed was seen.
struct Observation {
  bool in_flight = false;
  bool passed_early = false;  // passed although the work had not finished
};

// Looks at slot 0 until everything submitted has finished. `finished` is asked after passed was read.
template <typename Finished>
Observation Observe(Backend& backend, const ProgressWords& words, D3D12Submitter& submitter,
                    const Finished& finished) {
  Observation seen;
  const auto deadline = std::chrono::steady_clock::now() + kTestLimit;
  while (!submitter.Finished() && std::chrono::steady_clock::now() < deadline) {
    backend.Mirror();
    const uint32_t passed = words.passed.load();
    const uint32_t reached = words.reached.load();
    if (passed != 0 && !finished()) seen.passed_early = true;
    if (reached == Value(1) && passed == 0) seen.in_flight = true;
    std::this_thread::yield();
  }
  return seen;
}

TEST_F(D3D12BackendTest, BottomOfPipeWaitsForADispatch) {
  SlowWork work(device_.get());
  for (D3D12Submitter* submitter : {&direct_, &compute_}) {
    // Longer and longer, until the work is long enough to be caught in flight.
    Observation seen;
    for (uint32_t trips = 1024; !seen.in_flight && trips <= kMaxTrips; trips *= 2) {
      backend_->ClearWords(0);
      backend_->Mirror();
      work.ClearResult();
      BackendList list = Begin(*submitter, 0);
      Top(list, 1);
      work.RecordDispatch(submitter->list(), trips);
      Bottom(list, 1);
      ASSERT_TRUE(submitter->Submit().ok());
      seen = Observe(*backend_, words_.progress(0), *submitter,
                     [&] { return work.DispatchFinished(); });
      ASSERT_TRUE(submitter->Wait(kTestLimit).ok());
      backend_->Mirror();
      EXPECT_FALSE(seen.passed_early);
      EXPECT_TRUE(work.DispatchFinished());
      EXPECT_EQ(Passed(0), Value(1));
      backend_->ReleaseList(list);
    }
    EXPECT_TRUE(seen.in_flight);
  }
}

TEST_F(D3D12BackendTest, BottomOfPipeWaitsForADraw) {
  SlowWork work(device_.get());
  Observation seen;
  for (uint32_t trips = 1024; !seen.in_flight && trips <= kMaxTrips; trips *= 2) {
    backend_->ClearWords(0);
    backend_->Mirror();
    BackendList list = Begin(direct_, 0);
    Top(list, 1);
    work.RecordDraw(direct_.list(), trips);
    Bottom(list, 1);
    ASSERT_TRUE(direct_.Submit().ok());
    seen = Observe(*backend_, words_.progress(0), direct_, [] { return true; });
    ASSERT_TRUE(direct_.Wait(kTestLimit).ok());
    backend_->Mirror();
    EXPECT_EQ(Reached(0), Value(1));
    EXPECT_EQ(Passed(0), Value(1));
    backend_->ReleaseList(list);
  }
  EXPECT_TRUE(seen.in_flight);
}

TEST_F(D3D12BackendTest, ReusableListCountsItsRuns) {
  uint32_t slot = 0;
  for (D3D12Submitter* submitter : {&direct_, &compute_, &copy_}) {
    ++slot;
    BackendList list = Begin(*submitter, slot, /*reusable=*/true);
    Top(list, 1);
    Bottom(list, 2);
    SubmitAndWait(*submitter, 3);
    EXPECT_EQ(Runs(slot), 3u);
    EXPECT_EQ(Reached(slot), Value(1));
    EXPECT_EQ(Passed(slot), Value(2));
    backend_->ReleaseList(list);
  }
}

TEST_F(D3D12BackendTest, RunsWrapAndStartAnewInTheNextRecording) {
  BackendList list = Begin(direct_, 5, /*reusable=*/true);
  Top(list, 1);
  SubmitAndWait(direct_, 70);
  EXPECT_EQ(Runs(5), 70u % kRunModulus);
  backend_->ReleaseList(list);

  backend_->ClearWords(5);
  list = Begin(direct_, 5, /*reusable=*/true);
  Top(list, 1);
  SubmitAndWait(direct_);
  EXPECT_EQ(Runs(5), 1u);
  backend_->ReleaseList(list);
}

TEST_F(D3D12BackendTest, RunStartsWithClearedWords) {
  BackendList earlier = Begin(direct_, 0);
  Top(earlier, 7);
  Bottom(earlier, 7);
  SubmitAndWait(direct_);
  ASSERT_EQ(Passed(0), Value(7));
  backend_->ReleaseList(earlier);

  BackendList list = Begin(direct_, 0, /*reusable=*/true);
  SubmitAndWait(direct_);
  EXPECT_EQ(Runs(0), 1u);
  EXPECT_EQ(Reached(0), 0u);
  EXPECT_EQ(Passed(0), 0u);
  backend_->ReleaseList(list);
}

TEST_F(D3D12BackendTest, ReusableListsShareTheirBuffers) {
  D3D12Submitter other;
  ASSERT_TRUE(other.Create(device_.get(), D3D12_COMMAND_LIST_TYPE_DIRECT).ok());
  BackendList first = Begin(direct_, 0, /*reusable=*/true);
  BackendList second = Begin(other, 1, /*reusable=*/true);
  Top(first, 1);
  Top(second, 2);
  ASSERT_TRUE(direct_.Submit(2).ok());
  ASSERT_TRUE(other.Submit(5).ok());
  ASSERT_TRUE(direct_.Wait(kTestLimit).ok());
  ASSERT_TRUE(other.Wait(kTestLimit).ok());
  backend_->Mirror();
  EXPECT_EQ(Runs(0), 2u);
  EXPECT_EQ(Runs(1), 5u);
  EXPECT_EQ(Reached(0), Value(1));
  EXPECT_EQ(Reached(1), Value(2));
  backend_->ReleaseList(first);
  backend_->ReleaseList(second);
}

TEST_F(D3D12BackendTest, RawMarkersAre64BitsWideAndUnwrittenOnesAreRecognisable) {
  constexpr uint64_t kTopValue = 0x0123456789ABCDEF;
  constexpr uint64_t kBottomValue = 0xFEDCBA9876543210;
  uint32_t index = 0;
  for (D3D12Submitter* submitter : {&direct_, &compute_, &copy_}) {
    Result<ID3D12GraphicsCommandList*> list = submitter->Begin();
    ASSERT_TRUE(list.ok());
    EXPECT_TRUE(backend_->WriteRaw(*list, PipeLocation::kTop, index, kTopValue + index).ok());
    ++index;
    EXPECT_TRUE(backend_->WriteRaw(*list, PipeLocation::kBottom, index, kBottomValue + index).ok());
    ++index;
    SubmitAndWait(*submitter);
  }
  for (uint32_t i = 0; i < index; ++i) {
    EXPECT_EQ(words_.raw_marker(i), (i % 2 == 0 ? kTopValue : kBottomValue) + i);
  }
  for (uint32_t i = index; i < kRawMarkers; ++i) {
    EXPECT_EQ(words_.raw_marker(i), kRawMarkerUnwritten);
  }
}

TEST_F(D3D12BackendTest, RawMarkerOutOfRangeIsRefused) {
  Result<ID3D12GraphicsCommandList*> list = direct_.Begin();
  ASSERT_TRUE(list.ok());
  const Status status = backend_->WriteRaw(*list, PipeLocation::kTop, kRawMarkers, 1);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  SubmitAndWait(direct_);
  EXPECT_EQ(words_.raw_marker(kRawMarkers - 1), kRawMarkerUnwritten);
}

TEST_F(D3D12BackendTest, TenThousandEventsInOneList) {
  BackendList list = Begin(direct_, 2);
  for (uint32_t sequence = 1; sequence <= 10000; ++sequence) Top(list, sequence);
  Bottom(list, 10000);
  SubmitAndWait(direct_);
  EXPECT_EQ(Reached(2), Value(10000));
  EXPECT_EQ(Passed(2), Value(10000));
  backend_->ReleaseList(list);
}

TEST_F(D3D12BackendTest, RecycledListsTakeNoMoreMemory) {
  const auto record_and_run = [&](uint32_t events) {
    BackendList list = Begin(direct_, 1, /*reusable=*/events % 2 == 0);
    for (uint32_t sequence = 1; sequence <= events; ++sequence) Top(list, sequence);
    SubmitAndWait(direct_);
    EXPECT_EQ(Reached(1), Value(events));
    backend_->ReleaseList(list);
  };
  record_and_run(3000);
  const uint32_t references = DeviceReferences();
  for (uint32_t i = 0; i < 1000; ++i) record_and_run(1 + i * 7 % 1500);
  EXPECT_EQ(DeviceReferences(), references);
}

TEST_F(D3D12BackendTest, ClearedSlotStaysCleared) {
  BackendList list = Begin(direct_, 6);
  Top(list, 4);
  SubmitAndWait(direct_);
  EXPECT_EQ(Reached(6), Value(4));
  backend_->ReleaseList(list);
  backend_->ClearWords(6);
  backend_->Mirror();
  EXPECT_EQ(Reached(6), 0u);
}

}  // namespace
}  // namespace cairn
