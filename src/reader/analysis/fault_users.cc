// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/fault_users.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reader/analysis/bind_uses.h"
#include "reader/analysis/bindings.h"
#include "reader/analysis/late_suspect.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

// The most descriptors read of one set; only damaged files have more.
constexpr uint32_t kMostDescriptorsSeen = 4096;
constexpr size_t kMostDescriptorsKept = 16;
// Work that turns out to lead elsewhere at the time of its submission is not reported.
constexpr size_t kMostTried = 4 * kMostFaultUsers;

bool TellsOfFault(const KernelLine& line) {
  return line.names_process && line.tells_fault;
}

// The addresses and objects of the faults.
class FaultPlace {
 public:
  FaultPlace(const Snapshot& snapshot, const FaultAddresses& addresses) : snapshot_(snapshot) {
    for (const FaultAddressVerdict& verdict : addresses.of_drivers) {
      const Fault& fault = snapshot.faults[verdict.fault];
      if (fault.result >= 0) Add(verdict, fault.device);
    }
    // A line behind the one that names the process may have the address.
    const bool kernel_tells =
        std::any_of(snapshot.kernel_lines.begin(), snapshot.kernel_lines.end(), TellsOfFault);
    if (kernel_tells || !faults_.empty()) {
      for (const FaultAddressVerdict& verdict : addresses.of_kernel) Add(verdict, kNone);
    }
    if (!faults_.empty()) FindObjects();
  }

  bool empty() const { return faults_.empty(); }
  bool HasObject(uint64_t object) const { return object < objects_.size() && objects_[object]; }
  // Returns true if the address lies in one of the objects or in a range of the faults.
  bool HasAddress(uint64_t address) const {
    const auto after = std::upper_bound(
        ranges_.begin(), ranges_.end(), address,
        [](uint64_t wanted, const AddressRange& range) { return wanted < range.first; });
    return after != ranges_.begin() && address <= std::prev(after)->last;
  }
  bool HasDestroyed(const Destruction& destruction) const {
    return HasObject(destruction.object) || HasObject(destruction.cause_object) ||
           HasObject(destruction.owner_object);
  }
  bool Has(const Binding& binding) const {
    if (binding.state == BindingState::kReplaced || binding.state == BindingState::kNotSeen) {
      return false;
    }
    if (binding.descriptor != kNone) {
      return HasDestroyed(snapshot_.destructions[binding.destruction]);
    }
    if (binding.object != kNone) return HasObject(binding.object);
    return std::any_of(faults_.begin(), faults_.end(), [&binding](const Place& fault) {
      return fault.range.first <= binding.address && binding.address <= fault.range.last;
    });
  }

 private:
  struct Place {
    AddressRange range;
    uint32_t device;  // kNone: not told
    bool IsIn(const Object& object) const {
      if (object.device != device && object.device != kNone && device != kNone) return false;
      const AddressRange of_object = RangeOf(object);
      return of_object.first <= range.last && range.first <= of_object.last;
    }
  };

  void Add(const FaultAddressVerdict& verdict, uint32_t device) {
    if (verdict.state == AddressState::kNoAddress) return;
    faults_.push_back({{verdict.first, verdict.last}, device});
    ranges_.push_back({verdict.first, verdict.last});
  }

  void FindObjects() {
    objects_.resize(snapshot_.objects.size());
    for (size_t i = 0; i < objects_.size(); ++i) {
      const Object& object = snapshot_.objects[i];
      if (!HasGpuRange(object) || object.size_bytes == 0) continue;
      objects_[i] = std::any_of(faults_.begin(), faults_.end(),
                                [&object](const Place& fault) { return fault.IsIn(object); });
      if (objects_[i]) ranges_.push_back(RangeOf(object));
    }
    JoinRanges();
  }

  // Sorted, and none overlaps another.
  void JoinRanges() {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.first < b.first; });
    size_t count = 0;
    for (const AddressRange& range : ranges_) {
      if (count != 0 && range.first <= ranges_[count - 1].last) {
        ranges_[count - 1].last = std::max(ranges_[count - 1].last, range.last);
      } else {
        ranges_[count++] = range;
      }
    }
    ranges_.resize(count);
  }

  const Snapshot& snapshot_;
  std::vector<Place> faults_;
  std::vector<AddressRange> ranges_;  // of the faults, and of the objects
  std::vector<bool> objects_;
};

