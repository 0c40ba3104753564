// SPDX-License-Identifier: Apache-2.0
#include "app/capture/capture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "app/capture/shared_region.h"
#include "app/capture/testing/test_watcher.h"
#include "format/calls/model_hash.h"
#include "os/environment.h"
#include "os/this_process.h"
#include "os/thread.h"

namespace cairn {
namespace {

constexpr Method kDispatch = Method::ID3D12GraphicsCommandList_Dispatch;

EncodeContext Context() {
  EncodeContext context;
  context.object_number = [](const void*, Chain) { return uint64_t{7}; };
  return context;
}

uint64_t BeginDispatch(Capture& capture, uint64_t list, uint32_t x) {
  const uint32_t one = 1;
  const void* const arguments[] = {&x, &one, &one};
  return capture.BeginCall(kDispatch, list, arguments, Context());
}

std::vector<std::byte> Pattern(size_t size, uint32_t seed) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 2654435761u + seed * 97 + (i >> 12)) >> 8);
  }
  return bytes;
}

class CaptureTest : public testing::Test {
 protected:
  Capture& Begin(const CaptureSettings& options = {}) {
    const Status status = Capture::Start(options);
    if (!status.ok()) ADD_FAILURE() << status.message();
    return *Capture::Active();
  }
  // Returns once the watcher has the region.
  void AwaitRegion() {
    while (watcher_.header() == nullptr) std::this_thread::yield();
  }
  static std::vector<const TestRecord*> OfKind(const std::vector<TestRecord>& records,
                                               RecordKind kind) {
    std::vector<const TestRecord*> found;
    for (const TestRecord& record : records) {
      if (record.header.kind == kind) found.push_back(&record);
    }
    return found;
  }
  TestWatcher watcher_;
};

TEST_F(CaptureTest, ACallIsRecordedBeforeItsResultWithItsArguments) {
  Capture& capture = Begin();
  const uint64_t call = BeginDispatch(capture, 5, 42);
  EXPECT_EQ(Capture::CurrentCall(), call);
  capture.Returned(call);
  EXPECT_EQ(Capture::CurrentCall(), 0u);

  const uint64_t value = 9;
  const uint64_t completed = 8;
  const void* const arguments[] = {&value};
  const uint64_t get =
      capture.BeginCall(Method::ID3D12Fence_GetCompletedValue, 6, arguments, Context());
  capture.EndCall(get, Method::ID3D12Fence_GetCompletedValue, 6, arguments, &completed, Context());
  EXPECT_EQ(Capture::CurrentCall(), 0u);
  const auto records = watcher_.Finish();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].header.kind, RecordKind::kCall);
  EXPECT_EQ(records[0].header.number, call);
  EXPECT_EQ(records[0].header.object, 5u);
  EXPECT_EQ(records[0].header.method, static_cast<uint16_t>(kDispatch));
  EXPECT_EQ(records[0].body.size(), 12u);
  EXPECT_EQ(records[0].As<uint32_t>(), 42u);
  EXPECT_EQ(records[1].header.number, get);
  EXPECT_EQ(records[2].header.kind, RecordKind::kResult);
  EXPECT_EQ(records[2].As<ResultBody>().call, get);
  EXPECT_EQ(records[2].As<uint64_t>(sizeof(ResultBody)), completed);
  EXPECT_EQ(records[3].header.kind, RecordKind::kStop);
  EXPECT_EQ(Capture::Active(), nullptr);
}

TEST_F(CaptureTest, TheHeaderSaysWhatWasAskedFor) {
  CaptureSettings options;
  options.start_frame = 3;
  options.stop_frame = 9;
  options.hash_frames = true;
  Capture& capture = Begin(options);
  AwaitRegion();
  const CaptureRegionHeader& header = *watcher_.header();
  EXPECT_EQ(header.magic, kCaptureMagic);
  EXPECT_EQ(header.header_bytes, 4096u);
  EXPECT_EQ(header.region_bytes, kCaptureRegionBytes);
  EXPECT_EQ(header.process_id, static_cast<uint64_t>(OwnProcessId()));
  EXPECT_EQ(header.model_hash, ModelHash());
  EXPECT_EQ(header.start_frame, 3u);
  EXPECT_EQ(header.stop_frame, 9u);
  EXPECT_EQ(header.hash_frames, 1u);
  EXPECT_EQ(capture.state(), CaptureState::kArmed);
  EXPECT_TRUE(capture.hash_frames());
  EXPECT_FALSE(Capture::Start({}).ok());
}

