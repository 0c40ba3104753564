// SPDX-License-Identifier: Apache-2.0
//
// Tracks the state changes, draws and copies of a list, for captures, which read images at the end
// of a frame, everything when a recording begins late, and the data that the CPU will read.
#include <algorithm>
#include <new>

#include "app/d3d12/capture/device_capture.h"
#include "app/d3d12/device.h"
#include "app/d3d12/graphics_command_list.h"
#include "app/d3d12/objects.h"
#include "d3d12abi/aggregates.h"
#include "d3d12abi/image_formats.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

uint64_t NumberOfResource(ID3D12Resource* resource) {
  const Wrapper* const wrapper = AsWrapper(resource);
  return wrapper == nullptr ? kNoObject : wrapper->capture_number();
}

// Without memory the list says less of states than it does to them; nothing may leave the program's call.
template <typename Note>
void NoteIfPossible(const Note& note) {
  try {
    note();
  } catch (const std::bad_alloc&) {
  }
}

D3D12_RESOURCE_DESC DescOf(ID3D12Resource* resource) {
  return GetDesc(static_cast<ID3D12Resource*>(AsWrapper(resource)->real_pointer()));
}

// All texels of what is copied; none if that is not known.
D3D12_BOX BoxOf(const D3D12_TEXTURE_COPY_LOCATION& from) {
  if (from.Type == D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT) {
    const D3D12_SUBRESOURCE_FOOTPRINT& placed = from.PlacedFootprint.Footprint;
    return {0, 0, 0, placed.Width, placed.Height, placed.Depth};
  }
  if (AsWrapper(from.pResource) == nullptr) return {};
  const D3D12_RESOURCE_DESC desc = DescOf(from.pResource);
  const UINT mip = from.SubresourceIndex % std::max<UINT>(desc.MipLevels, 1);
  const auto at_mip = [&](uint64_t texels) {
    return static_cast<UINT>(std::max<uint64_t>(mip < 64 ? texels >> mip : 0, 1));
  };
  const bool volume = desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  return {
      0, 0, 0, at_mip(desc.Width), at_mip(desc.Height), volume ? at_mip(desc.DepthOrArraySize) : 1};
}

}  // namespace

void WrappedID3D12GraphicsCommandList::ResetCapture() {
  if (work_.device().capture() == nullptr) return;
  if (captured_ == nullptr) captured_.reset(new (std::nothrow) ListCapture);
  if (captured_ != nullptr) captured_->Reset();
}

void WrappedID3D12GraphicsCommandList::ResourceBarrier(UINT count,
                                                       const D3D12_RESOURCE_BARRIER* barriers) {
  Thin::ResourceBarrier(count, barriers);
  if (captured_ == nullptr) return;
  NoteIfPossible([&] { NoteBarriers(&captured_->states, barriers, count, NumberOfResource); });
}

void WrappedID3D12GraphicsCommandList::Barrier(UINT32 group_count,
                                               const D3D12_BARRIER_GROUP* groups) {
  Thin::Barrier(group_count, groups);
  if (captured_ == nullptr) return;
  NoteIfPossible(
      [&] { NoteBarrierGroups(&captured_->states, groups, group_count, NumberOfResource); });
}

void WrappedID3D12GraphicsCommandList::NoteCopiedInto(ID3D12Resource* to, uint32_t subresource) {
  if (captured_ == nullptr) return;
  const Wrapper* const wrapper = AsWrapper(to);
  if (wrapper == nullptr) return;
  NoteIfPossible([&] { captured_->states.CopiedInto(wrapper->capture_number(), subresource); });
}

void WrappedID3D12GraphicsCommandList::NoteTargets(UINT count,
                                                   const D3D12_CPU_DESCRIPTOR_HANDLE* targets,
                                                   BOOL single_range) {
  if (captured_ == nullptr || targets == nullptr) return;
  const WrappedID3D12Device& device = work_.device();
  for (UINT slot = 0; slot < count && slot < ListBreadcrumbs::kRenderTargets; ++slot) {
    D3D12_CPU_DESCRIPTOR_HANDLE target = targets[single_range ? 0 : slot];
    if (single_range) target.ptr += SIZE_T{slot} * device.render_target_increment();
    NoteIfPossible([&] { device.capture()->NoteTarget(&captured_->states, target.ptr); });
  }
}

// ---- Acceleration structures -----------------------------------------------------------------------

void WrappedID3D12GraphicsCommandList::NoteStructureBuilt(
    const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc) {
  if (captured_ == nullptr || desc == nullptr || !StructureCapture::IsWanted()) return;
  NoteIfPossible([&] { captured_->structures.Build(*desc); });
}

void WrappedID3D12GraphicsCommandList::NoteStructureCopied(
    D3D12_GPU_VIRTUAL_ADDRESS to, D3D12_GPU_VIRTUAL_ADDRESS from,
    D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE mode) {
  if (captured_ == nullptr || !StructureCapture::IsWanted()) return;
  NoteIfPossible([&] { captured_->structures.Copy(to, from, mode); });
}

