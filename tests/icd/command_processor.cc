// SPDX-License-Identifier: Apache-2.0
#include "icd/command_processor.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace cairn::icd {
namespace {

constexpr uint32_t kNoteBegun = 1;
constexpr uint32_t kNoteEnded = 2;

// The host, and Cairn's watcher in another process, look at the word at any time.
void StoreWord(uint32_t* target, uint32_t value) {
  std::atomic_ref<uint32_t>(*target).store(value, std::memory_order_release);
}

}  // namespace

CommandProcessor::CommandProcessor(uint32_t queue_count, uint32_t bottom_line_limit)
    : bottom_line_limit_(bottom_line_limit), queues_(queue_count) {}

void CommandProcessor::Enqueue(uint32_t queue, Command command) {
  queues_[queue].commands.push_back(std::move(command));
}

bool CommandProcessor::Idle(uint32_t queue) const {
  const Queue& state = queues_[queue];
  return state.commands.empty() && state.running.empty() && state.line.empty() &&
         state.stores.empty() && state.held.empty();
}

void CommandProcessor::Settle() {
  while (Step()) {
  }
}

bool CommandProcessor::Step() {
  if (lost_ || stopped_) return false;
  if (ObeyDeadlines()) return true;
  ++step_;
  bool moved = false;
  for (Queue& queue : queues_) moved |= ShowStores(&queue);
  for (Queue& queue : queues_) moved |= AdvanceWork(&queue);
  for (Queue& queue : queues_) moved |= MoveLine(&queue);
  for (Queue& queue : queues_) {
    if (!lost_ && !stopped_) moved |= Fetch(&queue);
  }
  if (lost_) return true;
  // A deadline comes even if all else stands still, and finds what is held back where it is.
  return moved || lost_at_ != kNever || stop_at_ != kNever || ReleaseAllHeld();
}

bool CommandProcessor::ObeyDeadlines() {
  if (RunOut(stop_at_)) {
    stopped_ = true;
  } else if (RunOut(lost_at_)) {
    LoseDevice();
  }
  return lost_ || stopped_;
}

void CommandProcessor::LoseDevice() {
  lost_ = true;
  if (drop_stores_) return;
  for (Queue& queue : queues_) {
    for (const Store& store : queue.stores) {
      if (store.due != kNever) StoreWord(store.target, store.value);
    }
    for (const Store& store : queue.held) StoreWord(store.target, store.value);
    queue.stores.clear();
    queue.held.clear();
  }
}

bool CommandProcessor::WorkBeforeEnded(const Queue& queue, uint64_t works_before,
                                       uint32_t kinds) const {
  return std::none_of(queue.running.begin(), queue.running.end(), [&](const Work& work) {
    return work.serial < works_before && (work.kinds & kinds) != 0;
  });
}

bool CommandProcessor::AnyWorkRuns() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const Queue& queue) { return !queue.running.empty(); });
}

// Stores to one word are seen in order; a late one holds back those behind it for the same word only.
bool CommandProcessor::ShowStores(Queue* queue) {
  bool moved = false;
  for (size_t i = 0; i < queue->stores.size();) {
    const Store& store = queue->stores[i];
    const bool first_of_word =
        std::none_of(queue->stores.begin(), queue->stores.begin() + static_cast<ptrdiff_t>(i),
                     [&](const Store& earlier) { return earlier.target == store.target; });
    // One that waits for its turn moves nothing: what it waits for may never be seen.
    if (store.due != kNever && first_of_word) moved = true;
    if (store.due <= step_ && first_of_word) {
      ShowOne(queue, i);
    } else {
      ++i;
    }
  }
  return moved;
}

void CommandProcessor::ShowOne(Queue* queue, size_t index) {
  const Store store = queue->stores[index];
  queue->stores.erase(queue->stores.begin() + static_cast<ptrdiff_t>(index));
  StoreWord(store.target, store.value);
}

bool CommandProcessor::ReleaseHeld(Queue* queue) {
  const bool moved = !queue->held.empty();
  for (const Store& store : queue->held) StoreWord(store.target, store.value);
  queue->held.clear();
  return moved;
}

bool CommandProcessor::ReleaseAllHeld() {
  bool moved = false;
  for (Queue& queue : queues_) moved |= ReleaseHeld(&queue);
  return moved;
}

