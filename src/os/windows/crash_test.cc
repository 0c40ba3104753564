// SPDX-License-Identifier: Apache-2.0
#include "os/crash.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "base/signal_name.h"
#include "os/child.h"
#include "os/testing/test_role.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

// The events in a child, which may be dead.
struct Seen {
  int crashes;
  uint32_t code;
  uint64_t address;
  bool lived_on;
  int calls_before;  // of the program's own filter
  int exits;
};
Seen* seen = nullptr;
std::byte* page = nullptr;
constexpr size_t kPage = 4096;

void OnCrash(Crash& crash) {
  if (++seen->crashes > 3) std::_Exit(98);
  seen->code = crash.code();
  seen->address = crash.address();
  SetLastError(7);
  seen->lived_on = crash.PassOn();
}

void Write(size_t offset) {
  reinterpret_cast<volatile char*>(page)[offset] = 1;
}

[[gnu::noinline]] int Deeper(volatile char* above) {
  volatile char here[4096];
  here[0] = above[0];
  return here[0] == 0 ? 0 : Deeper(here) + here[0];
}

// The program's own: makes the page writable, and goes on.
LONG WINAPI Repair(EXCEPTION_POINTERS*) {
  ++seen->calls_before;
  DWORD before = 0;
  VirtualProtect(page, kPage, PAGE_READWRITE, &before);
  return EXCEPTION_CONTINUE_EXECUTION;
}
LONG WINAPI GoOn(EXCEPTION_POINTERS*) {
  ++seen->calls_before;
  return EXCEPTION_CONTINUE_EXECUTION;
}

int Crashing(const std::string& how) {
  LeaveNoDump();
  if (how == "repaired") SetUnhandledExceptionFilter(Repair);
  if (how == "raises" || how == "raises-and-goes-on") {
    SetUnhandledExceptionFilter(how == "raises" ? nullptr : GoOn);
  }
  if (how == "aborts") std::signal(SIGABRT, [](int) { ++seen->calls_before; });
  InstallCrashHandler(&OnCrash);
  TellExit([] { ++seen->exits; });
  if (how == "exits") std::exit(10);
  if (how == "terminates") TerminateProcess(GetCurrentProcess(), 10);
  SetLastError(123);
  if (how == "faults") Write(5);
  if (how == "repaired") Write(5);
  if (how == "raises" || how == "raises-and-goes-on") RaiseException(0xE0001234, 0, 0, nullptr);
  if (how == "aborts") std::abort();
  if (how == "overflows") {
    volatile char first = 1;
    return Deeper(&first);
  }
  return GetLastError() == 123 ? 10 : 11;
}

const TestRole crashes("crashes", [](const TestWords& words) {
  Result<SharedMemory> memory = TakeMemoryOfParent();
  if (!memory.ok()) return 97;
  seen = reinterpret_cast<Seen*>(memory->data());
  page = static_cast<std::byte*>(
      VirtualAlloc(nullptr, kPage, MEM_RESERVE | MEM_COMMIT, PAGE_READONLY));
  seen->address = reinterpret_cast<uintptr_t>(page);
  std::_Exit(Crashing(words.at(0)));
});

class CrashTest : public testing::Test {
 protected:
  CrashTest() : memory_(SharedMemory::Create("cairn-test", sizeof(Seen))) {
    EXPECT_TRUE(memory_.ok());
    seen = reinterpret_cast<Seen*>(memory_->data());
  }
  ProcessEnd Run(const std::string& how) {
    Result<Child> child = Child::Start({.purpose = "a test",
                                        .arguments = {"--role", "crashes", how},
                                        .memory = &*memory_,
                                        .silent = true});
    EXPECT_TRUE(child.ok() && child->WaitForEnd(60'000'000'000));
    return child->End();
  }

  Result<SharedMemory> memory_;
};

TEST_F(CrashTest, AFaultIsToldAndIsStillTheEnd) {
  const ProcessEnd end = Run("faults");
  EXPECT_EQ(CauseOfDeath(end.value), "EXCEPTION_ACCESS_VIOLATION");
  EXPECT_EQ(seen->crashes, 1);
  EXPECT_EQ(seen->code, EXCEPTION_ACCESS_VIOLATION);
  EXPECT_EQ(seen->address % kPage, 5u);
  EXPECT_FALSE(seen->lived_on);
}

// The system does not report the repair: the note stays until the thread works again
// (crash_signals.h).
TEST_F(CrashTest, WhatTheProgramRepairsIsToldAsWell) {
  const ProcessEnd end = Run("repaired");
  EXPECT_EQ(end.value, 10) << "the error of before was lost";
  EXPECT_EQ(seen->crashes, 1);
  EXPECT_EQ(seen->calls_before, 1);
  EXPECT_FALSE(seen->lived_on);
}

TEST_F(CrashTest, WhatTheProgramRaisesIsToldIfNobodyHandlesIt) {
  const ProcessEnd end = Run("raises");
  EXPECT_EQ(static_cast<uint32_t>(end.value), 0xE0001234u);
  EXPECT_EQ(seen->crashes, 1);
  EXPECT_EQ(seen->code, 0xE0001234u);
  EXPECT_FALSE(seen->lived_on);
}

TEST_F(CrashTest, AFilterThatGoesOnIsBelieved) {
  (void)Run("raises-and-goes-on");
  EXPECT_EQ(seen->crashes, 1);
  EXPECT_EQ(seen->calls_before, 1);
  EXPECT_TRUE(seen->lived_on);
}

TEST_F(CrashTest, AnAbortHasNoAddressAndIsPassedOn) {
  EXPECT_EQ(Run("aborts").value, 3);
  EXPECT_EQ(seen->crashes, 1);
  EXPECT_EQ(seen->code, static_cast<uint32_t>(kSignalAbort));
  EXPECT_EQ(seen->address, 0u);
  EXPECT_EQ(seen->calls_before, 1);
}

TEST_F(CrashTest, AnExitIsToldAndOtherEndsAreNot) {
  EXPECT_EQ(Run("exits").value, 10);
  EXPECT_EQ(seen->exits, 1);
  EXPECT_EQ(Run("terminates").value, 10);
  (void)Run("faults");
  (void)Run("raises");
  EXPECT_EQ(seen->exits, 1);
}

TEST_F(CrashTest, AStackOverflowIsTold) {
  const ProcessEnd end = Run("overflows");
  EXPECT_NE(end.value, 10);
  EXPECT_EQ(seen->crashes, 1);
  EXPECT_EQ(seen->code, EXCEPTION_STACK_OVERFLOW);
}

}  // namespace
}  // namespace cairn
