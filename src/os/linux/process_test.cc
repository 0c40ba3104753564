// SPDX-License-Identifier: Apache-2.0
#include "os/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "base/program_name.h"

namespace cairn {
namespace {

SpawnRequest Request(std::vector<std::string> arguments) {
  SpawnRequest request;
  request.arguments = std::move(arguments);
  return request;
}

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

ProcessEnd EndOf(const ProcessHandle& process) {
  pollfd wait{static_cast<int>(process.handle.get()), POLLIN, 0};
  EXPECT_EQ(poll(&wait, 1, 20000), 1);
  return CollectEnd(process);
}

TEST(SpawnProgram, TellsHowTheProgramEnded) {
  Result<ProcessHandle> program = SpawnProgram(Request({"sh", "-c", "exit 7"}));
  ASSERT_TRUE(program.ok()) << program.status().message();
  ProcessEnd end = EndOf(*program);
  EXPECT_EQ(end.kind, EndKind::kExited);
  EXPECT_EQ(end.value, 7);

  program = SpawnProgram(Request({"sh", "-c", "kill -SEGV $$"}));
  ASSERT_TRUE(program.ok());
  end = EndOf(*program);
  EXPECT_EQ(end.kind, EndKind::kSignalled);
  EXPECT_EQ(end.value, SIGSEGV);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child was not reaped";
}

TEST(SpawnProgram, SetsOneVariableAndKeepsOneDescriptor) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  SpawnRequest request =
      Request({"sh", "-c", "echo \"$CAIRN_SPAWN_TEST\" >&$0 && test -n \"$PATH\"",
               std::to_string(ends[1])});
  const SystemHandle inherited(ends[1]);
  request.inherited = &inherited;
  request.environment = {"CAIRN_SPAWN_TEST=value=1"};
  Result<ProcessHandle> program = SpawnProgram(request);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(EndOf(*program).value, 0);
  char text[32] = {};
  EXPECT_EQ(read(ends[0], text, sizeof(text) - 1), 8);
  EXPECT_STREQ(text, "value=1\n");
  close(ends[0]);
}

TEST(SpawnProgram, SaysWhyNothingStarted) {
  const Status missing = SpawnProgram(Request({"/nonexistent/game"})).status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_EQ(missing.message(),
            "program '/nonexistent/game' was not found; give its path, or a name in PATH");
  const Status folder = SpawnProgram(Request({"/tmp"})).status();
  EXPECT_EQ(folder.code(), StatusCode::kUnsupported);
  EXPECT_EQ(folder.message(), "'/tmp' cannot be executed: Permission denied");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child was not reaped";
}

class CollectEndTest : public testing::Test {
 protected:
  // Starts a shell whose child waits for a signal; the shell does `then`, which has to print the child's
  // number $! to the descriptor $0.
  void Start(const std::string& then) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    Result<ProcessHandle> parent = SpawnProgram(
        Request({"bash", "-c", "exec 2>/dev/null; sleep 60 & " + then, std::to_string(ends[1])}));
    ASSERT_TRUE(parent.ok());
    parent_ = std::move(parent).value();
    char text[32] = {};
    ASSERT_GT(read(ends[0], text, sizeof(text) - 1), 0);
    Result<ProcessHandle> grandchild = OpenProcess(static_cast<pid_t>(atoi(text)));
    ASSERT_TRUE(grandchild.ok()) << grandchild.status().message();
    grandchild_ = std::move(grandchild).value();
    close(ends[0]);
    close(ends[1]);
  }

  ProcessHandle parent_;
  ProcessHandle grandchild_;
};

