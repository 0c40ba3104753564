// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/arguments_origin.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "format/block/indirect_values.h"
#include "format/block/object_description.h"
#include "format/snapshot/object_kinds.h"
#include "reader/analysis/arguments.h"
#include "reader/analysis/bind_uses.h"
#include "reader/analysis/bindings.h"

namespace cairn {
namespace {

class OriginFinder {
 public:
  OriginFinder(const Snapshot& snapshot, const Analysis& analysis)
      : snapshot_(snapshot), analysis_(analysis), resolver_(snapshot) {}

  ArgumentsOrigin Run(const SuspectWork& suspect) {
    const uint32_t event = analysis_.scopes[suspect.scope].event;
    const uint32_t buffer = IndirectBuffersOf(snapshot_, event).arguments;
    if (buffer == kNone) return {};
    origin_.execution = suspect.execution;
    origin_.scope = suspect.scope;
    origin_.buffer = buffer;
    origin_.is_mapped = IsMapped(event);
    ScanList(suspect.execution, suspect.scope);
    if (origin_.last.scope == kNone) FindLateWriter(suspect);
    ScanEarlierSubmissions(analysis_.executions[suspect.execution].submission);
    if (origin_.last.is_certain) origin_.certain = {};
    return origin_;
  }

 private:
  // A place from which shaders can write the buffer.
  struct Bound {
    BindPoint point;
    uint32_t slot;  // with the bits of its pipe
    uint32_t binding;
  };

  const Object& buffer() const { return snapshot_.objects[origin_.buffer]; }

  bool IsMapped(uint32_t event) const {
    if ((UnpackDescription(buffer().description).uses & kUsedAsUpload) != 0) return true;
    for (size_t i = size_t{event} + 1; i < snapshot_.events.size(); ++i) {
      const Event& next = snapshot_.events[i];
      if (next.kind != EventKind::kBind) return false;
      if (next.type == static_cast<uint16_t>(kIndirectHostAddress) ||
          next.type == static_cast<uint16_t>(kIndirectValues)) {
        return true;
      }
    }
    return false;
  }

  bool Holds(const Bind& bind) const {
    if (!bind.is_address) return bind.value == origin_.buffer;
    return bind.value != 0 && bind.value >= buffer().gpu_address &&
           bind.value - buffer().gpu_address < buffer().size_bytes;
  }

  // The command that begins with this event has the buffer as its destination.
  bool IsDestination(uint32_t first_event, uint32_t event) const {
    for (uint32_t i = event; i-- > first_event;) {
      const Event& before = snapshot_.events[i];
      if (before.kind != EventKind::kBind) return false;
      if (!IsBind(snapshot_, before) ||
          before.type != static_cast<uint16_t>(BindPoint::kDestination)) {
        continue;
      }
      if (Holds(snapshot_.binds[before.detail])) return true;
    }
    return false;
  }

  void NoteBind(const Event& event) {
    const BindPoint point = static_cast<BindPoint>(event.type);
    const Bind& bind = snapshot_.binds[event.detail];
    if (point != BindPoint::kDescriptorSet && point != BindPoint::kRootUnorderedAccess &&
        point != BindPoint::kStreamOutput) {
      return;
    }
    std::erase_if(bound_, [&](const Bound& other) {
      return other.point == point && other.slot == bind.slot;
    });
    if (NumberOf(bind.slot) >= kSlotsSeen) return;
    if (point != BindPoint::kDescriptorSet) {
      if (Holds(bind)) bound_.push_back({point, bind.slot, kNone});
      return;
    }
    // A handle is of the one that lives.
    if (bind.value == 0 || bind.value > snapshot_.descriptor_sets.size() ||
        buffer().state != ObjectState::kAlive || buffer().kind != kVulkanBufferKind) {
      return;
    }
    const DescriptorSet& set = snapshot_.descriptor_sets[bind.value - 1];
    if (set.device != buffer().device) return;
    for (uint32_t i = 0; i < set.descriptor_count; ++i) {
      const Descriptor& descriptor = snapshot_.descriptors[set.first_descriptor + i];
      if (descriptor.destruction != kNone || descriptor.kind != kVulkanBufferKind ||
          descriptor.native_handle != buffer().native_handle) {
        continue;
      }
      bound_.push_back({point, bind.slot, descriptor.binding});
    }
  }

