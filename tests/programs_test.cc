// SPDX-License-Identifier: Apache-2.0
//
// Programs that know nothing of Cairn, under `cairn run`: they show what they show without it, and
// what they were doing when they died or hung is in the report. Preloading a library into foreign
// programs does not work in builds with sanitizers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness.h"
#include "reader/report/work_states.h"
#include "report_reading.h"
#include "screen_of_tests.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

bool IsInPath(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  for (size_t start = 0; start <= folders.size();) {
    const size_t end = std::min(folders.find(':', start), folders.size());
    if (access((folders.substr(start, end - start) + "/" + program).c_str(), X_OK) == 0)
      return true;
    start = end + 1;
  }
  return false;
}

// CAIRN_CHECK=1 had something to look at, and nothing to find.
void ExpectSelfCheckIsWell(const CommandResult& result) {
  EXPECT_THAT(result.errors, HasSubstr("cairn check: end of a device: all is well;"));
  EXPECT_THAT(result.errors, HasSubstr("cairn check: end of the process: all is well;"));
}

class ProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(CAIRN_SANITIZED)
    GTEST_SKIP() << "a library with sanitizers cannot be preloaded into programs without them";
#endif
  }

  // Skips the test unless these programs can be run.
  void NeedScreenAnd(const std::string& program) {
    if (Screen::Display().empty()) GTEST_SKIP() << "Xvfb is needed: install the package xvfb";
    if (!IsInPath(program)) {
      GTEST_SKIP() << program << " is needed: install the package vkd3d-demos";
    }
  }

  std::vector<std::string> Environment(std::vector<std::string> more) const {
    more.insert(more.end(), {"VKD3D_DEBUG=none", "DISPLAY=" + Screen::Display(),
                             "LD_PRELOAD=" CAIRN_BINARY_DIR "/tests/programs/libstop_at_frame.so",
                             "XDG_CONFIG_HOME=" + (folder_ / "config")});
    return more;
  }

  // The program itself, until the frame; returns the picture of its window.
  std::string PictureOf(const std::vector<std::string>& command, int frame,
                        std::vector<std::string> environment = {}) {
    const std::string file = folder_ / "picture";
    environment.push_back("STOP_AT_FRAME=" + std::to_string(frame));
    environment.push_back("STOP_AT_FRAME_FILE=" + file);
    result_ = RunCommand(
        command, {.folder = folder_.path(), .environment = Environment(std::move(environment))});
    EXPECT_EQ(result_.exit_code, 0) << result_.Summary();
    EXPECT_THAT(result_.left_behind, IsEmpty());
    const std::string picture = ReadFile(file);
    std::filesystem::remove(file);
    return picture;
  }

  void ExpectSameWindow(const std::string& program, int frame) {
    const std::string without = PictureOf({program}, frame);
    // Something is drawn: not one colour only.
    const std::set<char> bytes(without.begin(), without.end());
    ASSERT_GT(bytes.size(), 8u) << program << " drew nothing";
    for (const char* mode : {"off", "top", "pass", "full", "exact"}) {
      SCOPED_TRACE(mode);
      const std::string with = PictureOf({Program("cairn"), "run", "--dump-on-exit", "-o",
                                          "a.cairn", "--breadcrumbs", mode, "--", program},
                                         frame, {"CAIRN_CHECK=1"});
      EXPECT_EQ(result_.output, "");
      EXPECT_TRUE(with == without) << "the window shows something else; " << result_.Summary();
      ExpectSelfCheckIsWell(result_);
      if (std::string(mode) != "off") {
        EXPECT_THAT(ReportTree(folder_ / "a.cairn", true), HasSubstr("DRAW"));
        EXPECT_THAT(ReadReportedWork(folder_ / "a.cairn").candidates, IsEmpty());
      }
      std::filesystem::remove(folder_ / "a.cairn");
    }
  }

  TemporaryFolder folder_;
  CommandResult result_;
};

TEST_F(ProgramsTest, GearsShowsTheSameWindow) {
  NeedScreenAnd("vkd3d-gears");
  if (IsSkipped()) return;
  ExpectSameWindow("vkd3d-gears", 50);
}

TEST_F(ProgramsTest, TriangleShowsTheSameWindow) {
  NeedScreenAnd("vkd3d-triangle");
  if (IsSkipped()) return;
  ExpectSameWindow("vkd3d-triangle", 1);
}

