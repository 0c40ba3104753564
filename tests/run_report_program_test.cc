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

// The limits that hold while Cairn reads a report are not those of the command.
TEST_F(RunReportProgramTest, HasTheLimitsOfItsUser) {
  Write("limits.sh", "{ ulimit -S -t; ulimit -S -d; ulimit -S -n; } > \"${1%.cairn}.limits\"\n");
  ASSERT_EQ(RunCommand({"./limits.sh", "own.cairn"}, Here()).exit_code, 0);
  Run({"--on-report", "./limits.sh"}, {Misbehave(), "segv-in-thread"});
  EXPECT_EQ(Text("misbehave.limits"), Text("own.limits"));
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
