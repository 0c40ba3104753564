// SPDX-License-Identifier: Apache-2.0
//
// `cairn run -- SAMPLE` for every sample, on both APIs: the report names the work that each sample
// lets hang, fault or be killed. First with what the samples tell by libcairn alone, then with the
// layers, where they tell something and where they do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#if !defined(_WIN32)
#include <signal.h>
#endif

#include <regex>
#include <string>

#include "harness.h"
#include "played.h"
#include "reader/report/work_states.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// On lavapipe the shader that faults runs in a thread of the program, so that it is the program that dies.
#if defined(_WIN32)
constexpr bool kIsWindows = true;
constexpr char kEnding[] = ".exe";
// Under Wine a fault in a thread that the driver has made itself is no exception of Windows: an end with 1.
const ReportedIncident kKilled = {"signal", int64_t{1} << 32 | 1, "", ""};
const ReportedIncident kFaulted = kKilled;
constexpr int kExitOfFaulted = 1;
#else
constexpr bool kIsWindows = false;
constexpr char kEnding[] = "";
const ReportedIncident kKilled = {"signal", SIGKILL, "", ""};
const ReportedIncident kFaulted = {"signal", SIGSEGV, "",
                                   "the report shows the state at that moment"};
constexpr int kExitOfFaulted = 128 + SIGSEGV;
#endif

// The number of earlier lists depends on the API, and on the device's speed.
std::string WithoutNumbers(const std::string& tree) {
  static const std::regex numbers("submission [0-9]+, command (list|buffer) [0-9]+");
  return std::regex_replace(tree, numbers, "submission N, command $1 N");
}

class SamplesTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }

  CommandResult Run(const std::string& sample, std::vector<std::string> options = {}) {
    options.push_back("--no-layer");
    return RunSample(sample, options);
  }

  CommandResult RunSample(const std::string& sample, std::vector<std::string> options) {
    options.insert(options.begin(), {Program("cairn"), "run", "-o", "a.cairn"});
    options.insert(options.end(), {"--", Program("sample-" + sample + "-" + GetParam())});
    // The amount of work is measured while the machine may be busy; the test does not wait for its
    // end.
    if (sample == "hang") options.insert(options.end(), {"--seconds", "60"});
    CommandResult result =
        RunCommand(options, {.folder = folder_.path(), .environment = LavapipeEnvironment()});
    EXPECT_FALSE(result.timed_out);
    EXPECT_THAT(result.left_behind, IsEmpty());
    KeepReport(sample);
    return result;
  }

  // Beside those of ./demo, for whoever wants to look at them after the tests.
  void KeepReport(const std::string& sample) {
    const std::filesystem::path kept = std::filesystem::path(CAIRN_BINARY_DIR) / "out";
    std::error_code none;
    std::filesystem::create_directories(kept, none);
    std::filesystem::copy_file(folder_ / "a.cairn", kept / (sample + "-" + GetParam() + ".cairn"),
                               std::filesystem::copy_options::overwrite_existing, none);
  }

  // Returns the tree of the last frame, without the line that numbers it: the Direct3D samples
  // measure the device's speed in an earlier frame.
  std::string LastFrame() {
    const std::string tree = ReportTree(folder_ / "a.cairn", true);
    const size_t start = tree.rfind("<Frame");
    if (start == std::string::npos) return tree;
    return WithoutNumbers(tree.substr(tree.find('\n', start) + 1));
  }
  // Returns what is said of Direct3D 12 in the words of this program's API.
  static std::string InWords(std::string text) {
    if (!GetParam().starts_with("vulkan")) return text;
    for (const auto& [word, of_vulkan] :
         {std::pair("(direct)", "(graphics)"), std::pair("command list", "command buffer")}) {
      for (size_t at; (at = text.find(word)) != std::string::npos;)
        text.replace(at, std::string(word).size(), of_vulkan);
    }
    return text;
  }
  // Returns true if the words are copies and the fault comes before the next copy: for Direct3D 12
  // on Windows without a layer of Vulkan below it. The report then names this, and proves nothing.
  bool WordsAreOld() {
    if (!kIsWindows || !GetParam().starts_with("d3d12")) return false;
    const std::string report = Report();
    EXPECT_THAT(report, HasSubstr("copies, up to 500 µs old"));
    EXPECT_THAT(
        report,
        Not(HasSubstr("it began and did not end; no other command with a marker was in flight")));
    EXPECT_THAT(report, Not(HasSubstr("nothing on the GPU")));
    return true;
  }
  std::string Report() {
    return RunCommand({Program("cairn"), "report", "--width", "0", "a.cairn"},
                      {.folder = folder_.path(), .environment = LavapipeEnvironment()})
        .output;
  }
  std::vector<std::string> Candidates() { return ReadReportedWork(folder_ / "a.cairn").candidates; }

  TemporaryFolder folder_;
};