  ArgumentsWriter WriterAt(uint32_t execution, uint32_t scope) {
    const uint32_t event_index = analysis_.scopes[scope].event;
    const uint32_t first_event =
        snapshot_.recordings[analysis_.executions[execution].recording].first_event;
    if (IsDestination(first_event, event_index)) return {execution, scope, true};
    const Event& event = snapshot_.events[event_index];
    const Uses uses = UsesOf(event.type);
    for (const Bound& bound : bound_) {
      const uint32_t slot = NumberOf(bound.slot);
      if (!IsUsed(uses, bound.point, PipeOf(bound.slot))) continue;
      if (bound.point == BindPoint::kDescriptorSet &&
          !resolver_.CanUse(event.pipeline, slot, bound.binding)) {
        continue;
      }
      return {execution, scope, false, bound.point, slot, bound.binding};
    }
    return {};
  }

  // Finds the last writers in an execution, before its scope `end`.
  void ScanList(uint32_t index, uint32_t end) {
    const Execution& execution = analysis_.executions[index];
    const Recording& recording = snapshot_.recordings[execution.recording];
    bound_.clear();
    ArgumentsWriter last;
    ArgumentsWriter certain;
    uint32_t scope = execution.first_scope;
    for (uint32_t i = 0; i < recording.event_count && scope < end; ++i) {
      const Event& event = snapshot_.events[recording.first_event + i];
      if (EndsState(snapshot_, recording.first_event, event)) bound_.clear();
      if (IsBind(snapshot_, event)) NoteBind(event);
      if (analysis_.scopes[scope].event != recording.first_event + i) continue;
      ArgumentsWriter writer = WriterAt(index, scope);
      const WorkState state = analysis_.scopes[scope].state;
      ++scope;
      if (writer.scope == kNone || state == WorkState::kNotStarted) continue;
      // On another queue it may still be at work.
      writer.is_certain &= state == WorkState::kCompleted || IsOfItsQueue(execution);
      last = writer;
      if (writer.is_certain) certain = writer;
    }
    if (origin_.last.scope == kNone) origin_.last = last;
    if (origin_.certain.scope == kNone) origin_.certain = certain;
  }

  bool IsOfItsQueue(const Execution& execution) const {
    return QueueOfExecution(snapshot_, execution) ==
           QueueOfExecution(snapshot_, analysis_.executions[origin_.execution]);
  }

  void FindLateWriter(const SuspectWork& suspect) {
    const Execution& execution = analysis_.executions[suspect.execution];
    const uint32_t first_event = snapshot_.recordings[execution.recording].first_event;
    const uint32_t end = execution.first_scope + execution.scope_count;
    for (uint32_t scope = suspect.scope + 1; scope < end; ++scope) {
      if (!IsDestination(first_event, analysis_.scopes[scope].event)) continue;
      origin_.late_writer = scope;
      return;
    }
  }

  // The latest first, until one certainly wrote. A list that was submitted often is looked at once.
  void ScanEarlierSubmissions(uint32_t submission) {
    if (submission == kNone) return;
    std::vector<uint32_t> earlier;
    for (uint32_t i = 0; i < analysis_.executions.size(); ++i) {
      const Execution& execution = analysis_.executions[i];
      if (execution.submission == kNone || execution.submission >= submission ||
          snapshot_.recordings[execution.recording].device != buffer().device) {
        continue;
      }
      earlier.push_back(i);
    }
    std::sort(earlier.begin(), earlier.end(), [this](uint32_t a, uint32_t b) {
      return analysis_.executions[a].submission > analysis_.executions[b].submission;
    });
    std::unordered_set<uint32_t> seen;  // first scopes
    for (const uint32_t i : earlier) {
      if (origin_.certain.scope != kNone) return;
      const Execution& execution = analysis_.executions[i];
      if (execution.scope_count == 0 || !seen.insert(execution.first_scope).second) continue;
      ScanList(i, execution.first_scope + execution.scope_count);
    }
  }

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  BindingResolver resolver_;
  ArgumentsOrigin origin_;
  std::vector<Bound> bound_;
};

}  // namespace

// Only of the first suspect: a hostile file may have a million of them.
ArgumentsOrigin FindArgumentsOrigin(const Snapshot& snapshot, const Analysis& analysis,
                                    const CulpritFinding& finding) {
  if (finding.suspects.empty() || finding.suspects.front().scope == kNone) return {};
  return OriginFinder(snapshot, analysis).Run(finding.suspects.front());
}

}  // namespace cairn