TEST_F(CollectEndTest, SeesTheStatusOfAZombieThatIsNotItsChild) {
  // exec keeps the child, but what is executed never asks for its status. It prints the number itself:
  // before, the shell might still see the child's end.
  Start("exec sh -c 'echo $0 >&$1; exec sleep 60' $! $0");
  ASSERT_TRUE(SendSignal(grandchild_, SIGKILL).ok());
  const ProcessEnd end = EndOf(grandchild_);
  EXPECT_EQ(end.kind, EndKind::kSignalled);
  EXPECT_EQ(end.value, SIGKILL);
  ASSERT_TRUE(SendSignal(parent_, SIGKILL).ok());
  (void)EndOf(parent_);
}

TEST_F(CollectEndTest, SeesTheStatusThatTheParentHasTakenOrSaysThatItDoesNot) {
  Start("echo $! >&$0; wait");
  ASSERT_TRUE(SendSignal(grandchild_, SIGKILL).ok());
  (void)EndOf(parent_);  // It has reaped its child before it ended.
  const ProcessEnd end = CollectEnd(grandchild_);
  // Linux 6.15 and newer tell.
  if (end.kind == EndKind::kUnknown) GTEST_SKIP() << "this kernel forgets how a process ended";
  EXPECT_EQ(end.kind, EndKind::kSignalled);
  EXPECT_EQ(end.value, SIGKILL);
}

// The parent takes the status of each while it is being looked at.
TEST(CollectEnd, SeesTheStatusWhileTheParentTakesIt) {
  constexpr int kChildren = 400;
  int ends[2];
  int goes[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(goes), 0);
  const pid_t parent = fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    char byte = 0;
    for (int i = 0; i < kChildren; ++i) {
      const pid_t child = fork();
      if (child == 0) _exit(read(goes[0], &byte, 1) == 1 ? 7 : 1);
      if (child < 0 || write(ends[1], &child, sizeof(child)) != sizeof(child)) _exit(1);
      while (waitpid(child, nullptr, WNOHANG) == 0) {
      }
    }
    _exit(0);
  }
  int unknown = 0;
  ProcessHandle last;
  for (int i = 0; i < kChildren; ++i) {
    pid_t child = 0;
    ASSERT_EQ(read(ends[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
    Result<ProcessHandle> handle = OpenProcess(child);
    ASSERT_TRUE(handle.ok()) << handle.status().message();
    ASSERT_EQ(write(goes[1], "", 1), 1);
    last = std::move(*handle);
    const ProcessEnd end = EndOf(last);
    if (end.kind == EndKind::kUnknown) {
      ++unknown;
      continue;
    }
    EXPECT_EQ(end.kind, EndKind::kExited);
    EXPECT_EQ(end.value, 7);
  }
  int status = 0;
  EXPECT_EQ(waitpid(parent, &status, 0), parent);
  EXPECT_EQ(status, 0);
  for (const int descriptor : {ends[0], ends[1], goes[0], goes[1]}) close(descriptor);
  // Linux 6.15 and newer keep it.
  if (CollectEnd(last).kind == EndKind::kUnknown) {
    GTEST_SKIP() << "this kernel forgets how a process ended";
  }
  EXPECT_EQ(unknown, 0);
}

TEST(CollectEnd, AHandleWithoutDescriptorTellsNothing) {
  EXPECT_EQ(CollectEnd(ProcessHandle()).kind, EndKind::kUnknown);
}

TEST(ConditionOf, FollowsJobControl) {
  Result<ProcessHandle> program = SpawnProgram(Request({"sleep", "60"}));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(ConditionOf(program->pid), ProcessCondition::kRunning);
  ASSERT_TRUE(SendSignal(*program, SIGSTOP).ok());
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(program->pid), &info, WSTOPPED), 0);
  EXPECT_EQ(ConditionOf(program->pid), ProcessCondition::kStopped);
  EXPECT_EQ(CommandLineOf(program->pid), "sleep 60");
  EXPECT_EQ(ArgumentsOf(program->pid), std::string("sleep\00060\0", 9));
  ASSERT_TRUE(SendSignal(*program, SIGKILL).ok());
  EXPECT_EQ(EndOf(*program).value, SIGKILL);
}

