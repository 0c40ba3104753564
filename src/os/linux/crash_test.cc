// SPDX-License-Identifier: Apache-2.0
#include "os/crash.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace cairn {
namespace {

// The events in a child, which may be dead.
struct Seen {
  int crashes;
  uint32_t code;
  uint64_t address;
  bool lived_on;
  int calls_before;  // of the program's own handler
  int errno_before;
  int errno_at_first;
};
Seen* seen = nullptr;
std::byte* page = nullptr;
constexpr size_t kPage = 4096;

void OnCrash(Crash& crash) {
  if (++seen->crashes > 3) _exit(99);
  seen->errno_at_first = errno;
  seen->code = crash.code();
  seen->address = crash.address();
  errno = 7;
  seen->lived_on = crash.PassOn();
  errno = 9;
}

void Repair(int, siginfo_t*, void*) {
  ++seen->calls_before;
  seen->errno_before = errno;
  mprotect(page, kPage, PROT_READ | PROT_WRITE);
}

class CrashTest : public testing::Test {
 protected:
  void SetUp() override {
    seen = static_cast<Seen*>(Map(PROT_READ | PROT_WRITE, MAP_SHARED));
    page = static_cast<std::byte*>(Map(PROT_READ, MAP_PRIVATE));
  }
  void TearDown() override {
    munmap(seen, kPage);
    munmap(page, kPage);
  }

  static void* Map(int protection, int flags) {
    void* const memory = mmap(nullptr, kPage, protection, flags | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return memory;
  }
  static void Handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(signal, &action, nullptr);
  }
  // The wait status.
  template <typename Body>
  static int InChild(Body body) {
    const pid_t child = fork();
    if (child == 0) {
      for (const int signal : {SIGSEGV, SIGABRT}) ::signal(signal, SIG_DFL);
      alarm(10);
      body();
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
};

TEST_F(CrashTest, AFaultIsToldAndIsStillTheEnd) {
  const int status = InChild([] {
    InstallCrashHandler(&OnCrash);
    *reinterpret_cast<volatile char*>(page + 5) = 1;
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
  EXPECT_EQ(seen->crashes, 1);
  EXPECT_EQ(seen->code, static_cast<uint32_t>(SIGSEGV));
  EXPECT_EQ(seen->address, reinterpret_cast<uintptr_t>(page) + 5);
  EXPECT_FALSE(seen->lived_on);
}

TEST_F(CrashTest, AnAbortHasNoAddress) {
  const int status = InChild([] {
    InstallCrashHandler(&OnCrash);
    std::abort();
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  EXPECT_EQ(seen->crashes, 1);
  EXPECT_EQ(seen->code, static_cast<uint32_t>(SIGABRT));
  EXPECT_EQ(seen->address, 0u);
}

TEST_F(CrashTest, TheHandlerBeforeRepairs) {
  const int status = InChild([] {
    Handle(SIGSEGV, &Repair, 0);
    InstallCrashHandler(&OnCrash);
    for (int i = 0; i < 2; ++i) {
      mprotect(page, kPage, PROT_READ);
      errno = 123;
      *reinterpret_cast<volatile char*>(page) = 1;
      if (errno != 123) _exit(1);
    }
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(seen->crashes, 2);
  EXPECT_EQ(seen->calls_before, 2);
  EXPECT_EQ(seen->errno_before, seen->errno_at_first) << "not what the crash handler made of it";
  EXPECT_TRUE(seen->lived_on);
}

// The kernel would have taken it away before it called it.
TEST_F(CrashTest, AHandlerForOneCrashIsCalledOnce) {
  const int status = InChild([] {
    Handle(SIGSEGV, &Repair, SA_RESETHAND);
    InstallCrashHandler(&OnCrash);
    *reinterpret_cast<volatile char*>(page) = 1;
    mprotect(page, kPage, PROT_READ);
    *reinterpret_cast<volatile char*>(page) = 1;
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
  EXPECT_EQ(seen->crashes, 1);
  EXPECT_EQ(seen->calls_before, 1);
  EXPECT_FALSE(seen->lived_on);
}

TEST_F(CrashTest, WhatTheProgramIgnoresIsIgnored) {
  const int status = InChild([] {
    signal(SIGABRT, SIG_IGN);
    InstallCrashHandler(&OnCrash);
    kill(getpid(), SIGABRT);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(seen->crashes, 1);
  EXPECT_TRUE(seen->lived_on);
}

}  // namespace
}  // namespace cairn
