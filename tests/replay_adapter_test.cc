// SPDX-License-Identifier: Apache-2.0
//
// Traces on machines with several adapters: two of lavapipe, or one of lavapipe behind the driver of tests/icd. A
// playback that is recorded again says where it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;

// The file that describes lavapipe to the loader.
std::string LavapipeFile() {
  constexpr std::string_view kName = "VK_DRIVER_FILES=";
  for (const std::string& variable : LavapipeEnvironment()) {
    if (variable.starts_with(kName)) return variable.substr(kName.size());
  }
  return "";
}

class ReplayAdapterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (LavapipeFile().empty()) GTEST_SKIP() << "lavapipe is not installed";
    std::filesystem::copy_file(LavapipeFile(), folder_ / "second.json");
    two_ = LavapipeFile() + ":" + (folder_ / "second.json");
  }
  // `drivers`: as in VK_DRIVER_FILES.
  CommandResult Cairn(std::vector<std::string> arguments, const std::string& drivers,
                      std::vector<std::string> environment = {}) {
    arguments.insert(arguments.begin(), Program("cairn"));
    environment.insert(environment.end(), {"VKD3D_DEBUG=none", "VK_DRIVER_FILES=" + drivers,
                                           "VK_ICD_FILENAMES=" + drivers});
    return RunCommand(arguments,
                      {.folder = folder_.path(), .environment = environment, .timeout_s = 120});
  }
  void Record(const std::string& drivers, const std::string& selected) {
    const CommandResult result =
        Cairn({"run", "--quiet", "--capture", "-o", "a.cairn", "--",
               Program("sample-scale-d3d12-plain"), "--frames", "2", "--calls", "60"},
              drivers, {"VKD3D_VULKAN_DEVICE=" + selected});
    ASSERT_EQ(result.exit_code, 0) << result.Summary();
  }
  // The device of a trace, as cairn objects has it.
  Json DeviceOf(const std::string& file) {
    const CommandResult result = Cairn({"objects", "--json", "--kind", "Device", file}, two_);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    return Json::Parse(result.output)["objects"][0];
  }
  // Where a.cairn is played.
  Json DeviceOfReplay(const std::string& drivers, std::vector<std::string> options) {
    std::vector<std::string> arguments = {"run",     "--quiet",     "--capture",      "-o",
                                          "b.cairn", "--",          Program("cairn"), "replay",
                                          "--quiet", "--in-process"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back("a.cairn");
    std::filesystem::remove(folder_ / "b.cairn");
    const CommandResult result = Cairn(arguments, drivers);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    return DeviceOf("b.cairn");
  }

  TemporaryFolder folder_;
  std::string two_;  // lavapipe twice
};

TEST_F(ReplayAdapterTest, PlaysOnTheOneThatIsAskedFor) {
  Record(two_, "1");
  const Json recorded = DeviceOf("a.cairn");
  EXPECT_EQ(recorded["adapter"], 1);
  EXPECT_THAT(recorded["gpu_name"].get<std::string>(), HasSubstr("llvmpipe"));
  EXPECT_EQ(DeviceOfReplay(two_, {})["adapter"], 1);
  EXPECT_EQ(DeviceOfReplay(two_, {"--adapter", "0"})["adapter"], 0);
  EXPECT_EQ(DeviceOfReplay(LavapipeFile(), {})["adapter"], 0);
  const CommandResult unknown = Cairn({"replay", "--adapter", "2", "a.cairn"}, two_);
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors,
              HasSubstr("cairn replay: --adapter: there is no adapter 2; there are 0 \"llvmpipe"));
  const CommandResult ambiguous =
      Cairn({"images", "--adapter", "LLVM", "-o", "images", "a.cairn"}, two_);
  EXPECT_EQ(ambiguous.exit_code, 2);
  EXPECT_THAT(ambiguous.errors, HasSubstr("2 adapters have \"LLVM\" in their names"));
}

TEST_F(ReplayAdapterTest, FindsItByItsName) {
  const std::string both = CAIRN_BINARY_DIR "/tests/icd/cairn_icd.json:" + LavapipeFile();
  Record(LavapipeFile(), "0");
  const Json other = DeviceOfReplay(both, {});
  EXPECT_EQ(other["gpu_name"], DeviceOf("a.cairn")["gpu_name"]);
  EXPECT_EQ(DeviceOfReplay(both, {"--adapter", "LLVMpipe"})["gpu_name"], other["gpu_name"]);
  const CommandResult bisect = Cairn({"bisect", "--adapter", "Radeon", "--quiet", "a.cairn"}, both);
  EXPECT_EQ(bisect.exit_code, 1);
  EXPECT_THAT(bisect.errors,
              HasSubstr("--adapter: no adapter has \"Radeon\" in its name; there are "));
}

}  // namespace
}  // namespace cairn::testing
