// SPDX-License-Identifier: Apache-2.0
//
// `cairn why` and the experiment "robust": on the driver of tests/icd, where the program says which features make its
// access harmless.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "why_fixture.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json ResultNamed(const Json& answer, const std::string& name) {
  for (const Json& result : answer["experiments"]) {
    if (result["name"] == name) return result;
  }
  ADD_FAILURE() << name << " was not asked: " << answer.dump(2);
  return Json();
}

class WhyRobustTest : public SearchOfCausesTest {
 protected:
  Json WhyScenario(const std::string& scenario, const std::string& settings, int exit_code) {
    const std::string driver = CAIRN_BINARY_DIR "/tests/icd/cairn_icd.json";
    environment_ = {"VK_ICD_FILENAMES=" + driver, "VK_DRIVER_FILES=" + driver,
                    "CAIRN_ICD=" + settings};
    return Why({"--runs", "2", "--hang-timeout", "2"},
               {CAIRN_BINARY_DIR "/tests/icd/icd_program", scenario}, exit_code);
  }
};

TEST_F(WhyRobustTest, AccessesThatFeaturesOfTheDeviceMakeHarmless) {
  for (const char* scenario : {"beyond-vertices", "outside-of-image", "null-descriptor"}) {
    const Json answer = WhyScenario(scenario, "", 0);
    EXPECT_EQ("device lost", answer["failure"]) << answer.dump(2);
    ASSERT_THAT(Causes(answer), ElementsAre("robust")) << answer.dump(2);
    const Json robust = ResultNamed(answer, "robust");
    EXPECT_EQ("likely", robust["verdict"]);
    EXPECT_EQ(0, robust["with"]["failed"]);
    EXPECT_EQ(3, robust["with"]["runs"]);
    EXPECT_EQ(1, robust["without"]["failed"]);
    EXPECT_EQ(5, robust["changes"]);
    EXPECT_EQ(5u, robust["features"]["enabled"].size());
    EXPECT_EQ("fails", ResultNamed(answer, "barrier-before")["verdict"]);
    EXPECT_THAT(answer["answer"]["causes"][0]["behind"].dump(),
                HasSubstr("Enabled: robustBufferAccess, robustBufferAccess2, robustImageAccess, "
                          "robustImageAccess2, nullDescriptor."));
  }
}

TEST_F(WhyRobustTest, ADriverWithoutTheExtensionHasNoNullDescriptors) {
  const Json answer = WhyScenario("null-descriptor", "no-VK_EXT_robustness2", 1);
  const Json robust = ResultNamed(answer, "robust");
  EXPECT_EQ("fails", robust["verdict"]) << answer.dump(2);
  EXPECT_EQ(Json::Parse(R"(["robustBufferAccess", "robustImageAccess"])"),
            robust["features"]["enabled"]);
  EXPECT_EQ(Json::Parse(R"(["robustBufferAccess2", "robustImageAccess2", "nullDescriptor"])"),
            robust["features"]["missing"]);
}

}  // namespace
}  // namespace cairn::testing
