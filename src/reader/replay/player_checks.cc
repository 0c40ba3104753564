// SPDX-License-Identifier: Apache-2.0
//
// Checks that implementations omit and their code on the CPU relies on: places in resources and in
// heaps. Wrong reads and writes of the GPU alone are not checked: a trace of a crash may be about
// these (docs/reference/replay.md).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "reader/replay/player_impl.h"
#include "reader/replay/replay_regions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// Returns the bytes that WriteToSubresource reads. nullopt: it would write outside of the
// subresource.
std::optional<uint64_t> BytesWritten(const SubresourceLayout& layout, const D3D12_BOX* box,
                                     UINT row_pitch, UINT slice_pitch) {
  const D3D12_SUBRESOURCE_FOOTPRINT& footprint = layout.placed.Footprint;
  if (box != nullptr && !IsEmpty(*box) &&
      (box->right > footprint.Width || box->bottom > footprint.Height ||
       box->back > footprint.Depth)) {
    return {};
  }
  return BytesOfBox(layout, box, row_pitch, slice_pitch);
}

Status AtMost(uint64_t first, uint64_t count, uint64_t limit, const char* what) {
  if (count <= limit && first <= limit - count) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("{} {} from {} on, where there are {}", count, what, first, limit));
}

// The size of a query's result, 0 if unknown, and if the query fits its kind of heap.
struct QueryKind {
  uint32_t bytes = 0;
  bool fits = false;
};

QueryKind KindOf(D3D12_QUERY_TYPE type, D3D12_QUERY_HEAP_TYPE heap) {
  switch (type) {
    case D3D12_QUERY_TYPE_OCCLUSION:
    case D3D12_QUERY_TYPE_BINARY_OCCLUSION:
      return {sizeof(uint64_t), heap == D3D12_QUERY_HEAP_TYPE_OCCLUSION};
    case D3D12_QUERY_TYPE_TIMESTAMP:
      return {sizeof(uint64_t), heap == D3D12_QUERY_HEAP_TYPE_TIMESTAMP ||
                                    heap == D3D12_QUERY_HEAP_TYPE_COPY_QUEUE_TIMESTAMP};
    case D3D12_QUERY_TYPE_PIPELINE_STATISTICS:
      return {sizeof(D3D12_QUERY_DATA_PIPELINE_STATISTICS),
              heap == D3D12_QUERY_HEAP_TYPE_PIPELINE_STATISTICS};
    case D3D12_QUERY_TYPE_SO_STATISTICS_STREAM0:
    case D3D12_QUERY_TYPE_SO_STATISTICS_STREAM1:
    case D3D12_QUERY_TYPE_SO_STATISTICS_STREAM2:
    case D3D12_QUERY_TYPE_SO_STATISTICS_STREAM3:
      return {sizeof(D3D12_QUERY_DATA_SO_STATISTICS), heap == D3D12_QUERY_HEAP_TYPE_SO_STATISTICS};
    default: return {};
  }
}

Status CheckQueries(const ReplayObject& heap, D3D12_QUERY_TYPE type, uint64_t first, uint64_t count,
                    uint64_t* bytes) {
  const std::optional<D3D12_QUERY_HEAP_DESC>& desc = heap.created.queries;
  const QueryKind kind = desc ? KindOf(type, desc->Type) : QueryKind{};
  if (kind.bytes == 0) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("queries of type {} are not known", static_cast<int>(type)));
  }
  if (!kind.fits) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("a query of type {} in heap {}, of type {}", static_cast<int>(type),
                              heap.number, static_cast<int>(desc->Type)));
  }
  *bytes = count * kind.bytes;
  return AtMost(first, count, desc->Count, "queries");
}

}  // namespace

Status PlayerImpl::CheckCall(CallInProgress* call) {
  if (call->NeedsAny(CallPart::kPointerChecks, CallPart::kDescriptorChecks, CallPart::kCopyChecks,
                     CallPart::kTileChecks, CallPart::kRangeChecks, CallPart::kViewChecks)) {
    CAIRN_RETURN_IF_ERROR(CheckArguments(call));
  }
  CAIRN_RETURN_IF_ERROR(bindings_.Check(call, values_.descriptors()));
  return call->Needs(CallPart::kPrograms) ? TranslateProgram(call) : Status();
}

