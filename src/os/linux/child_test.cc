// SPDX-License-Identifier: Apache-2.0
//
// Tests for Linux only: signals, groups, descriptors. ../child_test.cc has tests for every system.
#include "os/child.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace cairn {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// The memory that test and child share.
struct Shared {
  std::atomic<uint32_t> said{0};
  std::atomic<FaultThread> fault{FaultThread::kNone};
};

// ---- In the child: what the word behind the program's name asks for ----------------------------------------

[[noreturn]] void SleepForEver() {
  for (;;) pause();
}

void DieOf(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

int Work(std::string_view task, Shared* shared) {
  if (task == "add") {
    shared->said.fetch_add(1);
    return 7;
  }
  if (task == "segv") DieOf(SIGSEGV);
  if (task == "kill") raise(SIGKILL);
  if (task == "wait-for-int") {
    signal(SIGINT, [](int) { _exit(9); });
    shared->said = 1;
    SleepForEver();
  }
  if (task == "wait-for-term") {
    signal(SIGTERM, [](int) { _exit(9); });
    shared->said = 1;
    SleepForEver();
  }
  // Report the process group, and the streams that it can read and write.
  if (task == "facts") {
    char byte = 0;
    shared->said =
        (getpgrp() == getpid() ? 1u : 0u) | (read(STDIN_FILENO, &byte, 1) == 0 ? 2u : 0u) |
        (isatty(STDOUT_FILENO) == 0 && errno == ENOTTY ? 4u : 0u) | (WasStartedAsChild() ? 8u : 0u);
    return write(STDOUT_FILENO, "out\n", 4) == 4 && write(STDERR_FILENO, "err\n", 4) == 4 ? 0 : 1;
  }
  if (task == "no-dump") {
    LeaveNoDump();
    rlimit core = {};
    getrlimit(RLIMIT_CORE, &core);
    return core.rlim_cur == 0 ? 5 : 6;
  }
  if (task == "fault-here" || task == "abort-here") {
    TellFaults(&shared->fault);
    if (task == "abort-here") std::abort();
    // A null pointer would be found by a sanitizer first.
    *reinterpret_cast<volatile int*>(uintptr_t{4096}) = 1;
  }
  // Has one of its own that leaves its group, does as it likes, and says who it is.
  if (task == "forks") {
    if (fork() == 0) {
      setsid();
      signal(SIGTERM, SIG_IGN);
      shared->said = static_cast<uint32_t>(getpid());
      SleepForEver();
    }
    SleepForEver();
  }
  if (task == "forks-and-ends") {
    if (fork() == 0) {
      shared->said = static_cast<uint32_t>(getpid());
      SleepForEver();
    }
    while (shared->said == 0) std::this_thread::yield();
    return 8;
  }
  return 99;
}

// ---- The tests ------------------------------------------------------------------------------------------

class ChildTest : public testing::Test {
 protected:
  ChildTest() : memory_(SharedMemory::Create("cairn-test", sizeof(Shared))) {
    EXPECT_TRUE(memory_.ok());
    shared_ = new (memory_->data()) Shared;
  }
  ChildRequest Request(const std::string& task) {
    return {.purpose = "a test", .arguments = {task}, .memory = &*memory_, .silent = true};
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
  void WaitUntilSaid() {
    while (shared_->said == 0) std::this_thread::yield();
  }

  Result<SharedMemory> memory_;
  Shared* shared_ = nullptr;
};

TEST_F(ChildTest, IsReaped) {
  EXPECT_EQ(7, Run("add").value);
  EXPECT_EQ(-1, waitpid(-1, nullptr, WNOHANG));
}

TEST_F(ChildTest, AFaultIsItsSignal) {
  ProcessEnd end = Run("segv");
  EXPECT_EQ(EndKind::kSignalled, end.kind);
  EXPECT_EQ("SIGSEGV", CauseOfDeath(end.value));
  EXPECT_FALSE(WasKilled(end));
  EXPECT_FALSE(WasAskedToEnd(end));
  end = Run("kill");
  EXPECT_TRUE(WasKilled(end));
  EXPECT_FALSE(WasAskedToEnd(end));
}

TEST_F(ChildTest, SilentIsWithoutInputOutputAndTerminal) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const ProcessEnd end = Run("facts");
  EXPECT_EQ("", testing::internal::GetCapturedStdout());
  EXPECT_EQ("", testing::internal::GetCapturedStderr());
  EXPECT_EQ(EndKind::kExited, end.kind);
  EXPECT_EQ(0, end.value);
  // In no group of others, nothing to read; the memory is no business of its own children.
  EXPECT_EQ(7u, shared_->said);
}

TEST_F(ChildTest, OtherwiseItsOutputIsThatOfItsParent) {
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  const int input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  ASSERT_EQ(STDIN_FILENO, dup2(ends[0], STDIN_FILENO));
  close(ends[0]);
  close(ends[1]);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  ChildRequest request = Request("facts");
  request.silent = false;
  Result<Child> child = Child::Start(request);
  ASSERT_TRUE(child.ok());
  (void)EndOf(&*child);
  EXPECT_EQ("out\n", testing::internal::GetCapturedStdout());
  EXPECT_EQ("err\n", testing::internal::GetCapturedStderr());
  EXPECT_EQ(7u, shared_->said);
  dup2(input, STDIN_FILENO);
  close(input);
}

// Started as a service may be: what is opened first gets the numbers of input and output.
TEST_F(ChildTest, GetsTheMemoryAlsoWhereItsParentHasNoInput) {
  const int input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  Result<SharedMemory> memory = SharedMemory::Create("cairn-test", sizeof(Shared));
  ASSERT_TRUE(memory.ok());
  auto* const shared = new (memory->data()) Shared;
  ChildRequest request = Request("add");
  request.memory = &*memory;
  Result<Child> child = Child::Start(request);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(7, EndOf(&*child).value);
  EXPECT_EQ(1u, shared->said);
  dup2(input, STDIN_FILENO);
  close(input);
}

// Like a program whose parent ignores SIGCHLD: the kernel forgets at once how its children ended.
TEST_F(ChildTest, HowItEndedIsToldAlsoWhereSigchldIsIgnored) {
  signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(7, Run("add").value);
  const Result<ProcessEnd> end = RunInForeground(Request("add"));
  EXPECT_EQ(7, end->value);
  EXPECT_EQ(SIG_IGN, signal(SIGCHLD, SIG_DFL));
}

TEST_F(ChildTest, IsKilledWithAllThatItHasStarted) {
  Child child = Start("forks");
  WaitUntilSaid();
  Result<ProcessHandle> grandchild = OpenProcess(static_cast<pid_t>(shared_->said));
  ASSERT_TRUE(grandchild.ok());
  EXPECT_TRUE(child.KillAll().ok());
  pollfd ended = {static_cast<int>(grandchild->handle.get()), POLLIN, 0};
  EXPECT_EQ(1, poll(&ended, 1, 60'000));
  EXPECT_TRUE(WasKilled(EndOf(&child)));
}

TEST_F(ChildTest, WhatItLeavesBehindInItsGroupIsKilled) {
  Child child = Start("forks-and-ends");
  ASSERT_TRUE(child.WaitForEnd(60 * kSecond));
  Result<ProcessHandle> grandchild = OpenProcess(static_cast<pid_t>(shared_->said));
  ASSERT_TRUE(grandchild.ok());
  pollfd ended = {static_cast<int>(grandchild->handle.get()), POLLIN, 0};
  EXPECT_EQ(0, poll(&ended, 1, 0));
  EXPECT_TRUE(child.GroupLives());
  EXPECT_TRUE(child.KillAll().ok());
  EXPECT_EQ(1, poll(&ended, 1, 60'000));
  EXPECT_FALSE(child.GroupLives());
  EXPECT_EQ(8, child.End().value);
}

TEST_F(ChildTest, IsAskedToEndWithItsGroup) {
  Child child = Start("wait-for-term");
  WaitUntilSaid();
  EXPECT_TRUE(child.AskAllToEnd().ok());
  EXPECT_EQ(9, EndOf(&child).value);
}

TEST_F(ChildTest, LeavesNoDump) {
  EXPECT_EQ(5, Run("no-dump").value);
}

TEST_F(ChildTest, AFaultThatIsToldIsItsSignalAllTheSame) {
  EXPECT_EQ(SIGSEGV, Run("fault-here").value);
  EXPECT_EQ(SIGABRT, Run("abort-here").value);
}

TEST_F(ChildTest, InTheForegroundItGetsTheInterruptsOfItsParent) {
  std::thread interrupts([this] {
    WaitUntilSaid();
    // Wait until the parent passes signals on: it is then in a system call, or about to enter it.
    struct sigaction now = {};
    do {
      sigaction(SIGINT, nullptr, &now);
    } while (now.sa_handler == SIG_DFL);
    kill(getpid(), SIGINT);
  });
  const Result<ProcessEnd> end = RunInForeground(Request("wait-for-int"));
  interrupts.join();
  ASSERT_TRUE(end.ok()) << end.status().message();
  EXPECT_EQ(EndKind::kExited, end->kind);
  EXPECT_EQ(9, end->value);
  // The process has its own handler again.
  struct sigaction now = {};
  sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(SIG_DFL, now.sa_handler);
}

TEST(EndAs, IsTheSameEndAgain) {
  EXPECT_EXIT(EndAs({EndKind::kSignalled, SIGTERM}), testing::KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(WasAskedToEnd({EndKind::kSignalled, SIGTERM}));
  EXPECT_FALSE(WasAskedToEnd({EndKind::kExited, SIGTERM}));
  EXPECT_EQ("signal 99", CauseOfDeath(99));
}

TEST(TakeMemoryOfParent, WhatIsNoMemoryIsRefused) {
  EXPECT_FALSE(WasStartedAsChild());
  EXPECT_EQ(StatusCode::kNotFound, TakeMemoryOfParent().status().code());
  Result<SharedMemory> memory = SharedMemory::Create("cairn-test", 64);
  const std::string parent = ":" + std::to_string(getppid());
  for (const std::string& text :
       {std::string(), std::string("7"), std::string("7:64"), "x:64" + parent, "7:64x" + parent,
        "-1:64" + parent, "99999999999:64" + parent, "7:64" + parent + "1x", ":64" + parent}) {
    setenv("CAIRN_CHILD_MEMORY", text.c_str(), 1);
    EXPECT_TRUE(WasStartedAsChild());
    EXPECT_EQ(StatusCode::kCorrupt, TakeMemoryOfParent().status().code()) << text;
    EXPECT_FALSE(WasStartedAsChild());
  }
  // Tries no descriptor; one that is no memory; memory of another size; another parent's memory.
  const auto of = [&](int fd, const std::string& rest) {
    setenv("CAIRN_CHILD_MEMORY", (std::to_string(fd) + rest).c_str(), 1);
    return TakeMemoryOfParent().status().code();
  };
  EXPECT_EQ(StatusCode::kCorrupt, of(12345, ":64" + parent));
  EXPECT_EQ(StatusCode::kCorrupt, of(dup(STDERR_FILENO), ":64" + parent));
  EXPECT_EQ(StatusCode::kCorrupt, of(dup(static_cast<int>(memory->handle())), ":65" + parent));
  EXPECT_EQ(StatusCode::kNotFound,
            of(dup(static_cast<int>(memory->handle())), ":64:" + std::to_string(getpid())));
  EXPECT_EQ(StatusCode::kOk, of(dup(static_cast<int>(memory->handle())), ":64" + parent));
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  if (cairn::WasStartedAsChild()) {
    cairn::Result<cairn::SharedMemory> memory = cairn::TakeMemoryOfParent();
    if (!memory.ok() || argc != 2) return 98;
    // Sanitizers do not look for leaks in what may not be looked into.
    std::_Exit(cairn::Work(argv[1], reinterpret_cast<cairn::Shared*>(memory->data())));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
