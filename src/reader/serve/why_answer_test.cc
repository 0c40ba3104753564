// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/why_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/json.h"
#include "reader/page/page.h"
#include "reader/page/testing/unpack.h"

namespace cairn {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class WhyAnswerTest : public ::testing::Test {
 protected:
  ~WhyAnswerTest() override { std::filesystem::remove(path_); }
  Result<std::string> Read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return ReadWhyAnswer(path_.string());
  }

  const std::filesystem::path path_ =
      std::filesystem::path(::testing::TempDir()) / "cairn_why_answer.json";
};

TEST_F(WhyAnswerTest, IsReadAsItIs) {
  const std::string text = R"({"format": "cairn-why", "version": 1, "program": "./fog"})";
  const Result<std::string> answer = Read(text + "\n");
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(*answer, text + "\n");
}

TEST_F(WhyAnswerTest, OtherFilesAreRefused) {
  const auto refused = [this](const std::string& text) {
    const Result<std::string> answer = Read(text);
    EXPECT_FALSE(answer.ok());
    if (answer.ok()) return std::string();
    EXPECT_EQ(answer.status().code(), StatusCode::kUnsupported);
    EXPECT_THAT(answer.status().message(), EndsWith("; cairn why --json prints such an answer"));
    return answer.status().message();
  };
  for (const char* text : {"", "CAIRN", "[]", "{\"format\": 3, \"version\": 1}",
                           "{\"format\": \"cairn-bisect\", \"version\": 1}",
                           "{\"format\": \"cairn-why\", \"version\": 1"}) {
    EXPECT_THAT(refused(text), HasSubstr("' is no answer of cairn why; ")) << text;
  }
  EXPECT_THAT(refused(R"({"format": "cairn-why", "version": 2})"),
              HasSubstr("' has a version that is not known; "));
  refused(std::string(1 << 20, '['));
  EXPECT_THAT(refused(std::string((16 << 20) + 1, ' ')), HasSubstr(" is larger than any answer "));
  std::filesystem::remove(path_);
  EXPECT_THAT(ReadWhyAnswer(path_.string()).status().message(), HasSubstr("cannot be opened"));
}

TEST_F(WhyAnswerTest, ItsPageHoldsItAsAText) {
  if (!HasPage()) GTEST_SKIP() << "built without the viewer";
  const std::string why = R"({"format": "cairn-why", "version": 1, "program": "</script>"})";
  const Result<std::string> page = PageOfWhyAnswer(why, false);
  ASSERT_TRUE(page.ok()) << page.status().message();
  constexpr std::string_view kBefore = "id=\"data\">";
  const size_t begin = page->find(kBefore) + kBefore.size();
  const Json data =
      Json::Parse(Unpacked(std::string_view(*page).substr(begin, page->find('<', begin) - begin)));
  EXPECT_EQ(why, data["why"].get<std::string>());
  EXPECT_EQ("</script>", data["file"]);
  EXPECT_TRUE(data["report"].is_null());
}

}  // namespace
}  // namespace cairn
