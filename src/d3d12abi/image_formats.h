// SPDX-License-Identifier: Apache-2.0
//
// Texels of any DXGI_FORMAT as 8-bit red, green, blue and alpha, to be looked at. No Direct3D object.
#ifndef CAIRN_D3D12ABI_IMAGE_FORMATS_H_
#define CAIRN_D3D12ABI_IMAGE_FORMATS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {

struct RgbaImage {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> pixels;  // 4 bytes each, top row first, no padding
};

// The layout of texels in memory. A block is one texel, except for compressed formats (4x4) and
// those that share colours between two texels (2x1).
struct FormatLayout {
  uint32_t block_bytes = 0;  // 0: not known, or not of one plane
  uint32_t block_width = 1;
  uint32_t block_height = 1;
};
FormatLayout LayoutOfFormat(DXGI_FORMAT format);

// The format that gives a typeless colour format values: R8G8B8A8_TYPELESS -> R8G8B8A8_UNORM, 16 and 32
// bits -> FLOAT. Others stay.
DXGI_FORMAT TypedFormat(DXGI_FORMAT format);

// 2 for depth with stencil and for video formats, otherwise 1.
uint32_t PlaneCount(DXGI_FORMAT format);

enum class ValueRange : uint8_t {
  // Normalised formats and floats: 0 to 1; integers: 0 to 255. Other values are clamped.
  kNatural,
  // The smallest to the largest value in the image, of red, green and blue together: for depth.
  kStretched,
};

// Converts one slice. Rows of blocks start every `row_bytes`. One channel becomes grey, alpha
// alone, too; missing alpha is opaque. sRGB values stay unchanged, and so do those of 8-bit formats
// in kNatural: bytes equal the texture's. Errors: kInvalidArgument: too few bytes; kUnsupported:
// BC6H, BC7 and video formats.
Result<RgbaImage> ToRgba(DXGI_FORMAT format, uint32_t width, uint32_t height, uint64_t row_bytes,
                         std::span<const std::byte> bytes, ValueRange range = ValueRange::kNatural);

struct ImageDifference {
  bool same_size = false;
  uint64_t different_pixels = 0;
  uint8_t largest = 0;  // of any channel
  // If something differs: grey where equal, red where not, brighter the more.
  RgbaImage picture;
};
ImageDifference CompareImages(const RgbaImage& first, const RgbaImage& second);

}  // namespace cairn

#endif  // CAIRN_D3D12ABI_IMAGE_FORMATS_H_
