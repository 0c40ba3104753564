// SPDX-License-Identifier: Apache-2.0
#include "os/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace cairn {
namespace {

constexpr uint64_t kLongNs = 60'000'000'000;

// A child that runs `body` and exits with what that returns; what it writes to stdout is kept.
class Child {
 public:
  explicit Child(const std::function<int()>& body) {
    int ends[2] = {};
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
      _exit(body());
    }
    close(ends[1]);
    output_ = ends[0];
  }
  ~Child() { close(output_); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

  // Waits until the child has said that it is ready and sleeps, then signals it.
  void Signal(int number) const {
    char byte = 0;
    ASSERT_EQ(read(output_, &byte, 1), 1);
    ASSERT_EQ(byte, 'w');
    while (StateOf(pid_) != 'S') std::this_thread::yield();
    kill(pid_, number);
  }

  // Returns the status of waitpid.
  int End() const {
    int status = -1;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return status;
  }
  std::string Output() const {
    std::string text;
    char piece[64];
    for (ssize_t size = 0; (size = read(output_, piece, sizeof(piece))) > 0;) {
      text.append(piece, static_cast<size_t>(size));
    }
    return text;
  }

 private:
  static char StateOf(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const size_t end = text.rfind(')');
    return end == std::string::npos ? '?' : text.at(end + 2);
  }

  pid_t pid_ = -1;
  int output_ = -1;
};

int Exit(int code) {
  return W_EXITCODE(code, 0);
}
int Death(int number) {
  return W_EXITCODE(0, number);
}

// A process that lives as long as the test.
ProcessHandle ThisProcess() {
  Result<ProcessHandle> process = OpenProcess(getpid());
  return process.ok() ? std::move(*process) : ProcessHandle();
}

using Woken = InterruptibleWait::Woken;

int WaitLong(InterruptibleWait& wait, const ProcessHandle& process) {
  if (write(STDOUT_FILENO, "w", 1) != 1) return -1;
  return static_cast<int>(wait.Wait(process, kLongNs));
}

TEST(InterruptNote, TheFirstIsNotedTheSecondEnds) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const Child child([number] {
      const InterruptNote note;
      if (note.came()) return 1;
      raise(number);
      if (!note.came()) return 2;
      raise(number);
      return 3;
    });
    EXPECT_EQ(child.End(), Death(number));
  }
}

TEST(InterruptNote, WhatWasIgnoredStaysIgnoredAndWhatWasBeforeComesBack) {
  const Child child([] {
    signal(SIGHUP, SIG_IGN);
    {
      const InterruptNote note;
      raise(SIGHUP);
      if (note.came()) return 1;
    }
    {
      const InterruptNote note;
      raise(SIGINT);
    }
    if (InterruptNote().came()) return 2;
    raise(SIGINT);
    return 3;
  });
  EXPECT_EQ(child.End(), Death(SIGINT));
}

TEST(InterruptibleWait, EndsByTimeAndWithTheProcess) {
  InterruptibleWait wait("");
  EXPECT_EQ(wait.Wait(ThisProcess(), 1'000'000), Woken::kByTime);
  const Child child([] { return 0; });
  const Result<ProcessHandle> process = OpenProcess(child.pid());
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(wait.Wait(*process, kLongNs), Woken::kByProcess);
  EXPECT_EQ(child.End(), 0);
}

TEST(InterruptibleWait, TellsTheUsersRequest) {
  const Child child([] {
    InterruptibleWait wait("last words");
    return 10 + WaitLong(wait, ThisProcess());
  });
  child.Signal(SIGINT);
  EXPECT_EQ(child.End(), Exit(10 + static_cast<int>(Woken::kByUser)));
  EXPECT_EQ(child.Output(), "");
}

TEST(InterruptibleWait, ObeysAnotherOnceEverythingIsInOrder) {
  const Child child([] {
    InterruptibleWait wait("last words");
    if (WaitLong(wait, ThisProcess()) != static_cast<int>(Woken::kByRequest)) return 1;
    if (write(STDOUT_FILENO, "in order", 8) != 8) return 2;
    wait.Close();
    wait.Obey();
    return 3;
  });
  child.Signal(SIGTERM);
  EXPECT_EQ(child.End(), Death(SIGTERM));
  EXPECT_EQ(child.Output(), "in order");
}

TEST(InterruptibleWait, ElsewhereARequestEndsTheProcessWithItsLastWords) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const Child child([number] {
      const InterruptibleWait wait("last words");
      raise(number);
      return 1;
    });
    EXPECT_EQ(child.End(), number == SIGINT ? Exit(0) : Death(number));
    EXPECT_EQ(child.Output(), "last words");
  }
}

}  // namespace
}  // namespace cairn
