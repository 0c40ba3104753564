// SPDX-License-Identifier: Apache-2.0
#include "watcher/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <string>

#include "format/block/block.h"
#include "watcher/block_bounds.h"
#include "watcher/testing/session_scene.h"
#include "watcher/testing/test_signals.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WatchSession, ADeathIsReportedOnceAndEndsIt) {
  Scene scene;
  scene.StartGame();
  scene.Block(kGame);
  EXPECT_FALSE(scene.session->Finished());
  scene.End(kGame, kSegv);
  scene.session->OnEnded(0);
  EXPECT_THAT(
      scene.lines,
      ElementsAre("cairn: game died with signal 11 (SIGSEGV); report: cairn report game.cairn"));
  EXPECT_TRUE(scene.session->Finished());
  EXPECT_EQ(scene.session->NextTimeNs(), kNever);
  EXPECT_EQ(scene.session->end().value, SIGSEGV);
  EXPECT_THAT(scene.world.reports[0].incidents, ElementsAre(IncidentKind::kSignal));
}

TEST(WatchSession, AnOrderlyExitIsNoNews) {
  Scene scene;
  scene.StartGame();
  scene.Block(kGame);
  scene.End(kGame, {EndKind::kExited, 3});
  scene.session->SayLast();
  EXPECT_THAT(scene.lines, IsEmpty());
  EXPECT_EQ(scene.session->end().value, 3);
}

TEST(WatchSession, WithoutABlockThereIsNothingToWaitFor) {
  Scene scene;
  scene.StartGame();
  EXPECT_EQ(scene.session->NextTimeNs(), kNever);
  scene.Block(kGame);
  EXPECT_EQ(scene.session->NextTimeNs(), scene.world.now_ns);
}

TEST(WatchSession, AHangIsReportedOnceAndKilledWhereThatIsWanted) {
  Scene scene(KillingOnHang());
  scene.StartGame();
  scene.Block(kGame);
  scene.Pass(kSecond / 2);
  EXPECT_THAT(scene.lines, IsEmpty());
  scene.Pass(3 * kSecond);
  const auto line =
      "cairn: game hangs: GPU work made no progress for 1 s; killed it; report: cairn report "
      "game.cairn";
  EXPECT_THAT(scene.lines, ElementsAre(line));
  EXPECT_EQ(scene.world.processes[kGame].kills, 1);
  scene.End(kGame, kKilled);
  EXPECT_THAT(scene.lines, ElementsAre(line));
  EXPECT_TRUE(scene.session->killed_for_hang());
}

// The block of another process is not read a second time, whichever process hands it over.
TEST(WatchSession, ABlockBelongsToWhoHandedItOverFirst) {
  Scene scene;
  scene.StartGame();
  scene.Block(kGame);
  if (scene.world.processes[kGame].block.MapAgainForReading().value().identity() == 0) {
    GTEST_SKIP() << "this system does not tell which memory it is";
  }
  scene.world.processes[kChild].program = "thief";
  for (int i = 0; i < 3; ++i) {
    scene.world.Send(kChild, HandoverKind::kBlock, &scene.world.processes[kGame].block);
    scene.session->OnMessages();
  }
  EXPECT_THAT(
      scene.lines,
      ElementsAre("! cairn: thief (process 72) is not watched: it sent the memory of another "
                  "process, which is watched"));
  EXPECT_EQ(scene.world.watched.size(), 1u);
  // The same process may do it again; and when that has ended, others may.
  scene.world.Send(kGame, HandoverKind::kBlock, &scene.world.processes[kGame].block);
  scene.session->OnMessages();
  scene.world.Send(kChild, HandoverKind::kBlock, &scene.world.processes[kGame].block);
  scene.world.processes[kChild].block =
      scene.world.processes[kGame].block.MapAgainForReading().value();
  scene.session->OnMessages();
  EXPECT_EQ(scene.world.watched.size(), 1u);
  scene.End(kGame, {EndKind::kExited, 0});
  scene.world.Send(kChild, HandoverKind::kBlock, &scene.world.processes[kGame].block);
  scene.session->OnMessages();
  EXPECT_EQ(scene.world.watched.size(), 1u);
  EXPECT_FALSE(scene.session->Finished());
  scene.End(kChild, {EndKind::kExited, 0});
  EXPECT_TRUE(scene.session->Finished());
}