// Tracks the binds that lead to the place of the faults while a recording proceeds.
class BoundState {
 public:
  BoundState(const Snapshot& snapshot, const FaultPlace& place, BindingResolver& resolver)
      : snapshot_(snapshot), place_(place), resolver_(resolver) {}

  void Start() { leads_ = {}; }
  void OnEvent(uint32_t first_event, const Event& event) {
    const bool ends_state = EndsState(snapshot_, first_event, event);
    const bool ends_others = event.kind != EventKind::kBind;
    for (uint32_t point = 0; point < kBindPoints && (ends_state || ends_others); ++point) {
      const bool of_one = IsOfOneCommand(static_cast<BindPoint>(point));
      if (of_one ? ends_others : ends_state) leads_[point] = {};
    }
    if (IsBind(snapshot_, event)) {
      OnBind(static_cast<BindPoint>(event.type), snapshot_.binds[event.detail]);
    }
  }
  bool IsUsedBy(const Event& work) {
    const Uses uses = UsesOf(work.type);
    for (uint32_t i = 0; i < kBindPoints; ++i) {
      const BindPoint point = static_cast<BindPoint>(i);
      for (uint32_t pipe = 0; pipe < kPipes; ++pipe) {
        if (leads_[i][pipe] == 0 || !IsUsed(uses, point, pipe)) continue;
        if (point != BindPoint::kDescriptorSet || UsesSet(work.pipeline, pipe)) return true;
      }
    }
    return false;
  }

 private:
  void OnBind(BindPoint point, const Bind& bind) {
    const uint32_t slot = NumberOf(bind.slot);
    if (slot >= kSlotsSeen) return;
    const uint32_t pipe = PipeOf(bind.slot);
    const uint64_t bit = uint64_t{1} << slot;
    uint64_t& leads = leads_[static_cast<size_t>(point)][pipe];
    leads &= ~bit;
    if (IsNothing(bind)) return;
    if (point == BindPoint::kDescriptorSet) {
      if (bind.value > snapshot_.descriptor_sets.size()) return;
      sets_[pipe][slot] = static_cast<uint32_t>(bind.value - 1);
      if (!BindingsOf(sets_[pipe][slot]).empty()) leads |= bit;
    } else if (bind.is_address ? place_.HasAddress(bind.value) : place_.HasObject(bind.value)) {
      leads |= bit;
    }
  }

  bool UsesSet(uint32_t pipeline, uint32_t pipe) {
    const uint64_t leads = leads_[static_cast<size_t>(BindPoint::kDescriptorSet)][pipe];
    for (uint32_t slot = 0; slot < kSlotsSeen; ++slot) {
      if ((leads >> slot & 1) == 0) continue;
      for (const uint32_t binding : BindingsOf(sets_[pipe][slot])) {
        if (resolver_.CanUse(pipeline, slot, binding)) return true;
      }
    }
    return false;
  }

  // Returns the bindings of the set that lead to the place of the faults.
  const std::vector<uint32_t>& BindingsOf(uint32_t set_index) {
    const auto [known, is_new] = bindings_.try_emplace(set_index);
    if (!is_new) return known->second;
    const DescriptorSet& set = snapshot_.descriptor_sets[set_index];
    const uint32_t count = std::min(set.descriptor_count, kMostDescriptorsSeen);
    for (uint32_t i = 0; i < count && known->second.size() < kMostDescriptorsKept; ++i) {
      const Descriptor& descriptor = snapshot_.descriptors[set.first_descriptor + i];
      if (descriptor.destruction == kNone) continue;
      if (!place_.HasDestroyed(snapshot_.destructions[descriptor.destruction])) continue;
      known->second.push_back(descriptor.binding);
    }
    return known->second;
  }

  const Snapshot& snapshot_;
  const FaultPlace& place_;
  BindingResolver& resolver_;
  std::array<std::array<uint64_t, kPipes>, kBindPoints> leads_{};  // slots as bits
  std::array<std::array<uint32_t, kSlotsSeen>, kPipes> sets_{};
  std::unordered_map<uint32_t, std::vector<uint32_t>> bindings_;  // by set
};

