// SPDX-License-Identifier: Apache-2.0
//
// Tiles of reserved resources: implementations count through what a call says about them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d3d12abi/aggregates.h"
#include "reader/replay/player_impl.h"
#include "reader/replay/replay_regions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr uint64_t kTileBytes = D3D12_TILED_RESOURCE_TILE_SIZE_IN_BYTES;

struct Tiling {
  UINT count = 0;
  D3D12_PACKED_MIP_INFO packed = {};
  D3D12_SUBRESOURCE_TILING subresource = {};  // the one that was asked for
};

Result<Tiling> TilingOf(ID3D12Device* device, const ReplayObject& resource, UINT subresource) {
  const uint64_t count = SubresourceCount(resource.desc);
  if (subresource >= count) {
    return Status(StatusCode::kCorrupt, fmt::format("subresource {} of resource {}, which has {}",
                                                    subresource, resource.number, count));
  }
  Tiling tiling;
  UINT one = 1;
  D3D12_TILE_SHAPE shape = {};
  device->GetResourceTiling(resource.As<ID3D12Resource>(), &tiling.count, &tiling.packed, &shape,
                            &one, subresource, &tiling.subresource);
  if (tiling.count != 0) return tiling;
  return Status(StatusCode::kUnsupported,
                fmt::format("this device knows no tiles of resource {}", resource.number));
}

// `size`: null: one tile.
Status CheckRegion(ID3D12Device* device, const ReplayObject& resource,
                   const D3D12_TILED_RESOURCE_COORDINATE& at, const D3D12_TILE_REGION_SIZE* size) {
  const Result<Tiling> tiling = TilingOf(device, resource, at.Subresource);
  if (!tiling.ok()) return tiling.status();
  const uint64_t count = size == nullptr ? 1 : size->NumTiles;
  const auto refuse = [&] {
    return Status(
        StatusCode::kCorrupt,
        fmt::format("{} tiles at {}, {}, {} of subresource {} of resource {}, which has "
                    "{} in all",
                    count, at.X, at.Y, at.Z, at.Subresource, resource.number, tiling->count));
  };
  const bool use_box = size != nullptr && size->UseBox;
  const uint32_t mips = MipCount(resource.desc);
  uint64_t first = 0;
  if (at.Subresource % mips >= tiling->packed.NumStandardMips &&
      tiling->packed.NumPackedMips != 0) {
    if (use_box || at.Y != 0 || at.Z != 0) return refuse();
    first = uint64_t{tiling->packed.StartTileIndexInOverallResource} + at.X;
  } else {
    const D3D12_SUBRESOURCE_TILING& tiles = tiling->subresource;
    const uint64_t extent[] = {tiles.WidthInTiles, tiles.HeightInTiles, tiles.DepthInTiles};
    if (at.X >= extent[0] || at.Y >= extent[1] || at.Z >= extent[2]) return refuse();
    if (use_box) {
      const uint64_t volume = uint64_t{size->Width} * size->Height * size->Depth;
      if (at.X + uint64_t{size->Width} > extent[0] || at.Y + uint64_t{size->Height} > extent[1] ||
          at.Z + uint64_t{size->Depth} > extent[2] || volume != count) {
        return refuse();
      }
      return Status();
    }
    first = tiles.StartTileIndexInOverallResource + (at.Z * extent[1] + at.Y) * extent[0] + at.X;
  }
  return first <= tiling->count && count <= tiling->count - first ? Status() : refuse();
}

Status CheckUpdate(ID3D12Device* device, const ReplayObject& resource, UINT region_count,
                   const D3D12_TILED_RESOURCE_COORDINATE* coordinates,
                   const D3D12_TILE_REGION_SIZE* sizes, uint64_t* tiles) {
  if (region_count > 1 && coordinates == nullptr) {
    return Status(StatusCode::kCorrupt, "regions of tiles without a place");
  }
  for (UINT i = 0; i < region_count; ++i) {
    const D3D12_TILED_RESOURCE_COORDINATE at =
        coordinates == nullptr ? D3D12_TILED_RESOURCE_COORDINATE{} : coordinates[i];
    // With neither place nor size, all tiles are meant.
    if (coordinates == nullptr && sizes == nullptr) {
      const Result<Tiling> tiling = TilingOf(device, resource, 0);
      if (!tiling.ok()) return tiling.status();
      *tiles += tiling->count;
      continue;
    }
    const D3D12_TILE_REGION_SIZE* const size = sizes == nullptr ? nullptr : &sizes[i];
    CAIRN_RETURN_IF_ERROR(CheckRegion(device, resource, at, size));
    *tiles += size == nullptr ? 1 : size->NumTiles;
  }
  return Status();
}

struct HeapRanges {
  UINT count;
  const D3D12_TILE_RANGE_FLAGS* flags;
  const UINT* offsets;
  UINT* counts;
};

