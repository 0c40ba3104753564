// SPDX-License-Identifier: Apache-2.0
//
// The key ^C, on a terminal: what interrupt_test.cc asks, and the terminal is as it was.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "interrupt_fixture.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns true if a child of this process, or an orphan of one, is still alive.
bool HasLiveChild() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  siginfo_t info = {};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// A command whose terminal we hold.
class OnTerminal {
 public:
  OnTerminal(const std::vector<std::string>& arguments, const std::string& folder) {
    terminal_ = posix_openpt(O_RDWR | O_NOCTTY);
    grantpt(terminal_);
    unlockpt(terminal_);
    other_end_ = open(ptsname(terminal_), O_RDWR | O_NOCTTY);  // so that it can be asked afterwards
    tcgetattr(other_end_, &before_);
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // what it leaves behind comes to this process
    std::vector<char*> pointers;
    for (const std::string& argument : arguments) {
      pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    const std::vector<std::string> environment = LavapipeEnvironment();
    pid_ = fork();
    if (pid_ != 0) return;
    setsid();
    const int fd = open(ptsname(terminal_), O_RDWR);  // becomes its controlling terminal
    for (const int target : {0, 1, 2}) dup2(fd, target);
    setenv("TERM", "xterm", 1);
    for (const std::string& setting : environment) putenv(const_cast<char*>(setting.c_str()));
    if (chdir(folder.c_str()) != 0) _exit(122);
    execvp(pointers[0], pointers.data());
    _exit(123);
  }
  ~OnTerminal() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(other_end_);
    close(terminal_);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  // Reads until the text has come; false after a minute.
  bool WaitFor(const std::string& text) {
    return WaitUntil([&] {
      Read();
      return shown_.find(text) != std::string::npos;
    });
  }
  void Type(const std::string& keys) {
    EXPECT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  // -1 if it does not end.
  int Wait() {
    int status = 0;
    const bool ended = WaitUntil([&] {
      Read();
      return waitpid(pid_, &status, WNOHANG) == pid_;
    });
    EXPECT_TRUE(ended);
    if (!ended) return -1;
    pid_ = -1;
    Read();
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  bool IsAsBefore() const {
    termios now = {};
    tcgetattr(other_end_, &now);
    return now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag &&
           now.c_cflag == before_.c_cflag && now.c_lflag == before_.c_lflag;
  }
  const std::string& shown() const { return shown_; }

 private:
  void Read() {
    char buffer[4096];
    pollfd ready = {terminal_, POLLIN, 0};
    while (poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN) != 0) {
      const ssize_t size = read(terminal_, buffer, sizeof(buffer));
      if (size <= 0) return;
      shown_.append(buffer, static_cast<size_t>(size));
    }
  }

  int terminal_ = -1;
  int other_end_ = -1;
  pid_t pid_ = -1;
  termios before_ = {};
  std::string shown_;
};

TEST_F(InterruptTest, TheKeyEndsAReplayAndItsProgressLine) {
  Copy("long.cairn");
  OnTerminal replay(Arguments({"replay", "--quiet", "--loop", "1000", "long.cairn"}),
                    folder_.path().string());
  ASSERT_TRUE(replay.WaitFor("cairn replay: ")) << replay.shown();
  EXPECT_THAT(replay.shown(), HasSubstr(" s left"));
  replay.Type("\x03");
  EXPECT_EQ(replay.Wait(), 1);
  EXPECT_TRUE(replay.IsAsBefore());
  // The line is cleared before what is said last.
  const size_t said = replay.shown().rfind("\r\x1b[Kcairn replay: warning: stopped after ");
  ASSERT_NE(said, std::string::npos) << replay.shown();
  EXPECT_THAT(replay.shown(), ::testing::EndsWith("\r\n"));
}

TEST_F(InterruptTest, TheKeyEndsASearchAndItsPlaybacks) {
  Copy("fault.cairn");
  OnTerminal bisect(Arguments({"bisect", "fault.cairn"}), folder_.path().string());
  const std::string journal = folder_ / "fault.bisect";
  ASSERT_TRUE(WaitUntil([&] { return AnswerCount(journal) >= 2; }));
  bisect.Type("\x03");
  EXPECT_EQ(bisect.Wait(), 1);
  EXPECT_FALSE(HasLiveChild());
  EXPECT_TRUE(bisect.IsAsBefore());
  EXPECT_THAT(bisect.shown(), HasSubstr("cairn bisect: interrupted; the same command resumes"));
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.bisect", "fault.cairn"));
}

}  // namespace
}  // namespace cairn::testing
