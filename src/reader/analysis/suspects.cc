// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/suspects.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "format/block/marker_kinds.h"
#include "reader/analysis/ties.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

// The evidence of raw markers about a scope; the smaller value counts where executions share it.
enum class RawWord : uint8_t { kLikely, kPossible, kNone, kClear };

// A suspect with what places it.
struct Ranked {
  SuspectWork suspect;
  bool late = false;
  bool by_lost_store = false;  // by its raw markers it had not started
  RawWord raw = RawWord::kNone;
  WorkClass work = WorkClass::kOther;
  QueueWeight weight;
  uint32_t queue_order =
      0;  // of queues with equal weights: whose unfinished work was submitted first
  bool tells_finished = false;  // the mode of its device
  bool reached = false;         // its begin was written
  bool at_front = false;        // not before the last event that its queue is known to have reached
  bool leads = false;           // the first of its queue and class
  uint32_t position = 0;        // in the order of its queue; of works that tie, by their scores
  // Works that no barrier separates, and all of which the GPU has reached: they run together, and the first has
  // run for longest. kNone: nothing such is known.
  uint32_t group = kNone;
  uint32_t tie = kNone;  // those of one number tie
  TieScore score;

  // Smaller is likelier. Before it is known who leads, and without bindings, with false.
  auto Key(bool with_bindings) const {
    const bool harmless = with_bindings && !leads && suspect.binding == kNone;
    const bool backwards = !tells_finished && (!at_front || group != kNone);
    const bool follows = with_bindings && !leads;
    return std::tuple(work == WorkClass::kNoWork, weight, raw, work, follows, queue_order,
                      suspect.verdict, harmless, backwards,
                      backwards ? kNone - (group == kNone ? position : group) : position, position);
  }
  // Returns true if nothing but their order separates the two: they tie with equal scores, their
  // mode shows finished work, the front end may stand at both, no barrier is between them, or each
  // is the likeliest of its queue and nothing separates the queues.
  bool AsLikelyAs(const Ranked& other) const {
    if (std::tuple(work, weight, raw, late) !=
        std::tuple(other.work, other.weight, other.raw, other.late)) {
      return false;
    }
    if (suspect.verdict != other.suspect.verdict) {
      return (leads || tells_finished) && (other.leads || other.tells_finished);
    }
    const bool ties = tie != kNone && tie == other.tie;
    if (ties && score != other.score) return false;
    return ties || tells_finished || (at_front && other.at_front) ||
           (group != kNone && group == other.group);
  }
};

class SuspectRanker {
 public:
  SuspectRanker(const Snapshot& snapshot, const Analysis& analysis,
                std::span<const RawMarkerVerdict> raw_verdicts,
                std::span<const QueueWeight> weights, uint32_t device)
      : snapshot_(snapshot),
        analysis_(analysis),
        raw_verdicts_(raw_verdicts),
        weights_(weights),
        device_(device) {}

  void Run(CulpritFinding* finding) {
    ReadRawMarkers();
    Reserve();
    for (uint32_t i = 0; i < analysis_.verdicts.size(); ++i) {
      if (IsShown(analysis_.verdicts[i].device)) CollectOfQueue(i);
    }
    CollectOfRawMarkers();
    Place();
    std::sort(ranked_.begin(), ranked_.end(),
              [](const Ranked& a, const Ranked& b) { return a.Key(false) < b.Key(false); });
    FindLeaders();
    std::sort(ranked_.begin(), ranked_.end(),
              [](const Ranked& a, const Ranked& b) { return a.Key(true) < b.Key(true); });
    finding->certainty = HowSure();
    finding->tied = CountTied();
    finding->suspects.reserve(analysis_.fault_users.size() + ranked_.size());
    AddFaultUsers(finding);
    for (Ranked& ranked : ranked_) {
      ranked.suspect.reason = finding->certainty == Certainty::kProven
                                  ? SuspectReason::kOnlyWorkRunning
                                  : ReasonOf(ranked);
      finding->suspects.push_back(ranked.suspect);
    }
  }

 private:
  bool IsShown(uint32_t device) const { return device_ == kNone || device == device_; }
  bool IsDestroyed(const FaultUser& user) const {
    return analysis_.bindings[user.binding].state == BindingState::kDestroyed;
  }