// `tiles`: how many the regions have. `covered`: how many the ranges have.
Status CheckHeapRanges(const ReplayObject* heap, const HeapRanges& ranges, uint64_t tiles,
                       uint64_t* covered) {
  for (UINT i = 0; i < ranges.count; ++i) {
    const uint64_t alone = ranges.count == 1 ? tiles : 1;
    const uint64_t count = ranges.counts == nullptr ? alone : ranges.counts[i];
    const D3D12_TILE_RANGE_FLAGS flags =
        ranges.flags == nullptr ? D3D12_TILE_RANGE_FLAG_NONE : ranges.flags[i];
    *covered += count;
    if (flags == D3D12_TILE_RANGE_FLAG_NULL || flags == D3D12_TILE_RANGE_FLAG_SKIP) continue;
    const uint64_t used = flags == D3D12_TILE_RANGE_FLAG_REUSE_SINGLE_TILE ? 1 : count;
    const uint64_t first = ranges.offsets == nullptr ? 0 : ranges.offsets[i];
    const uint64_t all =
        heap == nullptr ? 0 : GetDesc(heap->As<ID3D12Heap>()).SizeInBytes / kTileBytes;
    if (heap == nullptr || first > all || used > all - first) {
      return Status(StatusCode::kCorrupt,
                    fmt::format("{} tiles from {} on of a heap that has {}", used, first, all));
    }
  }
  return Status();
}

// Implementations map the tiles that both sides have; one that counts otherwise would leave its arrays. So
// no more than these are left: `counts` says how many each of `count` elements has, null: one each.
template <typename Tiles>
void CutTiles(UINT* count, uint64_t left, Tiles tiles_of) {
  UINT kept = 0;
  for (; kept < *count && left != 0; ++kept) {
    UINT* const tiles = tiles_of(kept);
    const uint64_t taken = tiles == nullptr ? 1 : std::min<uint64_t>(*tiles, left);
    if (tiles != nullptr) *tiles = static_cast<UINT>(taken);
    left -= taken;
  }
  *count = kept;
}

// Regions with a box cannot be cut.
Status CutRegions(UINT* count, const D3D12_TILED_RESOURCE_COORDINATE* coordinates,
                  D3D12_TILE_REGION_SIZE* sizes, uint64_t left) {
  bool whole = coordinates == nullptr && sizes == nullptr;
  for (UINT i = 0; sizes != nullptr && i < *count; ++i) whole = whole || sizes[i].UseBox;
  if (whole) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("its ranges of the heap have {} tiles, its regions more", left));
  }
  CutTiles(count, left, [&](UINT i) { return sizes == nullptr ? nullptr : &sizes[i].NumTiles; });
  return Status();
}

}  // namespace

Status PlayerImpl::AwaitTileMappings() {
  if (!tile_mappings_pending_) return Status();
  // The mappings of a queue that waits are made later.
  tile_mappings_pending_ = waits_.AnyBlocked();
  return waits_.WaitForDevices();
}

Status PlayerImpl::CheckTiles(CallInProgress* call) {
  const DeviceContext* const context = devices_.Find(call->object->device);
  ID3D12Device* const device = context == nullptr ? nullptr : context->device.get();
  if (device == nullptr) return Status();
  switch (call->method) {
    case Method::ID3D12GraphicsCommandList_CopyTiles: {
      const ReplayObject* const tiled = call->ObjectAt(0);
      const ReplayObject* const buffer = call->ObjectAt(3);
      if (tiled == nullptr || buffer == nullptr) return Status();
      const auto* const size = call->At<const D3D12_TILE_REGION_SIZE*>(2);
      CAIRN_RETURN_IF_ERROR(CheckBytes(*buffer, call->At<UINT64>(4), size->NumTiles * kTileBytes));
      return CheckRegion(device, *tiled, *call->At<const D3D12_TILED_RESOURCE_COORDINATE*>(1),
                         size);
    }
    case Method::ID3D12CommandQueue_CopyTileMappings: {
      tile_mappings_pending_ = true;
      const auto* const size = call->At<const D3D12_TILE_REGION_SIZE*>(4);
      for (const size_t i : {size_t{0}, size_t{2}}) {
        const ReplayObject* const tiled = call->ObjectAt(i);
        if (tiled == nullptr) return Status();
        CAIRN_RETURN_IF_ERROR(CheckRegion(
            device, *tiled, *call->At<const D3D12_TILED_RESOURCE_COORDINATE*>(i + 1), size));
      }
      return Status();
    }
    case Method::ID3D12CommandQueue_UpdateTileMappings: {
      tile_mappings_pending_ = true;
      const ReplayObject* const tiled = call->ObjectAt(0);
      if (tiled == nullptr) return Status();
      uint64_t tiles = 0;
      CAIRN_RETURN_IF_ERROR(CheckUpdate(device, *tiled, call->At<UINT>(1),
                                        call->At<const D3D12_TILED_RESOURCE_COORDINATE*>(2),
                                        call->At<const D3D12_TILE_REGION_SIZE*>(3), &tiles));
      // Decoded for this call alone.
      auto* const counts = const_cast<UINT*>(call->At<const UINT*>(8));
      uint64_t covered = 0;
      CAIRN_RETURN_IF_ERROR(
          CheckHeapRanges(call->ObjectAt(4),
                          {call->At<UINT>(5), call->At<const D3D12_TILE_RANGE_FLAGS*>(6),
                           call->At<const UINT*>(7), counts},
                          tiles, &covered));
      if (covered > tiles) {
        CutTiles(&call->At<UINT>(5), tiles,
                 [&](UINT i) { return counts == nullptr ? nullptr : &counts[i]; });
      } else if (covered < tiles) {
        return CutRegions(
            &call->At<UINT>(1), call->At<const D3D12_TILED_RESOURCE_COORDINATE*>(2),
            const_cast<D3D12_TILE_REGION_SIZE*>(call->At<const D3D12_TILE_REGION_SIZE*>(3)),
            covered);
      }
      return Status();
    }
    default: return call->Needless(CallPart::kTileChecks);
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