TEST_P(SamplesTest, TriangleEndsWellAndLeavesNoReport) {
  const CommandResult result = Run("triangle");
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(folder_.Contents(), ElementsAre("triangle.png"));
  EXPECT_EQ(ReadFile(folder_ / "triangle.png").substr(1, 3), "PNG");
}

TEST_P(SamplesTest, TriangleReportedOnRequestIsFinished) {
  const CommandResult result = Run("triangle", {"--dump-on-exit"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(Candidates(), IsEmpty());
  const bool vulkan = GetParam() == "vulkan";
  EXPECT_EQ(
      LastFrame(),
      InWords(vulkan ? R"( - [X] queue 0 "Graphics" (direct), submission N, command list N "Main"
    └─[X] Frame
       ├─[X] Triangle
       │  └─[X] DRAW #1, graphics pipeline "Triangle" [ VS: TriangleVS | PS: TrianglePS ]
       └─[X] COPY_IMAGE_TO_BUFFER #1: "Picture to CPU"
)"
                     : R"( - [X] queue 0 "Graphics" (direct), submission N, command list N "Main"
    └─[X] Frame
       ├─[X] Triangle
       │  ├─[X] CLEAR_RENDER_TARGET #1
       │  └─[X] DRAW_INSTANCED #1, graphics pipeline "Triangle" [ VS: TriangleVS | PS: TrianglePS ]
       └─[X] COPY_TEXTURE_REGION #1: "Picture to CPU"
)"));
}

TEST_P(SamplesTest, PassesEndsWellAndLeavesAReportOnlyOnRequest) {
  CommandResult result = Run("passes");
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, HasSubstr("256 draws and 150 dispatches on "));
  EXPECT_THAT(result.output, HasSubstr(" are done and correct"));
  EXPECT_THAT(folder_.Contents(), IsEmpty());

  result = Run("passes", {"--dump-on-exit"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(ReportedIncidents(folder_ / "a.cairn"),
              ElementsAre(ReportedIncident{"exited", 0, "", ""}));
  const ReportedWork work = ReadReportedWork(folder_ / "a.cairn");
  EXPECT_TRUE(work.valid);
  EXPECT_THAT(work.candidates, IsEmpty());
  EXPECT_THAT(work.scope_states, Each(kCompletedWord));
  // Vulkan's lavapipe has one queue; libvkd3d offers two kinds of them on top of it. Direct3D clears
  // by a command of its own.
  EXPECT_EQ(WithoutNumbers(ReportTree(folder_ / "a.cairn")),
            InWords(GetParam() == "vulkan" ? R"(<Frame 1>
 - [X] queue 0 "Graphics" (direct), submission N, command list N "Culling" (51 scopes)
 - [X] queue 0 "Graphics" (direct), submission N, command list N "Scene" (261 scopes)
 - [X] queue 0 "Graphics" (direct), submission N, command list N "Particles" (101 scopes)
)"
                                           : R"(<Frame 1>
 - [X] queue 0 "Graphics" (direct), submission N, command list N "Culling" (51 scopes)
 - [X] queue 0 "Graphics" (direct), submission N, command list N "Scene" (262 scopes)
 - [X] queue 1 "Async compute" (compute), submission N, command list N "Particles" (101 scopes)
)"));
  EXPECT_THAT(work.losses, IsEmpty());
}

TEST_P(SamplesTest, HangNamesTheDispatchThatOutlastsTheWatchdog) {
  const CommandResult result = Run("hang", {"--hang-timeout", "2", "--kill-on-hang"});
  EXPECT_EQ(result.exit_code, 124) << result.Summary();
  EXPECT_EQ(result.Lines(), "cairn: sample-hang-" + GetParam() + kEnding +
                                " hangs: GPU work made no progress for 2 s; killed it; report: "
                                "cairn report a.cairn\n");
  EXPECT_THAT(ReportedIncidents(folder_ / "a.cairn"),
              ElementsAre(ReportedIncident{"hang", 2000, "Graphics", "--kill-on-hang"}));
  EXPECT_THAT(Candidates(), ElementsAre("DISPATCH Integrate"));
  EXPECT_EQ(LastFrame(),
            InWords(R"( - [>] queue 0 "Graphics" (direct), submission N, command list N "Main"
    └─[>] Frame
       ├─[X] Prepare
       │  ├─[X] DISPATCH #1: "Clear", compute pipeline "Fill" [ CS: FillCS ]
       │  └─[X] DISPATCH #2: "Upload", compute pipeline "Fill" [ CS: FillCS ]
       ├─[>] Simulate
       │  ├─[X] DISPATCH #1: "Forces", compute pipeline "Fill" [ CS: FillCS ]
       │  ├─[X] DISPATCH #2: "Collisions", compute pipeline "Fill" [ CS: FillCS ]
       │  └─[>] DISPATCH #3: "Integrate", compute pipeline "Integrate" [ CS: SlowCS ]
       └─[ ] Resolve
          └─[ ] DISPATCH #1: "Resolve", compute pipeline "Fill" [ CS: FillCS ]
)"));
}

TEST_P(SamplesTest, KilledNamesTheDispatchInWhoseMiddleItDied) {
  const CommandResult result = Run("killed");
  EXPECT_EQ(result.exit_code, kExitOfKilled) << result.Summary();
  EXPECT_THAT(ReportedIncidents(folder_ / "a.cairn"), ElementsAre(kKilled));
  EXPECT_THAT(Candidates(), ElementsAre("DISPATCH Global illumination"));
  EXPECT_EQ(LastFrame(),
            InWords(R"( - [X] queue 0 "Graphics" (direct), submission N, command list N "Shadows"
    └─[X] Cascades
       ├─[X] DISPATCH #1, compute pipeline "Fill" [ CS: FillCS ]
       ├─[X] DISPATCH #2, compute pipeline "Fill" [ CS: FillCS ]
       ├─[X] DISPATCH #3, compute pipeline "Fill" [ CS: FillCS ]
       └─[X] DISPATCH #4, compute pipeline "Fill" [ CS: FillCS ]
 - [>] queue 0 "Graphics" (direct), submission N, command list N "Main"
    └─[>] Lighting
       ├─[X] DISPATCH #1: "Tiles", compute pipeline "Fill" [ CS: FillCS ]
       ├─[>] DISPATCH #2: "Global illumination", compute pipeline "Global illumination" [ CS: SlowCS ]
       └─[ ] DISPATCH #3: "Tone mapping", compute pipeline "Fill" [ CS: FillCS ]
)"));
}

TEST_P(SamplesTest, FaultNamesTheDispatchThatStoredToNowhere) {
  const CommandResult result = Run("fault");
  EXPECT_EQ(result.exit_code, kExitOfFaulted) << result.Summary();
  EXPECT_THAT(ReportedIncidents(folder_ / "a.cairn"), ElementsAre(kFaulted));
  if (WordsAreOld()) return;
  EXPECT_THAT(Candidates(), ElementsAre("DISPATCH Scatter to nowhere"));
  EXPECT_EQ(LastFrame(),
            InWords(R"( - [>] queue 0 "Graphics" (direct), submission N, command list N "Main"
    └─[>] Frame
       ├─[X] Prepare
       │  └─[X] DISPATCH #1: "Clear", compute pipeline "Fill" [ CS: FillCS ]
       ├─[>] Particles
       │  ├─[X] DISPATCH #1: "Scatter to a buffer", compute pipeline "Scatter" [ CS: ScatterCS ]
       │  └─[>] DISPATCH #2: "Scatter to nowhere", compute pipeline "Scatter" [ CS: ScatterCS ]
       └─[ ] Resolve
          └─[ ] DISPATCH #1: "Resolve", compute pipeline "Fill" [ CS: FillCS ]
)"));
}

INSTANTIATE_TEST_SUITE_P(Apis, SamplesTest, ::testing::Values("vulkan", "d3d12"),
                         [](const auto& test) { return test.param; });

#if !defined(CAIRN_SANITIZED)

// The parameter is the sample's ending: with what it tells itself, and without.
class SamplesUnderTheLayerTest : public SamplesTest {
 protected:
  CommandResult Run(const std::string& sample, std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--breadcrumbs", "full"});
    return RunSample(sample, options);
  }
  // The lines before what the work uses.
  std::string Answer() {
    const std::string report = Report();
    return report.substr(0, report.find("\n\n"));
  }
  static bool IsPlain() { return GetParam().ends_with("-plain"); }
  static bool IsVulkan() { return GetParam().starts_with("vulkan"); }
};

TEST_P(SamplesUnderTheLayerTest, TriangleEndsWell) {
  const CommandResult result = Run("triangle", {"--dump-on-exit", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(Candidates(), IsEmpty());
  const std::string frame = LastFrame();
  EXPECT_THAT(frame,
              HasSubstr(IsVulkan() ? "[X] DRAW #1 (3 vertices, 1 instance), graphics pipeline "
                                     "\"Triangle\""
                                   : "[X] DRAW_INSTANCED #1 (3 vertices, 1 instance), graphics "
                                     "pipeline \"Triangle\""));
  if (IsVulkan()) {
    EXPECT_THAT(frame, HasSubstr("[X] PIPELINE_BARRIER #1"));
    EXPECT_THAT(frame, HasSubstr("[X] COPY_IMAGE_TO_BUFFER #1"));
    return;
  }
  EXPECT_THAT(frame, HasSubstr("[X] CLEAR_RENDER_TARGET #1"));
  EXPECT_THAT(frame, HasSubstr("[X] RESOURCE_BARRIER #1"));
  EXPECT_THAT(frame, HasSubstr("[X] COPY_TEXTURE_REGION #1"));
}

TEST_P(SamplesUnderTheLayerTest, PassesEndsWell) {
  const CommandResult result = Run("passes", {"--dump-on-exit", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.errors, "");
  const ReportedWork work = ReadReportedWork(folder_ / "a.cairn");
  EXPECT_TRUE(work.valid);
  EXPECT_THAT(work.candidates, IsEmpty());
  EXPECT_THAT(work.scope_states, Each(kCompletedWord));
  EXPECT_THAT(work.losses, IsEmpty());
  EXPECT_EQ(work.executions.size(), 3u);
}

TEST_P(SamplesUnderTheLayerTest, HangNamesTheDispatchThatOutlastsTheWatchdog) {
  const CommandResult result = Run("hang", {"--hang-timeout", "2", "--kill-on-hang"});
  EXPECT_EQ(result.exit_code, 124) << result.Summary();
  EXPECT_THAT(Candidates(), ElementsAre(IsPlain() ? "DISPATCH " : "DISPATCH Integrate"));
  EXPECT_THAT(
      Answer(),
      ContainsRegex(IsPlain() ? "^GPU hang.* in DISPATCH #1 \\(.+, 1, 1\\) +proven\n  where "
                                "    Frame > Simulate > Integrate · command .+ "
                                "\"Main\" · "
                              : "^GPU hang.* in DISPATCH #3 \\(.+, 1, 1\\): \"Integrate\" "
                                "+proven\n  where     Frame > Simulate · command "
                                ".+ \"Main\" · "));
}

TEST_P(SamplesUnderTheLayerTest, KilledNamesTheDispatchInWhoseMiddleItDied) {
  const CommandResult result = Run("killed");
  EXPECT_EQ(result.exit_code, kExitOfKilled) << result.Summary();
  EXPECT_THAT(Candidates(), ElementsAre(IsPlain() ? "DISPATCH " : "DISPATCH Global illumination"));
  EXPECT_THAT(Answer(),
              ContainsRegex(IsPlain() ? "\n  running   DISPATCH #1 \\(.+, 1, 1\\).*\n  where     "
                                        "Lighting > Global illumination · command .+ "
                                        "\"Main\" · "
                                      : "\n  running   DISPATCH #2 \\(.+, 1, 1\\): \"Global "
                                        "illumination\".*\n  where     Lighting · command .+ "
                                        "\"Main\" · "));
}

TEST_P(SamplesUnderTheLayerTest, FaultNamesTheDispatchThatStoredToNowhere) {
  const CommandResult result = Run("fault");
  EXPECT_EQ(result.exit_code, kExitOfFaulted) << result.Summary();
  if (WordsAreOld()) return;
  EXPECT_THAT(Candidates(), ElementsAre(IsPlain() ? "DISPATCH " : "DISPATCH Scatter to nowhere"));
  EXPECT_THAT(
      Answer(),
      HasSubstr(IsPlain()
                    ? "\n  running   DISPATCH #1 (1, 1, 1)\n  where     Frame > Particles > "
                      "Scatter to nowhere · "
                    : "\n  running   DISPATCH #2 (1, 1, 1): \"Scatter to nowhere\"\n  where   "
                      "  Frame > Particles · "));
}

INSTANTIATE_TEST_SUITE_P(Tellings, SamplesUnderTheLayerTest,
                         ::testing::Values("d3d12", "d3d12-plain", "vulkan", "vulkan-plain"),
                         [](const auto& test) {
                           const std::string api =
                               test.param.starts_with("vulkan") ? "Vulkan" : "D3D12";
                           return api + (test.param.ends_with("-plain") ? "Plain" : "Explicit");
                         });

#endif  // CAIRN_SANITIZED

}  // namespace
}  // namespace cairn::testing
