// SPDX-License-Identifier: Apache-2.0
//
// ObjectRecord::description: what an object was made as, in 64 bits: a report names one without a name by it. Packing
// it costs the program a few instructions, and no text. Values are stored in files.
#ifndef CAIRN_FORMAT_BLOCK_OBJECT_DESCRIPTION_H_
#define CAIRN_FORMAT_BLOCK_OBJECT_DESCRIPTION_H_

#include <algorithm>
#include <cstdint>

namespace cairn {

enum class ObjectShape : uint32_t {
  kNone = 0,
  kBuffer = 1,
  kTexture1D = 2,
  kTexture2D = 3,
  kTexture3D = 4,
  kHeap = 5,            // of Direct3D 12
  kDescriptorHeap = 6,  // of Direct3D 12
};

// The uses of a buffer or a texture, as it was made for: the first ones of a buffer, the last ones of a texture; those by
// its memory of a heap.
inline constexpr uint32_t kUsedAsVertices = 1;
inline constexpr uint32_t kUsedAsIndices = 2;
inline constexpr uint32_t kUsedAsConstants = 4;
inline constexpr uint32_t kUsedAsArguments = 8;  // of indirect work
inline constexpr uint32_t kUsedAsStorage = 16;
inline constexpr uint32_t kUsedAsUpload = 32;    // by its memory
inline constexpr uint32_t kUsedAsReadback = 64;  // by its memory
inline constexpr uint32_t kUsedAsTarget = 128;
inline constexpr uint32_t kUsedAsDepth = 256;
inline constexpr uint32_t kAllUses = 511;

struct ObjectDescription {
  ObjectShape shape = ObjectShape::kNone;
  bool vulkan_format = false;  // `format` is a VkFormat, otherwise a DXGI_FORMAT
  uint32_t uses = 0;           // kUsedAs...
  // Textures. Larger values are stored as the largest, formats beyond 1023 (of extensions) as 0.
  uint32_t format = 0;
  uint32_t width = 0;   // up to 65535
  uint32_t height = 0;  // up to 65535
  uint32_t layers = 0;  // or depth; up to 255
  // A descriptor heap has its type in `format`, the number of its descriptors in `width` and, above 65535, `height`, and
  // 1 in `layers` if shaders see it.
  bool operator==(const ObjectDescription&) const = default;
};

// From the lowest bit: shape 3, format's API 1, uses 9, format 10, width 16, height 16, layers 8: 63 bits.
constexpr uint64_t PackDescription(const ObjectDescription& description) {
  const auto most = [](uint32_t value, uint32_t limit) { return uint64_t{std::min(value, limit)}; };
  const uint32_t format = description.format > 1023 ? 0 : description.format;
  return static_cast<uint64_t>(description.shape) |
         uint64_t{description.vulkan_format ? 1u : 0u} << 3 |
         uint64_t{description.uses & kAllUses} << 4 | uint64_t{format} << 13 |
         most(description.width, 65535) << 23 | most(description.height, 65535) << 39 |
         most(description.layers, 255) << 55;
}

// Takes any number: a shape that is not known is kNone.
constexpr ObjectDescription UnpackDescription(uint64_t packed) {
  const auto bits = [packed](uint32_t first, uint32_t count) {
    return static_cast<uint32_t>(packed >> first & ((uint64_t{1} << count) - 1));
  };
  ObjectDescription description;
  if (bits(0, 3) > static_cast<uint32_t>(ObjectShape::kDescriptorHeap)) return description;
  description.shape = static_cast<ObjectShape>(bits(0, 3));
  description.vulkan_format = bits(3, 1) != 0;
  description.uses = bits(4, 9);
  description.format = bits(13, 10);
  description.width = bits(23, 16);
  description.height = bits(39, 16);
  description.layers = bits(55, 8);
  return description;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_OBJECT_DESCRIPTION_H_
