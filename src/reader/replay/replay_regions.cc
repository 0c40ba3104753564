// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/replay_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "d3d12abi/image_formats.h"
#include "d3d12abi/resource_states.h"
#include "reader/replay/image_file.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

bool IsVideo(DXGI_FORMAT format) {
  return format == DXGI_FORMAT_NV12 || format == DXGI_FORMAT_P010 || format == DXGI_FORMAT_P016;
}

// Returns the layout of one plane of a format; no bytes: unknown.
FormatLayout BlockOf(DXGI_FORMAT format, uint32_t plane) {
  const FormatLayout known = LayoutOfFormat(format);
  if (known.block_bytes != 0 || PlaneCount(format) < 2) return known;
  switch (format) {
    case DXGI_FORMAT_NV12: return {plane == 0 ? 1u : 2u, 1, 1};
    case DXGI_FORMAT_P010:
    case DXGI_FORMAT_P016: return {plane == 0 ? 2u : 4u, 1, 1};
    case DXGI_FORMAT_NV11:
    case DXGI_FORMAT_P208: return {};
    default: return {plane == 0 ? 4u : 1u, 1, 1};  // depth and stencil
  }
}

uint64_t InBlocks(uint64_t texels, uint32_t block) {
  return texels / block + (texels % block != 0);
}

uint32_t PlaneOf(const D3D12_RESOURCE_DESC& desc, uint32_t subresource) {
  const uint64_t planes = PlaneCount(desc.Format);
  return static_cast<uint32_t>(subresource /
                               std::max<uint64_t>(SubresourceCount(desc) / planes, 1));
}

Status NotKnown(DXGI_FORMAT format) {
  return Status(StatusCode::kUnsupported,
                fmt::format("how {} lies in memory is not known", FormatName(format)));
}

// A side of a copy, in blocks of its format.
struct Side {
  const ReplayObject* resource = nullptr;
  const D3D12_PLACED_SUBRESOURCE_FOOTPRINT* placed = nullptr;  // null: a subresource
  FormatLayout block;
  Extent texels;
  Extent blocks;
  uint32_t plane = 0;

  Status SetFormat(DXGI_FORMAT format) { return SetBlock(format, BlockOf(format, plane)); }

  Status SetBlock(DXGI_FORMAT format, const FormatLayout& layout) {
    block = layout;
    if (block.block_bytes == 0) return NotKnown(format);
    blocks = {InBlocks(texels.width, block.block_width),
              InBlocks(texels.height, block.block_height), texels.depth};
    return Status();
  }
};

// A region in blocks.
struct Region {
  uint64_t x, y, z;
  Extent size;
};

// `other`: the format of the other side, if that is a texture, too.
Status SetTexture(const ReplayObject& texture, uint32_t subresource, DXGI_FORMAT other,
                  Side* side) {
  CAIRN_RETURN_IF_ERROR(CheckSubresource(texture, subresource));
  const DXGI_FORMAT format = texture.desc.Format;
  side->resource = &texture;
  side->plane = PlaneOf(texture.desc, subresource);
  side->texels = SizeOfSubresource(texture.desc, subresource);
  const FormatLayout layout = BlockOf(format, side->plane);
  // Texels of a format are copied to themselves, wherever their bytes are.
  constexpr FormatLayout kTexels = {1, 1, 1};
  return side->SetBlock(format, layout.block_bytes == 0 && format == other ? kTexels : layout);
}

Status SetPlaced(const CopySide& from, Side* side) {
  CAIRN_RETURN_IF_ERROR(CheckIsBuffer(from.resource));
  side->placed = &from.location.PlacedFootprint;
  const D3D12_SUBRESOURCE_FOOTPRINT& footprint = side->placed->Footprint;
  side->texels = {footprint.Width, footprint.Height, footprint.Depth};
  CAIRN_RETURN_IF_ERROR(side->SetFormat(footprint.Format));
  if (side->blocks.width * side->block.block_bytes <= footprint.RowPitch) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("rows of {} texels in {} bytes", footprint.Width, footprint.RowPitch));
}