TEST(BlockBounds, MappedBytesOfAllHoldersHaveABound) {
  BlockBounds bounds;
  const auto of = [](uint64_t bytes) { return SharedMemory::Borrow(nullptr, bytes); };
  constexpr uint64_t kHalf = BlockBounds::kMostMappedBytes / 2;
  EXPECT_EQ(bounds.Take(1, of(kHalf)), BlockBounds::Taken::kYes);
  EXPECT_EQ(bounds.Take(2, of(kHalf)), BlockBounds::Taken::kYes);
  EXPECT_EQ(bounds.Take(3, of(1)), BlockBounds::Taken::kTooMuch);
  EXPECT_EQ(bounds.Take(2, of(kHalf - 1)), BlockBounds::Taken::kYes);
  EXPECT_EQ(bounds.Take(3, of(1)), BlockBounds::Taken::kYes);
  bounds.Release(1);
  bounds.Release(1);
  EXPECT_EQ(bounds.mapped_bytes(), kHalf);
}

// Each look at one takes a second: the others are looked at in their time all the same.
TEST(WatchSession, ABlockWhoseLookTakesLongKeepsNobodyFromSeeingAHang) {
  Scene scene;
  scene.StartGame();
  scene.Block(kGame);
  scene.world.processes[kChild].program = "slow";
  scene.Block(kChild);
  scene.Pass(2 * kSecond + kSecond / 2);
  EXPECT_THAT(scene.lines, testing::Contains(testing::StartsWith("cairn: game hangs: ")));
  scene.End(kChild, kExit);
  scene.End(kGame, kExit);
}

// The rest of a capture is written on another thread, and may take its time: other processes do not wait for it.
TEST(WatchSession, ACaptureThatEndsSlowlyKeepsNobody) {
  Scene scene(Capturing());
  scene.StartGame();
  scene.world.capture_ends_slowly = true;
  scene.Capture(kGame);
  scene.world.processes[kChild].program = "child";
  scene.Block(kChild);
  scene.End(kGame, kSegv);
  EXPECT_THAT(scene.lines, IsEmpty());
  scene.Pass(3 * kSecond);
  EXPECT_THAT(scene.lines, ElementsAre(testing::StartsWith("cairn: child hangs: ")));
  EXPECT_FALSE(scene.session->Finished());
  scene.world.capture_ends_slowly = false;
  scene.Pass(kSecond);
  ASSERT_EQ(scene.lines.size(), 3u);
  EXPECT_THAT(scene.lines[1], testing::StartsWith("cairn: game died with signal 11 (SIGSEGV)"));
  EXPECT_THAT(scene.lines[2], testing::StartsWith("cairn: game captured: "));
  scene.End(kChild, kExit);
  EXPECT_TRUE(scene.session->Finished());
}

// Direct3D 11 on Microsoft's runtime: nothing would ever be noticed, and nothing be killed.
TEST(WatchSession, WhereNoHangCanBeNoticedThatIsSaidOnce) {
  const auto said = [](SessionSettings settings, MarkerMode mode) {
    Scene scene(std::move(settings));
    scene.StartGame();
    scene.world.SendBlock(kGame);
    std::byte* const block = scene.world.processes[kGame].block.data();
    const auto& header = *reinterpret_cast<const BlockHeader*>(block);
    reinterpret_cast<ContextRecord*>(block + header.contexts_offset)->mode = mode;
    scene.session->OnMessages();
    scene.Pass(kSecond / 2);
    return scene.lines;
  };
  EXPECT_THAT(said(KillingOnHang(), MarkerMode::kOff),
              ElementsAre(testing::StartsWith("! cairn: a hang of game cannot be noticed: ")));
  EXPECT_THAT(said(KillingOnHang(), MarkerMode::kTop), IsEmpty());
  EXPECT_THAT(said({}, MarkerMode::kOff), IsEmpty()) << "nobody waits for a kill";
}

TEST(WatchSession, AHangOfADebuggedProcessIsNone) {
  Scene scene(KillingOnHang());
  scene.StartGame();
  scene.Block(kGame);
  scene.world.processes[kGame].condition = ProcessCondition::kStopped;
  scene.Pass(30 * kSecond);
  EXPECT_THAT(scene.lines, IsEmpty());
  EXPECT_EQ(scene.world.processes[kGame].kills, 0);
}

