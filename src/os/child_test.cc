// SPDX-License-Identifier: Apache-2.0
//
// Tests for every system; linux/child_test.cc has signals and groups.
#include "os/child.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "os/clock.h"
#include "os/environment.h"
#include "os/testing/test_role.h"

namespace cairn {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// The memory that test and child share.
struct Shared {
  std::atomic<int64_t> said{0};
  std::atomic<int64_t> number{0};
  std::atomic<FaultThread> fault{FaultThread::kNone};
};

// ---- In the child -----------------------------------------------------------------------------------------

void Fault() {
  // A null pointer would be found by a sanitizer first.
  *reinterpret_cast<volatile int*>(uintptr_t{4096}) = 1;
}

int Work(std::string_view task, Shared* shared) {
  shared->number = OwnProcessId();
  if (task == "add") {
    shared->said.fetch_add(1);
    return 7;
  }
  if (task == "variable") {
    const char* const value = OwnVariable("CAIRN_CHILD_TEST");
    const bool is_set = value != nullptr && std::string(value) == "a=b";
    return is_set && OwnVariable("PATH") != nullptr ? 3 : 4;
  }
  if (task == "prints") {
    std::fputs("out\n", stdout);
    std::fputs("err\n", stderr);
    return WasStartedAsChild() ? 1 : 0;
  }
  if (task == "starts") {
    const ProcessHandle other = StartRole("sleeps");
    shared->said = other.pid;
    SleepForEver();
  }
  // Has a child of its own, which says so.
  if (task == "has-a-child") {
    Result<SharedMemory> memory = SharedMemory::Create("cairn-test", sizeof(Shared));
    auto* const below = new (memory->data()) Shared;
    const Result<Child> child = Child::Start({.purpose = "a test",
                                              .arguments = {"--role", "works", "sleep"},
                                              .memory = &*memory,
                                              .silent = true});
    while (below->said == 0) std::this_thread::yield();
    shared->said = below->number.load();
    SleepForEver();
  }
  if (task == "fault-here" || task == "fault-there" || task == "abort-here") {
    LeaveNoDump();
    TellFaults(&shared->fault);
    if (task == "fault-here") Fault();
    if (task == "abort-here") std::abort();
    std::thread(Fault).join();
  }
  if (task == "sleep") {
    shared->said = 1;
    SleepForEver();
  }
  return 99;
}

const TestRole works("works", [](const TestWords& words) {
  Result<SharedMemory> memory = TakeMemoryOfParent();
  if (!memory.ok()) return 97;
  const int code = Work(words.at(0), reinterpret_cast<Shared*>(memory->data()));
  std::fflush(nullptr);
  std::_Exit(code);
});

// ---- The tests ------------------------------------------------------------------------------------------

class AnyChild : public testing::Test {
 protected:
  AnyChild() : memory_(SharedMemory::Create("cairn-test", sizeof(Shared))) {
    EXPECT_TRUE(memory_.ok());
    shared_ = new (memory_->data()) Shared;
  }
  ChildRequest Request(const std::string& task) {
    return {.purpose = "a test",
            .arguments = {"--role", "works", task},
            .memory = &*memory_,
            .silent = true};
  }
  Child Start(const std::string& task) {
    Result<Child> child = Child::Start(Request(task));
    EXPECT_TRUE(child.ok()) << child.status().message();
    return std::move(child).value();
  }
  ProcessEnd Run(const std::string& task) {
    Child child = Start(task);
    return EndOf(&child);
  }
  static ProcessEnd EndOf(Child* child) {
    EXPECT_TRUE(child->WaitForEnd(60 * kSecond));
    return child->End();
  }
  int64_t WaitUntilSaid() const {
    while (shared_->said == 0) std::this_thread::yield();
    return shared_->said;
  }

  Result<SharedMemory> memory_;
  Shared* shared_ = nullptr;
};

TEST_F(AnyChild, WorksWithTheMemoryOfItsParent) {
  shared_->said = 41;
  Child child = Start("add");
  const auto number = static_cast<int64_t>(child.number());
  const ProcessEnd end = EndOf(&child);
  EXPECT_EQ(EndKind::kExited, end.kind);
  EXPECT_EQ(7, end.value);
  EXPECT_EQ(42, shared_->said);
  EXPECT_EQ(number, shared_->number);
  EXPECT_NE(OwnProcessId(), shared_->number);
}

TEST_F(AnyChild, IsWaitedForNoLongerThanSaidAndKilled) {
  Child child = Start("sleep");
  WaitUntilSaid();
  const uint64_t start_ns = MonotonicNs();
  EXPECT_FALSE(child.WaitForEnd(50'000'000));
  // The system counts in ticks.
  EXPECT_GE(MonotonicNs() - start_ns, 45'000'000u);
  EXPECT_FALSE(child.WaitForEnd(0));
  EXPECT_TRUE(child.Kill().ok());
  const ProcessEnd end = EndOf(&child);
  EXPECT_TRUE(WasKilled(end)) << CauseOfDeath(end.value);
  EXPECT_FALSE(WasAskedToEnd(end));
}

TEST_F(AnyChild, IsKilledWhenNobodyWantsItAnyMore) {
  Result<ProcessHandle> process = Status(StatusCode::kNotFound, "not yet");
  {
    const Child child = Start("sleep");
    WaitUntilSaid();
    process = OpenProcess(shared_->number);
    ASSERT_TRUE(process.ok());
  }
  (void)cairn::EndOf(*process);
}

TEST_F(AnyChild, GetsVariablesOfItsOwnBesideThoseOfItsParent) {
  SetVariable("CAIRN_CHILD_TEST", "not this");
  ChildRequest request = Request("variable");
  request.environment = {"CAIRN_CHILD_TEST=a=b"};
  Result<Child> child = Child::Start(request);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(3, EndOf(&*child).value);
  EXPECT_STREQ("not this", OwnVariable("CAIRN_CHILD_TEST"));
}

TEST_F(AnyChild, IsSilentOrHasTheOutputOfItsParent) {
  const auto printed = [this](bool silent) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    ChildRequest request = Request("prints");
    request.silent = silent;
    Result<Child> child = Child::Start(request);
    EXPECT_TRUE(child.ok());
    EXPECT_EQ(0, EndOf(&*child).value);
    std::string text = testing::internal::GetCapturedStdout();
    text += testing::internal::GetCapturedStderr();
    std::erase(text, '\r');
    return text;
  };
  EXPECT_EQ("", printed(true));
  EXPECT_EQ("out\nerr\n", printed(false));
}

