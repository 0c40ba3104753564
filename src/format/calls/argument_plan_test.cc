// SPDX-License-Identifier: Apache-2.0
//
// A method's plan leads to the same outcome as the walk through its tables, whatever the bytes are.
#include "format/calls/argument_plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "format/calls/value_decoder_internal.h"
#include "format/calls/value_printer.h"

namespace cairn {
namespace {

using Kind = ArgumentStep::Kind;
using Source = ArgumentCount::Source;

std::vector<Kind> KindsOf(Method method) {
  const ArgumentPlan plan = MakeArgumentPlan(Describe(method));
  EXPECT_TRUE(plan.is_copied);
  std::vector<Kind> kinds;
  for (const ArgumentStep& step : plan.steps) kinds.push_back(step.kind);
  return kinds;
}

TEST(ArgumentPlanTest, CommonCallsAreCopied) {
  EXPECT_EQ(KindsOf(Method::ID3D12GraphicsCommandList_DrawInstanced),
            std::vector<Kind>(4, Kind::kCopy));
  EXPECT_EQ(KindsOf(Method::ID3D12GraphicsCommandList_RSSetScissorRects),
            (std::vector<Kind>{Kind::kCopy, Kind::kElements}));
  EXPECT_EQ(KindsOf(Method::ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstants),
            (std::vector<Kind>{Kind::kCopy, Kind::kCopy, Kind::kElements, Kind::kCopy}));
  EXPECT_EQ(KindsOf(Method::ID3D12GraphicsCommandList_IASetVertexBuffers),
            (std::vector<Kind>{Kind::kCopy, Kind::kCopy, Kind::kElements}));
}

TEST(ArgumentPlanTest, WhatHasSomethingBehindItIsWalked) {
  for (const Method method :
       {Method::ID3D12GraphicsCommandList_ResourceBarrier,
        Method::ID3D12Device_CreateGraphicsPipelineState,
        Method::ID3D12Device_CreateCommittedResource, Method::ID3D12Object_SetName}) {
    EXPECT_FALSE(MakeArgumentPlan(Describe(method)).is_copied) << Describe(method).name;
  }
}

TEST(ArgumentPlanTest, TheVisitorsValuesAreKnown) {
  const ArgumentPlan plan = MakeArgumentPlan(
      Describe(Method::ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView));
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_FALSE(plan.steps[0].is_visited);
  EXPECT_TRUE(plan.steps[1].is_visited);
  EXPECT_TRUE(plan.is_visited);
  EXPECT_FALSE(
      MakeArgumentPlan(Describe(Method::ID3D12GraphicsCommandList_DrawInstanced)).is_visited);
}

TEST(ArgumentPlanTest, CountsComeFromWhereTheTablesSay) {
  const ArgumentPlan constants =
      MakeArgumentPlan(Describe(Method::ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstants));
  ASSERT_EQ(constants.counts.size(), 1u);
  EXPECT_EQ(constants.counts[0].parameter, 2);
  EXPECT_EQ(constants.counts[0].source, Source::kNumber);
  EXPECT_EQ(constants.counts[0].value, 1u);
  EXPECT_EQ(constants.counts[0].times, 4u);
  const ArgumentPlan factor =
      MakeArgumentPlan(Describe(Method::ID3D12GraphicsCommandList_OMSetBlendFactor));
  ASSERT_EQ(factor.counts.size(), 1u);
  EXPECT_EQ(factor.counts[0].source, Source::kConstant);
  EXPECT_EQ(factor.counts[0].value, 4u);
  const ArgumentPlan written =
      MakeArgumentPlan(Describe(Method::ID3D12Resource_WriteToSubresource));
  ASSERT_EQ(written.counts.size(), 2u);
  EXPECT_EQ(written.counts[1].source, Source::kNone);  // only the caller knows it
}

TEST(ArgumentPlanTest, AMethodHasOnePlan) {
  const MethodInfo& method = Describe(Method::ID3D12GraphicsCommandList_DrawInstanced);
  const ArgumentPlan* const plan = FindArgumentPlan(method);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(FindArgumentPlan(method), plan);
  const MethodInfo copy = method;
  EXPECT_EQ(FindArgumentPlan(copy), nullptr);
}

// Replaces numbers, and refuses one of them.
class Replacing final : public ValueVisitor {
 public:
  Status Object(Chain, uint64_t* place) override { return Replace(place); }
  Status GpuAddress(uint64_t* place) override { return Replace(place); }
  Status CpuDescriptor(uint64_t* place) override { return Replace(place); }
  Status GpuDescriptor(uint64_t* place) override { return Replace(place); }
  Status Handle(HandleKind, uint64_t* place) override { return Replace(place); }

 private:
  static Status Replace(uint64_t* place) {
    if (*place == (uint64_t{2} << 32 | 2)) return Status(StatusCode::kUnsupported, "number 2");
    *place += 40;
    return Status();
  }
};

struct Outcome {
  std::string error;
  std::string text;
  std::vector<uint64_t> counts;
  bool operator==(const Outcome&) const = default;
};

Outcome OutcomeOf(const Status& status, const MethodInfo& method, const DecodedCall& call) {
  if (!status.ok()) return {.error = status.message()};
  return {.text = PrintArguments(method, call, ValueNames(), true), .counts = call.counts};
}

TEST(ArgumentPlanTest, ThePlanAndTheWalkAgreeAboutAllBytes) {
  constexpr uint32_t kPatterns[][4] = {{0, 0, 0, 0},
                                       {1, 1, 1, 1},
                                       {2, 2, 2, 2},
                                       {1, 2, 0, 3},
                                       {kNullBytes, kNullBytes, kNullBytes, kNullBytes},
                                       {3, 0, kNullBytes, 1},
                                       {kBytesInBlobs, 0, 0, 0}};
  constexpr uint64_t kArenaBytes = 1 << 12;  // some counts ask for more
  Arena arena(kArenaBytes);
  Arena walks(kArenaBytes);
  Replacing replacing;
  size_t decoded = 0;
  for (uint32_t number = 0; number < kMethodCount; ++number) {
    const MethodInfo& method = Describe(static_cast<Method>(number));
    if (!FindArgumentPlan(method)->is_copied) continue;
    for (const auto& pattern : kPatterns) {
      std::vector<std::byte> body(64);
      for (size_t i = 0; i < body.size(); i += sizeof(pattern)) {
        std::memcpy(body.data() + i, pattern, sizeof(pattern));
      }
      for (size_t size = 0; size <= body.size(); size += 4) {
        for (ValueVisitor* const visitor :
             {static_cast<ValueVisitor*>(nullptr), static_cast<ValueVisitor*>(&replacing)}) {
          const std::span<const std::byte> bytes(body.data(), size);
          arena.Reset();
          walks.Reset();
          DecodedCall call;
          DecodeOptions options;
          options.visitor = visitor;
          const Outcome found =
              OutcomeOf(DecodeArguments(method, bytes, options, &arena, &call), method, call);
          const Status walked = ValueDecoder(bytes, options, &walks).Arguments(method, &call);
          ASSERT_EQ(found, OutcomeOf(walked, method, call))
              << method.name << ", " << size << " bytes of " << pattern[0] << ": " << found.error
              << found.text;
          decoded += found.error.empty() ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(decoded, 1000u);
}

}  // namespace
}  // namespace cairn
