// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/bindings.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <tuple>

#include "reader/analysis/bind_uses.h"
#include "reader/analysis/fault_address.h"

namespace cairn {
void BindingResolver::Explain(Analysis* analysis, QueueVerdict* verdict) {
  const uint32_t count = static_cast<uint32_t>(verdict->candidates.size());
  const uint32_t last = count - std::min(count, kExplainedLastCandidates);
  for (uint32_t i = 0; i < count; ++i) {
    if (i == kExplainedFirstCandidates && last > i) i = last;
    verdict->contexts.push_back(ContextOf(*verdict, i, analysis));
  }
}

CandidateContext BindingResolver::ContextOf(const QueueVerdict& verdict, uint32_t candidate,
                                            Analysis* analysis) {
  const uint32_t scope = verdict.candidates[candidate];
  CandidateContext context;
  context.candidate = candidate;
  for (uint32_t at = scope; at != kNone; at = analysis->scopes[at].parent) {
    if (snapshot_.events[analysis->scopes[at].event].detail == kNone) continue;
    context.annotation_scope = at;
    break;
  }
  context.first_binding = static_cast<uint32_t>(analysis->bindings.size());
  FindBindings(analysis->scopes[scope],
               analysis->executions[verdict.candidate_executions[candidate]], &analysis->bindings);
  context.binding_count = static_cast<uint32_t>(analysis->bindings.size()) - context.first_binding;
  return context;
}

BindingResolver::Moment BindingResolver::MomentOf(const Execution& execution) const {
  if (execution.submission != kNone) {
    return {snapshot_.submissions[execution.submission].time_ns, true};
  }
  const Process& process = snapshot_.process;
  if (process.start_monotonic_ns == 0 || process.snapshot_time_ns < process.start_time_ns) {
    return {UINT64_MAX, false};
  }
  return {process.snapshot_time_ns - process.start_time_ns + process.start_monotonic_ns, false};
}

// Backwards from the command: the first that is seen of a slot is the one in effect.
void BindingResolver::FindBindings(const Scope& scope, const Execution& execution,
                                   std::vector<Binding>* bindings) {
  if (snapshot_.binds.empty()) return;
  const uint32_t first_event = snapshot_.recordings[execution.recording].first_event;
  const Moment moment = MomentOf(execution);
  const Uses uses = UsesOf(snapshot_.events[scope.event].type);
  const bool uses_state = uses.draws || uses.compute || uses.rays;
  std::array<std::array<uint64_t, kPipes>, kBindPoints> seen{};  // by point and pipe: slots as bits
  bool directly_before = true;
  bool state_known = true;
  const size_t first_binding = bindings->size();
  for (uint32_t i = scope.event;
       i-- > first_event && bindings->size() - first_binding < kMostBindings;) {
    const Event& event = snapshot_.events[i];
    directly_before = directly_before && event.kind == EventKind::kBind;
    state_known = state_known && !EndsState(snapshot_, first_event, event);
    if (!directly_before && !(uses_state && state_known)) break;
    if (!IsBind(snapshot_, event)) continue;
    const BindPoint point = static_cast<BindPoint>(event.type);
    const Bind& bind = snapshot_.binds[event.detail];
    const uint32_t pipe = PipeOf(bind.slot);
    const uint32_t slot = NumberOf(bind.slot);
    if (slot >= kSlotsSeen || !IsUsed(uses, point, pipe)) continue;
    if (IsOfOneCommand(point) && !directly_before) continue;
    if (!IsOfOneCommand(point) && !state_known) continue;
    uint64_t& slots = seen[event.type][pipe];
    if ((slots >> slot & 1) != 0) continue;
    slots |= uint64_t{1} << slot;
    if (IsNothing(bind)) continue;
    if (point == BindPoint::kDescriptorSet) {
      ResolveSet(event, snapshot_.events[scope.event].pipeline, moment,
                 kMostBindings - (bindings->size() - first_binding), bindings);
    } else {
      bindings->push_back(Resolve(event, moment));
    }
  }
  std::sort(bindings->begin() + static_cast<ptrdiff_t>(first_binding), bindings->end(),
            [](const Binding& a, const Binding& b) {
              return std::tuple(a.point, a.of_compute, a.slot, a.descriptor) <
                     std::tuple(b.point, b.of_compute, b.slot, b.descriptor);
            });
}

bool BindingResolver::CanUse(uint32_t pipeline, uint32_t set, uint32_t binding) {
  const auto key = [](uint32_t of_set, uint32_t of_binding) {
    return uint64_t{of_set} << 32 | of_binding;
  };
  if (!declared_read_) {
    declared_read_ = true;
    for (const PipelineDescriptors& of : snapshot_.pipeline_descriptors) {
      std::unordered_set<uint64_t>& declared = declared_[of.pipeline];
      for (uint32_t i = 0; i < of.descriptor_count; ++i) {
        const ShaderDescriptor& shader = snapshot_.shader_descriptors[of.first_descriptor + i];
        declared.insert(key(shader.set, shader.binding));
        declared.insert(key(shader.set, kNone));
      }
    }
  }
  if (pipeline == kNone) return true;
  const auto known = declared_.find(pipeline);
  return known == declared_.end() || known->second.contains(key(set, binding));
}

void BindingResolver::ResolveSet(const Event& event, uint32_t pipeline, const Moment& moment,
                                 size_t room, std::vector<Binding>* bindings) {
  const Bind& bind = snapshot_.binds[event.detail];
  if (bind.value > snapshot_.descriptor_sets.size()) return;
  Binding binding;
  binding.point = BindPoint::kDescriptorSet;
  binding.slot = NumberOf(bind.slot);
  binding.of_compute = PipeOf(bind.slot) == 1;
  binding.since_submission = moment.is_submission;
  binding.descriptor_set = static_cast<uint32_t>(bind.value - 1);
  const DescriptorSet& set = snapshot_.descriptor_sets[binding.descriptor_set];
  if (!CanUse(pipeline, binding.slot, kNone)) return;
  if ((set.unseen_count != 0 || set.in_buffers || set.pushed) && room > 0) {
    binding.state = BindingState::kNotSeen;
    bindings->push_back(binding);
    --room;
  }
  binding.state = BindingState::kDestroyed;
  for (uint32_t i = 0; i < set.descriptor_count && room > 0; ++i) {
    binding.descriptor = set.first_descriptor + i;
    binding.destruction = snapshot_.descriptors[binding.descriptor].destruction;
    if (binding.destruction == kNone ||
        !CanUse(pipeline, binding.slot, snapshot_.descriptors[binding.descriptor].binding)) {
      continue;
    }
    const Destruction& destruction = snapshot_.destructions[binding.destruction];
    binding.object = destruction.object;
    binding.destroyed_after_ns = moment.time_ns == UINT64_MAX
                                     ? 0
                                     : static_cast<int64_t>(destruction.time_ns - moment.time_ns);
    bindings->push_back(binding);
    --room;
  }
}

// Finds the last destruction: that of a Vulkan object may be recorded for its name and for each
// range of addresses.
uint32_t BindingResolver::DestructionOf(uint32_t object) {
  if (destructions_.empty()) {
    for (uint32_t i = 0; i < snapshot_.destructions.size(); ++i) {
      destructions_[snapshot_.destructions[i].object] = i;
    }
  }
  const auto found = destructions_.find(object);
  return found == destructions_.end() ? kNone : found->second;
}

Binding BindingResolver::Resolve(const Event& event, const Moment& moment) {
  const Bind& bind = snapshot_.binds[event.detail];
  Binding binding;
  binding.point = static_cast<BindPoint>(event.type);
  binding.slot = NumberOf(bind.slot);
  binding.of_compute = PipeOf(bind.slot) == 1;
  binding.is_address = bind.is_address;
  binding.since_submission = moment.is_submission;
  if (bind.is_address) {
    binding.address = bind.value;
    binding.object = FindObject(bind.value, moment);
    if (binding.object == kNone) return binding;
    binding.offset = bind.value - snapshot_.objects[binding.object].gpu_address;
  } else {
    binding.object = static_cast<uint32_t>(bind.value);
  }
  const Object& object = snapshot_.objects[binding.object];
  if (object.state == ObjectState::kFree || object.created_ns > moment.time_ns) {
    binding.object = kNone;
    binding.state = BindingState::kReplaced;
    return binding;
  }
  // A buffer of Vulkan may live on when its memory was freed.
  binding.destruction = DestructionOf(binding.object);
  const bool is_alive = object.state == ObjectState::kAlive;
  binding.state =
      is_alive && binding.destruction == kNone ? BindingState::kAlive : BindingState::kDestroyed;
  if (binding.state == BindingState::kDestroyed && moment.time_ns != UINT64_MAX) {
    const uint64_t destroyed_ns =
        is_alive ? snapshot_.destructions[binding.destruction].time_ns : object.destroyed_ns;
    binding.destroyed_after_ns = static_cast<int64_t>(destroyed_ns - moment.time_ns);
  }
  return binding;
}

void BindingResolver::SortRanges() {
  ranges_sorted_ = true;
  ranges_.reserve(snapshot_.objects.size());
  for (uint32_t i = 0; i < snapshot_.objects.size(); ++i) {
    const Object& object = snapshot_.objects[i];
    if (!HasGpuRange(object)) continue;
    const uint64_t size = std::min(object.size_bytes, UINT64_MAX - object.gpu_address);
    ranges_.push_back({object.gpu_address, object.gpu_address + size, 0, i});
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::tuple(a.begin, a.object) < std::tuple(b.begin, b.object);
  });
  uint64_t largest_end = 0;
  for (Range& range : ranges_) {
    largest_end = std::max(largest_end, range.end);
    range.largest_end = largest_end;
  }
}