TEST_F(CaptureTest, WithoutAWatcherNothingStarts) {
  ClearVariable("CAIRN_WATCHER_FD");
  EXPECT_EQ(Capture::Start({}).code(), StatusCode::kNotFound);
  EXPECT_EQ(Capture::Active(), nullptr);
}

TEST_F(CaptureTest, ACallThatNeverReturnsIsInTheRing) {
  Capture& capture = Begin();
  AwaitRegion();
  const uint64_t outer = BeginDispatch(capture, 1, 1);
  const uint64_t inner = BeginDispatch(capture, 1, 2);
  EXPECT_EQ(watcher_.ring(0)->in_call.load(), inner);
  capture.Returned(inner);
  EXPECT_EQ(watcher_.ring(0)->in_call.load(), outer);
  // A call that was left without an end ends with the one around it.
  BeginDispatch(capture, 1, 3);
  capture.Returned(outer);
  EXPECT_EQ(watcher_.ring(0)->in_call.load(), 0u);
}

TEST_F(CaptureTest, BytesOfAnySizeArriveWhole) {
  Capture& capture = Begin();
  const size_t sizes[] = {0,         1,
                          4096,      4097,
                          30'000,    40'000,
                          64u << 10, (64u << 10) + 1,
                          1u << 20,  (1u << 20) + 1,
                          5'000'000, 20'000'001};
  for (const size_t size : sizes) {
    const auto bytes = Pattern(size, static_cast<uint32_t>(size));
    const MemoryBody body{3, 0, size};
    capture.PutBytes(RecordKind::kMemory, 11, BytesOf(body), bytes);
  }
  const auto records = watcher_.Finish();
  const auto memory = OfKind(records, RecordKind::kMemory);
  ASSERT_EQ(memory.size(), std::size(sizes));
  for (size_t i = 0; i < memory.size(); ++i) {
    EXPECT_EQ(memory[i]->header.object, 11u);
    EXPECT_EQ(memory[i]->As<MemoryBody>().offset_bytes, sizes[i]);
    EXPECT_TRUE(TestWatcher::Bytes(records, *memory[i], sizeof(MemoryBody)) ==
                Pattern(sizes[i], static_cast<uint32_t>(sizes[i])))
        << sizes[i];
  }
}

TEST_F(CaptureTest, BlobsStandBeforeWhatRefersToThem) {
  Capture& capture = Begin();
  const auto code = Pattern(100'000, 1);
  const uint32_t size = 100'000;
  const void* const data = code.data();
  const unsigned char guid[16] = {};
  const void* const arguments[] = {guid, &size, &data};
  const uint64_t call =
      capture.BeginCall(Method::ID3D12Object_SetPrivateData, 2, arguments, Context());
  capture.Returned(call);
  const auto records = watcher_.Finish();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].header.kind, RecordKind::kBlob);
  EXPECT_EQ(records[1].header.number, call);
  const size_t offset = records[1].body.size() - 24;  // kBytesInBlobs, size, parts, a number
  EXPECT_EQ(records[1].As<uint32_t>(offset), kBytesInBlobs);
  EXPECT_TRUE(TestWatcher::Bytes(records, records[1], offset) == code);
}

