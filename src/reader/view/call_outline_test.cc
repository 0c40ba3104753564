// SPDX-License-Identifier: Apache-2.0
#include "reader/view/call_outline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/json.h"
#include "format/pix/pix_event.h"
#include "format/trace/testing/test_trace.h"
#include "reader/view/call_pages.h"

namespace cairn::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kDevice = 1, kList = 2, kOther = 3;
constexpr int32_t kOk = 0, kFailed = -1;

class CallOutlineTest : public testing::Test {
 protected:
  void SetUp() override {
    trace_.Object(kDevice, Chain::kID3D12Device, kDevice);
    trace_.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
    trace_.Object(kOther, Chain::kID3D12GraphicsCommandList, kDevice);
  }
  uint64_t Begin(uint64_t list, const std::string& name) {
    return trace_.Make(Method::ID3D12GraphicsCommandList_BeginEvent, list, 1, name.c_str(),
                       static_cast<uint32_t>(name.size() + 1));
  }
  void BeginOf(const PixColour& colour) {
    PixEvent event;
    event.format = PixFormat::kBlobV2;
    event.kind = PixKind::kBegin;
    event.name = "Coloured";
    event.colour = colour;
    const std::vector<std::byte> bytes = EncodePixEvent(event);
    trace_.Make(Method::ID3D12GraphicsCommandList_BeginEvent, kList, PixMetadata(event.format),
                bytes.data(), static_cast<uint32_t>(bytes.size()));
  }
  void End(uint64_t list) { trace_.Make(Method::ID3D12GraphicsCommandList_EndEvent, list); }
  uint64_t Draw(uint64_t list) {
    return trace_.Make(Method::ID3D12GraphicsCommandList_DrawInstanced, list, 3u, 1u, 0u, 0u);
  }
  // A call that returns `code`.
  uint64_t Close(uint64_t list, int32_t code) {
    const uint64_t call = trace_.Make(Method::ID3D12GraphicsCommandList_Close, list);
    trace_.Gave(call, code);
    return call;
  }
  CallOutline Outlined(const std::vector<TraceThread>& threads = {}) {
    trace_.Finish(threads);
    EXPECT_TRUE(trace_.status().ok()) << trace_.status().message();
    reader_ = trace_.Open();
    CallOutline outline(*reader_, gpu_);
    const CallPages pages =
        CallPages::Make(*reader_, [&outline](const Record& record, uint64_t line) {
          outline.Add(record, line);
        }).value();
    outline.Finish(pages.line_count());
    return outline;
  }
  static std::vector<std::string> Words(const CallOutline& outline) {
    std::vector<std::string> words;
    for (const CallGroup& group : outline.groups()) {
      words.push_back(
          fmt::format("{} {}-{} work {}", group.name, group.first, group.last, group.work));
    }
    return words;
  }

  TestTrace trace_;
  GpuStates gpu_;
  std::optional<TraceReader> reader_;
};

TEST_F(CallOutlineTest, EventsAreGroupsThatNest) {
  Begin(kList, "Frame");   // 0
  Draw(kList);             // 1
  Begin(kList, "Shadow");  // 2
  Draw(kList);
  Draw(kList);
  End(kList);  // 5
  End(kList);  // 6
  End(kList);  // has no beginning
  EXPECT_THAT(Words(Outlined()), ElementsAre("Frame 0-6 work 3", "Shadow 2-5 work 2"));
}

TEST_F(CallOutlineTest, OfEventsThatCrossTheOneThatEndsFirstIsAGroup) {
  Begin(kList, "A");      // 0
  Begin(kOther, "B");     // 1
  Begin(kOther, "In B");  // 2
  Draw(kOther);
  End(kOther);  // 4: In B
  End(kList);   // 5: A
  Begin(kOther, "Late");
  End(kOther);
  End(kOther);  // 8: B
  const CallOutline outline = Outlined();
  EXPECT_THAT(Words(outline), ElementsAre("A 0-5 work 1", "In B 2-4 work 1", "Late 6-7 work 0"));
  EXPECT_EQ(outline.groups_left_out(), 1u);
}

TEST_F(CallOutlineTest, EventsEndWithTheirRecordingOrTheList) {
  Begin(kList, "Never ended");  // 0
  Draw(kList);                  // 1
  Close(kList, kOk);            // 2
  Begin(kOther, "Open");        // 3
  Draw(kOther);                 // 4
  EXPECT_THAT(Words(Outlined()), ElementsAre("Never ended 0-1 work 1", "Open 3-4 work 1"));
}