// ---- What the CPU is to read ----------------------------------------------------------------------

CopiedRows WrappedID3D12GraphicsCommandList::ReadByCpu(ID3D12Resource* to, ID3D12Resource* from) {
  Wrapper* const wrapper = AsWrapper(to);
  if (captured_ == nullptr || wrapper == nullptr) return {};
  ReadbackCapture& readbacks = work_.device().capture()->readbacks();
  const uint64_t source = from == nullptr ? kNoObject : NumberOfResource(from);
  MappingCapture& mappings = static_cast<WrappedID3D12Resource*>(wrapper)->mappings();
  if (!mappings.reads_back(*wrapper)) {
    mappings.WrittenByGpu(*wrapper);
    // Copies of unpredictable data differ from run to run as well.
    if (readbacks.IsUnpredictable(source)) readbacks.NoteUnpredictable(wrapper->capture_number());
    return {};
  }
  if (mappings.FirstCopy()) readbacks.Follow(wrapper->capture_number(), mappings);
  return {.buffer = wrapper->capture_number(), .source = source};
}

void WrappedID3D12GraphicsCommandList::NoteBytesCopied(ID3D12Resource* to, uint64_t offset_bytes,
                                                       uint64_t size_bytes, ID3D12Resource* from) {
  CopiedRows rows = ReadByCpu(to, from);
  if (rows.buffer == kNoObject) return;
  rows.offset_bytes = offset_bytes;
  rows.row_bytes = size_bytes;
  captured_->copies.Add(rows);
}

void WrappedID3D12GraphicsCommandList::NoteResourceCopied(ID3D12Resource* to,
                                                          ID3D12Resource* from) {
  CopiedRows rows = ReadByCpu(to, from);
  if (rows.buffer == kNoObject) return;
  const D3D12_RESOURCE_DESC desc = DescOf(to);
  rows.row_bytes = desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER ? desc.Width : 0;
  captured_->copies.Add(rows);
}

void WrappedID3D12GraphicsCommandList::NoteUnknownCopy(ID3D12Resource* to) {
  CopiedRows rows = ReadByCpu(to, nullptr);
  if (rows.buffer == kNoObject) return;
  rows.row_bytes = DescOf(to).Width;
  rows.comparable = false;
  captured_->copies.Add(rows);
}

void WrappedID3D12GraphicsCommandList::NoteTextureCopied(const D3D12_TEXTURE_COPY_LOCATION& to,
                                                         UINT x, UINT y, UINT z,
                                                         const D3D12_TEXTURE_COPY_LOCATION& from,
                                                         const D3D12_BOX* box) {
  const CopiedRows rows = ReadByCpu(to.pResource, from.pResource);
  if (rows.buffer == kNoObject || to.Type != D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT) return;
  const D3D12_SUBRESOURCE_FOOTPRINT& placed = to.PlacedFootprint.Footprint;
  const FormatLayout layout = LayoutOfFormat(placed.Format);
  const D3D12_BOX copied = box == nullptr ? BoxOf(from) : *box;
  if (layout.block_bytes == 0 || (box == nullptr && copied.right == 0)) {
    return NoteUnknownCopy(to.pResource);
  }
  // Clips to the target: rows outside of it are not written, and smaller planes have fewer rows.
  const auto extent = [](uint64_t begin, uint64_t end, uint64_t at, uint64_t limit) {
    return begin < end && at < limit ? std::min(end - begin, limit - at) : 0;
  };
  const auto blocks = [](uint64_t texels, uint32_t size) { return (texels + size - 1) / size; };
  const uint64_t width = extent(copied.left, copied.right, x, placed.Width);
  const uint64_t height = extent(copied.top, copied.bottom, y, placed.Height);
  captured_->copies.AddBox(rows,
                           {.offset_bytes = to.PlacedFootprint.Offset,
                            .row_pitch_bytes = placed.RowPitch,
                            .block_bytes = layout.block_bytes,
                            .rows_per_slice = blocks(placed.Height, layout.block_height)},
                           {.x = x / layout.block_width,
                            .y = y / layout.block_height,
                            .z = z,
                            .width = blocks(width, layout.block_width),
                            .height = blocks(height, layout.block_height),
                            .depth = extent(copied.front, copied.back, z, placed.Depth)});
}

void WrappedID3D12GraphicsCommandList::NoteQueriesResolved(ID3D12Resource* to,
                                                           uint64_t offset_bytes,
                                                           uint64_t size_bytes) {
  CopiedRows rows = ReadByCpu(to, nullptr);
  if (rows.buffer != kNoObject) {
    rows.offset_bytes = offset_bytes;
    rows.row_bytes = size_bytes;
    rows.comparable = false;
    captured_->copies.Add(rows);
  } else if (const Wrapper* const wrapper = AsWrapper(to);
             wrapper != nullptr && captured_ != nullptr) {
    // Times and counts differ from run to run.
    work_.device().capture()->readbacks().NoteUnpredictable(wrapper->capture_number());
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
