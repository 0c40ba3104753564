// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/descriptor_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "reader/replay/replay_regions.h"
#include "reader/replay/structure_questions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr uint32_t kRest = std::numeric_limits<uint32_t>::max();  // -1: all that are left

// The part of a resource that a view covers. The contents of buffers are not checked.
struct ViewRange {
  D3D12_RESOURCE_DIMENSION dimension = D3D12_RESOURCE_DIMENSION_UNKNOWN;  // not known: any
  uint32_t first_mip = 0;
  uint32_t mips = 1;
  uint32_t first_slice = 0;
  uint32_t slices = 1;
};

constexpr auto kBuffer = D3D12_RESOURCE_DIMENSION_BUFFER;
constexpr auto k1D = D3D12_RESOURCE_DIMENSION_TEXTURE1D;
constexpr auto k2D = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
constexpr auto k3D = D3D12_RESOURCE_DIMENSION_TEXTURE3D;

Status UnknownDimension(int dimension) {
  return Status(StatusCode::kCorrupt, fmt::format("a view of dimension {}", dimension));
}

uint32_t CubeFaces(uint32_t cubes) {
  constexpr uint32_t kFaces = 6;
  // More cubes than a texture can have.
  return cubes == kRest ? kRest : std::min(cubes, kRest / kFaces - 1) * kFaces;
}

Result<ViewRange> RangeOf(const D3D12_SHADER_RESOURCE_VIEW_DESC& desc) {
  constexpr uint32_t kFaces = 6;
  switch (desc.ViewDimension) {
    case D3D12_SRV_DIMENSION_BUFFER: return ViewRange{kBuffer};
    case D3D12_SRV_DIMENSION_TEXTURE1D:
      return ViewRange{k1D, desc.Texture1D.MostDetailedMip, desc.Texture1D.MipLevels};
    case D3D12_SRV_DIMENSION_TEXTURE1DARRAY: {
      const auto& view = desc.Texture1DArray;
      return ViewRange{k1D, view.MostDetailedMip, view.MipLevels, view.FirstArraySlice,
                       view.ArraySize};
    }
    case D3D12_SRV_DIMENSION_TEXTURE2D:
      return ViewRange{k2D, desc.Texture2D.MostDetailedMip, desc.Texture2D.MipLevels};
    case D3D12_SRV_DIMENSION_TEXTURE2DARRAY: {
      const auto& view = desc.Texture2DArray;
      return ViewRange{k2D, view.MostDetailedMip, view.MipLevels, view.FirstArraySlice,
                       view.ArraySize};
    }
    case D3D12_SRV_DIMENSION_TEXTURE2DMS: return ViewRange{k2D};
    case D3D12_SRV_DIMENSION_TEXTURE2DMSARRAY:
      return ViewRange{k2D, 0, 1, desc.Texture2DMSArray.FirstArraySlice,
                       desc.Texture2DMSArray.ArraySize};
    case D3D12_SRV_DIMENSION_TEXTURE3D:
      return ViewRange{k3D, desc.Texture3D.MostDetailedMip, desc.Texture3D.MipLevels, 0, kRest};
    case D3D12_SRV_DIMENSION_TEXTURECUBE:
      return ViewRange{k2D, desc.TextureCube.MostDetailedMip, desc.TextureCube.MipLevels, 0,
                       kFaces};
    case D3D12_SRV_DIMENSION_TEXTURECUBEARRAY: {
      const auto& view = desc.TextureCubeArray;
      return ViewRange{k2D, view.MostDetailedMip, view.MipLevels, view.First2DArrayFace,
                       CubeFaces(view.NumCubes)};
    }
    case D3D12_SRV_DIMENSION_RAYTRACING_ACCELERATION_STRUCTURE: return ViewRange{};
    default: return UnknownDimension(desc.ViewDimension);
  }
}

