// SPDX-License-Identifier: Apache-2.0
#include "format/model/start_losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "d3d12gen/chains.h"
#include "format/calls/call_builder.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kQueue = 2, kList = 3, kBundle = 4, kHeap = 5, kBuffer = 6, kImage = 7;
constexpr uint64_t kTargetHeap = 8, kAllocator = 9;
constexpr uint64_t kTarget = 0x10000;  // a descriptor
constexpr float kColour[4] = {};
constexpr int32_t kFailed = -1;

// Mirrors of structs of Direct3D 12.
struct TextureBarrier {
  uint32_t sync_and_access[4] = {};
  uint32_t layouts[2];  // before, after
  void* resource;
  uint32_t range[6] = {0xFFFFFFFF};
  uint32_t flags = 0, end = 0;
};
struct BarrierGroup {
  uint32_t type, count;
  const void* barriers;
};
constexpr uint32_t kTextures = 1;
constexpr uint32_t kPresentLayout = 0, kTargetLayout = 2;
struct PassTarget {
  uint64_t view;
  uint32_t beginning, clear[5] = {};
  uint32_t ending, padding = 0;
  uint64_t resolve[6] = {};
};
constexpr uint32_t kDiscard = 0, kPreserve = 1, kClear = 2, kNoAccess = 3;
constexpr uint32_t kResumingPass = 4;

// A file of a late start: a heap of queries and an image of a swap chain that existed before, then
// the records of a test.
class StartLossesTest : public testing::Test {
 protected:
  StartLossesTest() {
    Object(kHeap, Chain::kID3D12QueryHeap);
    ResourceFacts facts{};
    facts.is_image = 1;
    const uint32_t desc[] = {3, 0, 0, 0, 64, 0, 64, 1u << 16 | 1, 28, 1, 0, 0, 0, 0};
    static_assert(sizeof(desc) == sizeof(facts.desc));
    std::memcpy(facts.desc, desc, sizeof(desc));
    Object(kImage, Chain::kID3D12Resource, kResourceFacts, facts);
    constexpr uint32_t kTargets = 2;
    Object(kTargetHeap, Chain::kID3D12DescriptorHeap, kDescriptorHeapFacts,
           DescriptorHeapFacts{kTarget, 0, kTargets, 0, 4, 32});
    Call(Method::ID3D12Device_CreateRenderTargetView, 1, ObjectPointer(kImage), nullptr, kTarget);
  }

