// SPDX-License-Identifier: Apache-2.0
//
// Who is let in by cairn view, and that what it has started ends with it, and when it is asked to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "view_fixture.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using ViewStopsTest = ViewTest;

TEST_F(ViewStopsTest, AnswersWhoKnowsItsAddressAndNobodyElse) {
  Serve("fault.cairn", "fault.cairn");
  const auto status_of = [this](const std::string& path, const std::string& host) {
    const httplib::Result answer = Client().Get(path, {{"Host", host}});
    return answer ? answer->status : 0;
  };
  const httplib::Result page = Ask("");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(page->body, StartsWith("<!doctype html>"));
  const httplib::Result calls = Ask("calls?first=0&count=1");
  ASSERT_TRUE(calls);
  EXPECT_EQ(Json::Parse(calls->body)["kind"], "call");
  const httplib::Result objects = Ask("objects");
  ASSERT_TRUE(objects);
  EXPECT_EQ(SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/objects.schema.json"),
                            Json::Parse(objects->body)),
            "");
  std::string other = path_;
  other[1] = other[1] == '0' ? '1' : '0';
  EXPECT_EQ(status_of(path_, host_), 200);
  for (const std::string& path : {std::string("/"), std::string("/calls?first=0"), other}) {
    EXPECT_EQ(status_of(path, host_), 403) << path;
  }
  EXPECT_EQ(status_of(path_, "evil.example"), 403);
  // Names of images are no paths, to no system.
  for (const char* const name : {"C:boot.ini", "..%5Cjournal", "../journal", "%2Fetc%2Fpasswd"}) {
    const httplib::Result image = Ask(std::string("image?name=") + name);
    ASSERT_TRUE(image);
    EXPECT_EQ(image->status, 400) << name;
  }
  PressAndExpectNothingLeft();
}

TEST_F(ViewStopsTest, ASearchEndsWhenItIsAskedTo) {
  Serve("fault.cairn", "fault.cairn");
  const httplib::Result begun = Ask("bisect", true);
  ASSERT_TRUE(begun && begun->status == 200);
  EXPECT_EQ(Ask("bisect", true)->status, 409);
  EXPECT_EQ(Ask("images?call=1", true)->status, 409);
  EXPECT_EQ(Ask("stop-bisect", true)->status, 200);
  Json told;
  ASSERT_TRUE(WaitUntil([&] {
    told = Json::Parse(Ask("bisect")->body);
    return !told["running"].get<bool>();
  }));
  EXPECT_EQ(told["answer"].dump(), "null") << "it was over before";
  EXPECT_THAT(told["progress"].get<std::string>(), HasSubstr("was stopped"));
  PressAndExpectNothingLeft();
}

TEST_F(ViewStopsTest, ANameIsNoOption) {
  Serve("fault.cairn", "--help");
  const httplib::Result images = Ask("images?call=1", true);
  ASSERT_TRUE(images);
  EXPECT_THAT(images->body, ::testing::Not(HasSubstr("Usage")));
  EXPECT_EQ(images->status, 500);
  EXPECT_THAT(images->body, HasSubstr("call 1"));
}

}  // namespace
}  // namespace cairn::testing
