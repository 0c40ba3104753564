// SPDX-License-Identifier: Apache-2.0
#include "watcher/watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "watcher/testing/test_signals.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMs = 1'000'000;

QueueObservation Busy(uint32_t queue, uint64_t fingerprint) {
  return {0, queue, true, fingerprint};
}
QueueObservation Idle(uint32_t queue, uint64_t fingerprint) {
  return {0, queue, false, fingerprint};
}

// Observes the same thing every 200 ms for `duration_ns`, and returns all queues found hanging.
std::vector<uint32_t> ObserveFor(Watchdog& watchdog, uint64_t& now_ns, uint64_t duration_ns,
                                 std::vector<QueueObservation> queues,
                                 ProcessCondition condition = ProcessCondition::kRunning) {
  std::vector<uint32_t> all;
  for (const uint64_t end = now_ns + duration_ns; now_ns < end; now_ns += 200 * kMs) {
    for (const uint32_t queue : watchdog.Observe(now_ns, queues, condition)) all.push_back(queue);
  }
  return all;
}

TEST(Watchdog, ReportsAQueueThatStandsStillOnce) {
  Watchdog watchdog(2 * kSecond);
  uint64_t now = 0;
  EXPECT_THAT(ObserveFor(watchdog, now, 2 * kSecond, {Busy(3, 7)}), IsEmpty());
  EXPECT_THAT(watchdog.Observe(now, std::vector{Busy(3, 7)}, ProcessCondition::kRunning),
              ElementsAre(3));
  EXPECT_THAT(ObserveFor(watchdog, now, 60 * kSecond, {Busy(3, 7)}), IsEmpty());
}

TEST(Watchdog, NeverReportsAnIdleProcess) {
  Watchdog watchdog(2 * kSecond);
  uint64_t now = 0;
  EXPECT_THAT(ObserveFor(watchdog, now, 3600 * kSecond, {Idle(0, 1), Idle(1, 2)}), IsEmpty());
  EXPECT_FALSE(watchdog.HasUnfinishedWork());
}

TEST(Watchdog, ProgressOfAnyWordRestartsTheClock) {
  Watchdog watchdog(2 * kSecond);
  uint64_t now = 0;
  for (uint64_t fingerprint = 1; fingerprint < 20; ++fingerprint) {
    EXPECT_THAT(ObserveFor(watchdog, now, 1800 * kMs, {Busy(0, fingerprint)}), IsEmpty());
  }
}

TEST(Watchdog, FinishingBetweenTwoWorksRestartsTheClock) {
  Watchdog watchdog(2 * kSecond);
  uint64_t now = 0;
  EXPECT_THAT(ObserveFor(watchdog, now, 1800 * kMs, {Busy(0, 1)}), IsEmpty());
  EXPECT_THAT(ObserveFor(watchdog, now, 200 * kMs, {Idle(0, 1)}), IsEmpty());
  EXPECT_THAT(ObserveFor(watchdog, now, 1800 * kMs, {Busy(0, 1)}), IsEmpty());
}

TEST(Watchdog, TellsSinceWhenAQueueStandsStill) {
  Watchdog watchdog(2 * kSecond);
  EXPECT_THAT(watchdog.Stands(), IsEmpty());
  const auto look = [&watchdog](uint64_t now, uint64_t fingerprint,
                                ProcessCondition condition = ProcessCondition::kRunning) {
    watchdog.Observe(now, std::vector{Busy(0, fingerprint), Idle(1, 1), Busy(kNone, 1)}, condition);
    const std::vector<QueueStand> stands = watchdog.Stands();
    return stands.size() == 1 && stands[0].queue == 0 ? stands[0].since_ns : 0;
  };
  EXPECT_EQ(look(100, 1), 100u);
  EXPECT_EQ(look(200, 1), 100u);
  EXPECT_EQ(look(300, 2), 300u);
  EXPECT_EQ(look(400, 2, ProcessCondition::kStopped), 400u)
      << "nothing can move while a debugger holds the process";
  EXPECT_EQ(look(500, 2), 400u);
  EXPECT_EQ(look(600, 2, ProcessCondition::kEnding), 400u) << "nothing began to move by that";
  EXPECT_EQ(look(700, 3, ProcessCondition::kEnding), 700u);
}