TEST_F(AnyChild, WhatItPrintsMayGoIntoFiles) {
  const std::filesystem::path folder = testing::TempDir();
  ChildRequest request = Request("prints");
  request.silent = false;
  request.output = folder / "any-child-output";
  request.errors = folder / "any-child-errors";
  // The file's earlier contents are replaced.
  std::ofstream(request.output) << "something longer than that";
  Result<Child> child = Child::Start(request);
  ASSERT_TRUE(child.ok()) << child.status().message();
  EXPECT_EQ(EndOf(&*child).value, 0);
  for (const auto& [path, text] : {std::pair(request.output, "out"), {request.errors, "err"}}) {
    std::string line, rest;
    std::ifstream file(path);
    EXPECT_TRUE(std::getline(file, line));
    EXPECT_EQ(text, line);
    EXPECT_FALSE(std::getline(file, rest));
  }
  request.errors = folder / "no-such-folder" / "errors";
  EXPECT_FALSE(Child::Start(request).ok());
}

TEST_F(AnyChild, DiesWithItsParent) {
  Child parent = Start("has-a-child");
  Result<ProcessHandle> grandchild = OpenProcess(WaitUntilSaid());
  ASSERT_TRUE(grandchild.ok());
  EXPECT_TRUE(parent.Kill().ok());
  (void)cairn::EndOf(*grandchild);
  EXPECT_TRUE(WasKilled(EndOf(&parent)));
}

TEST_F(AnyChild, IsKilledWithAllThatItHasStarted) {
  Child child = Start("starts");
  Result<ProcessHandle> grandchild = OpenProcess(WaitUntilSaid());
  ASSERT_TRUE(grandchild.ok());
  EXPECT_TRUE(child.GroupLives());
  EXPECT_TRUE(child.KillAll().ok());
  (void)cairn::EndOf(*grandchild);
  EXPECT_TRUE(WasKilled(EndOf(&child)));
  EXPECT_FALSE(child.GroupLives());
}

TEST_F(AnyChild, TellsWhichThreadAFaultMet) {
  ProcessEnd end = Run("fault-here");
  EXPECT_EQ(EndKind::kSignalled, end.kind);
  EXPECT_EQ(FaultThread::kCaller, shared_->fault);
  shared_->fault = FaultThread::kNone;
  end = Run("abort-here");
  EXPECT_EQ(FaultThread::kCaller, shared_->fault);
  shared_->fault = FaultThread::kNone;
  end = Run("fault-there");
  EXPECT_EQ(EndKind::kSignalled, end.kind);
  EXPECT_EQ(FaultThread::kOther, shared_->fault);
}

TEST_F(AnyChild, InTheForegroundHasTheSameEnd) {
  const Result<ProcessEnd> end = RunInForeground(Request("add"));
  ASSERT_TRUE(end.ok()) << end.status().message();
  EXPECT_EQ(EndKind::kExited, end->kind);
  EXPECT_EQ(7, end->value);
}

TEST(AnyTakeMemoryOfParent, WhatIsNoMemoryIsRefused) {
  const auto code_of = [](const std::string& text) {
    SetVariable("CAIRN_CHILD_MEMORY", text);
    EXPECT_TRUE(WasStartedAsChild());
    const StatusCode code = TakeMemoryOfParent().status().code();
    EXPECT_FALSE(WasStartedAsChild());
    return code;
  };
  EXPECT_FALSE(WasStartedAsChild());
  EXPECT_EQ(StatusCode::kNotFound, TakeMemoryOfParent().status().code());
  for (const char* text : {"7", "7:64", "x:64:1", "7:64x:1", "-1:64:1", "7:64:1x", ":64:1"}) {
    EXPECT_EQ(StatusCode::kCorrupt, code_of(text)) << text;
  }
  EXPECT_EQ(StatusCode::kNotFound, code_of("7:64:" + std::to_string(OwnProcessId())))
      << "another one's parent";
}

const TestRole is_the_same_end("is-the-same-end", [](const TestWords& words) -> int {
  EndAs({EndKind::kExited, std::stoi(words.at(0))});
});

TEST(AnyEndAs, IsTheSameEndAgain) {
  const ProcessEnd end = EndOf(StartRole("is-the-same-end", {"3"}));
  EXPECT_EQ(EndKind::kExited, end.kind);
  EXPECT_EQ(3, end.value);
}

}  // namespace
}  // namespace cairn
