// SPDX-License-Identifier: Apache-2.0
//
// Samples of what only a modern Direct3D 12 has.
// Each shows the right picture by itself, and the same one when its trace is played; the fault that each
// has is named, by the report and by `cairn bisect`. All that on a natively built vkd3d-proton, which
// CAIRN_TEST_VKD3D_PROTON names, on the driver of VK_DRIVER_FILES or on lavapipe.
#include <stdlib.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "bisect_answers.h"
#include "reader/replay/image_file.h"
#include "replay_fixture.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr int kLacks = 77;  // how a sample ends whose subject the implementation lacks

class ModernSamplesTest : public ReplayTest {
 protected:
  void SetUp() override {
    const char* const folder = getenv("CAIRN_TEST_VKD3D_PROTON");
    if (folder == nullptr) {
      GTEST_SKIP()
          << "CAIRN_TEST_VKD3D_PROTON names no folder with a libvkd3d-proton-d3d12.so of Linux";
    }
    library_ = std::string(folder) + "/libvkd3d-proton-d3d12.so";
    const char* const others = getenv("LD_LIBRARY_PATH");
    environment_ = ChosenDriverEnvironment();
    environment_.push_back("LD_LIBRARY_PATH=" + std::string(folder) +
                           (others == nullptr ? "" : ":" + std::string(others)));
  }

  CommandResult RunWithLibrary(const std::vector<std::string>& command) {
    const CommandResult result = RunCommand(
        command,
        {.folder = folder_.path(), .environment = environment_, .input = "", .timeout_s = 240});
    EXPECT_FALSE(result.timed_out) << result.Summary();
    return result;
  }

  // Returns why the implementation cannot run the sample; "": it does, and its picture is sample.png.
  std::string WhyItDoesNotRun(const std::string& sample,
                              const std::vector<std::string>& options = {}) {
    std::vector<std::string> command = {Program(sample), "--output", "sample.png"};
    command.insert(command.end(), options.begin(), options.end());
    const CommandResult result = RunWithLibrary(command);
    if (result.exit_code == kLacks) return result.errors;
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_THAT(result.output, HasSubstr(" correct\n"));
    return "";
  }

  // The sample captured, and its trace played: everything that was read back is what it was, the picture among it.
  void ExpectTheSamePicture(const std::string& sample, int readbacks,
                            const std::vector<std::string>& options = {},
                            const std::vector<std::string>& capture_options = {}) {
    std::vector<std::string> command = {Program("cairn"),   "run", "--capture", "--hash-frames",
                                        "--hash-resources", "-o",  "a.cairn"};
    command.insert(command.end(), capture_options.begin(), capture_options.end());
    command.insert(command.end(), {"--", Program(sample), "--output", "captured.png"});
    command.insert(command.end(), options.begin(), options.end());
    const CommandResult captured = RunWithLibrary(command);
    EXPECT_EQ(captured.exit_code, 0) << captured.Summary();
    EXPECT_EQ(ReadFile(folder_ / "captured.png"), ReadFile(folder_ / "sample.png"));
    const CommandResult played = RunWithLibrary(
        {Program("cairn"), "replay", "--library", library_, "--validate=all", "a.cairn"});
    EXPECT_EQ(played.exit_code, 0) << played.Summary();
    EXPECT_THAT(played.errors, IsEmpty());
    EXPECT_THAT(played.output, ContainsRegex("; " + std::to_string(readbacks) +
                                             " readbacks?, .* results match the recording"));
  }
  // The trace holds the steps to the triangle, compacted, and to its instances, and plays with the same
  // pictures in the buffers that the program read.
  void ExpectRestoredStructures(const std::string& trace) {
    const CommandResult calls = RunWithLibrary({Program("cairn"), "calls", trace});
    for (const char* const step : {", built: ", ", updated: ", ", compacted: "}) {
      EXPECT_THAT(calls.output, HasSubstr(step));
    }
    const CommandResult played =
        RunWithLibrary({Program("cairn"), "replay", "--library", library_, "--validate", trace});
    EXPECT_EQ(played.exit_code, 0) << played.Summary();
    EXPECT_THAT(played.errors, IsEmpty());
    EXPECT_THAT(played.output, HasSubstr("; 2 readbacks"));
  }