  void Put(RecordKind kind, uint64_t object, std::vector<std::byte> body, uint16_t method = 0) {
    Record record;
    record.kind = kind;
    record.flags = started_ ? 0 : kRecordRestores;
    record.number = ++number_;
    record.object = object;
    record.method = method;
    record.body = body;
    losses_.Look(record);
  }
  template <typename Facts = uint32_t>
  void Object(uint64_t object, Chain chain, FactsKind kind = kNoFacts, const Facts& facts = {}) {
    const ObjectBody body{1, 0, static_cast<uint32_t>(chain), kind};
    std::vector<std::byte> bytes(sizeof(body) + sizeof(facts));
    std::memcpy(bytes.data(), &body, sizeof(body));
    std::memcpy(bytes.data() + sizeof(body), &facts, sizeof(facts));
    Put(RecordKind::kObject, object, bytes);
  }
  template <typename... Arguments>
  void Call(Method method, uint64_t object, const Arguments&... arguments) {
    CallBuilder builder;
    const CallBuilder::Body body = builder.Call(method, arguments...);
    EXPECT_TRUE(body.ok) << Describe(method).name;
    Put(RecordKind::kCall, object, body.bytes, static_cast<uint16_t>(method));
  }
  void Start() {
    started_ = true;
    Put(RecordKind::kStart, 0, {});
  }
  void EndQuery(uint32_t index, uint64_t list = kList) {
    Call(Method::ID3D12GraphicsCommandList_EndQuery, list, ObjectPointer(kHeap), 0, index);
  }
  void Resolve(uint32_t first, uint32_t count) {
    Call(Method::ID3D12GraphicsCommandList_ResolveQueryData, kList, ObjectPointer(kHeap), 0, first,
         count, ObjectPointer(kBuffer), 0);
  }
  void Reset(int32_t result = 0) {
    constexpr Method kReset = Method::ID3D12GraphicsCommandList_Reset;
    Call(kReset, kList, ObjectPointer(kAllocator), nullptr);
    CallBuilder builder;
    const CallBuilder::Body body =
        builder.Result(kReset, number_, result, ObjectPointer(kAllocator), nullptr);
    EXPECT_TRUE(body.ok);
    Put(RecordKind::kResult, kList, body.bytes, static_cast<uint16_t>(kReset));
  }
  // A barrier for the image.
  void Barrier() {
    const TextureBarrier barrier{.layouts = {kPresentLayout, kTargetLayout},
                                 .resource = ObjectPointer(kImage)};
    const BarrierGroup group{kTextures, 1, &barrier};
    Call(Method::ID3D12GraphicsCommandList7_Barrier, kList, 1, &group);
  }
  // A render pass with the image.
  void DrawPass(uint32_t beginning, uint32_t flags = 0) {
    const PassTarget target{.view = kTarget, .beginning = beginning, .ending = kPreserve};
    Call(Method::ID3D12GraphicsCommandList4_BeginRenderPass, kList, 1, &target, nullptr, flags);
    Call(Method::ID3D12GraphicsCommandList_DrawInstanced, kList, 3, 1, 0, 0);
    Call(Method::ID3D12GraphicsCommandList4_EndRenderPass, kList);
  }
  void Draw() {
    Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, kList, 1, &kTarget, 0, nullptr);
    Call(Method::ID3D12GraphicsCommandList_DrawInstanced, kList, 3, 1, 0, 0);
  }
  void Clear() {
    Call(Method::ID3D12GraphicsCommandList_ClearRenderTargetView, kList, kTarget, kColour, 0,
         nullptr);
  }
  void Execute() {
    void* const lists[] = {ObjectPointer(kList)};
    Call(Method::ID3D12CommandQueue_ExecuteCommandLists, kQueue, 1, lists);
  }
  void EndFrame(uint64_t image) {
    FrameBody body{};
    std::vector<std::byte> bytes(sizeof(body));
    std::memcpy(bytes.data(), &body, sizeof(body));
    Put(RecordKind::kFrame, image, bytes);
  }

  StartLosses losses_;
  uint64_t number_ = 0;
  bool started_ = false;
};

TEST_F(StartLossesTest, ResultsOfBeforeAreMissed) {
  EndQuery(0);
  EndQuery(1);
  EndQuery(2);
  Start();
  Reset();
  EndQuery(0);
  Resolve(0, 3);
  Execute();
  EXPECT_THAT(losses_.Told(), ElementsAre(HasSubstr("query heap 5: results from before the "
                                                    "recording began were resolved, query 1")));
}

TEST_F(StartLossesTest, ListsForVideoResolveQueriesToo) {
  EndQuery(0);
  Start();
  Reset();
  Call(Method::ID3D12VideoDecodeCommandList_ResolveQueryData, kList, ObjectPointer(kHeap), 0, 0, 1,
       ObjectPointer(kBuffer), 0);
  Execute();
  EXPECT_THAT(losses_.Told(), ElementsAre(HasSubstr("were resolved, query 0")));
}

TEST_F(StartLossesTest, QueriesThatAreMadeAnewAreNot) {
  Start();
  EndQuery(0);
  Resolve(0, 1);
  Execute();
  Reset();
  EndQuery(1);
  Execute();
  Reset();
  Resolve(0, 2);
  Execute();
  EXPECT_THAT(losses_.Told(), IsEmpty());
}

TEST_F(StartLossesTest, AListOfBeforeIsExecutedAfter) {
  EndQuery(3);
  Resolve(3, 1);
  Start();
  Execute();
  EXPECT_THAT(losses_.Told(), IsEmpty());
}

TEST_F(StartLossesTest, BundlesMakeQueries) {
  Start();
  EndQuery(0, kBundle);
  Call(Method::ID3D12GraphicsCommandList_ExecuteBundle, kList, ObjectPointer(kBundle));
  Resolve(0, 1);
  Execute();
  EXPECT_THAT(losses_.Told(), IsEmpty());
}

TEST_F(StartLossesTest, WhatIsNotExecutedUsesNothing) {
  Start();
  Resolve(0, 1);
  Draw();
  Reset();
  Execute();
  EXPECT_THAT(losses_.Told(), IsEmpty());
}

