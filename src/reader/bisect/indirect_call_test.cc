// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/indirect_call.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "format/trace/testing/test_trace.h"
#include "reader/bisect/culprit_parts.h"

namespace cairn {
namespace {

constexpr uint64_t kDevice = 1;
constexpr uint64_t kList = 3;
constexpr uint64_t kSignature = 4;
constexpr uint64_t kArguments = 5;
constexpr uint64_t kCount = 6;

// Commands that set two root constants and draw.
struct IndirectTrace {
  TestTrace test;
  uint64_t call = 0;

  explicit IndirectTrace(uint64_t count_buffer) {
    test.Object(kDevice, Chain::kID3D12Device, kDevice);
    D3D12_INDIRECT_ARGUMENT_DESC arguments[2] = {};
    arguments[0].Type = D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT;
    arguments[0].Constant.RootParameterIndex = 1;
    arguments[0].Constant.Num32BitValuesToSet = 2;
    arguments[1].Type = D3D12_INDIRECT_ARGUMENT_TYPE_DRAW;
    D3D12_COMMAND_SIGNATURE_DESC desc = {};
    desc.ByteStride = 32;
    desc.NumArgumentDescs = 2;
    desc.pArgumentDescs = arguments;
    void* place = nullptr;
    const uint64_t made = test.Make(Method::ID3D12Device_CreateCommandSignature, kDevice, &desc,
                                    nullptr, __uuidof(ID3D12CommandSignature), &place);
    test.Object(kSignature, Chain::kID3D12CommandSignature, kDevice, made);
    test.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
    call = test.Make(Method::ID3D12GraphicsCommandList_ExecuteIndirect, kList,
                     ObjectPointer(kSignature), 64u, ObjectPointer(kArguments), uint64_t{256},
                     count_buffer == 0 ? nullptr : ObjectPointer(count_buffer), uint64_t{8});
    EXPECT_TRUE(test.status().ok()) << test.status().message();
  }
};

TEST(IndirectCall, SaysWhereItsCommandsAndTheirCountLie) {
  IndirectTrace program(kCount);
  TraceReader trace = program.test.Open();
  const Result<IndirectCall> indirect = ReadIndirectCall(&trace, program.call);
  ASSERT_TRUE(indirect.ok()) << indirect.status().message();
  const CallParts parts = PartsOf(*indirect, program.call);
  EXPECT_EQ(64u, parts.count);
  EXPECT_EQ(32u, parts.stride_bytes);
  EXPECT_TRUE(parts.count_is_limit);
  EXPECT_FALSE(parts.only_prefixes);
  EXPECT_EQ((BytesToRead{9, kArguments, 256 + 3 * 32, 32}), ArgumentsOf(*indirect, 3, 9));
  EXPECT_EQ(0u, ArgumentsOf(*indirect, 64, 9).size_bytes);
  EXPECT_EQ((BytesToRead{9, kCount, 8, 4}), CountOf(*indirect, 9));
  EXPECT_EQ(StatusCode::kNotFound, ReadIndirectCall(&trace, program.call - 1).status().code());
  EXPECT_EQ(StatusCode::kNotFound, ReadIndirectCall(&trace, 9999).status().code());
}

TEST(IndirectCall, WithoutABufferTheCountIsThatOfTheCall) {
  IndirectTrace program(0);
  TraceReader trace = program.test.Open();
  const Result<IndirectCall> indirect = ReadIndirectCall(&trace, program.call);
  ASSERT_TRUE(indirect.ok()) << indirect.status().message();
  EXPECT_FALSE(PartsOf(*indirect, program.call).count_is_limit);
  EXPECT_EQ(0u, CountOf(*indirect, 9).size_bytes);
}

TEST(IndirectCall, ArgumentsWithoutBytesMakeNoLongText) {
  IndirectLayout layout;
  layout.stride_bytes = 4;
  layout.arguments.assign(1016, {D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT, 0, 0, 0});
  const std::string text = CommandInWords(layout, {});
  EXPECT_TRUE(text.ends_with("; … 1,000 more")) << text;
  EXPECT_LE(text.size(), 16u * 64);
}

TEST(IndirectCall, CommandsHaveWordsAsFarAsTheirBytesGo) {
  IndirectTrace program(0);
  TraceReader trace = program.test.Open();
  const Result<IndirectCall> indirect = ReadIndirectCall(&trace, program.call);
  ASSERT_TRUE(indirect.ok());
  const uint32_t words[8] = {7, 0xffff, 3, 1, 4000, 2, 0, 0};
  const auto bytes = std::as_bytes(std::span(words));
  EXPECT_EQ(
      "DrawInstanced: 3 vertices, 1 instance, first vertex 4,000, first instance 2; root constants "
      "of parameter 1: 0x7, 0xffff",
      CommandInWords(indirect->layout, bytes));
  EXPECT_EQ("root constants of parameter 1: 0x7, 0xffff",
            CommandInWords(indirect->layout, bytes.first(23)));
  EXPECT_EQ("", CommandInWords(indirect->layout, bytes.first(7)));
  EXPECT_EQ("", CommandInWords(indirect->layout, {}));
}

TEST(IndirectCall, IncrementingConstantsAllowOnlyPrefixes) {
  IndirectCall indirect;
  indirect.layout.arguments = {{kIncrementingConstant, 0, 0, 2}};
  EXPECT_TRUE(PartsOf(indirect, 5).only_prefixes);
}

TEST(QuestionBefore, LeavesOutTheCallAndAllBehindIt) {
  using Kind = Suspect::Kind;
  const auto calls = [](std::vector<uint64_t> numbers) {
    return std::make_shared<const std::vector<uint64_t>>(std::move(numbers));
  };
  BisectTree tree;
  tree.submissions = {{50, {{1, calls({10, 20})}}},
                      {100, {{1, calls({60, 70})}, {2, calls({75, 80, 90})}, {3, calls({95})}}},
                      {200, {}}};
  CulpritText culprit;
  culprit.suspect = {Kind::kCall, 80, 0};
  culprit.submission = 100;
  culprit.list_index = 1;
  const BisectQuestion question = QuestionBefore(tree, culprit);
  EXPECT_EQ(
      (std::vector<Suspect>{{Kind::kList, 100, 2}, {Kind::kCall, 80, 0}, {Kind::kCall, 90, 0}}),
      question.left_out);
  EXPECT_EQ(101u, question.stop_before);
  EXPECT_TRUE(question.rest_stays);
}

}  // namespace
}  // namespace cairn