Status PlayerImpl::CheckArguments(CallInProgress* call) {
  if (call->Needs(CallPart::kPointerChecks)) {
    if (!HasPointers(call->method)) (void)call->Needless(CallPart::kPointerChecks);
    CAIRN_RETURN_IF_ERROR(CheckPointers(call->method, call->arguments.arguments));
  }
  if (call->Needs(CallPart::kDescriptorChecks)) {
    if (!HasDescriptorRules(RoleOf(call->method))) {
      (void)call->Needless(CallPart::kDescriptorChecks);
    }
    CAIRN_RETURN_IF_ERROR(
        CheckDescriptors(call->method, call->arguments.arguments, &values_.descriptors()));
  }
  if (call->Needs(CallPart::kCopyChecks)) CAIRN_RETURN_IF_ERROR(CheckCopies(call));
  if (call->Needs(CallPart::kTileChecks)) CAIRN_RETURN_IF_ERROR(CheckTiles(call));
  if (call->Needs(CallPart::kRangeChecks)) CAIRN_RETURN_IF_ERROR(CheckRanges(call));
  return call->Needs(CallPart::kViewChecks) ? views_.Check(call, values_.descriptors()) : Status();
}

Status PlayerImpl::CheckCopyOfAll(const CallInProgress& call, const ReplayObject& to,
                                  const ReplayObject& from) {
  CAIRN_RETURN_IF_ERROR(CheckWholeCopy(to, from));
  const Status formats = CheckWholeFormats(to, from);
  const bool as_many = to.desc.Width == from.desc.Width && to.desc.Height == from.desc.Height;
  if (library_.is_libvkd3d || !as_many || formats.code() != StatusCode::kCorrupt) return formats;
  // Direct3D 12 does not define this copy: some implementations leave it out, others give it to the GPU, which may
  // have died of it.
  log_.Note(fmt::format("call {}, {}: {}; it is passed on as it is", call.record.number,
                        call.info.name, formats.message()));
  return Status();
}

Status PlayerImpl::CheckCopies(CallInProgress* call) {
  const auto resource = [&](size_t index) { return call->ObjectAt(index); };
  const auto of = [&](const D3D12_TEXTURE_COPY_LOCATION& location) {
    return objects_.FindReal(location.pResource);
  };
  switch (call->method) {
    case Method::ID3D12GraphicsCommandList_CopyBufferRegion: {
      if (resource(0) == nullptr || resource(2) == nullptr) return Status();
      CAIRN_RETURN_IF_ERROR(CheckBytes(*resource(0), call->At<UINT64>(1), call->At<UINT64>(4)));
      return CheckBytes(*resource(2), call->At<UINT64>(3), call->At<UINT64>(4));
    }
    case Method::ID3D12GraphicsCommandList1_AtomicCopyBufferUINT:
    case Method::ID3D12GraphicsCommandList1_AtomicCopyBufferUINT64: {
      const bool wide = call->method == Method::ID3D12GraphicsCommandList1_AtomicCopyBufferUINT64;
      const uint64_t bytes = wide ? sizeof(uint64_t) : sizeof(uint32_t);
      if (resource(0) == nullptr || resource(2) == nullptr) return Status();
      CAIRN_RETURN_IF_ERROR(CheckBytes(*resource(0), call->At<UINT64>(1), bytes));
      return CheckBytes(*resource(2), call->At<UINT64>(3), bytes);
    }
    case Method::ID3D12GraphicsCommandList_CopyResource: {
      if (resource(0) == nullptr || resource(1) == nullptr) return Status();
      // Only one of the two may be larger here than it was.
      const bool padded =
          options_.pad_resources_bytes != 0 && IsBuffer(*resource(0)) && IsBuffer(*resource(1));
      return padded ? Status() : CheckCopyOfAll(*call, *resource(0), *resource(1));
    }
    case Method::ID3D12GraphicsCommandList_CopyTextureRegion: {
      const auto& to = *call->At<const D3D12_TEXTURE_COPY_LOCATION*>(0);
      const auto& from = *call->At<const D3D12_TEXTURE_COPY_LOCATION*>(4);
      if (of(to) == nullptr || of(from) == nullptr) return Status();
      return CheckTextureCopy({to, *of(to)},
                              {call->At<UINT>(1), call->At<UINT>(2), call->At<UINT>(3)},
                              {from, *of(from)}, call->At<const D3D12_BOX*>(5));
    }
    case Method::ID3D12GraphicsCommandList_ResolveSubresource: {
      if (resource(0) == nullptr || resource(2) == nullptr) return Status();
      return CheckResolve({*resource(0), call->At<UINT>(1)}, {*resource(2), call->At<UINT>(3)},
                          nullptr);
    }
    case Method::ID3D12GraphicsCommandList1_ResolveSubresourceRegion: {
      if (resource(0) == nullptr || resource(4) == nullptr) return Status();
      const ResolveRegion region = {{call->At<UINT>(2), call->At<UINT>(3), 0},
                                    call->At<const D3D12_RECT*>(6),
                                    call->At<D3D12_RESOLVE_MODE>(8)};
      return CheckResolve({*resource(0), call->At<UINT>(1)}, {*resource(4), call->At<UINT>(5)},
                          &region);
    }
    default: return call->Needless(CallPart::kCopyChecks);
  }
}

