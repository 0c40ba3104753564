// SPDX-License-Identifier: Apache-2.0
#include "os/thread.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "os/this_process.h"

namespace cairn {
namespace {

TEST(Thread, ThreadsHaveNumbersAndNames) {
  EXPECT_EQ(CurrentThreadId(), static_cast<uint32_t>(getpid())) << "the first thread of a process";
  uint32_t id = 0;
  std::array<char, kThreadNameBytes> name{};
  std::thread thread = StartInnerThread("cairn-inner", [&] {
    id = CurrentThreadId();
    name = CurrentThreadName();
  });
  thread.join();
  EXPECT_NE(id, 0u);
  EXPECT_NE(id, CurrentThreadId());
  EXPECT_EQ(std::string(name.data()), "cairn-inner");
  EXPECT_NE(std::string(CurrentThreadName().data()), "cairn-inner");
}

TEST(Thread, AnInnerThreadTakesFaultsOnly) {
  sigset_t before;
  sigset_t inside;
  sigset_t after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  StartInnerThread("cairn-inner", [&] { pthread_sigmask(SIG_BLOCK, nullptr, &inside); }).join();
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGPIPE}) {
    EXPECT_EQ(sigismember(&inside, signal), 1) << signal;
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
  }
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    EXPECT_EQ(sigismember(&inside, fault), 0) << fault;
  }
}

std::atomic<void*> ended{nullptr};

TEST(Thread, ASlotIsOfItsThreadUntilThatEnds) {
  static constinit ThreadSlot slot;
  int value = 0;
  slot.Set(&value);
  EXPECT_EQ(slot.Get(), nullptr) << "not open";
  slot.Open([](void* at_end) { ended = at_end; });
  slot.Set(&value);
  int of_thread = 0;
  std::thread([&] {
    EXPECT_EQ(slot.Get(), nullptr);
    slot.Set(&of_thread);
    EXPECT_EQ(slot.Get(), &of_thread);
    EXPECT_EQ(ended.load(), nullptr);
  }).join();
  EXPECT_EQ(ended.load(), &of_thread);
  ended = nullptr;
  std::thread([&] {
    slot.Set(&of_thread);
    slot.Set(nullptr);
  }).join();
  EXPECT_EQ(ended.load(), nullptr) << "it had none any more";
  EXPECT_EQ(slot.Get(), &value);
  slot.Set(nullptr);
}

TEST(ThisProcess, KnowsItself) {
  EXPECT_EQ(OwnProcessId(), getpid());
  const std::string program = OwnProgramPath();
  EXPECT_EQ(program.substr(program.rfind('/') + 1), "os_thread_test");
  const std::string line = OwnCommandLine();
  EXPECT_NE(line.substr(0, line.find('\0')).find("os_thread_test"), std::string::npos);
}

int copies = 0;

TEST(ThisProcess, ACopyIsToldFirst) {
  CallInCopies([] { ++copies; });
  const pid_t copy = fork();
  if (copy == 0) _exit(OwnProcessId() == getpid() ? copies : 100);
  int status = -1;
  ASSERT_EQ(waitpid(copy, &status, 0), copy);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(copies, 0) << "here nothing was called";
}

}  // namespace
}  // namespace cairn