// Browsers and servers write over their arguments; Perl can, too.
TEST(ProgramOf, ATitleIsNoProgram) {
  Result<ProcessHandle> program = SpawnProgram(
      Request({"perl", "-e", "$0 = '/opt/game --type=gpu --profile=/tmp/prof --fast'; sleep 60"}));
  ASSERT_TRUE(program.ok());
  while (!CommandLineOf(program->pid).starts_with("/opt/game ")) {
    // Empty while perl writes it.
    ASSERT_EQ(ConditionOf(program->pid), ProcessCondition::kRunning);
  }
  EXPECT_EQ(NameOfProgram(ProgramOf(program->pid)), "perl");
  ASSERT_TRUE(SendSignal(*program, SIGKILL).ok());
  EXPECT_EQ(EndOf(*program).value, SIGKILL);
}

// A process that is held while it dies, as a driver holds one whose work the GPU still executes.
class DyingProcess : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    Result<ProcessHandle> program = SpawnProgram(Request({"sleep", "60"}));
    ASSERT_TRUE(program.ok());
    program_ = std::move(*program);
    if (ptrace(PTRACE_SEIZE, program_.pid, nullptr, PTRACE_O_TRACEEXIT) != 0) {
      EXPECT_TRUE(SendSignal(program_, SIGKILL).ok());
      GTEST_SKIP() << "this system lets nobody trace: " << strerror(errno);
    }
  }
  void TearDown() override {
    if (program_.pid > 0) {
      EXPECT_NE(EndOf(program_).kind, EndKind::kUnknown);
    }
  }
  // Until the next stop of the traced process; its ptrace event, or the signal that it is about to get.
  int Next() {
    int status = 0;
    EXPECT_EQ(waitpid(program_.pid, &status, __WALL), program_.pid);
    EXPECT_TRUE(WIFSTOPPED(status));
    return status >> 16 != 0 ? status >> 16 : WSTOPSIG(status);
  }

  ProcessHandle program_;
};

TEST_P(DyingProcess, IsEndingAndNeitherRunningNorStopped) {
  const int number = GetParam();
  ASSERT_TRUE(SendSignal(program_, number).ok());
  int stop = Next();
  // Signals that could be handled are shown to the tracer first.
  if (stop == number) {
    EXPECT_EQ(ConditionOf(program_.pid), ProcessCondition::kStopped);
    ASSERT_EQ(ptrace(PTRACE_CONT, program_.pid, nullptr, number), 0);
    stop = Next();
  }
  ASSERT_EQ(stop, PTRACE_EVENT_EXIT);
  EXPECT_EQ(ConditionOf(program_.pid), ProcessCondition::kEnding);
  ASSERT_EQ(ptrace(PTRACE_DETACH, program_.pid, nullptr, nullptr), 0);
  EXPECT_EQ(EndOf(program_).value, number);
  program_.pid = -1;
}

INSTANTIATE_TEST_SUITE_P(, DyingProcess, testing::Values(SIGKILL, SIGSEGV, SIGTERM));

// The first thread is gone, and the program goes on.
TEST(ConditionOf, AProcessWithoutItsFirstThreadRuns) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::thread([reader = ends[0], writer = ends[1]] {
      close(writer);
      char byte = 0;
      (void)!read(reader, &byte, 1);
      _exit(3);
    }).detach();
    // pthread_exit would unwind through the test.
    syscall(SYS_exit, 0);
  }
  close(ends[0]);
  // The first thread has become a zombie when it has.
  const std::string stat = "/proc/" + std::to_string(child) + "/stat";
  std::string line;
  do {
    line = ReadWhole(stat);
  } while (line.find(") Z ") == std::string::npos && !line.empty());
  EXPECT_EQ(ConditionOf(child), ProcessCondition::kRunning);
  close(ends[1]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(ConditionOf, OfAProcessThatIsGoneNothingIsTold) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(ConditionOf(child), ProcessCondition::kRunning);
}

}  // namespace
}  // namespace cairn
