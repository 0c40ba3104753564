// SPDX-License-Identifier: Apache-2.0
// ByteReader and ByteWriter together: what one writes, the other reads, and nothing else.
#include "base/byte_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "base/byte_writer.h"

namespace cairn {
namespace {

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(ByteWriter, IsLittleEndian) {
  ByteWriter writer;
  writer.WriteU8(0x01);
  writer.WriteU16(0x0203);
  writer.WriteU32(0x04050607);
  writer.WriteU64(0x08090A0B0C0D0E0F);
  EXPECT_EQ(writer.Take(), Bytes({0x01, 0x03, 0x02, 0x07, 0x06, 0x05, 0x04, 0x0F, 0x0E, 0x0D, 0x0C,
                                  0x0B, 0x0A, 0x09, 0x08}));
  EXPECT_EQ(writer.size(), 0u);
}

TEST(ByteReader, ReadsFixedNumbers) {
  ByteWriter writer;
  writer.WriteU8(200);
  writer.WriteU16(0xBEEF);
  writer.WriteU32(0xDEADBEEF);
  writer.WriteU64(0x0123456789ABCDEF);
  writer.WriteI32(-5);
  writer.WriteI64(std::numeric_limits<int64_t>::min());
  ByteReader reader(writer.bytes());
  uint8_t u8 = 0;
  uint16_t u16 = 0;
  uint32_t u32 = 0;
  uint64_t u64 = 0;
  int32_t i32 = 0;
  int64_t i64 = 0;
  EXPECT_TRUE(reader.ReadU8(u8) && reader.ReadU16(u16) && reader.ReadU32(u32) &&
              reader.ReadU64(u64) && reader.ReadI32(i32) && reader.ReadI64(i64));
  EXPECT_EQ(u8, 200);
  EXPECT_EQ(u16, 0xBEEF);
  EXPECT_EQ(u32, 0xDEADBEEF);
  EXPECT_EQ(u64, 0x0123456789ABCDEFu);
  EXPECT_EQ(i32, -5);
  EXPECT_EQ(i64, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_TRUE(reader.ok());
}

TEST(ByteReader, FailureIsStickyAndZeroesTheOutput) {
  const std::vector<std::byte> three = Bytes({1, 2, 3});
  ByteReader reader(three);
  uint32_t u32 = 77;
  EXPECT_FALSE(reader.ReadU32(u32));
  EXPECT_EQ(u32, 0u);
  uint8_t u8 = 77;
  EXPECT_FALSE(reader.ReadU8(u8)) << "one byte would be there, but the reader has failed";
  EXPECT_EQ(u8, 0);
  uint64_t varint = 77;
  EXPECT_FALSE(reader.ReadVarint(varint));
  EXPECT_EQ(varint, 0u);
  EXPECT_FALSE(reader.Skip(0));
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.offset(), 0u);
}

TEST(ByteReader, VarintsRoundTripAtEveryBitWidth) {
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t value :
         {uint64_t{1} << bit, (uint64_t{1} << bit) - 1, ~uint64_t{0} >> bit}) {
      ByteWriter writer;
      writer.WriteVarint(value);
      writer.WriteSignedVarint(static_cast<int64_t>(value));
      ByteReader reader(writer.bytes());
      uint64_t read = 0;
      int64_t read_signed = 0;
      EXPECT_TRUE(reader.ReadVarint(read) && reader.ReadSignedVarint(read_signed));
      EXPECT_EQ(read, value);
      EXPECT_EQ(read_signed, static_cast<int64_t>(value));
      EXPECT_EQ(reader.remaining(), 0u);
    }
  }
}

TEST(ByteReader, VarintBytesAreLeb128) {
  ByteWriter writer;
  writer.WriteVarint(624485);
  writer.WriteSignedVarint(-2);
  EXPECT_EQ(writer.Take(), Bytes({0xE5, 0x8E, 0x26, 0x03}));
}

