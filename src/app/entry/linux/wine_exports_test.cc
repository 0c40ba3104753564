// SPDX-License-Identifier: Apache-2.0
#include "app/entry/linux/wine_exports.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace cairn {
namespace {

constexpr uint32_t kHeaders = 0x80;
constexpr uint32_t kTable = 0x400;
constexpr uint32_t kTableBytes = 0x200;
constexpr uint32_t kNameCount = kTable + 24;
constexpr uint32_t kFunctions = kTable + 40;
constexpr uint32_t kNames = kTable + 64;
constexpr uint32_t kNumbers = kTable + 80;

// A library with the functions "Second" at 0x1230, and "First", which stands for another library's.
class Image {
 public:
  Image() {
    Put<uint16_t>(0, 0x5a4d);
    Put<uint32_t>(0x3c, kHeaders);
    Put<uint32_t>(kHeaders, 0x4550);
    Put<uint16_t>(kHeaders + 24, 0x20b);
    Put<uint32_t>(kHeaders + 24 + 56, bytes_.size());
    Put<uint32_t>(kHeaders + 24 + 112, kTable);
    Put<uint32_t>(kHeaders + 24 + 116, kTableBytes);
    Put<uint32_t>(kNameCount, 2);
    Put<uint32_t>(kTable + 28, kFunctions);
    Put<uint32_t>(kTable + 32, kNames);
    Put<uint32_t>(kTable + 36, kNumbers);
    Put<uint32_t>(kFunctions, 0x1230);
    Put<uint32_t>(kFunctions + 4, kTable + 100);  // "OTHER.Function"
    Put<uint32_t>(kNames, kTable + 120);
    Put<uint32_t>(kNames + 4, kTable + 130);
    Put<uint16_t>(kNumbers, 1);
    Put<uint16_t>(kNumbers + 2, 0);
    std::memcpy(&bytes_[kTable + 120], "First", 6);
    std::memcpy(&bytes_[kTable + 130], "Second", 7);
  }
  template <typename T>
  void Put(uint32_t offset, uint64_t value) {
    const T part = static_cast<T>(value);
    std::memcpy(&bytes_[offset], &part, sizeof(part));
  }
  const std::byte* base() const { return bytes_.data(); }
  bool Finds() const { return FindExport(base(), "Second") == base() + 0x1230; }
  bool FindsNothing() const { return FindExport(base(), "Second") == nullptr; }

 private:
  std::array<std::byte, 0x2000> bytes_{};
};

TEST(FindExport, ByItsWholeName) {
  const Image image;
  EXPECT_TRUE(image.Finds());
  for (const char* const name : {"First", "Secon", "Second2", "", "OTHER"}) {
    EXPECT_EQ(FindExport(image.base(), name), nullptr) << name;
  }
}

TEST(FindExport, WhatLeadsOutOfTheImageIsNothing) {
  for (const uint32_t offset : {kHeaders + 24 + 112, kNameCount, kTable + 28, kTable + 32,
                                kTable + 36, kFunctions, kNames + 4}) {
    for (const uint32_t value : {0x1fffu, 0x2000u, 0x7fffffffu, 0xffffffffu}) {
      Image image;
      image.Put<uint32_t>(offset, value);
      if (offset == kFunctions && value == 0x1fff) continue;  // the last byte
      EXPECT_TRUE(image.FindsNothing()) << offset << " " << value;
    }
  }
  Image image;
  image.Put<uint16_t>(kNumbers + 2, 0xffff);
  EXPECT_TRUE(image.FindsNothing());
}

TEST(KindOfProgram, WineMarksItsOwn) {
  Image image;
  EXPECT_EQ(KindOfProgram(image.base()), WineProgram::kProgram);
  const char signature[] = "Wine builtin DLL";
  for (uint32_t i = 0; i < sizeof(signature); ++i) image.Put<char>(0x40 + i, signature[i]);
  EXPECT_EQ(KindOfProgram(image.base()), WineProgram::kOfWine);
}

TEST(KindOfProgram, OthersAreLeftAlone) {
  EXPECT_EQ(KindOfProgram(nullptr), WineProgram::kNone);
  Image of_32_bits;
  of_32_bits.Put<uint16_t>(kHeaders + 24, 0x10b);
  EXPECT_EQ(KindOfProgram(of_32_bits.base()), WineProgram::k32Bits);
  Image far_headers;
  far_headers.Put<uint32_t>(0x3c, 0xffffff00);
  EXPECT_EQ(KindOfProgram(far_headers.base()), WineProgram::kNone);
}

}  // namespace
}  // namespace cairn