  // Puts these users before all other suspects: those of destroyed objects, then those of living
  // ones. The latest of each first.
  void AddFaultUsers(CulpritFinding* finding) const {
    const std::vector<FaultUser>& users = analysis_.fault_users;
    size_t destroyed = 0;
    for (const bool of_destroyed : {true, false}) {
      for (const FaultUser& user : users) {
        if (IsDestroyed(user) != of_destroyed || !IsShown(analysis_.verdicts[user.verdict].device))
          continue;
        finding->suspects.push_back({user.verdict, user.execution, user.scope, kNone,
                                     SuspectReason::kLeadsToFault, user.binding});
      }
      if (of_destroyed) destroyed = finding->suspects.size();
    }
    const size_t count = finding->suspects.size();
    if (count == 0) return;
    const size_t alike = destroyed == 0 ? count : destroyed;
    finding->certainty = alike == 1 ? Certainty::kLikely : Certainty::kOneOf;
    finding->tied = static_cast<uint32_t>(alike);
  }
  bool IsFaultUser(uint32_t execution, uint32_t scope) const {
    return std::any_of(
        analysis_.fault_users.begin(), analysis_.fault_users.end(),
        [&](const FaultUser& user) { return user.execution == execution && user.scope == scope; });
  }

  const Recording& RecordingOf(const SuspectWork& suspect) const {
    return snapshot_.recordings[analysis_.executions[suspect.execution].recording];
  }
  static bool MayRun(WorkState state) {
    return state == WorkState::kInFlight || state == WorkState::kUnknown;
  }

  void ReadRawMarkers() {
    if (raw_verdicts_.empty()) return;
    raw_of_scope_.assign(analysis_.scopes.size(), RawWord::kNone);
    by_lost_store_.assign(analysis_.scopes.size(), false);
    has_raw_parts_.assign(analysis_.executions.size(), false);
    std::vector<bool> read(analysis_.scopes.size());
    for (const RawMarkerVerdict& verdict : raw_verdicts_) {
      for (const RawMarkerWork& work : verdict.works) {
        ++raw_work_count_;
        RawWord word = RawWord::kClear;
        if (work.state == WorkState::kInFlight || !verdict.consistent) {
          word = work.likely ? RawWord::kLikely : RawWord::kPossible;
        }
        if (work.scope != kNone) {
          RawWord& known = raw_of_scope_[work.scope];
          known = read[work.scope] ? std::min(known, word) : word;
          read[work.scope] = true;
          by_lost_store_[work.scope] = work.by_lost_store && work.likely;
        } else if (word != RawWord::kClear) {
          has_raw_parts_[work.execution] = true;
        }
      }
    }
  }

  void Reserve() {
    size_t count = raw_work_count_;
    for (const QueueVerdict& verdict : analysis_.verdicts) {
      count += verdict.candidates.size() + verdict.list_candidates.size() + 1;
    }
    ranked_.reserve(count);
    for (const QueueVerdict& verdict : analysis_.verdicts) {
      queue_orders_.push_back(FirstUnfinished(analysis_, verdict));
    }
    if (!raw_verdicts_.empty()) collected_.assign(analysis_.scopes.size(), false);
  }

  Ranked& Add(uint32_t verdict, uint32_t execution, uint32_t scope) {
    Ranked& ranked = ranked_.emplace_back();
    ranked.suspect.verdict = verdict;
    ranked.suspect.execution = execution;
    ranked.suspect.scope = scope;
    ranked.weight = weights_[verdict];
    ranked.queue_order = queue_orders_[verdict];
    const uint32_t device = analysis_.verdicts[verdict].device;
    ranked.tells_finished = device == kNone || WritesAllEnds(snapshot_.devices[device].mode);
    if (scope == kNone) return ranked;
    ranked.work = ClassOfScope(snapshot_, analysis_.scopes[scope]);
    if (raw_verdicts_.empty()) return ranked;
    ranked.raw = raw_of_scope_[scope];
    ranked.by_lost_store = by_lost_store_[scope];
    collected_[scope] = true;
    return ranked;
  }

