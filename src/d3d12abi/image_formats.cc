// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/image_formats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "d3d12abi/block_compression.h"

namespace cairn {
namespace {

constexpr auto kA4B4G4R4 = static_cast<DXGI_FORMAT>(191);  // newer than the headers here

enum class Kind : uint8_t { kUnorm, kSnorm, kUint, kSint, kFloat, kSharedExponent };

// Channels are red, green, blue, alpha; 0 bits: there is none.
struct Texel {
  uint8_t bytes = 0;
  Kind kind = Kind::kUnorm;
  std::array<uint8_t, 4> bits = {};
  std::array<uint8_t, 4> shift = {};
};

constexpr Texel InOrder(Kind kind, uint8_t channels, uint8_t bits) {
  Texel texel = {static_cast<uint8_t>(channels * bits / 8), kind, {}, {}};
  for (uint8_t i = 0; i < channels; ++i) {
    texel.bits[i] = bits;
    texel.shift[i] = static_cast<uint8_t>(i * bits);
  }
  return texel;
}

Texel TexelOf(DXGI_FORMAT format) {
  switch (format) {
    case DXGI_FORMAT_R32G32B32A32_FLOAT: return InOrder(Kind::kFloat, 4, 32);
    case DXGI_FORMAT_R32G32B32A32_UINT: return InOrder(Kind::kUint, 4, 32);
    case DXGI_FORMAT_R32G32B32A32_SINT: return InOrder(Kind::kSint, 4, 32);
    case DXGI_FORMAT_R32G32B32_FLOAT: return InOrder(Kind::kFloat, 3, 32);
    case DXGI_FORMAT_R32G32B32_UINT: return InOrder(Kind::kUint, 3, 32);
    case DXGI_FORMAT_R32G32B32_SINT: return InOrder(Kind::kSint, 3, 32);
    case DXGI_FORMAT_R16G16B16A16_FLOAT: return InOrder(Kind::kFloat, 4, 16);
    case DXGI_FORMAT_R16G16B16A16_UNORM: return InOrder(Kind::kUnorm, 4, 16);
    case DXGI_FORMAT_R16G16B16A16_UINT: return InOrder(Kind::kUint, 4, 16);
    case DXGI_FORMAT_R16G16B16A16_SNORM: return InOrder(Kind::kSnorm, 4, 16);
    case DXGI_FORMAT_R16G16B16A16_SINT: return InOrder(Kind::kSint, 4, 16);
    case DXGI_FORMAT_R32G32_FLOAT: return InOrder(Kind::kFloat, 2, 32);
    case DXGI_FORMAT_R32G32_UINT: return InOrder(Kind::kUint, 2, 32);
    case DXGI_FORMAT_R32G32_SINT: return InOrder(Kind::kSint, 2, 32);
    case DXGI_FORMAT_R10G10B10A2_UNORM: return {4, Kind::kUnorm, {10, 10, 10, 2}, {0, 10, 20, 30}};
    case DXGI_FORMAT_R10G10B10A2_UINT: return {4, Kind::kUint, {10, 10, 10, 2}, {0, 10, 20, 30}};
    case DXGI_FORMAT_R11G11B10_FLOAT: return {4, Kind::kFloat, {11, 11, 10, 0}, {0, 11, 22, 0}};
    case DXGI_FORMAT_R8G8B8A8_UNORM:
    case DXGI_FORMAT_R8G8B8A8_UNORM_SRGB: return InOrder(Kind::kUnorm, 4, 8);
    case DXGI_FORMAT_R8G8B8A8_UINT: return InOrder(Kind::kUint, 4, 8);
    case DXGI_FORMAT_R8G8B8A8_SNORM: return InOrder(Kind::kSnorm, 4, 8);
    case DXGI_FORMAT_R8G8B8A8_SINT: return InOrder(Kind::kSint, 4, 8);
    case DXGI_FORMAT_R16G16_FLOAT: return InOrder(Kind::kFloat, 2, 16);
    case DXGI_FORMAT_R16G16_UNORM: return InOrder(Kind::kUnorm, 2, 16);
    case DXGI_FORMAT_R16G16_UINT: return InOrder(Kind::kUint, 2, 16);
    case DXGI_FORMAT_R16G16_SNORM: return InOrder(Kind::kSnorm, 2, 16);
    case DXGI_FORMAT_R16G16_SINT: return InOrder(Kind::kSint, 2, 16);
    case DXGI_FORMAT_D32_FLOAT:
    case DXGI_FORMAT_R32_FLOAT: return InOrder(Kind::kFloat, 1, 32);
    case DXGI_FORMAT_R32_UINT: return InOrder(Kind::kUint, 1, 32);
    case DXGI_FORMAT_R32_SINT: return InOrder(Kind::kSint, 1, 32);
    // The depth of a plane in 32 bits.
    case DXGI_FORMAT_R24_UNORM_X8_TYPELESS: return {4, Kind::kUnorm, {24, 0, 0, 0}, {}};
    case DXGI_FORMAT_R8G8_UNORM: return InOrder(Kind::kUnorm, 2, 8);
    case DXGI_FORMAT_R8G8_UINT: return InOrder(Kind::kUint, 2, 8);
    case DXGI_FORMAT_R8G8_SNORM: return InOrder(Kind::kSnorm, 2, 8);
    case DXGI_FORMAT_R8G8_SINT: return InOrder(Kind::kSint, 2, 8);
    case DXGI_FORMAT_R16_FLOAT: return InOrder(Kind::kFloat, 1, 16);
    case DXGI_FORMAT_D16_UNORM:
    case DXGI_FORMAT_R16_UNORM: return InOrder(Kind::kUnorm, 1, 16);
    case DXGI_FORMAT_R16_UINT: return InOrder(Kind::kUint, 1, 16);
    case DXGI_FORMAT_R16_SNORM: return InOrder(Kind::kSnorm, 1, 16);
    case DXGI_FORMAT_R16_SINT: return InOrder(Kind::kSint, 1, 16);
    case DXGI_FORMAT_A8_UNORM:  // shown as grey
    case DXGI_FORMAT_R8_UNORM: return InOrder(Kind::kUnorm, 1, 8);
    case DXGI_FORMAT_R8_UINT: return InOrder(Kind::kUint, 1, 8);
    case DXGI_FORMAT_R8_SNORM: return InOrder(Kind::kSnorm, 1, 8);
    case DXGI_FORMAT_R8_SINT: return InOrder(Kind::kSint, 1, 8);
    case DXGI_FORMAT_R9G9B9E5_SHAREDEXP:
      return {4, Kind::kSharedExponent, {9, 9, 9, 0}, {0, 9, 18, 0}};
    case DXGI_FORMAT_B5G6R5_UNORM: return {2, Kind::kUnorm, {5, 6, 5, 0}, {11, 5, 0, 0}};
    case DXGI_FORMAT_B5G5R5A1_UNORM: return {2, Kind::kUnorm, {5, 5, 5, 1}, {10, 5, 0, 15}};
    case DXGI_FORMAT_B4G4R4A4_UNORM: return {2, Kind::kUnorm, {4, 4, 4, 4}, {8, 4, 0, 12}};
    case DXGI_FORMAT_B8G8R8A8_UNORM:
    case DXGI_FORMAT_B8G8R8A8_UNORM_SRGB: return {4, Kind::kUnorm, {8, 8, 8, 8}, {16, 8, 0, 24}};
    case DXGI_FORMAT_B8G8R8X8_UNORM:
    case DXGI_FORMAT_B8G8R8X8_UNORM_SRGB: return {4, Kind::kUnorm, {8, 8, 8, 0}, {16, 8, 0, 0}};
    default: return {};
  }
}

// Floats of 10, 11 (no sign), 16 and 32 bits.
float SmallFloat(uint32_t value, uint32_t bits) {
  if (bits == 32) return std::bit_cast<float>(value);
  const uint32_t mantissa_bits = bits == 16 ? 10 : bits - 5;
  const uint32_t mantissa = value & ((1u << mantissa_bits) - 1);
  const uint32_t exponent = value >> mantissa_bits & 31;
  const float sign = bits == 16 && (value >> 15) != 0 ? -1.0f : 1.0f;
  const float fraction = static_cast<float>(mantissa) / static_cast<float>(1u << mantissa_bits);
  if (exponent == 31) return mantissa != 0 ? std::nanf("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -14);
  return sign * std::ldexp(1.0f + fraction, static_cast<int>(exponent) - 15);
}

int32_t SignExtended(uint32_t value, uint32_t bits) {
  return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
}

// A channel's value: 0 to 1 in normalised formats.
double ValueOf(const Texel& texel, size_t channel, const std::byte* bytes) {
  const uint32_t bits = texel.bits[channel];
  uint64_t word = 0;
  const uint32_t first = texel.shift[channel] / 32 * 4u;
  std::memcpy(&word, bytes + first, std::min<size_t>(texel.bytes - first, 4));
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  const auto value = static_cast<uint32_t>(word >> texel.shift[channel] % 32 & mask);
  switch (texel.kind) {
    case Kind::kUnorm: return static_cast<double>(value) / static_cast<double>(mask);
    case Kind::kSnorm:
      return std::max(SignExtended(value, bits) / static_cast<double>(mask >> 1), -1.0);
    case Kind::kUint: return value;
    case Kind::kSint: return SignExtended(value, bits);
    case Kind::kFloat: return static_cast<double>(SmallFloat(value, bits));
    case Kind::kSharedExponent:
      return std::ldexp(static_cast<double>(value), static_cast<int>(word >> 27 & 31) - 15 - 9);
  }
  return 0;
}

uint8_t ToByte(double value, double low, double high) {
  if (!(high > low)) return 0;
  const double scaled = (value - low) / (high - low) * 255.0;
  if (!(scaled > 0)) return 0;  // and what is no number
  return static_cast<uint8_t>(std::min(scaled, 255.0) + 0.5);
}

Status CheckSize(const FormatLayout& layout, uint32_t width, uint32_t height, uint64_t row_bytes,
                 uint64_t available) {
  constexpr uint32_t kLargest = 1u << 16;
  if (width == 0 || height == 0 || width > kLargest || height > kLargest) {
    return {StatusCode::kInvalidArgument,
            "an image of " + std::to_string(width) + " x " + std::to_string(height) + " texels"};
  }
  const uint64_t columns = (width + layout.block_width - 1) / layout.block_width;
  const uint64_t rows = (height + layout.block_height - 1) / layout.block_height;
  const uint64_t needed = columns * layout.block_bytes;
  if (row_bytes < needed || available < needed || (available - needed) / row_bytes < rows - 1) {
    return {StatusCode::kInvalidArgument, std::to_string(available) + " bytes in rows of " +
                                              std::to_string(row_bytes) + " are too few for " +
                                              std::to_string(width) + " x " +
                                              std::to_string(height) + " texels"};
  }
  return {};
}

struct Bounds {
  double low = 0;
  double high = 1;
};

Bounds BoundsOf(const Texel& texel, uint32_t width, uint32_t height, uint64_t row_bytes,
                const std::byte* bytes) {
  Bounds bounds = {INFINITY, -INFINITY};
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      for (size_t channel = 0; channel < 3; ++channel) {
        if (texel.bits[channel] == 0) continue;
        const double value = ValueOf(texel, channel, bytes + y * row_bytes + x * texel.bytes);
        if (!std::isfinite(value)) continue;
        bounds.low = std::min(bounds.low, value);
        bounds.high = std::max(bounds.high, value);
      }
    }
  }
  return bounds;
}

RgbaImage FromTexels(const Texel& texel, uint32_t width, uint32_t height, uint64_t row_bytes,
                     const std::byte* bytes, ValueRange range) {
  const bool integers = texel.kind == Kind::kUint || texel.kind == Kind::kSint;
  const double natural = integers ? 255.0 : 1.0;
  const Bounds bounds = range == ValueRange::kStretched
                            ? BoundsOf(texel, width, height, row_bytes, bytes)
                            : Bounds{0, natural};
  RgbaImage image = {width, height, std::vector<uint8_t>(uint64_t{width} * height * 4)};
  uint8_t* out = image.pixels.data();
  const bool grey = texel.bits[1] == 0;
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x, out += 4) {
      const std::byte* const at = bytes + y * row_bytes + uint64_t{x} * texel.bytes;
      for (size_t channel = 0; channel < 3; ++channel) {
        if (texel.bits[channel] != 0) {
          out[channel] = ToByte(ValueOf(texel, channel, at), bounds.low, bounds.high);
        } else {
          out[channel] = grey ? out[0] : 0;
        }
      }
      out[3] = texel.bits[3] != 0 ? ToByte(ValueOf(texel, 3, at), 0, natural) : 255;
    }
  }
  return image;
}

