// SPDX-License-Identifier: Apache-2.0
#include "reader/view/call_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/testing/json.h"

namespace cairn::cli {
namespace {

class CallPagesTest : public testing::Test {
 protected:
  static std::vector<std::string> LinesOf(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  std::vector<std::string> All() {
    CallListingOptions options;
    options.json = true;
    options.names = false;
    std::string text;
    EXPECT_TRUE(ListCalls(trace_, options, {}, [&text](std::string_view piece) {
                  text += piece;
                  return true;
                }).ok());
    return LinesOf(text);
  }
  std::vector<std::string> Page(uint64_t first, uint64_t count) {
    std::string text;
    const Status status = pages_.Print(trace_, first, count, {}, [&text](std::string_view piece) {
      text += piece;
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.message();
    return LinesOf(text);
  }

  // More lines than have a mark.
  TraceReader trace_ =
      TraceReader::Open(CAIRN_SOURCE_DIR "/tests/golden/played/passes.cairn").value();
  CallPages pages_ = CallPages::Make(trace_).value();
};

TEST_F(CallPagesTest, AreThePartsOfTheWholeList) {
  const std::vector<std::string> all = All();
  ASSERT_GT(all.size(), 2 * CallPages::kLinesPerMark);
  ASSERT_EQ(pages_.line_count(), all.size());
  for (const size_t first :
       {size_t{0}, size_t{1}, size_t{255}, size_t{256}, size_t{257}, size_t{700}, all.size() - 3}) {
    const size_t count = std::min<size_t>(300, all.size() - first);
    const std::vector<std::string> page = Page(first, 300);
    EXPECT_EQ(page, std::vector<std::string>(all.begin() + first, all.begin() + first + count))
        << first;
  }
}

TEST_F(CallPagesTest, KnowWhereANumberStands) {
  const std::vector<std::string> all = All();
  for (const size_t line : {size_t{0}, size_t{255}, size_t{256}, size_t{600}, all.size() - 1}) {
    const uint64_t number = Json::Parse(all[line])["number"].get<uint64_t>();
    EXPECT_EQ(pages_.LineOf(trace_, number).value(), line);
    // A number without a line gives the next line.
    EXPECT_EQ(pages_.LineOf(trace_, number + 1).value(), line + 1);
  }
  EXPECT_EQ(pages_.LineOf(trace_, 0).value(), 0u);
  EXPECT_EQ(pages_.LineOf(trace_, ~uint64_t{0}).value(), all.size());
}

TEST_F(CallPagesTest, BeyondTheEndThereIsNone) {
  EXPECT_EQ(pages_.Print(trace_, pages_.line_count(), 1, {}, [](std::string_view) { return true; })
                .code(),
            StatusCode::kInvalidArgument);
}

TEST_F(CallPagesTest, AreStoppedWhereNobodyWaits) {
  const std::atomic<bool> ended{true};
  trace_.StopWhen(&ended);
  EXPECT_EQ(CallPages::Make(trace_).status().message(), "stopped");
}

}  // namespace
}  // namespace cairn::cli