Status SetSides(const CopySide& to, const CopySide& from, Side* target, Side* source) {
  const CopySide* const copies[] = {&to, &from};
  Side* const sides[] = {target, source};
  for (int i = 0; i < 2; ++i) {
    const D3D12_TEXTURE_COPY_TYPE type = copies[i]->location.Type;
    const CopySide& other = *copies[1 - i];
    const bool between_textures = other.location.Type == D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
    sides[i]->resource = &copies[i]->resource;
    if (type == D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX) {
      CAIRN_RETURN_IF_ERROR(SetTexture(
          copies[i]->resource, copies[i]->location.SubresourceIndex,
          between_textures ? other.resource.desc.Format : DXGI_FORMAT_UNKNOWN, sides[i]));
    } else if (type != D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT) {
      return Status(StatusCode::kCorrupt,
                    fmt::format("a place of type {} to copy", static_cast<int>(type)));
    }
  }
  // The plane that a footprint is for is that of the texture.
  for (int i = 0; i < 2; ++i) {
    if (copies[i]->location.Type != D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT) continue;
    sides[i]->plane = sides[1 - i]->plane;
    CAIRN_RETURN_IF_ERROR(SetPlaced(*copies[i], sides[i]));
  }
  return Status();
}

Status CheckFormats(const Side& to, const Side& from) {
  if (to.placed != nullptr && from.placed != nullptr) {
    return Status(StatusCode::kCorrupt, "a copy between two buffers");
  }
  const bool texel_wise = to.placed != nullptr || from.placed != nullptr;
  if (to.block.block_bytes != from.block.block_bytes ||
      (texel_wise && (to.block.block_width != from.block.block_width ||
                      to.block.block_height != from.block.block_height))) {
    return Status(
        StatusCode::kCorrupt,
        fmt::format("blocks of {} x {} texels in {} bytes are copied to those of {} x {} "
                    "in {}",
                    from.block.block_width, from.block.block_height, from.block.block_bytes,
                    to.block.block_width, to.block.block_height, to.block.block_bytes));
  }
  const uint32_t samples[] = {to.placed ? 1 : to.resource->desc.SampleDesc.Count,
                              from.placed ? 1 : from.resource->desc.SampleDesc.Count};
  if (samples[0] == samples[1]) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("{} samples are copied to {}", samples[1], samples[0]));
}

// The region lies within the side, and its bytes within the buffer.
Status CheckRegion(const Side& side, const Region& region, const char* name) {
  const auto inside = [](uint64_t begin, uint64_t count, uint64_t all) {
    return begin <= all && count <= all - begin;
  };
  if (!inside(region.x, region.size.width, side.blocks.width) ||
      !inside(region.y, region.size.height, side.blocks.height) ||
      !inside(region.z, region.size.depth, side.blocks.depth)) {
    const FormatLayout& block = side.block;
    return Status(
        StatusCode::kCorrupt,
        fmt::format("{} x {} x {} texels at {}, {}, {} of the {}, resource {}: it has {} "
                    "x {} x {}",
                    region.size.width * block.block_width, region.size.height * block.block_height,
                    region.size.depth, region.x * block.block_width, region.y * block.block_height,
                    region.z, name, side.resource->number, side.texels.width, side.texels.height,
                    side.texels.depth));
  }
  if (side.placed == nullptr) return Status();
  // Both factors have 32 bits.
  const uint64_t rows =
      (region.z + region.size.depth - 1) * side.blocks.height + region.y + region.size.height - 1;
  const uint64_t last_row = (region.x + region.size.width) * side.block.block_bytes;
  const uint64_t width = side.resource->desc.Width;
  const uint64_t pitch = std::max(side.placed->Footprint.RowPitch, 1u);
  if (side.placed->Offset <= width && last_row <= width - side.placed->Offset &&
      rows <= (width - side.placed->Offset - last_row) / pitch) {
    return Status();
  }
  return Status(StatusCode::kCorrupt,
                fmt::format("the footprint at {} of resource {} reaches behind its {} bytes",
                            side.placed->Offset, side.resource->number, side.resource->desc.Width));
}

}  // namespace

bool IsBuffer(const ReplayObject& object) {
  return object.desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
}

