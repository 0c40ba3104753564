// SPDX-License-Identifier: Apache-2.0
#include "watcher/watched_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cairn/marker_types.h"

#include "format/file/file_reader.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/testing/test_block.h"
#include "watcher/testing/test_signals.h"

namespace cairn {
namespace {

// The block as another process would hand it over.
WatchedBlock HandOver(const TestBlock& block) {
  Result<SharedMemory> memory = SharedMemory::Create("test", block.bytes().size());
  EXPECT_TRUE(memory.ok());
  std::memcpy(memory->data(), block.bytes().data(), block.bytes().size());
  return WatchedBlock(std::move(memory).value());
}

class WatchedBlockTest : public testing::Test {
 protected:
  WatchedBlockTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("watched_block_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    context_ = block_.AddContext();
    queue_ = block_.AddQueue(context_, 0, "Graphics");
    list_ = block_.AddList(context_, queue_, 1, "Main");
    block_.Scope(list_, CAIRN_MARKER_DISPATCH, "Blur");
    block_.Scope(list_, CAIRN_MARKER_DISPATCH, "Tone map");
    block_.Close(list_);
    block_.Submit(queue_, list_);
  }
  ~WatchedBlockTest() override { std::filesystem::remove_all(folder_); }

  // Writes the dump and reads it back.
  Snapshot Dump(const WatchedBlock& block, std::span<const NoticedIncident> incidents) {
    const std::string path = (folder_ / "a.cairn").string();
    const DumpSubject subject{71, "game", "./game --fast", incidents};
    const Status written = WriteDump(path, subject, block);
    EXPECT_TRUE(written.ok()) << written.message();
    EXPECT_FALSE(std::filesystem::exists(path + ".part"));
    Result<FileReader> reader = FileReader::Open(path);
    EXPECT_TRUE(reader.ok()) << reader.status().message();
    if (!reader.ok()) return {};
    EXPECT_TRUE(reader->losses().empty());
    Result<Snapshot> snapshot = ReadSnapshot(*reader);
    EXPECT_TRUE(snapshot.ok()) << snapshot.status().message();
    return snapshot.ok() ? std::move(snapshot).value() : Snapshot();
  }

  std::filesystem::path folder_;
  TestBlock block_;
  uint32_t context_ = 0;
  uint32_t queue_ = 0;
  TestBlock::List list_{};
};

// The program keeps 32 bits of a call's number; what the capture gave out last says the rest.
TEST_F(WatchedBlockTest, CallsBeyondFourBillionAreWhole) {
  constexpr uint64_t kRound = uint64_t{1} << 32;
  TestBlock::List list = block_.AddList(context_, queue_, 2, "Late");
  const uint32_t first = block_.Begin(list, CAIRN_MARKER_DISPATCH, "Before");
  block_.End(list, first);
  const uint32_t second = block_.Begin(list, CAIRN_MARKER_DISPATCH, "After");
  block_.End(list, second);
  EventChunk& chunk = block_.chunk(block_.slot(list).first_event_page);
  chunk.events[EventPosition(list.slot, first - 1)].match = 0xFFFF'FFF0;
  chunk.events[EventPosition(list.slot, second - 1)].match = 7;
  block_.Close(list);
  const WatchedBlock block = HandOver(block_);
  const std::string path = (folder_ / "trace.cairn").string();
  Result<FileWriter> writer = FileWriter::Create(path);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(AppendDump(&*writer, {}, block, [] { return 3 * kRound + 10; }).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const Result<FileReader> file = FileReader::Open(path);
  ASSERT_TRUE(file.ok());
  const Result<Snapshot> snapshot = ReadSnapshot(*file);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  std::vector<uint64_t> calls;
  for (const Event& event : snapshot->events) {
    if (event.kind == EventKind::kBegin) calls.push_back(event.call);
  }
  // Without a capture that they were noted in, "Blur" and "Tone map" have none.
  EXPECT_THAT(calls, testing::UnorderedElementsAre(0, 0, 3 * kRound - 16, 3 * kRound + 7));
}

TEST_F(WatchedBlockTest, ADumpHoldsSinceWhenItsQueuesStandStill) {
  const QueueStand stands[] = {{queue_, 4711}, {12345, 1}};
  const std::string path = (folder_ / "a.cairn").string();
  ASSERT_TRUE(WriteDump(path, {71, "game", "./game", {}, stands}, HandOver(block_)).ok());
  const Result<FileReader> reader = FileReader::Open(path);
  ASSERT_TRUE(reader.ok());
  const Result<Snapshot> snapshot = ReadSnapshot(*reader);
  ASSERT_TRUE(snapshot.ok());
  ASSERT_LT(queue_, snapshot->queues.size());
  EXPECT_EQ(snapshot->queues[queue_].still_since_ns, 4711u);
}

TEST_F(WatchedBlockTest, ObservesUnfinishedWorkPerQueue) {
  block_.AddQueue(context_, 1, "Compute");
  block_.SetProgress(list_, 1, 0);
  WatchedBlock unfinished = HandOver(block_);
  const std::vector<QueueObservation> seen = unfinished.ObserveQueues();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].queue, queue_);
  EXPECT_EQ(seen[0].device, context_);
  EXPECT_TRUE(seen[0].unfinished);

