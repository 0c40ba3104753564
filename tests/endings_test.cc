// SPDX-License-Identifier: Apache-2.0
//
// Unmodified Direct3D 12 programs of Windows with a window, started by every way that Cairn has: whether they import
// Direct3D 12 or load it when they run, and however they end in the middle of a frame, the report has that end and the
// work that was running. The program is windows/programs/presents.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "harness.h"
#include "played.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;

// What is seen of an ending.
struct Told {
  std::string words;  // in the line of `cairn run`
  std::string kind;   // of the first incident
};

// How a program is started, and what this system sees of its endings.
struct Way {
  std::string name;
  std::vector<std::string> between;  // `cairn run OPTIONS -- BETWEEN PROGRAM`
  Told killed;
  Told exception;
  Told driver;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

const Way kCairnExe = {
    "CairnExe",
    {},
    {"died with TerminateProcess(1), which Cairn did not call; report: ", "signal"},
    {"died with exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION); report: ", "signal"},
    // Under Wine a fault in a thread that the driver has made itself is no exception of Windows: an end with 1.
    {"died with TerminateProcess(1), which Cairn did not call; report: ", "signal"},
};

class EndingsTest : public ::testing::TestWithParam<std::tuple<Way, std::string>> {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }
  const Way& way() const { return std::get<Way>(GetParam()); }
  // On a busy machine work that ends may take longer than any time after which it is called a hang.
  std::vector<std::string> Run(const std::string& ending,
                               const std::string& hang_timeout = "0") const {
    std::vector<std::string> arguments = {
        Program("cairn"), "run", "-o", "a.cairn", "--hang-timeout", hang_timeout,
        "--kill-on-hang", "--"};
    arguments.insert(arguments.end(), way().between.begin(), way().between.end());
    arguments.insert(arguments.end(), {TestProgram(std::get<std::string>(GetParam())), ending});
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
                HasSubstr("─[>] DISPATCH 1, compute pipeline \"Light culling\""));
  }

  TemporaryFolder folder_;
};

TEST_P(EndingsTest, Killed) {
  Command command(Run("wait"), Options());
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0) << command.Wait().Summary();
  KillProcess(program);
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.exit_code, kExitOfKilled);
  ExpectReport(result, way().killed);
}

TEST_P(EndingsTest, Exception) {
  ExpectReport(RunCommand(Run("exception"), Options()), way().exception);
}

TEST_P(EndingsTest, FaultInTheDriver) {
  ExpectReport(RunCommand(Run("driver"), Options()), way().driver);
}

TEST_P(EndingsTest, Hang) {
  const CommandResult result = RunCommand(Run("hang", "5"), Options());
  EXPECT_EQ(result.exit_code, 124) << result.Summary();
  ExpectReport(result, {"hangs: GPU work made no progress for 5 s; killed it; report: ", "hang"});
}

INSTANTIATE_TEST_SUITE_P(Ways, EndingsTest,
                         ::testing::Combine(::testing::Values(kCairnExe),
                                            ::testing::Values("presents", "presents-late")));

}  // namespace
}  // namespace cairn::testing
