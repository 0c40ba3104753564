// SPDX-License-Identifier: Apache-2.0
//
// Elements that become null, and values that are mapped back.
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <vector>

#include "reader/replay/testing/buffer_addresses_fixture.h"

namespace cairn {
namespace {

using BufferAddressesPartsTest = BufferAddressesFixture;

TEST_F(BufferAddressesPartsTest, InstancesThatAreNotKeptBecomeNull) {
  for (uint64_t i = 0; i < 4; ++i) memory_.Put(10, i * 64 + 56, FakeMemory::Recorded(12) + i);
  addresses_.Instances(kList, 10, 0, 4, /*pointers=*/false, {1, 3});
  Patch();
  for (const uint64_t i : {0, 3}) EXPECT_EQ(memory_.Get(10, i * 64 + 56), 0u) << i;
  for (const uint64_t i : {1, 2}) EXPECT_EQ(memory_.Get(10, i * 64 + 56), FakeMemory::Real(12) + i);
  EXPECT_FALSE(addresses_.missed_elements());
}

TEST_F(BufferAddressesPartsTest, NullsThatOthersWouldReadAreMissed) {
  addresses_.Instances(kList, 10, 0, 4, /*pointers=*/false);
  addresses_.Instances(kList, 10, 0, 4, /*pointers=*/false, {1, 3});
  Patch();
  EXPECT_TRUE(addresses_.missed_elements());
  addresses_.Reset(kList);
  // The record of the ray generation shader lies in a table of others.
  addresses_.ShaderTable(kList, 10, 64, 32, 0);
  addresses_.ShaderTable(kList, 10, 0, 192, 64, {0, 1});
  Patch();
  EXPECT_TRUE(addresses_.missed_elements());
  addresses_.Reset(kList);
  addresses_.ShaderTable(kList, 10, 64, 32, 0);
  addresses_.ShaderTable(kList, 10, 0, 192, 64, {1, 2});
  Patch();
  EXPECT_FALSE(addresses_.missed_elements());
  addresses_.Reset(kList);
  // Two pointers lead to one instance.
  memory_.Put(11, 0, FakeMemory::Recorded(10));
  memory_.Put(11, 8, FakeMemory::Recorded(10));
  addresses_.Instances(kList, 11, 0, 2, /*pointers=*/true, {0, 1});
  Patch();
  EXPECT_TRUE(addresses_.missed_elements());
}

TEST_F(BufferAddressesPartsTest, NullsOfTheCpuEndWithTheCallThatWantsThem) {
  memory_.of_cpu = {10};
  memory_.Put(10, 56, FakeMemory::Recorded(12) + 0x40);
  addresses_.Instances(kList, 10, 0, 1, /*pointers=*/false, {0, 0});
  Patch();
  EXPECT_EQ(memory_.Get(10, 56), 0u);
  // A write that covers a part of the address restores the others.
  const std::byte part{0x80};
  CpuWrites(10, 56, std::span(&part, 1));
  EXPECT_EQ(memory_.Get(10, 56), FakeMemory::Recorded(12) + 0x80);
  Patch();
  EXPECT_EQ(memory_.Get(10, 56), 0u);
  addresses_.Reset(kList);
  addresses_.Instances(kList, 10, 0, 1, /*pointers=*/false);
  Patch();
  EXPECT_EQ(memory_.Get(10, 56), FakeMemory::Real(12) + 0x80);
}

TEST_F(BufferAddressesPartsTest, InstancesBehindPointersThatAreNotKeptBecomeNull) {
  for (uint64_t i = 0; i < 3; ++i) {
    memory_.Put(10, i * 8, FakeMemory::Recorded(11) + i * 64);
    memory_.Put(11, i * 64 + 56, FakeMemory::Recorded(12));
  }
  addresses_.Instances(kList, 10, 0, 3, /*pointers=*/true, {0, 2});
  Patch();
  EXPECT_EQ(memory_.Get(11, 64 + 56), FakeMemory::Real(12));
  EXPECT_EQ(memory_.Get(11, 128 + 56), 0u);
  EXPECT_EQ(memory_.Get(10, 16), FakeMemory::Real(11) + 128) << "the pointer stays";
  EXPECT_FALSE(addresses_.missed_elements());
}

TEST_F(BufferAddressesPartsTest, ElementsThatCannotBecomeNullAreCounted) {
  memory_.of_shaders = {10};
  addresses_.ShadersWrote(kList, 10);
  addresses_.Instances(kList, 10, 0, 4, /*pointers=*/false, {1, 3});
  Patch();
  EXPECT_TRUE(addresses_.missed_elements());
  addresses_.Reset(kList);
  addresses_.Instances(kList, 12, 0x1000 - 2 * 64, 6, /*pointers=*/false, {0, 0});
  Patch();
  EXPECT_TRUE(addresses_.missed_elements()) << "four lie behind the end of the buffer";
  addresses_.Reset(kList);
  addresses_.Instances(kList, 11, 0, 1, /*pointers=*/true, {0, 0});
  Patch();
  EXPECT_TRUE(addresses_.missed_elements()) << "a pointer leads nowhere";
  addresses_.Reset(kList);
  addresses_.ShaderTable(kList, 12, 0xFFF, 64, 32, {0, 1});
  Patch();
  EXPECT_TRUE(addresses_.missed_elements()) << "a table ends behind the buffer";
  addresses_.Reset(kList);
  addresses_.Instances(kList, 10, 0, 4, /*pointers=*/false);
  Patch();
  EXPECT_FALSE(addresses_.missed_elements());
}

TEST_F(BufferAddressesPartsTest, RecordsThatAreNotKeptBecomeNullWhereTheyComeFrom) {
  ShaderIdentifier recorded = {};
  ShaderIdentifier real = {};
  recorded.fill(std::byte{0x11});
  real.fill(std::byte{0x22});
  addresses_.AddIdentifier(recorded, real);
  for (uint64_t record = 0; record < 3; ++record) {
    memory_.PutBytes(10, record * 64, recorded);
    memory_.Put(10, record * 64 + 32, FakeMemory::Recorded(12));
  }
  addresses_.Copy(kList, 11, 0, 10, 0, 192);
  addresses_.ShaderTable(kList, 11, 0, 192, 64, {1, 2});
  Patch();
  constexpr uint64_t kReal = 0x2222222222222222;
  for (uint64_t record = 0; record < 3; ++record) {
    EXPECT_EQ(memory_.Get(10, record * 64), record == 1 ? kReal : 0) << record;
    EXPECT_EQ(memory_.Get(10, record * 64 + 24), record == 1 ? kReal : 0) << record;
    EXPECT_EQ(memory_.Get(10, record * 64 + 32), FakeMemory::Real(12)) << record;
  }
  EXPECT_EQ(CountRecords(192, 64), 3u);
  EXPECT_EQ(CountRecords(191, 64), 3u);
  EXPECT_EQ(CountRecords(159, 64), 2u);
  EXPECT_EQ(CountRecords(64, 0), 1u);
  EXPECT_EQ(CountRecords(31, 0), 0u);
  EXPECT_EQ(CountRecords(64, 16), 0u);
}

// Two frames share a table: what a playback reads in the second is what the recording had.
TEST_F(BufferAddressesPartsTest, WhatWasReplacedIsMappedBack) {
  ShaderIdentifier recorded = {};
  ShaderIdentifier real = {};
  recorded.fill(std::byte{0x11});
  real.fill(std::byte{0x22});
  addresses_.AddIdentifier(recorded, real);
  memory_.PutBytes(10, 0, recorded);
  memory_.Put(10, 64 + 56, FakeMemory::Recorded(11) + 8);
  addresses_.ShaderTable(kList, 10, 0, 32, 0);
  addresses_.Instances(kList, 10, 64, 1, /*pointers=*/false);
  Patch();
  const auto back = [&](uint64_t buffer, uint64_t offset, uint64_t size) {
    const BufferAddresses::Memory::Piece piece = {buffer, offset, size};
    std::vector<std::byte> bytes = *memory_.Read(std::span(&piece, 1));
    return addresses_.MapBack(buffer, offset, &memory_, bytes) ? bytes : std::vector<std::byte>();
  };
  const auto address_in = [](const std::vector<std::byte>& instance) {
    uint64_t word = 0;
    if (instance.size() == 64) std::memcpy(&word, instance.data() + 56, sizeof(word));
    return word;
  };
  EXPECT_EQ(back(10, 0, 32), std::vector<std::byte>(recorded.begin(), recorded.end()));
  EXPECT_EQ(address_in(back(10, 64, 64)), FakeMemory::Recorded(11) + 8);
  // A copy may have brought them, or the program may have written these values.
  memory_.PutBytes(12, 0, real);
  memory_.Put(12, 64 + 56, FakeMemory::Real(11) + 8);
  EXPECT_EQ(back(12, 0, 32), std::vector<std::byte>(recorded.begin(), recorded.end()));
  EXPECT_EQ(back(12, 64, 64), std::vector<std::byte>()) << "an address of buffer 12 as well";
  addresses_.AddIdentifier(real, recorded);
  EXPECT_EQ(back(12, 0, 32), std::vector<std::byte>());
  EXPECT_EQ(back(10, 0, 32), std::vector<std::byte>(recorded.begin(), recorded.end()));
  // The values of the second frame are not replaced again.
  Patch();
  EXPECT_EQ(back(10, 0, 32), std::vector<std::byte>(recorded.begin(), recorded.end()));
  EXPECT_EQ(memory_.Get(10, 0), 0x2222222222222222u);
}

}  // namespace
}  // namespace cairn