// Views that are written through: of one mip. Their descriptions differ in names only.
template <typename Desc>
Result<ViewRange> RangeOfWritten(const Desc& desc, int buffer, int first_of_1d, int first_of_2d,
                                 int volume) {
  const int dimension = static_cast<int>(desc.ViewDimension);
  if (dimension == first_of_1d) return ViewRange{k1D, desc.Texture1D.MipSlice};
  if (dimension == first_of_1d + 1) {
    const auto& view = desc.Texture1DArray;
    return ViewRange{k1D, view.MipSlice, 1, view.FirstArraySlice, view.ArraySize};
  }
  if (dimension == first_of_2d) return ViewRange{k2D, desc.Texture2D.MipSlice};
  if (dimension == first_of_2d + 1) {
    const auto& view = desc.Texture2DArray;
    return ViewRange{k2D, view.MipSlice, 1, view.FirstArraySlice, view.ArraySize};
  }
  if (dimension == first_of_2d + 2) return ViewRange{k2D};
  if (dimension == first_of_2d + 3) {
    const auto& view = desc.Texture2DMSArray;
    return ViewRange{k2D, 0, 1, view.FirstArraySlice, view.ArraySize};
  }
  if constexpr (requires { desc.Texture3D; }) {
    if (dimension == buffer) return ViewRange{kBuffer};
    if (dimension == volume) {
      const auto& view = desc.Texture3D;
      return ViewRange{k3D, view.MipSlice, 1, view.FirstWSlice, view.WSize};
    }
  }
  return UnknownDimension(dimension);
}

Result<ViewRange> RangeOf(const D3D12_UNORDERED_ACCESS_VIEW_DESC& desc) {
  static_assert(D3D12_UAV_DIMENSION_TEXTURE2DMSARRAY == D3D12_UAV_DIMENSION_TEXTURE2D + 3);
  Result<ViewRange> range =
      RangeOfWritten(desc, D3D12_UAV_DIMENSION_BUFFER, D3D12_UAV_DIMENSION_TEXTURE1D,
                     D3D12_UAV_DIMENSION_TEXTURE2D, D3D12_UAV_DIMENSION_TEXTURE3D);
  if (range.ok() && range->dimension == k3D) {
    // Shaders see all slices; which of them these are is a matter of the GPU alone.
    range->first_slice = 0;
    range->slices = kRest;
  }
  return range;
}

Result<ViewRange> RangeOf(const D3D12_RENDER_TARGET_VIEW_DESC& desc) {
  static_assert(D3D12_RTV_DIMENSION_TEXTURE2DMSARRAY == D3D12_RTV_DIMENSION_TEXTURE2D + 3);
  return RangeOfWritten(desc, D3D12_RTV_DIMENSION_BUFFER, D3D12_RTV_DIMENSION_TEXTURE1D,
                        D3D12_RTV_DIMENSION_TEXTURE2D, D3D12_RTV_DIMENSION_TEXTURE3D);
}

Result<ViewRange> RangeOf(const D3D12_DEPTH_STENCIL_VIEW_DESC& desc) {
  static_assert(D3D12_DSV_DIMENSION_TEXTURE2DMSARRAY == D3D12_DSV_DIMENSION_TEXTURE2D + 3);
  return RangeOfWritten(desc, -1, D3D12_DSV_DIMENSION_TEXTURE1D, D3D12_DSV_DIMENSION_TEXTURE2D, -1);
}

bool Inside(uint64_t first, uint32_t count, uint64_t all) {
  return first < all && count != 0 && (count == kRest || count <= all - first);
}

// Drivers index what they know of a texture by its mips and slices when they make the view.
Status CheckRange(const ReplayObject& resource, const ViewRange& range) {
  const D3D12_RESOURCE_DESC& desc = resource.desc;
  if (range.dimension == D3D12_RESOURCE_DIMENSION_UNKNOWN) return Status();
  if (range.dimension != desc.Dimension) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("resource {} is of dimension {}, the view of {}", resource.number,
                              static_cast<int>(desc.Dimension), static_cast<int>(range.dimension)));
  }
  if (range.dimension == kBuffer) return Status();
  const uint64_t mips = MipCount(desc);
  const uint64_t slices = range.dimension == k3D ? SizeOfMip(desc, range.first_mip).depth
                                                 : uint64_t{desc.DepthOrArraySize};
  if (Inside(range.first_mip, range.mips, mips) &&
      Inside(range.first_slice, range.slices, slices)) {
    return Status();
  }
  return Status(StatusCode::kCorrupt,
                fmt::format("a view of {} mips from {} and {} slices from {} on of resource {}, "
                            "which has {} and {}",
                            static_cast<int32_t>(range.mips), range.first_mip,
                            static_cast<int32_t>(range.slices), range.first_slice, resource.number,
                            mips, slices));
}

