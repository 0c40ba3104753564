// SPDX-License-Identifier: Apache-2.0
//
// Mode exact under `cairn run`: programs leave the same bytes behind, the validation layer says nothing
// about what we add, and work that hangs is named alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/vulkan/testing/run_board.h"
#include "harness.h"
#include "played.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

#if defined(_WIN32)
const std::string kScenes = CAIRN_BINARY_DIR "/tests/vulkan/exact_scenes.exe";
const std::vector<std::string> kSamplesThatHang = {"sample-hang-vulkan-plain"};
#else
const std::string kScenes = CAIRN_BINARY_DIR "/tests/programs/exact_scenes";
const std::vector<std::string> kSamplesThatHang = {"sample-hang-vulkan-plain",
                                                   "sample-hang-d3d12-plain"};
#endif

class ExactTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }

  using Files = std::map<std::string, std::string>;  // content by name

  CommandResult Run(const std::vector<std::string>& command,
                    const std::vector<std::string>& more_environment = {}, int timeout_s = 60) {
    std::vector<std::string> environment = LavapipeEnvironment();
    environment.insert(environment.end(), more_environment.begin(), more_environment.end());
    return RunCommand(
        command, {.folder = folder_.path(), .environment = environment, .timeout_s = timeout_s});
  }

  // Returns the files that the scenes write in a mode; without `cairn run` for "".
  Files ScenesIn(const std::string& mode, const std::vector<std::string>& environment = {}) {
    const std::string folder = folder_ / "scenes";
    std::filesystem::create_directory(folder);
    std::vector<std::string> command;
    if (!mode.empty()) {
      command = {Program("cairn"), "run", "--quiet", "--dump-on-exit", "-o", "a.cairn",
                 "--breadcrumbs",  mode,  "--"};
    }
    command.insert(command.end(), {kScenes, folder});
    const CommandResult result = Run(command, environment);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_EQ(result.errors, "");
    Files files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      files[entry.path().filename().string()] = ReadFile(entry.path());
    }
    std::filesystem::remove_all(folder);
    return files;
  }

  // Returns the work of a program that is killed when the watchdog notices its hang.
  ReportedWork WorkOfAHang(const std::vector<std::string>& program) {
    std::vector<std::string> command = {
        Program("cairn"), "run",           "--quiet", "-o", "a.cairn", "--hang-timeout", "1",
        "--kill-on-hang", "--breadcrumbs", "exact",   "--"};
    command.insert(command.end(), program.begin(), program.end());
    const CommandResult result = Run(command);
    EXPECT_EQ(result.exit_code, 124) << result.Summary();
    return ReadReportedWork(folder_ / "a.cairn");
  }
  std::string Report() {
    return Run({Program("cairn"), "report", "--width", "0", "a.cairn"}).output;
  }

  TemporaryFolder folder_;
};

TEST_F(ExactTest, ScenesLeaveTheSameBytes) {
  const Files without = ScenesIn("");
  ASSERT_THAT(without, SizeIs(22));
  for (const auto& [name, bytes] : without) {
    const std::set<char> values(bytes.begin(), bytes.end());
    EXPECT_GT(values.size(), name == "pass-empty" ? 3u : 8u) << name << " shows nothing";
  }
  const Files exact = ScenesIn("exact");
  ASSERT_EQ(exact.size(), without.size());
  for (const auto& [name, bytes] : without) {
    EXPECT_TRUE(exact.at(name) == bytes) << name << " differs";
  }
  const ReportedWork work = ReadReportedWork(folder_ / "a.cairn");
  EXPECT_THAT(work.scope_states, Each("completed"));
  EXPECT_GT(work.scope_states.size(), 100u);
}

// In a pass that is cut each draw has an end of its own.
TEST_F(ExactTest, ADrawThatHangsInAPassIsNamedAlone) {
  for (const char* subpasses : {"0", "1"}) {
    const ReportedWork work = WorkOfAHang({kScenes, "hang", subpasses, "65000"});
    EXPECT_THAT(work.candidates, ElementsAre("DRAW ")) << subpasses;
    const std::string report = Report();
    EXPECT_THAT(report,
                HasSubstr("[>] DRAW #3 (3 vertices, 1 instance), graphics pipeline \"Slow\""));
    EXPECT_THAT(report,
                HasSubstr("[X] DRAW #2 (3 vertices, 1 instance), graphics pipeline \"Quick\""));
    EXPECT_THAT(report,
                HasSubstr("[ ] DRAW #4 (3 vertices, 1 instance), graphics pipeline \"Quick\""));
  }
}

// One of two subpasses is one piece: all of its draws are candidates.
TEST_F(ExactTest, APassThatIsNotCutIsOnePiece) {
  const ReportedWork work = WorkOfAHang({kScenes, "hang", "2", "65000"});
  EXPECT_THAT(std::vector(work.candidates), Contains("DRAW ").Times(5));
  EXPECT_THAT(Report(), HasSubstr("only in a render pass that cannot be cut"));
}

