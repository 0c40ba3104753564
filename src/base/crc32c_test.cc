// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace cairn {
namespace {

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<std::byte> Numbers(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 131 + (i >> 8));
  return bytes;
}

TEST(Crc32c, KnownValues) {
  // Check value of the CRC catalogue, and the test vectors of RFC 3720, B.4.
  std::vector<std::byte> zeros(32);
  std::vector<std::byte> ones(32, std::byte{0xFF});
  std::vector<std::byte> rising(32);
  for (size_t i = 0; i < 32; ++i) rising[i] = static_cast<std::byte>(i);
  for (const auto crc : {Crc32c, Crc32cPortable}) {
    EXPECT_EQ(crc({}, 0), 0u);
    EXPECT_EQ(crc(AsBytes("123456789"), 0), 0xE3069283u);
    EXPECT_EQ(crc(zeros, 0), 0x8A9136AAu);
    EXPECT_EQ(crc(ones, 0), 0x62A8AB43u);
    EXPECT_EQ(crc(rising, 0), 0x46DD794Eu);
  }
}

TEST(Crc32c, InstructionAndTableAgreeAtEveryLengthAndAlignment) {
  const std::vector<std::byte> bytes = Numbers(300);
  for (size_t start = 0; start < 9; ++start) {
    for (size_t size = 0; start + size <= bytes.size(); ++size) {
      const auto part = std::span(bytes).subspan(start, size);
      ASSERT_EQ(Crc32c(part), Crc32cPortable(part)) << start << " " << size;
    }
  }
}

TEST(Crc32c, ContinuesFromTheBytesBefore) {
  const std::vector<std::byte> bytes = Numbers(100);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const uint32_t first = Crc32c(std::span(bytes).first(cut));
    ASSERT_EQ(Crc32c(std::span(bytes).subspan(cut), first), Crc32c(bytes)) << cut;
  }
}

TEST(Crc32c, EveryFlippedBitChangesIt) {
  std::vector<std::byte> bytes = Numbers(64);
  const uint32_t whole = Crc32c(bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ASSERT_NE(Crc32c(bytes), whole) << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace cairn
