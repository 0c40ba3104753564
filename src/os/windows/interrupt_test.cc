// SPDX-License-Identifier: Apache-2.0
//
// Requests of a process's console. The process sends them to itself here: Wine 8 passes nothing on
// to others of a console that has no window.
#include "os/interrupt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include "os/child.h"
#include "os/clock.h"
#include "os/testing/test_role.h"
#include "os/user_requests.h"
#include "os/wait_set.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

constexpr uint64_t kLongNs = 60'000'000'000;
using Woken = InterruptibleWait::Woken;

// In a process that was started with no console, or another one's.
bool HasOwnConsole() {
  FreeConsole();
  return AllocConsole() != 0;
}
bool Press(DWORD what) {
  return GenerateConsoleCtrlEvent(what, 0) != 0;
}
void WaitUntilItCame(const InterruptNote& note) {
  while (!note.came()) std::this_thread::yield();
}
ProcessHandle ThisProcess() {
  Result<ProcessHandle> process = OpenProcess(OwnProcessId());
  return process.ok() ? std::move(*process) : ProcessHandle();
}

const TestRole notes("notes", [](const TestWords&) {
  if (!HasOwnConsole()) return 90;
  const InterruptNote note;
  if (note.came()) return 1;
  if (!Press(CTRL_C_EVENT)) return 2;
  WaitUntilItCame(note);
  // The second ends it, on a thread of the system's.
  if (!Press(CTRL_C_EVENT)) return 3;
  SleepForEver();
});

const TestRole waits_for_c("waits-for-c", [](const TestWords&) {
  if (!HasOwnConsole()) return 90;
  InterruptibleWait wait("last words");
  std::thread pressing([] { Press(CTRL_C_EVENT); });
  // The request may come before the wait: then it ends this process, with 0.
  pressing.join();
  return 10 + static_cast<int>(wait.Wait(ThisProcess(), kLongNs));
});

const TestRole asked_elsewhere("asked-elsewhere", [](const TestWords&) -> int {
  if (!HasOwnConsole()) return 90;
  const InterruptibleWait wait("last words");
  Press(CTRL_C_EVENT);
  SleepForEver();
});

const TestRole listens("listens", [](const TestWords&) {
  if (!HasOwnConsole()) return 90;
  UserRequests requests;
  WaitSet set;
  UserRequest request;
  if (!requests.Listen(true).ok() || !set.Open().ok() || !set.Add(requests.handle(), 3).ok()) {
    return 1;
  }
  if (requests.Take(&request)) return 2;
  Press(CTRL_C_EVENT);
  if (set.Wait(MonotonicNs() + kLongNs)->front() != 3 || !requests.Take(&request)) return 3;
  if (request.kind != UserRequest::Kind::kSignal || request.signal_number != SIGINT ||
      !request.asked_of_all) {
    return 4;
  }
  if (requests.Take(&request)) return 5;
  if (set.Wait(MonotonicNs())->front() != WaitSet::kTime) return 6;
  const std::wstring name = Wide("Local\\cairn-trigger-" + std::to_string(OwnProcessId()));
  const SystemHandle trigger = Owned(OpenEventW(EVENT_MODIFY_STATE, FALSE, name.c_str()));
  for (int i = 0; i < 2; ++i) {
    SetEvent(HandleOf(trigger));
    if (set.Wait(MonotonicNs() + kLongNs)->front() != 3 || !requests.Take(&request)) return 7;
    if (request.kind != UserRequest::Kind::kTrigger) return 8;
  }
  set.Remove(requests.handle());
  return 50;
});

const TestRole leaves_one("leaves-one", [](const TestWords&) {
  if (!HasOwnConsole()) return 90;
  UserRequests requests;
  WaitSet set;
  if (!requests.Listen(false).ok() || !set.Open().ok() || !set.Add(requests.handle(), 3).ok()) {
    return 1;
  }
  Press(CTRL_C_EVENT);
  if (set.Wait(MonotonicNs() + kLongNs)->front() != 3) return 2;
  return 60;  // what was not taken has its effect now
});

TEST(InterruptNote, TheFirstIsNotedTheSecondEnds) {
  const ProcessEnd end = EndOf(StartRole("notes"));
  // Wine ends it with 0.
  EXPECT_TRUE(WasAskedToEnd(end) || (end.kind == EndKind::kExited && end.value == 0)) << end.value;
}

TEST(InterruptibleWait, EndsByTimeAndWithTheProcess) {
  InterruptibleWait wait("");
  EXPECT_EQ(wait.Wait(ThisProcess(), 1'000'000), Woken::kByTime);
  const ProcessHandle process = StartRole("listens");
  EXPECT_EQ(wait.Wait(process, kLongNs), Woken::kByProcess);
}

TEST(InterruptibleWait, TellsTheUsersRequestOrEndsWithIt) {
  const ProcessEnd end = EndOf(StartRole("waits-for-c"));
  EXPECT_EQ(end.kind, EndKind::kExited);
  EXPECT_THAT(end.value, testing::AnyOf(0, 10 + static_cast<int>(Woken::kByUser)));
}

TEST(InterruptibleWait, ElsewhereARequestEndsTheProcessWithItsLastWords) {
  testing::internal::CaptureStdout();
  SpawnRequest request;
  request.arguments = ArgumentsOfRole("asked-elsewhere");
  const Result<ProcessHandle> process = SpawnProgram(request);
  ASSERT_TRUE(process.ok());
  const ProcessEnd end = EndOf(*process);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "last words");
  EXPECT_EQ(end.kind, EndKind::kExited);
  EXPECT_EQ(end.value, 0);
}

TEST(UserRequests, WaitUntilTheyAreTaken) {
  EXPECT_EQ(EndOf(StartRole("listens")).value, 50);
}

TEST(UserRequests, WhatWasNotTakenHasItsEffect) {
  const ProcessEnd end = EndOf(StartRole("leaves-one"));
  EXPECT_TRUE(WasAskedToEnd(end)) << end.value;
}

}  // namespace
}  // namespace cairn