  // The text that `cairn state` prints of the last call of a function.
  std::string StateAtLast(const std::string& function, const std::string& trace) {
    const CommandResult calls =
        RunWithLibrary({Program("cairn"), "calls", "--json", "--function", function, trace});
    const size_t last = calls.output.rfind("\n{");
    const Json call =
        Json::Parse(last == std::string::npos ? calls.output : calls.output.substr(last + 1));
    const std::string number = std::to_string(call["number"].get<uint64_t>());
    return RunWithLibrary({Program("cairn"), "state", "--call", number, trace}).output;
  }

  // For targets: the picture that a playback draws is the one that the sample wrote.
  void ExpectTheSameImage() {
    const CommandResult images = RunWithLibrary(
        {Program("cairn"), "replay", "--library", library_, "--images", "images", "a.cairn"});
    EXPECT_EQ(images.exit_code, 0) << images.Summary();
    const Result<RgbaImage> sample = ReadPng(folder_ / "sample.png");
    const Result<RgbaImage> played = ReadPng(folder_ / "images/frame-000000.png");
    ASSERT_TRUE(sample.ok()) << sample.status().message();
    ASSERT_TRUE(played.ok()) << played.status().message();
    EXPECT_EQ(played->width, sample->width);
    EXPECT_TRUE(played->pixels == sample->pixels);
  }

  // Captures the sample with its fault into a.cairn.
  void CaptureFault(const std::string& sample, const std::vector<std::string>& fault) {
    std::vector<std::string> command = {Program("cairn"),
                                        "run",
                                        "--capture",
                                        "--breadcrumbs",
                                        "full",
                                        "-o",
                                        "a.cairn",
                                        "--hang-timeout",
                                        "2",
                                        "--kill-on-hang",
                                        "--",
                                        Program(sample)};
    command.insert(command.end(), fault.begin(), fault.end());
    const CommandResult result = RunWithLibrary(command);
    EXPECT_NE(0, result.exit_code) << "it was to fail: " << result.Summary();
    ASSERT_TRUE(std::filesystem::exists(folder_ / "a.cairn")) << result.Summary();
  }
  std::vector<std::string> Candidates() { return ReadReportedWork(folder_ / "a.cairn").candidates; }

  // The calls that `cairn bisect` finds in a.cairn, in order; none if it finds nothing that is sure.
  Json Culprits() {
    const CommandResult result =
        RunWithLibrary({Program("cairn"), "bisect", "--json", "--no-why", "--no-output",
                        "--hang-timeout", "2", "--library", library_, "a.cairn"});
    EXPECT_EQ(0, result.exit_code) << result.Summary();
    const Json answer = Json::Parse(result.output);
    if (!answer.is_object() || answer.value("without", "") != "clean") {
      ADD_FAILURE() << result.Summary();
      return Json::Parse("[]");
    }
    return answer["culprits"];
  }
  static void ExpectCall(const Json& culprit, const std::string& call, const std::string& pass) {
    EXPECT_THAT(culprit["text"].get<std::string>(), StartsWith(call + "("));
    EXPECT_THAT(PathOf(culprit), Contains(pass));
  }

  std::string library_;
  std::vector<std::string> environment_;
};

// Sets a variable for as long as it lives; null: to nothing.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* const before = getenv(name);
    if (before != nullptr) before_ = before;
    Set(value);
  }
  ~Variable() { Set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void Set(const char* value) {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }

  const char* const name_;
  std::optional<std::string> before_;
};

TEST(ModernSamplesEnvironment, ADriverThatWasChosenStays) {
  const Variable files("VK_DRIVER_FILES", "/chosen.json");
  const Variable older("VK_ICD_FILENAMES", nullptr);
  EXPECT_THAT(ChosenDriverEnvironment(), ElementsAre("VKD3D_DEBUG=none"));
  const Variable nothing("VK_DRIVER_FILES", "");
  EXPECT_EQ(ChosenDriverEnvironment(), LavapipeEnvironment());
  const Variable other("VK_ICD_FILENAMES", "/chosen.json");
  EXPECT_THAT(ChosenDriverEnvironment(), ElementsAre("VKD3D_DEBUG=none"));
}

