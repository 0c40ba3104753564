// SPDX-License-Identifier: Apache-2.0
//
// Records the objects that draws, dispatches, copies and clears use. Nothing is looked up unless
// breadcrumbs are on and the list is open.
#include <algorithm>

#include "app/d3d12/device.h"
#include "app/d3d12/graphics_command_list.h"
#include "app/d3d12/objects.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr bool kGraphics = false;
constexpr bool kCompute = true;

ID3D12Resource* ResourceOf(const D3D12_TEXTURE_COPY_LOCATION* location) {
  return location == nullptr ? nullptr : location->pResource;
}

// Returns the size of one result.
uint64_t QueryBytes(D3D12_QUERY_TYPE type) {
  switch (type) {
    case D3D12_QUERY_TYPE_OCCLUSION:
    case D3D12_QUERY_TYPE_BINARY_OCCLUSION:
    case D3D12_QUERY_TYPE_TIMESTAMP: return sizeof(UINT64);
    case D3D12_QUERY_TYPE_SO_STATISTICS_STREAM0:
    case D3D12_QUERY_TYPE_SO_STATISTICS_STREAM1:
    case D3D12_QUERY_TYPE_SO_STATISTICS_STREAM2:
    case D3D12_QUERY_TYPE_SO_STATISTICS_STREAM3: return sizeof(D3D12_QUERY_DATA_SO_STATISTICS);
    case D3D12_QUERY_TYPE_PIPELINE_STATISTICS: return sizeof(D3D12_QUERY_DATA_PIPELINE_STATISTICS);
    default: return sizeof(D3D12_QUERY_DATA_PIPELINE_STATISTICS1);  // the largest
  }
}

}  // namespace

uint32_t WrappedID3D12GraphicsCommandList::ObjectBehind(D3D12_CPU_DESCRIPTOR_HANDLE view) const {
  return work_.device().descriptor_shadow().Get(view.ptr);
}

void WrappedID3D12GraphicsCommandList::Use(ID3D12Resource* to, ID3D12Resource* from) {
  if (!notes().open()) return;
  notes().UseObject(BindPoint::kDestination, 0, NotedObject(to));
  notes().UseObject(BindPoint::kSource, 0, NotedObject(from));
}

// ---- What stays bound -----------------------------------------------------------------------------

void WrappedID3D12GraphicsCommandList::OMSetRenderTargets(
    UINT count, const D3D12_CPU_DESCRIPTOR_HANDLE* targets, BOOL single_range,
    const D3D12_CPU_DESCRIPTOR_HANDLE* depth_stencil) {
  if (notes().open()) {
    const UINT noted = targets == nullptr ? 0 : std::min(count, ListBreadcrumbs::kRenderTargets);
    const uint32_t increment = work_.device().render_target_increment();
    for (UINT slot = 0; slot < noted; ++slot) {
      D3D12_CPU_DESCRIPTOR_HANDLE target = targets[single_range ? 0 : slot];
      if (single_range) target.ptr += SIZE_T{slot} * increment;
      notes().SetRenderTarget(slot, ObjectBehind(target));
    }
    notes().EndRenderTargets(noted);
    notes().SetDepthStencil(depth_stencil == nullptr ? 0 : ObjectBehind(*depth_stencil));
  }
  Thin::OMSetRenderTargets(count, targets, single_range, depth_stencil);
  NoteTargets(count, targets, single_range);
}

void WrappedID3D12GraphicsCommandList::IASetVertexBuffers(UINT start, UINT count,
                                                          const D3D12_VERTEX_BUFFER_VIEW* views) {
  if (notes().open() && start < ListBreadcrumbs::kVertexBuffers) {
    const UINT noted = std::min(count, ListBreadcrumbs::kVertexBuffers - start);
    for (UINT i = 0; i < noted; ++i) {
      notes().SetVertexBuffer(start + i, views == nullptr ? 0 : views[i].BufferLocation);
    }
  }
  Thin::IASetVertexBuffers(start, count, views);
}

void WrappedID3D12GraphicsCommandList::IASetIndexBuffer(const D3D12_INDEX_BUFFER_VIEW* view) {
  notes().SetIndexBuffer(view == nullptr ? 0 : view->BufferLocation);
  Thin::IASetIndexBuffer(view);
}

