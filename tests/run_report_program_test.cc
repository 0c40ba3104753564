// SPDX-License-Identifier: Apache-2.0
//
// --on-report: a command gets each report that the watcher of `cairn run`, of cairnStartWatcher or of the service has
// written, and does not change the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Misbehave() {
  return CAIRN_BINARY_DIR "/tests/programs/misbehave";
}

class RunReportProgramTest : public ::testing::Test {
 protected:
  // A script in the test's folder.
  void Write(const std::string& name, const std::string& lines) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << lines;
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }
  Command::Options Here() const {
    Command::Options options;
    options.folder = folder_.path();
    return options;
  }
  CommandResult Run(const std::vector<std::string>& options,
                    const std::vector<std::string>& program) {
    std::vector<std::string> words = {Program("cairn"), "run", "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), program.begin(), program.end());
    CommandResult result = RunCommand(words, Here());
    EXPECT_FALSE(result.timed_out) << result.Summary();
    EXPECT_TRUE(result.left_behind.empty()) << result.Summary();
    return result;
  }
  std::string Text(const std::string& name) const { return ReadFile(folder_ / name); }

  TemporaryFolder folder_;
};

TEST_F(RunReportProgramTest, GetsTheFileAndWhatIsInIt) {
  Write("send.sh", "printf '<%s>' \"$@\" > words\ncat > summary\n");
  const CommandResult result =
      Run({"--on-report", "./send.sh --to 'a b' c\"d"}, {Misbehave(), "segv-in-thread"});
  EXPECT_EQ(result.exit_code, 128 + SIGSEGV);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(Text("words"), "<--to><a b><c\"d><misbehave.cairn>");
  const std::string summary = Text("summary");
  // The report's own words, and nothing behind them.
  EXPECT_EQ(summary,
            RunCommand({Program("cairn"), "triage", "--jsonl", "misbehave.cairn"}, Here()).output);
  EXPECT_THAT(summary, HasSubstr("\"cause\":\"SIGSEGV\""));
}

