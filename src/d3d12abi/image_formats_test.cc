// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/image_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace cairn {
namespace {

using testing::ElementsAre;

template <typename... Values>
std::vector<std::byte> Bytes(Values... values) {
  return {static_cast<std::byte>(values)...};
}

template <typename Word>
std::vector<std::byte> Words(std::initializer_list<Word> words) {
  std::vector<std::byte> bytes(words.size() * sizeof(Word));
  std::memcpy(bytes.data(), words.begin(), bytes.size());
  return bytes;
}

// A single texel as red, green, blue, alpha.
std::vector<uint8_t> Texel(DXGI_FORMAT format, const std::vector<std::byte>& bytes) {
  const Result<RgbaImage> image = ToRgba(format, 1, 1, bytes.size(), bytes);
  EXPECT_TRUE(image.ok()) << image.status().message();
  return image.ok() ? image->pixels : std::vector<uint8_t>();
}

TEST(ImageFormatsTest, EightBitsStayAsTheyAre) {
  EXPECT_THAT(Texel(DXGI_FORMAT_R8G8B8A8_UNORM, Bytes(1, 2, 3, 4)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Texel(DXGI_FORMAT_R8G8B8A8_TYPELESS, Bytes(1, 2, 3, 4)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Texel(DXGI_FORMAT_B8G8R8A8_UNORM_SRGB, Bytes(1, 2, 3, 4)), ElementsAre(3, 2, 1, 4));
  EXPECT_THAT(Texel(DXGI_FORMAT_B8G8R8X8_UNORM, Bytes(1, 2, 3, 4)), ElementsAre(3, 2, 1, 255));
  EXPECT_THAT(Texel(DXGI_FORMAT_R8_UNORM, Bytes(77)), ElementsAre(77, 77, 77, 255));
  EXPECT_THAT(Texel(DXGI_FORMAT_A8_UNORM, Bytes(77)), ElementsAre(77, 77, 77, 255));
  EXPECT_THAT(Texel(DXGI_FORMAT_R8G8_UINT, Bytes(7, 200)), ElementsAre(7, 200, 0, 255));
  EXPECT_THAT(Texel(DXGI_FORMAT_R8G8B8A8_SNORM, Bytes(127, 0x80, 0, 64)),
              ElementsAre(255, 0, 0, 129));
}

TEST(ImageFormatsTest, EveryByteOfEightBitsSurvivesThePath) {
  for (int value = 0; value < 256; ++value) {
    ASSERT_EQ(Texel(DXGI_FORMAT_B8G8R8A8_UNORM, Bytes(value, 0, 0, 0))[2], value);
  }
}

TEST(ImageFormatsTest, PackedFormats) {
  EXPECT_THAT(Texel(DXGI_FORMAT_B5G6R5_UNORM, Words<uint16_t>({0xF81F})),
              ElementsAre(255, 0, 255, 255));
  EXPECT_THAT(Texel(DXGI_FORMAT_B5G5R5A1_UNORM, Words<uint16_t>({0x03E0})),
              ElementsAre(0, 255, 0, 0));
  EXPECT_THAT(Texel(DXGI_FORMAT_B4G4R4A4_UNORM, Words<uint16_t>({0xF081})),
              ElementsAre(0, 136, 17, 255));
  EXPECT_THAT(Texel(DXGI_FORMAT_R10G10B10A2_UNORM, Words<uint32_t>({1023u << 10 | 2u << 30})),
              ElementsAre(0, 255, 0, 170));
  EXPECT_THAT(Texel(DXGI_FORMAT_R24_UNORM_X8_TYPELESS, Words<uint32_t>({0xAAFFFFFF})),
              ElementsAre(255, 255, 255, 255));
}

TEST(ImageFormatsTest, Floats) {
  EXPECT_THAT(Texel(DXGI_FORMAT_R32G32B32A32_FLOAT, Words<float>({1, 0.5f, -3, 9})),
              ElementsAre(255, 128, 0, 255));
  EXPECT_THAT(Texel(DXGI_FORMAT_R32G32B32_FLOAT, Words<float>({0.2f, NAN, INFINITY})),
              ElementsAre(51, 0, 255, 255));
  // Halves: 1, 0.5, the smallest there is, and minus one.
  EXPECT_THAT(Texel(DXGI_FORMAT_R16G16B16A16_FLOAT, Words<uint16_t>({0x3C00, 0x3800, 1, 0xBC00})),
              ElementsAre(255, 128, 0, 0));
  // 11, 11 and 10 bits: 1, 0.5, 1.
  EXPECT_THAT(Texel(DXGI_FORMAT_R11G11B10_FLOAT,
                    Words<uint32_t>({15u << 6 | 14u << (6 + 11) | 15u << (5 + 22)})),
              ElementsAre(255, 128, 255, 255));
  // 256 / 512 * 2^(exponent - 15): 1 and a half of it.
  EXPECT_THAT(
      Texel(DXGI_FORMAT_R9G9B9E5_SHAREDEXP, Words<uint32_t>({256u | 128u << 9 | 16u << 27})),
      ElementsAre(255, 128, 0, 255));
}

TEST(ImageFormatsTest, WideIntegersAreCutOrStretched) {
  const auto bytes = Words<uint32_t>({100, 5000, 200});
  const auto natural = ToRgba(DXGI_FORMAT_R32_UINT, 3, 1, 12, bytes);
  ASSERT_TRUE(natural.ok());
  EXPECT_EQ(natural->pixels[0], 100);
  EXPECT_EQ(natural->pixels[4], 255);
  const auto depth = Words<float>({0.99f, 1.0f, 0.995f});
  const auto stretched = ToRgba(DXGI_FORMAT_D32_FLOAT, 3, 1, 12, depth, ValueRange::kStretched);
  ASSERT_TRUE(stretched.ok());
  EXPECT_EQ(stretched->pixels[0], 0);
  EXPECT_EQ(stretched->pixels[4], 255);
  EXPECT_NEAR(stretched->pixels[8], 128, 1);
}

TEST(ImageFormatsTest, RowsMayHavePadding) {
  const auto bytes = Bytes(1, 2, 99, 99, 3, 4);
  const auto image = ToRgba(DXGI_FORMAT_R8_UNORM, 2, 2, 4, bytes);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->pixels[0], 1);
  EXPECT_EQ(image->pixels[4], 2);
  EXPECT_EQ(image->pixels[8], 3);
  EXPECT_EQ(image->pixels[12], 4);
}

TEST(ImageFormatsTest, CompressedBlocks) {
  // Red and blue; the first four texels take each of the four colours.
  const auto bc1 = Bytes(0x00, 0xF8, 0x1F, 0x00, 0xE4, 0, 0, 0);
  auto image = ToRgba(DXGI_FORMAT_BC1_UNORM, 4, 4, 8, bc1);
  ASSERT_TRUE(image.ok());
  EXPECT_THAT(image->pixels, testing::Contains(255));
  const std::vector<uint8_t> row(image->pixels.begin(), image->pixels.begin() + 16);
  EXPECT_THAT(row, ElementsAre(255, 0, 0, 255, 0, 0, 255, 255, 170, 0, 85, 255, 85, 0, 170, 255));
  // The other way around, the fourth is clear.
  const auto clear = Bytes(0x1F, 0x00, 0x00, 0xF8, 0xE4, 0, 0, 0);
  image = ToRgba(DXGI_FORMAT_BC1_TYPELESS, 3, 2, 8, clear);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->pixels.size(), 24u);
  EXPECT_THAT(std::vector<uint8_t>(image->pixels.begin() + 8, image->pixels.begin() + 12),
              ElementsAre(127, 0, 127, 255));
  // BC4: 255, 0 and the six between.
  const auto bc4 = Bytes(255, 0, 0x88, 0xC6, 0xFA, 0, 0, 0);
  image = ToRgba(DXGI_FORMAT_BC4_UNORM, 4, 4, 8, bc4);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->pixels[0], 255);
  EXPECT_EQ(image->pixels[4], 0);
  EXPECT_EQ(image->pixels[8], 218);
  EXPECT_EQ(image->pixels[9], 218);
  EXPECT_EQ(image->pixels[7 * 4], 36);
  // BC2: alpha as it is.
  auto bc2 = Bytes(0xA5, 0, 0, 0, 0, 0, 0, 0);
  bc2.insert(bc2.end(), bc1.begin(), bc1.end());
  image = ToRgba(DXGI_FORMAT_BC2_UNORM, 4, 4, 16, bc2);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->pixels[3], 85);
  EXPECT_EQ(image->pixels[7], 170);
  // BC3 and BC5 have what BC4 has.
  auto bc3 = bc4;
  bc3.insert(bc3.end(), bc1.begin(), bc1.end());
  image = ToRgba(DXGI_FORMAT_BC3_UNORM_SRGB, 4, 4, 16, bc3);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->pixels[0], 255);
  EXPECT_EQ(image->pixels[7], 0);
  image = ToRgba(DXGI_FORMAT_BC5_UNORM, 4, 4, 16, bc3);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->pixels[4], 0);
  EXPECT_EQ(image->pixels[2], 0);
}