class FaultUserFinder {
 public:
  FaultUserFinder(const Snapshot& snapshot, const FaultPlace& place, BindingResolver& resolver,
                  Analysis* analysis)
      : snapshot_(snapshot),
        place_(place),
        resolver_(resolver),
        state_(snapshot, place, resolver),
        analysis_(*analysis),
        users_(snapshot.recordings.size()) {}

  void Run() {
    const std::vector<bool> at_rest = FindDevicesAtRest(snapshot_, analysis_);
    size_t tried = 0;
    for (const uint32_t index : LatestFirst()) {
      const Execution execution = analysis_.executions[index];
      const uint32_t device = snapshot_.recordings[execution.recording].device;
      if (device == kNone || !at_rest[device]) continue;
      const std::vector<uint32_t>& users = UsersOf(execution);
      for (size_t i = users.size(); i-- > 0;) {
        const uint32_t scope = execution.first_scope + users[i];
        if (analysis_.scopes[scope].state != WorkState::kCompleted) continue;
        if (++tried > kMostTried || analysis_.fault_users.size() == kMostFaultUsers) return;
        Tell(index, scope);
      }
    }
  }

 private:
  // A submission that is not known counts as the first.
  uint32_t OrderOf(uint32_t execution) const {
    return analysis_.executions[execution].submission + 1;
  }
  std::vector<uint32_t> LatestFirst() const {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < analysis_.executions.size(); ++i) {
      const Execution& execution = analysis_.executions[i];
      if (execution.state != WorkState::kNotStarted) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      return std::pair(OrderOf(a), a) > std::pair(OrderOf(b), b);
    });
    return order;
  }

  // Returns the works of the execution with a binding that may lead there, as indices into its
  // scopes.
  const std::vector<uint32_t>& UsersOf(const Execution& execution) {
    std::optional<std::vector<uint32_t>>& users = users_[execution.recording];
    if (users) return *users;
    users.emplace();
    const Recording& recording = snapshot_.recordings[execution.recording];
    uint32_t next = 0;
    state_.Start();
    for (uint32_t i = 0; i < recording.event_count; ++i) {
      const uint32_t index = recording.first_event + i;
      const Event& event = snapshot_.events[index];
      if (next < execution.scope_count &&
          analysis_.scopes[execution.first_scope + next].event == index) {
        const Scope& scope = analysis_.scopes[execution.first_scope + next];
        if (!scope.has_children && ClassOfScope(snapshot_, scope) != WorkClass::kNoWork &&
            state_.IsUsedBy(event)) {
          users->push_back(next);
        }
        ++next;
      }
      state_.OnEvent(recording.first_event, event);
    }
    return *users;
  }

  void Tell(uint32_t execution_index, uint32_t scope) {
    const Execution& execution = analysis_.executions[execution_index];
    FaultUser user;
    user.execution = execution_index;
    user.scope = scope;
    const size_t first = analysis_.bindings.size();
    resolver_.FindBindings(analysis_.scopes[scope], execution, &analysis_.bindings);
    for (size_t i = first; i < analysis_.bindings.size(); ++i) {
      const Binding& binding = analysis_.bindings[i];
      if (!place_.Has(binding)) continue;
      const bool destroyed = binding.state == BindingState::kDestroyed;
      if (user.binding == kNone || destroyed) user.binding = static_cast<uint32_t>(i);
      if (destroyed) break;
    }
    if (user.binding == kNone) return analysis_.bindings.resize(first);
    user.verdict = VerdictOfExecution(snapshot_, analysis_, execution);
    analysis_.fault_users.push_back(user);
  }

  const Snapshot& snapshot_;
  const FaultPlace& place_;
  BindingResolver& resolver_;
  BoundState state_;
  Analysis& analysis_;
  std::vector<std::optional<std::vector<uint32_t>>> users_;  // by recording
};

}  // namespace

void FindFaultUsers(const Snapshot& snapshot, const FaultAddresses& addresses, Analysis* analysis) {
  const FaultPlace place(snapshot, addresses);
  if (place.empty()) return;
  BindingResolver resolver(snapshot);
  FaultUserFinder(snapshot, place, resolver, analysis).Run();
}

}  // namespace cairn
