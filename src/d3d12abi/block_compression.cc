// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/block_compression.h"

#include <algorithm>
#include <cstring>

namespace cairn {
namespace {

uint8_t Byte(const std::byte* bytes, size_t index) {
  return static_cast<uint8_t>(bytes[index]);
}

void Color565(uint32_t value, uint8_t color[4]) {
  color[0] = static_cast<uint8_t>((value >> 11 & 31) * 255 / 31);
  color[1] = static_cast<uint8_t>((value >> 5 & 63) * 255 / 63);
  color[2] = static_cast<uint8_t>((value & 31) * 255 / 31);
  color[3] = 255;
}

// `may_be_clear`: BC1, where the order of the two colours says whether the fourth is transparent black.
void DecodeColors(const std::byte* bytes, bool may_be_clear, uint8_t texels[16][4]) {
  const uint32_t first = Byte(bytes, 0) | Byte(bytes, 1) << 8;
  const uint32_t second = Byte(bytes, 2) | Byte(bytes, 3) << 8;
  uint8_t colors[4][4] = {};
  Color565(first, colors[0]);
  Color565(second, colors[1]);
  const bool three = may_be_clear && first <= second;
  for (size_t i = 0; i < 4; ++i) {
    const int a = colors[0][i];
    const int b = colors[1][i];
    if (three) {
      colors[2][i] = static_cast<uint8_t>((a + b) / 2);
    } else {
      colors[2][i] = static_cast<uint8_t>((2 * a + b) / 3);
      colors[3][i] = static_cast<uint8_t>((a + 2 * b) / 3);
    }
  }
  uint32_t indices;
  std::memcpy(&indices, bytes + 4, sizeof(indices));
  for (size_t i = 0; i < 16; ++i) std::memcpy(texels[i], colors[indices >> (2 * i) & 3], 4);
}

// One channel of BC3 (alpha), BC4 and BC5.
void DecodeChannel(const std::byte* bytes, bool is_signed, size_t channel, uint8_t texels[16][4]) {
  int ends[2];
  for (size_t i = 0; i < 2; ++i) {
    ends[i] = is_signed ? std::max<int>(static_cast<int8_t>(Byte(bytes, i)), -127) : Byte(bytes, i);
  }
  int values[8] = {ends[0], ends[1]};
  if (ends[0] > ends[1]) {
    for (int i = 1; i < 7; ++i) values[i + 1] = ((7 - i) * ends[0] + i * ends[1]) / 7;
  } else {
    for (int i = 1; i < 5; ++i) values[i + 1] = ((5 - i) * ends[0] + i * ends[1]) / 5;
    values[6] = is_signed ? -127 : 0;
    values[7] = is_signed ? 127 : 255;
  }
  uint64_t indices = 0;
  std::memcpy(&indices, bytes + 2, 6);
  for (size_t i = 0; i < 16; ++i) {
    const int value = values[indices >> (3 * i) & 7];
    texels[i][channel] = static_cast<uint8_t>(is_signed ? std::max(value, 0) * 255 / 127 : value);
  }
}

void SpreadRed(uint8_t texels[16][4]) {
  for (size_t i = 0; i < 16; ++i) {
    texels[i][1] = texels[i][2] = texels[i][0];
    texels[i][3] = 255;
  }
}

// Two texels that share red and blue.
void DecodePair(const std::byte* bytes, bool green_first, uint8_t texels[16][4]) {
  const size_t green = green_first ? 0 : 1;
  for (size_t i = 0; i < 2; ++i) {
    texels[i][0] = Byte(bytes, 1 - green);
    texels[i][1] = Byte(bytes, green + 2 * i);
    texels[i][2] = Byte(bytes, 3 - green);
    texels[i][3] = 255;
  }
}

}  // namespace

bool DecodeBlock(DXGI_FORMAT format, const std::byte* bytes, uint8_t texels[16][4]) {
  switch (format) {
    case DXGI_FORMAT_BC1_UNORM:
    case DXGI_FORMAT_BC1_UNORM_SRGB:
      DecodeColors(bytes, /*may_be_clear=*/true, texels);
      return true;
    case DXGI_FORMAT_BC2_UNORM:
    case DXGI_FORMAT_BC2_UNORM_SRGB:
      DecodeColors(bytes + 8, /*may_be_clear=*/false, texels);
      for (size_t i = 0; i < 16; ++i) {
        texels[i][3] = static_cast<uint8_t>((Byte(bytes, i / 2) >> (i % 2 * 4) & 15) * 17);
      }
      return true;
    case DXGI_FORMAT_BC3_UNORM:
    case DXGI_FORMAT_BC3_UNORM_SRGB:
      DecodeColors(bytes + 8, /*may_be_clear=*/false, texels);
      DecodeChannel(bytes, /*is_signed=*/false, 3, texels);
      return true;
    case DXGI_FORMAT_BC4_UNORM:
    case DXGI_FORMAT_BC4_SNORM:
      DecodeChannel(bytes, format == DXGI_FORMAT_BC4_SNORM, 0, texels);
      SpreadRed(texels);
      return true;
    case DXGI_FORMAT_BC5_UNORM:
    case DXGI_FORMAT_BC5_SNORM:
      DecodeChannel(bytes, format == DXGI_FORMAT_BC5_SNORM, 0, texels);
      DecodeChannel(bytes + 8, format == DXGI_FORMAT_BC5_SNORM, 1, texels);
      for (size_t i = 0; i < 16; ++i) {
        texels[i][2] = 0;
        texels[i][3] = 255;
      }
      return true;
    case DXGI_FORMAT_R8G8_B8G8_UNORM: DecodePair(bytes, /*green_first=*/false, texels); return true;
    case DXGI_FORMAT_G8R8_G8B8_UNORM: DecodePair(bytes, /*green_first=*/true, texels); return true;
    default: return false;
  }
}

}  // namespace cairn
