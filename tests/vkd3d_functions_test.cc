// SPDX-License-Identifier: Apache-2.0
//
// What versions of libvkd3d export beside Direct3D 12: functions that the layer knows, and some that it
// cannot know. With a folder in CAIRN_TEST_LIBVKD3D where a libvkd3d.so.1 of 1.15 or newer is, that one is
// used as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kProgram = CAIRN_BINARY_DIR "/tests/programs/vkd3d_functions";

std::string WithLayer(std::string output) {
  const std::string no = "layer: no";
  const size_t at = output.find(no);
  return at == std::string::npos ? output : output.replace(at, no.size(), "layer: yes");
}

class Vkd3dFunctionsTest : public ::testing::Test {
 protected:
  CommandResult Alone(const std::string& library, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {kProgram, library};
    command.insert(command.end(), more.begin(), more.end());
    return RunCommand(command, {.folder = folder_.path()});
  }
  CommandResult Watched(const std::string& library, const std::vector<std::string>& options,
                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {Program("cairn"), "run"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", kProgram, library});
    command.insert(command.end(), more.begin(), more.end());
    return RunCommand(command, {.folder = folder_.path(), .environment = {"CAIRN_CHECK=1"}});
  }
  // Objects that a library keeps go in and out of its functions.
  void ExpectTheSameObjects(const std::string& library) {
    const CommandResult alone = Alone(library, {"keeps"});
    EXPECT_EQ(alone.output,
              "device 0\nlayer: no\nsignal on the CPU 0: 5\nplaced 0\nthe heap has 0 references\n"
              "placed 0\nits size is 262144\nplaced 0\nreferences left: 0\n")
        << alone.Summary();
    for (const std::vector<std::string>& options : {std::vector<std::string>{},
                                                    {"--breadcrumbs", "off"},
                                                    {"--breadcrumbs", "full"},
                                                    {"--capture"}}) {
      const CommandResult watched = Watched(library, options, {"keeps"});
      EXPECT_EQ(watched.exit_code, 0) << watched.Summary();
      EXPECT_EQ(watched.output, WithLayer(alone.output)) << watched.Summary();
      EXPECT_THAT(watched.errors, HasSubstr("end of the process: all is well"))
          << watched.Summary();
    }
  }

  TemporaryFolder folder_;
};

std::string Ours(const std::string& name) {
  return CAIRN_BINARY_DIR "/tests/programs/" + name;
}

TEST_F(Vkd3dFunctionsTest, ObjectsOfAllKnownFunctionsAreUnwrapped) {
  const std::string library = Ours("libvkd3d-more.so");
  ExpectTheSameObjects(library);
}

TEST_F(Vkd3dFunctionsTest, WithAFunctionThatNobodyKnowsTheLayerStepsAside) {
  const std::string library = Ours("libvkd3d-newer.so");
  const CommandResult alone = Alone(library);
  EXPECT_EQ(alone.output,
            "device 0\nlayer: no\nsignal on the CPU 0: 5\nfrobnicated: 7\nreferences left: 0\n")
      << alone.Summary();
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--capture"}}) {
    const CommandResult watched = Watched(library, options);
    EXPECT_EQ(watched.exit_code, 0) << watched.Summary();
    EXPECT_EQ(watched.output, alone.output) << watched.Summary();
    const std::string said = "does not know vkd3d_frobnicate of libvkd3d-newer.so";
    EXPECT_THAT(watched.errors, HasSubstr(said)) << watched.Summary();
    EXPECT_EQ(watched.errors.find(said), watched.errors.rfind(said)) << "once";
  }
}

TEST_F(Vkd3dFunctionsTest, TheInstalledOneHasNothingUnknown) {
  const CommandResult alone = Alone("libvkd3d.so.1");
  ASSERT_EQ(alone.exit_code, 0) << alone.Summary();
  const CommandResult watched = Watched("libvkd3d.so.1", {});
  EXPECT_EQ(watched.output, WithLayer(alone.output)) << watched.Summary();
  EXPECT_THAT(watched.output, HasSubstr("layer: yes"));
  EXPECT_THAT(watched.errors, Not(HasSubstr("does not know")));
}

TEST_F(Vkd3dFunctionsTest, ANewerOne) {
  const char* const folder = getenv("CAIRN_TEST_LIBVKD3D");
  if (folder == nullptr) GTEST_SKIP() << "CAIRN_TEST_LIBVKD3D names no folder with a libvkd3d.so.1";
  const std::string library = std::string(folder) + "/libvkd3d.so.1";
  ExpectTheSameObjects(library);
}

}  // namespace
}  // namespace cairn::testing