TEST(Watchdog, ReportsAgainAfterProgress) {
  Watchdog watchdog(2 * kSecond);
  uint64_t now = 0;
  EXPECT_THAT(ObserveFor(watchdog, now, 3 * kSecond, {Busy(0, 1)}), ElementsAre(0));
  EXPECT_THAT(ObserveFor(watchdog, now, 3 * kSecond, {Busy(0, 2)}), ElementsAre(0));
}

TEST(Watchdog, QueuesHaveClocksOfTheirOwn) {
  Watchdog watchdog(2 * kSecond);
  uint64_t now = 0;
  EXPECT_THAT(ObserveFor(watchdog, now, 1 * kSecond, {Busy(0, 1), Idle(1, 1)}), IsEmpty());
  EXPECT_THAT(ObserveFor(watchdog, now, 1200 * kMs, {Busy(0, 1), Busy(1, 2)}), ElementsAre(0));
  EXPECT_THAT(ObserveFor(watchdog, now, 1000 * kMs, {Busy(0, 1), Busy(1, 2)}), ElementsAre(1));
}

TEST(Watchdog, TimeInWhichTheWatcherSleptDoesNotCount) {
  Watchdog watchdog(2 * kSecond);
  EXPECT_THAT(watchdog.Observe(0, std::vector{Busy(0, 1)}, ProcessCondition::kRunning), IsEmpty());
  // Both were stopped by ^Z for an hour.
  EXPECT_THAT(watchdog.Observe(3600 * kSecond, std::vector{Busy(0, 1)}, ProcessCondition::kRunning),
              IsEmpty());
  uint64_t now = 3600 * kSecond + 200 * kMs;
  EXPECT_THAT(ObserveFor(watchdog, now, 2 * kSecond, {Busy(0, 1)}), ElementsAre(0));
}

TEST(Watchdog, AProcessHeldByADebuggerDoesNotHang) {
  Watchdog watchdog(2 * kSecond);
  uint64_t now = 0;
  EXPECT_THAT(ObserveFor(watchdog, now, 1800 * kMs, {Busy(0, 1)}), IsEmpty());
  EXPECT_THAT(ObserveFor(watchdog, now, 60 * kSecond, {Busy(0, 1)}, ProcessCondition::kStopped),
              IsEmpty());
  EXPECT_THAT(ObserveFor(watchdog, now, 1800 * kMs, {Busy(0, 1)}), IsEmpty());
  EXPECT_THAT(ObserveFor(watchdog, now, 600 * kMs, {Busy(0, 1)}), ElementsAre(0));
}

// Work that stands still from any moment on is told of within two intervals of the time-out.
TEST(Watchdog, NoticesAHangInTime) {
  for (const uint64_t time_out : {100 * kMs, 2500 * kMs, 10 * kSecond}) {
    SCOPED_TRACE(time_out);
    const uint64_t interval = std::min(time_out / 10, 100 * kMs);
    Watchdog watchdog(time_out);
    EXPECT_EQ(watchdog.PollIntervalNs(), interval);
    uint64_t now = 0;
    (void)watchdog.Observe(now, std::vector{Idle(0, 1)}, ProcessCondition::kRunning);
    const uint64_t hangs_at = now + 1;
    std::vector<uint32_t> hung;
    while (hung.empty()) {
      now += watchdog.PollIntervalNs();
      hung = watchdog.Observe(now, std::vector{Busy(0, 1)}, ProcessCondition::kRunning);
    }
    EXPECT_LE(now, hangs_at + time_out + 2 * interval);
    EXPECT_GE(now, hangs_at + time_out);
  }
}

