// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/own_memory.h"

#include <gtest/gtest.h>

#include "d3d12abi/testing/fake_device.h"

namespace cairn {
namespace {

constexpr uint64_t kBuffer = 5, kOtherBuffer = 6;

class OwnMemoryTest : public testing::Test {
 protected:
  OwnMemoryTest() { *device_.Receive() = CreateFakeDevice(); }
  D3D12_GPU_VIRTUAL_ADDRESS Provide(uint64_t buffer, uint64_t offset, uint64_t bytes) {
    const auto address = memory_.Provide(device_.get(), &cost_, {buffer, offset}, bytes);
    EXPECT_TRUE(address.ok()) << address.status().message();
    return address.ok() ? *address : 0;
  }

  ComPtr<ID3D12Device> device_;
  PlayCost cost_{~uint64_t{0}};
  OwnMemory memory_{D3D12_RESOURCE_STATE_COMMON};
};

TEST_F(OwnMemoryTest, EachPlaceHasItsOwn) {
  const auto first = Provide(kBuffer, 0, 300);
  EXPECT_EQ(Provide(kBuffer, 0, 300), first);
  EXPECT_EQ(Provide(kBuffer, 0, 512), first) << "whole steps of 256 bytes";
  EXPECT_EQ(Provide(kBuffer, 256, 100), first + 512);
  EXPECT_EQ(Provide(kBuffer, 0, 1), first);
  const auto other = Provide(kOtherBuffer, 0, 300);
  EXPECT_TRUE(other < first || other >= first + OwnMemory::kSmallestBlockBytes);
}

// A list that was recorded with the old address may be submitted later.
TEST_F(OwnMemoryTest, PlacesThatBecameTooSmallStay) {
  const auto small = Provide(kBuffer, 0, 256);
  const auto next = Provide(kBuffer, 256, 256);
  const auto large = Provide(kBuffer, 0, 257);
  EXPECT_EQ(large, next + 256);
  EXPECT_NE(large, small);
  EXPECT_EQ(Provide(kBuffer, 0, 512), large) << "twice as much, at least";
}

TEST_F(OwnMemoryTest, BlocksGrowAndEndWithTheirBuffer) {
  const int without = FakeObjectCount();
  for (uint64_t i = 0; i < 256; ++i) Provide(kBuffer, i * 256, 256);
  const int with_one = FakeObjectCount();
  Provide(kBuffer, 256 * 256, 2 * OwnMemory::kSmallestBlockBytes);
  const int with_two = FakeObjectCount();
  EXPECT_EQ(with_two - with_one, with_one - without) << "one block for 256 places";
  Provide(kOtherBuffer, 0, 256);
  EXPECT_TRUE(memory_.Remove(77).empty());
  EXPECT_EQ(memory_.Remove(kBuffer).size(), 2u);
  EXPECT_EQ(FakeObjectCount(), with_one) << "the other buffer's";
  memory_.Remove(kOtherBuffer);
  EXPECT_EQ(FakeObjectCount(), without);
}

// Buffers that share memory: it ends with the last one.
TEST_F(OwnMemoryTest, HeirsKeepIt) {
  const int without = FakeObjectCount();
  const auto address = Provide(kBuffer, 0, 256);
  const int with_one = FakeObjectCount();
  memory_.Give(kBuffer, {kOtherBuffer, 0});
  memory_.Give(kBuffer, {kOtherBuffer, 512});
  memory_.Remove(kBuffer);
  EXPECT_EQ(FakeObjectCount(), with_one);
  EXPECT_EQ(Provide(kOtherBuffer, 0, 256), address);
  EXPECT_NE(Provide(kOtherBuffer, 512, 256), address);
  memory_.Remove(kOtherBuffer);
  EXPECT_EQ(FakeObjectCount(), without);
}

TEST_F(OwnMemoryTest, ThereIsNoMoreThanAPlaybackMayCost) {
  const int without = FakeObjectCount();
  PlayCost cost(PlayCost::kMadeByteNs * 2 * OwnMemory::kSmallestBlockBytes);
  const auto provide = [&](uint64_t offset, uint64_t bytes) {
    return memory_.Provide(device_.get(), &cost, {kBuffer, offset}, bytes).status().code();
  };
  EXPECT_EQ(provide(0, ~uint64_t{0}), StatusCode::kUnsupported);
  EXPECT_EQ(provide(0, uint64_t{1} << 40), StatusCode::kUnsupported);
  EXPECT_EQ(FakeObjectCount(), without);
  PlayCost more(PlayCost::kMadeByteNs * 2 * OwnMemory::kSmallestBlockBytes);
  EXPECT_TRUE(memory_.Provide(device_.get(), &more, {kBuffer, 0}, 256).ok());
  EXPECT_FALSE(memory_.Provide(device_.get(), &more, {kBuffer, 256}, 1 << 20).ok());
  EXPECT_TRUE(more.spent());
}

// Sixteen mebibytes are all that made-up devices have.
TEST_F(OwnMemoryTest, DevicesMayHaveNone) {
  const auto address = memory_.Provide(device_.get(), &cost_, {kBuffer, 0}, 17 << 20);
  EXPECT_EQ(address.status().code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(address.status().message(),
            "there are no 17825792 bytes for what this device needs more");
  Provide(kBuffer, 0, 256);
}

}  // namespace
}  // namespace cairn