  void CollectOfQueue(uint32_t index) {
    const QueueVerdict& verdict = analysis_.verdicts[index];
    auto context = verdict.contexts.begin();
    for (uint32_t i = 0; i < verdict.candidates.size(); ++i) {
      Ranked& ranked = Add(index, verdict.candidate_executions[i], verdict.candidates[i]);
      if (context == verdict.contexts.end() || context->candidate != i) continue;
      ranked.suspect.binding = WorstBinding(*context++);
    }
    for (const uint32_t execution : verdict.list_candidates) {
      // The execution's parts are added one by one.
      if (!has_raw_parts_.empty() && has_raw_parts_[execution]) continue;
      Add(index, execution, kNone);
    }
    if (verdict.late_suspect == kNone ||
        IsFaultUser(verdict.late_suspect_execution, verdict.late_suspect)) {
      return;
    }
    Ranked& late = Add(index, verdict.late_suspect_execution, verdict.late_suspect);
    late.late = true;
    if (!verdict.late_by_barrier) late.weight = {.evidence = QueueEvidence::kDriver};
  }

  // Returns the worst binding: a destroyed one before an unknown one.
  uint32_t WorstBinding(const CandidateContext& context) const {
    uint32_t unknown = kNone;
    for (uint32_t i = 0; i < context.binding_count; ++i) {
      const uint32_t index = context.first_binding + i;
      const BindingState state = analysis_.bindings[index].state;
      if (state == BindingState::kDestroyed || state == BindingState::kReplaced) return index;
      if (state == BindingState::kUnknown && unknown == kNone) unknown = index;
    }
    return unknown;
  }

  // Adds works that the raw markers leave open and that no candidate covers: all works in mode off.
  void CollectOfRawMarkers() {
    for (const RawMarkerVerdict& raw : raw_verdicts_) {
      if (!IsShown(raw.device)) continue;
      const auto verdict = std::find_if(
          analysis_.verdicts.begin(), analysis_.verdicts.end(), [&raw](const QueueVerdict& other) {
            return other.queue == raw.queue && other.device == raw.device;
          });
      if (verdict == analysis_.verdicts.end()) continue;
      const uint32_t index = static_cast<uint32_t>(verdict - analysis_.verdicts.begin());
      for (const RawMarkerWork& work : raw.works) CollectRawWork(index, work);
    }
  }

  void CollectRawWork(uint32_t verdict, const RawMarkerWork& work) {
    if (work.state != WorkState::kInFlight) return;
    // Only the first of the works whose markers may have been lost is a suspect: the rest of the
    // queue is behind it.
    if (work.by_lost_store && !work.likely) return;
    if (work.scope != kNone) {
      const bool may_run = work.by_lost_store || MayRun(analysis_.scopes[work.scope].state);
      if (may_run && !collected_[work.scope]) Add(verdict, work.execution, work.scope);
      return;
    }
    if (!work.by_lost_store && !MayRun(analysis_.executions[work.execution].state)) return;
    Ranked& ranked = Add(verdict, work.execution, kNone);
    ranked.suspect.after_marker = work.after_marker;
    ranked.raw = work.likely ? RawWord::kLikely : RawWord::kPossible;
    ranked.by_lost_store = work.by_lost_store;
  }

  // Positions in the order of the queue, and what of it was reached.
  void Place() {
    const auto order = [this](const Ranked& ranked) {
      const SuspectWork& suspect = ranked.suspect;
      return std::tuple(
          suspect.verdict, analysis_.executions[suspect.execution].submission, suspect.execution,
          suspect.scope == kNone ? 0 : analysis_.scopes[suspect.scope].event, suspect.after_marker);
    };
    std::sort(ranked_.begin(), ranked_.end(),
              [&order](const Ranked& a, const Ranked& b) { return order(a) < order(b); });
    for (uint32_t i = 0; i < ranked_.size(); ++i) {
      ranked_[i].position = i;
      ranked_[i].reached = IsReached(ranked_[i].suspect);
    }
    for (size_t begin = 0; begin < ranked_.size();) {
      size_t end = begin + 1;
      while (end < ranked_.size() &&
             ranked_[end].suspect.verdict == ranked_[begin].suspect.verdict) {
        ++end;
      }
      FindFront(std::span(ranked_).subspan(begin, end - begin));
      FindGroups(std::span(ranked_).subspan(begin, end - begin));
      begin = end;
    }
    for (size_t begin = 0; begin < ranked_.size();) {
      size_t end = begin + 1;
      while (end < ranked_.size() && Tie(ranked_[end - 1], ranked_[end])) ++end;
      if (end - begin > 1) OrderTied(std::span(ranked_).subspan(begin, end - begin));
      begin = end;
    }
  }

