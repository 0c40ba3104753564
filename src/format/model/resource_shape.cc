// SPDX-License-Identifier: Apache-2.0
#include "format/model/resource_shape.h"

#include <algorithm>
#include <cstring>

namespace cairn {
namespace {

constexpr uint32_t kMostSubresources = 1u << 16;
// D3D12_RESOURCE_DESC.
struct ResourceDesc {
  uint32_t dimension;
  uint32_t padding;
  uint64_t alignment;
  uint64_t width;
  uint32_t height;
  uint16_t depth_or_array_size;
  uint16_t mips;
  uint32_t format;
  uint32_t samples;
  uint32_t quality;
  uint32_t layout;
  uint32_t flags;
  uint32_t end;
};
static_assert(sizeof(ResourceDesc) == sizeof(ResourceFacts::desc));
constexpr uint32_t kBuffer = 1;
constexpr uint32_t kTexture3D = 4;
constexpr uint32_t kAllowSimultaneousAccess = 0x20;

// The parts of views follow format and dimension, and flags of depth views.
struct RenderTargetDesc {
  uint32_t format;
  uint32_t dimension;
  uint32_t parts[4];
};
struct DepthStencilDesc {
  uint32_t format;
  uint32_t dimension;
  uint32_t flags;
  uint32_t parts[3];
};
enum class Parts : uint8_t { kUnknown, kMip, kMipAndSlices, kNone, kSlices };

// Formats of video, with a few later ones, begin at DXGI_FORMAT_NV12.
constexpr uint32_t kFirstOddFormat = 103;

bool HasStencil(uint32_t format) {
  constexpr uint32_t kR32G8X24Typeless = 19, kX32TypelessG8X24 = 22;
  constexpr uint32_t kR24G8Typeless = 44, kX24TypelessG8 = 47;
  return (format >= kR32G8X24Typeless && format <= kX32TypelessG8X24) ||
         (format >= kR24G8Typeless && format <= kX24TypelessG8);
}

// A clear leaves the bits that the view does not have.
bool HasUnusedBits(uint32_t format) {
  constexpr uint32_t kB8G8R8X8 = 88, kB8G8R8X8Typeless = 92, kB8G8R8X8Srgb = 93;
  return format == kB8G8R8X8 || format == kB8G8R8X8Typeless || format == kB8G8R8X8Srgb;
}

// Returns the subresources that `parts` of a view of this kind cover; empty if the resource does
// not have them.
Subresources Covered(const ResourceShape& shape, Parts kind, const uint32_t* parts,
                     uint32_t plane) {
  uint32_t mip = 0, first = 0, count = 1;
  if (kind == Parts::kMip || kind == Parts::kMipAndSlices) mip = parts[0];
  if (kind == Parts::kMipAndSlices) {
    first = parts[1];
    count = parts[2];
  } else if (kind == Parts::kSlices) {
    first = parts[0];
    count = parts[1];
  }
  if (mip >= shape.mips || first >= shape.slices || plane >= shape.planes) return {};
  return {shape.Subresource(mip, first, plane), std::min(count, shape.slices - first), shape.mips};
}

// `kinds`: by the view's dimension.
template <size_t kCount>
TargetView ViewOf(uint64_t resource, const ResourceShape* shape, uint32_t format,
                  const Parts (&kinds)[kCount], uint32_t dimension, const uint32_t* parts) {
  TargetView view;
  view.resource = resource;
  if (shape == nullptr || shape->buffer || shape->volume || HasUnusedBits(format)) return view;
  const Parts kind = dimension < kCount ? kinds[dimension] : Parts::kUnknown;
  if (kind == Parts::kUnknown) return view;
  for (uint32_t plane = 0; plane < std::min<uint32_t>(shape->planes, 2); ++plane) {
    view.planes[plane] = Covered(*shape, kind, parts, plane);
  }
  view.exact = view.planes[0].count != 0;
  return view;
}

// Without a description a view shows the first mip of all slices; here of textures that have one slice.
constexpr Parts kDefaultKinds[] = {Parts::kNone};
TargetView DefaultView(uint64_t resource, const ResourceShape* shape) {
  const bool simple = shape != nullptr && shape->slices == 1;
  return ViewOf(resource, simple ? shape : nullptr, 0, kDefaultKinds, 0, nullptr);
}

}  // namespace

std::optional<ResourceShape> ShapeOf(const ResourceFacts& facts) {
  ResourceDesc desc;
  std::memcpy(&desc, facts.desc, sizeof(desc));
  ResourceShape shape;
  shape.buffer = desc.dimension == kBuffer;
  shape.volume = desc.dimension == kTexture3D;
  shape.simultaneous_access = (desc.flags & kAllowSimultaneousAccess) != 0;
  shape.width = desc.width;
  shape.height = desc.height;
  shape.depth = shape.volume ? desc.depth_or_array_size : 1;
  shape.slices = shape.volume ? 1 : desc.depth_or_array_size;
  shape.mips = desc.mips;
  shape.planes = HasStencil(desc.format) ? 2 : 1;
  shape.format = desc.format;
  shape.samples = desc.samples;
  if (desc.dimension < kBuffer || desc.dimension > kTexture3D || desc.format >= kFirstOddFormat) {
    return std::nullopt;
  }
  const uint64_t count = uint64_t{shape.mips} * shape.slices * shape.planes;
  if (count == 0 || count > kMostSubresources) return std::nullopt;
  return shape;
}

Extent ExtentOf(const ResourceShape& shape, uint32_t subresource) {
  const uint32_t mip = subresource % shape.mips;
  const auto at = [mip](uint64_t size) {
    return std::max<uint64_t>(size >> std::min(mip, 63u), 1);
  };
  return {at(shape.width), at(shape.height), shape.volume ? at(shape.depth) : 1};
}

bool IsBlockFormat(uint32_t format) {
  constexpr uint32_t kBc1Typeless = 70, kBc5Snorm = 84, kBc6hTypeless = 94, kBc7Srgb = 99;
  return (format >= kBc1Typeless && format <= kBc5Snorm) ||
         (format >= kBc6hTypeless && format <= kBc7Srgb);
}

TargetView RenderTargetView(uint64_t resource, const ResourceShape* shape, const void* desc) {
  if (desc == nullptr) return DefaultView(resource, shape);
  // D3D12_RTV_DIMENSION: ..., 2D, 2D array, 2DMS, 2DMS array, 3D.
  constexpr Parts kKinds[] = {Parts::kUnknown,      Parts::kUnknown, Parts::kMip,
                              Parts::kMipAndSlices, Parts::kMip,     Parts::kMipAndSlices,
                              Parts::kNone,         Parts::kSlices};
  RenderTargetDesc view;
  std::memcpy(&view, desc, sizeof(view));
  return ViewOf(resource, shape, view.format, kKinds, view.dimension, view.parts);
}

TargetView DepthStencilView(uint64_t resource, const ResourceShape* shape, const void* desc) {
  if (desc == nullptr) return DefaultView(resource, shape);
  constexpr Parts kKinds[] = {Parts::kUnknown,      Parts::kMip,  Parts::kMipAndSlices, Parts::kMip,
                              Parts::kMipAndSlices, Parts::kNone, Parts::kSlices};
  DepthStencilDesc view;
  std::memcpy(&view, desc, sizeof(view));
  return ViewOf(resource, shape, view.format, kKinds, view.dimension, view.parts);
}

}  // namespace cairn
