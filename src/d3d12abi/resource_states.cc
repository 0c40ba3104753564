// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/resource_states.h"

#include <algorithm>

namespace cairn {
namespace {

// More than any legal texture has (2048 slices of 15 mips in 3 planes): what counts more than this has
// one state for all.
constexpr uint64_t kMaxSubresources = 1u << 17;

// [first, first + count) within `size`, in numbers that do not wrap.
std::pair<uint32_t, uint32_t> Clip(uint32_t first, uint32_t count, uint32_t size) {
  const uint32_t begin = std::min(first, size);
  return {begin, begin + std::min(count, size - begin)};
}

}  // namespace

void ListStates::Transition(uint64_t object, uint32_t subresource, uint32_t after) {
  steps_.push_back({object, Kind::kTransition, false, after, subresource, {}});
}

void ListStates::Transition(uint64_t object, const SubresourceRange& range, uint32_t after) {
  steps_.push_back({object, Kind::kTransition, true, after, 0, range});
}

void ListStates::CopiedInto(uint64_t object, uint32_t subresource) {
  steps_.push_back({object, Kind::kCopiedInto, false, kStateCopyDest, subresource, {}});
}

void ListStates::Target(uint64_t object, uint32_t subresource) {
  // Binding the same target again and again is common; one step says it.
  if (!steps_.empty() && steps_.back().kind == Kind::kTarget && steps_.back().object == object &&
      steps_.back().subresource == subresource) {
    return;
  }
  steps_.push_back({object, Kind::kTarget, false, 0, subresource, {}});
}

uint32_t ResourceStates::Entry::subresource_count() const {
  const uint64_t slices = uint64_t{resource.mips} * resource.array_size;
  if (slices > kMaxSubresources || slices * resource.planes > kMaxSubresources) return 1;
  return static_cast<uint32_t>(std::max<uint64_t>(slices * resource.planes, 1));
}

void ResourceStates::Entry::Set(uint32_t subresource, uint32_t value) {
  const uint32_t count = subresource_count();
  if (subresource == kAllSubresources || count == 1) {
    state = value;
    each.clear();
    return;
  }
  if (subresource >= count) return;
  if (each.empty()) each.assign(count, state);
  each[subresource] = value;
}

uint32_t ResourceStates::Entry::Get(uint32_t subresource) const {
  if (each.empty()) return state;
  return subresource < each.size() ? each[subresource] : each[0];
}

void ResourceStates::Add(uint64_t object, const StatefulResource& resource) {
  const std::lock_guard lock(mutex_);
  entries_[object] = Entry{resource, resource.initial_state, 0, {}};
}

void ResourceStates::Remove(uint64_t object) {
  const std::lock_guard lock(mutex_);
  entries_.erase(object);
  if (last_presented_ == object) last_presented_ = 0;
  if (last_target_.object == object) last_target_ = {};
}

void ResourceStates::Apply(const ListStates::Step& step, Entry* entry) {
  if (step.kind == ListStates::Kind::kTarget) {
    last_target_ = {step.object, step.subresource};
    return;
  }
  if (step.kind == ListStates::Kind::kCopiedInto) {
    const uint32_t count = entry->subresource_count();
    const bool all = step.subresource == kAllSubresources;
    const uint32_t first = all ? 0 : step.subresource;
    for (uint32_t i = first; i < (all ? count : first + 1) && i < count; ++i) {
      if (entry->Get(i) == kStateCommon) entry->Set(i, kStateCopyDest);
    }
    return;
  }
  if (entry->resource.is_image &&
      (step.after == kStatePresent || step.after == entry->resource.present_state)) {
    last_presented_ = step.object;
  }
  if (!step.by_range) {
    entry->Set(step.subresource, step.after);
    return;
  }
  const StatefulResource& resource = entry->resource;
  const SubresourceRange& range = step.range;
  const auto [plane, plane_end] = Clip(range.first_plane, range.plane_count, resource.planes);
  const auto [slice, slice_end] = Clip(range.first_slice, range.slice_count, resource.array_size);
  const auto [mip, mip_end] = Clip(range.first_mip, range.mip_count, resource.mips);
  if (entry->subresource_count() == 1) {
    entry->Set(kAllSubresources, step.after);
    return;
  }
  for (uint32_t p = plane; p < plane_end; ++p) {
    for (uint32_t s = slice; s < slice_end; ++s) {
      for (uint32_t m = mip; m < mip_end; ++m) {
        entry->Set((p * resource.array_size + s) * resource.mips + m, step.after);
      }
    }
  }
}

void ResourceStates::Execute(std::span<const ListStates* const> lists, bool copy_queue,
                             uint64_t queue) {
  const std::lock_guard lock(mutex_);
  for (const ListStates* const list : lists) {
    for (const ListStates::Step& step : list->steps_) {
      const auto found = entries_.find(step.object);
      if (found == entries_.end()) continue;
      found->second.queue = queue;
      Apply(step, &found->second);
    }
  }
  // Resources decay after each ExecuteCommandLists call.
  for (const ListStates* const list : lists) {
    for (const ListStates::Step& step : list->steps_) {
      if (step.kind == ListStates::Kind::kTarget) continue;
      const auto found = entries_.find(step.object);
      if (found == entries_.end()) continue;
      if (copy_queue || found->second.decays()) found->second.Set(kAllSubresources, kStateCommon);
    }
  }
}

uint32_t ResourceStates::State(uint64_t object, uint32_t subresource) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(object);
  return found == entries_.end() ? kStateCommon : found->second.Get(subresource);
}

