// SPDX-License-Identifier: Apache-2.0
//
// Programs that ask for captures that nobody wants, or for more of them than anybody needs: what `cairn run` makes of it
// (docs/reference/bounds.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// GoogleTest's own knows no groups on Windows.
bool Matches(const std::string& text, const std::string& expression) {
  return std::regex_match(text, std::regex(expression));
}

class HostileCapturesTest : public ::testing::Test {
 protected:
  CommandResult Run(const std::vector<std::string>& options, const std::string& mode,
                    const std::string& argument = "") {
    std::vector<std::string> arguments = {Program("cairn"), "run", "-o", folder_ / "out.cairn"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", TestProgram("hostile_capture"), mode, argument});
    return RunCommand(arguments, {.folder = folder_.path(), .timeout_s = 240});
  }

  TemporaryFolder folder_;
};

// Nobody asked for a capture: nothing is kept of it, and the program is told.
TEST_F(HostileCapturesTest, ACaptureThatNobodyAskedForIsRefused) {
  const CommandResult result = Run({}, "armed");
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  // The line about programs without GPU work is printed on Linux alone. It names children, too, if they were seen.
  EXPECT_TRUE(
      Matches(result.errors,
              "cairn: hostile_capture[^ ]* \\(process [0-9]+\\) asks to be captured, which "
              "cairn was not told to do; say cairn run --capture\n"
              "(cairn: no GPU work was seen: (hostile_capture[^ ]* \\(process [0-9]+\\)(, | ))+"
              "loaded neither Vulkan nor Direct3D 12\n)?"))
      << result.errors;
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

// A program that replaces itself gets a file each time, with a name that does not grow, sixteen times.
TEST_F(HostileCapturesTest, NamesOfFilesDoNotGrow) {
  const CommandResult result = Run({"--capture"}, "regions", "40");
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  const std::vector<std::string> files = folder_.Contents();
  EXPECT_EQ(files.size(), 17u);
  for (const std::string& file : files) {
    EXPECT_TRUE(Matches(file, "out(-[0-9]+(-[0-9]+)?)?\\.cairn")) << file;
  }
  EXPECT_THAT(result.errors, HasSubstr("is not captured: cairn has made as many files for it as "
                                       "it may\n"));
  EXPECT_THAT(result.errors,
              EndsWith("cairn: 23 requests of processes to be watched were refused in all\n"));
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 17 + 2);
}

}  // namespace
}  // namespace cairn::testing
