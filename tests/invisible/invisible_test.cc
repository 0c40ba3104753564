// SPDX-License-Identifier: Apache-2.0
//
// A program cannot tell that the layer is there: whatever observe sees without it, it sees with it, in
// every mode, with annotations forced to the driver, and with the layer checking itself.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

const std::string kObserve = CAIRN_BINARY_DIR "/tests/programs/observe";
const std::string kLayer = CAIRN_BINARY_DIR "/lib/libcairn-d3d12.so";

struct Variant {
  const char* name;
  std::vector<std::string> environment;
  bool forced = false;
};

class Invisible : public ::testing::TestWithParam<const char*> {
 protected:
  CommandResult Observe(const std::vector<std::string>& environment) {
    Command::Options options;
    options.folder = folder_.path();
    options.environment = environment;
    options.environment.push_back("VKD3D_DEBUG=none");
    options.environment.push_back("XDG_CONFIG_HOME=" + folder_.path().string());
    options.timeout_s = 120;
    return RunCommand({kObserve, GetParam()}, options);
  }

  void ForceAnnotations() {
    Command::Options options;
    options.folder = folder_.path();
    options.environment = {"XDG_CONFIG_HOME=" + folder_.path().string()};
    const CommandResult result = RunCommand(
        {Program("d3dconfig"), "device", "--user", "force-driver-retail-annotations=on"}, options);
    ASSERT_EQ(result.exit_code, 0) << result.Summary();
  }

  TemporaryFolder folder_;
};

// The first lines that differ, with what was expected.
void ExpectSameLines(const std::vector<std::string>& expected,
                     const std::vector<std::string>& actual) {
  int differences = 0;
  for (size_t i = 0; i < std::max(expected.size(), actual.size()) && differences < 10; ++i) {
    const std::string without = i < expected.size() ? expected[i] : "(nothing)";
    const std::string with = i < actual.size() ? actual[i] : "(nothing)";
    if (without == with) continue;
    ++differences;
    ADD_FAILURE() << "line " << i + 1 << "\n  without the layer: " << without
                  << "\n  with the layer:    " << with;
  }
}

TEST_P(Invisible, EveryObservationIsTheSame) {
#if defined(CAIRN_SANITIZED)
  GTEST_SKIP() << "a sanitizer's runtime has to come before a preloaded library";
#endif
  const CommandResult without = Observe({"LD_PRELOAD"});
  ASSERT_EQ(without.exit_code, 0) << without.Summary();
  const std::vector<std::string> expected = Lines(without.output);
  ASSERT_GT(expected.size(), 5u);
  const std::string preload = "LD_PRELOAD=" + kLayer;
  // The Vulkan layer as well, below the implementation of Direct3D.
  const std::string path = "VK_ADD_LAYER_PATH=" CAIRN_BINARY_DIR "/lib";
  const std::string vulkan = "VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs";
  const Variant variants[] = {
      {"top", {preload}},
      {"off", {preload, "CAIRN_BREADCRUMBS=off"}},
      {"full, checking itself", {preload, "CAIRN_BREADCRUMBS=full", "CAIRN_CHECK=1"}},
      {"pass, annotations forced, checking itself",
       {preload, "CAIRN_BREADCRUMBS=pass", "CAIRN_CHECK=1"},
       true},
      {"top, both layers", {preload, path, vulkan}},
      {"off, both layers", {preload, path, vulkan, "CAIRN_BREADCRUMBS=off"}},
      {"full, both layers, checking itself",
       {preload, path, vulkan, "CAIRN_BREADCRUMBS=full", "CAIRN_CHECK=1"}},
      {"exact, both layers", {preload, path, vulkan, "CAIRN_BREADCRUMBS=exact"}},
      {"logging driver", {preload, "CAIRN_DRIVER=logging"}, true},
      {"no driver", {preload, "CAIRN_DRIVER=none"}, true},
  };
  for (const Variant& variant : variants) {
    SCOPED_TRACE(variant.name);
    if (variant.forced) {
      ASSERT_NO_FATAL_FAILURE(ForceAnnotations());
    }
    const CommandResult with = Observe(variant.environment);
    EXPECT_EQ(with.exit_code, 0) << with.Summary();
    ExpectSameLines(expected, Lines(with.output));
  }
}

INSTANTIATE_TEST_SUITE_P(Sections, Invisible,
                         ::testing::Values("device", "children", "private", "arguments", "lists",
                                           "work", "draws", "queues", "threads", "vkd3d"),
                         [](const auto& section) { return std::string(section.param); });

}  // namespace
}  // namespace cairn::testing