TEST_F(StartLossesTest, ARefusedResetLeavesTheRecording) {
  Start();
  Resolve(0, 1);
  Draw();
  Reset(kFailed);
  Execute();
  EXPECT_THAT(losses_.Told(), ElementsAre(HasSubstr("query heap 5"), HasSubstr("resource 7")));
}

TEST_F(StartLossesTest, AListThatEndedIsForgotten) {
  Start();
  Resolve(0, 1);
  Draw();
  Put(RecordKind::kObjectEnd, kList, {});
  Execute();
  EXPECT_THAT(losses_.Told(), IsEmpty());
}

TEST_F(StartLossesTest, ImagesThatAreNotClearedAreMissed) {
  Start();
  Draw();
  Clear();
  Execute();
  EXPECT_THAT(losses_.Told(),
              ElementsAre(HasSubstr("resource 7, an image of a swap chain, was drawn into")));
}

TEST_F(StartLossesTest, ImagesThatAreClearedAreNot) {
  Start();
  Clear();
  Draw();
  Execute();
  EndFrame(kImage);
  Reset();
  Draw();
  Execute();
  EXPECT_THAT(losses_.Told(), IsEmpty());
}

TEST_F(StartLossesTest, ABarrierUsesNothing) {
  Start();
  Barrier();
  Clear();
  Draw();
  Execute();
  EXPECT_THAT(losses_.Told(), IsEmpty());
}

TEST_F(StartLossesTest, ABarrierIsNoClear) {
  Start();
  Barrier();
  Draw();
  Execute();
  EXPECT_THAT(losses_.Told(), ElementsAre(HasSubstr("resource 7")));
}

TEST_F(StartLossesTest, ARenderPassThatClearsMissesNothing) {
  Start();
  DrawPass(kNoAccess);
  DrawPass(kClear);
  DrawPass(kPreserve);
  Execute();
  EXPECT_THAT(losses_.Told(), IsEmpty());
}

TEST_F(StartLossesTest, ARenderPassThatDiscardsMissesNothing) {
  Start();
  DrawPass(kDiscard);
  Execute();
  EndFrame(kImage);
  EXPECT_THAT(losses_.Told(), IsEmpty());
}

TEST_F(StartLossesTest, ARenderPassThatPreservesMissesWhatWasThere) {
  Start();
  DrawPass(kPreserve);
  DrawPass(kClear);
  Execute();
  EXPECT_THAT(losses_.Told(), ElementsAre(HasSubstr("resource 7")));
}

TEST_F(StartLossesTest, ARenderPassThatGoesOnDoesNotClear) {
  Start();
  DrawPass(kClear, kResumingPass);
  Execute();
  EXPECT_THAT(losses_.Told(), ElementsAre(HasSubstr("resource 7")));
}

TEST_F(StartLossesTest, AnImageThatIsShownAgainIsLookedAt) {
  Start();
  EndFrame(kImage);
  EXPECT_THAT(losses_.Told(), ElementsAre(HasSubstr("resource 7")));
}

TEST_F(StartLossesTest, ImagesAreFollowedForSomeFrames) {
  Start();
  for (uint32_t i = 0; i < StartLosses::kImageFrames; ++i) EndFrame(0);
  Draw();
  Execute();
  EXPECT_THAT(losses_.Told(), IsEmpty());
  // Queries are followed to the end.
  Resolve(0, 1);
  Execute();
  EXPECT_THAT(losses_.Told(), ElementsAre(HasSubstr("query heap 5")));
}

// Lists that are never reset would take all memory.
TEST_F(StartLossesTest, WhatTakesTooMuchIsNoLongerFollowed) {
  EXPECT_EQ(StartLosses::kMostHeld, 4'194'304u);
  losses_ = StartLosses(100);
  Object(kHeap, Chain::kID3D12QueryHeap);
  Start();
  for (int i = 0; i < 200; ++i) {
    EndQuery(0);
    if (i % 50 == 0) Reset();
  }
  EXPECT_THAT(losses_.Told(), IsEmpty());
  for (int i = 0; i < 100; ++i) EndQuery(0);
  EXPECT_THAT(losses_.Told(), ElementsAre(HasSubstr("was too much to follow")));
  Resolve(0, 2);
  Execute();
  EXPECT_THAT(losses_.Told(), ElementsAre(HasSubstr("was too much to follow")));
}

}  // namespace
}  // namespace cairn