bool Is8BitRgba(DXGI_FORMAT format) {
  return format == DXGI_FORMAT_R8G8B8A8_UNORM || format == DXGI_FORMAT_R8G8B8A8_UNORM_SRGB ||
         format == DXGI_FORMAT_R8G8B8A8_UINT;
}

void Stretch(RgbaImage* image) {
  uint8_t low = 255;
  uint8_t high = 0;
  for (size_t i = 0; i < image->pixels.size(); ++i) {
    if (i % 4 == 3) continue;
    low = std::min(low, image->pixels[i]);
    high = std::max(high, image->pixels[i]);
  }
  for (size_t i = 0; i < image->pixels.size(); ++i) {
    if (i % 4 != 3) image->pixels[i] = ToByte(image->pixels[i], low, high);
  }
}

}  // namespace

FormatLayout LayoutOfFormat(DXGI_FORMAT format) {
  const DXGI_FORMAT typed = TypedFormat(format);
  if (const Texel texel = TexelOf(typed); texel.bytes != 0) return {texel.bytes, 1, 1};
  if (typed == kA4B4G4R4) return {2, 1, 1};
  switch (typed) {
    case DXGI_FORMAT_BC1_UNORM:
    case DXGI_FORMAT_BC1_UNORM_SRGB:
    case DXGI_FORMAT_BC4_UNORM:
    case DXGI_FORMAT_BC4_SNORM: return {8, 4, 4};
    case DXGI_FORMAT_BC2_UNORM:
    case DXGI_FORMAT_BC2_UNORM_SRGB:
    case DXGI_FORMAT_BC3_UNORM:
    case DXGI_FORMAT_BC3_UNORM_SRGB:
    case DXGI_FORMAT_BC5_UNORM:
    case DXGI_FORMAT_BC5_SNORM:
    case DXGI_FORMAT_BC6H_UF16:
    case DXGI_FORMAT_BC6H_SF16:
    case DXGI_FORMAT_BC7_UNORM:
    case DXGI_FORMAT_BC7_UNORM_SRGB: return {16, 4, 4};
    case DXGI_FORMAT_R8G8_B8G8_UNORM:
    case DXGI_FORMAT_G8R8_G8B8_UNORM:
    case DXGI_FORMAT_YUY2: return {4, 2, 1};
    case DXGI_FORMAT_AYUV:
    case DXGI_FORMAT_Y410:
    case DXGI_FORMAT_R10G10B10_XR_BIAS_A2_UNORM: return {4, 1, 1};
    case DXGI_FORMAT_Y416: return {8, 1, 1};
    default: return {};
  }
}