TEST(Watchdog, ATimeOutOfZeroSwitchesItOff) {
  Watchdog watchdog(0);
  uint64_t now = 0;
  EXPECT_FALSE(watchdog.enabled());
  EXPECT_THAT(ObserveFor(watchdog, now, 60 * kSecond, {Busy(0, 1)}), IsEmpty());
}

WatchPolicy Policy(bool kill_on_hang = false, bool dump_on_exit = false) {
  return {
      .hang_timeout_ns = 2 * kSecond, .kill_on_hang = kill_on_hang, .dump_on_exit = dump_on_exit};
}

Decision Hang(ProcessWatch& watch, uint64_t& now_ns) {
  Decision decision;
  for (int i = 0; i < 12; ++i, now_ns += 200 * kMs) {
    const Decision next =
        watch.OnProbe(now_ns, 1000 + now_ns, std::vector{Busy(4, 1)}, ProcessCondition::kRunning);
    if (next.dump) decision = next;
  }
  return decision;
}

TEST(ProcessWatch, NormalExitIsNoIncident) {
  ProcessWatch watch(Policy());
  const Decision decision = watch.OnEnd(5, {EndKind::kExited, 3}, {});
  EXPECT_FALSE(decision.dump);
  EXPECT_FALSE(decision.kill);
  EXPECT_THAT(watch.incidents(), IsEmpty());
}

TEST(ProcessWatch, NormalExitIsDumpedOnRequest) {
  ProcessWatch watch(Policy(false, true));
  const Decision decision = watch.OnEnd(5, {EndKind::kExited, 3}, {});
  EXPECT_TRUE(decision.dump);
  EXPECT_EQ(decision.what, "exited with code 3");
  ASSERT_EQ(watch.incidents().size(), 1u);
  EXPECT_EQ(watch.incidents()[0].kind, IncidentKind::kExited);
  EXPECT_EQ(watch.incidents()[0].value, 3);
  EXPECT_EQ(watch.incidents()[0].time_ns, 5u);
}

TEST(ProcessWatch, DeathBySignalKeepsTheAddressThatOurHandlerSaw) {
  ProcessWatch watch(Policy());
  const EndEvidence evidence{.crash_signal = SIGSEGV, .crash_address = 0xdead0};
  const Decision decision = watch.OnEnd(5, {EndKind::kSignalled, SIGSEGV}, evidence);
  EXPECT_TRUE(decision.dump);
  EXPECT_EQ(decision.what, "died with signal 11 (SIGSEGV)");
  ASSERT_EQ(watch.incidents().size(), 1u);
  EXPECT_EQ(watch.incidents()[0].kind, IncidentKind::kSignal);
  EXPECT_EQ(watch.incidents()[0].value, SIGSEGV);
  EXPECT_EQ(watch.incidents()[0].address, 0xdead0u);
}

TEST(ProcessWatch, AnotherSignalThanTheHandlersHasNoAddress) {
  ProcessWatch watch(Policy());
  const EndEvidence evidence{.crash_signal = SIGSEGV, .crash_address = 0xdead0};
  (void)watch.OnEnd(5, {EndKind::kSignalled, kSigkill}, evidence);
  EXPECT_EQ(watch.incidents()[0].value, kSigkill);
  EXPECT_EQ(watch.incidents()[0].address, 0u);
}

// Under Wine: the system keeps the last eight bits of the code.
TEST(ProcessWatch, AnExitByAnExceptionIsACrash) {
  ProcessWatch watch(Policy());
  const EndEvidence evidence{
      .crash_signal = 0xc0000005, .crash_address = 0x1230, .exit_code = 0xc0000005};
  const Decision decision = watch.OnEnd(5, {EndKind::kExited, 5}, evidence);
  EXPECT_TRUE(decision.dump);
  EXPECT_EQ(decision.what, "died with exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION)");
  ASSERT_EQ(watch.incidents().size(), 1u);
  EXPECT_EQ(watch.incidents()[0].kind, IncidentKind::kSignal);
  EXPECT_EQ(watch.incidents()[0].value, 0xc0000005);
  EXPECT_EQ(watch.incidents()[0].address, 0x1230u);
}

