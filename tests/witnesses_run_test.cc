// SPDX-License-Identifier: Apache-2.0
//
// cairn run measures barriers in a process of its own, once, and hands over what it found: with drivers that work,
// die and hang, and with any cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/json.h"
#include "format/witness/witness_cache.h"
#include "harness.h"
#include "os/file.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kTestDriver[] = "VK_DRIVER_FILES=" CAIRN_BINARY_DIR "/tests/icd/cairn_icd.json";

class Witnesses : public ::testing::Test {
 protected:
  // Returns CAIRN_WITNESSES as a program started by cairn run finds it; "(unset)" if it is missing.
  std::string Told(std::vector<std::string> environment = {kTestDriver},
                   const std::vector<std::string>& options = {}) {
    Command::Options how;
    how.folder = folder_.path();
    how.environment = {"CAIRN_WITNESSES", "CAIRN_BREADCRUMBS",
                       "XDG_CACHE_HOME=" + folder_ / "cache", "HOME=" + folder_.path().string(),
                       "VK_ICD_FILENAMES"};
    how.environment.insert(how.environment.end(), environment.begin(), environment.end());
    std::vector<std::string> arguments = {Program("cairn"), "run"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    // printenv would not distinguish an empty value from a missing one.
    for (const char* word : {"--", "/bin/sh", "-c", "printf %s \"${CAIRN_WITNESSES-(unset)}\""}) {
      arguments.push_back(word);
    }
    result_ = RunCommand(arguments, how);
    EXPECT_EQ(result_.exit_code, 0) << result_.Summary();
    EXPECT_THAT(result_.left_behind, IsEmpty());
    return result_.output;
  }
  WitnessSet ToldSet(const std::vector<std::string>& environment = {kTestDriver}) {
    const std::string told = Told(environment);
    Result<WitnessSet> set = ParseWitnessSet(told);
    EXPECT_TRUE(set.ok()) << told << ": " << set.status().message();
    return set.ok() ? *set : WitnessSet();
  }
  fs::path cache() const { return folder_.path() / "cache" / "cairn" / "witnesses"; }
  void WriteCache(const std::string& text) const {
    fs::create_directories(cache().parent_path());
    std::ofstream(cache(), std::ios::binary) << text;
  }
  WitnessCache Cached() const {
    Result<WitnessCache> read = ParseWitnessCache(ReadFile(cache()));
    EXPECT_TRUE(read.ok()) << read.status().message() << ReadFile(cache());
    return read.ok() ? *read : WitnessCache();
  }

  TemporaryFolder folder_;
  CommandResult result_;
};

// Work of the test driver takes no time, so that it cannot be observed.
TEST_F(Witnesses, MeasuredOnceAndKept) {
  const WitnessSet first = ToldSet();
  ASSERT_EQ(first.devices.size(), 1u);
  EXPECT_EQ(first.devices[0].key.driver_name, "cairn_test_driver");
  EXPECT_EQ(first.devices[0].outcome, WitnessOutcome::kUnseen);
  EXPECT_EQ(Cached().devices, first.devices);
  EXPECT_EQ(Cached().machines.size(), 1u);
  // Another value would be kept as well.
  WitnessCache kept = Cached();
  kept.devices[0].outcome = WitnessOutcome::kMeasured;
  kept.devices[0].method = WitnessMethod::kMarker;
  kept.devices[0].families = {{0, {HoldingBarrier::kAny}, {HoldingBarrier::kAny}, {}}};
  const std::string text = FormatWitnessCache(kept);
  WriteCache(text);
  EXPECT_EQ(ToldSet().devices, kept.devices);
  EXPECT_EQ(ReadFile(Witnesses::cache()), text);
}

TEST_F(Witnesses, NotWhereNothingFollowsFromThem) {
  EXPECT_EQ(Told({kTestDriver}, {"--no-witnesses"}), "off");
  EXPECT_EQ(Told({kTestDriver}, {"--breadcrumbs", "full"}), "(unset)");
  EXPECT_EQ(Told({kTestDriver, "CAIRN_BREADCRUMBS=off"}), "(unset)");
  EXPECT_EQ(Told({kTestDriver}, {"--no-layer"}), "(unset)");
  EXPECT_EQ(Told({kTestDriver, "CAIRN_WITNESSES=1"}), "1");
  EXPECT_EQ(Told({kTestDriver, "CAIRN_WITNESSES="}), "");
  EXPECT_FALSE(fs::exists(folder_.path() / "cache"));
}

TEST_F(Witnesses, ADriverThatDies) {
  const WitnessSet set = ToldSet({kTestDriver, "CAIRN_ICD=dies"});
  ASSERT_EQ(set.devices.size(), 1u);
  EXPECT_EQ(set.devices[0].outcome, WitnessOutcome::kDied);
  // It is not tried again, though it would work now.
  EXPECT_EQ(ToldSet().devices, set.devices);
}

TEST_F(Witnesses, ADriverThatHangs) {
  const WitnessSet set = ToldSet({kTestDriver, "CAIRN_ICD=sticks"});
  ASSERT_EQ(set.devices.size(), 1u);
  EXPECT_EQ(set.devices[0].outcome, WitnessOutcome::kHung);
  EXPECT_THAT(result_.errors, HasSubstr("--no-witnesses skips it"));
  EXPECT_EQ(ToldSet().devices, set.devices);
}

TEST_F(Witnesses, NoDriver) {
  EXPECT_THAT(Told({"VK_DRIVER_FILES=/nonexistent.json"}),
              ::testing::AnyOf("1", HasSubstr("none ")));
}

TEST_F(Witnesses, WhateverTheCacheHolds) {
  for (const std::string& text :
       {std::string(), std::string("\0\0\0", 3), std::string("cairn-witnesses 2\n"),
        std::string("cairn-witnesses 1\nmachine x\n"), std::string(1 << 20, '\n')}) {
    WriteCache(text);
    EXPECT_EQ(ToldSet().devices.size(), 1u) << text.substr(0, 40);
    EXPECT_EQ(Cached().devices.size(), 1u) << text.substr(0, 40);
    fs::remove(cache());
  }
}

TEST_F(Witnesses, WhateverTheCacheIs) {
  fs::create_directories(cache());
  EXPECT_EQ(ToldSet().devices.size(), 1u);
  fs::remove(cache());
  fs::create_symlink("/dev/zero", cache());
  EXPECT_EQ(ToldSet().devices.size(), 1u);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(cache())));
  // A measurement that cannot be stored is not made: it would be repeated each time.
  fs::remove_all(folder_.path() / "cache");
  std::ofstream(folder_.path() / "cache") << "a file";
  EXPECT_THAT(Told(), HasSubstr("none the user's cache cannot be written: "));
  EXPECT_THAT(result_.errors, Not(HasSubstr("barriers")));
}

