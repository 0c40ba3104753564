// SPDX-License-Identifier: Apache-2.0
#include "format/model/list_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "format/calls/call_builder.h"
#include "format/trace/testing/test_trace.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr uint64_t kDevice = 1, kList = 2, kBundle = 3, kPipeline = 5, kSignature = 6,
                   kOtherSignature = 7, kAllocator = 8;
constexpr int32_t kRefused = -2147467259;  // E_FAIL
using List = Method;

struct Bytes16 {
  uint8_t bytes[16] = {};
};
struct VertexView {
  uint64_t address;
  uint32_t size_bytes;
  uint32_t stride_bytes;
};

class ListTrackerTest : public testing::Test {
 protected:
  template <typename... Arguments>
  uint64_t Call(Method method, uint64_t list, const Arguments&... arguments) {
    return trace_.Make(method, list, arguments...);
  }
  uint64_t Reset(uint64_t list, void* pipeline = nullptr) {
    return Call(List::ID3D12GraphicsCommandList_Reset, list, ObjectPointer(kAllocator), pipeline);
  }
  uint64_t View(uint64_t list, uint32_t index, uint64_t address) {
    return Call(List::ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView, list, index,
                address);
  }
  // The state that the record with this number finds, or the end of the trace, to which nothing can be added
  // afterwards; nullopt if nothing is known of the list.
  std::optional<BoundState> StateOf(uint64_t list, uint64_t number = ~uint64_t{0}) {
    TraceReader trace = trace_.Open();
    ListTracker lists(&trace);
    TraceCursor cursor(trace);
    Record record;
    while (cursor.Next(&record) && record.number < number) lists.Look(record);
    const BoundState* const state = lists.Find(list);
    return state == nullptr ? std::nullopt : std::optional(*state);
  }
  // (index, address) of each root argument.
  static std::map<uint32_t, uint64_t> Addresses(const BoundState::Root& root) {
    std::map<uint32_t, uint64_t> addresses;
    for (const auto& [place, argument] : root.arguments) addresses[place.first] = argument.value;
    return addresses;
  }

  TestTrace trace_;
};

TEST_F(ListTrackerTest, AResetThatIsRefusedEndsNothing) {
  const uint64_t first = Reset(kList, ObjectPointer(kPipeline));
  trace_.Gave(first, 0, ObjectPointer(kAllocator), ObjectPointer(kPipeline));
  View(kList, 1, 0x500);
  const uint64_t refused = Reset(kList);
  trace_.Gave(refused, kRefused, ObjectPointer(kAllocator), nullptr);
  View(kList, 2, 0x600);
  const uint64_t second = Reset(kList);
  const uint64_t result = trace_.Gave(second, 0, ObjectPointer(kAllocator), nullptr);
  std::optional<BoundState> state = StateOf(kList, second);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->since, first);
  EXPECT_EQ(state->pipeline, kPipeline);
  EXPECT_THAT(Addresses(state->graphics), ElementsAre(Pair(1, 0x500), Pair(2, 0x600)));
  EXPECT_EQ(StateOf(kList, result)->since, second);  // a trace may end before the result
  state = StateOf(kList);
  EXPECT_EQ(state->since, second);
  EXPECT_EQ(state->pipeline, kNoObject);
  EXPECT_THAT(state->graphics.arguments, IsEmpty());
}

TEST_F(ListTrackerTest, WhatABundleSetStaysSet) {
  Reset(kBundle);
  const uint64_t pipeline =
      Call(List::ID3D12GraphicsCommandList_SetPipelineState, kBundle, ObjectPointer(kPipeline));
  const uint64_t view = View(kBundle, 1, 0x900);
  const uint64_t topology =
      Call(List::ID3D12GraphicsCommandList_IASetPrimitiveTopology, kBundle, 4);
  const VertexView buffer{0x1000, 64, 16};
  const uint64_t slot =
      Call(List::ID3D12GraphicsCommandList_IASetVertexBuffers, kBundle, 2, 1, &buffer);
  Reset(kList);
  const uint64_t stencil = Call(List::ID3D12GraphicsCommandList_OMSetStencilRef, kList, 7);
  View(kList, 0, 0x500);
  View(kList, 1, 0x600);
  const uint64_t bundle =
      Call(List::ID3D12GraphicsCommandList_ExecuteBundle, kList, ObjectPointer(kBundle));
  EXPECT_EQ(StateOf(kList, bundle)->pipeline, kNoObject);
  const std::optional<BoundState> state = StateOf(kList);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->pipeline, kPipeline);
  EXPECT_EQ(state->pipeline_set_by, pipeline);
  EXPECT_THAT(Addresses(state->graphics), ElementsAre(Pair(0, 0x500), Pair(1, 0x900)));
  EXPECT_EQ(state->graphics.arguments.at({1, 0}).set_by, view);
  EXPECT_THAT(state->settings, ElementsAre(Pair(StateKind::kPrimitiveTopology, topology),
                                           Pair(StateKind::kStencilReference, stencil)));
  EXPECT_THAT(state->vertex_buffers, ElementsAre(Pair(2, slot)));
}