TEST(ProcessWatch, TheWholeCodeOfAnExitIsThatOfTheBlock) {
  const auto told = [](ProcessEnd end, const EndEvidence& evidence) {
    return ProcessWatch(Policy()).OnEnd(5, end, evidence).what;
  };
  const ProcessEnd exited_with_77 = {EndKind::kExited, 77};
  EndEvidence evidence{.crash_signal = 0xc0000005, .exit_unnoted = true, .exit_code = 77};
  EXPECT_EQ(told(exited_with_77, evidence),
            "died with TerminateProcess(77), which Cairn did not call");
  EXPECT_EQ(told({}, evidence), "died with TerminateProcess(77), which Cairn did not call");
  EXPECT_EQ(told({EndKind::kSignalled, kSigkill}, evidence),
            "died with signal 9 (SIGKILL), which Cairn did not send");
  evidence.exit_unnoted = false;
  EXPECT_EQ(told(exited_with_77, evidence), "") << "the exception was handled";
}

TEST(ProcessWatch, AnExitWithTheNoteOfASignalIsAnExit) {
  ProcessWatch watch(Policy());
  EXPECT_FALSE(watch.OnEnd(5, {EndKind::kExited, 5}, {.crash_signal = SIGSEGV}).dump);
  EXPECT_TRUE(watch.incidents().empty());
}

// An end on Windows, which reports the whole code. `exit_unnoted`: the program did not exit.
ProcessEnd WholeCode(int code) {
  return {EndKind::kExited, code, true};
}

TEST(ProcessWatch, OfWindowsTheNoteOfAnExceptionThatWasHandledIsNoDeath) {
  ProcessWatch watch(Policy());
  EXPECT_FALSE(watch.OnEnd(5, WholeCode(5), {.crash_signal = 0xc0000005}).dump);
  EXPECT_TRUE(watch.incidents().empty());
}

TEST(ProcessWatch, OfWindowsAnExceptionIsTheExitCode) {
  ProcessWatch watch(Policy());
  const ProcessEnd end = {EndKind::kSignalled, static_cast<int>(0xc0000005), true};
  const EndEvidence evidence{.crash_signal = 0xc0000005, .crash_address = 0x1230};
  EXPECT_EQ(watch.OnEnd(5, end, evidence).what,
            "died with exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION)");
  EXPECT_EQ(watch.incidents()[0].value, 0xc0000005);
  EXPECT_EQ(watch.incidents()[0].address, 0x1230u);
}

TEST(ProcessWatch, OfWindowsAnAbortIsTheExitCode3AndANote) {
  ProcessWatch watch(Policy());
  EXPECT_EQ(watch.OnEnd(5, WholeCode(3), {.crash_signal = kSigabrt}).what,
            "died with signal 6 (SIGABRT)");
  ProcessWatch exited(Policy());
  EXPECT_FALSE(exited.OnEnd(5, WholeCode(3), {}).dump);
  ProcessWatch handled(Policy());
  EXPECT_FALSE(handled.OnEnd(5, WholeCode(0), {.crash_signal = kSigabrt}).dump);
}

TEST(ProcessWatch, WhoNeitherExitsNorFaultsWasTerminated) {
  ProcessWatch watch(Policy());
  EXPECT_EQ(watch.OnEnd(5, WholeCode(1), {.exit_unnoted = true}).what,
            "died with TerminateProcess(1), which Cairn did not call");
  EXPECT_EQ(watch.incidents()[0].value, (int64_t{1} << 32) + 1);

  // Programs end themselves so.
  ProcessWatch orderly(Policy());
  EXPECT_FALSE(orderly.OnEnd(5, WholeCode(0), {.exit_unnoted = true}).dump);
  ProcessWatch unfinished(Policy());
  EXPECT_EQ(unfinished.OnEnd(5, WholeCode(0), {.work_unfinished = true, .exit_unnoted = true}).what,
            "died with TerminateProcess(0), which Cairn did not call");

  // Wine's code of a process without stack.
  ProcessWatch overflow(Policy());
  EXPECT_EQ(
      overflow.OnEnd(5, WholeCode(0), {.crash_signal = 0xc00000fd, .exit_unnoted = true}).what,
      "died with exception 0xc00000fd (EXCEPTION_STACK_OVERFLOW)");
}

