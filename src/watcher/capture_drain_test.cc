// SPDX-License-Identifier: Apache-2.0
#include "watcher/capture_drain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "format/calls/call_builder.h"
#include "format/model/kept_records.h"
#include "format/snapshot/snapshot_file.h"
#include "format/trace/trace_reader.h"
#include "watcher/capture_words.h"
#include "watcher/testing/test_region.h"
#include "watcher/watched_block.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CaptureDrainTest : public testing::Test {
 protected:
  CaptureDrainTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("capture_drain_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    region_.UseRing(0, 0, "main");
    region_.UseRing(1, 1, "worker");
  }
  ~CaptureDrainTest() override { std::filesystem::remove_all(folder_); }

  CaptureDrainSettings Settings() {
    CaptureDrainSettings settings;
    settings.path = (folder_ / "game.cairn").string();
    settings.facts.program = "game";
    settings.facts.process_id = 4711;
    return settings;
  }

  void WriteFrame(uint64_t frame) {
    FrameBody body{};
    body.frame = frame;
    body.how = static_cast<uint32_t>(FrameEndKind::kPresent);
    region_.Write(0, RecordKind::kFrame, 0, std::as_bytes(std::span(&body, 1)));
  }

  // "KIND" of each record, in order.
  std::vector<int> KindsIn(const std::string& path) {
    Result<TraceReader> trace = TraceReader::Open(path, Check::kPayloads);
    if (!trace.ok()) {
      ADD_FAILURE() << trace.status().message();
      return {};
    }
    EXPECT_THAT(trace->losses(), testing::IsEmpty());
    std::vector<int> kinds;
    TraceCursor cursor(*trace);
    Record record;
    while (cursor.Next(&record)) kinds.push_back(static_cast<int>(record.kind));
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().message();
    return kinds;
  }

  std::filesystem::path folder_;
  TestRegion region_;
};

TEST_F(CaptureDrainTest, WhatWasHandedOverIsInTheFile) {
  CaptureDrain drain(region_.Watched(), Settings());
  region_.Write(0, RecordKind::kCall, 1);
  region_.Write(1, RecordKind::kCall, 2);
  WriteFrame(0);
  Result<CaptureSummary> summary = drain.Finish();
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->calls, 2u);
  EXPECT_EQ(summary->frames, 1u);
  EXPECT_EQ(summary->file_bytes, std::filesystem::file_size(Settings().path));
  EXPECT_THAT(KindsIn(Settings().path), ElementsAre(1, 1, 7));
}

TEST_F(CaptureDrainTest, TheCallThatNeverReturned) {
  CaptureDrain drain(region_.Watched(), Settings());
  const uint64_t call = region_.Write(1, RecordKind::kCall, 2);
  region_.ring(1).in_call = call;
  ASSERT_TRUE(drain.Finish().ok());
  Result<TraceReader> trace = TraceReader::Open(Settings().path);
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace->finished());
  EXPECT_EQ(trace->facts().process_id, 4711u);
  ASSERT_EQ(trace->threads().size(), 2u);
  EXPECT_EQ(trace->threads()[0].unreturned_call, 0u);
  EXPECT_EQ(trace->threads()[1].name, "worker");
  EXPECT_EQ(trace->threads()[1].thread_id, 1001u);
  EXPECT_EQ(trace->threads()[1].unreturned_call, call);
}

TEST_F(CaptureDrainTest, GapsOfADeadProgramArePassedOver) {
  CaptureDrain drain(region_.Watched(), Settings());
  region_.Write(0, RecordKind::kCall, 1);
  region_.TakeNumber();  // by a thread that was killed
  region_.Write(1, RecordKind::kCall, 2);
  ASSERT_TRUE(drain.Finish().ok());
  EXPECT_THAT(KindsIn(Settings().path), ElementsAre(1, 1));
}

