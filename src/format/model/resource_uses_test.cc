// SPDX-License-Identifier: Apache-2.0
#include "format/model/resource_uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <vector>

#include "format/calls/call_builder.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = ResourceUse::Kind;

constexpr uint64_t kList = 3, kTargetHeap = 0x10000, kDepthHeap = 0x20000, kIncrement = 32;
// A texture with mips and slices, one with depth and stencil, one that others are resolved into, a buffer.
constexpr uint64_t kArray = 10, kDepth = 11, kImage = 12, kBuffer = 13;
constexpr uint32_t kMips = 2, kSlices = 3;

// Mirrors of structs of Direct3D 12.
struct TextureBarrier {
  uint32_t sync_and_access[4] = {};
  uint32_t layout_before = 0, layout_after = 0;
  void* resource = ObjectPointer(kArray);
  uint32_t range[6] = {0xFFFFFFFF};  // mips, slices, planes: first, count
  uint32_t flags = 0, end = 0;
};
struct BufferBarrier {
  uint32_t sync_and_access[4] = {};
  void* resource = ObjectPointer(kBuffer);
  uint64_t offset = 0, size = ~uint64_t{0};
};
struct BarrierGroup {
  uint32_t type, count;
  const void* barriers;
};
constexpr uint32_t kTextures = 1, kBuffers = 2;
constexpr uint32_t kUndefined = 0xFFFFFFFF, kDiscardFlag = 1;
struct Beginning {
  uint32_t type, clear[5] = {};
};
constexpr Beginning kDiscard{0}, kPreserve{1}, kClear{2}, kNoAccess{3};
struct Part {
  uint32_t from, to, x = 0, y = 0, rect[4] = {};
};
struct Ending {
  uint32_t type = 1, padding = 0;  // kept
  void* from = nullptr;
  void* to = nullptr;
  uint32_t part_count = 0, padding_of_parts = 0;
  const void* parts = nullptr;
  uint32_t format = 28, mode = 0, preserve = 0, end = 0;
};
constexpr uint32_t kResolve = 2;
struct PassTarget {
  uint64_t view;
  Beginning beginning;
  Ending ending = {};
};
struct PassDepth {
  uint64_t view;
  Beginning depth, stencil;
  Ending endings[2] = {};
};
constexpr uint32_t kSuspending = 2, kResuming = 4;

// A use: kind, object, first subresource, how many, step.
using Use = std::tuple<Kind, uint64_t, uint32_t, uint32_t, uint32_t>;
constexpr uint32_t kAll = 0xFFFFFFFF;

class ListUsesTest : public testing::Test {
 protected:
  ListUsesTest() {
    AddTexture(kArray, kMips, kSlices, 28);
    AddTexture(kDepth, 1, 1, 45);
    AddTexture(kImage, 1, 1, 28);
    uses_.OnObject(Record(), {.heap = DescriptorHeapFacts{kTargetHeap, 0, 2, 0, 4, kIncrement}});
    uses_.OnObject(Record(), {.heap = DescriptorHeapFacts{kDepthHeap, 0, 3, 0, 4, kIncrement}});
    // Mip 1 of the slices from 1 on.
    const uint32_t desc[] = {28, 5, 1, 1, kAll, 0};
    View(Method::ID3D12Device_CreateRenderTargetView, kArray, desc, kTargetHeap);
    View(Method::ID3D12Device_CreateDepthStencilView, kDepth, nullptr, kDepthHeap);
    View(Method::ID3D12Device_CreateRenderTargetView, kImage, nullptr, kTargetHeap + kIncrement);
  }