TEST(ProcessWatch, AnUnknownEndIsJudgedByTheBlock) {
  ProcessWatch crashed(Policy());
  EXPECT_EQ(crashed.OnEnd(5, {}, {.crash_signal = kSigabrt}).what, "died with signal 6 (SIGABRT)");

  ProcessWatch cut_off(Policy());
  EXPECT_EQ(cut_off.OnEnd(5, {}, {.work_unfinished = true}).what, "ended with GPU work unfinished");
  EXPECT_EQ(cut_off.incidents()[0].value, 0);

  ProcessWatch orderly(Policy());
  EXPECT_FALSE(orderly.OnEnd(5, {}, {}).dump);
}

TEST(ProcessWatch, EachDeviceIsLostOnce) {
  ProcessWatch watch(Policy());
  const Decision first = watch.OnDeviceLost(5, 1, -4);
  EXPECT_TRUE(first.dump);
  EXPECT_FALSE(first.kill);
  EXPECT_EQ(first.what, "lost its device (code -4, 0xfffffffc)");
  EXPECT_FALSE(watch.OnDeviceLost(6, 1, -4).dump);
  EXPECT_TRUE(watch.OnDeviceLost(7, 0, -4).dump);
  ASSERT_EQ(watch.incidents().size(), 2u);
  EXPECT_EQ(watch.incidents()[0].value, -4);
  EXPECT_EQ(watch.incidents()[1].time_ns, 7u);
}

TEST(ProcessWatch, AHangIsDumpedAndLeftAlone) {
  ProcessWatch watch(Policy());
  uint64_t now = 0;
  const Decision decision = Hang(watch, now);
  EXPECT_TRUE(decision.dump);
  EXPECT_FALSE(decision.kill);
  EXPECT_EQ(decision.what, "hangs: GPU work made no progress for 2 s");
  ASSERT_EQ(watch.incidents().size(), 1u);
  EXPECT_EQ(watch.incidents()[0].kind, IncidentKind::kHang);
  EXPECT_EQ(watch.incidents()[0].value, 2000);
  EXPECT_EQ(watch.incidents()[0].queue, 4u);
  EXPECT_EQ(watch.incidents()[0].detail, "");
  ProcessWatch ends(Policy(true));
  EXPECT_TRUE(Hang(ends, now).kill);
  EXPECT_EQ(ends.incidents().at(0).detail, "--kill-on-hang");
}

TEST(ProcessWatch, AHangThatFinishesAndExitsKeepsItsDump) {
  ProcessWatch watch(Policy(false, true));
  uint64_t now = 0;
  EXPECT_TRUE(Hang(watch, now).dump);
  EXPECT_FALSE(watch.OnProbe(now, now, std::vector{Idle(4, 2)}, ProcessCondition::kRunning).dump);
  EXPECT_FALSE(watch.OnEnd(5, {EndKind::kExited, 0}, {}).dump);
  EXPECT_EQ(watch.incidents().size(), 1u);
}

TEST(ProcessWatch, HangsOfAProcessAreKeptUpToABound) {
  ProcessWatch watch(Policy());
  uint64_t now = 0;
  for (int i = 0; i < 1002; ++i) {
    EXPECT_EQ(Hang(watch, now).dump, i < 1000);
    (void)watch.OnProbe(now, now, std::vector{Idle(4, 2)}, ProcessCondition::kRunning);
  }
  EXPECT_EQ(watch.incidents().size(), 1000u);
  // There is room for what ends it.
  EXPECT_TRUE(watch.OnEnd(5, {EndKind::kSignalled, SIGTERM}, {}).dump);
  EXPECT_EQ(watch.incidents().size(), 1001u);
}