TEST_F(CaptureDrainTest, AThreadThatKeepsItsNumbersHoldsNobodyBack) {
  CaptureDrain drain(region_.Watched(), Settings());
  region_.header().next_number = kMostLeased;
  RecordHeader first{};
  first.kind = RecordKind::kCall;
  first.number = 1;
  region_.ring(0).lease = Lease{1, kMostLeased, 1}.Word();
  region_.Write(0, first, {});
  region_.Write(1, RecordKind::kCall, 2);
  while (region_.ring(1).tail.load() != region_.ring(1).head.load()) std::this_thread::yield();
  ASSERT_TRUE(drain.Finish().ok());
  EXPECT_THAT(KindsIn(Settings().path), ElementsAre(1, 1));
}

TEST_F(CaptureDrainTest, DumpsStandInTheSameFileAndTheLastCounts) {
  CaptureDrain drain(region_.Watched(), Settings());
  region_.Write(0, RecordKind::kCall, 1);
  const NoticedIncident hang{IncidentKind::kHang, 2000, 5, kNone, 0};
  const NoticedIncident killed{IncidentKind::kSignal, 9, 6, kNone, 0};
  for (const NoticedIncident& incident : {hang, killed}) {
    const DumpSubject subject{4711, "game", "game --fast", {&incident, 1}};
    ASSERT_TRUE(drain
                    .Append([&](FileWriter* file) {
                      return AppendDump(file, subject, WatchedBlock(),
                                        [&] { return drain.LastNumber(); });
                    })
                    .ok());
    region_.Write(0, RecordKind::kCall, 1);
  }
  ASSERT_TRUE(drain.Finish().ok());
  EXPECT_THAT(KindsIn(Settings().path), ElementsAre(1, 1, 1));
  const Result<FileReader> file = FileReader::Open(Settings().path);
  ASSERT_TRUE(file.ok());
  const Result<Snapshot> snapshot = ReadSnapshot(*file);
  ASSERT_TRUE(snapshot.ok());
  ASSERT_EQ(snapshot->incidents.size(), 1u);
  EXPECT_EQ(snapshot->incidents[0].kind, IncidentKind::kSignal);
}

TEST_F(CaptureDrainTest, KnowsTheLastNumberAlsoWhenTheTraceHasEnded) {
  CaptureDrain drain(region_.Watched(), Settings());
  region_.Write(0, RecordKind::kCall, 1);
  region_.TakeNumber();  // by a thread that was killed
  uint64_t last = 0;
  const auto ask = [&](FileWriter*) {
    last = drain.LastNumber();
    return Status();
  };
  ASSERT_TRUE(drain.Append(ask).ok());
  EXPECT_EQ(last, 2u);
  region_.Write(0, RecordKind::kCall, 1);
  drain.EndTrace();
  ASSERT_TRUE(drain.Append(ask).ok());
  EXPECT_EQ(last, 3u);
}

TEST_F(CaptureDrainTest, NothingIsWrittenBehindTheStop) {
  CaptureDrain drain(region_.Watched(), Settings());
  region_.Write(0, RecordKind::kCall, 1);
  region_.Write(0, RecordKind::kStop);
  region_.ring(0).in_call = region_.Write(0, RecordKind::kCall, 1);
  ASSERT_TRUE(drain.Finish().ok());
  EXPECT_THAT(KindsIn(Settings().path), ElementsAre(1, 12));
  Result<TraceReader> trace = TraceReader::Open(Settings().path);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->threads()[0].unreturned_call, 0u);
}

