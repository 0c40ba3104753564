// SPDX-License-Identifier: Apache-2.0
//
// `cairn top` and running processes: which it finds, what it says of them, that it ends when they do.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Misbehave() {
  return CAIRN_BINARY_DIR "/tests/programs/misbehave";
}

class TopTest : public ::testing::Test {
 protected:
  // A program whose GPU stands still, under `cairn run`.
  void StartHanging(const std::string& program = Misbehave()) {
    hanging_.emplace(std::vector<std::string>{Program("cairn"), "run", "--no-layer",
                                              "--hang-timeout", "0", "--", program, "hang"},
                     Command::Options{.folder = folder_.path()});
    pid_ = hanging_->WaitUntilReady();
    ASSERT_GT(pid_, 0);
  }
  CommandResult Top(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {Program("cairn"), "top"});
    // RunCommand would take the running program for one that was left behind.
    return RunBeside(arguments);
  }
  CommandResult TopOfIt(std::vector<std::string> arguments) {
    arguments.push_back(std::to_string(pid_));
    return Top(arguments);
  }
  void ExpectRefused(const std::vector<std::string>& arguments, int exit_code,
                     const std::string& line) {
    const CommandResult result = Top(arguments);
    EXPECT_EQ(result.errors, "cairn top: " + line + "\n");
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(result.exit_code, exit_code);
  }

  CommandResult RunBeside(const std::vector<std::string>& arguments) {
    std::string script = "exec";
    for (const std::string& argument : arguments) script += " '" + argument + "'";
    script += " >out 2>err </dev/null";
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder_.path().c_str()) != 0) _exit(121);
      execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
      _exit(122);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CommandResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.output = ReadFile(folder_ / "out");
    result.errors = ReadFile(folder_ / "err");
    return result;
  }

  TemporaryFolder folder_;
  std::optional<Command> hanging_;
  pid_t pid_ = -1;
};