// No call tells what the program writes into its memory between the submissions.
TEST_F(ModernSamplesTest, HeapOverTheProgramsMemoryIsPlayedWithTheSameValues) {
  const CommandResult alone = RunWithLibrary({Program("sample-import-d3d12")});
  if (alone.exit_code == kLacks) GTEST_SKIP() << alone.errors;
  EXPECT_EQ(alone.exit_code, 0) << alone.Summary();
  EXPECT_THAT(alone.output, HasSubstr(" correct\n"));
  const CommandResult captured =
      RunWithLibrary({Program("cairn"), "run", "--capture", "--hash-resources", "-o", "a.cairn",
                      "--", Program("sample-import-d3d12")});
  EXPECT_EQ(captured.exit_code, 0) << captured.Summary();
  EXPECT_THAT(captured.output, HasSubstr(alone.output));
  const CommandResult played = RunWithLibrary(
      {Program("cairn"), "replay", "--library", library_, "--validate=all", "a.cairn"});
  EXPECT_EQ(played.exit_code, 0) << played.Summary();
  EXPECT_THAT(played.errors, IsEmpty());
  EXPECT_THAT(played.output, ContainsRegex("; 3 readbacks, .* results match the recording"));
  const CommandResult objects = RunWithLibrary({Program("cairn"), "objects", "a.cairn"});
  EXPECT_THAT(objects.output, ContainsRegex("opened at address 0x[0-9a-f]+, 65,536 bytes"));
}

