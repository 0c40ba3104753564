// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/arguments_origin.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "format/block/indirect_values.h"
#include "format/block/marker_kinds.h"
#include "format/block/object_description.h"
#include "format/snapshot/object_kinds.h"
#include "reader/analysis/arguments.h"
#include "reader/analysis/bind_uses.h"
#include "reader/analysis/bindings.h"

namespace cairn {
namespace {

// More only damaged files have: the descriptors read of a set, its bindings that lead to the buffer, and the bindings
// that one command is asked about.
constexpr uint32_t kMostDescriptorsSeen = 4096;
constexpr size_t kMostBindingsKept = 16;
constexpr uint32_t kMostBindingsTried = 64;

class OriginFinder {
 public:
  OriginFinder(const Snapshot& snapshot, const Analysis& analysis)
      : snapshot_(snapshot), analysis_(analysis), resolver_(snapshot) {}

  ArgumentsOrigin Run(const SuspectWork& suspect) {
    const uint32_t event = analysis_.scopes[suspect.scope].event;
    const uint32_t buffer = IndirectBuffersOf(snapshot_, event).arguments;
    if (buffer == kNone) return {};
    origin_.buffer = buffer;
    // The entry holds another object by now.
    if (this->buffer().state == ObjectState::kFree ||
        IsBeforeItsCreation(analysis_.executions[suspect.execution])) {
      return {};
    }
    origin_.execution = suspect.execution;
    origin_.scope = suspect.scope;
    origin_.is_mapped = IsMapped(event);
    ScanList(suspect.execution, suspect.scope);
    ScanEarlierSubmissions(analysis_.executions[suspect.execution].submission);
    if (origin_.last.scope == kNone) FindLateWriter(suspect);
    if (origin_.last.is_certain) origin_.certain = {};
    return origin_;
  }

 private:
  // Slots that lead to the buffer, as bits by pipe.
  struct BoundSlots {
    std::array<uint64_t, kPipes> sets{};
    std::array<uint64_t, kPipes> unordered_access{};
    std::array<uint64_t, kPipes> stream_output{};
    uint64_t& At(BindPoint point, uint32_t pipe) {
      return point == BindPoint::kDescriptorSet         ? sets[pipe]
             : point == BindPoint::kRootUnorderedAccess ? unordered_access[pipe]
                                                        : stream_output[pipe];
    }
  };

  const Object& buffer() const { return snapshot_.objects[origin_.buffer]; }

  // Earlier submissions meant the former object of this entry, at this address and of this handle.
  bool IsBeforeItsCreation(const Execution& execution) const {
    return execution.submission != kNone &&
           snapshot_.submissions[execution.submission].time_ns < buffer().created_ns;
  }

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
    return bind.value != 0 && buffer().state == ObjectState::kAlive &&
           bind.value >= buffer().gpu_address &&
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
    const uint32_t slot = NumberOf(bind.slot);
    if (slot >= kSlotsSeen) return;
    const uint32_t pipe = PipeOf(bind.slot);
    const uint64_t bit = uint64_t{1} << slot;
    uint64_t& bound = bound_.At(point, pipe);
    bound &= ~bit;
    if (point != BindPoint::kDescriptorSet) {
      if (Holds(bind)) bound |= bit;
      return;
    }
    if (bind.value == 0 || bind.value > snapshot_.descriptor_sets.size()) return;
    sets_[pipe][slot] = static_cast<uint32_t>(bind.value - 1);
    if (!BindingsOf(sets_[pipe][slot]).empty()) bound |= bit;
  }

  // Returns the bindings of the set through which shaders can write the buffer, each once.
  const std::vector<uint32_t>& BindingsOf(uint32_t set_index) {
    const auto [known, is_new] = bindings_.try_emplace(set_index);
    std::vector<uint32_t>& bindings = known->second;
    const DescriptorSet& set = snapshot_.descriptor_sets[set_index];
    // A handle is of the one that lives.
    if (!is_new || buffer().state != ObjectState::kAlive || buffer().kind != kVulkanBufferKind ||
        set.device != buffer().device) {
      return bindings;
    }
    const uint32_t count = std::min(set.descriptor_count, kMostDescriptorsSeen);
    for (uint32_t i = 0; i < count && bindings.size() < kMostBindingsKept; ++i) {
      const Descriptor& descriptor = snapshot_.descriptors[set.first_descriptor + i];
      if (descriptor.destruction != kNone || descriptor.kind != kVulkanBufferKind ||
          descriptor.native_handle != buffer().native_handle ||
          std::find(bindings.begin(), bindings.end(), descriptor.binding) != bindings.end()) {
        continue;
      }
      bindings.push_back(descriptor.binding);
    }
    return bindings;
  }

