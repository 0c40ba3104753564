// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/scope_tree.h"

#include <algorithm>
#include <span>

#include "cairn/marker_types.h"

#include "format/block/marker_kinds.h"
#include "format/block/raw_marker_binds.h"

namespace cairn {
namespace {

bool BindsRawMarker(const Event& bind) {
  return bind.type == static_cast<uint16_t>(kBindRawMarkerTop) ||
         bind.type == static_cast<uint16_t>(kBindRawMarkerBottom);
}

// Builds one recording's scopes with their states in one pass over its events. The chain of parents is the stack of
// open scopes, so that nesting of any depth needs neither recursion nor memory of its own.
class TreeBuilder {
 public:
  TreeBuilder(const Snapshot& snapshot, const Recording& recording, const Evidence& evidence,
              OrdinalCounter* ordinals, Analysis* analysis)
      : events_(snapshot.events.data() + recording.first_event),
        first_event_(recording.first_event),
        event_count_(recording.event_count),
        first_scope_(static_cast<uint32_t>(analysis->scopes.size())),
        evidence_(evidence),
        ordinals_(*ordinals),
        analysis_(*analysis),
        scopes_(analysis->scopes) {}

  AppendedScopes Build() {
    ordinals_.StartRecording(event_count_);
    for (uint32_t sequence = 1; sequence <= event_count_; ++sequence) {
      const Event& event = events_[sequence - 1];
      switch (event.kind) {
        case EventKind::kBegin: Begin(sequence, event); break;
        case EventKind::kEnd: End(sequence, event); break;
        case EventKind::kBind: analysis_.has_raw_markers |= BindsRawMarker(event); break;
      }
    }
    while (open_ != kNone) Close(event_count_ + 1, true);
    return {static_cast<uint32_t>(scopes_.size()) - first_scope_, all_completed_};
  }

 private:
  static constexpr uint32_t kStillOpen = 0;

  void Begin(uint32_t sequence, const Event& event) {
    const uint32_t index = static_cast<uint32_t>(scopes_.size());
    Scope scope;
    scope.event = first_event_ + sequence - 1;
    scope.end_sequence = kStillOpen;
    scope.parent = open_;
    scope.type = event.type;
    if (open_ != kNone) {
      Scope& parent = scopes_[open_];
      scope.depth = parent.depth + 1;
      parent.has_children = true;
    }
    // Passes are distinguished by name; without a name, by their number.
    if (event.type != CAIRN_MARKER_PASS || event.name.empty()) {
      scope.ordinal = ordinals_.Add(scopes_.data() + first_scope_, index - first_scope_,
                                    open_ == kNone ? 0 : open_ - first_scope_ + 1, event.type);
    } else {
      ordinals_.AddUnnumbered(index - first_scope_);
    }
    scopes_.push_back(scope);
    open_ = index;
  }

  void End(uint32_t sequence, const Event& event) {
    const uint32_t target = FindOpen(event.match);
    if (target == kNone) return;
    while (open_ != target) Close(sequence, true);
    Close(sequence, false);
  }

  // The open scope whose begin has sequence number `begin`, or kNone.
  uint32_t FindOpen(uint32_t begin) const {
    if (open_ == kNone || begin == 0 || begin > event_count_) return kNone;
    const uint32_t event = first_event_ + begin - 1;
    if (scopes_[open_].event == event) return open_;  // Always, in a well-formed recording.
    const auto found =
        std::lower_bound(scopes_.begin() + first_scope_, scopes_.end(), event,
                         [](const Scope& scope, uint32_t wanted) { return scope.event < wanted; });
    if (found == scopes_.end() || found->event != event || found->end_sequence != kStillOpen) {
      return kNone;
    }
    return static_cast<uint32_t>(found - scopes_.begin());
  }

  void Close(uint32_t end_sequence, bool left_open) {
    Scope& scope = scopes_[open_];
    scope.end_sequence = end_sequence;
    scope.left_open = left_open;
    scope.subtree_size = static_cast<uint32_t>(scopes_.size()) - open_;
    scope.state = ScopeState(scope.type, scope.event - first_event_ + 1, end_sequence, evidence_);
    all_completed_ &= scope.state == WorkState::kCompleted;
    open_ = scope.parent;
  }

  const Event* events_;
  uint32_t first_event_;
  uint32_t event_count_;
  uint32_t first_scope_;
  const Evidence evidence_;
  OrdinalCounter& ordinals_;
  Analysis& analysis_;
  std::vector<Scope>& scopes_;
  uint32_t open_ = kNone;  // innermost open scope
  bool all_completed_ = true;
};

// More kinds of siblings only hostile lists have; they are counted as far as this.
constexpr uint32_t kMostKinds = 256;

}  // namespace

WorkState ScopeState(uint32_t type, uint32_t begin_sequence, uint32_t end_sequence,
                     const Evidence& evidence) {
  if (evidence.passed >= end_sequence) return WorkState::kCompleted;
  if (evidence.passed_dispatches >= end_sequence && IsDispatch(type)) return WorkState::kCompleted;
  if (evidence.passed_draws >= end_sequence && IsDraw(type)) return WorkState::kCompleted;
  if (begin_sequence >= evidence.unreached) return WorkState::kNotStarted;
  return WorkState::kInFlight;
}

AppendedScopes AppendScopes(const Snapshot& snapshot, const Recording& recording,
                            const Evidence& evidence, OrdinalCounter* ordinals,
                            Analysis* analysis) {
  return TreeBuilder(snapshot, recording, evidence, ordinals, analysis).Build();
}

// Takes the latest sibling of this type from the list that begins at `*link`.
uint32_t OrdinalCounter::TakeOfOtherKind(const Scope* scopes, uint32_t* link, uint16_t type) {
  for (uint32_t kinds = 0; *link != kNone && kinds < kMostKinds; ++kinds) {
    const Scope& before = scopes[*link];
    uint32_t* const next = &links_[*link + 1].other_kind;
    if (before.type == type) {
      *link = *next;
      return before.ordinal + 1;
    }
    link = next;
  }
  return 1;
}

void AppendCopy(uint32_t first, uint32_t count, std::vector<Scope>* scopes) {
  const uint32_t shift = static_cast<uint32_t>(scopes->size()) - first;
  scopes->resize(scopes->size() + count);
  for (uint32_t i = first; i < first + count; ++i) {
    Scope scope = (*scopes)[i];
    if (scope.parent != kNone) scope.parent += shift;
    (*scopes)[i + shift] = scope;
  }
}

bool SetScopeStates(const Recording& recording, uint32_t first, uint32_t count,
                    const Evidence& evidence, std::vector<Scope>* scopes) {
  bool all_completed = true;
  for (Scope& scope : std::span(*scopes).subspan(first, count)) {
    scope.state = ScopeState(scope.type, scope.event - recording.first_event + 1,
                             scope.end_sequence, evidence);
    all_completed &= scope.state == WorkState::kCompleted;
  }
  return all_completed;
}

}  // namespace cairn