  void AddTexture(uint64_t object, uint32_t mips, uint32_t slices, uint32_t format) {
    const uint32_t desc[] = {3, 0, 0, 0, 64, 0, 64, mips << 16 | slices, format, 1, 0, 0, 0, 0};
    ResourceFacts facts{};
    static_assert(sizeof(desc) == sizeof(facts.desc));
    std::memcpy(facts.desc, desc, sizeof(desc));
    Record record;
    record.object = record.number = object;
    uses_.OnObject(record, {.resource = facts});
  }
  template <typename... Arguments>
  void Read(Method method, const Arguments&... arguments) {
    CallBuilder builder;
    const CallBuilder::Body body = builder.Call(method, arguments...);
    ASSERT_TRUE(body.ok) << Describe(method).name;
    Record record;
    record.method = static_cast<uint16_t>(method);
    record.body = body.bytes;
    ASSERT_TRUE(reader_.Read(record, nullptr, &values_, &call_)) << Describe(method).name;
  }
  void View(Method method, uint64_t resource, const void* desc, uint64_t handle) {
    Read(method, ObjectPointer(resource), desc, handle);
    uses_.OnView(method, call_, values_);
  }
  template <typename... Arguments>
  void Call(Method method, const Arguments&... arguments) {
    Read(method, arguments...);
    uses_.OnListCall(method, kList, call_, values_);
  }
  void Barrier(const TextureBarrier& barrier) {
    const BarrierGroup group{kTextures, 1, &barrier};
    Call(Method::ID3D12GraphicsCommandList7_Barrier, 1, &group);
  }
  void BeginPass(const PassTarget* target, const PassDepth* depth = nullptr, uint32_t flags = 0) {
    Call(Method::ID3D12GraphicsCommandList4_BeginRenderPass, target == nullptr ? 0 : 1, target,
         depth, flags);
  }
  void Draw() { Call(Method::ID3D12GraphicsCommandList_DrawInstanced, 3, 1, 0, 0); }

  // Since the last time.
  std::vector<Use> Uses() {
    std::vector<Use> uses;
    for (const ResourceUse& use : uses_.UsesOf(kList)) {
      uses.emplace_back(use.kind, use.object, use.subresources.first, use.subresources.count,
                        use.subresources.step);
    }
    uses_.OnReset(kList);
    EXPECT_FALSE(uses_.lost());
    return uses;
  }

  ListUses uses_;
  CallValuesReader reader_;
  CallValues values_;
  DecodedCall call_;
};

TEST_F(ListUsesTest, BarriersOnlyShowWhatWasHidden) {
  const TextureBarrier textures[] = {{}, {.resource = ObjectPointer(kImage)}};
  const BufferBarrier buffer;
  const BarrierGroup groups[] = {{kTextures, 2, textures}, {kBuffers, 1, &buffer}};
  Call(Method::ID3D12GraphicsCommandList7_Barrier, 2, groups);
  EXPECT_THAT(Uses(), ElementsAre(Use(Kind::kState, kArray, 0, kAll, 1),
                                  Use(Kind::kState, kImage, 0, kAll, 1),
                                  Use(Kind::kState, kBuffer, 0, kAll, 1)));
}

TEST_F(ListUsesTest, HeapsAreReadAgainBehindABarrier) {
  constexpr uint64_t kViewHeap = 20;
  void* const heaps[] = {ObjectPointer(kViewHeap)};
  Call(Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, 1, heaps);
  Draw();
  Draw();
  Barrier({});
  Draw();
  const Use heap(Kind::kHeap, kViewHeap, 0, kAll, 1);
  EXPECT_THAT(Uses(), ElementsAre(heap, Use(Kind::kState, kArray, 0, kAll, 1), heap));
}