// Two that measure at once would disturb each other.
TEST_F(Witnesses, AnotherMeasures) {
  fs::create_directories(cache().parent_path());
  std::error_code error;
  File lock = File::Open(cache().string() + ".lock", FileMode::kOpenOrCreate, error);
  ASSERT_TRUE(!error && lock.TryLock());
  EXPECT_EQ(Told(), "none another cairn measures it right now");
  EXPECT_FALSE(fs::exists(cache()));
  lock = File();
  EXPECT_EQ(ToldSet().devices.size(), 1u);
}

TEST_F(Witnesses, WithoutAFolder) {
  EXPECT_THAT(Told({kTestDriver, "XDG_CACHE_HOME=relative", "HOME="}),
              HasSubstr("none neither XDG_CACHE_HOME nor HOME"));
  EXPECT_FALSE(fs::exists(folder_.path() / "relative"));
  EXPECT_EQ(ToldSet({kTestDriver, "XDG_CACHE_HOME=relative"}).devices.size(), 1u);
  EXPECT_TRUE(fs::exists(folder_.path() / ".cache" / "cairn" / "witnesses"));
}

// By values, on a device that works. A busy machine may keep the CPU from watching.
TEST_F(Witnesses, LavapipeWaitsAtEveryBarrier) {
  std::string driver;
  for (const std::string& setting : LavapipeEnvironment()) {
    if (setting.starts_with("VK_DRIVER_FILES=")) driver = setting;
  }
  if (driver.empty()) GTEST_SKIP() << "lavapipe is not installed";
  const WitnessSet set = ToldSet({driver});
  ASSERT_EQ(set.devices.size(), 1u);
  const DeviceWitnesses& device = set.devices[0];
  EXPECT_EQ(device.key.driver_name, "llvmpipe");
  if (device.outcome == WitnessOutcome::kUnseen) GTEST_SKIP() << "the machine is too busy";
  ASSERT_EQ(device.outcome, WitnessOutcome::kMeasured);
  EXPECT_EQ(device.method, WitnessMethod::kFill);
  ASSERT_EQ(device.families.size(), 1u);
  for (const WorkWitnesses& work :
       {device.families[0].dispatches, device.families[0].draws, device.families[0].copies}) {
    EXPECT_NE(work.barrier, HoldingBarrier::kNever);
  }
}

// The true properties of lavapipe clear all work except the dispatch that hangs, for Vulkan's
// barriers and for those that ResourceBarrier becomes.
TEST_F(Witnesses, WhatLavapipeHasFinishedIsNoCandidate) {
  constexpr char kTrue[] =
      "CAIRN_WITNESSES=1;6d65736132322e332e36000000000000 6c6c766d706970655555494400000000 "
      "00000001 "
      "llvmpipe 1700000000 fill 0:dispatch=any:draw=any:copy=any";
  for (const char* sample : {"sample-hang-vulkan-plain", "sample-hang-d3d12-plain"}) {
    Command::Options how;
    how.folder = folder_.path();
    how.environment = LavapipeEnvironment();
    how.environment.push_back(kTrue);
    how.environment.push_back("CAIRN_BREADCRUMBS=top");
    const CommandResult run =
        RunCommand({Program("cairn"), "run", "-o", "a.cairn", "--hang-timeout", "0.5",
                    "--kill-on-hang", "--", Program(sample)},
                   how);
    ASSERT_EQ(run.exit_code, 124) << run.Summary();
    const CommandResult report =
        RunCommand({Program("cairn"), "report", "--json", folder_ / "a.cairn"}, {});
    const Json json = Json::Parse(report.output);
    bool same_driver = false;
    for (const Json& source : json.at("devices").at(0).at("sources")) {
      same_driver |= source.at("name") == "barrier-based proof" && source.at("state") == "present";
    }
    if (!same_driver) GTEST_SKIP() << "another lavapipe than the one that this is true of";
    const Json candidates = json.at("verdicts").at(0).at("candidates");
    ASSERT_EQ(candidates.size(), 1u) << sample << report.output;
    const Json scope = json.at("scopes").at(candidates.at(0).at("scope").get<size_t>());
    EXPECT_EQ(candidates.at(0).at("type"), "DISPATCH");
    EXPECT_EQ(json.at("scopes").at(scope.at("parent").get<size_t>()).at("name"), "Integrate");
  }
}

}  // namespace
}  // namespace cairn::testing
