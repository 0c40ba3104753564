// SPDX-License-Identifier: Apache-2.0
//
// cairn selftest on a device: what it says for people and for programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class SelftestTest : public ::testing::Test {
 protected:
  CommandResult Selftest(std::vector<std::string> words) {
    words.insert(words.begin(), {Program("cairn"), "selftest"});
    return RunCommand(words, {.folder = folder_.path(), .environment = LavapipeEnvironment()});
  }
  Json JsonOf(std::vector<std::string> words) {
    words.push_back("--json");
    const CommandResult result = Selftest(words);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    const Json json = Json::Parse(result.output);
    EXPECT_EQ(SchemaViolation(
                  Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/selftest.schema.json"), json),
              "")
        << result.output;
    return json;
  }
  static std::set<std::string> ApisOf(const Json& json) {
    std::set<std::string> apis;
    for (const Json& device : json["devices"]) apis.insert(device["api"].get<std::string>());
    return apis;
  }

  TemporaryFolder folder_;
};

TEST_F(SelftestTest, JsonFollowsItsSchemaAndSaysWhatTheTextSays) {
  const Json json = JsonOf({});
  EXPECT_EQ(ApisOf(json), (std::set<std::string>{"d3d12", "vulkan"}));
  EXPECT_EQ(json["vulkan_layer"]["state"], "works");
  EXPECT_TRUE(json["errors"].empty());
  const std::string text = Selftest({}).output;
  EXPECT_THAT(text, StartsWith("Breadcrumbs work on "));
  EXPECT_THAT(text, Not(HasSubstr("witness")));
  for (const Json& device : json["devices"]) {
    EXPECT_EQ(device["works"], true);
    EXPECT_THAT(text, HasSubstr("  libcairn   " + device["method"].get<std::string>() + "; "));
    const bool vulkan = device["api"] == "vulkan";
    // A run of a program has the same there, as its report says.
    EXPECT_EQ(device["in_runs"]["method"],
              vulkan ? "vkCmdFillBuffer" : "vkCmdFillBuffer through the Vulkan layer");
    EXPECT_EQ(device["in_runs"]["memory"], "imported");
    EXPECT_THAT(text, HasSubstr("Breadcrumbs work on " + device["name"].get<std::string>() +
                                " with " + (vulkan ? "Vulkan" : "Direct3D 12") +
                                ": all that the GPU wrote survives the program.\n"));
    EXPECT_THAT(text, HasSubstr("  cairn run  " + device["in_runs"]["method"].get<std::string>() +
                                "; imported: "));
    for (const Json& source : device["sources"]) {
      EXPECT_THAT(text, HasSubstr(source["name"].get<std::string>()));
    }
  }
}

TEST_F(SelftestTest, AnApiAlone) {
  const Json vulkan = JsonOf({"--api", "vulkan"});
  EXPECT_EQ(ApisOf(vulkan), std::set<std::string>{"vulkan"});
  EXPECT_TRUE(vulkan["vulkan_layer"].is_object());
  const Json d3d12 = JsonOf({"--api", "d3d12"});
  EXPECT_EQ(ApisOf(d3d12), std::set<std::string>{"d3d12"});
  EXPECT_TRUE(d3d12["vulkan_layer"].is_null());
}

}  // namespace
}  // namespace cairn::testing