TEST_F(ListUsesTest, OnlyTheFlagOfABarrierDiscards) {
  const Use state(Kind::kState, kArray, 0, kAll, 1);
  Barrier({.layout_before = kUndefined});
  EXPECT_THAT(Uses(), ElementsAre(state));
  const auto discard = [&](std::vector<uint32_t> range) {
    TextureBarrier barrier{.layout_before = kUndefined, .flags = kDiscardFlag};
    std::copy(range.begin(), range.end(), barrier.range);
    Barrier(barrier);
    return Uses();
  };
  const Use whole(Kind::kOverwrite, kArray, 0, kAll, 1);
  EXPECT_THAT(discard({kAll, 0}), ElementsAre(whole, state));
  EXPECT_THAT(discard({0, kMips, 0, kSlices, 0, 1}), ElementsAre(whole, state));
  EXPECT_THAT(discard({4, 0}), ElementsAre(Use(Kind::kOverwrite, kArray, 4, 1, 1), state));
  // Mip 1 of slices 1 and 2.
  EXPECT_THAT(discard({1, 1, 1, 9, 0, 1}),
              ElementsAre(Use(Kind::kOverwrite, kArray, 3, 2, kMips), state));
  // A rectangle that is not one range, or lies outside, records nothing.
  EXPECT_THAT(discard({0, kMips, 1, 1, 0, 1}), ElementsAre(state));
  EXPECT_THAT(discard({kMips, 1, 0, 1, 0, 1}), ElementsAre(state));
}

TEST_F(ListUsesTest, APassBeginsWithWhatItsViewsCover) {
  const uint64_t before = kTargetHeap + kIncrement;
  Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, 1, &before, 0, nullptr);
  const PassTarget target{kTargetHeap, kDiscard};
  const PassDepth depth{kDepthHeap, kClear, kPreserve};
  BeginPass(&target, &depth);
  Draw();
  EXPECT_THAT(Uses(), ElementsAre(Use(Kind::kOverwrite, kArray, 3, 2, kMips),
                                  Use(Kind::kOverwrite, kDepth, 0, 1, 1),
                                  Use(Kind::kRead, kDepth, 1, 1, 1)));
}

TEST_F(ListUsesTest, APassThatGoesOnDoesNotBegin) {
  const PassTarget target{kTargetHeap, kClear};
  BeginPass(&target, nullptr, kResuming);
  EXPECT_THAT(Uses(), ElementsAre(Use(Kind::kRead, kArray, 3, 2, kMips)));
}

TEST_F(ListUsesTest, APassMayHaveNothingToDoWithItsViews) {
  const PassTarget target{kTargetHeap, kNoAccess};
  const PassDepth depth{kDepthHeap, kNoAccess, kNoAccess};
  BeginPass(&target, &depth);
  Draw();
  Call(Method::ID3D12GraphicsCommandList4_EndRenderPass);
  EXPECT_THAT(Uses(), IsEmpty());
}

TEST_F(ListUsesTest, WhatAPassClearsUnderAPredicateMayNotBeCleared) {
  Call(Method::ID3D12GraphicsCommandList_SetPredication, ObjectPointer(kBuffer), 0, 0);
  const PassTarget target{kTargetHeap, kClear};
  BeginPass(&target);
  EXPECT_THAT(Uses(), ElementsAre(Use(Kind::kRead, kArray, 3, 2, kMips)));
}

TEST_F(ListUsesTest, APassResolvesInTheEnd) {
  const Part parts[] = {{.from = 3, .to = 0}, {.from = 5, .to = 0, .rect = {0, 0, 8, 8}}};
  PassTarget target{kTargetHeap, kNoAccess};
  target.ending = {.type = kResolve,
                   .from = ObjectPointer(kArray),
                   .to = ObjectPointer(kImage),
                   .part_count = 2,
                   .parts = parts};
  BeginPass(&target);
  EXPECT_THAT(Uses(),
              ElementsAre(Use(Kind::kRead, kArray, 3, 1, 1), Use(Kind::kOverwrite, kImage, 0, 1, 1),
                          Use(Kind::kRead, kArray, 5, 1, 1), Use(Kind::kRead, kImage, 0, kAll, 1)));
  BeginPass(&target, nullptr, kSuspending);
  EXPECT_THAT(Uses(), IsEmpty());
}

}  // namespace
}  // namespace cairn