TEST(WatchSession, WhoIsEndingIsNotKilled) {
  Scene scene(KillingOnHang());
  scene.StartGame();
  scene.Block(kGame);
  scene.world.processes[kGame].condition = ProcessCondition::kEnding;
  scene.Pass(30 * kSecond);
  EXPECT_EQ(scene.world.processes[kGame].kills, 0);
  scene.End(kGame, kSegv);
  EXPECT_THAT(
      scene.lines,
      ElementsAre("cairn: game is ending, and after 5 s still inside a driver; report: cairn "
                  "report game.cairn",
                  "cairn: game died with signal 11 (SIGSEGV); report: cairn report game.cairn"));
  EXPECT_FALSE(scene.session->killed_for_hang());
}

TEST(WatchSession, WhoSurvivesBeingKilledIsGivenUp) {
  Scene scene(KillingOnHang());
  scene.StartGame();
  scene.Block(kGame);
  scene.Pass(5 * kSecond);
  EXPECT_FALSE(scene.session->Finished());
  scene.Pass(5 * kSecond);
  EXPECT_TRUE(scene.session->Finished());
  ASSERT_EQ(scene.lines.size(), 2u);
  EXPECT_EQ(scene.lines[1],
            "! cairn: game (process 71) survives SIGKILL: it is stuck inside a driver and ends "
            "with it");
  EXPECT_TRUE(scene.session->killed_for_hang());
}

TEST(WatchSession, ALostDeviceIsReportedOnceHoweverOftenItIsSaid) {
  Scene scene;
  scene.StartGame();
  scene.Block(kGame);
  scene.LoseDevice(kGame);
  scene.LoseDevice(kGame);
  scene.End(kGame, {EndKind::kExited, 1});
  EXPECT_THAT(scene.lines, ElementsAre("cairn: game lost its device (code -4, 0xfffffffc); report: "
                                       "cairn report game.cairn"));
}

TEST(WatchSession, ADeviceLostBeforeDeathIsFoundInTheBlock) {
  Scene scene;
  scene.StartGame();
  scene.Block(kGame);
  scene.world.LoseDevice(kGame);
  scene.world.messages.clear();
  scene.End(kGame, kSegv);
  ASSERT_EQ(scene.lines.size(), 2u);
  EXPECT_THAT(scene.world.reports.back().incidents,
              ElementsAre(IncidentKind::kDeviceLost, IncidentKind::kSignal));
}

TEST(WatchSession, EachProcessHasAFileOfItsOwnAndIsWatchedToItsEnd) {
  Scene scene;
  scene.StartGame();
  scene.world.processes[kChild] = {.program = "bin/child", .command_line = "bin/child -x"};
  scene.Block(kGame);
  scene.Block(kChild);
  scene.End(kGame, kExit);
  EXPECT_FALSE(scene.session->Finished());
  scene.End(kChild, {EndKind::kSignalled, kSigabrt});
  EXPECT_TRUE(scene.session->Finished());
  EXPECT_THAT(
      scene.lines,
      ElementsAre("cairn: child died with signal 6 (SIGABRT); report: cairn report game-72.cairn"));
  EXPECT_EQ(scene.session->end().kind, EndKind::kExited);
}

TEST(WatchSession, WhatADeadProcessSentIsReadBeforeItsEnd) {
  Scene scene;
  scene.StartGame();
  scene.world.SendBlock(kGame);
  scene.world.LoseDevice(kGame);
  scene.End(kGame, kSegv);
  ASSERT_EQ(scene.lines.size(), 2u);
  EXPECT_THAT(scene.lines[0], testing::HasSubstr("lost its device"));
}

TEST(WatchSession, AStrangerThatIsGoneEndsWithWhatItSent) {
  Scene scene;
  scene.StartGame();
  scene.world.processes[kChild] = {.program = "child"};
  scene.world.SendBlock(kChild);
  auto& header = *reinterpret_cast<BlockHeader*>(scene.world.processes[kChild].block.data());
  std::strncpy(header.program, "/opt/child", sizeof(header.program) - 1);
  scene.world.processes[kChild].keeps_number = false;
  scene.world.Die(kChild, kSegv);
  scene.session->OnMessages();
  EXPECT_THAT(scene.lines, ElementsAre("cairn: child ended with GPU work unfinished; report: cairn "
                                       "report game.cairn"));
  EXPECT_FALSE(scene.session->Finished());
  EXPECT_EQ(scene.world.watched.size(), 1u);
}

