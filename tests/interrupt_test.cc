// SPDX-License-Identifier: Apache-2.0
//
// ^C while a verb works on a trace: no half file, no process and no changed terminal stays behind, and
// what can go on later does.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Long enough that a signal comes before its end, whatever else the machine does.
constexpr char kFrames[] = "1500";

bool WaitUntil(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Whether a child of this process, or what one has left behind, is still alive.
bool HasLiveChild() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  siginfo_t info = {};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// Traces that all tests use.
class Traces : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_ = std::make_unique<TemporaryFolder>();
    const CommandResult captured =
        RunCommand({Program("cairn"), "run", "--quiet", "--capture", "-o", "long.cairn", "--",
                    Program("sample-scale-d3d12-plain"), "--frames", kFrames, "--calls", "100"},
                   {.folder = folder_->path(), .environment = LavapipeEnvironment()});
    ASSERT_EQ(captured.exit_code, 0) << captured.Summary();
    (void)RunCommand({Program("cairn"), "run", "--quiet", "--capture", "-o", "fault.cairn", "--",
                      Program("sample-fault-d3d12-plain")},
                     {.folder = folder_->path(), .environment = LavapipeEnvironment()});
    ASSERT_TRUE(std::filesystem::exists(*folder_ / "fault.cairn"));
  }
  void TearDown() override { folder_.reset(); }
  static std::string Path(const std::string& name) { return *folder_ / name; }

 private:
  static inline std::unique_ptr<TemporaryFolder> folder_;
};
[[maybe_unused]] const auto* const kTraces = ::testing::AddGlobalTestEnvironment(new Traces);

class InterruptTest : public ::testing::Test {
 protected:
  void Copy(const std::string& name) {
    std::filesystem::copy_file(Traces::Path(name), folder_ / name);
  }
  static std::vector<std::string> Arguments(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return arguments;
  }
  Command::Options Options() const {
    return {.folder = folder_.path(), .environment = LavapipeEnvironment(), .timeout_s = 120};
  }
  // Runs the command, sends SIGINT when `ready`, and to its child as well if a terminal would.
  CommandResult Interrupt(const std::vector<std::string>& arguments,
                          const std::function<bool(const Command&)>& ready) {
    Command command(Arguments(arguments), Options());
    EXPECT_TRUE(WaitUntil([&] { return ready(command) || !IsRunning(command.pid()); }));
    EXPECT_TRUE(IsRunning(command.pid())) << "it was over before";
    const pid_t child = ChildOf(command.pid());
    kill(command.pid(), SIGINT);
    if (child > 0 && getpgid(child) == getpgid(command.pid())) kill(child, SIGINT);
    const CommandResult result = command.Wait();
    EXPECT_FALSE(result.timed_out);
    EXPECT_THAT(result.left_behind, IsEmpty());
    return result;
  }
  bool Has(const std::string& part) const {
    const std::vector<std::string> names = folder_.Contents();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.find(part) != std::string::npos;
    });
  }
  // In the journal of a search: the lines behind its header.
  static size_t AnswerCount(const std::string& path) {
    const std::string text = ReadFile(path);
    const std::string header = "\nanswers\n";
    const size_t end = text.find(header);
    return end == std::string::npos ? 0 : LineCount(text.substr(end + header.size()));
  }
  static size_t LineCount(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  TemporaryFolder folder_;
};

TEST_F(InterruptTest, ReplayEndsAfterTheCall) {
  Copy("long.cairn");
  const CommandResult result =
      Interrupt({"replay", "--hash", "--loop", "1000", "long.cairn"},
                [](const Command& command) { return LineCount(command.output()) > 3; });
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  EXPECT_THAT(result.errors, StartsWith("cairn replay: warning: stopped after "));
  EXPECT_EQ(LineCount(result.errors), 1u);
  EXPECT_EQ(result.output.back(), '\n');
}

