// SPDX-License-Identifier: Apache-2.0
//
// FidelityFX Breadcrumbs' published sample, recompiled: the tree that it prints is the same whether its
// lists are registered before or after they are opened, with the layers of `cairn run` and without, with
// both APIs.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "harness.h"

namespace cairn::testing {
namespace {

// API, order, options of `cairn run` ("" for no `cairn run` at all).
using Case = std::tuple<std::string, std::string, std::string>;

class FfxSampleTest : public ::testing::TestWithParam<Case> {};

// One frame, 0 or 1, as the original prints it: the draws' types differ, the rest does not.
std::string Tree(bool d3d12, int frame) {
  const std::string first = ", graphics pipeline [ VS: PhongVS ]";
  return "<Frame " + std::to_string(frame) +
         ">\n - [X] Queue type <0>, submission no. 0, command list 1: \"Sample command list\"\n" +
         "    ├─[X] Main Rendering" + first + "\n    │  ├─[X] " +
         (d3d12 ? "DRAW_INSTANCED" : "DRAW 1") + first + "\n    │  └─[X] " +
         (d3d12 ? "DRAW_INDEXED_INSTANCED" : "DRAW 2") +
         R"(: "Draw simple triangle", graphics pipeline [ VS: ToonVS ]
    └─[X] CLEAR_RENDER_TARGET
)";
}

TEST_P(FfxSampleTest, PrintsTheTree) {
  const auto& [api, order, options] = GetParam();
  const bool d3d12 = api == "d3d12";
  std::vector<std::string> command = {CAIRN_BINARY_DIR "/tests/programs/ffx_sample_" + api, order};
  if (!options.empty()) {
    command.insert(command.begin(), {Program("cairn"), "run", "-o", "a.cairn", options, "--"});
  }
  const TemporaryFolder folder;
  const CommandResult result =
      RunCommand(command, {.folder = folder.path(), .environment = LavapipeEnvironment()});
  ASSERT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.output, "[BREADCRUMBS]\n" + Tree(d3d12, 0) + Tree(d3d12, 1)) << result.Summary();
}

// The queue is in annotation mode RUNTIME_ONLY; `cairn run` keeps the data of its events unless
// told not to.
TEST(QueueMarkersUnderCairnRun, AreInTheReport) {
  for (const bool kept : {true, false}) {
    const TemporaryFolder folder;
    std::vector<std::string> command = {Program("cairn"), "run", "-o", "a.cairn", "--dump-on-exit"};
    if (!kept) command.insert(command.end(), {"--events", "retail"});
    command.insert(command.end(),
                   {"--", CAIRN_BINARY_DIR "/tests/programs/ffx_sample_d3d12", "before", "stay"});
    const CommandResult result =
        RunCommand(command, {.folder = folder.path(), .environment = LavapipeEnvironment()});
    ASSERT_EQ(result.exit_code, 0) << result.Summary();
    const std::string report =
        RunCommand({Program("cairn"), "report", "--all", "a.cairn"}, {.folder = folder.path()})
            .output;
    const size_t start = report.find("Markers of queues\n");
    ASSERT_EQ(start != std::string::npos, kept) << report;
    if (!kept) continue;
    EXPECT_EQ(report.substr(start, report.find("\n\n", start) - start),
              "Markers of queues\n"
              " - queue 0 \"Graphics\" (direct)\n"
              "    event \"Execution\", before submission 1\n"
              "      marker \"Executed\", before submission 2\n"
              "    event \"Execution\", before submission 2\n"
              "      marker \"Executed\", before submission 3");
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, FfxSampleTest,
    ::testing::Combine(::testing::Values("d3d12", "vulkan"), ::testing::Values("before", "after"),
                       // Without `cairn run`; with it and without layers; with layers.
                       ::testing::Values("", "--no-layer", "--quiet")));

}  // namespace
}  // namespace cairn::testing