// Numbers of processes are given out again.
TEST(WatchSession, ALaterProcessWithTheNumberOfTheProgramIsAnother) {
  Scene scene;
  scene.StartGame();
  scene.world.processes[kChild] = {.program = "child"};
  scene.Block(kChild);
  scene.End(kGame, kExit);
  ASSERT_EQ(scene.world.NumberOf(kGame), ~uint64_t{0});
  scene.world.processes[kGame] = {.program = "later"};
  scene.Block(kGame);
  ASSERT_NE(scene.world.NumberOf(kGame), ~uint64_t{0});
  scene.End(kGame, kSegv);
  ASSERT_EQ(scene.lines.size(), 1u);
  EXPECT_THAT(scene.lines[0], testing::HasSubstr("later died with signal 11"));
}

TEST(WatchSession, AProgramThatIsGoneAtOnceIsToldOf) {
  Scene scene;
  scene.world.processes[kGame].keeps_number = false;
  scene.world.SendBlock(kGame);
  scene.world.Die(kGame, kSegv);
  ASSERT_TRUE(scene.session->AddMainProcess(Scene::Handle(kGame), "game", "").ok());
  EXPECT_TRUE(scene.session->Finished());
  EXPECT_EQ(scene.lines.size(), 1u);
}

TEST(WatchSession, ASecondProgramInAProcessHasASecondBlock) {
  Scene scene;
  scene.StartGame();
  scene.Block(kGame);
  scene.Block(kGame);
  scene.LoseDevice(kGame);
  EXPECT_EQ(scene.lines.size(), 1u) << "the second block is read";
  EXPECT_EQ(scene.world.watched.size(), 1u);
}

TEST(WatchSession, ACaptureHoldsTheReportAndGetsItsNameAtTheEnd) {
  std::vector<std::string> told;
  const std::vector<std::string>* lines = nullptr;
  SessionSettings settings = Capturing();
  settings.report_written = [&](const std::string& path) {
    told.push_back(path + " behind " + lines->back().substr(0, 19));
  };
  Scene scene(std::move(settings));
  lines = &scene.lines;
  scene.StartGame();
  scene.Block(kGame);
  scene.Capture(kGame);
  EXPECT_TRUE(scene.session->captured());
  scene.session->OnTrigger();
  EXPECT_EQ(scene.world.triggers, 1);
  scene.LoseDevice(kGame);
  scene.End(kGame, kSegv);
  scene.session->OnTrigger();
  EXPECT_EQ(scene.world.triggers, 1);
  EXPECT_THAT(
      scene.lines,
      ElementsAre("cairn: game lost its device (code -4, 0xfffffffc); report: cairn report "
                  "game.cairn.part",
                  "cairn: game died with signal 11 (SIGSEGV); report: cairn report game.cairn",
                  "cairn: game captured: 1 call, 1 frame, 100 bytes: cairn info game.cairn"));
  EXPECT_THAT(told, ElementsAre("game.cairn.part behind cairn: game lost it",
                                "game.cairn behind cairn: game capture"));
}

TEST(WatchSession, AReportOfAKilledProgramIsToldWhenItsCaptureHasItsName) {
  std::vector<std::string> told;
  SessionSettings settings = Capturing();
  settings.policy.kill_on_hang = true;
  settings.report_written = [&](const std::string& path) { told.push_back(path); };
  Scene scene(std::move(settings));
  scene.StartGame();
  scene.Block(kGame);
  scene.Capture(kGame);
  scene.Pass(3 * kSecond);
  EXPECT_EQ(scene.world.reports.size(), 1u);
  EXPECT_THAT(told, IsEmpty());
  scene.End(kGame, kKilled);
  EXPECT_THAT(told, ElementsAre("game.cairn"));
}

TEST(WatchSession, ASecondProgramInAProcessHasACaptureOfItsOwn) {
  Scene scene(Capturing());
  scene.StartGame();
  scene.Capture(kGame);
  scene.Capture(kGame);
  scene.End(kGame, kExit);
  EXPECT_THAT(scene.lines,
              ElementsAre("cairn: game captured: 1 call, 1 frame, 100 bytes: cairn info game.cairn",
                          "cairn: game captured: 1 call, 1 frame, 100 bytes: cairn info "
                          "game-71.cairn"));
}

TEST(WatchSession, NobodyIsCapturedUnasked) {
  Scene scene;
  scene.StartGame();
  scene.Capture(kGame);
  EXPECT_EQ(scene.world.captures_refused, 1);
  EXPECT_FALSE(scene.session->captured());
  EXPECT_THAT(scene.lines,
              ElementsAre("! cairn: game (process 71) asks to be captured, which cairn was not "
                          "told to do; say cairn run --capture"));
}