uint32_t BindingResolver::FindObject(uint64_t address, const Moment& moment) {
  if (!ranges_sorted_) SortRanges();
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](uint64_t wanted, const Range& range) { return wanted < range.begin; });
  uint32_t found = kNone;
  uint64_t found_end = 0;  // when the memory of `found` was given back
  uint32_t tried = 0;
  for (auto at = after; at != ranges_.begin() && tried < kMostRangesTried; ++tried) {
    --at;
    if (at->largest_end <= address) break;
    const Object& object = snapshot_.objects[at->object];
    if (at->end <= address || object.created_ns > moment.time_ns) continue;
    const uint64_t end = object.state == ObjectState::kDestroyed ? object.destroyed_ns : UINT64_MAX;
    if (found != kNone && end <= found_end) continue;
    found = at->object;
    found_end = end;
  }
  return found;
}

std::vector<uint32_t> FindReportedScopes(const Snapshot& snapshot,
                                         const std::vector<Scope>& scopes) {
  const std::vector<ReportedEventId>& reported = snapshot.reported_event_ids;
  std::vector<uint32_t> found(reported.size(), kNone);
  if (reported.empty()) return found;
  std::vector<uint32_t> by_id(reported.size());
  std::iota(by_id.begin(), by_id.end(), 0u);
  std::sort(by_id.begin(), by_id.end(), [&reported](uint32_t a, uint32_t b) {
    return reported[a].event_id < reported[b].event_id;
  });
  for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
    const uint32_t annotation = snapshot.events[scopes[scope].event].detail;
    if (annotation >= snapshot.annotations.size()) continue;
    const uint64_t event_id = snapshot.annotations[annotation].event_id;
    if (event_id == 0) continue;
    // An EventID may have been reported for several devices.
    for (auto at = std::lower_bound(
             by_id.begin(), by_id.end(), event_id,
             [&reported](uint32_t i, uint64_t wanted) { return reported[i].event_id < wanted; });
         at != by_id.end() && reported[*at].event_id == event_id; ++at) {
      found[*at] = scope;
    }
  }
  return found;
}

}  // namespace cairn
