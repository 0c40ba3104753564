// SPDX-License-Identifier: Apache-2.0
//
// Checks that copies between resources stay within them, by the facts of the resources. The
// implementation is not asked: its reads and writes have to be known before it is called.
#ifndef CAIRN_READER_REPLAY_REPLAY_REGIONS_H_
#define CAIRN_READER_REPLAY_REPLAY_REGIONS_H_

#include <cstdint>

#include "base/status.h"
#include "d3d12abi/d3d12_api.h"
#include "reader/replay/replay_objects.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

struct Extent {
  uint64_t width = 1;
  uint64_t height = 1;
  uint64_t depth = 1;
  bool operator==(const Extent&) const = default;
};

bool IsBuffer(const ReplayObject& object);
uint32_t MipCount(const D3D12_RESOURCE_DESC& desc);  // of a full chain where it says 0
uint64_t SubresourceCount(const D3D12_RESOURCE_DESC& desc);
Extent SizeOfMip(const D3D12_RESOURCE_DESC& desc, uint32_t mip);
// Returns the size in texels of the plane; `subresource` must exist.
Extent SizeOfSubresource(const D3D12_RESOURCE_DESC& desc, uint32_t subresource);

// kCorrupt where something does not lie within a resource, or is no resource of that kind; kUnsupported for
// formats that are not known here; kInvalidArgument where nothing would be copied.
Status CheckBytes(const ReplayObject& buffer, uint64_t offset_bytes, uint64_t size_bytes);
Status CheckIsBuffer(const ReplayObject& resource);
Status CheckSubresource(const ReplayObject& texture, uint32_t subresource);
Status CheckWholeCopy(const ReplayObject& to, const ReplayObject& from);
// Returns kCorrupt if blocks of one are no blocks of the other. Call CheckWholeCopy() before.
Status CheckWholeFormats(const ReplayObject& to, const ReplayObject& from);

struct CopySide {
  const D3D12_TEXTURE_COPY_LOCATION& location;
  const ReplayObject& resource;
};
struct CopyTarget {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;
};
// `box`: null: all of the source.
Status CheckTextureCopy(const CopySide& to, const CopyTarget& at, const CopySide& from,
                        const D3D12_BOX* box);

struct ResolveSide {
  const ReplayObject& resource;
  uint32_t subresource = 0;
};
struct ResolveRegion {
  CopyTarget at;
  const D3D12_RECT* rect = nullptr;  // null: all of the source
  D3D12_RESOLVE_MODE mode = D3D12_RESOLVE_MODE_AVERAGE;
};
// `region`: null: all of the source to all of the target, which are of the same size then.
Status CheckResolve(const ResolveSide& to, const ResolveSide& from, const ResolveRegion* region);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_REPLAY_REGIONS_H_