TEST(WatchSession, CapturesAreBoundedAndTheFirstRefusalIsSaid) {
  Scene scene(Capturing());
  scene.StartGame();
  for (size_t i = 0; i < kMaxCaptures + 3; ++i) {
    const ProcessId id = 100 + static_cast<ProcessId>(i);
    scene.world.processes[id].program = "tool";
    scene.Capture(id);
  }
  EXPECT_EQ(scene.world.captured.size(), kMaxCaptures);
  scene.session->SayLast();
  EXPECT_THAT(
      scene.lines,
      ElementsAre("! cairn: tool (process 116) is not captured: too many processes are already",
                  "! cairn: 3 requests of processes to be watched were refused in all"));
  for (const auto& [id, process] : scene.world.processes) {
    if (scene.world.NumberOf(id) != ~uint64_t{0}) scene.End(id, kExit);
  }
  EXPECT_TRUE(scene.world.captured.empty());
  EXPECT_TRUE(scene.session->Finished());
}

TEST(WatchSession, WhoCannotBeWatchedIsNamed) {
  Scene scene;
  scene.StartGame();
  scene.world.room = 1;
  scene.world.processes[kChild].program = "child";
  scene.Block(kChild);
  scene.Block(kChild);
  scene.world.turned_away = 5;
  scene.session->SayLast();
  EXPECT_THAT(scene.lines,
              ElementsAre("! cairn: child (process 72) is not watched: there are as many processes "
                          "as cairn may watch; later ones are not watched either",
                          "! cairn: 7 requests of processes to be watched were refused in all"));
}

TEST(WatchSession, AMessageThatLeavesNoRoomIsRefused) {
  Scene scene;
  scene.StartGame();
  scene.world.SendBlock(kGame);
  scene.world.messages.back().no_room = true;
  scene.session->OnMessages();
  EXPECT_THAT(scene.lines,
              ElementsAre("! cairn: game (process 71) is not watched: cairn may open no more files "
                          "(ulimit -n); later ones are not watched either"));
}

TEST(WatchSession, MemoryOfAnotherSizeIsNoBlock) {
  Scene scene(Capturing());
  scene.StartGame();
  scene.world.processes[kChild];
  for (const uint64_t bytes : {uint64_t{0}, kMinBlockBytes - 1, kMinBlockBytes, ~uint64_t{0}}) {
    scene.world.SendBlock(kChild);
    scene.world.messages.back().message.block_bytes = bytes;
    scene.world.SendCapture(kChild);
    scene.world.messages.back().message.block_bytes = bytes;
  }
  scene.world.Send(kChild, HandoverKind::kBlock);
  scene.world.messages.back().message.block_bytes = kTestBlockBytes;
  scene.session->OnMessages();
  EXPECT_EQ(scene.world.watched.size(), 1u) << "who hands over nothing is not watched";
  EXPECT_THAT(scene.lines, IsEmpty());
}

TEST(WatchSession, WhoOnlySaysThatADeviceIsLostIsNotWatched) {
  Scene scene;
  scene.StartGame();
  scene.world.processes[kChild];
  scene.LoseDevice(kChild);
  EXPECT_EQ(scene.world.watched.size(), 1u);
}

TEST(WatchSession, ASignalReachesAllAndAfterTheProgramNobodyKeepsUsFromObeying) {
  Scene scene;
  scene.StartGame();
  scene.world.processes[kChild].program = "child";
  scene.Block(kChild);
  scene.session->OnSignal(SIGTERM);
  EXPECT_THAT(scene.world.processes[kGame].signals, ElementsAre(SIGTERM));
  EXPECT_THAT(scene.world.processes[kChild].signals, ElementsAre(SIGTERM));
  scene.world.processes[kChild].condition = ProcessCondition::kStopped;
  scene.Pass(20 * kSecond);
  EXPECT_FALSE(scene.session->Finished()) << "the program lives";
  scene.End(kGame, kExit);
  scene.Pass(20 * kSecond);
  EXPECT_FALSE(scene.session->Finished());
  scene.session->OnSignal(SIGTERM);
  scene.Pass(6 * kSecond);
  EXPECT_TRUE(scene.session->Finished());
  EXPECT_THAT(
      scene.lines,
      ElementsAre(
          testing::HasSubstr("game (process 71) goes on 5 s after SIGTERM"),
          "! cairn: child (process 72) goes on after the signal, and is no longer watched"));
  EXPECT_TRUE(scene.world.watched.empty());
}

