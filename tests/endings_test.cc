// SPDX-License-Identifier: Apache-2.0
//
// Unmodified Direct3D 12 programs of Windows with a window, started by cairn.exe, and by `cairn run -- wine` of Linux:
// whether they import Direct3D 12 or load it when they run, and however they end in the middle of a frame, the report
// has that end and the work that was running. The program is windows/programs/presents.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness.h"
#include "played.h"
#include "report_reading.h"
#if !defined(_WIN32)
#include "wine.h"
#endif

namespace cairn::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// The visible facts of an ending.
struct Told {
  std::string words;  // in the line of `cairn run`
  std::string kind;   // of the first incident
};

#if defined(_WIN32)
// cairn.exe run -- presents.exe
const Told kKilled = {"died with TerminateProcess(1), which Cairn did not call; report: ",
                      "signal"};
// Under Wine a fault in a thread that the driver has made itself is no exception of Windows: an end with 1.
const Told kFaultInTheDriver = kKilled;
std::vector<std::string> Words(const std::string& program) {
  return {TestProgram(program)};
}
std::string WhyNot() {
  return WhyNothingIsPlayed();
}
void Kill(Command&, pid_t program) {
  KillProcess(program);
}
#else
// cairn run -- wine presents.exe
const Told kKilled = {"died with signal 9 (SIGKILL), which Cairn did not send; report: ", "signal"};
const Told kFaultInTheDriver = {"died with signal 11 (SIGSEGV); report: ", "signal"};
std::vector<std::string> Words(const std::string& program) {
  return {"wine", WindowsProgram("../programs/" + program + ".exe")};
}
std::string WhyNot() {
  return WhyNoWine();
}
// The program says its number among those of Windows.
void Kill(Command& command, pid_t) {
  KillProcess(ChildOf(command.pid()));
}
#endif
const Told kException = {"died with exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION); report: ",
                         "signal"};

// The parameter is the program's name.
class EndingsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!WhyNot().empty()) GTEST_SKIP() << WhyNot();
  }
  // On a busy machine work that ends may take longer than any time after which it is called a hang.
  std::vector<std::string> Run(const std::string& ending,
                               const std::string& hang_timeout = "0") const {
    std::vector<std::string> arguments = {
        Program("cairn"), "run", "-o", "a.cairn", "--hang-timeout", hang_timeout,
        "--kill-on-hang", "--"};
    const std::vector<std::string> program = Words(GetParam());
    arguments.insert(arguments.end(), program.begin(), program.end());
    arguments.push_back(ending);
    return arguments;
  }
  Command::Options Options() const {
    return {.folder = folder_.path(), .environment = LavapipeEnvironment(), .timeout_s = 120};
  }
  // Three frames were shown; in the fourth the GPU is in the dispatch.
  void ExpectReport(const CommandResult& result, const Told& told) {
    EXPECT_FALSE(result.timed_out) << result.Summary();
    EXPECT_THAT(result.errors, HasSubstr(told.words)) << result.Summary();
    const std::vector<ReportedIncident> incidents = ReportedIncidents(folder_ / "a.cairn");
    ASSERT_FALSE(incidents.empty());
    EXPECT_EQ(incidents[0].kind, told.kind);
    const std::string tree = ReportTree(folder_ / "a.cairn", true);
    for (const char* const shown : {"<Frame 0>\n", "<Frame 1>\n - [X]", "<Frame 2>\n - [X]"}) {
      EXPECT_THAT(tree, HasSubstr(shown));
    }
    const size_t fourth = tree.find("<Frame 3>\n - [>]");
    ASSERT_NE(fourth, std::string::npos) << tree;
    EXPECT_THAT(tree.substr(fourth), HasSubstr("\"Main\"\n"));
    EXPECT_THAT(tree.substr(fourth), HasSubstr("─[>] Light culling\n"));
    EXPECT_THAT(tree.substr(fourth),
                ContainsRegex("─\\[>\\] DISPATCH #1 \\(.+, 1, 1\\), compute pipeline \"Light "
                              "culling\""));
  }

  TemporaryFolder folder_;
};

TEST_P(EndingsTest, Killed) {
  Command command(Run("wait"), Options());
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0) << command.Wait().Summary();
  Kill(command, program);
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.exit_code, kExitOfKilled);
  ExpectReport(result, kKilled);
}

TEST_P(EndingsTest, Exception) {
  ExpectReport(RunCommand(Run("exception"), Options()), kException);
}

TEST_P(EndingsTest, FaultInTheDriver) {
  ExpectReport(RunCommand(Run("driver"), Options()), kFaultInTheDriver);
}

TEST_P(EndingsTest, Hang) {
  const CommandResult result = RunCommand(Run("hang", "5"), Options());
  EXPECT_EQ(result.exit_code, 124) << result.Summary();
  ExpectReport(result, {"hangs: GPU work made no progress for 5 s; killed it; report: ", "hang"});
}

INSTANTIATE_TEST_SUITE_P(Programs, EndingsTest, ::testing::Values("presents", "presents-late"),
                         [](const auto& program) {
                           return program.param == "presents" ? "Imports" : "Loads";
                         });

}  // namespace
}  // namespace cairn::testing