TEST(ProcessWatch, AHangThenASignalGivesBothIncidents) {
  ProcessWatch watch(Policy());
  uint64_t now = 0;
  EXPECT_TRUE(Hang(watch, now).dump);
  EXPECT_TRUE(watch.OnEnd(5, {EndKind::kSignalled, SIGTERM}, {}).dump);
  ASSERT_EQ(watch.incidents().size(), 2u);
  EXPECT_EQ(watch.incidents()[0].kind, IncidentKind::kHang);
  EXPECT_EQ(watch.incidents()[1].kind, IncidentKind::kSignal);
}

// A browser ends its GPU process so, a terminal what it ran.
TEST(ProcessWatch, ARequestToEndWithNothingUnfinishedIsNoNews) {
  constexpr int kHangUp = 1;  // Windows has no name for it
  for (const int number : {SIGTERM, SIGINT, kHangUp}) {
    EXPECT_FALSE(ProcessWatch(Policy()).OnEnd(5, {EndKind::kSignalled, number}, {}).dump);
    const Decision unfinished =
        ProcessWatch(Policy()).OnEnd(5, {EndKind::kSignalled, number}, {.work_unfinished = true});
    EXPECT_TRUE(unfinished.dump);
    EXPECT_THAT(unfinished.what, testing::StartsWith("was ended by signal "));
    EXPECT_TRUE(ProcessWatch(Policy())
                    .OnEnd(5, {EndKind::kSignalled, number}, {.crash_signal = SIGSEGV})
                    .dump)
        << "it was crashing";
    EXPECT_TRUE(ProcessWatch(Policy(false, true)).OnEnd(5, {EndKind::kSignalled, number}, {}).dump)
        << "--dump-on-exit";
  }
  EXPECT_TRUE(ProcessWatch(Policy()).OnEnd(5, {EndKind::kSignalled, kSigkill}, {}).dump)
      << "the kernel kills so when memory runs out";
}

TEST(ProcessWatch, KillingAHungProcessIsNoSecondIncident) {
  ProcessWatch watch(Policy(true));
  uint64_t now = 0;
  const Decision decision = Hang(watch, now);
  EXPECT_TRUE(decision.kill);
  EXPECT_EQ(decision.what, "hangs: GPU work made no progress for 2 s");
  EXPECT_FALSE(watch.killed_for_hang()) << "nothing was sent yet";
  watch.OnKilled();
  EXPECT_TRUE(watch.killed_for_hang());
  EXPECT_FALSE(watch.OnEnd(5, {EndKind::kSignalled, kSigkill}, {}).dump);
  EXPECT_EQ(watch.incidents().size(), 1u);
}

TEST(ProcessWatch, AKillThatTheWatcherDidNotMakeIsNotClaimed) {
  ProcessWatch watch(Policy(true));
  uint64_t now = 0;
  EXPECT_TRUE(Hang(watch, now).kill);
  // Another process killed it first, so that no signal was sent.
  const Decision end = watch.OnEnd(5, {EndKind::kSignalled, kSigkill}, {});
  EXPECT_TRUE(end.dump);
  EXPECT_EQ(end.what, "died with signal 9 (SIGKILL), which Cairn did not send");
  EXPECT_FALSE(watch.killed_for_hang());
}

TEST(ProcessWatch, AProcessThatEndedOtherwiseWasNotKilled) {
  ProcessWatch watch(Policy(true));
  uint64_t now = 0;
  EXPECT_TRUE(Hang(watch, now).kill);
  watch.OnKilled();
  const Decision end = watch.OnEnd(5, {EndKind::kSignalled, SIGSEGV}, {});
  EXPECT_EQ(end.what, "died with signal 11 (SIGSEGV)");
  EXPECT_FALSE(watch.killed_for_hang());
}

