// SPDX-License-Identifier: Apache-2.0
#include "reader/view/top_view.h"

#include <gtest/gtest.h>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"

namespace cairn::cli {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

class LiveViewTest : public testing::Test {
 protected:
  void Look(uint64_t monotonic_ns = 0) {
    snapshot_ = *SnapshotFromBlock(block_.bytes(), kSecond);
    analysis_ = Analyse(snapshot_);
    view_ = MakeLiveView(snapshot_, analysis_);
    now_ns_ = monotonic_ns;
  }
  LiveLook Seen() const { return {snapshot_, analysis_, view_, clock_, now_ns_}; }

  TestBlock block_;
  Snapshot snapshot_;
  Analysis analysis_;
  LiveView view_;
  ProgressClock clock_;
  uint64_t now_ns_ = 0;
};

TEST_F(LiveViewTest, JsonFollowsItsSchema) {
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/top.schema.json");
  Look();
  EXPECT_EQ(SchemaViolation(schema, Json::Parse(LiveJson(Seen()))), "");
  FillSampleBlock(&block_);
  Look();
  const Json document = Json::Parse(LiveJson(Seen()));
  EXPECT_EQ(SchemaViolation(schema, document), "");
  ASSERT_FALSE(document["queues"].empty());
  EXPECT_TRUE(document["queues"][0]["progress_age_ms"].is_null());
  // The check itself can fail.
  EXPECT_NE(SchemaViolation(schema, document.With("/queues/0/running", 1)), "");
}

TEST_F(LiveViewTest, LinesAreCutToTheWidthAndColouredOnRequest) {
  FillSampleBlock(&block_);
  Look();
  const std::string text = LiveText(Seen(), 0, false);
  EXPECT_NE(text.find("  [>] "), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(LiveText(Seen(), 0, true).find("\x1b["), std::string::npos);
  const std::string narrow = LiveText(Seen(), 20, false);
  for (size_t start = 0; start < narrow.size();) {
    const size_t end = narrow.find('\n', start);
    size_t columns = 0;
    for (size_t i = start; i < end; ++i) columns += (narrow[i] & 0xC0) != 0x80;
    EXPECT_LE(columns, 20u) << narrow.substr(start, end - start);
    start = end + 1;
  }
}

TEST_F(LiveViewTest, AnEmptyBlockSaysSo) {
  Look();
  EXPECT_NE(LiveText(Seen(), 0, false).find("no queue was used so far\n"), std::string::npos);
}

TEST(ProgressClock, AgeIsKnownFromTheSecondLook) {
  ProgressClock clock;
  QueueProgress queue{0, 3, 1, 100};
  EXPECT_FALSE(clock.AgeOf(3, 0, 0).has_value());
  clock.Look({&queue, 1}, 5 * kSecond);
  EXPECT_FALSE(clock.AgeOf(3, 0, 5 * kSecond).has_value());
  clock.Look({&queue, 1}, 7 * kSecond);
  ASSERT_TRUE(clock.AgeOf(3, 0, 7 * kSecond).has_value());
  EXPECT_EQ(clock.AgeOf(3, 0, 7 * kSecond)->age_ns, 2 * kSecond);
  EXPECT_TRUE(clock.AgeOf(3, 0, 7 * kSecond)->at_least);
  queue.fingerprint = 101;
  clock.Look({&queue, 1}, 8 * kSecond);
  EXPECT_EQ(clock.AgeOf(3, 0, 9 * kSecond)->age_ns, kSecond);
  EXPECT_FALSE(clock.AgeOf(3, 0, 9 * kSecond)->at_least);
}

TEST(ProgressClock, ListsWithoutAQueueAreToldApartByTheirDevice) {
  ProgressClock clock;
  QueueProgress queues[] = {{0, kNone, 1, 100}, {1, kNone, 1, 100}};
  clock.Look(queues, kSecond);
  queues[1].fingerprint = 101;
  clock.Look(queues, 2 * kSecond);
  EXPECT_EQ(clock.AgeOf(kNone, 0, 3 * kSecond)->age_ns, 2 * kSecond);
  EXPECT_EQ(clock.AgeOf(kNone, 1, 3 * kSecond)->age_ns, kSecond);
  EXPECT_FALSE(clock.AgeOf(kNone, 2, 3 * kSecond).has_value());
}

}  // namespace
}  // namespace cairn::cli
