// SPDX-License-Identifier: Apache-2.0
//
// Programs under `cairn run` that did not inherit its socket, because what started them closed it; and what
// is said where there is no way to cairn at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "harness.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr int kNotPermitted = 77;  // of the launcher

class HandoverTest : public ::testing::Test {
 protected:
  // `cairn run -o out.cairn -- PROGRAM`.
  CommandResult Run(const std::vector<std::string>& program) {
    std::vector<std::string> arguments = {Program("cairn"), "run", "-o", "out.cairn", "--"};
    arguments.insert(arguments.end(), program.begin(), program.end());
    return RunCommand(arguments, {.folder = folder_.path()});
  }

  // Expects the report of misbehave, which was killed.
  void ExpectReport(const CommandResult& result) {
    EXPECT_EQ(result.exit_code, 128 + SIGKILL) << result.Summary();
    EXPECT_THAT(result.Lines(),
                MatchesRegex("cairn: misbehave [^\n]+; report: cairn report out.cairn\n"));
    EXPECT_THAT(folder_.Contents(), ElementsAre("out.cairn"));
    EXPECT_THAT(ReadReportedWork(folder_ / "out.cairn").candidates, ElementsAre("DISPATCH Blur"));
  }

  const std::string launcher_ = CAIRN_BINARY_DIR "/tests/programs/launcher";
  const std::string misbehave_ = CAIRN_BINARY_DIR "/tests/programs/misbehave";
  TemporaryFolder folder_;
};

TEST_F(HandoverTest, DescriptorsMayBeClosed) {
  ExpectReport(Run({launcher_, misbehave_, "kill"}));
}

// Programs that Python starts are watched.
TEST_F(HandoverTest, PythonsSubprocess) {
  const CommandResult result =
      Run({"python3", "-c",
           "import subprocess, sys; "
           "sys.exit(128 - subprocess.run(sys.argv[1:], close_fds=True).returncode)",
           misbehave_, "kill"});
  ExpectReport(result);
}

// Some launchers give their own sockets low numbers: ours could have been one of them.
TEST_F(HandoverTest, AnotherSocketMayHaveItsNumber) {
  ExpectReport(Run({launcher_, "--other-socket", misbehave_, "kill"}));
}

TEST_F(HandoverTest, AnotherNetworkNamespaceMayHaveIt) {
  const CommandResult result = Run({launcher_, "--other-network", misbehave_, "kill"});
  if (result.exit_code == kNotPermitted) GTEST_SKIP() << "this user may make no such namespace";
  ExpectReport(result);
}

TEST_F(HandoverTest, ProcMayBeHidden) {
  const CommandResult result = Run({launcher_, "--no-proc", misbehave_, "kill"});
  if (result.exit_code == kNotPermitted) GTEST_SKIP() << "this user may make no such namespace";
  EXPECT_EQ(result.exit_code, 128 + SIGKILL) << result.Summary();
  EXPECT_THAT(ReadReportedWork(folder_ / "out.cairn").candidates, ElementsAre("DISPATCH Blur"));
}

TEST_F(HandoverTest, WhoCannotReachCairnSaysSoOnce) {
  const CommandResult result =
      Run({launcher_, "--other-network", "--no-proc", misbehave_, "exit", "5"});
  if (result.exit_code == kNotPermitted) GTEST_SKIP() << "this user may make no such namespace";
  EXPECT_EQ(result.exit_code, 5) << result.Summary();
  EXPECT_THAT(
      result.errors,
      MatchesRegex("cairn: warning: process [0-9]+ is not watched: its watcher, process "
                   "[0-9]+, cannot be reached, neither by its socket \\(Connection refused\\) "
                   "nor by /proc/[0-9]+/fd/[0-9]+ \\(No such file or directory\\): it has "
                   "ended, or this process is in other network and PID namespaces\n"
                   "cairn: no GPU work was seen: [^\n]+\n"));
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

// The process's own line may get lost; cairn names the process when the program has ended.
TEST_F(HandoverTest, CairnNamesWhomItDidNotGet) {
  const CommandResult result =
      Run({launcher_, "--stay", "--other-network", "--no-proc", misbehave_, "hang"});
  if (result.exit_code == kNotPermitted) GTEST_SKIP() << "this user may make no such namespace";
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  ASSERT_EQ(result.left_behind.size(), 1u);
  EXPECT_THAT(result.errors,
              HasSubstr("cairn: not watched, so no report tells of their crash or hang: misbehave "
                        "(process " +
                        std::to_string(result.left_behind[0]) + ")\n"));
}

// A child that is watched is waited for, and not named.
TEST_F(HandoverTest, WhoIsWatchedIsNotNamed) {
  Command command(
      {Program("cairn"), "run", "-o", "out.cairn", "--", launcher_, "--stay", misbehave_, "hang"},
      {.folder = folder_.path()});
  ASSERT_GT(command.WaitUntilReady(), 0);
  // Ends what the program left behind.
  kill(command.pid(), SIGTERM);
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.errors.find("not watched"), std::string::npos) << result.errors;
  EXPECT_THAT(result.left_behind, IsEmpty());
}

}  // namespace
}  // namespace cairn::testing