TEST(ImageFormatsTest, PairsShareColours) {
  const auto image = ToRgba(DXGI_FORMAT_R8G8_B8G8_UNORM, 2, 1, 4, Bytes(1, 2, 3, 4));
  ASSERT_TRUE(image.ok());
  EXPECT_THAT(image->pixels, ElementsAre(1, 2, 3, 255, 1, 4, 3, 255));
  const auto other = ToRgba(DXGI_FORMAT_G8R8_G8B8_UNORM, 2, 1, 4, Bytes(1, 2, 3, 4));
  ASSERT_TRUE(other.ok());
  EXPECT_THAT(other->pixels, ElementsAre(2, 1, 4, 255, 2, 3, 4, 255));
}

TEST(ImageFormatsTest, WhatCannotBeShownIsRefused) {
  EXPECT_EQ(ToRgba(DXGI_FORMAT_BC7_UNORM, 4, 4, 16, Bytes(0, 0, 0, 0)).status().code(),
            StatusCode::kInvalidArgument);
  const std::vector<std::byte> block(16);
  EXPECT_EQ(ToRgba(DXGI_FORMAT_BC7_UNORM, 4, 4, 16, block).status().code(),
            StatusCode::kUnsupported);
  EXPECT_EQ(ToRgba(DXGI_FORMAT_NV12, 4, 1, 4, block).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(ToRgba(static_cast<DXGI_FORMAT>(5000), 1, 1, 4, block).status().code(),
            StatusCode::kUnsupported);
  EXPECT_EQ(ToRgba(DXGI_FORMAT_R8_UNORM, 0, 4, 4, block).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(ToRgba(DXGI_FORMAT_R8_UNORM, 4, 5, 4, block).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(ToRgba(DXGI_FORMAT_R8_UNORM, 4, 4, 3, block).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(ToRgba(DXGI_FORMAT_R8_UNORM, 4, 0xFFFFFFFF, ~uint64_t{0}, block).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(ImageFormatsTest, DifferencesAreCountedAndShown) {
  RgbaImage first = {2, 1, {10, 20, 30, 255, 0, 0, 0, 0}};
  RgbaImage second = first;
  EXPECT_TRUE(CompareImages(first, second).same_size);
  EXPECT_EQ(CompareImages(first, second).different_pixels, 0u);
  EXPECT_TRUE(CompareImages(first, second).picture.pixels.empty());
  second.pixels[6] = 100;
  const ImageDifference difference = CompareImages(first, second);
  EXPECT_EQ(difference.different_pixels, 1u);
  EXPECT_EQ(difference.largest, 100);
  EXPECT_THAT(difference.picture.pixels, ElementsAre(10, 10, 10, 255, 178, 0, 0, 255));
  second.width = 1;
  EXPECT_FALSE(CompareImages(first, second).same_size);
}

}  // namespace
}  // namespace cairn