// Clips rectangles to the target, as hardware does; implementations on the CPU may write outside of
// it. Returns the number of rectangles that are left.
UINT Clip(D3D12_RECT* rects, UINT count, uint32_t width, uint32_t height) {
  UINT left = 0;
  for (UINT i = 0; i < count; ++i) {
    D3D12_RECT rect = rects[i];
    rect.left = std::max<LONG>(rect.left, 0);
    rect.top = std::max<LONG>(rect.top, 0);
    rect.right = std::min<LONG>(rect.right, static_cast<LONG>(width));
    rect.bottom = std::min<LONG>(rect.bottom, static_cast<LONG>(height));
    if (rect.left < rect.right && rect.top < rect.bottom) rects[left++] = rect;
  }
  return left;
}

uint32_t MipOf(const D3D12_RENDER_TARGET_VIEW_DESC* desc) {
  const Result<ViewRange> range = desc == nullptr ? ViewRange{} : RangeOf(*desc);
  return range.ok() ? range->first_mip : 0;
}
uint32_t MipOf(const D3D12_DEPTH_STENCIL_VIEW_DESC* desc) {
  const Result<ViewRange> range = desc == nullptr ? ViewRange{} : RangeOf(*desc);
  return range.ok() ? range->first_mip : 0;
}

template <typename Desc>
Status CheckView(CallInProgress* call, size_t desc_index) {
  const ReplayObject* const resource = call->ObjectAt(0);
  const auto* const desc = call->At<const Desc*>(desc_index);
  if (resource == nullptr || desc == nullptr) return Status();
  const Result<ViewRange> range = RangeOf(*desc);
  return range.ok() ? CheckRange(*resource, *range) : range.status();
}

// Targets are textures for every implementation.
template <typename Desc>
Status CheckTarget(CallInProgress* call) {
  const ReplayObject* const resource = call->ObjectAt(0);
  if (resource != nullptr && IsBuffer(*resource)) {
    return Status(StatusCode::kUnsupported, "its target is a buffer");
  }
  return CheckView<Desc>(call, 1);
}

}  // namespace

const DescriptorViews::View* DescriptorViews::Find(const ReplayDescriptor& descriptor,
                                                   uint32_t further) const {
  const auto heap = heaps_.find(descriptor.heap);
  const uint64_t index = uint64_t{descriptor.index} + further;
  return heap == heaps_.end() || index >= heap->second.size() ? nullptr : &heap->second[index];
}

DescriptorViews::View* DescriptorViews::Add(const ReplayDescriptor& descriptor, uint32_t further) {
  const ReplayObject* const heap = objects_->Find(descriptor.heap);
  if (heap == nullptr || descriptor.heap == kNoObject) return nullptr;
  const uint64_t index = uint64_t{descriptor.index} + further;
  if (index >= heap->heap.NumDescriptors) return nullptr;
  std::vector<View>& views = heaps_[descriptor.heap];
  if (views.size() <= index) {
    const uint64_t larger = std::max<uint64_t>(index + 1, views.size() * 2);
    views.resize(std::min<uint64_t>(larger, heap->heap.NumDescriptors));
  }
  return &views[index];
}

Status DescriptorViews::CheckAlive(const ReplayDescriptor& descriptor, uint32_t further) const {
  const View* const view = Find(descriptor, further);
  if (view == nullptr || view->kind == ViewKind::kNone || view->resource == kNoObject ||
      objects_->Find(view->resource) != nullptr) {
    return Status();
  }
  return Status(
      StatusCode::kCorrupt,
      fmt::format("descriptor {} of descriptor heap {} is a view of resource {}, which has ended",
                  descriptor.index + further, descriptor.heap, view->resource));
}