TEST_F(CaptureDrainTest, AFileThatCannotBeWrittenStopsTheCaptureNotTheProgram) {
  CaptureDrainSettings settings = Settings();
  settings.path = (folder_ / "none" / "game.cairn").string();
  CaptureDrain drain(region_.Watched(), settings);
  // The data exceed a ring: the drain must read.
  const std::vector<std::byte> body(100'000);
  for (int i = 0; i < 40; ++i) {
    while (region_.ring(0).head - region_.ring(0).tail > kCaptureRingBytes / 2) {
      std::this_thread::yield();
    }
    region_.Write(0, RecordKind::kNote, 0, body);
  }
  EXPECT_EQ(region_.header().request, static_cast<uint32_t>(CaptureRequest::kStop));
  EXPECT_EQ(drain.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(drain.Finish().status().code(), StatusCode::kNotFound);
}

TEST_F(CaptureDrainTest, ACaptureThatFailedLeavesItsNameToTheReport) {
  region_.header().model_hash ^= 1;
  CaptureDrain drain(region_.Watched(), Settings());
  while (!drain.failed()) std::this_thread::yield();
  const Result<FileWriter> file = FileWriter::Create(Settings().path);
  EXPECT_TRUE(file.ok()) << file.status().message();
}

TEST_F(CaptureDrainTest, ARecordThatMayNotStandInATraceIsLeftOut) {
  CaptureDrain drain(region_.Watched(), Settings());
  region_.Write(0, RecordKind::kResult, 1);  // of no call
  region_.Write(0, RecordKind::kCall, 1);
  const Result<CaptureSummary> summary = drain.Finish();
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->calls, 1u);
  EXPECT_THAT(summary->losses, ElementsAre("1 records are not allowed in a trace and are skipped"));
  EXPECT_THAT(KindsIn(Settings().path), ElementsAre(1, 13));
}

TEST_F(CaptureDrainTest, AProgramThatGoesOnWritingIsNotWaitedFor) {
  CaptureDrain drain(region_.Watched(), Settings());
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop) {
      if (region_.ring(0).head - region_.ring(0).tail > kCaptureRingBytes / 2) continue;
      region_.Write(0, RecordKind::kCall, 1);
    }
  });
  drain.EndTrace();
  stop = true;
  writer.join();
  EXPECT_TRUE(drain.Finish().ok());
}

