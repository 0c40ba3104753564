// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/bind_uses.h"

#include "cairn/marker_types.h"

#include "format/block/marker_kinds.h"

namespace cairn {
namespace {

bool DrawsMore(uint32_t type) {
  switch (type) {
    case CAIRN_MARKER_DRAW_CLUSTER:
    case CAIRN_MARKER_DRAW_CLUSTER_INDIRECT:
    case CAIRN_MARKER_DRAW_MESH_TASKS:
    case CAIRN_MARKER_DRAW_MESH_TASKS_INDIRECT:
    case CAIRN_MARKER_DRAW_MESH_TASKS_INDIRECT_COUNT:
    case CAIRN_MARKER_EXECUTE_GENERATED_COMMANDS: return true;
    default: return IsDraw(type);
  }
}

}  // namespace

Uses UsesOf(uint32_t type) {
  switch (type) {
    case CAIRN_MARKER_DRAW_INSTANCED:
    case CAIRN_MARKER_DRAW:
    case CAIRN_MARKER_DRAW_INDIRECT:
    case CAIRN_MARKER_DISPATCH_MESH: return {.draws = true};
    case CAIRN_MARKER_DRAW_INDEXED_INSTANCED:
    case CAIRN_MARKER_DRAW_INDEXED:
    case CAIRN_MARKER_DRAW_INDEXED_INDIRECT:
    case CAIRN_MARKER_DRAW_INDEXED_INDIRECT_COUNT:
    case CAIRN_MARKER_DRAW_MULTI_INDEXED:
    case CAIRN_MARKER_EXECUTE_BUNDLE: return {.draws = true, .indices = true};
    case CAIRN_MARKER_DISPATCH:
    case CAIRN_MARKER_DISPATCH_INDIRECT:
    case CAIRN_MARKER_DISPATCH_RAYS:
    case CAIRN_MARKER_DISPATCH_GRAPH:
    case CAIRN_MARKER_EXECUTE_META_COMMAND: return {.compute = true};
    case CAIRN_MARKER_TRACE_RAYS:
    case CAIRN_MARKER_TRACE_RAYS_INDIRECT: return {.rays = true};
    // The command signature selects draws or dispatches; it is not known here.
    case CAIRN_MARKER_EXECUTE_INDIRECT: return {.draws = true, .indices = true, .compute = true};
    default: return {.draws = DrawsMore(type), .compute = IsDispatch(type)};
  }
}

bool IsUsed(const Uses& uses, BindPoint point, uint32_t pipe) {
  const bool of_compute = pipe == 1;
  switch (point) {
    case BindPoint::kRenderTarget:
    case BindPoint::kDepthStencil:
    case BindPoint::kVertexBuffer:
    case BindPoint::kStreamOutput: return uses.draws;
    case BindPoint::kIndexBuffer: return uses.indices;
    case BindPoint::kRootConstantBuffer:
    case BindPoint::kRootShaderResource:
    case BindPoint::kRootUnorderedAccess: return of_compute ? uses.compute : uses.draws;
    case BindPoint::kIndirectArguments:
    case BindPoint::kSource:
    case BindPoint::kDestination: return true;
    case BindPoint::kDescriptorSet:
      return pipe == 0 ? uses.draws : pipe == 1 ? uses.compute : uses.rays;
    case BindPoint::kSecondary: return false;
  }
  return false;
}

bool EndsState(const Snapshot& snapshot, uint32_t first_event, const Event& event) {
  if (event.kind == EventKind::kBind) {
    return event.type == static_cast<uint16_t>(BindPoint::kSecondary);
  }
  if (event.kind != EventKind::kEnd || event.match == 0) return false;
  const uint64_t begin = uint64_t{first_event} + event.match - 1;
  return begin < snapshot.events.size() &&  // otherwise it ends nothing
         snapshot.events[begin].type == CAIRN_MARKER_EXECUTE_COMMANDS;
}

}  // namespace cairn