DXGI_FORMAT TypedFormat(DXGI_FORMAT format) {
  switch (format) {
    case DXGI_FORMAT_R32G32B32A32_TYPELESS: return DXGI_FORMAT_R32G32B32A32_FLOAT;
    case DXGI_FORMAT_R32G32B32_TYPELESS: return DXGI_FORMAT_R32G32B32_FLOAT;
    case DXGI_FORMAT_R16G16B16A16_TYPELESS: return DXGI_FORMAT_R16G16B16A16_FLOAT;
    case DXGI_FORMAT_R32G32_TYPELESS: return DXGI_FORMAT_R32G32_FLOAT;
    case DXGI_FORMAT_R10G10B10A2_TYPELESS: return DXGI_FORMAT_R10G10B10A2_UNORM;
    case DXGI_FORMAT_R8G8B8A8_TYPELESS: return DXGI_FORMAT_R8G8B8A8_UNORM;
    case DXGI_FORMAT_R16G16_TYPELESS: return DXGI_FORMAT_R16G16_FLOAT;
    case DXGI_FORMAT_R32_TYPELESS: return DXGI_FORMAT_R32_FLOAT;
    case DXGI_FORMAT_R8G8_TYPELESS: return DXGI_FORMAT_R8G8_UNORM;
    case DXGI_FORMAT_R16_TYPELESS: return DXGI_FORMAT_R16_FLOAT;
    case DXGI_FORMAT_R8_TYPELESS: return DXGI_FORMAT_R8_UNORM;
    case DXGI_FORMAT_B8G8R8A8_TYPELESS: return DXGI_FORMAT_B8G8R8A8_UNORM;
    case DXGI_FORMAT_B8G8R8X8_TYPELESS: return DXGI_FORMAT_B8G8R8X8_UNORM;
    case DXGI_FORMAT_BC1_TYPELESS: return DXGI_FORMAT_BC1_UNORM;
    case DXGI_FORMAT_BC2_TYPELESS: return DXGI_FORMAT_BC2_UNORM;
    case DXGI_FORMAT_BC3_TYPELESS: return DXGI_FORMAT_BC3_UNORM;
    case DXGI_FORMAT_BC4_TYPELESS: return DXGI_FORMAT_BC4_UNORM;
    case DXGI_FORMAT_BC5_TYPELESS: return DXGI_FORMAT_BC5_UNORM;
    case DXGI_FORMAT_BC6H_TYPELESS: return DXGI_FORMAT_BC6H_UF16;
    case DXGI_FORMAT_BC7_TYPELESS: return DXGI_FORMAT_BC7_UNORM;
    default: return format;
  }
}