void WrappedID3D12GraphicsCommandList::SOSetTargets(UINT start, UINT count,
                                                    const D3D12_STREAM_OUTPUT_BUFFER_VIEW* views) {
  if (notes().open() && start < ListBreadcrumbs::kStreams) {
    const UINT noted = std::min(count, ListBreadcrumbs::kStreams - start);
    for (UINT i = 0; i < noted; ++i) {
      notes().SetStreamOutput(start + i, views == nullptr ? 0 : views[i].BufferLocation);
    }
  }
  Thin::SOSetTargets(start, count, views);
}

void WrappedID3D12GraphicsCommandList::SetGraphicsRootSignature(ID3D12RootSignature* signature) {
  notes().SetRootSignature(kGraphics, signature);
  Thin::SetGraphicsRootSignature(signature);
}

void WrappedID3D12GraphicsCommandList::SetComputeRootSignature(ID3D12RootSignature* signature) {
  notes().SetRootSignature(kCompute, signature);
  Thin::SetComputeRootSignature(signature);
}

#define CAIRN_ROOT_ADDRESS(function, pipeline, point)                                  \
  void WrappedID3D12GraphicsCommandList::function(UINT parameter,                      \
                                                  D3D12_GPU_VIRTUAL_ADDRESS address) { \
    notes().SetRootAddress(pipeline, BindPoint::point, parameter, address);            \
    Thin::function(parameter, address);                                                \
  }
CAIRN_ROOT_ADDRESS(SetGraphicsRootConstantBufferView, kGraphics, kRootConstantBuffer)
CAIRN_ROOT_ADDRESS(SetComputeRootConstantBufferView, kCompute, kRootConstantBuffer)
CAIRN_ROOT_ADDRESS(SetGraphicsRootShaderResourceView, kGraphics, kRootShaderResource)
CAIRN_ROOT_ADDRESS(SetComputeRootShaderResourceView, kCompute, kRootShaderResource)
CAIRN_ROOT_ADDRESS(SetGraphicsRootUnorderedAccessView, kGraphics, kRootUnorderedAccess)
CAIRN_ROOT_ADDRESS(SetComputeRootUnorderedAccessView, kCompute, kRootUnorderedAccess)
#undef CAIRN_ROOT_ADDRESS

// ---- What one command uses ------------------------------------------------------------------------

void WrappedID3D12GraphicsCommandList::CopyBufferRegion(ID3D12Resource* to, UINT64 to_offset,
                                                        ID3D12Resource* from, UINT64 from_offset,
                                                        UINT64 bytes) {
  Use(to, from);
  Thin::CopyBufferRegion(to, to_offset, from, from_offset, bytes);
  NoteCopiedInto(to, 0);
  NoteBytesCopied(to, to_offset, bytes, from);
}

void WrappedID3D12GraphicsCommandList::CopyTextureRegion(const D3D12_TEXTURE_COPY_LOCATION* to,
                                                         UINT x, UINT y, UINT z,
                                                         const D3D12_TEXTURE_COPY_LOCATION* from,
                                                         const D3D12_BOX* box) {
  Use(ResourceOf(to), ResourceOf(from));
  Thin::CopyTextureRegion(to, x, y, z, from, box);
  if (to != nullptr) {
    NoteCopiedInto(to->pResource, to->Type == D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX
                                      ? to->SubresourceIndex
                                      : 0);
  }
  if (to != nullptr && from != nullptr) NoteTextureCopied(*to, x, y, z, *from, box);
}

void WrappedID3D12GraphicsCommandList::CopyResource(ID3D12Resource* to, ID3D12Resource* from) {
  Use(to, from);
  Thin::CopyResource(to, from);
  NoteCopiedInto(to, kAllSubresources);
  NoteResourceCopied(to, from);
}

