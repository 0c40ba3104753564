// SPDX-License-Identifier: Apache-2.0
//
// The Vulkan layer of Windows in programs that were not made for it, under `cairn.exe run`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "format/witness/witness_cache.h"
#include "harness.h"
#include "reader/report/work_states.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Returns the path of a file beside Khronos's loader.
std::string Beside(const std::string& name) {
  std::string path = CAIRN_BINARY_DIR "/tests/vulkan/" + name;
  std::replace(path.begin(), path.end(), '/', '\\');
  return path;
}
const std::string kCube = Beside("vkcube.exe");
const std::string kWatchWindow = CAIRN_BINARY_DIR "/tests/windows/watch-window.exe";

std::set<std::string> StatesOf(const ReportedWork& work) {
  std::set<std::string> states;
  for (const ReportedProgress& execution : work.executions) states.insert(execution.state);
  return states;
}

class VulkanExeTest : public ::testing::Test {
 protected:
  CommandResult Run(const std::vector<std::string>& options,
                    const std::vector<std::string>& program,
                    const std::vector<std::string>& environment = {}) {
    std::vector<std::string> words = {cairn_, "run", "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), program.begin(), program.end());
    CommandResult result =
        RunCommand(words, {.folder = folder_.path(), .environment = environment});
    EXPECT_FALSE(result.timed_out) << result.Summary();
    return result;
  }

  std::string cairn_ = Program("cairn");
  TemporaryFolder folder_;
  const std::string file_ = folder_ / "a.cairn";
};

TEST_F(VulkanExeTest, VkcubeShowsWhatItShows) {
  const CommandResult without = RunCommand({kWatchWindow, "10", kCube}, {.folder = folder_.path()});
  ASSERT_THAT(without.output, HasSubstr("vkcube.exe: 10 pictures, then ended with 0"));
  const CommandResult with = Run({}, {kWatchWindow, "10", kCube});
  EXPECT_EQ(with.output, without.output);
  EXPECT_EQ(with.exit_code, 0) << with.Summary();
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(VulkanExeTest, ItsFramesAndDrawsAreCounted) {
  const std::vector<std::string> program = {kCube, "--c", "60"};
  const CommandResult without = RunCommand(program, {.folder = folder_.path()});
  const CommandResult with = Run({"--dump-on-exit", "-o", file_}, program);
  EXPECT_EQ(with.exit_code, 0) << with.Summary();
  EXPECT_EQ(with.output, without.output);
  EXPECT_EQ(with.errors, without.errors);
  const ReportedWork work = ReadReportedWork(file_);
  EXPECT_THAT(StatesOf(work), ElementsAre(kCompletedWord));
  EXPECT_THAT(work.candidates, IsEmpty());
  EXPECT_THAT(work.word_memories, ElementsAre("imported"));
  const std::string tree = ReportTree(file_, true);
  EXPECT_THAT(tree, HasSubstr("<Frame 59>"));
  EXPECT_THAT(tree, Not(HasSubstr("<Frame 60>")));
  EXPECT_THAT(tree, HasSubstr("[X] DRAW #1 (36 vertices, 1 instance), graphics pipeline"));
}

// The 50th submission is executed many times: the GPU is still at work when the program is gone.
TEST_F(VulkanExeTest, KilledInAFrame) {
  // It would show what it shows for ever.
  (void)Run({"-o", file_}, {kWatchWindow, "--with", Beside("kill-at-submit.dll"), "1000", kCube});
  EXPECT_THAT(ReportedIncidents(file_),
              ElementsAre(ReportedIncident{"signal", int64_t{1} << 32 | 1, "", ""}));
  const ReportedWork work = ReadReportedWork(file_);
  EXPECT_THAT(work.candidates, Contains("DRAW "));
  EXPECT_THAT(StatesOf(work),
              IsSupersetOf({std::string(kCompletedWord), std::string(kInFlightWord)}));
  // The first submission prepares textures, and ends no frame.
  const std::string tree = ReportTree(file_, true);
  EXPECT_THAT(tree, HasSubstr("<Frame 48>"));
  EXPECT_THAT(tree, Not(HasSubstr("<Frame 49>")));
  EXPECT_THAT(tree, HasSubstr("[>] DRAW #1 (36 vertices, 1 instance), graphics pipeline"));
}

// Under Wine Direct3D 12 uses Vulkan. Whichever is loaded first: one block, and one device in it.
TEST_F(VulkanExeTest, BelowDirect3D12ItIsItsDriver) {
  const CommandResult result = Run({"-o", file_}, {Beside("dies.exe"), "write"});
  EXPECT_EQ(static_cast<uint32_t>(result.exit_code), 0xc0000005) << result.Summary();
  const ReportedWork work = ReadReportedWork(file_);
  EXPECT_THAT(work.word_memories, ElementsAre("imported"));
  const std::string report = RunCommand({Program("cairn"), "report", file_}, {}).output;
  EXPECT_THAT(report, HasSubstr("written with vkCmdFillBuffer through the Vulkan layer"));
  EXPECT_THAT(report, HasSubstr("COPY_BUFFER_REGION"));
}

TEST_F(VulkanExeTest, SelftestTriesTheLayer) {
  const CommandResult result =
      RunCommand({Beside("cairn.exe"), "selftest", "--json"},
                 {.folder = folder_.path(),
                  .environment = {"CAIRN_LAYER_PATH=" CAIRN_BINARY_DIR "/bin/cairn-d3d.dll"}});
  const Json json = Json::Parse(result.output);
  EXPECT_EQ(
      SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/selftest.schema.json"), json),
      "");
  const Json layer = json.at("vulkan_layer");
  EXPECT_EQ(layer.at("state").get<std::string>(), "works") << result.Summary();
  ASSERT_FALSE(layer.at("devices").empty());
  for (const Json device : layer.at("devices")) {
    EXPECT_TRUE(device.at("works").get<bool>()) << result.output;
    EXPECT_EQ(device.at("memory").get<std::string>(), "imported");
  }
  // The methods of the other devices were found without the layer.
  for (const Json device : json.at("devices")) {
    EXPECT_THAT(device.at("method").get<std::string>(), Not(HasSubstr("layer")));
  }
}

// cairn measures barriers in a process of its own, once, and hands over what it found.
class WitnessesExeTest : public VulkanExeTest {
 protected:
  std::string Told(const std::string& cache, const std::vector<std::string>& options = {},
                   std::vector<std::string> environment = {}) {
    environment.insert(environment.end(),
                       {"LOCALAPPDATA=" + cache, "CAIRN_WITNESSES", "CAIRN_BREADCRUMBS"});
    const CommandResult result =
        Run(options, {"cmd.exe", "/c", "echo it says %CAIRN_WITNESSES%"}, environment);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_THAT(result.output, StartsWith("it says "));
    return result.output.substr(8, result.output.find_first_of("\r\n") - 8);
  }
  const std::string cache_ = folder_.path().string();
  const std::filesystem::path kept_ = folder_.path() / "cairn" / "witnesses";
};

TEST_F(WitnessesExeTest, AreMeasuredOnceAndKept) {
  const std::string told = Told(cache_);
  const Result<WitnessSet> set = ParseWitnessSet(told);
  ASSERT_TRUE(set.ok()) << told << ": " << set.status().message();
  ASSERT_THAT(set->devices, SizeIs(1));
  EXPECT_EQ(set->devices[0].key.driver_name, "llvmpipe");
  // A busy machine may keep the CPU from watching.
  EXPECT_THAT(set->devices[0].outcome,
              ::testing::AnyOf(WitnessOutcome::kMeasured, WitnessOutcome::kUnseen));
  const Result<WitnessCache> cache = ParseWitnessCache(ReadFile(kept_));
  ASSERT_TRUE(cache.ok()) << cache.status().message();
  EXPECT_EQ(cache->devices, set->devices);
  EXPECT_THAT(cache->machines, SizeIs(1));
  // Another value would be kept as well.
  WitnessCache changed = *cache;
  changed.devices[0].outcome = WitnessOutcome::kMeasured;
  changed.devices[0].method = WitnessMethod::kMarker;
  changed.devices[0].families = {{0, {HoldingBarrier::kAny}, {HoldingBarrier::kAny}, {}}};
  std::ofstream(kept_, std::ios::binary) << FormatWitnessCache(changed);
  const Result<WitnessSet> again = ParseWitnessSet(Told(cache_));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->devices, changed.devices);
}

// Drivers of tests/icd, which only Khronos's loader takes.
TEST_F(WitnessesExeTest, ADriverThatDiesOrHangsIsMeasuredOnce) {
  cairn_ = Beside("cairn.exe");
  std::string manifest = CAIRN_BINARY_DIR "/tests/icd/cairn_icd.json";
  std::replace(manifest.begin(), manifest.end(), '/', '\\');
  const std::pair<std::string, WitnessOutcome> drivers[] = {{"dies", WitnessOutcome::kDied},
                                                            {"sticks", WitnessOutcome::kHung},
                                                            {"", WitnessOutcome::kUnseen}};
  for (const auto& [word, outcome] : drivers) {
    SCOPED_TRACE(word);
    const std::vector<std::string> environment = {
        "VK_DRIVER_FILES=" + manifest, "CAIRN_ICD=" + word,
        "CAIRN_LAYER_PATH=" CAIRN_BINARY_DIR "/bin/cairn-d3d.dll"};
    const Result<WitnessSet> set = ParseWitnessSet(Told(cache_, {}, environment));
    ASSERT_TRUE(set.ok()) << set.status().message();
    ASSERT_THAT(set->devices, SizeIs(1));
    EXPECT_EQ(set->devices[0].key.driver_name, "cairn_test_driver");
    EXPECT_EQ(set->devices[0].outcome, outcome);
    // It is not tried again, though it would work now.
    const Result<WitnessSet> again =
        ParseWitnessSet(Told(cache_, {}, {environment[0], "CAIRN_ICD=", environment[2]}));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->devices, set->devices);
    std::filesystem::remove_all(kept_.parent_path());
  }
}

TEST_F(WitnessesExeTest, WithoutAPlaceForThemOrAWish) {
  EXPECT_EQ(Told("relative"), "none LOCALAPPDATA names no folder to keep it in");
  EXPECT_EQ(Told(cache_, {"--no-witnesses"}), "off");
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

}  // namespace
}  // namespace cairn::testing