TEST_F(ExactTest, ADispatchThatHangsIsNamedAlone) {
  for (const std::string& sample : kSamplesThatHang) {
    const ReportedWork work = WorkOfAHang({Program(sample), "--seconds", "30"});
    EXPECT_THAT(work.candidates, ElementsAre("DISPATCH ")) << sample;
    EXPECT_THAT(Report(), HasSubstr("Integrate")) << sample;
  }
}

// ---- Where the validation layer is, and the environment decides who gets which ----------------------
#if !defined(_WIN32)

constexpr char kValidation[] = "VK_LAYER_KHRONOS_validation";
constexpr char kOurs[] = "VK_LAYER_CAIRN_breadcrumbs";

class ExactLayersTest : public ExactTest {
 protected:
  // Errors and warnings of the validation layer, hazards among them, go to a file.
  void LetValidationSpeak() {
    std::ofstream(folder_ / "vk_layer_settings.txt")
        << "khronos_validation.report_flags = error,warn,perf\n"
           "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
           "khronos_validation.enables = "
           "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT\n"
           "khronos_validation.log_filename = "
        << folder_ / "validation"
        << "\n";
  }
  std::string WhatValidationSaid() {
    const std::string said = ReadFile(folder_ / "validation");
    std::filesystem::remove(folder_ / "validation");
    return said;
  }
};

TEST_F(ExactLayersTest, ValidationHasNothingToSay) {
  LetValidationSpeak();
  static_cast<void>(ScenesIn("", {std::string("VK_INSTANCE_LAYERS=") + kValidation}));
  ASSERT_EQ(WhatValidationSaid(), "") << "the program itself is wrong";
  const std::string layers[] = {std::string(kOurs) + ":" + kValidation, kValidation};
  for (const std::string& order : layers) {
    const Files files = ScenesIn("exact", {"VK_INSTANCE_LAYERS=" + order});
    EXPECT_THAT(files, SizeIs(22)) << order;
    EXPECT_EQ(WhatValidationSaid(), "") << order;
  }
}

// The barriers of `cairn why`, in the other modes.
TEST_F(ExactLayersTest, BarriersOfExperimentsChangeNoBytes) {
  LetValidationSpeak();
  const Files without = ScenesIn("");
  const BoardHeader& board = RunBoard::OfProcess().header();
  for (const char* experiment : {"barrier-before", "barrier-after"}) {
    for (const char* mode : {"top", "full"}) {
      const uint32_t changes_before = board.changes;
      const uint32_t not_changed_before = board.not_changed;
      const Files with = ScenesIn(mode, {std::string("CAIRN_EXPERIMENT=") + experiment});
      EXPECT_LT(changes_before + 100, board.changes) << experiment;
      EXPECT_LT(not_changed_before + 20, board.not_changed) << experiment;
      ASSERT_EQ(with.size(), without.size());
      for (const auto& [name, bytes] : without) {
        EXPECT_TRUE(with.at(name) == bytes) << name << " differs with " << experiment;
      }
    }
    static_cast<void>(
        ScenesIn("top", {std::string("CAIRN_EXPERIMENT=") + experiment,
                         std::string("VK_INSTANCE_LAYERS=") + kOurs + ":" + kValidation}));
    EXPECT_EQ(WhatValidationSaid(), "") << experiment;
  }
}

// The layer's fences, and the end of a device that has them.
TEST_F(ExactLayersTest, SerialSubmissionsChangeNoBytes) {
  LetValidationSpeak();
  const Files without = ScenesIn("");
  const Files with =
      ScenesIn("top", {"CAIRN_EXPERIMENT=serial-queues",
                       std::string("VK_INSTANCE_LAYERS=") + kOurs + ":" + kValidation});
  EXPECT_EQ(WhatValidationSaid(), "");
  ASSERT_EQ(with.size(), without.size());
  for (const auto& [name, bytes] : without) EXPECT_TRUE(with.at(name) == bytes) << name;
}

// Nobody serialises work without the Vulkan layer: the report says mode full, and why.
TEST_F(ExactLayersTest, WithoutTheVulkanLayerItIsModeFull) {
  const CommandResult result =
      Run({Program("cairn"), "run", "--quiet", "--dump-on-exit", "-o", "a.cairn", "--breadcrumbs",
           "exact", "--", "env", "VK_LOADER_LAYERS_DISABLE=VK_LAYER_CAIRN*",
           Program("sample-triangle-d3d12-plain")});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  const std::string report =
      Run({Program("cairn"), "report", "--all", "--width", "0", "a.cairn"}).output;
  EXPECT_THAT(report, HasSubstr("Marker mode full"));
  EXPECT_THAT(report, HasSubstr("mode exact: mode full instead"));
}

#endif  // _WIN32

}  // namespace
}  // namespace cairn::testing
