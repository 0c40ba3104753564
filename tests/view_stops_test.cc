// SPDX-License-Identifier: Apache-2.0
//
// Who is let in by cairn view, and that what it has started ends with it, and when it is asked to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
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
  EXPECT_EQ(SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/objects.schema.json"),
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
  EXPECT_EQ(Ask("frame-images?frame=0", true)->status, 409);
  EXPECT_EQ(Ask("images?call=1", true)->body,
            "{\"refused\":\"a search is running: nothing else is played until it ends\"}");
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

#ifdef __linux__
// Every user reads command lines: neither the address that opens the page nor the page's own is in one.
TEST_F(ViewStopsTest, TheBrowserIsStartedWithAFileForThisUserAlone) {
  const std::string browser = folder_ / "xdg-open";
  std::ofstream(browser)
      << "#!/bin/sh\n"
         "{ echo $#; stat -c %a \"$1\" \"${1%/*}\"; cat \"$1\"; } > started.part\n"
         "mv started.part started\n";
  std::filesystem::permissions(browser, std::filesystem::perms::owner_all);
  std::filesystem::copy_file(Traces::Path("fault.cairn"), folder_ / "fault.cairn");
  Command::Options options = Options();
  options.environment.push_back("TMPDIR=" + (folder_ / "tmp"));
  options.environment.push_back("PATH=" + std::string(folder_.path()) + ":/usr/bin:/bin");
  view_.emplace(Arguments({"view", "fault.cairn"}), options);
  ASSERT_TRUE(WaitUntil([&] { return std::filesystem::exists(folder_ / "started"); }));
  std::ifstream told(folder_ / "started");
  const std::string text(std::istreambuf_iterator<char>(told), {});
  EXPECT_THAT(text, StartsWith("1\n600\n700\n<!doctype html>"));
  const size_t start = text.find("url=") + 4;
  const std::string address = text.substr(start, text.find('"', start) - start);
  EXPECT_THAT(view_->output(), ::testing::Not(HasSubstr(address)));
  UseAddress(address);
  const httplib::Result page = Ask("");
  ASSERT_TRUE(page);
  EXPECT_THAT(page->body, StartsWith("<!doctype html>"));
  // Both are good once.
  const std::string own = path_;
  EXPECT_EQ(Client().Get(address.substr(7 + host_.size()))->status, 403);
  UseAddress(view_->output());
  EXPECT_EQ(path_, own);
  PressAndExpectNothingLeft();
}
#endif

TEST_F(ViewStopsTest, ANameIsNoOption) {
  Serve("fault.cairn", "--help");
  const httplib::Result images = Ask("images?call=1", true);
  ASSERT_TRUE(images);
  EXPECT_THAT(images->body, ::testing::Not(HasSubstr("Usage")));
  EXPECT_EQ(images->status, 200);
  EXPECT_THAT(images->body, AllOf(HasSubstr("refused"), HasSubstr("call 1")));
}

}  // namespace
}  // namespace cairn::testing