uint32_t MipCount(const D3D12_RESOURCE_DESC& desc) {
  if (desc.MipLevels != 0) return desc.MipLevels;
  const bool volume = desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  const uint64_t depth = volume ? desc.DepthOrArraySize : 1;
  return static_cast<uint32_t>(
      std::bit_width(std::max({desc.Width, uint64_t{desc.Height}, depth, uint64_t{1}})));
}

uint64_t SubresourceCount(const D3D12_RESOURCE_DESC& desc) {
  const uint64_t slices =
      desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D ? 1 : desc.DepthOrArraySize;
  return MipCount(desc) * slices * PlaneCount(desc.Format);
}

Extent SizeOfMip(const D3D12_RESOURCE_DESC& desc, uint32_t mip) {
  constexpr uint32_t kMostMips = 32;
  const auto at_mip = [&](uint64_t size) {
    return mip >= kMostMips ? uint64_t{1} : std::max<uint64_t>(size >> mip, 1);
  };
  const bool volume = desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  return {at_mip(desc.Width), at_mip(desc.Height), volume ? at_mip(desc.DepthOrArraySize) : 1};
}

Extent SizeOfSubresource(const D3D12_RESOURCE_DESC& desc, uint32_t subresource) {
  Extent size = SizeOfMip(desc, subresource % MipCount(desc));
  if (IsVideo(desc.Format) && PlaneOf(desc, subresource) != 0) {
    size.width = InBlocks(size.width, 2);
    size.height = InBlocks(size.height, 2);
  }
  return size;
}

Status CheckIsBuffer(const ReplayObject& resource) {
  if (IsBuffer(resource)) return Status();
  return Status(StatusCode::kCorrupt, fmt::format("resource {} is no buffer", resource.number));
}

Status CheckBytes(const ReplayObject& buffer, uint64_t offset_bytes, uint64_t size_bytes) {
  CAIRN_RETURN_IF_ERROR(CheckIsBuffer(buffer));
  if (offset_bytes <= buffer.desc.Width && size_bytes <= buffer.desc.Width - offset_bytes) {
    return Status();
  }
  return Status(StatusCode::kCorrupt,
                fmt::format("{} bytes at {} of resource {}, which has {}", size_bytes, offset_bytes,
                            buffer.number, buffer.desc.Width));
}

Status CheckSubresource(const ReplayObject& texture, uint32_t subresource) {
  if (IsBuffer(texture)) {
    return Status(StatusCode::kCorrupt, fmt::format("resource {} is no texture", texture.number));
  }
  const uint64_t count = SubresourceCount(texture.desc);
  if (subresource < count) return Status();
  return Status(StatusCode::kCorrupt, fmt::format("subresource {} of resource {}, which has {}",
                                                  subresource, texture.number, count));
}

namespace {

// Blocks of one are blocks of the other, in each mip.
bool SameBlocks(const D3D12_RESOURCE_DESC& a, const D3D12_RESOURCE_DESC& b, uint32_t plane) {
  const FormatLayout block = BlockOf(a.Format, plane);
  const FormatLayout other = BlockOf(b.Format, plane);
  bool same = block.block_bytes == other.block_bytes;
  for (uint32_t mip = 0; same && mip < MipCount(a); ++mip) {
    const Extent size = SizeOfMip(a, mip);
    const Extent other_size = SizeOfMip(b, mip);
    same =
        InBlocks(size.width, block.block_width) == InBlocks(other_size.width, other.block_width) &&
        InBlocks(size.height, block.block_height) ==
            InBlocks(other_size.height, other.block_height);
  }
  return same;
}

}  // namespace

Status CheckWholeCopy(const ReplayObject& to, const ReplayObject& from) {
  const D3D12_RESOURCE_DESC& a = to.desc;
  const D3D12_RESOURCE_DESC& b = from.desc;
  const bool same_texels = a.Width == b.Width && a.Height == b.Height;
  // Texels of one may be blocks of the other.
  const bool may_differ = !IsBuffer(to) && a.Format != b.Format;
  if (a.Dimension != b.Dimension || a.DepthOrArraySize != b.DepthOrArraySize ||
      MipCount(a) != MipCount(b) || a.SampleDesc.Count != b.SampleDesc.Count ||
      (!same_texels && !may_differ)) {
    return Status(StatusCode::kCorrupt, "the resources are not of the same size");
  }
  return Status();
}