// Checks that the cleared view exists, and clips the clear to its edges.
Status DescriptorViews::CheckClear(CallInProgress* call,
                                   std::span<const ReplayDescriptor> descriptors, ViewKind kind,
                                   size_t count, size_t rects) const {
  // The first descriptor is for the GPU, of the same view: the CPU does not read it.
  if (kind == ViewKind::kUnorderedAccess && descriptors.size() == 2) {
    descriptors = descriptors.subspan(1);
  }
  for (const ReplayDescriptor& descriptor : descriptors) {
    const View* const view = Find(descriptor, 0);
    if (view == nullptr || view->kind == ViewKind::kNone || view->resource == kNoObject) {
      return Status(StatusCode::kUnsupported, "its descriptor holds no view");
    }
    if (view->kind != kind) {
      return Status(StatusCode::kCorrupt,
                    fmt::format("descriptor {} of descriptor heap {} holds another kind of view",
                                descriptor.index, descriptor.heap));
    }
    CAIRN_RETURN_IF_ERROR(CheckAlive(descriptor, 0));
    if (kind == ViewKind::kUnorderedAccess || call->At<UINT>(count) == 0) continue;
    // Decoded for this call alone.
    auto* const all = const_cast<D3D12_RECT*>(call->At<const D3D12_RECT*>(rects));
    if (all == nullptr) continue;
    call->At<UINT>(count) = Clip(all, call->At<UINT>(count), view->width, view->height);
    // No rectangle would mean the whole target.
    if (call->At<UINT>(count) != 0) continue;
    return Status(StatusCode::kInvalidArgument, "all of its rectangles lie outside of the target");
  }
  return Status();
}

// The targets that a call sets: the first descriptor may stand for a range of them.
Status DescriptorViews::CheckTargets(CallInProgress* call,
                                     std::span<const ReplayDescriptor> descriptors) const {
  const bool is_range = call->method == Method::ID3D12GraphicsCommandList_OMSetRenderTargets &&
                        call->At<BOOL>(2) != 0 && call->At<UINT>(0) != 0;
  for (const ReplayDescriptor& descriptor : descriptors) {
    const bool is_first = &descriptor == descriptors.data();
    const uint32_t count = is_range && is_first ? call->At<UINT>(0) : 1;
    for (uint32_t i = 0; i < count; ++i) CAIRN_RETURN_IF_ERROR(CheckAlive(descriptor, i));
  }
  return Status();
}

Status DescriptorViews::Check(CallInProgress* call, std::span<const ReplayDescriptor> descriptors) {
  switch (call->method) {
    case Method::ID3D12Device_CreateShaderResourceView:
    case Method::ID3D12Device15_TryCreateShaderResourceView:
      return CheckView<D3D12_SHADER_RESOURCE_VIEW_DESC>(call, 1);
    case Method::ID3D12Device_CreateUnorderedAccessView:
    case Method::ID3D12Device15_TryCreateUnorderedAccessView: {
      const ReplayObject* const counter = call->ObjectAt(1);
      if (counter != nullptr) CAIRN_RETURN_IF_ERROR(CheckIsBuffer(*counter));
      return CheckView<D3D12_UNORDERED_ACCESS_VIEW_DESC>(call, 2);
    }
    case Method::ID3D12Device_CreateRenderTargetView:
    case Method::ID3D12Device15_TryCreateRenderTargetView:
      return CheckTarget<D3D12_RENDER_TARGET_VIEW_DESC>(call);
    case Method::ID3D12Device_CreateDepthStencilView:
    case Method::ID3D12Device15_TryCreateDepthStencilView:
      return CheckTarget<D3D12_DEPTH_STENCIL_VIEW_DESC>(call);
    case Method::ID3D12GraphicsCommandList_ClearRenderTargetView:
      return CheckClear(call, descriptors, ViewKind::kRenderTarget, 2, 3);
    case Method::ID3D12GraphicsCommandList_ClearDepthStencilView:
      return CheckClear(call, descriptors, ViewKind::kDepthStencil, 4, 5);
    case Method::ID3D12GraphicsCommandList_ClearUnorderedAccessViewUint:
    case Method::ID3D12GraphicsCommandList_ClearUnorderedAccessViewFloat:
      return CheckClear(call, descriptors, ViewKind::kUnorderedAccess, 4, 5);
    case Method::ID3D12GraphicsCommandList_OMSetRenderTargets:
    case Method::ID3D12GraphicsCommandList4_BeginRenderPass: return CheckTargets(call, descriptors);
    default: return call->Needless(CallPart::kViewChecks);
  }
}

void DescriptorViews::NoteStructure(CallInProgress* call, View* view) {
  const auto* const desc = call->At<const D3D12_SHADER_RESOURCE_VIEW_DESC*>(1);
  if (desc == nullptr ||
      NumberOf(desc->ViewDimension) != D3D12_SRV_DIMENSION_RAYTRACING_ACCELERATION_STRUCTURE) {
    return;
  }
  view->structure = desc->RaytracingAccelerationStructure.Location;
  structures_.insert(view->structure);
}