// A dying process stays in its driver until the GPU has finished.
std::vector<Decision> Dying(ProcessWatch& watch, uint64_t& now_ns, uint64_t duration_ns) {
  std::vector<Decision> decisions;
  for (const uint64_t end = now_ns + duration_ns; now_ns < end; now_ns += 200 * kMs) {
    decisions.push_back(
        watch.OnProbe(now_ns, 1000 + now_ns, std::vector{Busy(4, 1)}, ProcessCondition::kEnding));
  }
  return decisions;
}

TEST(ProcessWatch, AnEndingProcessDoesNotHang) {
  ProcessWatch watch(Policy(true));
  uint64_t now = 0;
  (void)watch.OnProbe(now, now, std::vector{Busy(4, 1)}, ProcessCondition::kRunning);
  const std::vector<Decision> decisions = Dying(watch, now, 4 * kSecond);
  EXPECT_TRUE(decisions[0].keep_state) << "the GPU may go on";
  for (const Decision& decision : decisions) {
    EXPECT_FALSE(decision.dump);
    EXPECT_FALSE(decision.kill);
  }
  EXPECT_FALSE(decisions[1].keep_state);
  const Decision end = watch.OnEnd(now, {EndKind::kSignalled, kSigkill}, {});
  EXPECT_EQ(end.what, "died with signal 9 (SIGKILL), which Cairn did not send");
  ASSERT_EQ(watch.incidents().size(), 1u);
  EXPECT_EQ(watch.incidents()[0].kind, IncidentKind::kSignal);
}

TEST(ProcessWatch, AnEndThatTakesLongIsToldBeforeAndCorrectedByTheEnd) {
  ProcessWatch watch(Policy(true));
  uint64_t now = 0;
  (void)Dying(watch, now, kLongEndNs);
  const Decision told = watch.OnProbe(now, now, std::vector{Busy(4, 1)}, ProcessCondition::kEnding);
  EXPECT_TRUE(told.dump);
  EXPECT_FALSE(told.kill);
  EXPECT_EQ(told.what, "is ending, and after 5 s still inside a driver");
  ASSERT_EQ(watch.incidents().size(), 1u);
  EXPECT_EQ(watch.incidents()[0].kind, IncidentKind::kSignal);
  EXPECT_EQ(watch.incidents()[0].value, 0);
  for (const Decision& decision : Dying(watch, now, 60 * kSecond)) EXPECT_FALSE(decision.dump);
  EXPECT_TRUE(watch.OnDeviceLost(7, 0, -4).dump);
  EXPECT_TRUE(watch.OnEnd(now, {EndKind::kSignalled, SIGSEGV}, {}).dump);
  ASSERT_EQ(watch.incidents().size(), 2u);
  EXPECT_EQ(watch.incidents()[0].kind, IncidentKind::kDeviceLost);
  EXPECT_EQ(watch.incidents()[1].value, SIGSEGV);
}

TEST(ProcessWatch, AnEndWithoutWorkOfTheGpuIsNobodysBusiness) {
  ProcessWatch watch(Policy());
  for (uint64_t now = 0; now < 60 * kSecond; now += kSecond) {
    const Decision decision =
        watch.OnProbe(now, now, std::vector{Idle(4, 1)}, ProcessCondition::kEnding);
    EXPECT_FALSE(decision.dump);
    EXPECT_FALSE(decision.keep_state);
  }
  EXPECT_FALSE(watch.OnEnd(5, {EndKind::kExited, 0}, {}).dump);
}

TEST(ProcessWatch, WorkThatFinishedWhileTheProcessDiedWasUnfinished) {
  ProcessWatch watch(Policy());
  uint64_t now = 0;
  (void)Dying(watch, now, kSecond);
  EXPECT_EQ(watch.OnEnd(now, {}, {.work_unfinished = false}).what,
            "ended with GPU work unfinished");
}

}  // namespace
}  // namespace cairn