  block_.SetProgress(list_, 4, 4);
  WatchedBlock finished = HandOver(block_);
  ASSERT_EQ(finished.ObserveQueues().size(), 1u);
  EXPECT_FALSE(finished.ObserveQueues()[0].unfinished);
}

TEST_F(WatchedBlockTest, NobodyWaitsForADestroyedContext) {
  block_.SetProgress(list_, 1, 0);
  block_.context(context_).state = 2;
  WatchedBlock block = HandOver(block_);
  EXPECT_FALSE(block.Evidence().work_unfinished);
}

TEST_F(WatchedBlockTest, FindsLostDevicesAndTheCrashThatTheHandlerSaw) {
  block_.AddContext();
  block_.context(1).device_lost = 1;
  block_.context(1).device_lost_code = -4;
  block_.header().crash_signal = SIGSEGV;
  block_.header().crash_address = 0xdead000;
  WatchedBlock block = HandOver(block_);
  const std::vector<LostDevice> lost = block.LostDevices();
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].device, 1u);
  EXPECT_EQ(lost[0].code, -4);
  const EndEvidence evidence = block.Evidence();
  EXPECT_EQ(evidence.crash_signal, SIGSEGV);
  EXPECT_EQ(evidence.crash_address, 0xdead000u);
  EXPECT_TRUE(evidence.work_unfinished);
}

TEST_F(WatchedBlockTest, GarbageIsSeenAsNothing) {
  std::memset(block_.bytes().data(), 0x5A, kPageBytes);
  WatchedBlock block = HandOver(block_);
  EXPECT_TRUE(block.ObserveQueues().empty());
  EXPECT_TRUE(block.LostDevices().empty());
  EXPECT_EQ(block.Evidence().crash_signal, 0);
}

TEST_F(WatchedBlockTest, TheDumpHoldsTheProcessTheIncidentsAndTheWork) {
  block_.SetProgress(list_, 1, 0);
  const NoticedIncident incidents[] = {
      {.kind = IncidentKind::kHang,
       .value = 2000,
       .time_ns = 11,
       .queue = queue_,
       .detail = "--kill-on-hang"},
      {.kind = IncidentKind::kSignal, .value = kSigkill, .time_ns = 12}};
  const Snapshot snapshot = Dump(HandOver(block_), incidents);
  EXPECT_EQ(snapshot.Text(snapshot.process.command_line), "./game --fast");
  ASSERT_EQ(snapshot.incidents.size(), 2u);
  EXPECT_EQ(snapshot.incidents[0].kind, IncidentKind::kHang);
  EXPECT_EQ(snapshot.incidents[0].queue, queue_);
  EXPECT_EQ(snapshot.incidents[0].time_ns, 11u);
  EXPECT_EQ(snapshot.Text(snapshot.incidents[0].detail), "--kill-on-hang");
  EXPECT_EQ(snapshot.incidents[1].kind, IncidentKind::kSignal);
  EXPECT_EQ(snapshot.incidents[1].value, kSigkill);
  ASSERT_EQ(snapshot.recordings.size(), 1u);
  EXPECT_EQ(snapshot.Text(snapshot.recordings[0].name), "Main");
  EXPECT_EQ(snapshot.recordings[0].reached, 1u);
  EXPECT_EQ(snapshot.recordings[0].passed, 0u);
  ASSERT_EQ(snapshot.events.size(), 4u);
  EXPECT_EQ(snapshot.Text(snapshot.events[0].name), "Blur");
}

TEST_F(WatchedBlockTest, WhatWatcherAndBlockBothTellIsOneIncident) {
  block_.header().crash_signal = SIGSEGV;
  block_.header().crash_address = 0xdead000;
  const NoticedIncident incidents[] = {
      {.kind = IncidentKind::kSignal, .value = SIGSEGV, .time_ns = 12}};
  const Snapshot snapshot = Dump(HandOver(block_), incidents);
  ASSERT_EQ(snapshot.incidents.size(), 1u);
  EXPECT_EQ(snapshot.incidents[0].time_ns, 12u);
  EXPECT_EQ(snapshot.incidents[0].address, 0xdead000u);
}