bool CommandProcessor::AdvanceWork(Queue* queue) {
  bool moved = false;
  for (size_t i = 0; i < queue->running.size() && !lost_;) {
    Work& work = queue->running[i];
    if (work.steps_left == kNever) {
      ++i;
      continue;
    }
    moved = true;
    if (--work.steps_left > 0) {
      ++i;
      continue;
    }
    Work ended = std::move(work);
    queue->running.erase(queue->running.begin() + static_cast<ptrdiff_t>(i));
    EndWork(&ended);
    // A faulting work has not ended: whoever asks what ran finds it.
    if (lost_) queue->running.insert(queue->running.begin() + static_cast<ptrdiff_t>(i), ended);
  }
  return moved;
}

void CommandProcessor::EndWork(Work* work) {
  if (!work->fault || work->fault->kind != DirectiveKind::kFault) {
    for (uint32_t& word : work->note) StoreWord(&word, kNoteEnded);
  }
  if (!work->fault) {
    if (work->effect) work->effect();
    return;
  }
  const Directive& fault = *work->fault;
  if (fault.access != FaultAccess::kNone) {
    faults_.push_back({fault.address, fault.precision, fault.access});
  }
  switch (fault.kind) {
    case DirectiveKind::kFault: LoseDevice(); break;
    case DirectiveKind::kFaultAfterCompletion: poisoned_ = true; break;
    default: break;  // masked: what it should have written is missing, and nobody is told
  }
}

bool CommandProcessor::MoveLine(Queue* queue) {
  if (lost_ || queue->line.empty()) return false;
  LineEntry& first = queue->line.front();
  if (!WorkBeforeEnded(*queue, first.works_before, kAllWork)) return false;
  if (first.command.kind == CommandKind::kSignal) {
    if (!queue->stores.empty()) return false;
    // No later write can overtake these any more.
    ReleaseHeld(queue);
    first.command.effect();
  } else {
    --queue->writes_in_line;
    if (first.command.kind == CommandKind::kBottomCheckpoint) {
      queue->bottom_checkpoint = first.command.checkpoint;
    } else if (!LoseStore(queue, false, first.works_before)) {
      MakeStore(queue, first.command);
    }
  }
  queue->line.pop_front();
  return true;
}

bool CommandProcessor::MayPass(const Queue& queue, const Command& command) const {
  switch (command.kind) {
    case CommandKind::kWork:
    case CommandKind::kBottomStore:
    case CommandKind::kBottomCheckpoint: return queue.writes_in_line < bottom_line_limit_;
    case CommandKind::kBarrier:
      // Buffer markers are transfer commands to barriers.
      if ((command.work_kinds & kTransferWork) != 0 &&
          (queue.writes_in_line > 0 || !queue.stores.empty())) {
        return false;
      }
      return WorkBeforeEnded(queue, queue.works_fetched, command.work_kinds);
    case CommandKind::kWait: return command.condition();
    default: return true;
  }
}

bool CommandProcessor::Fetch(Queue* queue) {
  if (queue->commands.empty() || !MayPass(*queue, queue->commands.front())) return false;
  Command command = std::move(queue->commands.front());
  queue->commands.pop_front();
  switch (command.kind) {
    case CommandKind::kWork: StartWork(queue, &command); break;
    case CommandKind::kTopStore:
      if (!LoseStore(queue, true, queue->works_fetched)) MakeStore(queue, command);
      break;
    case CommandKind::kTopCheckpoint: queue->top_checkpoint = command.checkpoint; break;
    case CommandKind::kBottomStore:
    case CommandKind::kBottomCheckpoint: ++queue->writes_in_line; [[fallthrough]];
    case CommandKind::kSignal: JoinLine(queue, &command); break;
    case CommandKind::kDirective: Obey(queue, command.directive); break;
    case CommandKind::kBarrier:
      if ((command.work_kinds & kTransferWork) != 0) ReleaseHeld(queue);
      break;
    case CommandKind::kWait: break;
  }
  return true;
}

