// SPDX-License-Identifier: Apache-2.0
//
// `cairn run -- wine PROGRAM.exe` on Linux, of programs that draw with Direct3D 11: on DXVK, whose Vulkan device has words
// for each call, and on Wine's own, where a submission is finished or not. Part of wine_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "harness.h"
#include "report_reading.h"
#include "wine.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The prefixes of tools/wine-env: one has DXVK.
constexpr char kDxvkPrefix[] = "/wine/d3d11";
constexpr char kPlainPrefix[] = "/wine/d3d12";

class WineD3D11 : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!WhyNoWine().empty()) GTEST_SKIP() << WhyNoWine();
    if (!std::filesystem::exists(GetParam())) GTEST_SKIP() << "there is no " << GetParam();
  }

  bool on_dxvk() const { return GetParam() == std::string(kDxvkPrefix); }
  Command::Options Options() const {
    return {.folder = folder_.path(),
            .environment = {"WINEPREFIX=" + std::string(GetParam())},
            .timeout_s = 120};
  }
  std::vector<std::string> Words(const std::vector<std::string>& options,
                                 const std::vector<std::string>& program) const {
    std::vector<std::string> words = {Program("cairn"), "run", "--no-witnesses", "-o", file_};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "wine"});
    words.insert(words.end(), program.begin(), program.end());
    return words;
  }
  // On this Vulkan driver; "": on lavapipe.
  CommandResult Draws(const std::vector<std::string>& options, const std::vector<std::string>& how,
                      const std::string& driver = "") const {
    std::vector<std::string> program = {WindowsProgram("draws-d3d11.exe")};
    program.insert(program.end(), how.begin(), how.end());
    Command::Options environment = Options();
    if (!driver.empty()) environment.environment.push_back("VK_DRIVER_FILES=" + driver);
    CommandResult result = RunCommand(Words(options, program), environment);
    result.errors = result.Lines();
    return result;
  }
  std::string Told(const std::vector<std::string>& words) const {
    std::vector<std::string> command = {Program("cairn")};
    command.insert(command.end(), words.begin(), words.end());
    return RunCommand(command, {}).output;
  }
  std::string Line(const std::string& what) const {
    return "cairn: draws-d3d11.exe " + what + "; report: cairn report " + file_ + "\n";
  }

  TemporaryFolder folder_;
  std::string file_ = folder_ / "draws.cairn";
};

TEST_P(WineD3D11, DrawsTheSamePictures) {
  const CommandResult without =
      RunCommand({"wine", WindowsProgram("draws-d3d11.exe"), "image", "4", "400"}, Options());
  ASSERT_EQ(without.exit_code, 0) << without.Summary();
  EXPECT_THAT(without.output, ContainsRegex("frame 4: picture [0-9a-f]{16}, buffer [0-9a-f]{16}"));
  const CommandResult with = Draws({}, {"image", "4", "400"});
  EXPECT_EQ(with.exit_code, 0);
  EXPECT_EQ(with.output, without.output);
  EXPECT_EQ(with.errors, "");
}

TEST_P(WineD3D11, TwoThreadsAndTwoStatesDrawTheSamePictures) {
  const CommandResult without =
      RunCommand({"wine", WindowsProgram("draws-d3d11.exe"), "image", "3", "80"}, Options());
  ASSERT_EQ(without.exit_code, 0) << without.Summary();
  const CommandResult with = Draws({}, {"states", "3", "80"});
  EXPECT_EQ(with.exit_code, 0);
  EXPECT_EQ(with.output, without.output);
  EXPECT_EQ(with.errors, "");
}

TEST_P(WineD3D11, AnException) {
  for (const auto& [how, exit_code, words] :
       {std::tuple{"write", 5, "exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION)"},
        {"raise", 0x34, "exception 0xe0001234"},
        {"terminate", 77, "TerminateProcess(77), which Cairn did not call"}}) {
    // DXVK is a library of Linux there: once its threads ended the process, with 1, before Wine did.
    if (on_dxvk() && how == std::string("terminate")) continue;
    SCOPED_TRACE(how);
    const CommandResult result = Draws({}, {how, "3", "40"});
    EXPECT_EQ(result.exit_code, exit_code);
    // Wine and DXVK may say something of their own before.
    EXPECT_THAT(result.errors, EndsWith(Line(std::string("died with ") + words)));
    const std::string report = Told({"report", "--all", file_});
    EXPECT_THAT(report, HasSubstr("Direct3D 11"));
    // The last calls, and who was called.
    EXPECT_THAT(report, HasSubstr("ID3D11DeviceContext::Draw"));
    EXPECT_THAT(Told({"report", "--json", file_}),
                AllOf(HasSubstr("Solid colour"), HasSubstr("Scene"),
                      HasSubstr("\"Texture2D 1024x1024 R8G8B8A8_UNORM render target\""),
                      HasSubstr("\"Texture2D 1024x1024 R8G8B8A8_UNORM readback\""),
                      HasSubstr("\"buffer 16 KiB storage\"")));
    const std::string tree = ReportTree(file_, true);
    EXPECT_THAT(tree, HasSubstr("Frame 2\n"));
    EXPECT_THAT(tree, HasSubstr("Shadows\n"));
    EXPECT_THAT(tree, HasSubstr("Part 3\n"));
    EXPECT_THAT(tree,
                ContainsRegex("DRAW #10( \\([^)]*\\))?, graphics pipeline \\[ VS: Placed triangle( "
                              "\\([0-9a-f]*\\))? \\| PS: Solid colour( \\([0-9a-f]*\\))? \\]"));
    EXPECT_THAT(tree, ContainsRegex("DISPATCH #1( \\([^)]*\\))?, compute pipeline \\[ CS: Fill( "
                                    "\\([0-9a-f]*\\))? \\]"));
  }
}

