// SPDX-License-Identifier: Apache-2.0
#include "format/model/resource_uses.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cairn/marker_types.h"

#include "d3d12gen/roles.h"
#include "format/model/decoded_arguments.h"
#include "format/model/render_pass.h"

namespace cairn {
namespace {

// Structs as Direct3D 12 has them; objects are their numbers.
struct Barrier {
  uint32_t type;
  uint32_t flags;
  uint64_t resource;     // of an aliasing barrier: before
  uint32_t subresource;  // of an aliasing barrier, with `state_before`: the resource after
  uint32_t state_before;
  uint32_t state_after;
  uint32_t end;
};
constexpr uint32_t kTransition = 0;
constexpr uint32_t kAliasing = 1;
constexpr uint32_t kBeginOnly = 1;
constexpr uint32_t kAllSubresources = 0xFFFFFFFF;
struct BarrierGroup {
  uint32_t type;
  uint32_t count;
  const void* barriers;
};
constexpr uint32_t kTextureGroup = 1;
constexpr uint32_t kBufferGroup = 2;
struct BarrierRange {
  uint32_t first_mip;  // with no mips: a subresource
  uint32_t mips;
  uint32_t first_slice;
  uint32_t slices;
  uint32_t first_plane;
  uint32_t planes;
};
struct TextureBarrier {
  uint32_t sync_and_access[4];
  uint32_t layout_before;
  uint32_t layout_after;
  uint64_t resource;
  BarrierRange range;
  uint32_t flags;
  uint32_t end;
};
static_assert(sizeof(TextureBarrier) == 64);
constexpr uint32_t kUndefinedLayout = 0xFFFFFFFF;
constexpr uint32_t kDiscardFlag = 1;
struct BufferBarrier {
  uint32_t sync_and_access[4];
  uint64_t resource;
  uint64_t offset;
  uint64_t size;
};
struct DiscardRegion {
  uint32_t rect_count;
  const void* rects;
  uint32_t first_subresource;
  uint32_t subresource_count;
};
struct Footprint {
  uint64_t offset;
  uint32_t format, width, height, depth, row_pitch, end;
};
struct CopyLocation {
  uint64_t resource;
  uint32_t type;
  uint32_t padding;
  union {
    Footprint footprint;
    uint32_t subresource;
  };
};
static_assert(sizeof(CopyLocation) == 48);
constexpr uint32_t kSubresourceIndex = 0;  // `type`
struct Box {
  uint32_t left, top, front, right, bottom, back;
};
constexpr uint32_t kClearDepth = 1;
constexpr uint32_t kClearStencil = 2;
constexpr uint32_t kRtvHeap = 2;
constexpr uint32_t kDsvHeap = 3;
constexpr uint32_t kMostTargets = 64;
// The most uses kept for one list with its bundles.
constexpr size_t kMostUses = 1u << 20;

// The subresources of a barrier's range, as far as one range of ours has them all.
std::optional<Subresources> InOneGo(const BarrierRange& range, const ResourceShape* shape) {
  if (range.mips == 0) {
    if (range.first_mip == kAllSubresources) return kWholeResource;
    return Subresources{range.first_mip, 1, 1};
  }
  if (shape == nullptr || range.first_mip >= shape->mips || range.first_slice >= shape->slices ||
      range.first_plane >= shape->planes) {
    return std::nullopt;
  }
  const uint32_t slices = std::min(range.slices, shape->slices - range.first_slice);
  if (range.first_mip == 0 && range.mips >= shape->mips && slices == shape->slices &&
      range.first_plane == 0 && range.planes >= shape->planes) {
    return kWholeResource;
  }
  if (range.mips != 1 || range.planes != 1) return std::nullopt;
  return Subresources{shape->Subresource(range.first_mip, range.first_slice, range.first_plane),
                      slices, shape->mips};
}

// Without the flag, a texture that leaves the undefined layout may keep its contents.
std::optional<Subresources> DiscardedBy(const TextureBarrier& barrier, const ResourceShape* shape) {
  const bool discards =
      barrier.layout_before == kUndefinedLayout && (barrier.flags & kDiscardFlag) != 0;
  return discards ? InOneGo(barrier.range, shape) : std::nullopt;
}

// Calls that only say how later ones work. Everything else may be work.
bool OnlySets(const CallRole& role) {
  switch (role.role) {
    case Role::kState:
    case Role::kListClose:
    case Role::kEndPass:
    case Role::kBeginQuery:
    case Role::kEndQuery:
    case Role::kBeginEvent:
    case Role::kEndEvent:
    case Role::kMarker: return true;
    default: return false;
  }
}

}  // namespace

// ---- Objects and descriptors -----------------------------------------------------------------------

void ListUses::OnObject(const Record& record, const CreatedObject& object) {
  if (const auto& facts = object.resource) {
    const std::optional<ResourceShape> shape = cairn::ShapeOf(*facts);
    if (shape.has_value()) shapes_[record.object] = *shape;
    addresses_.Add(facts->gpu_address, facts->size_bytes, record.object, record.number);
  }
  const auto& heap = object.heap;
  if (heap.has_value() && (heap->type == kRtvHeap || heap->type == kDsvHeap)) {
    targets_.AddHeap(record.object, *heap);
  }
}

const ResourceShape* ListUses::ShapeOf(uint64_t resource) const {
  const auto found = shapes_.find(resource);
  return found == shapes_.end() ? nullptr : &found->second;
}

void ListUses::OnView(Method method, const DecodedCall& call, const CallValues& values) {
  const ViewKind view = RoleOf(method).view;
  const bool render_target = view == ViewKind::kRenderTarget;
  if (!render_target && view != ViewKind::kDepthStencil) return;
  const uint64_t resource = values.objects.empty() ? 0 : values.objects[0];
  const void* const desc = Value<const void*>(call, 1);
  const ResourceShape* const shape = ShapeOf(resource);
  targets_.Write(Value<uint64_t>(call, 2), render_target ? RenderTargetView(resource, shape, desc)
                                                         : DepthStencilView(resource, shape, desc));
}

void ListUses::OnCopies(const DecodedCall& call, bool simple) {
  targets_.Copy(call, simple, [](const TargetView&) {});
}

const TargetView* ListUses::Target(uint64_t handle) {
  const auto found = targets_.contents().find(handle);
  if (found != targets_.contents().end()) return &found->second;
  lost_ = true;
  return nullptr;
}

// ---- Uses ------------------------------------------------------------------------------------------

void ListUses::Read(List* list, uint64_t object) {
  if (object == kNoObject) return;
  list->uses.push_back({ResourceUse::Kind::kRead, object});
}

void ListUses::Overwrite(List* list, uint64_t object, const Subresources& subresources) {
  list->uses.push_back({ResourceUse::Kind::kOverwrite, object, 0, subresources});
}

// A predicate may skip the work, so that work under a predicate counts as a read.
void ListUses::OverwriteOrRead(List* list, bool whole, uint64_t object,
                               const Subresources& subresources) {
  if (whole && !list->predicated) {
    Overwrite(list, object, subresources);
  } else {
    Read(list, object);
  }
}

void ListUses::ReadAll(List* list, const CallValues& values) {
  for (const uint64_t object : values.objects) {
    if (shapes_.contains(object)) Read(list, object);
  }
  for (const uint64_t address : values.gpu_addresses) {
    addresses_.ForEachAt(address, [&](const auto& range) { Read(list, range.object); });
  }
  for (const uint64_t handle : values.cpu_descriptors) {
    if (targets_.IncrementAt(handle) == 0) continue;  // of another heap, which is bound
    if (const TargetView* const view = Target(handle)) Read(list, view->resource);
  }
}

void ListUses::NoteWork(List* list) {
  if (std::exchange(list->work_noted, true)) return;
  for (const TargetView& view : list->bound) {
    if (!view.exact) Read(list, view.resource);
    for (const Subresources& plane : view.planes) {
      if (plane.count != 0) {
        list->uses.push_back({ResourceUse::Kind::kRead, view.resource, 0, plane});
      }
    }
  }
  for (const uint64_t heap : list->heaps) {
    list->uses.push_back({ResourceUse::Kind::kHeap, heap});
  }
}

std::span<const ResourceUse> ListUses::UsesOf(uint64_t list) const {
  const auto found = lists_.find(list);
  if (found == lists_.end()) return {};
  return found->second.uses;
}

// ---- Calls -----------------------------------------------------------------------------------------

void ListUses::OnListCall(Method method, uint64_t object, const DecodedCall& call,
                          const CallValues& values) {
  List& list = lists_[object];
  const CallRole& role = RoleOf(method);
  switch (role.role) {
    case Role::kBarrier:
      return Describe(method).work == CAIRN_MARKER_BARRIER ? OnBarrierGroups(&list, call)
                                                           : OnBarriers(&list, call);
    case Role::kBeginPass: return OnRenderPass(&list, call);
    case Role::kBundle:
      if (!values.objects.empty()) OnBundle(object, values.objects[0]);
      return;
    default: break;
  }
  switch (role.state) {
    case StateKind::kDescriptorHeaps:
      list.heaps.insert(values.objects.begin(), values.objects.end());
      list.work_noted = false;
      return;
    case StateKind::kRenderTargets: return OnSetTargets(&list, call);
    case StateKind::kPredication: list.predicated = !values.objects.empty(); break;
    default: break;
  }
  if (OnKnownWork(method, &list, call)) return;
  ReadAll(&list, values);
  if (!OnlySets(role)) NoteWork(&list);
}

void ListUses::OnBundle(uint64_t list, uint64_t bundle) {
  // Copied: the bundle is another list, but that is for the file to say. So is how often it is executed.
  const std::vector<ResourceUse> uses = lists_[bundle].uses;
  List& caller = lists_[list];
  if (caller.uses.size() + uses.size() > kMostUses) {
    lost_ = true;
    return;
  }
  caller.uses.insert(caller.uses.end(), uses.begin(), uses.end());
  NoteWork(&caller);
}

bool ListUses::OnKnownWork(Method method, List* list, const DecodedCall& call) {
  switch (method) {
    case Method::ID3D12GraphicsCommandList_ClearRenderTargetView: OnClear(list, call, false); break;
    case Method::ID3D12GraphicsCommandList_ClearDepthStencilView: OnClear(list, call, true); break;
    case Method::ID3D12GraphicsCommandList_DiscardResource: OnDiscard(list, call); break;
    case Method::ID3D12GraphicsCommandList_CopyResource: OnCopyResource(list, call); break;
    case Method::ID3D12GraphicsCommandList_CopyBufferRegion: OnCopyBuffer(list, call); break;
    case Method::ID3D12GraphicsCommandList_CopyTextureRegion: OnCopyTexture(list, call); break;
    case Method::ID3D12GraphicsCommandList_ResolveSubresource: OnResolve(list, call); break;
    default: return false;
  }
  return true;
}

void ListUses::OnSetTargets(List* list, const DecodedCall& call) {
  const uint32_t count = std::min(Value<uint32_t>(call, 0), kMostTargets);
  const uint64_t* const handles = Array<uint64_t>(call, 1);
  const bool range = Value<uint32_t>(call, 2) != 0;
  const uint64_t* const depth = Array<uint64_t>(call, 3);
  list->bound.clear();
  list->work_noted = false;
  for (uint32_t i = 0; handles != nullptr && i < count; ++i) {
    const uint64_t handle = range ? handles[0] + i * targets_.IncrementAt(handles[0]) : handles[i];
    if (const TargetView* const view = Target(handle)) list->bound.push_back(*view);
  }
  if (depth == nullptr || *depth == 0) return;
  if (const TargetView* const view = Target(*depth)) list->bound.push_back(*view);
}

void ListUses::OnClear(List* list, const DecodedCall& call, bool depth_stencil) {
  const TargetView* const view = Target(Value<uint64_t>(call, 0));
  if (view == nullptr || view->resource == kNoObject) return;
  const uint32_t aspects = depth_stencil ? Value<uint32_t>(call, 1) : kClearDepth;
  const uint32_t rect_count = Value<uint32_t>(call, depth_stencil ? 4 : 2);
  if (!view->exact || rect_count != 0 || list->predicated) return Read(list, view->resource);
  if ((aspects & kClearDepth) != 0) Overwrite(list, view->resource, view->planes[0]);
  if ((aspects & kClearStencil) != 0) Overwrite(list, view->resource, view->planes[1]);
}

void ListUses::OnBarriers(List* list, const DecodedCall& call) {
  const auto* const barriers = Array<Barrier>(call, 1);
  const uint32_t count = barriers == nullptr ? 0 : Value<uint32_t>(call, 0);
  list->work_noted = false;
  for (uint32_t i = 0; i < count; ++i) {
    Barrier barrier;
    std::memcpy(&barrier, barriers + i, sizeof(barrier));
    if (barrier.type == kTransition) {
      // Between the halves of a transition the state is none that hides it.
      const uint32_t state = (barrier.flags & kBeginOnly) != 0 ? 0 : barrier.state_after;
      const bool whole = barrier.subresource == kAllSubresources;
      list->uses.push_back({ResourceUse::Kind::kState, barrier.resource, state,
                            whole ? kWholeResource : Subresources{barrier.subresource, 1, 1}});
    } else if (barrier.type == kAliasing) {
      Read(list, barrier.resource);
      Read(list, barrier.subresource | uint64_t{barrier.state_before} << 32);
    }
  }
}

// These barriers only order work. Layouts are not distinguished: none hides a texture.
void ListUses::OnBarrierGroups(List* list, const DecodedCall& call) {
  const auto* const groups = Array<BarrierGroup>(call, 1);
  const uint32_t count = groups == nullptr ? 0 : Value<uint32_t>(call, 0);
  list->work_noted = false;
  for (uint32_t i = 0; i < count; ++i) {
    BarrierGroup group;
    std::memcpy(&group, groups + i, sizeof(group));
    if (group.barriers == nullptr) continue;
    for (uint32_t k = 0; k < group.count; ++k) {
      if (group.type == kTextureGroup) {
        TextureBarrier barrier;
        std::memcpy(&barrier, static_cast<const TextureBarrier*>(group.barriers) + k,
                    sizeof(barrier));
        const auto discarded = DiscardedBy(barrier, ShapeOf(barrier.resource));
        if (discarded.has_value()) Overwrite(list, barrier.resource, *discarded);
        list->uses.push_back({ResourceUse::Kind::kState, barrier.resource});
      } else if (group.type == kBufferGroup) {
        BufferBarrier barrier;
        std::memcpy(&barrier, static_cast<const BufferBarrier*>(group.barriers) + k,
                    sizeof(barrier));
        list->uses.push_back({ResourceUse::Kind::kState, barrier.resource});
      }
    }
  }
}

void ListUses::BeginPass(List* list, const TargetView& view, uint32_t plane, uint32_t access,
                         bool resumes) {
  if (view.resource == kNoObject || access == kBeginNone) return;
  if (!view.exact) return Read(list, view.resource);
  if (view.planes[plane].count == 0) return;
  const bool overwrites = (access == kBeginClear || access == kBeginDiscard) && !resumes;
  const auto kind =
      overwrites && !list->predicated ? ResourceUse::Kind::kOverwrite : ResourceUse::Kind::kRead;
  list->uses.push_back({kind, view.resource, 0, view.planes[plane]});
}

void ListUses::EndPass(List* list, const void* access) {
  EndingAccess ending;
  std::memcpy(&ending, access, sizeof(ending));
  if (ending.type != kEndResolve || ending.parts == nullptr) return;
  const ResourceShape* const shape = ShapeOf(ending.to);
  for (uint32_t i = 0; i < ending.part_count; ++i) {
    ResolvedPart part;
    std::memcpy(&part, static_cast<const ResolvedPart*>(ending.parts) + i, sizeof(part));
    list->uses.push_back({ResourceUse::Kind::kRead, ending.from, 0, {part.from, 1, 1}});
    constexpr uint32_t kWhole[std::size(ResolvedPart().rect)] = {};
    const bool whole = std::equal(std::begin(kWhole), std::end(kWhole), part.rect) && part.x == 0 &&
                       part.y == 0 && shape != nullptr && part.to < shape->subresource_count();
    OverwriteOrRead(list, whole, ending.to, {part.to, 1, 1});
  }
}

// Records all effects of the pass on its targets: earlier targets are no longer bound. A pass that
// continues in another list names the same targets there, and does not begin anew; only the last
// part resolves.
void ListUses::OnRenderPass(List* list, const DecodedCall& call) {
  const auto* const targets = Array<PassTarget>(call, 1);
  const auto* const depth = Array<PassDepth>(call, 2);
  const uint32_t count = targets == nullptr ? 0 : std::min(Value<uint32_t>(call, 0), kMostTargets);
  const auto flags = Value<uint32_t>(call, 3);
  const bool resumes = (flags & kResumingPass) != 0;
  const bool ends = (flags & kSuspendingPass) == 0;
  list->bound.clear();
  list->work_noted = false;
  for (uint32_t i = 0; i < count; ++i) {
    PassTarget target;
    std::memcpy(&target, targets + i, sizeof(target));
    const TargetView* const view = target.view == 0 ? nullptr : Target(target.view);
    if (view != nullptr) BeginPass(list, *view, 0, target.beginning.type, resumes);
    if (ends) EndPass(list, &target.ending);
  }
  if (depth == nullptr) return;
  PassDepth target;
  std::memcpy(&target, depth, sizeof(target));
  const TargetView* const view = target.view == 0 ? nullptr : Target(target.view);
  for (uint32_t plane = 0; plane < 2; ++plane) {
    if (view != nullptr) BeginPass(list, *view, plane, target.beginning[plane].type, resumes);
    if (ends) EndPass(list, &target.ending[plane]);
  }
}

void ListUses::OnDiscard(List* list, const DecodedCall& call) {
  const auto resource = Value<uint64_t>(call, 0);
  const auto* const region = Array<DiscardRegion>(call, 1);
  if (region == nullptr) return Overwrite(list, resource, kWholeResource);
  const ResourceShape* const shape = ShapeOf(resource);
  if (shape == nullptr || region->rect_count != 0) return Read(list, resource);
  const uint32_t count = shape->subresource_count();
  const uint32_t first = std::min(region->first_subresource, count);
  Overwrite(list, resource, {first, std::min(region->subresource_count, count - first), 1});
}

void ListUses::OnCopyResource(List* list, const DecodedCall& call) {
  Read(list, Value<uint64_t>(call, 1));
  OverwriteOrRead(list, true, Value<uint64_t>(call, 0), kWholeResource);
}

void ListUses::OnCopyBuffer(List* list, const DecodedCall& call) {
  const auto to = Value<uint64_t>(call, 0);
  const ResourceShape* const shape = ShapeOf(to);
  Read(list, Value<uint64_t>(call, 2));
  const bool whole = shape != nullptr && shape->buffer && Value<uint64_t>(call, 1) == 0 &&
                     Value<uint64_t>(call, 4) >= shape->width;
  OverwriteOrRead(list, whole, to, kWholeResource);
}

void ListUses::OnCopyTexture(List* list, const DecodedCall& call) {
  const auto* const to = Array<CopyLocation>(call, 0);
  const auto* const from = Array<CopyLocation>(call, 4);
  const auto* const box = Array<Box>(call, 5);
  if (to == nullptr || from == nullptr) return;
  Read(list, from->resource);
  const ResourceShape* const shape = ShapeOf(to->resource);
  const ResourceShape* const source = ShapeOf(from->resource);
  const bool at_origin = Value<uint32_t>(call, 1) == 0 && Value<uint32_t>(call, 2) == 0 &&
                         Value<uint32_t>(call, 3) == 0;
  if (shape == nullptr || source == nullptr || to->type != kSubresourceIndex || !at_origin ||
      to->subresource >= shape->subresource_count()) {
    return Read(list, to->resource);
  }
  Extent copied;
  uint32_t format = source->format;
  if (from->type != kSubresourceIndex) {
    copied = {from->footprint.width, from->footprint.height, from->footprint.depth};
    format = from->footprint.format;
  } else if (from->subresource < source->subresource_count()) {
    copied = ExtentOf(*source, from->subresource);
  }
  if (box != nullptr) {
    const Extent whole = copied;
    copied = {uint64_t{box->right} - std::min(box->left, box->right),
              uint64_t{box->bottom} - std::min(box->top, box->bottom),
              uint64_t{box->back} - std::min(box->front, box->back)};
    if (!whole.Covers(copied)) copied = Extent();
  }
  // Texels of a block format are fewer in a copy to or from another one.
  const bool same_texels =
      format == shape->format || (!IsBlockFormat(format) && !IsBlockFormat(shape->format));
  const bool whole = same_texels && copied.Covers(ExtentOf(*shape, to->subresource));
  OverwriteOrRead(list, whole, to->resource, {to->subresource, 1, 1});
}

void ListUses::OnResolve(List* list, const DecodedCall& call) {
  const auto to = Value<uint64_t>(call, 0);
  const auto subresource = Value<uint32_t>(call, 1);
  const ResourceShape* const shape = ShapeOf(to);
  Read(list, Value<uint64_t>(call, 2));
  OverwriteOrRead(list, shape != nullptr && subresource < shape->subresource_count(), to,
                  {subresource, 1, 1});
}

}  // namespace cairn