Status CheckWholeFormats(const ReplayObject& to, const ReplayObject& from) {
  const D3D12_RESOURCE_DESC& a = to.desc;
  const D3D12_RESOURCE_DESC& b = from.desc;
  if (IsBuffer(to) || a.Format == b.Format) return Status();
  bool same = PlaneCount(a.Format) == PlaneCount(b.Format);
  for (uint32_t plane = 0; plane < PlaneCount(a.Format); ++plane) {
    if (BlockOf(a.Format, plane).block_bytes == 0) return NotKnown(a.Format);
    if (BlockOf(b.Format, plane).block_bytes == 0) return NotKnown(b.Format);
    same = same && SameBlocks(a, b, plane);
  }
  if (same) return Status();
  return Status(StatusCode::kCorrupt, fmt::format("texels of {} are copied to {}",
                                                  FormatName(b.Format), FormatName(a.Format)));
}

Status CheckTextureCopy(const CopySide& to, const CopyTarget& at, const CopySide& from,
                        const D3D12_BOX* box) {
  Side target;
  Side source;
  CAIRN_RETURN_IF_ERROR(SetSides(to, from, &target, &source));
  CAIRN_RETURN_IF_ERROR(CheckFormats(target, source));
  Region region = {0, 0, 0, source.blocks};
  if (box != nullptr) {
    if (box->left >= box->right || box->top >= box->bottom || box->front >= box->back) {
      return Status(StatusCode::kInvalidArgument, "its box is empty");
    }
    const FormatLayout& block = source.block;
    region.x = box->left / block.block_width;
    region.y = box->top / block.block_height;
    region.z = box->front;
    region.size = {InBlocks(box->right, block.block_width) - region.x,
                   InBlocks(box->bottom, block.block_height) - region.y,
                   uint64_t{box->back} - box->front};
  }
  if (region.size.width == 0 || region.size.height == 0 || region.size.depth == 0) {
    return Status(StatusCode::kInvalidArgument, "its footprint is empty");
  }
  CAIRN_RETURN_IF_ERROR(CheckRegion(source, region, "source"));
  region.x = at.x / target.block.block_width;
  region.y = at.y / target.block.block_height;
  region.z = at.z;
  return CheckRegion(target, region, "destination");
}

namespace {

// Decompressing keeps the samples, what else is resolved ends as one.
Status CheckSamples(const ReplayObject& to, const ReplayObject& from, D3D12_RESOLVE_MODE mode) {
  const uint32_t samples = to.desc.SampleDesc.Count;
  switch (mode) {
    case D3D12_RESOLVE_MODE_DECOMPRESS:
      if (samples == from.desc.SampleDesc.Count) return Status();
      return Status(StatusCode::kCorrupt, fmt::format("{} samples are decompressed to {}",
                                                      from.desc.SampleDesc.Count, samples));
    case D3D12_RESOLVE_MODE_MIN:
    case D3D12_RESOLVE_MODE_MAX:
    case D3D12_RESOLVE_MODE_AVERAGE:
      if (samples <= 1) return Status();
      return Status(
          StatusCode::kCorrupt,
          fmt::format("resource {}, which is resolved into, has {} samples", to.number, samples));
    default:
      return Status(StatusCode::kUnsupported,
                    fmt::format("resolves of mode {} are not known", static_cast<int>(mode)));
  }
}

// Newer than the headers.
constexpr auto kFormatMinMipFeedback = static_cast<DXGI_FORMAT>(189);
constexpr auto kFormatMipRegionUsedFeedback = static_cast<DXGI_FORMAT>(190);

// Accepts all subresources, or one that exists. A buffer has one.
Status CheckFeedbackSubresource(const ResolveSide& side) {
  if (side.subresource == kAllSubresources) return Status();
  if (!IsBuffer(side.resource)) return CheckSubresource(side.resource, side.subresource);
  if (side.subresource == 0) return Status();
  return Status(StatusCode::kCorrupt, fmt::format("subresource {} of resource {}", side.subresource,
                                                  side.resource.number));
}

// Between a map of sampler feedback and what can be read of it: a texture with a texel for each of its regions,
// or a buffer. How large its regions are is not known here: what lies outside of one of the two, the GPU alone
// reads or writes.
Status CheckFeedback(const ResolveSide& to, const ResolveSide& from, const ResolveRegion& region) {
  const bool encodes = region.mode == D3D12_RESOLVE_MODE_ENCODE_SAMPLER_FEEDBACK;
  const D3D12_RESOURCE_DESC& map = (encodes ? to : from).resource.desc;
  const D3D12_RESOURCE_DESC& open = (encodes ? from : to).resource.desc;
  const bool min_mip = map.Format == kFormatMinMipFeedback;
  if (map.Dimension != D3D12_RESOURCE_DIMENSION_TEXTURE2D ||
      (!min_mip && map.Format != kFormatMipRegionUsedFeedback)) {
    return Status(StatusCode::kCorrupt, fmt::format("resource {} is no map of sampler feedback",
                                                    (encodes ? to : from).resource.number));
  }
  const bool is_buffer = open.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
  const bool fits = is_buffer ? min_mip && map.DepthOrArraySize == 1
                              : open.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE2D &&
                                    open.DepthOrArraySize == map.DepthOrArraySize &&
                                    MipCount(open) == (min_mip ? 1 : MipCount(map));
  if (!fits) {
    return Status(
        StatusCode::kCorrupt,
        fmt::format("resource {} has not the slices and mips of the map of sampler "
                    "feedback, resource {}",
                    (encodes ? from : to).resource.number, (encodes ? to : from).resource.number));
  }
  CAIRN_RETURN_IF_ERROR(CheckFeedbackSubresource(to));
  CAIRN_RETURN_IF_ERROR(CheckFeedbackSubresource(from));
  const D3D12_RECT* const rect = region.rect;
  if (rect == nullptr ||
      (rect->left >= 0 && rect->top >= 0 && rect->left < rect->right && rect->top < rect->bottom)) {
    return Status();
  }
  return Status(StatusCode::kInvalidArgument, "its rectangle is empty");
}

}  // namespace