uint32_t PlaneCount(DXGI_FORMAT format) {
  switch (format) {
    case DXGI_FORMAT_R32G8X24_TYPELESS:
    case DXGI_FORMAT_D32_FLOAT_S8X24_UINT:
    case DXGI_FORMAT_R32_FLOAT_X8X24_TYPELESS:
    case DXGI_FORMAT_X32_TYPELESS_G8X24_UINT:
    case DXGI_FORMAT_R24G8_TYPELESS:
    case DXGI_FORMAT_D24_UNORM_S8_UINT:
    case DXGI_FORMAT_R24_UNORM_X8_TYPELESS:
    case DXGI_FORMAT_X24_TYPELESS_G8_UINT:
    case DXGI_FORMAT_NV12:
    case DXGI_FORMAT_P010:
    case DXGI_FORMAT_P016:
    case DXGI_FORMAT_NV11:
    case DXGI_FORMAT_P208: return 2;
    default: return 1;
  }
}

Result<RgbaImage> ToRgba(DXGI_FORMAT format, uint32_t width, uint32_t height, uint64_t row_bytes,
                         std::span<const std::byte> bytes, ValueRange range) {
  const DXGI_FORMAT typed = TypedFormat(format);
  const FormatLayout layout = LayoutOfFormat(typed);
  if (layout.block_bytes == 0) {
    return Status(StatusCode::kUnsupported,
                  "texels of DXGI_FORMAT " + std::to_string(format) + " cannot be shown");
  }
  CAIRN_RETURN_IF_ERROR(CheckSize(layout, width, height, row_bytes, bytes.size()));
  if (const Texel texel = TexelOf(typed); texel.bytes != 0) {
    if (Is8BitRgba(typed) && range == ValueRange::kNatural) {
      RgbaImage image = {width, height, std::vector<uint8_t>(uint64_t{width} * height * 4)};
      for (uint64_t y = 0; y < height; ++y) {
        std::memcpy(image.pixels.data() + y * width * 4, bytes.data() + y * row_bytes, width * 4);
      }
      return image;
    }
    return FromTexels(texel, width, height, row_bytes, bytes.data(), range);
  }
  RgbaImage image = {width, height, std::vector<uint8_t>(uint64_t{width} * height * 4)};
  for (uint32_t y = 0; y < height; y += layout.block_height) {
    for (uint32_t x = 0; x < width; x += layout.block_width) {
      uint8_t block[16][4];
      const std::byte* const from = bytes.data() + y / layout.block_height * row_bytes +
                                    uint64_t{x / layout.block_width} * layout.block_bytes;
      if (!DecodeBlock(typed, from, block)) {
        return Status(StatusCode::kUnsupported,
                      "blocks of DXGI_FORMAT " + std::to_string(format) + " cannot be shown");
      }
      const uint32_t columns = std::min(layout.block_width, width - x);
      for (uint32_t row = 0; row < std::min(layout.block_height, height - y); ++row) {
        std::memcpy(image.pixels.data() + (uint64_t{y + row} * width + x) * 4,
                    block[row * layout.block_width], columns * 4);
      }
    }
  }
  if (range == ValueRange::kStretched) Stretch(&image);
  return image;
}