TEST_P(WineD3D11, AKill) {
  Command command(Words({}, {WindowsProgram("draws-d3d11.exe"), "wait"}), Options());
  ASSERT_NE(command.WaitUntilReady(), -1);
  KillProcess(ChildOf(command.pid()));
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.exit_code, kExitOfKilled);
  EXPECT_THAT(ReportedIncidents(file_), ElementsAre(ReportedIncident{"signal", SIGKILL, "", ""}));
  EXPECT_THAT(ReportTree(file_, true), HasSubstr("PS: Solid colour"));
}

// The fifth draw of "Opaque" loops.
TEST_P(WineD3D11, AHang) {
  if (!on_dxvk()) GTEST_SKIP() << "no words stand still there";
  const CommandResult result = Draws(
      {"--breadcrumbs", "exact", "--hang-timeout", "3", "--kill-on-hang"}, {"hang", "2", "40"});
  EXPECT_EQ(result.errors, Line("hangs: GPU work made no progress for 3 s; killed it"));
  const std::string report = Told({"report", "--all", file_});
  EXPECT_THAT(report, ContainsRegex("^GPU hang in DRAW #5( \\([^)]*\\))? +proven\n"));
  EXPECT_THAT(
      report,
      ContainsRegex(
          "  where     .*Frame 2 > .*Opaque · .*\n  pipeline  graphics pipeline \\[ VS: Placed "
          "triangle( \\([0-9a-f]*\\))? \\| PS: Endless loop( \\([0-9a-f]*\\))? \\]\n"));
}

// The fifth draw of "Opaque" again, for which the driver loses the device.
TEST_P(WineD3D11, ALostDevice) {
  if (!on_dxvk()) GTEST_SKIP() << "there is no Vulkan device";
  for (const char* mode : {"top", "exact"}) {
    SCOPED_TRACE(mode);
    const CommandResult result =
        Draws({"--breadcrumbs", mode}, {"lose", "3", "40"}, LosingDriver());
    EXPECT_EQ(result.exit_code, 6) << result.Summary();
    EXPECT_THAT(result.output, HasSubstr("removed: 0x887a0007"));
    // By the Vulkan device, and then by that of Direct3D: one line, if both are seen at once.
    EXPECT_THAT(result.errors,
                AnyOf(Line("lost its device (code -4, 0xfffffffc) and 1 more"),
                      AllOf(HasSubstr(Line("lost its device (code -4, 0xfffffffc)")),
                            HasSubstr(Line("lost its device (code -2005270521, 0x887a0007)")))));
    const std::string report = Told({"report", "--all", file_});
    EXPECT_THAT(report, ContainsRegex("lost: VK_ERROR_DEVICE_LOST \\(-4\\), noticed at "
                                      "\"vk(QueueSubmit2|WaitSemaphores)\""));
    EXPECT_THAT(report, HasSubstr("lost: DXGI_ERROR_DEVICE_RESET (0x887a0007), noticed at "
                                  "\"ID3D11Device::GetDeviceRemovedReason\""));
    EXPECT_THAT(
        report,
        ContainsRegex("\\[>\\] frame 0: .*Frame 3 > .*Opaque > DRAW #5( \\([^)]*\\))?\n *graphics "
                      "pipeline \\[ VS: Placed triangle( \\([0-9a-f]*\\))? \\| PS: Endless loop( "
                      "\\([0-9a-f]*\\))? \\]"));
  }
  // Mode exact, last, proves which draw it was.
  EXPECT_THAT(
      Told({"report", file_}),
      ContainsRegex(
          "^Device lost \\(VK_ERROR_DEVICE_LOST\\) in DRAW #5( \\([^)]*\\))? +proven\n"
          "  where     .*Frame 3 > .*Opaque · .*\n  pipeline  graphics pipeline \\[ VS: Placed "
          "triangle( \\([0-9a-f]*\\))? \\| PS: Endless loop( \\([0-9a-f]*\\))? \\]\n"));
  EXPECT_THAT(
      ReportTree(file_, true),
      AllOf(
          ContainsRegex("\\[X\\] DRAW #4( \\([^)]*\\))?, graphics pipeline \\[ VS: Placed "
                        "triangle( \\([0-9a-f]*\\))? \\| PS: Solid colour( \\([0-9a-f]*\\))? \\]"),
          ContainsRegex(
              "\\[ \\] DRAW #6( \\([^)]*\\))?, graphics pipeline \\[ VS: Placed "
              "triangle( \\([0-9a-f]*\\))? \\| PS: Solid colour( \\([0-9a-f]*\\))? \\]")));
}

INSTANTIATE_TEST_SUITE_P(OnDxvk, WineD3D11, ::testing::Values(kDxvkPrefix));
INSTANTIATE_TEST_SUITE_P(OnWined3d, WineD3D11, ::testing::Values(kPlainPrefix));

}  // namespace
}  // namespace cairn::testing
