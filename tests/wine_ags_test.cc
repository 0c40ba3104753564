// SPDX-License-Identifier: Apache-2.0
//
// `cairn run -- wine sample-ags-d3d11.exe` on Linux, in `tools/wine-env --d3d11`: DXVK draws, and the Vulkan layer below it writes
// the markers that the program gives to AGS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/json.h"
#include "harness.h"
#include "report_reading.h"
#include "wine.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class WineAgsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNoWine().empty()) GTEST_SKIP() << WhyNoWine();
    const std::string devices =
        RunCommand({"wine", WindowsProgram("devices.exe"), "d3d11"}, {}).output;
    if (devices.find(", DXVK") == std::string::npos) GTEST_SKIP() << "there is no DXVK";
  }
  CommandResult Run(const std::vector<std::string>& words,
                    const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> command = {Program("cairn"),
                                        "run",
                                        "--no-witnesses",
                                        "--dump-on-exit",
                                        "-o",
                                        file_,
                                        "--",
                                        "wine",
                                        WindowsProgram("../../bin/sample-ags-d3d11.exe")};
    command.insert(command.end(), words.begin(), words.end());
    return RunCommand(command,
                      {.folder = folder_.path(), .environment = environment, .timeout_s = 300});
  }
  std::string Told(std::vector<std::string> words) const {
    words.insert(words.begin(), Program("cairn"));
    words.push_back(file_);
    return RunCommand(words, {}).output;
  }

  TemporaryFolder folder_;
  std::string file_ = folder_ / "ags.cairn";
};

TEST_F(WineAgsTest, TheFiveExamplesGiveTheAnswersOfTheDocumentation) {
  const CommandResult result = Run({});
  ASSERT_EQ(result.exit_code, 0) << result.Summary();
  std::string output = result.output;
  std::erase(output, '\r');  // lines end as Windows has them
  EXPECT_THAT(output, HasSubstr("Markers are written by the Vulkan layer; top of pipe is told, "));
  // By docs/reference/raw-markers.md, lavapipe's barriers hold up later work.
  for (const char* line : {
           "Example 1: DrawX hangs, written: 1 2 3, it may be: DrawX\n",
           "Example 2: DrawX hangs, written: 1, it may be: DrawX\n",
           "Example 2: DrawY hangs, written: 1 2 3, it may be: DrawY\n",
           "Example 3: DrawX hangs, written: 1, it may be: DrawX DrawY DrawZ\n",
           "Example 3: DrawY hangs, written: 1 2, it may be: DrawY DrawZ\n",
           "Example 3: DrawZ hangs, written: 1 2 3, it may be: DrawZ\n",
       }) {
    EXPECT_THAT(output, HasSubstr(line));
  }
  // The driver decides if a top marker gets past the draw before it.
  EXPECT_THAT(output,
              AnyOf(HasSubstr("Example 5: DrawY hangs, written: 1 2, it may be: DrawY\n"),
                    HasSubstr("Example 5: DrawY hangs, written: 1 2 3, it may be: DrawY\n")));
  for (int i = 0; i < 8; ++i) {
    const char* const top = i <= 5 ? "00000000DEADCAFE" : "CDCDCDCDCDCDCDCD";
    const char* const bottom = i < 5 ? "00000000DEADBEEF" : "CDCDCDCDCDCDCDCD";
    EXPECT_THAT(output,
                HasSubstr("The draw count is " + std::to_string(i) + "; the top marker is " + top +
                          " and the bottom marker is " + bottom + "\n"));
  }
}

// The loop of the documentation: Flush, Present, and where that is not S_OK, the slots. The device is lost in
// the sixth draw.
TEST_F(WineAgsTest, TheLoopOfTheDocumentationReadsTheMarkersOfALostDevice) {
  const CommandResult result = Run({"--lose", "4711"}, {"VK_DRIVER_FILES=" + LosingDriver()});
  ASSERT_EQ(result.exit_code, 0) << result.Summary();
  std::string output = result.output;
  std::erase(output, '\r');
  EXPECT_THAT(output, HasSubstr("Present: 0x887a0007\n"));
  for (int i = 0; i < 8; ++i) {
    const char* const top = i <= 5 ? "00000000DEADCAFE" : "CDCDCDCDCDCDCDCD";
    const char* const bottom = i < 5 ? "00000000DEADBEEF" : "CDCDCDCDCDCDCDCD";
    EXPECT_THAT(output,
                HasSubstr("The draw count is " + std::to_string(i) + "; the top marker is " + top +
                          " and the bottom marker is " + bottom + "\n"));
  }
  const std::string text = Told({"report", "--all", "--width", "0"});
  EXPECT_THAT(text, HasSubstr("lost: VK_ERROR_DEVICE_LOST (-4)"));
  EXPECT_THAT(text,
              HasSubstr("DRAW #1 (4711 vertices, 1 instance) of Graphics commands > Draw loop > "));
  if (output.find("written by the Vulkan layer") == std::string::npos) return;
  EXPECT_THAT(text, HasSubstr("may be running: the front end was at marker 11 at least"));
}

