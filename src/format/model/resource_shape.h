// SPDX-License-Identifier: Apache-2.0
//
// Computes the subresources of a resource, and those that a view for drawing covers: from the bytes
// of Direct3D 12's structs, as traces have them.
#ifndef CAIRN_FORMAT_MODEL_RESOURCE_SHAPE_H_
#define CAIRN_FORMAT_MODEL_RESOURCE_SHAPE_H_

#include <cstdint>
#include <optional>

#include "format/calls/record.h"

namespace cairn {

struct ResourceShape {
  bool buffer = false;
  bool volume = false;
  bool simultaneous_access = false;
  uint64_t width = 0;
  uint32_t height = 0;
  uint32_t depth = 0;   // of a volume, otherwise 1
  uint32_t slices = 0;  // of an array, otherwise 1
  uint32_t mips = 0;
  uint32_t planes = 0;
  uint32_t format = 0;  // DXGI_FORMAT
  uint32_t samples = 0;

  uint32_t subresource_count() const { return mips * slices * planes; }
  uint32_t Subresource(uint32_t mip, uint32_t slice, uint32_t plane) const {
    return mip + mips * (slice + slices * plane);
  }
};

// Returns nullopt for shapes that are not analysed: no mips, too many subresources, formats with
// planes other than depth and stencil.
std::optional<ResourceShape> ShapeOf(const ResourceFacts& facts);

// The texels of a subresource.
struct Extent {
  uint64_t width = 0;
  uint64_t height = 0;
  uint64_t depth = 0;

  bool Covers(const Extent& other) const {
    return width >= other.width && height >= other.height && depth >= other.depth;
  }
};
Extent ExtentOf(const ResourceShape& shape, uint32_t subresource);
// Returns true for formats that compress blocks of 4x4 texels.
bool IsBlockFormat(uint32_t format);

// One mip of some slices: `first`, `first` + `step`, ...
struct Subresources {
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t step = 1;
};

// The target of a descriptor for render targets or depth and stencil.
struct TargetView {
  uint64_t resource = 0;  // 0: nothing
  // The subresources are known, and a clear writes each of them as a whole.
  bool exact = false;
  Subresources planes[2];  // depth and colours have plane 0
};

// `desc`: bytes of a D3D12_RENDER_TARGET_VIEW_DESC, or D3D12_DEPTH_STENCIL_VIEW_DESC; null for none.
// `shape`: null if it is not known.
TargetView RenderTargetView(uint64_t resource, const ResourceShape* shape, const void* desc);
TargetView DepthStencilView(uint64_t resource, const ResourceShape* shape, const void* desc);

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_RESOURCE_SHAPE_H_
