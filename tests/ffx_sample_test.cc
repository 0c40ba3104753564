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

// What the layers know besides: the queue's name, the names that the objects have in their API, which come
// before those of a registration, and the number of the submission.
struct Known {
  std::string queue;
  std::string list = "Sample command list";
  std::string pipeline;
  bool submissions = false;
  int first_list = 1;
};

// One frame, 1 or 2: the draws' types differ, the rest does not.
std::string Tree(bool d3d12, const Known& known, int frame) {
  const std::string pipeline = ", graphics pipeline" + known.pipeline;
  return "<Frame " + std::to_string(frame) + ">\n - [X] Queue type <0>" + known.queue +
         ", submission no. " + std::to_string(known.submissions ? frame : 0) + ", command list " +
         std::to_string(known.first_list + frame - 1) + ": \"" + known.list + "\"\n" +
         R"(    ├─[X] Main Rendering
    │  ├─[X] )" +
         (d3d12 ? "DRAW_INSTANCED" : "DRAW") + " 1" + pipeline + R"( [ VS: PhongVS ]
    │  └─[X] )" +
         (d3d12 ? "DRAW_INDEXED_INSTANCED 1" : "DRAW 2") + ": \"Draw simple triangle\"" + pipeline +
         R"( [ VS: ToonVS ]
    └─[X] CLEAR_RENDER_TARGET 1
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
  Known known;
  if (options == "--quiet") {
    known = {
        .queue = " \"Graphics\"", .pipeline = " \"the pipeline's own name\"", .submissions = true};
    // A list of Direct3D 12 is made open: its first recording is closed without work.
    if (d3d12) known.list = "the list's own name", known.first_list = 2;
  }
  const size_t start = result.output.find("<Frame");
  ASSERT_NE(start, std::string::npos) << result.Summary();
  const std::string printed =
      result.output.substr(start, result.output.find("\n\n", start) - start);
  EXPECT_EQ(printed + "\n", Tree(d3d12, known, 1) + Tree(d3d12, known, 2)) << result.Summary();
}

INSTANTIATE_TEST_SUITE_P(
    All, FfxSampleTest,
    ::testing::Combine(::testing::Values("d3d12", "vulkan"), ::testing::Values("before", "after"),
                       // Without `cairn run`; with it and without layers; with layers.
                       ::testing::Values("", "--no-layer", "--quiet")));

}  // namespace
}  // namespace cairn::testing