TEST_F(CaptureDrainTest, AnotherModelIsRefused) {
  region_.header().model_hash ^= 1;
  CaptureDrain drain(region_.Watched(), Settings());
  const Result<CaptureSummary> summary = drain.Finish();
  EXPECT_EQ(summary.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(CaptureInWords("game", "game.cairn", summary),
              HasSubstr("game was not captured: the layer in the program knows other functions"));
}

TEST_F(CaptureDrainTest, LossesAreNotes) {
  CaptureDrain drain(region_.Watched(), Settings());
  const uint32_t bad[] = {10, 1, kSpillBlocks};
  region_.Write(0, RecordKind::kBlob, 0, std::as_bytes(std::span(bad)), kRecordSpilled);
  region_.Write(0, RecordKind::kCall, 1);
  const Result<CaptureSummary> summary = drain.Finish();
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(summary->losses, ElementsAre("1 records were damaged and are skipped"));
  EXPECT_THAT(KindsIn(Settings().path), ElementsAre(1, 13));
}

TEST_F(CaptureDrainTest, WhatALateStartUsesAndCannotHaveIsANote) {
  constexpr uint64_t kHeap = 5, kList = 6, kQueue = 7;
  region_.header().state = static_cast<uint32_t>(CaptureState::kArmed);
  CaptureDrain drain(region_.Watched(), Settings());
  const auto call = [this](Method method, uint64_t object, const CallBuilder::Body& body) {
    ASSERT_TRUE(body.ok);
    RecordHeader header{};
    header.kind = RecordKind::kCall;
    header.method = static_cast<uint16_t>(method);
    header.number = region_.TakeNumber();
    header.object = object;
    region_.Write(0, header, body.bytes);
  };
  const ObjectBody heap{1, 0, static_cast<uint32_t>(Chain::kID3D12QueryHeap), kNoFacts};
  region_.Write(0, RecordKind::kObject, kHeap, std::as_bytes(std::span(&heap, 1)));
  region_.Write(0, RecordKind::kStart);
  CallBuilder builder;
  const Method resolve = Method::ID3D12GraphicsCommandList_ResolveQueryData;
  call(resolve, kList, builder.Call(resolve, ObjectPointer(kHeap), 0, 3, 1, ObjectPointer(8), 0));
  const Method execute = Method::ID3D12CommandQueue_ExecuteCommandLists;
  void* const lists[] = {ObjectPointer(kList)};
  call(execute, kQueue, builder.Call(execute, 1, lists));
  const Result<CaptureSummary> summary = drain.Finish();
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_THAT(summary->losses, ElementsAre(HasSubstr("query heap 5: results from before")));
  EXPECT_THAT(KindsIn(Settings().path), ElementsAre(3, 11, 1, 1, 13));
}

TEST_F(CaptureDrainTest, TriggersAskForTheStartAndThenForTheStop) {
  const std::string trigger = (folder_ / "now").string();
  CaptureDrainSettings settings = Settings();
  settings.trigger_path = trigger;
  CaptureDrain drain(region_.Watched(), settings);
  const auto wait_for = [this](CaptureRequest request) {
    while (region_.header().request != static_cast<uint32_t>(request)) std::this_thread::yield();
  };
  std::ofstream{trigger} << "x";
  wait_for(CaptureRequest::kStart);
  std::filesystem::remove(trigger);
  wait_for(CaptureRequest::kStop);
  EXPECT_TRUE(drain.Finish().ok());
}

TEST(CaptureWords, CountsInWords) {
  CaptureSummary summary;
  summary.calls = 18233;
  summary.frames = 1;
  summary.file_bytes = 1'234'567;
  EXPECT_EQ(CaptureInWords("gears", "'my gears.cairn'", summary),
            "cairn: gears captured: 18,233 calls, 1 frame, 1,205 KiB: cairn info 'my gears.cairn'");
}

// The program has ended, and a child of it goes on as fast as it can.
TEST_F(CaptureDrainTest, WhoGoesOnAfterTheEndIsNotWaitedFor) {
  CaptureDrain drain(region_.Watched(), Settings());
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> written{0};
  std::thread child([&] {
    while (!stop) {
      // Without care for what is read: a hostile program overwrites it.
      region_.Write(0, RecordKind::kCall, 1);
      ++written;
    }
  });
  while (written < 1000) std::this_thread::yield();
  const Result<CaptureSummary> summary = drain.Finish();
  const uint64_t at_the_end = written;
  // The child still writes: this test is about Finish() returning all the same.
  while (written == at_the_end) std::this_thread::yield();
  stop = true;
  child.join();
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_LE(summary->calls, at_the_end);
}

// A number that was taken holds back what comes behind it until the program has ended; then there is no time for it.
TEST_F(CaptureDrainTest, WhatAnEndHasNoTimeForIsALoss) {
  constexpr uint64_t kCalls = 5000;
  region_.TakeNumber();
  for (uint64_t i = 0; i < kCalls; ++i) region_.Write(0, RecordKind::kCall, 1);
  CaptureDrainSettings settings = Settings();
  EXPECT_EQ(settings.most_end_ns, 10'000'000'000u);
  settings.most_end_ns = 0;
  CaptureDrain drain(region_.Watched(), settings);
  const Result<CaptureSummary> summary = drain.Finish();
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_LT(summary->calls, kCalls);
  EXPECT_THAT(
      summary->losses,
      testing::Contains(
          "there was no time for all records that the program left: the trace is truncated"));
}

// A region that says that it is armed is kept in memory, with all that its program claims to be alive.
TEST_F(CaptureDrainTest, WhatIsKeptForALateStartIsBounded) {
  region_.header().state = static_cast<uint32_t>(CaptureState::kArmed);
  CaptureDrainSettings settings = Settings();
  EXPECT_EQ(settings.most_kept_bytes, uint64_t{2} << 30);
  settings.most_kept_bytes = 4u << 20;
  CaptureDrain drain(region_.Watched(), settings);
  const std::vector<std::byte> body(64u << 10);
  // Blobs are kept for the call that comes behind them, which never does.
  for (uint64_t number = 0; number < 128 && !drain.failed();) {
    if (region_.ring(0).head - region_.ring(0).tail > kCaptureRingBytes / 2) {
      std::this_thread::yield();
      continue;
    }
    region_.Write(0, RecordKind::kBlob, 0, body);
    ++number;
  }
  while (!drain.failed()) std::this_thread::yield();
  EXPECT_EQ(drain.Finish().status().message(),
            "what is alive in the program before the recording begins takes more than 4 MiB; begin "
            "earlier, or record from the start");
  EXPECT_EQ(KeptBytes(), 0u);
}

}  // namespace
}  // namespace cairn