TEST_F(ModernSamplesTest, IndirectIsPlayedWithTheSamePicture) {
  const std::string why = WhyItDoesNotRun("sample-indirect-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  ExpectTheSamePicture("sample-indirect-d3d12", 1);
  ExpectTheSameImage();
}

TEST_F(ModernSamplesTest, IndirectDrawsThatAConstantCountsArePlayedWithTheSamePicture) {
  const std::string why = WhyItDoesNotRun("sample-indirect-d3d12", {"--increments"});
  if (!why.empty()) GTEST_SKIP() << why;
  ExpectTheSamePicture("sample-indirect-d3d12", 1, {"--increments"});
  ExpectTheSameImage();
}

// It takes the copy as well that left the absurd arguments: without it the memory is zeros, and asks for nothing.
TEST_F(ModernSamplesTest, IndirectArgumentsThatNobodyWroteAreNamed) {
  const std::string why = WhyItDoesNotRun("sample-indirect-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  CaptureFault("sample-indirect-d3d12", {"--fault"});
  EXPECT_THAT(Candidates(), ElementsAre("EXECUTE_INDIRECT "));
  const Json culprits = Culprits();
  ASSERT_EQ(2u, culprits.size()) << culprits.dump(2);
  ExpectCall(culprits[0], "CopyResource", "Write arguments");
  ExpectCall(culprits[1], "ExecuteIndirect", "Fill what was asked for");
  // The others were written, which the culprits alone do not show.
  const Json parts = culprits[1]["parts"];
  EXPECT_EQ("command", parts["kind"]);
  EXPECT_EQ(4, parts["count"]);
  EXPECT_EQ(true, parts["complete"]);
  ASSERT_EQ(1u, parts["guilty"].size()) << parts.dump(2);
  EXPECT_EQ(2, parts["guilty"][0]["first"]);
  EXPECT_EQ(2, parts["guilty"][0]["last"]);
  EXPECT_EQ(
      "Dispatch: 4,278,124,286 × 4,278,124,286 × 4,278,124,286 groups; root constants of "
      "parameter 0: 0xfefefefe, 0xfefefefe",
      parts["guilty"][0]["text"]);
}

TEST_F(ModernSamplesTest, BundlesAreInFlightAsTheyWere) {
  const std::string why = WhyItDoesNotRun("sample-bundles-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  ExpectTheSamePicture("sample-bundles-d3d12", 12);  // a picture and results of each of six frames
}

TEST_F(ModernSamplesTest, BundleWithoutTheViewThatItInheritsIsNamed) {
  const std::string why = WhyItDoesNotRun("sample-bundles-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  CaptureFault("sample-bundles-d3d12", {"--fault"});
  EXPECT_THAT(Candidates(), ElementsAre("EXECUTE_BUNDLE "));
  const Json culprits = Culprits();
  ASSERT_EQ(1u, culprits.size()) << culprits.dump(2);
  ExpectCall(culprits[0], "ExecuteBundle", "Fill");
}

TEST_F(ModernSamplesTest, TilesAreMappedAsTheyWere) {
  const std::string why = WhyItDoesNotRun("sample-tiled-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  ExpectTheSamePicture("sample-tiled-d3d12", 2);
}

// The tiles were mapped before the recording began, and some are mapped otherwise after that.
TEST_F(ModernSamplesTest, TilesAreMappedAsTheyWereFromALateStart) {
  const std::string why = WhyItDoesNotRun("sample-tiled-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  ExpectTheSamePicture("sample-tiled-d3d12", 1, {}, {"--frames", "1-1"});
}

TEST_F(ModernSamplesTest, StoreIntoTilesOfAReleasedHeapIsNamed) {
  const std::string why = WhyItDoesNotRun("sample-tiled-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  // So does lavapipe, where the memory stays as long as it is mapped.
  if (RunWithLibrary({Program("sample-tiled-d3d12"), "--fault", "released"}).exit_code == 0) {
    GTEST_SKIP() << "this device ignores the fault";
  }
  CaptureFault("sample-tiled-d3d12", {"--fault", "released"});
  EXPECT_THAT(Candidates(), ElementsAre(HasSubstr("DISPATCH ")));
  const Json culprits = Culprits();
  ASSERT_EQ(1u, culprits.size()) << culprits.dump(2);
  ExpectCall(culprits[0], "Dispatch", "Fill the buffer");
}

TEST_F(ModernSamplesTest, ShadingRatesArePlayedWithTheSamePicture) {
  const std::string why = WhyItDoesNotRun("sample-shading-rate-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  ExpectTheSamePicture("sample-shading-rate-d3d12", 1);
}

TEST_F(ModernSamplesTest, SamplerFeedbackIsPlayedWithTheSameMaps) {
  const std::string why = WhyItDoesNotRun("sample-sampler-feedback-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  // The map of lowest levels, the four levels of the other map, and the picture.
  ExpectTheSamePicture("sample-sampler-feedback-d3d12", 6);
}

TEST_F(ModernSamplesTest, RayTracingIsPlayedWithTheSamePicture) {
  const std::string why = WhyItDoesNotRun("sample-raytracing-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  ExpectTheSamePicture("sample-raytracing-d3d12", 2);  // the compacted size, and the picture
  // Instances and shader records are known without playing.
  EXPECT_THAT(
      StateAtLast("BuildRaytracingAccelerationStructure", "a.cairn"),
      AllOf(HasSubstr("\ninstances  4, executed by call "),
            HasSubstr("\n  instance [2], InstanceID 12, InstanceMask 0xff, hit groups from 0, "
                      "bottom level resource ")));
  EXPECT_THAT(
      StateAtLast("DispatchRays", "a.cairn"),
      AllOf(HasSubstr("\nrecords  3, executed by call "),
            HasSubstr("hit group \"Hit\": closest hit \"ClosestHit\"\n"
                      "  ray generation, export \"RayGen\"\n  miss [0], export \"Miss\"\n"
                      "  hit group [0], export \"Hit\"\n  hit group [1], export \"Hit\"\n")));
}

// The structures were built, updated and compacted before the recording began, and their inputs are gone.
TEST_F(ModernSamplesTest, RayTracingIsPlayedFromALateStartWithTheSamePicture) {
  const std::string why = WhyItDoesNotRun("sample-raytracing-d3d12", {"--frames", "3"});
  if (!why.empty()) GTEST_SKIP() << why;
  const CommandResult captured =
      RunWithLibrary({Program("cairn"), "run", "--capture", "--frames", "1-2", "-o", "a.cairn",
                      "--", Program("sample-raytracing-d3d12"), "--frames", "3"});
  EXPECT_EQ(captured.exit_code, 0) << captured.Summary();
  ExpectRestoredStructures("a.cairn");
}

TEST_F(ModernSamplesTest, TrimmedRayTracingIsPlayedWithTheSamePicture) {
  const std::string why = WhyItDoesNotRun("sample-raytracing-d3d12", {"--frames", "3"});
  if (!why.empty()) GTEST_SKIP() << why;
  const CommandResult captured =
      RunWithLibrary({Program("cairn"), "run", "--capture", "-o", "whole.cairn", "--",
                      Program("sample-raytracing-d3d12"), "--frames", "3"});
  EXPECT_EQ(captured.exit_code, 0) << captured.Summary();
  const CommandResult trimmed = RunWithLibrary({Program("cairn"), "trim", "--library", library_,
                                                "--frames", "1-2", "-o", "a.cairn", "whole.cairn"});
  EXPECT_EQ(trimmed.exit_code, 0) << trimmed.Summary();
  ExpectRestoredStructures("a.cairn");
}

TEST_F(ModernSamplesTest, InstanceThatPointsNowhereIsNamed) {
  const std::string why = WhyItDoesNotRun("sample-raytracing-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  CaptureFault("sample-raytracing-d3d12", {"--fault", "instance"});
  EXPECT_THAT(Candidates(), ElementsAre(HasSubstr("Build the instances")));
  const Json culprits = Culprits();
  ASSERT_EQ(1u, culprits.size()) << culprits.dump(2);
  ExpectCall(culprits[0], "BuildRaytracingAccelerationStructure", "Build the instances");
  const Json parts = culprits[0]["parts"];
  EXPECT_EQ("instance", parts["kind"]);
  EXPECT_EQ(4, parts["count"]);
  EXPECT_EQ(true, parts["complete"]);
  ASSERT_EQ(1u, parts["guilty"].size()) << parts.dump(2);
  EXPECT_EQ(2, parts["guilty"][0]["first"]);
  EXPECT_EQ(2, parts["guilty"][0]["last"]);
  EXPECT_THAT(parts["guilty"][0]["text"].get<std::string>(), HasSubstr("where no buffer is"));
}

// lavapipe runs no shader for the record, and the sample ends.
TEST_F(ModernSamplesTest, HitRecordWhoseIdentifierNobodyWroteIsNamed) {
  const std::string why = WhyItDoesNotRun("sample-raytracing-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  RunWithLibrary({Program("cairn"), "run", "--capture", "-o", "a.cairn", "--hang-timeout", "2",
                  "--kill-on-hang", "--", Program("sample-raytracing-d3d12"), "--fault", "record"});
  EXPECT_THAT(
      StateAtLast("DispatchRays", "a.cairn"),
      HasSubstr("  miss [0], export \"Miss\"\n"
                "  hit group [0], export \"Hit\"\n"
                "  hit group [1], an identifier that GetShaderIdentifier did not return\n"));
}

// No ray would read the address without the structures: the calls that make them are named as well.
TEST_F(ModernSamplesTest, HitRecordWhoseAddressPointsNowhereIsNamed) {
  const std::string why = WhyItDoesNotRun("sample-raytracing-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  CaptureFault("sample-raytracing-d3d12", {"--fault", "address"});
  EXPECT_THAT(Candidates(), ElementsAre("DISPATCH_RAYS "));
  const Json culprits = Culprits();
  ASSERT_LE(2u, culprits.size()) << culprits.dump(2);
  const Json& build = culprits[culprits.size() - 2];
  ExpectCall(build, "BuildRaytracingAccelerationStructure", "Build the instances");
  const Json& rays = culprits[culprits.size() - 1];
  ExpectCall(rays, "DispatchRays", "Trace");
  const Json parts = rays["parts"];
  EXPECT_EQ("record", parts["kind"]);
  EXPECT_EQ(3, parts["count"]);
  EXPECT_EQ(true, parts["complete"]);
  ASSERT_EQ(1u, parts["guilty"].size()) << parts.dump(2);
  EXPECT_EQ(2, parts["guilty"][0]["first"]);
  EXPECT_EQ(2, parts["guilty"][0]["last"]);
  EXPECT_EQ("hit group [1], export \"Hit\"", parts["guilty"][0]["text"]);
  // Instances 1 and 3 use the record; either alone makes the shader run.
  const Json instances = build["parts"]["guilty"];
  EXPECT_EQ(2u, instances.size());
  for (const Json& guilty : instances) {
    EXPECT_THAT(guilty["text"].get<std::string>(), HasSubstr("hit groups from 1"));
  }
}

TEST_F(ModernSamplesTest, MeshIsPlayedWithTheSamePicture) {
  const std::string why = WhyItDoesNotRun("sample-mesh-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  ExpectTheSamePicture("sample-mesh-d3d12", 1);
  ExpectTheSameImage();
}

TEST_F(ModernSamplesTest, MeshShaderThatNeverEndsIsNamed) {
  const std::string why = WhyItDoesNotRun("sample-mesh-d3d12");
  if (!why.empty()) GTEST_SKIP() << why;
  CaptureFault("sample-mesh-d3d12", {"--fault"});
  EXPECT_THAT(Candidates(), ElementsAre("DISPATCH_MESH "));
  const Json culprits = Culprits();
  ASSERT_EQ(1u, culprits.size()) << culprits.dump(2);
  ExpectCall(culprits[0], "DispatchMesh", "Cells");
}

}  // namespace
}  // namespace cairn::testing
