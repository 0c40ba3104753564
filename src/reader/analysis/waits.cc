// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/waits.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace cairn {
namespace {

// A semaphore or fence. `history` holds what its value became, rising, and by which signal.
struct Timeline {
  std::vector<std::pair<uint64_t, uint32_t>> history;
  std::vector<std::pair<uint64_t, uint32_t>>
      told;  // the largest value told so far, by which signal
  // Queues that wait for a value in the play, as a heap: the smallest first.
  std::vector<std::pair<uint64_t, uint32_t>> blocked;
};

class WaitFinder {
 public:
  WaitFinder(const Snapshot& snapshot, const Analysis& analysis)
      : snapshot_(snapshot), syncs_(snapshot.syncs) {
    progress_ = FindSubmissionProgress(snapshot, analysis);
    is_truncated_ = !syncs_.empty() && syncs_.front().serial != 1;
  }

  WaitGraph Run() {
    if (syncs_.empty() && progress_.empty()) return {};
    FindTimelines();
    PairBinary();
    OrderOperations();
    Play();
    CollectWaits();
    FindCycles();
    graph_.progress = std::move(progress_);
    return std::move(graph_);
  }

 private:
  // The position of an operation on its queue.
  struct Operation {
    uint64_t number;
    uint32_t phase;
    uint32_t sync;
  };
  // An edge from a queue that is stuck to one that would have to signal.
  struct Edge {
    uint32_t wait;  // into WaitGraph::waits
    uint32_t signaller;
  };
  enum class Visit : uint8_t { kNo, kOnPath, kDone };
  static constexpr uint32_t kBeforeWork = 0;
  static constexpr uint32_t kAfterWork = 1;
  static constexpr uint32_t kBehindSubmission = 2;

  bool IsVulkan(const Sync& sync) const {
    return sync.device == kNone || snapshot_.devices[sync.device].api != Api::kD3D12;
  }
  static bool IsBinary(const Sync& sync) { return (sync.flags & (kSyncBinary | kSyncFence)) != 0; }
  bool IsBehindSubmission(const Sync& sync) const {
    return !IsVulkan(sync) || (sync.flags & kSyncPresent) != 0;
  }
  // The submissions that have to finish before a queue comes by.
  uint64_t WorkBefore(const Operation& operation) const {
    if (operation.phase != kBeforeWork) return operation.number;
    return operation.number == 0 ? 0 : operation.number - 1;
  }

  void FindTimelines();
  void PairBinary();
  void OrderOperations();
  void Play();
  void PlayQueue(uint32_t queue, bool work_finishes);
  uint64_t WorkDone(uint32_t queue) const;
  void NoteFinished();
  void Block(uint32_t queue, uint32_t wait);
  void PlaySignal(uint32_t sync);
  bool IsSatisfied(uint32_t sync) const;
  uint32_t SignalOf(uint32_t wait) const;
  WaitState StateOf(uint32_t wait) const;
  void CollectWaits();
  void CollectQueue(uint32_t queue);
  void CollectCpu();
  void FindCycles();
  std::vector<uint32_t> WaitsOfStuckQueue(const QueueWaits& queue) const;
  void FindCyclesFrom(uint32_t start, std::vector<Visit>* visits);
  void AddCycle(const std::vector<uint32_t>& cycle);

