// SPDX-License-Identifier: Apache-2.0
#include "format/model/call_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "format/calls/call_builder.h"
#include "format/model/call_kinds.h"
#include "format/model/decoded_arguments.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kResource = 5;
constexpr uint64_t kHandle = 0x4000;

class CallValuesTest : public testing::Test {
 protected:
  bool Read(uint32_t method, std::span<const std::byte> body) {
    Record record;
    record.method = static_cast<uint16_t>(method);
    record.body = body;
    return reader_.Read(record, nullptr, &values_, &call_);
  }
  bool ReadView() {
    constexpr Method kMethod = Method::ID3D12Device_CreateShaderResourceView;
    const CallBuilder::Body body =
        builder_.Call(kMethod, ObjectPointer(kResource), nullptr, kHandle);
    return Read(static_cast<uint32_t>(kMethod), body.bytes);
  }

  CallBuilder builder_;
  CallValuesReader reader_;
  CallValues values_;
  DecodedCall call_;
};

TEST_F(CallValuesTest, WhatACallRefersTo) {
  ASSERT_TRUE(ReadView());
  EXPECT_THAT(values_.objects, ElementsAre(kResource));
  EXPECT_THAT(values_.cpu_descriptors, ElementsAre(kHandle));
  ASSERT_NE(Argument<uint64_t>(call_, 2), nullptr);
  EXPECT_EQ(*Argument<uint64_t>(call_, 2), kHandle);
}

// Arguments of the call before would lie in memory that is free by then.
TEST_F(CallValuesTest, NothingIsLeftOfTheCallBefore) {
  ASSERT_TRUE(ReadView());
  EXPECT_FALSE(Read(static_cast<uint32_t>(Method::ID3D12Device_CreateShaderResourceView), {}));
  EXPECT_THAT(values_.objects, IsEmpty());
  EXPECT_THAT(call_.arguments, IsEmpty());

  ASSERT_TRUE(ReadView());
  EXPECT_FALSE(Read(kMethodCount, {}));
  EXPECT_THAT(values_.cpu_descriptors, IsEmpty());
  EXPECT_THAT(call_.arguments, IsEmpty());
}

// These have to be kept with a list (live_calls.h): a method of a newer interface has to be among them, too.
TEST(CallKindsTest, WhichCallsOfListsReadDescriptors) {
  std::vector<std::string> readers;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    if (ReadsDescriptors(static_cast<uint16_t>(i))) {
      readers.push_back(Describe(static_cast<Method>(i)).name);
    }
  }
  EXPECT_THAT(readers, testing::UnorderedElementsAre(
                           "ID3D12GraphicsCommandList::OMSetRenderTargets",
                           "ID3D12GraphicsCommandList::ClearDepthStencilView",
                           "ID3D12GraphicsCommandList::ClearRenderTargetView",
                           "ID3D12GraphicsCommandList::ClearUnorderedAccessViewUint",
                           "ID3D12GraphicsCommandList::ClearUnorderedAccessViewFloat",
                           "ID3D12GraphicsCommandList4::BeginRenderPass"));
}

}  // namespace
}  // namespace cairn
