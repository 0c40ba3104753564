// SPDX-License-Identifier: Apache-2.0
//
// What a list does to the states of resources, and what it draws and copies into: for captures, which
// look at images at the end of a frame, at everything when a recording begins late, and at what the CPU
// is to read.
#include <algorithm>
#include <new>

#include "d3d12/device.h"
#include "d3d12/device_capture.h"
#include "d3d12/graphics_command_list.h"
#include "d3d12/objects.h"
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

bool IsComparable(ID3D12Resource* from) {
  Wrapper* const wrapper = AsWrapper(from);
  return wrapper == nullptr ||
         !static_cast<WrappedID3D12Resource*>(wrapper)->mappings().unpredictable();
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

// ---- What the CPU is to read ----------------------------------------------------------------------

uint64_t WrappedID3D12GraphicsCommandList::ReadByCpu(ID3D12Resource* to, bool comparable) {
  Wrapper* const wrapper = AsWrapper(to);
  if (captured_ == nullptr || wrapper == nullptr) return kNoObject;
  MappingCapture& mappings = static_cast<WrappedID3D12Resource*>(wrapper)->mappings();
  if (!mappings.reads_back(*wrapper)) {
    // What is copied out of it differs from run to run as well.
    if (!comparable) mappings.NoteUnpredictable();
    return kNoObject;
  }
  if (mappings.FirstCopy()) {
    work_.device().capture()->readbacks().Follow(wrapper->capture_number(), mappings);
  }
  return wrapper->capture_number();
}

void WrappedID3D12GraphicsCommandList::NoteBytesCopied(ID3D12Resource* to, uint64_t offset_bytes,
                                                       uint64_t size_bytes, ID3D12Resource* from) {
  const bool comparable = IsComparable(from);
  const uint64_t buffer = ReadByCpu(to, comparable);
  if (buffer == kNoObject) return;
  NoteIfPossible([&] {
    captured_->copies.Add({.buffer = buffer,
                           .offset_bytes = offset_bytes,
                           .row_bytes = size_bytes,
                           .comparable = comparable});
  });
}

void WrappedID3D12GraphicsCommandList::NoteResourceCopied(ID3D12Resource* to,
                                                          ID3D12Resource* from) {
  if (ReadByCpu(to, IsComparable(from)) == kNoObject) return;
  const D3D12_RESOURCE_DESC desc = DescOf(to);
  if (desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) NoteBytesCopied(to, 0, desc.Width, from);
}

void WrappedID3D12GraphicsCommandList::NoteTextureCopied(const D3D12_TEXTURE_COPY_LOCATION& to,
                                                         UINT x, UINT y, UINT z,
                                                         const D3D12_TEXTURE_COPY_LOCATION& from,
                                                         const D3D12_BOX* box) {
  const bool comparable = IsComparable(from.pResource);
  const uint64_t buffer = ReadByCpu(to.pResource, comparable);
  if (buffer == kNoObject || to.Type != D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT) return;
  const D3D12_SUBRESOURCE_FOOTPRINT& placed = to.PlacedFootprint.Footprint;
  const FormatLayout layout = LayoutOfFormat(placed.Format);
  if (layout.block_bytes == 0 || from.pResource == nullptr) return;
  const D3D12_BOX whole = BoxOf(from);
  const D3D12_BOX& copied = box == nullptr ? whole : *box;
  if (copied.left >= copied.right || copied.top >= copied.bottom || copied.front >= copied.back) {
    return;
  }
  const auto columns = [&](uint64_t texels) {
    return (texels + layout.block_width - 1) / layout.block_width;
  };
  const auto rows = [&](uint64_t texels) {
    return (texels + layout.block_height - 1) / layout.block_height;
  };
  NoteIfPossible([&] {
    captured_->copies.AddBox(buffer,
                             {.offset_bytes = to.PlacedFootprint.Offset,
                              .row_pitch_bytes = placed.RowPitch,
                              .block_bytes = layout.block_bytes,
                              .rows_per_slice = rows(placed.Height)},
                             {.x = x / layout.block_width,
                              .y = y / layout.block_height,
                              .z = z,
                              .width = columns(copied.right - copied.left),
                              .height = rows(copied.bottom - copied.top),
                              .depth = copied.back - copied.front},
                             comparable);
  });
}

void WrappedID3D12GraphicsCommandList::NoteQueriesResolved(ID3D12Resource* to,
                                                           uint64_t offset_bytes,
                                                           uint64_t size_bytes) {
  // Times and counts differ from run to run.
  const uint64_t buffer = ReadByCpu(to, /*comparable=*/false);
  if (buffer == kNoObject) return;
  NoteIfPossible([&] {
    captured_->copies.Add({.buffer = buffer,
                           .offset_bytes = offset_bytes,
                           .row_bytes = size_bytes,
                           .comparable = false});
  });
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