// Killed at different moments after it submitted a frame: the last list of every dump is the one of
// that frame, and one of them shows the GPU in the middle of it.
class KilledGearsTest : public ProgramsTest {
 protected:
  // `memory`: where the words have to be.
  void KillGears(const std::string& memory, const std::vector<std::string>& more_environment) {
    NeedScreenAnd("vkd3d-gears");
    if (IsSkipped()) return;
    constexpr int kMostKills = 80;
    bool seen_in_flight = false;
    for (int frame = 1; frame <= kMostKills && !seen_in_flight && !HasFailure(); ++frame) {
      seen_in_flight = KillInFrame(frame, memory, more_environment);
    }
    EXPECT_TRUE(seen_in_flight);
  }

 private:
  bool KillInFrame(int frame, const std::string& memory, std::vector<std::string> environment) {
    environment.push_back("STOP_AT_FRAME=" + std::to_string(frame));
    environment.emplace_back("STOP_AT_FRAME_THEN=kill");
    environment.push_back("STOP_AT_FRAME_DELAY_US=" + std::to_string(frame % 8 * 150));
    const CommandResult result = RunCommand(
        {Program("cairn"), "run", "-o", "a.cairn", "--breadcrumbs", "full", "--", "vkd3d-gears"},
        {.folder = folder_.path(), .environment = Environment(environment)});
    EXPECT_EQ(result.exit_code, 128 + SIGKILL) << result.Summary();
    EXPECT_THAT(ReportedIncidents(folder_ / "a.cairn"),
                ElementsAre(ReportedIncident{"signal", SIGKILL, "", ""}));
    const std::string tree = ReportTree(folder_ / "a.cairn", true);
    const std::string last_list = tree.substr(std::min(tree.rfind("\n - ["), tree.size()));
    EXPECT_THAT(last_list, AllOf(HasSubstr("command list "), HasSubstr("CLEAR_RENDER_TARGET #1"),
                                 HasSubstr("DRAW_INDEXED_INSTANCED #3")))
        << tree;
    const ReportedWork work = ReadReportedWork(folder_ / "a.cairn");
    EXPECT_TRUE(work.valid);
    EXPECT_THAT(work.losses, IsEmpty());
    EXPECT_THAT(work.word_memories, ElementsAre(memory));
    std::filesystem::remove(folder_ / "a.cairn");
    return std::any_of(work.executions.begin(), work.executions.end(),
                       [](const ReportedProgress& execution) {
                         return execution.state == kInFlightWord && execution.reached != 0;
                       });
  }
};

TEST_F(KilledGearsTest, TheWordsInTheBlockAreTheGpusOwn) {
  KillGears("imported", {});
}

TEST_F(KilledGearsTest, WithoutTheVulkanLayerTheyAreCopies) {
  KillGears("mirrored", {"VK_LOADER_LAYERS_DISABLE=VK_LAYER_CAIRN_breadcrumbs"});
}

// The program sets PIX events and names, and knows nothing of Cairn; that markers reach the driver is
// forced from outside.
class AnnotatedHangTest : public ProgramsTest {
 protected:
  void SetUp() override {
    ProgramsTest::SetUp();
    if (IsSkipped()) return;
    const CommandResult forced =
        RunCommand({Program("d3dconfig"), "device", "--user", "force-driver-retail-annotations=on"},
                   {.folder = folder_.path(), .environment = Environment({})});
    ASSERT_EQ(forced.exit_code, 0) << forced.Summary();
  }

  // Returns the report of the run with these breadcrumbs.
  std::string ReportOf(const std::string& mode, std::vector<std::string> environment = {}) {
    const CommandResult result = RunCommand(
        {Program("cairn"), "run", "-o", "a.cairn", "--breadcrumbs", mode, "--hang-timeout", "2",
         "--kill-on-hang", "--", Program("sample-annotated-hang-d3d12")},
        {.folder = folder_.path(), .environment = Environment(std::move(environment))});
    EXPECT_EQ(result.exit_code, 124) << result.Summary();
    return RunCommand({Program("cairn"), "report", "--width", "0", "a.cairn"},
                      {.folder = folder_.path()})
        .output;
  }
};

constexpr char kDrawFirst[] =
    R"( 1. [>] frame 0: "Main" > Frame 1 > Lighting > DRAW_INSTANCED #3 (3 vertices, 1 instance)
        graphics pipeline "Volumetric fog" [ VS: )";
constexpr char kDrawInTree[] =
    "├─[>] DRAW_INSTANCED #3 (3 vertices, 1 instance), graphics pipeline \"Volumetric fog\"";

