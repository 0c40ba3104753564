// SPDX-License-Identifier: Apache-2.0
//
// The override ForceDriverRetailAnnotations: the command that sets it, and the devices that obey it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "annotations_device.h"
#include "harness.h"

namespace cairn::annotations_test {
namespace {

using cairn::testing::CommandResult;
using cairn::testing::Program;
using cairn::testing::RunCommand;
using cairn::testing::TemporaryFolder;
using ::testing::HasSubstr;

const Environment environment("logging");

class Annotations : public ::testing::Test {
 protected:
  Annotations() {
    setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
    setenv("CAIRN_SYSTEM_CONFIG_DIR", (folder_ / "system").c_str(), 1);
  }

  CommandResult D3DConfig(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("d3dconfig"));
    cairn::testing::Command::Options options;
    options.folder = folder_.path();
    options.environment = {"XDG_CONFIG_HOME=" + folder_.path().string(),
                           "CAIRN_SYSTEM_CONFIG_DIR=" + folder_.path().string() + "/system"};
    return RunCommand(arguments, options);
  }
  void Force(const std::string& word) {
    const CommandResult result =
        D3DConfig({"device", "--user", "force-driver-retail-annotations=" + word});
    EXPECT_EQ(0, result.exit_code) << result.Summary();
  }

  TemporaryFolder folder_;
};

TEST_F(Annotations, D1_TheOverrideIsReadWhenTheDeviceIsCreated) {
  Force("on");
  const auto forced = CreateWrappedDevice();
  EXPECT_EQ(kDriverRetail, ToolsOf(forced)->GetUserDefinedAnnotationMode());
  RecordedCalls calls;
  CreateQueue(forced)->SetMarker(1, "a", 1);
  EXPECT_EQ(1u, calls.Take().size());
  Force("off");
  EXPECT_EQ(kRuntimeOnly, ToolsOf(CreateWrappedDevice())->GetUserDefinedAnnotationMode());
}

TEST_F(Annotations, D2_WhileForcedSetIsAcceptedAndChangesNothing) {
  Force("on");
  const auto device = CreateWrappedDevice();
  const auto tools = ToolsOf(device);
  for (const auto mode : {kRuntimeOnly, kDriverRetail, kRuntimeOnly}) {
    EXPECT_EQ(S_OK, tools->SetUserDefinedAnnotationMode(mode));
    EXPECT_EQ(kDriverRetail, tools->GetUserDefinedAnnotationMode());
  }
  // An invalid mode is still one.
  uint32_t told = 0;
  cairnSetMessageCallback([](uint32_t id, void*, const char*,
                             void* user_data) { *static_cast<uint32_t*>(user_data) = id; },
                          &told);
  EXPECT_EQ(E_INVALIDARG, tools->SetUserDefinedAnnotationMode(
                              static_cast<D3D12_USER_DEFINED_ANNOTATION_MODE>(2)));
  cairnSetMessageCallback(nullptr, nullptr);
  EXPECT_EQ(1465u, told);
  EXPECT_EQ(kDriverRetail, tools->GetUserDefinedAnnotationMode());
  RecordedCalls calls;
  CreateQueue(device)->SetMarker(1, "a", 1);
  EXPECT_EQ(1u, calls.Take().size());
}

TEST_F(Annotations, D2_NothingForcesRuntimeOnly) {
  Force("off");
  const auto device = CreateWrappedDevice();
  SetMode(device, kDriverRetail);
  EXPECT_EQ(kDriverRetail, ToolsOf(device)->GetUserDefinedAnnotationMode());
}

TEST_F(Annotations, D3_DevicesKeepWhatTheyWereCreatedWith) {
  const auto before = CreateWrappedDevice();
  Force("on");
  EXPECT_EQ(kRuntimeOnly, ToolsOf(before)->GetUserDefinedAnnotationMode());
  const auto forced = CreateWrappedDevice();
  Force("off");
  EXPECT_EQ(kDriverRetail, ToolsOf(forced)->GetUserDefinedAnnotationMode());
  EXPECT_EQ(S_OK, ToolsOf(forced)->SetUserDefinedAnnotationMode(kRuntimeOnly));
  EXPECT_EQ(kDriverRetail, ToolsOf(forced)->GetUserDefinedAnnotationMode());
  SetMode(before, kDriverRetail);
  SetMode(before, kRuntimeOnly);
  EXPECT_EQ(kRuntimeOnly, ToolsOf(before)->GetUserDefinedAnnotationMode());
}

TEST_F(Annotations, D4_TheCommandSetsShowsAndTakesBack) {
  const auto shown = [this] { return D3DConfig({"device"}).output; };
  const auto line = [](const char* state) {
    return std::string("force-driver-retail-annotations=") + state;
  };
  EXPECT_THAT(shown(), HasSubstr(line("off")));
  for (const char* word : {"on", "true"}) {
    Force(word);
    EXPECT_THAT(shown(), HasSubstr(line("on"))) << word;
    Force(word[0] == 'o' ? "off" : "false");
    EXPECT_THAT(shown(), HasSubstr(line("off"))) << word;
  }
}

TEST_F(Annotations, D4_UnknownSettingsAndValuesAreErrorsAndChangeNothing) {
  Force("on");
  const std::string before = D3DConfig({"device"}).output;
  for (const char* argument :
       {"force-driver-retail-annotations=maybe", "force-driver-retail-annotations=",
        "force-driver-retail-annotation=on", "no-such-setting=on", "="}) {
    const CommandResult result = D3DConfig({"device", "--user", argument});
    EXPECT_NE(0, result.exit_code) << argument;
    EXPECT_NE("", result.errors) << argument;
  }
  // A valid setting beside a wrong one changes nothing either.
  EXPECT_NE(0, D3DConfig({"device", "--user", "force-driver-retail-annotations=off", "nonsense=1"})
                   .exit_code);
  EXPECT_EQ(before, D3DConfig({"device"}).output);
}

}  // namespace
}  // namespace cairn::annotations_test