  ArgumentsWriter WriterAt(uint32_t execution, uint32_t scope) {
    const uint32_t event_index = analysis_.scopes[scope].event;
    const uint32_t first_event =
        snapshot_.recordings[analysis_.executions[execution].recording].first_event;
    if (IsDestination(first_event, event_index)) return {execution, scope, true};
    const Event& event = snapshot_.events[event_index];
    const Uses uses = UsesOf(event.type);
    uint32_t tried = 0;
    for (uint32_t pipe = 0; pipe < kPipes; ++pipe) {
      for (const BindPoint point : {BindPoint::kRootUnorderedAccess, BindPoint::kStreamOutput}) {
        const uint64_t slots = bound_.At(point, pipe);
        if (slots == 0 || !IsUsed(uses, point, pipe)) continue;
        return {execution, scope, false, point, static_cast<uint32_t>(std::countr_zero(slots))};
      }
      if (!IsUsed(uses, BindPoint::kDescriptorSet, pipe)) continue;
      for (uint64_t slots = bound_.sets[pipe]; slots != 0; slots &= slots - 1) {
        const uint32_t slot = static_cast<uint32_t>(std::countr_zero(slots));
        for (const uint32_t binding : BindingsOf(sets_[pipe][slot])) {
          if (++tried > kMostBindingsTried) return {};
          if (!resolver_.CanUse(event.pipeline, slot, binding)) continue;
          return {execution, scope, false, BindPoint::kDescriptorSet, slot, binding};
        }
      }
    }
    return {};
  }

  // Finds the last writers in an execution, before its scope `end`.
  void ScanList(uint32_t index, uint32_t end) {
    const Execution& execution = analysis_.executions[index];
    const Recording& recording = snapshot_.recordings[execution.recording];
    const bool of_its_queue = IsOfItsQueue(execution);
    bound_ = {};
    ArgumentsWriter last;
    ArgumentsWriter certain;
    ArgumentsWriter unended;  // a barrier makes it certain
    uint32_t scope = execution.first_scope;
    for (uint32_t i = 0; i < recording.event_count && scope < end; ++i) {
      const Event& event = snapshot_.events[recording.first_event + i];
      if (EndsState(snapshot_, recording.first_event, event)) bound_ = {};
      if (IsBind(snapshot_, event)) NoteBind(event);
      if (analysis_.scopes[scope].event != recording.first_event + i) continue;
      ArgumentsWriter writer = WriterAt(index, scope);
      const WorkState state = analysis_.scopes[scope].state;
      ++scope;
      if (unended.scope != kNone && IsBarrier(event.type)) {
        certain = unended;
        last.is_certain |= last.scope == unended.scope;
        unended = {};
      }
      if (writer.scope == kNone || state == WorkState::kNotStarted) continue;
      if (writer.is_certain) {
        unended = {};
        if (state == WorkState::kCompleted) {
          certain = writer;
        } else {
          if (of_its_queue) unended = writer;
          writer.is_certain = false;
        }
      }
      last = writer;
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
          snapshot_.recordings[execution.recording].device != buffer().device ||
          IsBeforeItsCreation(execution)) {
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
  BoundSlots bound_;
  std::array<std::array<uint32_t, kSlotsSeen>, kPipes> sets_{};
  std::unordered_map<uint32_t, std::vector<uint32_t>> bindings_;  // by set
};

}  // namespace

// Only of the first suspect: a hostile file may have a million of them.
ArgumentsOrigin FindArgumentsOrigin(const Snapshot& snapshot, const Analysis& analysis,
                                    const CulpritFinding& finding) {
  if (finding.suspects.empty() || finding.suspects.front().scope == kNone) return {};
  return OriginFinder(snapshot, analysis).Run(finding.suspects.front());
}

}  // namespace cairn