void WrappedID3D12GraphicsCommandList::CopyTiles(ID3D12Resource* tiled,
                                                 const D3D12_TILED_RESOURCE_COORDINATE* start,
                                                 const D3D12_TILE_REGION_SIZE* size,
                                                 ID3D12Resource* buffer, UINT64 offset,
                                                 D3D12_TILE_COPY_FLAGS flags) {
  if ((flags & D3D12_TILE_COPY_FLAG_SWIZZLED_TILED_RESOURCE_TO_LINEAR_BUFFER) != 0) {
    Use(buffer, tiled);
  } else {
    Use(tiled, buffer);
  }
  Thin::CopyTiles(tiled, start, size, buffer, offset, flags);
  if ((flags & D3D12_TILE_COPY_FLAG_SWIZZLED_TILED_RESOURCE_TO_LINEAR_BUFFER) != 0) {
    NoteCopiedInto(buffer, 0);
    if (size != nullptr) {
      NoteBytesCopied(buffer, offset,
                      uint64_t{size->NumTiles} * D3D12_TILED_RESOURCE_TILE_SIZE_IN_BYTES, tiled);
    } else {
      NoteUnknownCopy(buffer);
    }
  } else if (start != nullptr) {
    NoteCopiedInto(tiled, start->Subresource);
  }
}

void WrappedID3D12GraphicsCommandList::ResolveSubresource(ID3D12Resource* to, UINT to_subresource,
                                                          ID3D12Resource* from,
                                                          UINT from_subresource,
                                                          DXGI_FORMAT format) {
  Use(to, from);
  Thin::ResolveSubresource(to, to_subresource, from, from_subresource, format);
  NoteCopiedInto(to, to_subresource);
}

void WrappedID3D12GraphicsCommandList::ResolveSubresourceRegion(
    ID3D12Resource* to, UINT to_subresource, UINT x, UINT y, ID3D12Resource* from,
    UINT from_subresource, D3D12_RECT* rectangle, DXGI_FORMAT format, D3D12_RESOLVE_MODE mode) {
  Use(to, from);
  Thin::ResolveSubresourceRegion(to, to_subresource, x, y, from, from_subresource, rectangle,
                                 format, mode);
}

void WrappedID3D12GraphicsCommandList::ClearDepthStencilView(D3D12_CPU_DESCRIPTOR_HANDLE view,
                                                             D3D12_CLEAR_FLAGS flags, FLOAT depth,
                                                             UINT8 stencil, UINT count,
                                                             const D3D12_RECT* rectangles) {
  if (notes().open()) notes().UseObject(BindPoint::kDestination, 0, ObjectBehind(view));
  Thin::ClearDepthStencilView(view, flags, depth, stencil, count, rectangles);
}

void WrappedID3D12GraphicsCommandList::ClearRenderTargetView(D3D12_CPU_DESCRIPTOR_HANDLE view,
                                                             const FLOAT colour[4], UINT count,
                                                             const D3D12_RECT* rectangles) {
  if (notes().open()) notes().UseObject(BindPoint::kDestination, 0, ObjectBehind(view));
  Thin::ClearRenderTargetView(view, colour, count, rectangles);
  NoteTargets(1, &view, FALSE);
}

void WrappedID3D12GraphicsCommandList::ClearUnorderedAccessViewUint(
    D3D12_GPU_DESCRIPTOR_HANDLE gpu_view, D3D12_CPU_DESCRIPTOR_HANDLE cpu_view,
    ID3D12Resource* resource, const UINT values[4], UINT count, const D3D12_RECT* rectangles) {
  Use(resource, nullptr);
  Thin::ClearUnorderedAccessViewUint(gpu_view, cpu_view, resource, values, count, rectangles);
}

void WrappedID3D12GraphicsCommandList::ClearUnorderedAccessViewFloat(
    D3D12_GPU_DESCRIPTOR_HANDLE gpu_view, D3D12_CPU_DESCRIPTOR_HANDLE cpu_view,
    ID3D12Resource* resource, const FLOAT values[4], UINT count, const D3D12_RECT* rectangles) {
  Use(resource, nullptr);
  Thin::ClearUnorderedAccessViewFloat(gpu_view, cpu_view, resource, values, count, rectangles);
}

void WrappedID3D12GraphicsCommandList::DiscardResource(ID3D12Resource* resource,
                                                       const D3D12_DISCARD_REGION* region) {
  Use(resource, nullptr);
  Thin::DiscardResource(resource, region);
}