  const Snapshot& snapshot_;
  const std::vector<Sync>& syncs_;
  std::vector<SubmissionProgress> progress_;
  bool is_truncated_ = false;          // the ring has lost what was told first
  std::vector<uint32_t> timeline_of_;  // by sync
  std::vector<Timeline> timelines_;
  std::vector<uint32_t> pair_;  // by sync: of a binary wait its signal, and the other way round
  std::vector<bool> came_;      // by sync: signals that were played
  std::vector<bool>
      has_come_;  // by sync: waits that were satisfied before unfinished work was played
  std::vector<std::vector<Operation>> operations_;  // by queue
  std::vector<size_t> next_;                        // by queue, into its operations
  std::vector<std::vector<uint32_t>> blocked_;  // by sync, a binary signal: queues that wait for it
  std::deque<uint32_t> awake_;
  std::vector<std::vector<Edge>> edges_;  // by queue
  WaitGraph graph_;
};

void WaitFinder::FindTimelines() {
  std::map<std::tuple<uint32_t, uint64_t, uint32_t>, uint32_t> known;
  timeline_of_.resize(syncs_.size());
  for (uint32_t i = 0; i < syncs_.size(); ++i) {
    const Sync& sync = syncs_[i];
    // A fence may have the number of a semaphore.
    const auto [found, is_new] =
        known.try_emplace({sync.object == kNone ? sync.device : sync.object, sync.native_handle,
                           (sync.object == kNone ? 1u : 0u) | (sync.flags & kSyncFence)},
                          static_cast<uint32_t>(timelines_.size()));
    if (is_new) timelines_.emplace_back();
    timeline_of_[i] = found->second;
    if (sync.kind != SyncKind::kSignal || IsBinary(sync)) continue;
    auto& told = timelines_[found->second].told;
    if (told.empty() || told.back().first < sync.value) told.emplace_back(sync.value, i);
  }
}

// A binary semaphore is waited for once after each signal; a fence as often as one likes.
void WaitFinder::PairBinary() {
  pair_.assign(syncs_.size(), kNone);
  std::vector<std::deque<uint32_t>> unpaired(timelines_.size());  // of one kind at a time
  std::vector<uint32_t> last_fence_signal(timelines_.size(), kNone);
  for (uint32_t i = 0; i < syncs_.size(); ++i) {
    const Sync& sync = syncs_[i];
    if (!IsBinary(sync)) continue;
    if ((sync.flags & kSyncFence) != 0) {
      uint32_t& last = last_fence_signal[timeline_of_[i]];
      if (sync.kind == SyncKind::kSignal) {
        last = i;
      } else {
        pair_[i] = last;
      }
      continue;
    }
    std::deque<uint32_t>& others = unpaired[timeline_of_[i]];
    if (!others.empty() && syncs_[others.front()].kind != sync.kind) {
      pair_[i] = others.front();
      pair_[others.front()] = i;
      others.pop_front();
    } else if (sync.kind == SyncKind::kSignal || !is_truncated_) {
      // A wait whose signal may have been lost takes no later one.
      others.push_back(i);
    }
  }
}

void WaitFinder::OrderOperations() {
  operations_.resize(snapshot_.queues.size());
  next_.assign(snapshot_.queues.size(), 0);
  for (uint32_t i = 0; i < syncs_.size(); ++i) {
    const Sync& sync = syncs_[i];
    if (sync.queue == kNone) continue;
    uint32_t phase = sync.kind == SyncKind::kWait ? kBeforeWork : kAfterWork;
    if (IsBehindSubmission(sync)) phase = kBehindSubmission;
    operations_[sync.queue].push_back({sync.submission_number, phase, i});
  }
  for (std::vector<Operation>& operations : operations_) {
    std::sort(operations.begin(), operations.end(), [](const Operation& a, const Operation& b) {
      return std::tuple(a.number, a.phase, a.sync) < std::tuple(b.number, b.phase, b.sync);
    });
  }
}

// Plays the operations of the queues and the CPU: first as far as work has finished, which shows
// the signals that have come; then as if all work would finish, which shows those that can still
// come.
void WaitFinder::Play() {
  came_.assign(syncs_.size(), false);
  has_come_.assign(syncs_.size(), false);
  blocked_.resize(syncs_.size());
  for (uint32_t i = 0; i < syncs_.size(); ++i) {
    const Sync& sync = syncs_[i];
    if (sync.queue == kNone && sync.kind == SyncKind::kSignal && (sync.flags & kSyncAcquire) == 0) {
      PlaySignal(i);
    }
  }
  for (const bool work_finishes : {false, true}) {
    if (work_finishes) NoteFinished();
    // All queues are tried anew, so that none is blocked twice.
    for (Timeline& timeline : timelines_) timeline.blocked.clear();
    for (std::vector<uint32_t>& blocked : blocked_) blocked.clear();
    for (uint32_t i = 0; work_finishes && i < syncs_.size(); ++i) {
      const Sync& sync = syncs_[i];
      if (sync.kind == SyncKind::kSignal && (sync.flags & kSyncAcquire) != 0) PlaySignal(i);
    }
    for (uint32_t queue = 0; queue < operations_.size(); ++queue) awake_.push_back(queue);
    while (!awake_.empty()) {
      const uint32_t queue = awake_.front();
      awake_.pop_front();
      PlayQueue(queue, work_finishes);
    }
  }
}

void WaitFinder::PlayQueue(uint32_t queue, bool work_finishes) {
  const std::vector<Operation>& operations = operations_[queue];
  const uint64_t finished = progress_[queue].finished;
  const uint64_t done = WorkDone(queue);
  for (size_t& next = next_[queue]; next < operations.size(); ++next) {
    const Operation& operation = operations[next];
    if (!work_finishes && WorkBefore(operation) > done) return;
    const Sync& sync = syncs_[operation.sync];
    if (sync.kind == SyncKind::kSignal) {
      PlaySignal(operation.sync);
      continue;
    }
    // Work behind it has finished, whatever is known of its signal; a present holds nothing back.
    const bool is_over =
        operation.phase == kBeforeWork ? operation.number <= finished : operation.number < finished;
    if (is_over || (sync.flags & kSyncPresent) != 0 || IsSatisfied(operation.sync)) continue;
    Block(queue, operation.sync);
    return;
  }
}

// The submissions up to which no list is unfinished. A submission without lists is over when its
// waits are satisfied: nothing else shows its end.
uint64_t WaitFinder::WorkDone(uint32_t queue) const {
  const SubmissionProgress& progress = progress_[queue];
  if (progress.first_with_unfinished_list == 0) return progress.submitted;
  return std::max(progress.finished, progress.first_with_unfinished_list - 1);
}

// Between the two plays: what has come, and how far each queue has got.
void WaitFinder::NoteFinished() {
  for (uint32_t i = 0; i < syncs_.size(); ++i) {
    if (syncs_[i].kind == SyncKind::kWait) has_come_[i] = IsSatisfied(i);
  }
  for (uint32_t queue = 0; queue < operations_.size(); ++queue) {
    uint64_t finished = WorkDone(queue);
    if (next_[queue] < operations_[queue].size()) {
      finished = std::min(finished, WorkBefore(operations_[queue][next_[queue]]));
    }
    progress_[queue].finished = std::max(progress_[queue].finished, finished);
  }
}

// A queue is woken by what satisfies its wait and by nothing else, so that each time it gets further: however
// many queues wait for one semaphore, the play takes no more steps than there are operations.
void WaitFinder::Block(uint32_t queue, uint32_t wait) {
  if (!IsBinary(syncs_[wait])) {
    auto& blocked = timelines_[timeline_of_[wait]].blocked;
    blocked.emplace_back(syncs_[wait].value, queue);
    std::push_heap(blocked.begin(), blocked.end(), std::greater<>());
  } else if (pair_[wait] != kNone) {
    blocked_[pair_[wait]].push_back(queue);
  }
}

void WaitFinder::PlaySignal(uint32_t sync) {
  came_[sync] = true;
  if (IsBinary(syncs_[sync])) {
    awake_.insert(awake_.end(), blocked_[sync].begin(), blocked_[sync].end());
    blocked_[sync].clear();
    return;
  }
  Timeline& timeline = timelines_[timeline_of_[sync]];
  const uint64_t value = syncs_[sync].value;
  if (timeline.history.empty() || timeline.history.back().first < value) {
    timeline.history.emplace_back(value, sync);
  }
  auto& blocked = timeline.blocked;
  while (!blocked.empty() && blocked.front().first <= value) {
    awake_.push_back(blocked.front().second);
    std::pop_heap(blocked.begin(), blocked.end(), std::greater<>());
    blocked.pop_back();
  }
}

bool WaitFinder::IsSatisfied(uint32_t index) const {
  const Sync& sync = syncs_[index];
  if ((sync.flags & kSyncOver) != 0) return true;
  if (IsBinary(sync)) return pair_[index] != kNone && came_[pair_[index]];
  if (sync.object != kNone && snapshot_.objects[sync.object].completed >= sync.value) return true;
  const Timeline& timeline = timelines_[timeline_of_[index]];
  return !timeline.history.empty() && timeline.history.back().first >= sync.value;
}

uint32_t WaitFinder::SignalOf(uint32_t index) const {
  const Sync& sync = syncs_[index];
  if (IsBinary(sync)) return pair_[index];
  const Timeline& timeline = timelines_[timeline_of_[index]];
  for (const auto* signals : {&timeline.history, &timeline.told}) {
    const auto found =
        std::lower_bound(signals->begin(), signals->end(), sync.value,
                         [](const auto& signal, uint64_t value) { return signal.first < value; });
    if (found != signals->end()) return found->second;
  }
  return kNone;
}

WaitState WaitFinder::StateOf(uint32_t index) const {
  if (has_come_[index]) return WaitState::kSatisfied;
  if (IsSatisfied(index)) return WaitState::kWillBeSignalled;
  if (SignalOf(index) != kNone) return WaitState::kBlocked;
  return is_truncated_ ? WaitState::kUnknown : WaitState::kNeverSignalled;
}

void WaitFinder::CollectQueue(uint32_t queue) {
  const SubmissionProgress& progress = progress_[queue];
  QueueWaits waits;
  waits.queue = queue;
  waits.finished = progress.finished;
  waits.submitted = progress.submitted;
  waits.begun = progress.begun && waits.finished + 1 == progress.first_with_unfinished_list;
  if (progress.finished < progress.submitted) waits.first_unfinished = progress.finished + 1;
  waits.first_wait = static_cast<uint32_t>(graph_.waits.size());
  for (const Operation& operation : operations_[queue]) {
    const bool is_present = (syncs_[operation.sync].flags & kSyncPresent) != 0;
    if (syncs_[operation.sync].kind != SyncKind::kWait) continue;
    Wait wait;
    wait.sync = operation.sync;
    wait.state = StateOf(operation.sync);
    wait.signal = SignalOf(operation.sync);
    const uint64_t held = operation.phase == kBeforeWork ? operation.number : operation.number + 1;
    if (held <= progress.finished || (held == 0 && progress.finished != 0)) continue;
    const bool is_satisfied = wait.state == WaitState::kSatisfied;
    const bool holds_nothing = held > progress.submitted || is_present;
    if (holds_nothing && is_satisfied) continue;
    wait.held_submission = holds_nothing ? 0 : held;
    if (!is_satisfied && !is_present && !waits.begun && held <= progress.finished + 1) {
      waits.held = true;
    }
    graph_.waits.push_back(wait);
  }
  waits.wait_count = static_cast<uint32_t>(graph_.waits.size()) - waits.first_wait;
  if (waits.first_unfinished != 0 || waits.wait_count != 0) graph_.queues.push_back(waits);
}

// Keeps the last of equal waits: a program may poll.
void WaitFinder::CollectCpu() {
  QueueWaits waits;
  waits.first_wait = static_cast<uint32_t>(graph_.waits.size());
  std::set<std::tuple<uint32_t, uint32_t, uint64_t>> seen;
  for (uint32_t i = static_cast<uint32_t>(syncs_.size()); i-- > 0;) {
    if (syncs_[i].queue != kNone || syncs_[i].kind != SyncKind::kWait) continue;
    Wait wait;
    wait.sync = i;
    wait.state = StateOf(i);
    wait.signal = SignalOf(i);
    if (wait.state == WaitState::kSatisfied || wait.state == WaitState::kUnknown) continue;
    if (!seen.emplace(timeline_of_[i], wait.signal, syncs_[i].value).second) continue;
    waits.held = true;
    graph_.waits.push_back(wait);
  }
  std::reverse(graph_.waits.begin() + waits.first_wait, graph_.waits.end());
  waits.wait_count = static_cast<uint32_t>(graph_.waits.size()) - waits.first_wait;
  if (waits.wait_count != 0) graph_.queues.push_back(waits);
}

void WaitFinder::CollectWaits() {
  if (syncs_.empty()) return;
  for (uint32_t queue = 0; queue < snapshot_.queues.size(); ++queue) CollectQueue(queue);
  CollectCpu();
}

// The waits at which a queue is stuck: of the first submission that does not start, or in Direct3D the first
// one, for what comes behind it is not reached.
std::vector<uint32_t> WaitFinder::WaitsOfStuckQueue(const QueueWaits& queue) const {
  std::vector<uint32_t> stuck;
  for (uint32_t i = queue.first_wait; i < queue.first_wait + queue.wait_count; ++i) {
    const Wait& wait = graph_.waits[i];
    const Sync& sync = syncs_[wait.sync];
    const bool ends =
        wait.state == WaitState::kSatisfied || wait.state == WaitState::kWillBeSignalled;
    if (ends || (sync.flags & kSyncPresent) != 0) continue;
    if (!stuck.empty() && graph_.waits[stuck[0]].held_submission != wait.held_submission) break;
    stuck.push_back(i);
    if (IsBehindSubmission(sync)) break;
  }
  return stuck;
}

void WaitFinder::FindCycles() {
  edges_.resize(snapshot_.queues.size());
  for (const QueueWaits& waits : graph_.queues) {
    if (waits.queue == kNone) continue;
    for (const uint32_t wait : WaitsOfStuckQueue(waits)) {
      const uint32_t signal = graph_.waits[wait].signal;
      if (signal == kNone || syncs_[signal].queue == kNone) continue;
      edges_[waits.queue].push_back({wait, syncs_[signal].queue});
    }
  }
  std::vector<Visit> visits(edges_.size(), Visit::kNo);
  for (uint32_t queue = 0; queue < edges_.size(); ++queue) {
    if (visits[queue] == Visit::kNo) FindCyclesFrom(queue, &visits);
  }
}

// Depth first, without recursion: an edge back to a queue on the path closes a cycle. Each of n
// edges may close one as long as the path; all of them are marked as deadlocks, but not all are
// kept.
void WaitFinder::FindCyclesFrom(uint32_t start, std::vector<Visit>* visits) {
  struct Step {
    uint32_t queue;
    size_t next;  // edge to be tried
  };
  std::vector<Step> path = {{start, 0}};
  std::vector<uint32_t> cycle;
  (*visits)[start] = Visit::kOnPath;
  while (!path.empty()) {
    Step& step = path.back();
    if (step.next == edges_[step.queue].size()) {
      (*visits)[step.queue] = Visit::kDone;
      path.pop_back();
      continue;
    }
    const uint32_t signaller = edges_[step.queue][step.next++].signaller;
    if ((*visits)[signaller] == Visit::kNo) {
      (*visits)[signaller] = Visit::kOnPath;
      path.push_back({signaller, 0});
    } else if ((*visits)[signaller] == Visit::kOnPath) {
      cycle.clear();
      auto at = path.end();
      do {
        --at;
        cycle.push_back(edges_[at->queue][at->next - 1].wait);
      } while (at->queue != signaller);
      std::reverse(cycle.begin(), cycle.end());
      AddCycle(cycle);
    }
  }
}

void WaitFinder::AddCycle(const std::vector<uint32_t>& cycle) {
  const bool kept = graph_.cycles.size() < kMaxWaitCycles && cycle.size() <= kMaxQueuesOfCycle;
  for (const uint32_t index : cycle) {
    Wait& wait = graph_.waits[index];
    wait.state = WaitState::kDeadlock;
    if (kept && wait.cycle == kNone) wait.cycle = static_cast<uint32_t>(graph_.cycles.size());
  }
  if (kept) {
    graph_.cycles.push_back(cycle);
  } else {
    ++graph_.cycles_left_out;
  }
}

}  // namespace

WaitGraph FindWaits(const Snapshot& snapshot, const Analysis& analysis) {
  return WaitFinder(snapshot, analysis).Run();
}

}  // namespace cairn