uint64_t ResourceStates::LastQueue(uint64_t object) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(object);
  return found == entries_.end() ? 0 : found->second.queue;
}

uint64_t ResourceStates::LastPresented() const {
  const std::lock_guard lock(mutex_);
  return last_presented_;
}

ResourceStates::LastTargetPlace ResourceStates::LastTarget() const {
  const std::lock_guard lock(mutex_);
  return last_target_;
}

uint32_t StateOfLayout(uint32_t layout) {
  constexpr uint32_t kGenericRead = 0xAC3;
  constexpr uint32_t kShaderResource = 0x40 | 0x80;
  switch (layout) {
    case 1:   // GENERIC_READ
    case 19:  // DIRECT_QUEUE_GENERIC_READ
    case 25:  // COMPUTE_QUEUE_GENERIC_READ
    case 31:  // DIRECT_QUEUE_GENERIC_READ_COMPUTE_QUEUE_ACCESSIBLE
      return kGenericRead;
    case 2: return kStateRenderTarget;
    case 3:   // UNORDERED_ACCESS
    case 20:  // DIRECT_QUEUE_UNORDERED_ACCESS
    case 26:  // COMPUTE_QUEUE_UNORDERED_ACCESS
      return kStateUnorderedAccess;
    case 4: return 0x10;  // DEPTH_WRITE
    case 5: return 0x20;  // DEPTH_READ
    case 6:               // SHADER_RESOURCE
    case 21:              // DIRECT_QUEUE_SHADER_RESOURCE
    case 27:              // COMPUTE_QUEUE_SHADER_RESOURCE
      return kShaderResource;
    case 7:   // COPY_SOURCE
    case 22:  // DIRECT_QUEUE_COPY_SOURCE
    case 28:  // COMPUTE_QUEUE_COPY_SOURCE
      return kStateCopySource;
    case 8:   // COPY_DEST
    case 23:  // DIRECT_QUEUE_COPY_DEST
    case 29:  // COMPUTE_QUEUE_COPY_DEST
      return kStateCopyDest;
    case 9: return 0x2000;         // RESOLVE_SOURCE
    case 10: return 0x1000;        // RESOLVE_DEST
    case 11: return 0x1000000;     // SHADING_RATE_SOURCE
    case 12: return 0x10000;       // VIDEO_DECODE_READ
    case 13: return 0x20000;       // VIDEO_DECODE_WRITE
    case 14: return 0x40000;       // VIDEO_PROCESS_READ
    case 15: return 0x80000;       // VIDEO_PROCESS_WRITE
    case 16: return 0x200000;      // VIDEO_ENCODE_READ
    case 17: return 0x800000;      // VIDEO_ENCODE_WRITE
    default: return kStateCommon;  // UNDEFINED and the queues' common layouts among them
  }
}

}  // namespace cairn