TEST_F(CallOutlineTest, GroupsHaveTheColourOfTheirEvent) {
  BeginOf({PixColourKind::kArgb, 0xFF4080C0});
  BeginOf({PixColourKind::kPalette, 3});
  BeginOf({PixColourKind::kPalette, 0});
  const CallOutline outline = Outlined();
  ASSERT_EQ(outline.groups().size(), 3u);
  EXPECT_EQ(outline.groups()[0].name, "Coloured");
  EXPECT_EQ(outline.groups()[0].colour, 0x4080C0u);
  EXPECT_EQ(outline.groups()[1].colour, 0x009E73u);
  EXPECT_EQ(outline.groups()[2].colour, std::nullopt);
  const Json json = Json::Parse(outline.Json({}));
  EXPECT_EQ(json["groups"][0]["colour"], "#4080c0");
  EXPECT_FALSE(json["groups"][2].contains("colour"));
}

TEST_F(CallOutlineTest, FailedAndUnreturnedCallsAndFramesHaveTheirNumbers) {
  Close(kList, kOk);
  const uint64_t failed = Close(kList, kFailed);
  const uint64_t frame = trace_.Frame();
  const uint64_t draw = Draw(kList);
  const CallOutline outline = Outlined({{.index = 0, .unreturned_call = draw}});
  EXPECT_THAT(outline.failed().numbers, ElementsAre(failed));
  EXPECT_THAT(outline.frames().numbers, ElementsAre(frame));
  EXPECT_THAT(outline.unreturned().numbers, ElementsAre(draw));
  EXPECT_THAT(outline.in_flight().numbers, IsEmpty());
  ASSERT_EQ(outline.buckets().size(), 4u);
  EXPECT_EQ(outline.buckets()[1].failed, 1u);
  EXPECT_EQ(outline.buckets()[2].frames, 1u);
  EXPECT_EQ(outline.buckets()[3].work, 1u);
  const Json json = Json::Parse(outline.Json(std::vector<uint64_t>{draw}));
  EXPECT_EQ(json["suspects"], Json::Parse(fmt::format("[{}]", draw)));
  EXPECT_EQ(json["failed"], Json::Parse(fmt::format(R"({{"count":1,"numbers":[{}]}})", failed)));
}

TEST_F(CallOutlineTest, ItsSizeHasABound) {
  constexpr size_t kFrames = CallOutline::kMostJumps + 100;
  for (size_t i = 0; i < kFrames; ++i) trace_.Frame();
  for (size_t i = 0; i < CallOutline::kMostGroups + 10; ++i) Begin(kList, std::string(200, 'n'));
  // Those that are left out have an end, which is not that of another one.
  for (size_t i = 0; i < 10; ++i) End(kList);
  End(kList);
  Draw(kList);
  const CallOutline outline = Outlined();
  const uint64_t lines = kFrames + CallOutline::kMostGroups + 22;
  EXPECT_EQ(outline.frames().count, kFrames);
  EXPECT_EQ(outline.frames().numbers.size(), CallOutline::kMostJumps);
  EXPECT_EQ(outline.groups().size(), CallOutline::kMostGroups);
  EXPECT_EQ(outline.groups_left_out(), 10u);
  size_t name_bytes = 0;
  for (const CallGroup& group : outline.groups()) name_bytes += group.name.size();
  EXPECT_LE(name_bytes, CallOutline::kMostNameBytes + 3);
  // The innermost one ended with the eleventh EndEvent, the others with the list.
  EXPECT_EQ(outline.groups().back().last, lines - 2);
  EXPECT_EQ(outline.groups().front().last, lines - 1);
  EXPECT_EQ(outline.groups().front().work, 1u);
  EXPECT_LE(outline.buckets().size(), 2 * CallOutline::kMostBuckets);
  EXPECT_EQ(outline.buckets().size(), (lines - 1) / outline.lines_per_bucket() + 1);
  uint64_t frames = 0;
  for (const CallBucket& bucket : outline.buckets()) frames += bucket.frames;
  EXPECT_EQ(frames, kFrames);
}

}  // namespace
}  // namespace cairn::cli
