// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/probe_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#if !defined(_WIN32)
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include "os/child.h"
#include "reader/bisect/probe_answer.h"
#include "reader/bisect/testing/deaths.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;

// ---- What a probe does in its process: the word that it is run with says it --------------------------------

const DeviceFacts kLlvmpipe = {"llvmpipe, 10005:0000", "Mesa 22.3.6", "libvkd3d-utils.so.1.4.4",
                               "/usr/lib/libvkd3d-utils.so.1.4.4, /usr/lib/libvkd3d.so.1.4.4"};

[[noreturn]] void SleepForEver() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void DoRefuse(ProbeStatus& status) {
  status.At(7);
  status.At(18'233);
  status.End(ProbeEnd::kRefused, "call 18,233: E_INVALIDARG\n\x1b[0m");
}

void DoDieAfterTheLastWord(int number, ProbeStatus& status) {
  status.At(42);
  // As a thread of a driver does.
  status.End(ProbeEnd::kFinished);
  DieOf(number);
}

void DoTellAndDie(ProbeStatus& status) {
  status.On(kLlvmpipe);
  status.left_out.Append("left out: a", "; ");
  status.left_out.Append("left out: b\n", "; ");
  status.skipped = 320;
  status.slowest_call = 17;
  status.slowest_ns = 250;
  DieOf(kFault);
}

#if !defined(_WIN32)
bool LeavesNoCoreAndIsInNoTerminalsGroup() {
  rlimit core = {};
  getrlimit(RLIMIT_CORE, &core);
  return core.rlim_cur == 0 && prctl(PR_GET_DUMPABLE) == 0 && getpgrp() == getpid();
}
#endif

// As long as it writes nothing but what it is told to, it is a child that lies.
void DoWriteNonsense(ProbeStatus& status) {
  std::memset(static_cast<void*>(&status), 0xff, sizeof(status));
}

void Do(const std::string& task, const std::string& detail, std::span<const std::byte> question,
        ProbeStatus& status) {
  if (task == "refuse") return DoRefuse(status);
  if (task == "end") return status.End(static_cast<ProbeEnd>(std::stoi(detail)));
  if (task == "die") return DoDieAfterTheLastWord(std::stoi(detail), status);
  if (task == "exit") {
    status.At(3);
    std::_Exit(0);
  }
  if (task == "stand-still") {
    signal(SIGTERM, SIG_IGN);
    status.At(5);
    SleepForEver();
  }
  if (task == "throw") throw std::runtime_error("no memory");
  if (task == "long") return status.End(ProbeEnd::kError, std::string(5000, 'x'));
  if (task == "echo") {
    return status.End(ProbeEnd::kFinished,
                      std::string(reinterpret_cast<const char*>(question.data()), question.size()));
  }
  if (task == "tell-and-die") return DoTellAndDie(status);
#if !defined(_WIN32)
  if (task == "no-core") {
    status.End(LeavesNoCoreAndIsInNoTerminalsGroup() ? ProbeEnd::kFinished : ProbeEnd::kError);
  }
#endif
  if (task == "nonsense") return DoWriteNonsense(status);
}

// ---- The tests ------------------------------------------------------------------------------------------

// More than a process takes to start.
#if defined(_WIN32)
constexpr uint64_t kStallNs = 10'000'000'000;
#else
constexpr uint64_t kStallNs = 300'000'000;
#endif

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

ProbeRun Play(const std::string& task, const std::string& detail = "",
              const ProbeLimits& limits = {}, std::string_view question = "") {
  const Result<ProbeRun> run = RunProbe(limits, {task, detail}, Bytes(question));
  EXPECT_TRUE(run.ok()) << run.status().message();
  return run.ok() ? *run : ProbeRun{};
}

TEST(ProbeProcess, WhatTheChildSaysComesBack) {
  const ProbeRun run = Play("refuse");
  EXPECT_EQ(ProbeEnd::kRefused, run.end);
  EXPECT_EQ(18'233u, run.call);
  EXPECT_EQ("call 18,233: E_INVALIDARG\\x0a\\x1b[0m", run.message);
  EXPECT_FALSE(run.interrupted);
  EXPECT_GT(run.duration_ns, 0u);
}

TEST(ProbeProcess, TheQuestionArrives) {
  EXPECT_EQ("", Play("echo").message);
  EXPECT_EQ("what is left out?", Play("echo", "", {}, "what is left out?").message);
}

TEST(ProbeProcess, EachEndIsTold) {
  const auto end_of = [](auto end) {
    return Play("end", std::to_string(static_cast<uint32_t>(end))).end;
  };
  for (const ProbeEnd end :
       {ProbeEnd::kFinished, ProbeEnd::kHang, ProbeEnd::kLost, ProbeEnd::kRefused, ProbeEnd::kError,
        ProbeEnd::kNoDevice, ProbeEnd::kUnclear}) {
    EXPECT_EQ(end, end_of(end));
  }
  // What is no end, and what only the parent can say.
  EXPECT_EQ(ProbeEnd::kDied, end_of(ProbeEnd::kDied));
  EXPECT_EQ(ProbeEnd::kDied, end_of(99));
}

TEST(ProbeProcess, DeathIsTheSignalAndTheCall) {
  for (const int number : Deaths()) {
    const ProbeRun run = Play("die", std::to_string(number));
    EXPECT_EQ(ProbeEnd::kDied, run.end);
    EXPECT_EQ(number, run.signal);
    EXPECT_EQ(42u, run.call);
  }
}

TEST(ProbeProcess, AnExitWithoutAWordIsADeath) {
  const ProbeRun run = Play("exit");
  EXPECT_EQ(ProbeEnd::kDied, run.end);
  EXPECT_EQ(0, run.signal);
  EXPECT_EQ(3u, run.call);
}

TEST(ProbeProcess, TheWatchdogEndsWhatStandsStill) {
  ProbeLimits limits;
  limits.stall_timeout_ns = kStallNs;
  const ProbeRun run = Play("stand-still", "", limits);
  EXPECT_EQ(ProbeEnd::kHang, run.end);
  EXPECT_EQ(5u, run.call);
  EXPECT_FALSE(run.interrupted);
}

TEST(ProbeProcess, AnInterruptEndsTheChild) {
  ProbeLimits limits;
  limits.keep_on = [] { return false; };
  EXPECT_TRUE(Play("stand-still", "", limits).interrupted);
}

TEST(ProbeProcess, AnExceptionIsAnError) {
  const ProbeRun run = Play("throw");
  EXPECT_EQ(ProbeEnd::kError, run.end);
  EXPECT_EQ("no memory", run.message);
}

TEST(ProbeProcess, LongMessagesAreCut) {
  EXPECT_EQ(std::string(StatusText<>::kMaxBytes, 'x'), Play("long").message);
}

#if !defined(_WIN32)
// As a program finds it that was started by one who does not care for children: the kernel forgets how they
// ended at once.
TEST(ProbeProcess, HowItEndedIsToldAlsoWhereSigchldIsIgnored) {
  signal(SIGCHLD, SIG_IGN);
  const ProbeRun run = Play("die", std::to_string(SIGSEGV));
  EXPECT_EQ(ProbeEnd::kDied, run.end);
  EXPECT_EQ(SIGSEGV, run.signal);
  EXPECT_EQ(SIG_IGN, signal(SIGCHLD, SIG_DFL));
}

TEST(ProbeProcess, TheChildLeavesNoCoreAndIsInNoTerminalsGroup) {
  EXPECT_EQ(ProbeEnd::kFinished, Play("no-core").end);
}
#endif

TEST(ProbeProcess, WhatWasToldBeforeADeathIsThere) {
  const ProbeRun run = Play("tell-and-die");
  EXPECT_EQ(ProbeEnd::kDied, run.end);
  EXPECT_EQ(1u, run.devices);
  EXPECT_EQ(kLlvmpipe, run.device);
  EXPECT_EQ("left out: a; left out: b\\x0a", run.left_out);
  EXPECT_EQ(320u, run.skipped);
  EXPECT_EQ(17u, run.slowest_call);
  EXPECT_EQ(250u, run.slowest_ns);
}

// A child that lies: what it says is bounded, and is no clean end.
TEST(ProbeProcess, NonsenseIsNoAnswer) {
  const ProbeRun run = Play("nonsense");
  EXPECT_EQ(ProbeEnd::kDied, run.end);
  EXPECT_EQ("", run.message);
  EXPECT_EQ(~uint64_t{0}, run.call);
  EXPECT_EQ(4 * StatusText<>::kMaxBytes, run.left_out.size());
  EXPECT_EQ(ProbeOutcome::kFails, AnswerOf(run, {})->outcome);
}

TEST(ProbeProcess, WhoWasNotStartedSoIsNoProbe) {
  const Status status = AnswerProbe([](auto, auto&) { FAIL(); });
  EXPECT_EQ(StatusCode::kNotFound, status.code());
}

TEST(ProbeAnswer, FailuresHaveThePlaceOfTheirSubmission) {
  const BisectTree tree = {{{100, {}}, {200, {}}}};
  EXPECT_EQ(0u, PlaceOf(99, tree));
  EXPECT_EQ(100u, PlaceOf(100, tree));
  EXPECT_EQ(100u, PlaceOf(199, tree));
  EXPECT_EQ(200u, PlaceOf(~uint64_t{0}, tree));
  EXPECT_EQ(0u, PlaceOf(5, {}));

  ProbeRun run;
  run.call = 150;
  for (const ProbeEnd end : {ProbeEnd::kHang, ProbeEnd::kLost, ProbeEnd::kDied}) {
    run.end = end;
    const Result<ProbeAnswer> answer = AnswerOf(run, tree);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(ProbeOutcome::kFails, answer->outcome);
    EXPECT_EQ(100u, answer->place);
  }
  EXPECT_EQ(FailureKind::kDied, AnswerOf(run, tree)->kind);
  EXPECT_EQ(0, AnswerOf(run, tree)->signal);
  run.signal = kFault;
  EXPECT_EQ(kFault, AnswerOf(run, tree)->signal);
  // The signal came from outside.
  run.signal = kKilled;
  EXPECT_EQ(ProbeOutcome::kUndecided, AnswerOf(run, tree)->outcome);
  EXPECT_THAT(AnswerOf(run, tree)->why, HasSubstr("out of memory"));
  run.signal = 0;
  run.end = ProbeEnd::kHang;
  EXPECT_EQ(FailureKind::kHang, AnswerOf(run, tree)->kind);
  run.end = ProbeEnd::kLost;
  EXPECT_EQ(FailureKind::kLost, AnswerOf(run, tree)->kind);
  run.end = ProbeEnd::kFinished;
  EXPECT_EQ(ProbeOutcome::kClean, AnswerOf(run, tree)->outcome);
  run.end = ProbeEnd::kRefused;
  EXPECT_EQ(ProbeOutcome::kInvalid, AnswerOf(run, tree)->outcome);
  run.end = ProbeEnd::kUnclear;
  run.message = "no memory";
  EXPECT_EQ(ProbeOutcome::kUndecided, AnswerOf(run, tree)->outcome);
  EXPECT_EQ("no memory", AnswerOf(run, tree)->why);
  run.end = ProbeEnd::kError;
  run.message = "no file";
  EXPECT_EQ("no file", AnswerOf(run, tree).status().message());
  run.end = ProbeEnd::kNoDevice;
  run.message = "no device";
  EXPECT_EQ("no device", AnswerOf(run, tree).status().message());
  run.interrupted = true;
  EXPECT_EQ(StatusCode::kInterrupted, AnswerOf(run, tree).status().code());
}

// Whatever a child says and however it ends: clean is only what finished and went by itself.
TEST(ProbeAnswer, OnlyWhatFinishedIsClean) {
  for (uint32_t end = 0; end <= static_cast<uint32_t>(ProbeEnd::kDied); ++end) {
    for (const int number : {0, kFault, kKilled}) {
      ProbeRun run;
      run.end = static_cast<ProbeEnd>(end);
      if (number != 0) run.end = ProbeEnd::kDied;
      run.signal = number;
      const Result<ProbeAnswer> answer = AnswerOf(run, {});
      const bool clean = answer.ok() && answer->outcome == ProbeOutcome::kClean;
      EXPECT_EQ(run.end == ProbeEnd::kFinished, clean) << end << " " << number;
    }
  }
}

// The GPU is away after a crash, and the loader takes the next best.
TEST(ProbeAnswer, APlayOnAnotherDeviceSaysNothing) {
  const DeviceFacts gpu = {"NVIDIA H200, 10de:2335", "NVIDIA 580.1", "libvkd3d-utils.so.1"};
  ProbeRun run;
  run.end = ProbeEnd::kFinished;
  // It died before it had one.
  EXPECT_EQ(ProbeOutcome::kClean, AnswerOf(run, {}, gpu)->outcome);
  run.devices = 1;
  run.device = gpu;
  EXPECT_EQ(ProbeOutcome::kClean, AnswerOf(run, {}, gpu)->outcome);
  run.device.name = "llvmpipe, 10005:0000";
  const Result<ProbeAnswer> answer = AnswerOf(run, {}, gpu);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(ProbeOutcome::kUndecided, answer->outcome);
  EXPECT_THAT(answer->why, HasSubstr("played on llvmpipe"));
  // What ends the search ends it all the same.
  run.interrupted = true;
  EXPECT_EQ(StatusCode::kInterrupted, AnswerOf(run, {}, gpu).status().code());
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  if (cairn::WasStartedAsChild() && argc == 3) {
    return cairn::AnswerProbe([&](auto question, cairn::ProbeStatus& status) {
             cairn::Do(argv[1], argv[2], question, status);
           }).ok()
               ? 0
               : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
