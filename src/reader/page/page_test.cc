// SPDX-License-Identifier: Apache-2.0
#include "reader/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/testing/json.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "reader/page/testing/unpack.h"
#include "reader/report/json.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Snapshot Sample() {
  TestBlock block;
  FillSampleBlock(&block);
  return std::move(SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000).value());
}

std::string Page(const std::string& file, const Snapshot& snapshot) {
  std::string page;
  const Findings findings = AnalyseDump(snapshot);
  const Status status = WritePage({.file = file, .snapshot = &snapshot, .findings = &findings},
                                  [&page](std::string_view piece) {
                                    page += piece;
                                    return true;
                                  });
  EXPECT_TRUE(status.ok()) << status.message();
  return page;
}

TEST(Page, HoldsTheReportThatTheJsonHas) {
  if (!HasPage()) GTEST_SKIP() << "built without the viewer";
  const Snapshot snapshot = Sample();
  const std::string file = "it's <b>game</b>.cairn";
  const std::string page = Page(file, snapshot);
  constexpr std::string_view kBefore = "id=\"data\">";
  const size_t begin = page.find(kBefore) + kBefore.size();
  const std::string text =
      Unpacked(std::string_view(page).substr(begin, page.find('<', begin) - begin));
  const Json data = Json::Parse(text);
  EXPECT_EQ(data["file"].get<std::string>(), file);
  EXPECT_THAT(
      text, HasSubstr("\"report\":" + JsonReport(snapshot, AnalyseDump(snapshot), {.file = file})));
  EXPECT_THAT(page, Not(HasSubstr("<b>game")));
}

TEST(Page, AsksNobody) {
  if (!HasPage()) GTEST_SKIP() << "built without the viewer";
  const std::string page = Page("game.cairn", Sample());
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; script-src 'sha256-"));
  for (const char* place :
       {"@DATA@", "@SERVER@", "_HASH@", "'unsafe-inline'", "connect-src", " src="}) {
    EXPECT_THAT(page.substr(0, page.find("<script")), Not(HasSubstr(place)));
  }
}

TEST(Page, OfAServerAsksItAlone) {
  if (!HasPage()) GTEST_SKIP() << "built without the viewer";
  std::string page;
  ASSERT_TRUE(WritePage({.has_trace = true, .is_served = true}, [&page](std::string_view piece) {
                page += piece;
                return true;
              }).ok());
  EXPECT_THAT(page, HasSubstr("img-src data:; connect-src 'self'; base-uri 'none'"));
}

TEST(Page, TellsThatNobodyReads) {
  if (!HasPage()) GTEST_SKIP() << "built without the viewer";
  const Status status = WritePage({}, [](std::string_view) { return false; });
  EXPECT_EQ(status.code(), StatusCode::kIo);
}

}  // namespace
}  // namespace cairn