TEST_F(InterruptTest, ImagesOfReplayAreWhole) {
  Copy("long.cairn");
  const CommandResult result = Interrupt(
      {"replay", "--images", "out", "long.cairn"},
      [this](const Command&) { return std::filesystem::exists(folder_ / "out/frame-000003.png"); });
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "out")) {
    const std::string bytes = ReadFile(entry.path());
    EXPECT_EQ(entry.path().extension(), ".png");
    // The last chunk of a PNG file.
    ASSERT_GT(bytes.size(), 8u) << entry.path();
    EXPECT_EQ(bytes.substr(bytes.size() - 8, 4), "IEND") << entry.path();
  }
}

TEST_F(InterruptTest, ImagesLeavesNothing) {
  Copy("long.cairn");
  const CommandResult result = Interrupt({"images", "-o", "out", "long.cairn"},
                                         [this](const Command&) { return Has("out"); });
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.errors, "cairn images: stopped\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("long.cairn"));
}

TEST_F(InterruptTest, TrimLeavesNothing) {
  Copy("long.cairn");
  const CommandResult result =
      Interrupt({"trim", "--frames", "1400-1450", "-o", "b.cairn", "long.cairn"},
                [this](const Command&) { return Has(".recorded.part"); });
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.errors, "cairn trim: interrupted; nothing is written\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("long.cairn"));
}

TEST_F(InterruptTest, RepackKeepsTheOldFile) {
  Copy("long.cairn");
  const std::string before = ReadFile(folder_ / "long.cairn");
  for (const bool in_place : {true, false}) {
    std::vector<std::string> arguments = {"repack", "long.cairn"};
    if (!in_place) arguments.insert(arguments.end(), {"-o", "b.cairn"});
    const CommandResult result =
        Interrupt(arguments, [this](const Command&) { return Has(".part"); });
    EXPECT_EQ(result.exit_code, 1) << result.Summary();
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(result.errors, in_place ? "cairn repack: interrupted; long.cairn is not written\n"
                                      : "cairn repack: interrupted; b.cairn is not written\n");
    EXPECT_THAT(folder_.Contents(), ElementsAre("long.cairn"));
    EXPECT_TRUE(ReadFile(folder_ / "long.cairn") == before);
  }
}

TEST_F(InterruptTest, BisectGoesOnFromItsJournal) {
  Copy("fault.cairn");
  const std::string journal = folder_ / "fault.bisect";
  const CommandResult result = Interrupt({"bisect", "fault.cairn"},
                                         [&](const Command&) { return AnswerCount(journal) >= 2; });
  EXPECT_GE(AnswerCount(journal), 2u);
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.errors, "cairn bisect: interrupted; the same command goes on from here\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.bisect", "fault.cairn"));

  const CommandResult rest = RunCommand(Arguments({"bisect", "fault.cairn"}), Options());
  EXPECT_EQ(rest.exit_code, 0) << rest.Summary();
  EXPECT_THAT(rest.errors, HasSubstr("warning: goes on after "));
  EXPECT_THAT(rest.output, HasSubstr("Dispatch"));
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.cairn", "fault.minimal.cairn"));
}

// The answer is known by then, but not told.
TEST_F(InterruptTest, BisectTellsItsAnswerAlsoIfTheMinimalTraceWasInterrupted) {
  Copy("fault.cairn");
  const CommandResult result =
      Interrupt({"bisect", "fault.cairn"}, [this](const Command&) { return Has(".untested"); });
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.errors, "cairn bisect: interrupted; the same command goes on from here\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.bisect", "fault.cairn"));
  const size_t answers = AnswerCount(folder_ / "fault.bisect");

  const CommandResult rest = RunCommand(Arguments({"bisect", "--json", "fault.cairn"}), Options());
  EXPECT_EQ(rest.exit_code, 0) << rest.Summary();
  EXPECT_THAT(rest.output, HasSubstr("\"probes\": " + std::to_string(answers) + ","));
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.cairn", "fault.minimal.cairn"));
}

// ---- On a terminal ------------------------------------------------------------------------------------

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
  EXPECT_THAT(bisect.shown(), HasSubstr("cairn bisect: interrupted; the same command goes on"));
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.bisect", "fault.cairn"));
}

}  // namespace
}  // namespace cairn::testing