  // Returns true if the GPU writes nothing at the begin of the first suspect, and nothing from there to the begin of
  // the second, which follows it. The last suspect that the GPU reached may write at its begin: behind that write the
  // GPU is in it, or in work that follows without a write.
  bool Tie(const Ranked& a, const Ranked& b) const {
    const SuspectWork& first = a.suspect;
    const SuspectWork& second = b.suspect;
    if (first.scope == kNone || second.scope == kNone || first.execution != second.execution ||
        first.verdict != second.verdict || a.raw != RawWord::kNone || b.raw != RawWord::kNone ||
        a.late || b.late || a.at_front != b.at_front || a.group != b.group) {
      return false;
    }
    const bool is_last_reached = a.reached && !b.reached && a.at_front && a.work == b.work;
    if (a.reached != b.reached && !is_last_reached) return false;
    const uint32_t device = analysis_.verdicts[first.verdict].device;
    const uint32_t begin = analysis_.scopes[first.scope].event;
    return device != kNone && snapshot_.devices[device].mode != MarkerMode::kOff &&
           (is_last_reached || (snapshot_.events[begin].flags & kEventWritesTop) == 0) &&
           !IsWrittenBetween(snapshot_, begin, analysis_.scopes[second.scope].event);
  }

  // Orders the works of each class by their scores, the likeliest first, and notes which of them
  // tie.
  void OrderTied(std::span<Ranked> tied) {
    if (!scorer_) scorer_.emplace(snapshot_);
    std::vector<uint32_t> positions;
    std::vector<Ranked*> order;
    for (Ranked& ranked : tied) {
      positions.push_back(ranked.position);
      order.push_back(&ranked);
      ranked.score = scorer_->Of(analysis_.scopes[ranked.suspect.scope].event);
    }
    std::stable_sort(order.begin(), order.end(), [](const Ranked* a, const Ranked* b) {
      return a->work != b->work ? a->work < b->work : a->score < b->score;
    });
    // Same order as Key: the first of a group comes first.
    if (!tied.front().tells_finished && !tied.front().at_front && tied.front().group == kNone) {
      std::reverse(positions.begin(), positions.end());
    }
    const SuspectWork& first = tied.front().suspect;
    const bool in_pass = IsInRenderPass(snapshot_, RecordingOf(first).first_event,
                                        analysis_.scopes[first.scope].event);
    for (size_t begin = 0; begin < order.size();) {
      size_t end = begin;
      while (end < order.size() && order[end]->work == order[begin]->work) ++end;
      for (size_t i = begin; i < end; ++i) {
        Ranked& ranked = *order[i];
        ranked.position = positions[i];
        if (ranked.work == WorkClass::kNoWork || end - begin == 1) continue;
        ranked.tie = positions[begin];
        ranked.suspect.tied_count = static_cast<uint32_t>(end - begin);
        ranked.suspect.tied_in_pass = in_pass;
        ranked.suspect.tie_evidence = TieScorer::Between(ranked.score, order[end - 1]->score);
      }
      begin = end;
    }
  }

  uint32_t LastEvent(const SuspectWork& suspect) const {
    const Recording& recording = RecordingOf(suspect);
    return std::min(std::max(recording.reached, recording.passed), recording.event_count);
  }
  uint32_t BeginOf(const SuspectWork& suspect) const {
    if (suspect.scope == kNone) return 1;
    return analysis_.scopes[suspect.scope].event - RecordingOf(suspect).first_event + 1;
  }
  bool IsReached(const SuspectWork& suspect) const {
    return suspect.scope != kNone && BeginOf(suspect) <= LastEvent(suspect);
  }

