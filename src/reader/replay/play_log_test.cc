// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/play_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cairn {
namespace {

using testing::ElementsAre;

class PlayLogTest : public testing::Test {
 protected:
  PlayLogTest() {
    options_.on_note = [this](const std::string& note) { told_.push_back(note); };
    options_.interrupted = [this] { return interrupted_; };
  }
  // A name without digits, another one for each index.
  static std::string Name(size_t index) {
    std::string name;
    for (; index != 0; index /= 26) name += static_cast<char>('a' + index % 26);
    return "kind " + name;
  }

  PlayerOptions options_;
  std::vector<std::string> told_;
  bool interrupted_ = false;
  PlayLog log_{options_};
};

TEST_F(PlayLogTest, KindsAreToldApartWithoutTheirNumbers) {
  log_.LeaveOut(7, "fence 3 came to 0x1f, not to 12");
  log_.LeaveOut(9, "fence 30 came to 0xABC, not to 1");
  log_.LeaveOut(11, "fence 3 came to nothing");
  const PlayerResult& result = log_.result();
  EXPECT_EQ(result.skipped, 3u);
  ASSERT_EQ(result.left_out.size(), 2u);
  EXPECT_EQ(result.left_out[0].what, "fence 3 came to 0x1f, not to 12");
  EXPECT_EQ(result.left_out[0].first, 7u);
  EXPECT_EQ(result.left_out[0].count, 2u);
  EXPECT_EQ(result.left_out[1].first, 11u);
  EXPECT_THAT(told_, ElementsAre("skipped: call 7, fence 3 came to 0x1f, not to 12",
                                 "skipped: call 11, fence 3 came to nothing"));
}

// The further ones share an entry, which stays the last.
TEST_F(PlayLogTest, AThousandKinds) {
  for (size_t i = 0; i < 1003; ++i) log_.LeaveOut(5000 - i, Name(i + 1));
  log_.LeaveOut(1, Name(1));
  log_.Finish();
  const PlayerResult& result = log_.result();
  EXPECT_EQ(result.skipped, 1004u);
  ASSERT_EQ(result.left_out.size(), 1001u);
  EXPECT_EQ(result.left_out.back().what, "other kinds");
  EXPECT_EQ(result.left_out.back().count, 3u);
  EXPECT_EQ(result.left_out[0].what, Name(1000));
  EXPECT_EQ(result.left_out[999].what, Name(1));
  EXPECT_EQ(result.left_out[999].count, 2u);
}

TEST_F(PlayLogTest, NotesAreToldOnce) {
  log_.Note("first");
  log_.NotCompared("textures");
  log_.NotCompared("textures");
  log_.Note("first");
  EXPECT_THAT(log_.result().notes, ElementsAre("first", "not compared: textures"));
  EXPECT_EQ(log_.result().not_compared, 2u);
  EXPECT_EQ(told_, log_.result().notes);
  for (size_t i = 0; i < 2000; ++i) log_.Note(std::to_string(i));
  EXPECT_EQ(log_.result().notes.size(), 1000u);
}

TEST_F(PlayLogTest, FirstFailureCounts) {
  EXPECT_FALSE(log_.failed());
  const Status hang = log_.Fail(PlayerFailure::kHang, 7, "fence 3 hangs", StatusCode::kDeviceLost);
  EXPECT_EQ(hang.code(), StatusCode::kDeviceLost);
  EXPECT_EQ(hang.message(), "record 7: fence 3 hangs");
  EXPECT_EQ(log_.FailCall(PlayerFailure::kRefused, 9, "ID3D12Device::CreateFence", "no").message(),
            "call 9, ID3D12Device::CreateFence: no");
  EXPECT_TRUE(log_.failed());
  EXPECT_EQ(log_.failure(), PlayerFailure::kHang);
  EXPECT_EQ(log_.failed_call(), 7u);
}

TEST_F(PlayLogTest, InterruptionIsKept) {
  EXPECT_FALSE(log_.Interrupted());
  EXPECT_FALSE(log_.result().interrupted);
  interrupted_ = true;
  EXPECT_TRUE(log_.Interrupted());
  interrupted_ = false;
  EXPECT_TRUE(log_.result().interrupted);
}

}  // namespace
}  // namespace cairn