// On Wine's own Direct3D 11 libcairn has the slots, and the Direct3D 11 layer the lists: markers and draws meet in the
// report. In tools/wine-env without --d3d11.
TEST(WineAgsWined3dTest, TheReportNamesTheDraw) {
  if (!WhyNoWine().empty()) GTEST_SKIP() << WhyNoWine();
  const std::string devices =
      RunCommand({"wine", WindowsProgram("devices.exe"), "d3d11"}, {}).output;
  if (devices.find(", DXVK") != std::string::npos) GTEST_SKIP() << "DXVK draws Direct3D 11 here";
  const TemporaryFolder folder;
  const std::string file = folder / "ags.cairn";
  const CommandResult result =
      RunCommand({Program("cairn"), "run", "--no-witnesses", "-o", file, "--", "wine",
                  WindowsProgram("../../bin/sample-ags-d3d11.exe"), "--kill", "--seconds", "20"},
                 {.folder = folder.path(), .timeout_s = 300});
  EXPECT_THAT(result.output, HasSubstr("Markers are written by "));
  const std::string text =
      RunCommand({Program("cairn"), "report", "--all", "--width", "0", file}, {}).output;
  const size_t start = text.find("Conclusions from raw markers\n");
  ASSERT_NE(start, std::string::npos) << text << result.Summary();
  const std::string section = text.substr(start, text.find("\n\n", start) - start);
  // Draws 0 to 4 had finished, and 5 hung. Each marker waits for all work before it, so none tells of 6 and 7.
  EXPECT_THAT(
      section,
      HasSubstr(" - queue 0 \"immediate context\" (direct): 3 candidates, 3 of them likely\n"));
  for (const char* const draw : {"DRAW #6 ", "DRAW #7 ", "DRAW #8 "}) {
    EXPECT_THAT(section, HasSubstr(std::string(" > Draw loop > ") + draw));
  }
  EXPECT_THAT(section, Not(HasSubstr("DRAW #5 ")));
  EXPECT_THAT(
      section,
      AllOf(HasSubstr("marker 11: bottom of pipe, slot 10, 0x00000000deadcafe: written\n"),
            HasSubstr("marker 12: bottom of pipe, slot 11, 0x00000000deadbeef: missing\n")));
  // The first line.
  EXPECT_THAT(text.substr(0, text.find('\n')),
              HasSubstr("DRAW #6 (3 vertices, 1 instance) of Draw loop "));
  // The calls by which libcairn writes them are no work of the program's.
  EXPECT_THAT(section, Not(HasSubstr("END_QUERY")));
}

// The layer wraps the device that AGS makes for a program, like one that the program makes. In
// tools/wine-env without --d3d11.
TEST(WineAgsDirect3D12Test, EventsAreThoseOfTheProgram) {
  if (!WhyNoWine().empty()) GTEST_SKIP() << WhyNoWine();
  const TemporaryFolder folder;
  const std::string file = folder / "ags.cairn";
  const CommandResult result =
      RunCommand({Program("cairn"), "run", "--no-witnesses", "--dump-on-exit", "-o", file, "--",
                  "wine", WindowsProgram("../../bin/ags-events.exe")},
                 {.folder = folder.path()});
  if (result.exit_code == 2) GTEST_SKIP() << "there is no Direct3D 12";
  ASSERT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(ReportTree(file, true), HasSubstr("[X] Shadows by AGS\n"));
}

// Raw markers and automatic breadcrumbs, side by side.
TEST_F(WineAgsTest, TheReportNamesTheDraw) {
  const CommandResult result = Run({"--kill"});
  const std::string text = Told({"report", "--all", "--width", "0"});
  const size_t start = text.find("Conclusions from raw markers\n");
  ASSERT_NE(start, std::string::npos) << text << result.Summary();
  const std::string section = text.substr(start, text.find("\n\n", start) - start);
  EXPECT_THAT(section, AllOf(HasSubstr("may be running: the front end was at marker 11 at least"),
                             HasSubstr("marker 10: bottom of pipe, slot 9, 0x00000000deadbeef: "
                                       "written\n"),
                             HasSubstr("marker 11: top of pipe, slot 10, 0x00000000deadcafe: "
                                       "written\n"),
                             HasSubstr("marker 12: bottom of pipe, slot 11, 0x00000000deadbeef: "
                                       "missing\n"),
                             HasSubstr("marker 13: top of pipe, slot 12, 0x00000000deadcafe: "
                                       "missing\n")));
  EXPECT_THAT(text, HasSubstr("labels for the Vulkan layer: all values read back"));
  // The raw markers are no labels of the program.
  EXPECT_THAT(text, AllOf(HasSubstr("Draw loop"), Not(HasSubstr("cairn raw marker"))));
}

}  // namespace
}  // namespace cairn::testing