  // The front end stands at the last event that was written, or behind it where nothing is written.
  void FindFront(std::span<Ranked> of_queue) const {
    size_t front = of_queue.size();
    for (size_t i = 0; i < of_queue.size(); ++i) {
      if (LastEvent(of_queue[i].suspect) != 0) front = i;
    }
    for (size_t i = 0; i < of_queue.size(); ++i) {
      if (front == of_queue.size()) {
        of_queue[i].at_front = true;
        continue;
      }
      const SuspectWork& suspect = of_queue[i].suspect;
      of_queue[i].at_front = suspect.execution == of_queue[front].suspect.execution
                                 ? BeginOf(suspect) >= LastEvent(suspect)
                                 : i > front;
    }
  }

  // Finds dispatches that run together, in modes that write no ends. In a larger group the first
  // ones have long finished when the last are reached, as with draws.
  void FindGroups(std::span<Ranked> of_queue) const {
    constexpr size_t kMostTogether = 8;
    if (of_queue.front().tells_finished) return;
    for (size_t begin = 0; begin < of_queue.size();) {
      const Ranked* last = nullptr;
      size_t count = 0;
      size_t next = begin;
      for (; next < of_queue.size(); ++next) {
        if (of_queue[next].work == WorkClass::kNoWork && !IsBarrierScope(of_queue[next])) continue;
        if (!IsReachedDispatch(of_queue[next])) break;
        if (last != nullptr && !RunsBeside(*last, of_queue[next])) break;
        last = &of_queue[next];
        ++count;
      }
      if (count > 1 && count <= kMostTogether && EndsAtBarrier(*last)) {
        for (size_t i = begin; i < next; ++i) {
          if (of_queue[i].work != WorkClass::kNoWork) of_queue[i].group = last->position;
        }
      }
      begin = std::max(next, begin + 1);
    }
  }

  uint32_t TypeOf(const Ranked& ranked) const {
    return snapshot_.events[analysis_.scopes[ranked.suspect.scope].event].type;
  }
  bool IsBarrierScope(const Ranked& ranked) const {
    return ranked.suspect.scope != kNone && IsBarrier(TypeOf(ranked));
  }
  bool IsReachedDispatch(const Ranked& ranked) const {
    return ranked.suspect.scope != kNone && ranked.reached && IsDispatch(TypeOf(ranked));
  }
  // Returns true if both are in one list, with no barrier and no other work between them.
  bool RunsBeside(const Ranked& first, const Ranked& second) const {
    if (first.suspect.execution != second.suspect.execution) return false;
    const uint32_t end = analysis_.scopes[second.suspect.scope].event;
    for (uint32_t event = analysis_.scopes[first.suspect.scope].event + 1; event < end; ++event) {
      if (IsWorkOrBarrier(snapshot_.events[event])) return false;
    }
    return true;
  }
  static bool IsWorkOrBarrier(const Event& event) {
    return event.kind == EventKind::kBegin &&
           (IsBarrier(event.type) || ClassOfType(event.type) != WorkClass::kNoWork);
  }
  // The next that is recorded behind it is a barrier, or other work than a dispatch, or the end of a list that has
  // barriers: more dispatches cannot have been asked for beside it.
  bool EndsAtBarrier(const Ranked& last) const {
    const Recording& recording = RecordingOf(last.suspect);
    const uint32_t end = recording.first_event + recording.event_count;
    uint32_t event = analysis_.scopes[last.suspect.scope].event + 1;
    while (event < end && !IsWorkOrBarrier(snapshot_.events[event])) ++event;
    if (event < end) return !IsDispatch(snapshot_.events[event].type);
    return std::any_of(snapshot_.events.begin() + recording.first_event,
                       snapshot_.events.begin() + end, [](const Event& known) {
                         return known.kind == EventKind::kBegin && IsBarrier(known.type);
                       });
  }

  void FindLeaders() {
    const Ranked* before = nullptr;
    for (Ranked& ranked : ranked_) {
      ranked.leads = before == nullptr || before->suspect.verdict != ranked.suspect.verdict ||
                     before->work != ranked.work || before->raw != ranked.raw;
      before = &ranked;
    }
  }