void DescriptorViews::Set(CallInProgress* call, const ReplayDescriptor& descriptor) {
  const CallRole& role = RoleOf(call->method);
  View* const view = Add(descriptor, 0);
  if (view == nullptr) return;
  *view = {};
  view->kind = role.view;
  if (keeps_structures_ && role.view == ViewKind::kShaderResource) NoteStructure(call, view);
  if (role.object == kNoParameter) return;  // constants, and samplers
  const ReplayObject* const resource = call->ObjectAt(static_cast<size_t>(role.object));
  if (resource == nullptr) return;
  uint32_t mip = 0;
  if (role.view == ViewKind::kRenderTarget) {
    mip = MipOf(call->At<const D3D12_RENDER_TARGET_VIEW_DESC*>(1));
  } else if (role.view == ViewKind::kDepthStencil) {
    mip = MipOf(call->At<const D3D12_DEPTH_STENCIL_VIEW_DESC*>(1));
  }
  const Extent size = SizeOfMip(resource->desc, mip);
  view->resource = resource->number;
  constexpr uint64_t kMost = std::numeric_limits<int32_t>::max();
  view->width = static_cast<uint32_t>(std::min(size.width, kMost));
  view->height = static_cast<uint32_t>(std::min(size.height, kMost));
}

void DescriptorViews::Copy(const ReplayDescriptor& to, uint32_t to_index,
                           const ReplayDescriptor& from, uint32_t from_index) {
  const View* const source = Find(from, from_index);
  const View copied = source == nullptr ? View{} : *source;
  if (View* const target = Add(to, to_index); target != nullptr) *target = copied;
}

void DescriptorViews::Note(CallInProgress* call, std::span<const ReplayDescriptor> descriptors) {
  switch (RoleOf(call->method).role) {
    case Role::kView:
      if (!descriptors.empty()) Set(call, descriptors.back());
      return;
    case Role::kCopyViews:
      if (descriptors.size() != 2) return;
      for (UINT i = 0; i < call->At<UINT>(0); ++i) Copy(descriptors[0], i, descriptors[1], i);
      return;
    case Role::kCopyViewRanges: return CopyRanges(call, descriptors);
    default: (void)call->Needless(CallPart::kViewNotes);
  }
}

// Ranges of any sizes to ranges of other sizes: one descriptor after another.
void DescriptorViews::CopyRanges(CallInProgress* call,
                                 std::span<const ReplayDescriptor> descriptors) {
  const UINT counts[] = {call->At<UINT>(0), call->At<UINT>(3)};
  const UINT* const sizes[] = {call->At<const UINT*>(2), call->At<const UINT*>(5)};
  const auto size_of = [&](int side, UINT range) {
    return sizes[side] == nullptr ? 1 : sizes[side][range];
  };
  UINT from = 0;
  UINT from_index = 0;
  for (UINT to = 0; to < counts[0]; ++to) {
    for (UINT i = 0; i < size_of(0, to); ++i) {
      while (from < counts[1] && from_index >= size_of(1, from)) {
        ++from;
        from_index = 0;
      }
      if (from >= counts[1] || uint64_t{counts[0]} + from >= descriptors.size()) return;
      Copy(descriptors[to], i, descriptors[counts[0] + from], from_index++);
    }
  }
}

std::vector<D3D12_CPU_DESCRIPTOR_HANDLE> DescriptorViews::MoveStructure(uint64_t device,
                                                                        uint64_t address,
                                                                        uint64_t to,
                                                                        uint64_t* looked) {
  std::vector<D3D12_CPU_DESCRIPTOR_HANDLE> found;
  if (address == 0 || !structures_.contains(address)) return found;
  for (auto& [number, views] : heaps_) {
    const ReplayObject* const heap = objects_->Find(number);
    if (heap == nullptr || heap->device != device) continue;
    *looked += views.size();
    for (size_t i = 0; i < views.size(); ++i) {
      if (views[i].structure != address) continue;
      views[i].structure = to;
      found.push_back({static_cast<SIZE_T>(heap->cpu_start + i * heap->increment_bytes)});
    }
  }
  if (!found.empty()) structures_.insert(to);
  return found;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