TEST_F(WatchedBlockTest, WhatTheGpuWritesWhileTheProcessDiesIsNotToldOfItsDeath) {
  block_.SetProgress(list_, 1, 0);
  Result<SharedMemory> memory = SharedMemory::Create("test", block_.bytes().size());
  ASSERT_TRUE(memory.ok());
  std::byte* const shared = memory->data();
  std::memcpy(shared, block_.bytes().data(), block_.bytes().size());
  WatchedBlock block(std::move(memory).value());
  block.KeepState();
  block_.SetProgress(list_, 4, 4);
  std::memcpy(shared, block_.bytes().data(), block_.bytes().size());
  const NoticedIncident incidents[] = {
      {.kind = IncidentKind::kSignal, .value = kSigkill, .time_ns = 12}};
  const Snapshot snapshot = Dump(block, incidents);
  EXPECT_EQ(snapshot.Text(snapshot.process.command_line), "./game --fast");
  ASSERT_EQ(snapshot.incidents.size(), 1u);
  ASSERT_EQ(snapshot.recordings.size(), 1u);
  EXPECT_EQ(snapshot.recordings[0].reached, 1u);
  EXPECT_EQ(snapshot.recordings[0].passed, 0u);
}

TEST_F(WatchedBlockTest, ADeathByTheNotedSignalIsToldAsItWasThen) {
  block_.SetProgress(list_, 1, 0);
  block_.NoteFault(SIGSEGV);
  block_.SetProgress(list_, 4, 4);
  const NoticedIncident died[] = {{.kind = IncidentKind::kSignal, .value = SIGSEGV, .time_ns = 12}};
  const Snapshot then = Dump(HandOver(block_), died);
  EXPECT_EQ(then.recordings.at(0).reached, 1u);
  EXPECT_EQ(then.recordings.at(0).passed, 0u);
  ASSERT_EQ(then.incidents.size(), 1u);
  EXPECT_EQ(then.Text(then.incidents[0].detail), "the report shows the state at that moment");
  // The program had handled that fault.
  const NoticedIncident killed[] = {
      {.kind = IncidentKind::kSignal, .value = kSigkill, .time_ns = 12}};
  EXPECT_EQ(Dump(HandOver(block_), killed).recordings.at(0).passed, 4u);
}

TEST_F(WatchedBlockTest, AQueueThatTheBlockDoesNotHaveIsNotNamed) {
  const NoticedIncident incidents[] = {
      {.kind = IncidentKind::kHang, .value = 2000, .time_ns = 11, .queue = 999}};
  const Snapshot snapshot = Dump(HandOver(block_), incidents);
  ASSERT_EQ(snapshot.incidents.size(), 1u);
  EXPECT_EQ(snapshot.incidents[0].queue, kNone);
}

TEST_F(WatchedBlockTest, AProgramWithoutBlockGivesADumpThatSaysSo) {
  const NoticedIncident incidents[] = {
      {.kind = IncidentKind::kSignal, .value = kSigkill, .time_ns = 12}};
  const Snapshot snapshot = Dump(WatchedBlock(), incidents);
  EXPECT_EQ(snapshot.process.process_id, 71u);
  EXPECT_EQ(snapshot.Text(snapshot.process.program), "game");
  ASSERT_EQ(snapshot.incidents.size(), 1u);
  ASSERT_EQ(snapshot.losses.size(), 1u);
  EXPECT_EQ(
      snapshot.Text(snapshot.losses[0]),
      "The program never created a Cairn context: it does not use libcairn, or ended before.");
}

TEST_F(WatchedBlockTest, AnUnreadableBlockGivesADumpThatSaysSo) {
  std::memset(block_.bytes().data(), 0x5A, kPageBytes);
  const NoticedIncident incidents[] = {
      {.kind = IncidentKind::kSignal, .value = kSigkill, .time_ns = 12}};
  const Snapshot snapshot = Dump(HandOver(block_), incidents);
  ASSERT_EQ(snapshot.losses.size(), 1u);
  EXPECT_THAT(std::string(snapshot.Text(snapshot.losses[0])),
              testing::StartsWith("Nothing could be read: not a Cairn block"));
}

TEST_F(WatchedBlockTest, AFailedDumpLeavesTheOldFileAlone) {
  const std::string path = (folder_ / "a.cairn").string();
  std::ofstream(path) << "before";
  std::filesystem::create_directory(path + ".part");
  const DumpSubject subject{71, "game", "./game", {}};
  EXPECT_FALSE(WriteDump(path, subject, HandOver(block_)).ok());
  EXPECT_EQ(std::filesystem::file_size(path), 6u);
}

}  // namespace
}  // namespace cairn