TEST_F(ListTrackerTest, ABundleWithAnotherRootSignatureEndsTheArguments) {
  Reset(kBundle);
  Call(List::ID3D12GraphicsCommandList_SetGraphicsRootSignature, kBundle,
       ObjectPointer(kOtherSignature));
  Reset(kList, ObjectPointer(kPipeline));
  Call(List::ID3D12GraphicsCommandList_SetGraphicsRootSignature, kList, ObjectPointer(kSignature));
  View(kList, 0, 0x500);
  Call(List::ID3D12GraphicsCommandList_ExecuteBundle, kList, ObjectPointer(kBundle));
  // A list that executes itself, or something that is no list, changes nothing.
  Call(List::ID3D12GraphicsCommandList_ExecuteBundle, kList, ObjectPointer(kList));
  Call(List::ID3D12GraphicsCommandList_ExecuteBundle, kList, ObjectPointer(77));
  const std::optional<BoundState> state = StateOf(kList);
  EXPECT_EQ(state->graphics.signature, kOtherSignature);
  EXPECT_THAT(state->graphics.arguments, IsEmpty());
  EXPECT_EQ(state->pipeline, kPipeline);  // the bundle set none
}

TEST_F(ListTrackerTest, AListBeginsWhereItIsMadeAndEnds) {
  void* list = nullptr;
  const uint64_t creation =
      Call(Method::ID3D12Device_CreateCommandList, kDevice, 0, 0, ObjectPointer(kAllocator),
           ObjectPointer(kPipeline), Bytes16{}, &list);
  trace_.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice, creation);
  trace_.Gave(creation, 0, 0, 0, ObjectPointer(kAllocator), ObjectPointer(kPipeline), Bytes16{},
              &list);
  const uint64_t end = trace_.ObjectEnd(kList);
  const std::optional<BoundState> state = StateOf(kList, end);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->since, creation);
  EXPECT_EQ(state->pipeline, kPipeline);
  EXPECT_EQ(state->pipeline_set_by, creation);
  EXPECT_FALSE(StateOf(kList).has_value());
}

// A list more than kMostLists has no state; where one ends, the next has.
TEST_F(ListTrackerTest, MoreListsThanTheBoundHaveNoState) {
  constexpr uint64_t kFirst = 100, kOneMore = kFirst + ListTracker::kMostLists;
  for (uint64_t list = kFirst; list < kOneMore; ++list) Reset(list, ObjectPointer(kPipeline));
  Reset(kOneMore);
  View(kOneMore, 1, 0x500);
  const uint64_t end = trace_.ObjectEnd(kFirst);
  const uint64_t again = Reset(kOneMore, ObjectPointer(kPipeline));
  EXPECT_FALSE(StateOf(kOneMore, end).has_value());
  EXPECT_EQ(StateOf(kOneMore - 1, end)->pipeline, kPipeline);
  EXPECT_FALSE(StateOf(kFirst).has_value());
  const std::optional<BoundState> state = StateOf(kOneMore);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->since, again);
  EXPECT_EQ(state->pipeline, kPipeline);
}

TEST_F(ListTrackerTest, APassIsOpenFromItsBeginToItsEnd) {
  const uint64_t pass =
      Call(List::ID3D12GraphicsCommandList4_BeginRenderPass, kList, 0, nullptr, nullptr, 0);
  const uint64_t end = Call(List::ID3D12GraphicsCommandList4_EndRenderPass, kList);
  EXPECT_EQ(StateOf(kList, end)->pass, pass);
  EXPECT_EQ(StateOf(kList)->pass, 0u);
}

TEST_F(ListTrackerTest, WhatGoesBeyondTheLimitsOfRootSignaturesAndSlotsIsIgnored) {
  const std::vector<uint32_t> constants(80, 1);
  const std::vector<VertexView> views(40);
  View(kList, 63, 0x500);
  View(kList, 64, 0x600);
  View(kList, 0xFFFFFFFF, 0x600);
  constexpr Method kConstants = List::ID3D12GraphicsCommandList_SetComputeRoot32BitConstants;
  Call(kConstants, kList, 0, 64, constants.data(), 0);
  Call(kConstants, kList, 1, 64, constants.data(), 1);
  Call(kConstants, kList, 1, 2, constants.data(), 0xFFFFFFFF);
  Call(kConstants, kList, 1, 65, constants.data(), 0);
  Call(List::ID3D12GraphicsCommandList_IASetVertexBuffers, kList, 0, 40, views.data());
  Call(List::ID3D12GraphicsCommandList_IASetVertexBuffers, kList, 0xFFFFFFFF, 2, views.data());
  constexpr uint64_t kOther = 4;
  for (uint32_t i = 0; i < 64; ++i) {
    Call(kConstants, kOther, i, 63, constants.data(), 0);
    for (uint32_t k = 1; k < 63; k += 2) Call(kConstants, kOther, i, 1, constants.data(), k);
  }
  EXPECT_LE(StateOf(kOther)->compute.arguments.size(), BoundState::kMostRootWords);
  const std::optional<BoundState> state = StateOf(kList);
  EXPECT_THAT(Addresses(state->graphics), ElementsAre(Pair(63, 0x500)));
  ASSERT_THAT(state->compute.arguments, SizeIs(1));
  EXPECT_THAT(state->compute.arguments.at({0, 0}).constants, SizeIs(64));
  EXPECT_THAT(state->vertex_buffers, SizeIs(BoundState::kMostSlots));
}

}  // namespace
}  // namespace cairn