ImageDifference CompareImages(const RgbaImage& first, const RgbaImage& second) {
  ImageDifference difference;
  difference.same_size = first.width == second.width && first.height == second.height &&
                         first.pixels.size() == second.pixels.size();
  if (!difference.same_size) return difference;
  RgbaImage& picture = difference.picture;
  for (size_t i = 0; i + 4 <= first.pixels.size(); i += 4) {
    uint8_t largest = 0;
    for (size_t k = i; k < i + 4; ++k) {
      largest =
          std::max(largest, static_cast<uint8_t>(std::abs(first.pixels[k] - second.pixels[k])));
    }
    if (largest == 0) continue;
    if (picture.pixels.empty()) {
      picture = {first.width, first.height, std::vector<uint8_t>(first.pixels.size())};
      for (size_t at = 0; at + 4 <= first.pixels.size(); at += 4) {
        const uint8_t* const pixel = first.pixels.data() + at;
        const auto grey = static_cast<uint8_t>((pixel[0] + pixel[1] + pixel[2]) / 6);
        std::fill_n(picture.pixels.data() + at, 3, grey);
        picture.pixels[at + 3] = 255;
      }
    }
    ++difference.different_pixels;
    difference.largest = std::max(difference.largest, largest);
    picture.pixels[i] = static_cast<uint8_t>(128 + largest / 2);
    picture.pixels[i + 1] = 0;
    picture.pixels[i + 2] = 0;
  }
  return difference;
}

}  // namespace cairn