TEST_F(RunReportProgramTest, RunsWhileTheProgramHangs) {
  // The program ends when the script has run.
  Write("send.sh", "cat > /dev/null; : > sent\n");
  const CommandResult result = Run({"--hang-timeout", "0.3", "--on-report", "./send.sh"},
                                   {Misbehave(), "hang-then-finish", "sent"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
}

TEST_F(RunReportProgramTest, WhatIsWrongWithItIsToldAndChangesNothing) {
  const CommandResult failed =
      Run({"--on-report", "sh -c 'exit 3'"}, {Misbehave(), "segv-in-thread"});
  EXPECT_EQ(failed.exit_code, 128 + SIGSEGV);
  EXPECT_EQ(
      failed.errors,
      "cairn run: warning: --on-report: sh -c 'exit 3' misbehave.cairn: its exit code is 3\n");
  const CommandResult died =
      Run({"-o", "b.cairn", "--on-report", "sh -c 'kill -9 $$'"}, {Misbehave(), "segv-in-thread"});
  EXPECT_EQ(died.exit_code, 128 + SIGSEGV);
  EXPECT_EQ(died.errors,
            "cairn run: warning: --on-report: sh -c 'kill -9 $$' b.cairn: it died of SIGKILL\n");
}

TEST_F(RunReportProgramTest, WithoutSuchACommandNothingIsStarted) {
  const CommandResult result =
      Run({"--on-report", "./missing.sh now"}, {"sh", "-c", ": > started"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(result.errors, "cairn run: --on-report: the program ./missing.sh was not found\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre());
}

TEST_F(RunReportProgramTest, DoesNotRunIfNothingWasWritten) {
  Write("send.sh", ": > sent\n");
  EXPECT_EQ(Run({"--on-report", "./send.sh"}, {Misbehave(), "exit"}).exit_code, 0);
  EXPECT_THAT(folder_.Contents(), ElementsAre("send.sh"));
}

// Limits that hold while Cairn reads a report, and what the watcher ignores, are not those of the command.
TEST_F(RunReportProgramTest, HasTheLimitsAndSignalsOfItsUser) {
  Write("limits.sh",
        "{ ulimit -S -t; ulimit -S -d; ulimit -S -n; grep SigIgn /proc/self/status; } > "
        "\"${1%.cairn}.limits\"\n");
  Write("few.sh", "ulimit -S -n 99\nexec \"$@\"\n");
  ASSERT_EQ(RunCommand({"./few.sh", "./limits.sh", "own.cairn"}, Here()).exit_code, 0);
  RunCommand({"./few.sh", Program("cairn"), "run", "--on-report", "./limits.sh", "--", Misbehave(),
              "segv-in-thread"},
             Here());
  EXPECT_THAT(Text("own.limits"), HasSubstr("\n99\n"));
  EXPECT_EQ(Text("misbehave.limits"), Text("own.limits"));
}

// Otherwise it would be an option of the command.
TEST_F(RunReportProgramTest, AFileIsNeverAnOption) {
  Write("send.sh", "echo \"$*\" > words\n");
  std::filesystem::copy_file(Misbehave(), folder_ / "-x");
  Run({"--on-report", "./send.sh --"}, {"./-x", "segv-in-thread"});
  EXPECT_EQ(Text("words"), "-- ./-x.cairn\n");
}

TEST_F(RunReportProgramTest, WhatCannotBeExecutedIsRefused) {
  std::ofstream(folder_ / "send.sh") << "#!/bin/sh\n";
  const CommandResult result = Run({"--on-report", "./send.sh"}, {"sh", "-c", ": > started"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(result.errors, "cairn run: --on-report: the program ./send.sh cannot be executed\n");
}

// The launcher ends when all five commands have run: they do not wait for its end.
TEST_F(RunReportProgramTest, OneFollowsTheOtherWhileTheProgramRuns) {
  Write("send.sh", "cat > /dev/null; : > \"$1.sent\"\n");
  std::string line;
  for (int i = 0; i < 5; ++i) line += "'" + Misbehave() + "' segv-in-thread > /dev/null & ";
  line += "wait; while [ \"$(ls | grep -c sent)\" -lt 5 ]; do sleep 0.05; done";
  const CommandResult result = Run({"--on-report", "./send.sh"}, {"bash", "-c", line});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
}

// Four run and 100 wait, which is all that there is room for. None ends before the last report is written.
TEST_F(RunReportProgramTest, WhatThereIsNoRoomForIsCounted) {
  Write("send.sh", "cat > /dev/null; until [ -e go ]; do sleep 0.05; done; : > \"$1.sent\"\n");
  const std::string line = "for i in $(seq 106); do '" + Misbehave() +
                           "' segv-in-thread > /dev/null; done; until [ \"$(ls | grep -c "
                           "'cairn$')\" -ge 106 ]; do sleep 0.05; done; : > go";
  const CommandResult result = Run({"--on-report", "./send.sh"}, {"bash", "-c", line});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.errors,
              HasSubstr("cairn run: warning: --on-report: ./send.sh was not run for 2 reports\n"));
  int sent = 0;
  for (const std::string& name : folder_.Contents()) sent += name.ends_with(".sent") ? 1 : 0;
  EXPECT_EQ(sent, 104);
}

// Processes that the command leaves behind are none of the run.
TEST_F(RunReportProgramTest, WhatItLeavesBehindIsNotWaitedFor) {
  Write("send.sh", "cat > /dev/null; sleep 1000 & echo $! > left\n: > sent\n");
  Command::Options options = Here();
  options.leaves_behind = 1;
  const CommandResult result =
      RunCommand({Program("cairn"), "run", "--hang-timeout", "0.3", "--on-report", "./send.sh",
                  "--", Misbehave(), "hang-then-finish", "sent"},
                 options);
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.errors.find("waits for"), std::string::npos) << result.errors;
  KillProcess(static_cast<pid_t>(std::stol(Text("left"))));
}

TEST_F(RunReportProgramTest, EveryReportHasItsRun) {
  // More than run at once.
  constexpr int kPrograms = 7;
  Write("send.sh", "cat > \"$1.json\"\n");
  std::string line;
  for (int i = 0; i < kPrograms; ++i) {
    line += "'" + Misbehave() + "' segv-in-thread > /dev/null & ";
  }
  const CommandResult result = Run({"--on-report", "./send.sh"}, {"sh", "-c", line + "wait"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  int reports = 0;
  int summaries = 0;
  for (const std::string& name : folder_.Contents()) {
    reports += name.ends_with(".cairn") ? 1 : 0;
    summaries += name.ends_with(".cairn.json") && !Text(name).empty() ? 1 : 0;
  }
  EXPECT_EQ(reports, kPrograms);
  EXPECT_EQ(summaries, kPrograms);
}

TEST_F(RunReportProgramTest, AnInterruptEndsIt) {
  Write("send.sh", "exec sleep 1000\n");
  Command command(
      {Program("cairn"), "run", "--on-report", "./send.sh", "--", Misbehave(), "segv-in-thread"},
      Here());
  const std::string waits = "cairn: waits for ./send.sh of --on-report; ^C ends it\n";
  while (command.errors().find(waits) == std::string::npos) {
    ASSERT_TRUE(IsRunning(command.pid())) << command.errors();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  kill(command.pid(), SIGINT);
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.exit_code, 128 + SIGSEGV) << result.Summary();
  EXPECT_TRUE(result.left_behind.empty()) << result.Summary();
}

TEST_F(RunReportProgramTest, AProgramThatStartsItsWatcherNamesItsCommand) {
  Write("send.sh", "cat > summary\n");
  const CommandResult result = RunCommand(
      {Misbehave(), "start-watcher", "own.cairn", Program("cairn"), "./send.sh"}, Here());
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_TRUE(result.left_behind.empty()) << result.Summary();
  EXPECT_THAT(Text("summary"), HasSubstr("\"file\":\"own.cairn\""));
}

}  // namespace
}  // namespace cairn::testing