void CommandProcessor::StartWork(Queue* queue, Command* command) {
  Work work;
  work.serial = queue->works_fetched++;
  work.kinds = command->work_kinds;
  work.effect = std::move(command->effect);
  NextWork* const asked = work.kinds == kTransferWork ? &queue->next_transfer : &queue->next_draw;
  work.steps_left = asked->hangs || poisoned_ ? kNever : std::max<uint64_t>(asked->duration, 1);
  if (asked->hangs && on_directive_) on_directive_({.kind = DirectiveKind::kHang});
  work.fault = std::move(asked->fault);
  if (work.fault && work.fault->kind == DirectiveKind::kRace) {
    work.fault->kind = DirectiveKind::kFault;
    if (!AnyWorkRuns()) work.fault.reset();
  }
  if (work.fault && work.fault->kind == DirectiveKind::kMiss) {
    work.fault->kind = DirectiveKind::kFault;
    if ((harmless_misses_ & static_cast<uint32_t>(work.fault->missed)) != 0) work.fault.reset();
  }
  work.note = asked->note;
  for (uint32_t& word : work.note) StoreWord(&word, kNoteBegun);
  if (asked->lose_bottoms > 0) {
    queue->lose_bottoms = asked->lose_bottoms;
    queue->lose_bottom_behind = queue->works_fetched;
  }
  *asked = NextWork();
  queue->running.push_back(std::move(work));
}

void CommandProcessor::JoinLine(Queue* queue, Command* command) {
  queue->line.push_back({std::move(*command), queue->works_fetched});
}

bool CommandProcessor::LoseStore(Queue* queue, bool is_top, uint64_t works_before) {
  if (is_top && (queue->next_draw.lose_top || queue->next_transfer.lose_top)) return true;
  if (!is_top && queue->lose_bottoms > 0 && works_before >= queue->lose_bottom_behind) {
    --queue->lose_bottoms;
    return true;
  }
  if (queue->lose_markers == 0) return false;
  --queue->lose_markers;
  return true;
}

void CommandProcessor::MakeStore(Queue* queue, const Command& command) {
  const uint64_t late_steps =
      command.kind == CommandKind::kTopStore ? queue->late_top_steps : queue->late_bottom_steps;
  const Store store = {command.target, command.value,
                       late_steps == kNever ? kNever : step_ + late_steps};
  const bool word_is_held = !queue->held.empty() && queue->held.front().target == store.target;
  if (word_is_held || (queue->reorder && queue->held.empty())) {
    queue->held.push_back(store);
    return;
  }
  queue->stores.push_back(store);
  // Without lateness it is seen at once, in front of what it overtakes.
  if (late_steps == 0) ShowStores(queue);
  for (Store held : queue->held) {
    held.due = store.due;
    queue->stores.push_back(held);
  }
  queue->held.clear();
  if (late_steps == 0) ShowStores(queue);
}

bool CommandProcessor::ObeyForNextWork(Queue* queue, const Directive& directive) {
  NextWork& next = directive.in_transfer ? queue->next_transfer : queue->next_draw;
  switch (directive.kind) {
    case DirectiveKind::kDuration: next.duration = directive.count; return true;
    case DirectiveKind::kHang: next.hangs = true; return true;
    case DirectiveKind::kFault:
    case DirectiveKind::kMaskedFault:
    case DirectiveKind::kRace:
    case DirectiveKind::kMiss:
    case DirectiveKind::kFaultAfterCompletion: next.fault = directive; return true;
    case DirectiveKind::kLoseTop: next.lose_top = true; return true;
    case DirectiveKind::kLoseBottom: next.lose_bottoms = directive.count; return true;
    case DirectiveKind::kNote:
      next.note = {reinterpret_cast<uint32_t*>(directive.address), directive.size_bytes};
      return true;
    default: return false;
  }
}

void CommandProcessor::SetLateness(Queue* queue, MarkerPlace place, uint64_t steps) {
  if (place != MarkerPlace::kBottom) queue->late_top_steps = steps;
  if (place != MarkerPlace::kTop) queue->late_bottom_steps = steps;
}

void CommandProcessor::Obey(Queue* queue, const Directive& directive) {
  if (ObeyForNextWork(queue, directive)) return;
  switch (directive.kind) {
    case DirectiveKind::kLate: SetLateness(queue, directive.place, directive.count); break;
    case DirectiveKind::kLateForEver: SetLateness(queue, directive.place, kNever); break;
    case DirectiveKind::kLoseMarkers: queue->lose_markers = directive.count; break;
    case DirectiveKind::kReorder: queue->reorder = true; break;
    case DirectiveKind::kReorderEnd: queue->reorder = false; break;
    case DirectiveKind::kDropStores: drop_stores_ = true; break;
    case DirectiveKind::kDeviceLost: lost_at_ = step_ + directive.count; break;
    case DirectiveKind::kStop: stop_at_ = step_ + directive.count; break;
    default:
      if (on_directive_) on_directive_(directive);
      break;
  }
}

}  // namespace cairn::icd
