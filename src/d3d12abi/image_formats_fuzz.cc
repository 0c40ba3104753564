// SPDX-License-Identifier: Apache-2.0
// Any bytes as texels of any format give an image of the right size, or none.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "d3d12abi/image_formats.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  struct Header {
    uint8_t format;
    uint8_t stretched;
    uint16_t width;
    uint32_t height;
    uint64_t row_bytes;
  } header;
  if (size < sizeof(header)) return 0;
  std::memcpy(&header, data, sizeof(header));
  header.width %= 256;
  const std::span bytes(reinterpret_cast<const std::byte*>(data) + sizeof(header),
                        size - sizeof(header));
  const cairn::Result<cairn::RgbaImage> image = cairn::ToRgba(
      static_cast<DXGI_FORMAT>(header.format), header.width, header.height, header.row_bytes, bytes,
      header.stretched % 2 != 0 ? cairn::ValueRange::kStretched : cairn::ValueRange::kNatural);
  if (!image.ok()) return 0;
  if (image->width != header.width || image->height != header.height) std::abort();
  if (image->pixels.size() != size_t{4} * header.width * header.height) std::abort();
  return 0;
}