Status CheckResolve(const ResolveSide& to, const ResolveSide& from, const ResolveRegion* resolved) {
  const D3D12_RESOLVE_MODE mode = resolved == nullptr ? D3D12_RESOLVE_MODE_AVERAGE : resolved->mode;
  if (mode == D3D12_RESOLVE_MODE_ENCODE_SAMPLER_FEEDBACK ||
      mode == D3D12_RESOLVE_MODE_DECODE_SAMPLER_FEEDBACK) {
    return CheckFeedback(to, from, *resolved);
  }
  CAIRN_RETURN_IF_ERROR(CheckSamples(to.resource, from.resource, mode));
  Side target;
  Side source;
  CAIRN_RETURN_IF_ERROR(
      SetTexture(to.resource, to.subresource, from.resource.desc.Format, &target));
  CAIRN_RETURN_IF_ERROR(
      SetTexture(from.resource, from.subresource, to.resource.desc.Format, &source));
  if (target.block.block_bytes != source.block.block_bytes) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("texels of {} bytes are resolved to {}", source.block.block_bytes,
                              target.block.block_bytes));
  }
  Region region = {0, 0, 0, source.blocks};
  if (const D3D12_RECT* const rect = resolved == nullptr ? nullptr : resolved->rect; rect) {
    if (rect->left < 0 || rect->top < 0 || rect->left >= rect->right || rect->top >= rect->bottom) {
      return Status(StatusCode::kInvalidArgument, "its rectangle is empty");
    }
    region = {static_cast<uint64_t>(rect->left),
              static_cast<uint64_t>(rect->top),
              0,
              {static_cast<uint64_t>(rect->right) - static_cast<uint64_t>(rect->left),
               static_cast<uint64_t>(rect->bottom) - static_cast<uint64_t>(rect->top), 1}};
  }
  // All of one is resolved to all of the other: who of the two says how much that is, is not known.
  if (resolved == nullptr && target.texels != source.texels) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} x {} texels are resolved to {} x {}", source.texels.width,
                              source.texels.height, target.texels.width, target.texels.height));
  }
  CAIRN_RETURN_IF_ERROR(CheckRegion(source, region, "source"));
  if (resolved != nullptr) {
    region.x = resolved->at.x;
    region.y = resolved->at.y;
  }
  return CheckRegion(target, region, "destination");
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