TEST_F(TopTest, JsonSaysWhatIsInFlight) {
  StartHanging();
  const CommandResult result = TopOfIt({"--once", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.errors, "");
  const Json document = Json::Parse(result.output);
  EXPECT_EQ(
      SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/top.schema.json"), document),
      "");
  EXPECT_EQ(document["process"]["pid"], pid_);
  EXPECT_EQ(document["process"]["program"], Misbehave());
  EXPECT_EQ(document["devices"][0]["memory"], "callback");
  ASSERT_EQ(document["queues"].size(), 1u);
  const Json queue = document["queues"][0];
  EXPECT_EQ(queue["name"], "Graphics");
  EXPECT_EQ(queue["type"], "direct");
  EXPECT_EQ(queue["submitted"], 1);
  EXPECT_EQ(queue["pending"], 1);
  ASSERT_EQ(queue["running"].size(), 1u);
  const Json running = queue["running"][0];
  EXPECT_EQ(running["list"], "Main");
  EXPECT_EQ(running["path"], Json::Parse(R"(["Frame", "DISPATCH #1: \"Blur\""])"));
  EXPECT_EQ(running["type"], "DISPATCH");
  EXPECT_EQ(running["name"], "Blur");
  EXPECT_EQ(running["pipeline"], "compute pipeline \"Blur\" [ CS: BlurCS ]");
  EXPECT_EQ(running["reached"], 8);
  EXPECT_EQ(running["passed"], 7);
  EXPECT_EQ(running["events"], 12);
  EXPECT_EQ(running["candidates"], 1);
}

TEST_F(TopTest, TextSaysItToo) {
  StartHanging();
  const CommandResult result = TopOfIt({"--once"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, StartsWith(Misbehave() + " (PID " + std::to_string(pid_) + "), 20"));
  EXPECT_THAT(result.output, HasSubstr(R"(
queue 0 "Graphics" (direct) of device 0: 1 submitted, 1 pending
  [>] frame 1: "Main" > Frame > DISPATCH #1: "Blur"
      compute pipeline "Blur" [ CS: BlurCS ]
      reached marker event 8, completed 7 of 12; submission 1, )"));
  EXPECT_THAT(result.output, Not(HasSubstr("\x1b")));
}

TEST_F(TopTest, ProcessesWithABlockAreListed) {
  StartHanging();
  const CommandResult result = Top({});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, StartsWith("     PID  PROGRAM\n"));
  EXPECT_THAT(result.output, HasSubstr(std::to_string(pid_) + "  " + Misbehave() + "\n"));
  // The watcher holds the block, too, and is none of them.
  EXPECT_THAT(result.output, Not(HasSubstr("  " + Program("cairn") + "\n")));
}

TEST_F(TopTest, AProcessByItsName) {
  // Other tests may run the same program.
  const std::string game = folder_ / ("Game-" + std::to_string(getpid()));
  std::filesystem::copy_file(Misbehave(), game);
  StartHanging(game);
  const std::string line = game + " (PID " + std::to_string(pid_) + "), 20";
  const std::string number = std::to_string(getpid());
  for (const std::string& name : {"Game-" + number, "game-" + number, "ame-" + number, game}) {
    EXPECT_THAT(Top({"--once", name}).output, StartsWith(line)) << name;
  }
  ExpectRefused({"--once", "no-such-game"}, 2,
                "no process that can be looked at is called 'no-such-game'; cairn top lists them");
  const pid_t first = pid_;
  Command other({Program("cairn"), "run", "--no-layer", "--hang-timeout", "0", "--", game, "hang"},
                {.folder = folder_.path()});
  const pid_t second = other.WaitUntilReady();
  ASSERT_GT(second, 0);
  const auto words = [&game](pid_t pid) {
    return "cairn top " + std::to_string(pid) + " (" + game + ")";
  };
  ExpectRefused({"game-" + number}, 2,
                "'game-" + number + "' is the name of 2 processes; say " +
                    words(std::min(first, second)) + ", " + words(std::max(first, second)));
}

TEST_F(TopTest, AProgramThatRunsWithoutCairn) {
  std::filesystem::copy_file("/bin/sleep", folder_ / "unwatched-game");
  Command alone({"bash", "-c", "./unwatched-game 600 & echo ready $!; wait"},
                {.folder = folder_.path()});
  const pid_t pid = alone.WaitUntilReady();
  ASSERT_GT(pid, 0);
  // Until it is what its name says.
  const std::string comm = "/proc/" + std::to_string(pid) + "/comm";
  ASSERT_TRUE(WaitUntil([&] { return ReadFile(comm) == "unwatched-game\n"; }));
  ExpectRefused(
      {"unwatched-game"}, 1,
      "process " + std::to_string(pid) +
          " is not recorded: it uses no graphics device that Cairn follows; start it with "
          "cairn run -- PROGRAM");
}

TEST_F(TopTest, TheWatcherLeadsToWhomItWatches) {
  StartHanging();
  const std::string watcher = std::to_string(hanging_->pid());
  ExpectRefused({watcher}, 1,
                "process " + watcher + " is not recorded itself, but process " +
                    std::to_string(pid_) + " is; say cairn top " + std::to_string(pid_));
}

TEST_F(TopTest, WhatCannotBeLookedAt) {
  ExpectRefused({"0"}, 2,
                "'0' is not a process number; cairn top lists the processes that can be looked at");
  ExpectRefused({"--json", "1"}, 2, "--json prints one look; say --once --json");
  ExpectRefused({"--once"}, 2, "--once needs a process; cairn top lists them");
  ExpectRefused({"--interval", "0", "1"}, 2,
                "--interval: '0' is not a time in seconds from 0.001 to 1000000");
  // Numbers of processes end before this one.
  ExpectRefused({"2147483647"}, 1, "there is no process 2147483647");
  const std::string self = std::to_string(getpid());
  ExpectRefused(
      {self}, 1,
      "process " + self +
          " is not recorded: it uses no graphics device that Cairn follows; start it with "
          "cairn run -- PROGRAM");
  if (geteuid() != 0) {
    EXPECT_THAT(Top({"1"}).errors, HasSubstr("may not be looked into"));
  }
}

// The watcher may have reaped the process before top could read its end.
std::string ItsEnd(pid_t pid) {
  return "process " + std::to_string(pid) + " (ended|died with signal 9 \\(SIGKILL\\))";
}

TEST_F(TopTest, WhereStdoutIsNoTerminalLooksFollowEachOtherUntilTheProgramEnds) {
  StartHanging();
  const pid_t child = fork();
  if (child == 0) {
    const int out = open((folder_ / "looks").c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(out, STDOUT_FILENO);
    execl(Program("cairn").c_str(), "cairn", "top", "--interval", "0.02",
          std::to_string(pid_).c_str(), nullptr);
    _exit(123);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (ReadFile(folder_ / "looks").find("no progress for") == std::string::npos &&
         std::chrono::steady_clock::now() < end) {
    usleep(2000);
  }
  kill(pid_, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const std::string looks = ReadFile(folder_ / "looks");
  EXPECT_THAT(looks, Not(HasSubstr("\x1b")));
  EXPECT_THAT(looks, HasSubstr(", no progress for "));
  const std::string last = looks.substr(looks.rfind('\n', looks.size() - 2) + 1);
  EXPECT_THAT(last, ::testing::MatchesRegex(ItsEnd(pid_) + "\n"));
}

// `cairn top` on a terminal of 90 columns and 8 rows.
class Terminal {
 public:
  explicit Terminal(pid_t pid) {
    master_ = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_EQ(grantpt(master_), 0);
    EXPECT_EQ(unlockpt(master_), 0);
    const winsize size{8, 90, 0, 0};
    const int slave = open(ptsname(master_), O_RDWR | O_NOCTTY);
    ioctl(slave, TIOCSWINSZ, &size);
    child_ = fork();
    if (child_ == 0) {
      dup2(slave, STDOUT_FILENO);
      setenv("TERM", "xterm", 1);
      execl(Program("cairn").c_str(), "cairn", "top", "--interval", "0.02",
            std::to_string(pid).c_str(), nullptr);
      _exit(123);
    }
    close(slave);
  }
  ~Terminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Reads until the text is there; false if the program ends, or 20 s pass, before.
  bool WaitFor(const std::string& wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (text_.find(wanted) == std::string::npos) {
      if (std::chrono::steady_clock::now() > end || !ReadMore()) return false;
    }
    return true;
  }
  // Everything up to its end; returns its exit code, 128 + N for signal N.
  int WaitForEnd() {
    while (ReadMore()) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void Send(int signal_number) { kill(child_, signal_number); }
  const std::string& text() const { return text_; }

 private:
  bool ReadMore() {
    pollfd fd{master_, POLLIN, 0};
    if (poll(&fd, 1, 20'000) <= 0) return false;
    char buffer[4096];
    const ssize_t got = read(master_, buffer, sizeof(buffer));
    if (got <= 0) return false;
    text_.append(buffer, static_cast<size_t>(got));
    return true;
  }

  int master_ = -1;
  pid_t child_ = -1;
  std::string text_;
};

constexpr char kHideCursor[] = "\x1b[?25l";
constexpr char kShowCursor[] = "\x1b[?25h";

TEST_F(TopTest, OnATerminalItIsReplacedInPlaceUntilTheProgramEnds) {
  StartHanging();
  Terminal terminal(pid_);
  ASSERT_TRUE(terminal.WaitFor("no progress for")) << terminal.text();
  EXPECT_THAT(terminal.text(), StartsWith(kHideCursor));
  kill(pid_, SIGKILL);
  EXPECT_EQ(terminal.WaitForEnd(), 0);
  const std::string& text = terminal.text();
  // A line of more than 90 columns is cut, and the cursor back before the last words.
  EXPECT_THAT(text, HasSubstr("…"));
  const size_t shown = text.rfind(kShowCursor);
  ASSERT_NE(shown, std::string::npos);
  EXPECT_THAT(text.substr(shown + std::string(kShowCursor).size()),
              ::testing::MatchesRegex(ItsEnd(pid_) + "\r\n"));
  // The last of 8 rows stays empty.
  const size_t look = text.rfind("\x1b[H");
  const std::string last_look = text.substr(look, text.find("\x1b[J", look) - look);
  EXPECT_LE(std::count(last_look.begin(), last_look.end(), '\n'), 7);
}

TEST_F(TopTest, InterruptedItShowsTheCursorAgain) {
  StartHanging();
  for (const auto& [number, code] : {std::pair(SIGINT, 0), {SIGTERM, 128 + SIGTERM}}) {
    Terminal terminal(pid_);
    ASSERT_TRUE(terminal.WaitFor("no progress for")) << terminal.text();
    terminal.Send(number);
    EXPECT_EQ(terminal.WaitForEnd(), code);
    EXPECT_THAT(terminal.text(), EndsWith(kShowCursor));
  }
  EXPECT_TRUE(IsRunning(pid_));
}

}  // namespace
}  // namespace cairn::testing