TEST_F(AnnotatedHangTest, TheDrawIsFoundByItsEventsNamesAndEventId) {
  const std::string report = ReportOf("full");
  EXPECT_THAT(ReadReportedWork(folder_ / "a.cairn").candidates, ElementsAre("DRAW_INSTANCED "));
  EXPECT_THAT(
      report,
      AllOf(
          StartsWith("GPU hang in DRAW_INSTANCED #3 (3 vertices, 1 instance) "),
          HasSubstr(" proven\n  where     Frame 1 > Lighting · "),
          HasSubstr("\n  pipeline  graphics pipeline \"Volumetric fog\" "),
          HasSubstr("\n  EventID   0x1000002, \"Lighting\"\n  because   it began and did not end; "
                    "no other command with a marker was in flight\n"),
          HasSubstr("\n  next      cairn bisect --hang-timeout 2 -- "),
          HasSubstr("Resources bound for this command\n        render target 0: resource \"Scene "
                    "colours\"\n")));
  EXPECT_THAT(report, HasSubstr("[X] Shadows of 2 lights, EventID 0x1000001"));
}

// The GPU says where it began only: the draw is the last of the candidates. Without the Vulkan layer each
// write is a copy, which ends the Vulkan render pass that the draws share.
TEST_F(AnnotatedHangTest, InModeTopTheDrawIsTheLastThatBegan) {
  const std::string report =
      ReportOf("top", {"VK_LOADER_LAYERS_DISABLE=VK_LAYER_CAIRN_breadcrumbs"});
  EXPECT_THAT(ReadReportedWork(folder_ / "a.cairn").candidates.back(), "DRAW_INSTANCED ");
  EXPECT_THAT(report, HasSubstr(kDrawFirst));
  EXPECT_THAT(report, HasSubstr(kDrawInTree));
  EXPECT_THAT(report, HasSubstr("└─[ ] DRAW_INSTANCED #4"));
}

// The Vulkan layer ends no render pass: if the device has no buffer markers, draws behind the first
// of a pass have no write of their own. Among those the culprit comes first, as its shader alone
// has a loop.
TEST_F(AnnotatedHangTest, InModeTopTheVulkanLayerKeepsRenderPassesAndTheDrawGoesFirst) {
  const std::string report = ReportOf("top");
  const std::string method = "written with vkCmdFillBuffer through the Vulkan layer";
  const bool fills = report.find(method) != std::string::npos;
  EXPECT_THAT(report, HasSubstr(fills ? method : "written with VK_AMD_buffer_marker through the"));
  EXPECT_THAT(report, HasSubstr(kDrawFirst));
  EXPECT_THAT(report, HasSubstr(kDrawInTree));
  EXPECT_THAT(report, HasSubstr(fills ? "└─[>] DRAW_INSTANCED #4" : "└─[ ] DRAW_INSTANCED #4"));
  EXPECT_EQ(
      report.find("more likely than others, because a shader of its own pipeline has a loop") !=
          std::string::npos,
      fills);
  EXPECT_EQ(report.find("candidates carry no write of their own") != std::string::npos, fills);
}

// The calling convention is the implementation's: one library has both.
TEST_F(ProgramsTest, AnImplementationWithThePlatformsConventionIsFollowedToo) {
  const std::string program = CAIRN_BINARY_DIR "/tests/programs/system_convention";
  const std::string library = CAIRN_BINARY_DIR "/tests/programs/libvkd3d-proton-test.so";
  const auto expected = [](const std::string& layer) {
    return "level 11_0: 0x80070057\nno device wanted: 0x1\nlayer: " + layer +
           "\nnodes 1, adapter 56:1234\nfence 5 9 12\nsame device: yes\nreferences left: 0\n";
  };
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{program, "linked"}, {program, "opened", library}}) {
    SCOPED_TRACE(command[1]);
    const CommandResult without = RunCommand(command, {.folder = folder_.path()});
    EXPECT_EQ(without.output, expected("no")) << without.Summary();
    std::vector<std::string> watched = {Program("cairn"), "run", "--"};
    watched.insert(watched.end(), command.begin(), command.end());
    const CommandResult with =
        RunCommand(watched, {.folder = folder_.path(), .environment = {"CAIRN_CHECK=1"}});
    EXPECT_EQ(with.exit_code, 0);
    EXPECT_EQ(with.output, expected("yes")) << with.Summary();
    ExpectSelfCheckIsWell(with);
  }
}

}  // namespace
}  // namespace cairn::testing