Status PlayerImpl::CheckBarriers(CallInProgress* call) {
  const auto* const barriers = call->At<const D3D12_RESOURCE_BARRIER*>(1);
  for (UINT i = 0; i < call->At<UINT>(0); ++i) {
    if (barriers[i].Type != D3D12_RESOURCE_BARRIER_TYPE_TRANSITION) continue;
    const D3D12_RESOURCE_TRANSITION_BARRIER& transition = barriers[i].Transition;
    const ReplayObject* const resource = objects_.FindReal(transition.pResource);
    if (resource == nullptr || transition.Subresource == kAllSubresources) continue;
    if (transition.Subresource < SubresourceCount(resource->desc)) continue;
    return Status(StatusCode::kCorrupt,
                  fmt::format("subresource {} of resource {}, which has {}", transition.Subresource,
                              resource->number, SubresourceCount(resource->desc)));
  }
  return Status();
}

Status PlayerImpl::CheckRanges(CallInProgress* call) {
  const auto resource = [&](size_t index) { return call->ObjectAt(index); };
  uint64_t bytes = 0;
  switch (call->method) {
    case Method::ID3D12GraphicsCommandList_BeginQuery:
    case Method::ID3D12GraphicsCommandList_EndQuery:
      if (resource(0) == nullptr) return Status();
      return CheckQueries(*resource(0), call->At<D3D12_QUERY_TYPE>(1), call->At<UINT>(2), 1,
                          &bytes);
    case Method::ID3D12GraphicsCommandList_ResolveQueryData:
      if (resource(0) == nullptr || resource(4) == nullptr) return Status();
      CAIRN_RETURN_IF_ERROR(CheckQueries(*resource(0), call->At<D3D12_QUERY_TYPE>(1),
                                         call->At<UINT>(2), call->At<UINT>(3), &bytes));
      return CheckBytes(*resource(4), call->At<UINT64>(5), bytes);
    case Method::ID3D12GraphicsCommandList_SetPredication:
      if (resource(0) == nullptr) return Status();
      return CheckBytes(*resource(0), call->At<UINT64>(1), sizeof(uint64_t));
    case Method::ID3D12GraphicsCommandList_ExecuteIndirect:
      for (const size_t i : {size_t{2}, size_t{4}}) {
        if (resource(i) != nullptr) CAIRN_RETURN_IF_ERROR(CheckIsBuffer(*resource(i)));
      }
      return Status();
    case Method::ID3D12GraphicsCommandList_ResourceBarrier: return CheckBarriers(call);
    case Method::ID3D12GraphicsCommandList_DiscardResource: {
      const auto* const region = call->At<const D3D12_DISCARD_REGION*>(1);
      if (resource(0) == nullptr || region == nullptr) return Status();
      return AtMost(region->FirstSubresource, region->NumSubresources,
                    SubresourceCount(resource(0)->desc), "subresources");
    }
    case Method::ID3D12GraphicsCommandList_RSSetViewports:
    case Method::ID3D12GraphicsCommandList_RSSetScissorRects:
      return AtMost(0, call->At<UINT>(0), D3D12_VIEWPORT_AND_SCISSORRECT_OBJECT_COUNT_PER_PIPELINE,
                    "rectangles");
    case Method::ID3D12GraphicsCommandList_IASetVertexBuffers:
      return AtMost(call->At<UINT>(0), call->At<UINT>(1), D3D12_IA_VERTEX_INPUT_RESOURCE_SLOT_COUNT,
                    "slots");
    case Method::ID3D12GraphicsCommandList_SOSetTargets:
      return AtMost(call->At<UINT>(0), call->At<UINT>(1), D3D12_SO_BUFFER_SLOT_COUNT, "slots");
    case Method::ID3D12Resource_WriteToSubresource: {
      const DeviceContext* const context = devices_.Find(call->object->device);
      if (context == nullptr) return Status();
      const Result<SubresourceLayout> layout =
          LayoutOf(context->device.get(), call->object->desc, call->At<UINT>(0));
      if (!layout.ok()) return layout.status();
      const std::optional<uint64_t> needed = BytesWritten(*layout, call->At<const D3D12_BOX*>(1),
                                                          call->At<UINT>(3), call->At<UINT>(4));
      if (!needed) {
        return Status(StatusCode::kCorrupt,
                      fmt::format("its box lies outside of subresource {}", call->At<UINT>(0)));
      }
      if (*needed <= call->arguments.counts[2]) return Status();
      return Status(StatusCode::kCorrupt, fmt::format("{} bytes are written, {} were recorded",
                                                      *needed, call->arguments.counts[2]));
    }
    default: return call->Needless(CallPart::kRangeChecks);
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