void WrappedID3D12GraphicsCommandList::ResolveQueryData(ID3D12QueryHeap* heap,
                                                        D3D12_QUERY_TYPE type, UINT start,
                                                        UINT count, ID3D12Resource* to,
                                                        UINT64 offset) {
  if (notes().open()) {
    notes().UseObject(BindPoint::kDestination, 0, NotedObject(to));
    notes().UseObject(BindPoint::kSource, 0, NotedObject(heap));
  }
  Thin::ResolveQueryData(heap, type, start, count, to, offset);
  NoteQueriesResolved(to, offset, uint64_t{count} * QueryBytes(type));
}

void WrappedID3D12GraphicsCommandList::ExecuteIndirect(ID3D12CommandSignature* signature,
                                                       UINT max_count, ID3D12Resource* arguments,
                                                       UINT64 offset, ID3D12Resource* counter,
                                                       UINT64 counter_offset) {
  if (notes().open()) {
    notes().UseObject(BindPoint::kIndirectArguments, 0, NotedObject(arguments));
    notes().UseObject(BindPoint::kIndirectArguments, 1, NotedObject(counter));
  }
  Thin::ExecuteIndirect(signature, max_count, arguments, offset, counter, counter_offset);
}

void WrappedID3D12GraphicsCommandList::AtomicCopyBufferUINT(
    ID3D12Resource* to, UINT64 to_offset, ID3D12Resource* from, UINT64 from_offset, UINT count,
    ID3D12Resource* const* dependencies, const D3D12_SUBRESOURCE_RANGE_UINT64* ranges) {
  Use(to, from);
  Thin::AtomicCopyBufferUINT(to, to_offset, from, from_offset, count, dependencies, ranges);
  NoteBytesCopied(to, to_offset, sizeof(UINT), from);
}

void WrappedID3D12GraphicsCommandList::AtomicCopyBufferUINT64(
    ID3D12Resource* to, UINT64 to_offset, ID3D12Resource* from, UINT64 from_offset, UINT count,
    ID3D12Resource* const* dependencies, const D3D12_SUBRESOURCE_RANGE_UINT64* ranges) {
  Use(to, from);
  Thin::AtomicCopyBufferUINT64(to, to_offset, from, from_offset, count, dependencies, ranges);
  NoteBytesCopied(to, to_offset, sizeof(UINT64), from);
}

void WrappedID3D12GraphicsCommandList::WriteBufferImmediate(
    UINT count, const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER* parameters,
    const D3D12_WRITEBUFFERIMMEDIATE_MODE* modes) {
  if (notes().open() && parameters != nullptr) {
    // A command may write to many places; the first few identify it.
    constexpr UINT kNotedWrites = 4;
    for (UINT i = 0; i < std::min(count, kNotedWrites); ++i) {
      notes().UseAddress(BindPoint::kDestination, i, parameters[i].Dest);
    }
  }
  Thin::WriteBufferImmediate(count, parameters, modes);
}

void WrappedID3D12GraphicsCommandList::BuildRaytracingAccelerationStructure(
    const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc, UINT info_count,
    const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC* infos) {
  if (desc != nullptr) {
    notes().UseAddress(BindPoint::kDestination, 0, desc->DestAccelerationStructureData);
    notes().UseAddress(BindPoint::kDestination, 1, desc->ScratchAccelerationStructureData);
    notes().UseAddress(BindPoint::kSource, 0, desc->SourceAccelerationStructureData);
  }
  Thin::BuildRaytracingAccelerationStructure(desc, info_count, infos);
  NoteStructureBuilt(desc);
}

void WrappedID3D12GraphicsCommandList::CopyRaytracingAccelerationStructure(
    D3D12_GPU_VIRTUAL_ADDRESS to, D3D12_GPU_VIRTUAL_ADDRESS from,
    D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE mode) {
  notes().UseAddress(BindPoint::kDestination, 0, to);
  notes().UseAddress(BindPoint::kSource, 0, from);
  Thin::CopyRaytracingAccelerationStructure(to, from, mode);
  NoteStructureCopied(to, from, mode);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