TEST(WatchSession, ASecondSigtermKillsWhoDidNotObeyTheFirst) {
  Scene scene;
  scene.StartGame();
  scene.world.processes[kChild].program = "child";
  scene.Block(kChild);
  scene.session->OnSignal(SIGTERM);
  scene.Pass(kSecond / 2);
  scene.session->OnSignal(SIGTERM);  // impatient
  EXPECT_THAT(scene.world.processes[kGame].signals, ElementsAre(SIGTERM, SIGTERM));
  EXPECT_THAT(scene.lines, IsEmpty());
  scene.world.processes[kChild].condition = ProcessCondition::kStopped;
  scene.Pass(5 * kSecond);
  const auto goes_on =
      "! cairn: game (process 71) goes on 5 s after SIGTERM; a second SIGTERM to cairn kills it";
  EXPECT_THAT(scene.lines, ElementsAre(goes_on));
  scene.world.processes[kChild].condition = ProcessCondition::kRunning;
  scene.session->OnSignal(SIGINT);
  EXPECT_EQ(scene.world.processes[kGame].kills, 0);
  for (int i = 0; i < 3; ++i) scene.session->OnSignal(SIGTERM);
  const auto killed = "! cairn: killed game (process 71) and 1 more: SIGTERM did not end it";
  EXPECT_THAT(scene.lines, ElementsAre(goes_on, killed));
  EXPECT_EQ(scene.world.processes[kGame].kills, 1);
  EXPECT_EQ(scene.world.processes[kChild].kills, 1);
  // As if SIGTERM had ended it.
  scene.End(kChild, kKilled);
  EXPECT_EQ(scene.lines.back(),
            "cairn: child was ended by signal 15 (SIGTERM); report: cairn report game.cairn");
  // The program is stuck in a driver.
  scene.Pass(6 * kSecond);
  EXPECT_EQ(
      scene.lines.back(),
      "! cairn: game (process 71) survives SIGKILL: it is stuck inside a driver and ends with it");
  EXPECT_FALSE(scene.session->killed_for_hang());
  EXPECT_TRUE(scene.session->Finished());
}

TEST(WatchSession, WhoLivesUnwatchedIsNamedAtTheProgramsEnd) {
  Scene scene;
  scene.StartGame();
  for (ProcessId id = 200; id < 211; ++id) {
    scene.world.processes[id].program = "tool";
    scene.world.with_block.push_back(id);
  }
  scene.world.SendBlock(200);  // not read yet
  scene.End(kGame, kExit);
  EXPECT_THAT(
      scene.lines,
      ElementsAre("! cairn: not watched, so no report tells of their crash or hang: tool (process "
                  "201), tool (process 202), tool (process 203), tool (process 204), tool (process "
                  "205), tool (process 206), tool (process 207), tool (process 208) and 2 more"));
  EXPECT_FALSE(scene.session->Finished());
}

TEST(WatchSession, AReportThatIsLostIsSaid) {
  Scene scene;
  scene.StartGame();
  scene.Block(kGame);
  scene.world.report_error = Status(StatusCode::kIo, "the disk is full");
  scene.LoseDevice(kGame);
  scene.world.report_error = Status();
  scene.world.out_of_memory = true;
  scene.End(kGame, kSegv);
  EXPECT_TRUE(scene.session->lost_output());
  EXPECT_THAT(
      scene.lines,
      ElementsAre("! cairn: game lost its device (code -4, 0xfffffffc); no report: the disk "
                  "is full",
                  "! cairn: game died with signal 11 (SIGSEGV); no report: std::bad_alloc"));
}

TEST(WatchSession, ANameThatIsTakenCostsNoReport) {
  Scene scene;
  scene.StartGame();
  scene.Block(kGame);
  scene.world.in_the_way = {"game.cairn"};
  scene.LoseDevice(kGame);
  scene.End(kGame, kSegv);
  EXPECT_THAT(scene.lines,
              ElementsAre("! cairn: game.cairn is in use",
                          "cairn: game lost its device (code -4, 0xfffffffc); report: cairn report "
                          "game-71.cairn",
                          "cairn: game died with signal 11 (SIGSEGV); report: cairn report "
                          "game-71.cairn"));
}

}  // namespace
}  // namespace cairn
