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

// One frame: the draw's types differ, the rest does not.
std::string Tree(const std::string& first, const std::string& second) {
  return R"( - [X] Queue type <0>LAYER, submission no. 0, command list 1: "Sample command list"
    ├─[X] Main Rendering
    │  ├─[X] )" +
         first + R"( 1, graphics pipeline [ VS: PhongVS ]
    │  └─[X] )" +
         second + R"(: "Draw simple triangle", graphics pipeline [ VS: ToonVS ]
    └─[X] CLEAR_RENDER_TARGET 1
)";
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
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
  const std::string tree =
      Replaced(d3d12 ? Tree("DRAW_INSTANCED", "DRAW_INDEXED_INSTANCED 1") : Tree("DRAW", "DRAW 2"),
               "LAYER", options == "--quiet" ? " \"Graphics\"" : "");
  const size_t start = result.output.find("<Frame");
  ASSERT_NE(start, std::string::npos) << result.Summary();
  const std::string printed =
      result.output.substr(start, result.output.find("\n\n", start) - start);
  EXPECT_EQ(printed + "\n", "<Frame 1>\n" + tree + "<Frame 2>\n" + tree) << result.Summary();
}

INSTANTIATE_TEST_SUITE_P(
    All, FfxSampleTest,
    ::testing::Combine(::testing::Values("d3d12", "vulkan"), ::testing::Values("before", "after"),
                       // Without `cairn run`; with it and without layers; with layers.
                       ::testing::Values("", "--no-layer", "--quiet")));

}  // namespace
}  // namespace cairn::testing