  Certainty HowSure() const {
    const auto shown_unknown = [this](const QueueVerdict& verdict) {
      return IsShown(verdict.device) && verdict.unknown;
    };
    const bool unknown =
        std::any_of(analysis_.verdicts.begin(), analysis_.verdicts.end(), shown_unknown);
    const bool nothing_told =
        std::none_of(analysis_.verdicts.begin(), analysis_.verdicts.end(),
                     [this](const QueueVerdict& verdict) { return IsShown(verdict.device); });
    if (ranked_.empty()) {
      return unknown || nothing_told ? Certainty::kUnknown : Certainty::kNothingRunning;
    }
    const Ranked& first = ranked_.front();
    if (first.weight.evidence == QueueEvidence::kEndUnseen &&
        std::all_of(ranked_.begin(), ranked_.end(), [](const Ranked& ranked) {
          return ranked.weight.evidence == QueueEvidence::kEndUnseen;
        })) {
      return Certainty::kUnknown;
    }
    if (ranked_.size() == 1) {
      const QueueVerdict& verdict = analysis_.verdicts[first.suspect.verdict];
      // A barrier waits for work whose end was written too early, or that has no marker.
      const bool proven = verdict.exact && !first.late && first.raw != RawWord::kClear &&
                          !unknown && !IsBarrierScope(first);
      return proven ? Certainty::kProven : Certainty::kLikely;
    }
    return first.AsLikelyAs(ranked_[1]) ? Certainty::kOneOf : Certainty::kLikely;
  }

  uint32_t CountTied() const {
    const auto differs = std::find_if(ranked_.begin(), ranked_.end(), [this](const Ranked& ranked) {
      return &ranked != &ranked_.front() && !ranked_.front().AsLikelyAs(ranked);
    });
    return static_cast<uint32_t>(differs - ranked_.begin());
  }

  SuspectReason ReasonOf(const Ranked& ranked) const {
    if (ranked.late) {
      return analysis_.verdicts[ranked.suspect.verdict].late_by_barrier
                 ? SuspectReason::kBarrierBehind
                 : SuspectReason::kFinishedByItsWord;
    }
    if (ranked.raw == RawWord::kClear) return SuspectReason::kRawMarkersClear;
    if (ranked.work == WorkClass::kNoWork) return SuspectReason::kRunsNothing;
    if (ranked.weight.evidence == QueueEvidence::kHeldBack) return SuspectReason::kHeldBack;
    if (ranked.weight.evidence == QueueEvidence::kEndUnseen) return SuspectReason::kEndUnseen;
    if (ranked.by_lost_store) return SuspectReason::kRawMarkerLost;
    if (ranked.suspect.after_marker != kNone) return SuspectReason::kRawMarkers;
    if (ranked.raw == RawWord::kLikely) return SuspectReason::kRawMarkers;
    if (ranked.suspect.scope == kNone) return SuspectReason::kOutsideOfMarkers;
    if (ranked.tie != kNone) return SuspectReason::kTied;
    if (!ranked.reached) return SuspectReason::kMayHaveBegun;
    if (ranked.tells_finished) {
      return ranked.leads ? SuspectReason::kFirstUnfinished : SuspectReason::kUnfinished;
    }
    if (ranked.group != kNone) return SuspectReason::kReachedTogether;
    return ranked.leads ? SuspectReason::kLastReached : SuspectReason::kReached;
  }

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  std::span<const RawMarkerVerdict> raw_verdicts_;
  std::span<const QueueWeight> weights_;
  std::vector<uint32_t> queue_orders_;  // by verdict: FirstUnfinished
  uint32_t device_;
  std::vector<Ranked> ranked_;
  std::optional<TieScorer> scorer_;  // once it was needed
  // Empty without raw markers.
  std::vector<RawWord> raw_of_scope_;
  std::vector<bool> by_lost_store_;
  std::vector<bool> has_raw_parts_;  // by execution
  std::vector<bool> collected_;      // by scope
  size_t raw_work_count_ = 0;
};

}  // namespace

void RankSuspects(const Snapshot& snapshot, const Analysis& analysis,
                  std::span<const RawMarkerVerdict> raw_verdicts,
                  std::span<const QueueWeight> weights, uint32_t device, CulpritFinding* finding) {
  SuspectRanker(snapshot, analysis, raw_verdicts, weights, device).Run(finding);
}

}  // namespace cairn