TEST(ByteReader, RefusesMalformedVarints) {
  uint64_t value = 0;
  const std::vector<std::byte> cut = Bytes({0x80, 0x80});
  EXPECT_FALSE(ByteReader(cut).ReadVarint(value));
  const std::vector<std::byte> empty;
  EXPECT_FALSE(ByteReader(empty).ReadVarint(value));
  std::vector<std::byte> ten(9, std::byte{0xFF});
  ten.push_back(std::byte{0x01});
  EXPECT_TRUE(ByteReader(ten).ReadVarint(value));
  EXPECT_EQ(value, std::numeric_limits<uint64_t>::max());
  ten.back() = std::byte{0x02};
  EXPECT_FALSE(ByteReader(ten).ReadVarint(value)) << "bit 64";
  ten.back() = std::byte{0x81};
  ten.push_back(std::byte{0x00});
  EXPECT_FALSE(ByteReader(ten).ReadVarint(value)) << "11 bytes";
}

TEST(ByteReader, Varint32RefusesLargerValues) {
  ByteWriter writer;
  writer.WriteVarint(0xFFFFFFFF);
  writer.WriteVarint(0x100000000);
  ByteReader reader(writer.bytes());
  uint32_t value = 0;
  EXPECT_TRUE(reader.ReadVarint32(value));
  EXPECT_EQ(value, 0xFFFFFFFFu);
  EXPECT_FALSE(reader.ReadVarint32(value));
  EXPECT_EQ(value, 0u);
}

TEST(ByteReader, CountIsBoundedByWhatIsLeft) {
  ByteWriter writer;
  writer.WriteVarint(3);
  writer.WriteBytes(Bytes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  uint32_t count = 0;
  EXPECT_TRUE(ByteReader(writer.bytes()).ReadCount(4, count));
  EXPECT_EQ(count, 3u);
  EXPECT_FALSE(ByteReader(writer.bytes()).ReadCount(5, count));
  EXPECT_EQ(count, 0u);
  const std::vector<std::byte> huge = Bytes({0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0});
  EXPECT_FALSE(ByteReader(huge).ReadCount(1, count));
}

TEST(ByteReader, StringsHaveALimit) {
  ByteWriter writer;
  writer.WriteString("Shadow pass", 100);
  std::string_view text;
  EXPECT_TRUE(ByteReader(writer.bytes()).ReadString(11, text));
  EXPECT_EQ(text, "Shadow pass");
  EXPECT_FALSE(ByteReader(writer.bytes()).ReadString(10, text));
  EXPECT_EQ(text, "");
  EXPECT_FALSE(ByteReader(writer.bytes().first(11)).ReadString(100, text)) << "one byte is missing";
  EXPECT_EQ(text, "");
}

TEST(ByteReader, StringLengthsNearTheTypesLimitDoNotOverflow) {
  for (const uint64_t length : {~uint64_t{0}, ~uint64_t{0} - 9, uint64_t{1} << 63}) {
    ByteWriter writer;
    writer.WriteVarint(length);
    writer.WriteU64(0);
    std::string_view text;
    EXPECT_FALSE(ByteReader(writer.bytes()).ReadString(std::numeric_limits<size_t>::max(), text));
  }
}

TEST(ByteWriter, CutsStringsInFrontOfACodePoint) {
  ByteWriter writer;
  writer.WriteString("a\xE2\x82\xAC", 3);
  EXPECT_EQ(writer.Take(), Bytes({1, 'a'}));
}

TEST(ByteReader, BytesAndSkipStopAtTheEnd) {
  const std::vector<std::byte> four = Bytes({1, 2, 3, 4});
  ByteReader reader(four);
  std::span<const std::byte> bytes;
  EXPECT_TRUE(reader.Skip(1));
  EXPECT_TRUE(reader.ReadBytes(2, bytes));
  EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), Bytes({2, 3}));
  EXPECT_EQ(reader.offset(), 3u);
  EXPECT_FALSE(reader.ReadBytes(std::numeric_limits<size_t>::max(), bytes));
  EXPECT_TRUE(bytes.empty());
}

TEST(ByteReader, FailMarksTheDataAsMalformed) {
  const std::vector<std::byte> one = Bytes({1});
  ByteReader reader(one);
  reader.Fail();
  uint8_t value = 9;
  EXPECT_FALSE(reader.ReadU8(value));
  EXPECT_EQ(value, 0);
}

TEST(ByteWriter, AlignsWithZeros) {
  ByteWriter writer;
  writer.WriteU8(7);
  writer.AlignTo(4);
  writer.AlignTo(4);
  EXPECT_EQ(writer.Take(), Bytes({7, 0, 0, 0}));
}

}  // namespace
}  // namespace cairn