TEST_F(CaptureTest, NothingIsLostWhenRingsAndSpillAreFull) {
  Capture& capture = Begin();
  AwaitRegion();
  SharedRegion::most_silent_ns = 60'000'000'000;  // a busy machine may take long to fill them
  watcher_.Pause(true);
  constexpr uint32_t kCalls = 60'000;              // three rings
  constexpr uint32_t kBlobs = kSpillBlocks + 100;  // each takes a block
  std::thread calls([&] {
    for (uint32_t i = 0; i < kCalls; ++i) capture.Returned(BeginDispatch(capture, 1, i));
  });
  std::thread blobs([&] {
    const auto bytes = Pattern(33'000, 1);
    for (uint32_t i = 0; i < kBlobs; ++i) {
      const MemoryBody body{i, 0, 0};
      capture.PutBytes(RecordKind::kMemory, 2, BytesOf(body), bytes);
    }
  });
  // Both stand still: one for room in its ring, one for blocks.
  const auto waits = [&] {
    uint32_t count = watcher_.header()->spill_waiting.load();
    for (uint32_t i = 0; i < kCaptureRings; ++i) count += watcher_.ring(i)->waiting.load();
    return count;
  };
  while (waits() != 2) std::this_thread::yield();
  watcher_.Pause(false);
  calls.join();
  blobs.join();
  SharedRegion::most_silent_ns = SharedRegion::kMostSilentNs;
  const auto records = watcher_.Finish();
  uint32_t next = 0;
  for (const TestRecord* const call : OfKind(records, RecordKind::kCall)) {
    ASSERT_EQ(call->As<uint32_t>(), next++);
  }
  EXPECT_EQ(next, kCalls);
  EXPECT_EQ(OfKind(records, RecordKind::kMemory).size(), kBlobs);
  EXPECT_EQ(OfKind(records, RecordKind::kBlob).size(), kBlobs);
}

TEST_F(CaptureTest, NumbersOfManyThreadsAreOneOrderWithoutGaps) {
  Capture& capture = Begin();
  constexpr uint32_t kThreads = 8;
  constexpr uint32_t kCalls = 5'000;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&capture, t] {
      for (uint32_t i = 0; i < kCalls; ++i) capture.Returned(BeginDispatch(capture, t + 1, i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto records = watcher_.Finish();
  ASSERT_EQ(records.size(), kThreads * kCalls + 1);
  std::vector<uint32_t> next(kThreads + 1);
  std::vector<std::set<uint32_t>> indices(kThreads + 1);
  for (size_t i = 0; i < records.size(); ++i) {
    ASSERT_EQ(records[i].header.number, i + 1);
    if (records[i].header.kind != RecordKind::kCall) continue;
    const uint64_t list = records[i].header.object;
    ASSERT_EQ(records[i].As<uint32_t>(), next[list]++);
    indices[list].insert(records[i].header.thread);
  }
  std::set<uint32_t> all;
  for (uint32_t t = 1; t <= kThreads; ++t) {
    EXPECT_EQ(indices[t].size(), 1u);
    all.merge(indices[t]);
  }
  EXPECT_EQ(all.size(), kThreads);
}

TEST_F(CaptureTest, WhatHappenedBeforeHasTheSmallerNumber) {
  Capture& capture = Begin();
  std::atomic<uint64_t> first{0};
  uint64_t second = 0;
  std::thread thread([&] {
    while (first.load(std::memory_order_acquire) == 0) std::this_thread::yield();
    second = BeginDispatch(capture, 1, 2);
  });
  first.store(BeginDispatch(capture, 1, 1), std::memory_order_release);
  thread.join();
  EXPECT_GT(second, first.load());
}

TEST_F(CaptureTest, MoreThreadsThanRingsShareTheLast) {
  Capture& capture = Begin();
  constexpr uint32_t kThreads = kCaptureRings + 12;
  std::mutex end;  // none gives its ring back before
  std::unique_lock hold(end);
  std::atomic<uint32_t> working{kThreads};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto bytes = Pattern(10'000, t);  // with a blob: it moves the record out of its place
      for (uint32_t i = 0; i < 20; ++i) {
        capture.Returned(BeginDispatch(capture, t, i));
        const MemoryBody body{i, 0, t};
        capture.PutBytes(RecordKind::kMemory, t, BytesOf(body), bytes);
      }
      working.fetch_sub(1);
      const std::lock_guard held(end);
    });
  }
  while (working.load() != 0) std::this_thread::yield();
  hold.unlock();
  for (std::thread& thread : threads) thread.join();
  AwaitRegion();
  EXPECT_EQ(watcher_.ring(kCaptureRings - 1)->state.load(), 1u);
  const auto records = watcher_.Finish();
  ASSERT_EQ(records.size(), kThreads * 60u + 1);
  std::vector<uint32_t> next(kThreads);
  for (const TestRecord& record : records) {
    if (record.header.kind == RecordKind::kCall) {
      ASSERT_EQ(record.As<uint32_t>(), next[record.header.object]++);
    } else if (record.header.kind == RecordKind::kMemory) {
      EXPECT_TRUE(TestWatcher::Bytes(records, record, sizeof(MemoryBody)) ==
                  Pattern(10'000, static_cast<uint32_t>(record.header.object)));
    }
  }
}

TEST_F(CaptureTest, TheSharedRingNamesTheCallThatBeganLastAndHasNotReturned) {
  Capture& capture = Begin();
  std::mutex end;  // until which each keeps its ring
  std::unique_lock hold(end);
  std::atomic<uint32_t> rings_taken{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t + 1 < kCaptureRings; ++t) {
    threads.emplace_back([&] {
      capture.Returned(BeginDispatch(capture, 1, 1));
      rings_taken.fetch_add(1);
      const std::lock_guard held(end);
    });
  }
  while (rings_taken.load() + 1 != kCaptureRings) std::this_thread::yield();
  uint64_t stays = 0;
  std::thread first([&] {
    stays = BeginDispatch(capture, 1, 2);
    std::thread([&] {
      const uint64_t begun_last = BeginDispatch(capture, 1, 3);
      AwaitRegion();
      EXPECT_EQ(watcher_.ring(kCaptureRings - 1)->in_call.load(), begun_last);
      capture.Returned(begun_last);
    }).join();
    EXPECT_EQ(watcher_.ring(kCaptureRings - 1)->in_call.load(), stays);
    capture.Returned(stays);
    EXPECT_EQ(watcher_.ring(kCaptureRings - 1)->in_call.load(), 0u);
  });
  first.join();
  hold.unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(stays, 0u);
}

TEST_F(CaptureTest, RingsOfEndedThreadsAreUsedAgain) {
  Capture& capture = Begin();
  AwaitRegion();
  constexpr uint32_t kThreads = 3 * kCaptureRings;
  for (uint32_t t = 0; t < kThreads; ++t) {
    StartInnerThread("worker of a job", [&] {
      capture.Returned(BeginDispatch(capture, t, 0));
    }).join();
    // The watcher has to have given it back.
    while (watcher_.ring(0)->state.load() == 2) std::this_thread::yield();
  }
  EXPECT_STREQ(watcher_.ring(0)->name, "worker of a job");
  EXPECT_EQ(watcher_.ring(1)->state.load(), 0u);
  const auto records = watcher_.Finish();
  std::set<uint32_t> threads;
  for (const TestRecord* const call : OfKind(records, RecordKind::kCall)) {
    threads.insert(call->header.thread);
  }
  EXPECT_EQ(threads.size(), kThreads);
}

TEST_F(CaptureTest, AThreadInTheMiddleOfARecordMayRecordAnother) {
  Capture& capture = Begin();
  // A device may record during a look-up: encoding asks for the object's number.
  static Capture* inner = nullptr;
  inner = &capture;
  EncodeContext context = Context();
  context.object_number = [](const void*, Chain) {
    inner->PutNote(NoteKind::kUnsupported, "looked up");
    return uint64_t{7};
  };
  const void* const object = &context;
  const uint64_t value = 12;
  const void* const arguments[] = {&object, &value};
  const uint64_t call = capture.BeginCall(Method::ID3D12CommandQueue_Signal, 3, arguments, context);
  capture.Returned(call);
  const auto records = watcher_.Finish();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].header.kind, RecordKind::kNote);
  EXPECT_EQ(records[1].header.number, call);
  EXPECT_EQ(records[1].As<uint64_t>(), 7u);
  EXPECT_EQ(records[1].As<uint64_t>(8), 12u);
}

TEST_F(CaptureTest, WhatIsTooLargeIsRefusedWhole) {
  Capture& capture = Begin();
  const auto bytes = Pattern(kMaxRecordBytes, 1);
  EXPECT_EQ(capture.Put(RecordKind::kContents, 1, bytes), 0u);
  constexpr size_t kMost = kMaxRecordBytes - sizeof(RecordHeader);
  // The largest, wherever the ring ends.
  for (int i = 0; i < 10; ++i) {
    EXPECT_NE(capture.Put(RecordKind::kContents, 1, std::span(bytes).first(kMost)), 0u);
    EXPECT_NE(capture.Put(RecordKind::kContents, 1, std::span(bytes).first(kMost / 3)), 0u);
  }
  // Large arrays go into blobs.
  constexpr uint32_t kBarrierBytes = 32;
  const std::vector<std::byte> barriers(100'000 * kBarrierBytes);
  const uint32_t count = 100'000;
  const void* const data = barriers.data();
  const void* const arguments[] = {&count, &data};
  const auto method = Method::ID3D12GraphicsCommandList_ResourceBarrier;
  const uint64_t call = capture.BeginCall(method, 1, arguments, Context());
  EXPECT_NE(call, 0u);
  capture.EndCall(call, method, 1, arguments, nullptr, Context());
  const auto records = watcher_.Finish();
  const auto contents = OfKind(records, RecordKind::kContents);
  ASSERT_EQ(contents.size(), 20u);
  for (const TestRecord* const record : contents) {
    EXPECT_TRUE(std::equal(record->body.begin(), record->body.end(), bytes.begin()));
  }
  EXPECT_EQ(OfKind(records, RecordKind::kBlob).size(), 4u);
}

TEST_F(CaptureTest, AWatcherThatIsGoneEndsTheCaptureNotTheProgram) {
  Capture& capture = Begin();
  AwaitRegion();
  watcher_.Pause(true);
  std::thread program([&] {
    // The writes exceed the room, and then no watcher makes room.
    for (uint32_t i = 0; i < 60'000; ++i) capture.Returned(BeginDispatch(capture, 1, i));
  });
  while (watcher_.ring(0)->waiting.load() == 0) std::this_thread::yield();
  watcher_.Die();
  program.join();
  EXPECT_EQ(capture.state(), CaptureState::kStopped);
  EXPECT_EQ(BeginDispatch(capture, 1, 1), 0u);
  EXPECT_EQ(capture.FrameEnded(1), Capture::AtFrame::kStopped);
  EXPECT_EQ(Capture::Active(), nullptr);
}

TEST_F(CaptureTest, AWatcherThatReadsNoMoreEndsIt) {
  Capture& capture = Begin();
  AwaitRegion();
  watcher_.Pause(true);
  std::thread program([&] {
    for (uint32_t i = 0; i < 60'000; ++i) capture.Returned(BeginDispatch(capture, 1, i));
  });
  while (watcher_.ring(0)->waiting.load() == 0) std::this_thread::yield();
  // The watcher's socket is still open: it does other work.
  watcher_.header()->reader.store(static_cast<uint32_t>(CaptureReader::kLeft));
  program.join();
  EXPECT_EQ(capture.state(), CaptureState::kStopped);
  EXPECT_EQ(Capture::Active(), nullptr);
}

// One that is stopped (SIGSTOP), and does neither end nor read.
TEST_F(CaptureTest, AWatcherThatIsSilentForTooLongEndsIt) {
  SharedRegion::most_silent_ns = 300'000'000;
  Capture& capture = Begin();
  AwaitRegion();
  watcher_.Pause(true);
  std::thread program([&] {
    for (uint32_t i = 0; i < 60'000; ++i) capture.Returned(BeginDispatch(capture, 1, i));
  });
  program.join();
  SharedRegion::most_silent_ns = SharedRegion::kMostSilentNs;
  EXPECT_EQ(capture.state(), CaptureState::kStopped);
  EXPECT_EQ(watcher_.header()->gave_up.load(), 1u);
  EXPECT_EQ(capture.FrameEnded(1), Capture::AtFrame::kStopped);
  EXPECT_EQ(Capture::Active(), nullptr);
  // The records that fitted are whole.
  const auto records = watcher_.Finish();
  EXPECT_GT(records.size(), 1000u);
}

TEST_F(CaptureTest, FramesStartAndStopIt) {
  CaptureSettings options;
  options.start_frame = 2;
  options.stop_frame = 4;
  Capture& capture = Begin(options);
  EXPECT_EQ(capture.FrameEnded(0), Capture::AtFrame::kNothing);
  EXPECT_EQ(capture.FrameEnded(1), Capture::AtFrame::kStart);
  EXPECT_EQ(capture.FrameEnded(1), Capture::AtFrame::kNothing);  // another thread: once only
  EXPECT_FALSE(capture.on());
  capture.Started();
  EXPECT_TRUE(capture.on());
  EXPECT_EQ(capture.FrameEnded(2), Capture::AtFrame::kNothing);
  EXPECT_EQ(capture.FrameEnded(3), Capture::AtFrame::kStopped);
  EXPECT_EQ(Capture::Active(), nullptr);
  const auto records = watcher_.Finish();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].header.kind, RecordKind::kStart);
  EXPECT_EQ(records[1].header.kind, RecordKind::kStop);
}

TEST_F(CaptureTest, TheWatcherStartsAnArmedOne) {
  CaptureSettings options;
  options.armed = true;
  Capture& capture = Begin(options);
  AwaitRegion();
  EXPECT_EQ(capture.FrameEnded(0), Capture::AtFrame::kNothing);
  watcher_.Request(CaptureRequest::kStart);
  EXPECT_EQ(capture.FrameEnded(1), Capture::AtFrame::kStart);
  capture.Started();
  watcher_.Request(CaptureRequest::kStop);
  EXPECT_EQ(capture.FrameEnded(2), Capture::AtFrame::kStopped);
  EXPECT_EQ(watcher_.header()->frame.load(), 3u);
}

TEST(ObjectNumbers, AreNeverUsedAgain) {
  const uint64_t first = NextObjectNumber();
  EXPECT_GT(first, 0u);
  EXPECT_EQ(NextObjectNumber(), first + 1);
}

}  // namespace
}  // namespace cairn
