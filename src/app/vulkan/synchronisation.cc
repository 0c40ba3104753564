// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/synchronisation.h"

#include <algorithm>

#include "app/breadcrumbs/context.h"
#include "os/clock.h"

namespace cairn {

uint64_t Synchronisation::Record(SyncKind kind, uint32_t flags, const Place& place, uint64_t handle,
                                 uint64_t value) {
  return block_.AddSync(
      {kind, flags, context_.index(), place.record, place.number, handle, value, MonotonicNs()});
}

void Synchronisation::Restart(FenceState* state, const FenceState& next) {
  block_.EndWait(state->wait);
  *state = next;
}

void Synchronisation::Complete(const Place& place) {
  if (place.number == 0 || place.record == kNoQueue) return;
  if (place.first != 0) {
    const QueueRecord& queue = block_.queues()[place.record];
    if (queue.completed_submission.load(std::memory_order_acquire) + 1 < place.first) return;
  }
  static_cast<void>(context_.NotifyCompleted(place.queue, place.number).ok());
}

void Synchronisation::AddTimeline(VkSemaphore semaphore, uint64_t initial_value) {
  CpuSignals(semaphore, initial_value);
  timelines_.Set(HandleValue(semaphore), Timeline{{}, initial_value, {}});
}

void Synchronisation::AddSignalled(VkFence fence) {
  fences_.VisitOrAdd(HandleValue(fence), [&](FenceState& state) {
    Restart(&state, FenceState{{}, true});
  });
}

void Synchronisation::SignalledOutside(VkSemaphore semaphore) {
  const uint64_t handle = HandleValue(semaphore);
  if (timelines_.Visit(handle, [](Timeline&) {})) return;  // With an unknown value.
  Record(SyncKind::kSignal, kSyncBinary, Place{}, handle, 0);
}

void Synchronisation::Forget(VkSemaphore semaphore) {
  timelines_.VisitAndErase(HandleValue(semaphore), [&](Timeline& state) {
    for (const CpuWait& wait : state.waits) block_.EndWait(wait.record);
  });
}

void Synchronisation::Forget(VkFence fence) {
  fences_.VisitAndErase(HandleValue(fence), [&](FenceState& state) { block_.EndWait(state.wait); });
}

void Synchronisation::QueueWaits(const Place& place, VkSemaphore semaphore, uint64_t value) {
  if (semaphore == VK_NULL_HANDLE) return;
  const uint64_t handle = HandleValue(semaphore);
  const bool timeline = timelines_.Visit(handle, [](Timeline&) {});
  Record(SyncKind::kWait, timeline ? 0 : kSyncBinary, place, handle, timeline ? value : 0);
}

void Synchronisation::QueueSignals(const Place& place, VkSemaphore semaphore, uint64_t value,
                                   bool after_everything) {
  if (semaphore == VK_NULL_HANDLE) return;
  const uint64_t handle = HandleValue(semaphore);
  const bool timeline = timelines_.Visit(handle, [](Timeline&) {});
  Record(SyncKind::kSignal, timeline ? 0 : kSyncBinary, place, handle, timeline ? value : 0);
  if (!timeline || !after_everything) return;
  timelines_.Visit(handle, [&](Timeline& state) {
    if (state.pending.size() == kMaxPending) state.pending.erase(state.pending.begin());
    state.pending.push_back({value, place});
  });
}

void Synchronisation::QueueSignals(const Place& place, VkFence fence) {
  if (fence == VK_NULL_HANDLE) return;
  Record(SyncKind::kSignal, kSyncFence, place, HandleValue(fence), 0);
  fences_.VisitOrAdd(HandleValue(fence),
                     [&](FenceState& state) { Restart(&state, FenceState{place}); });
}

void Synchronisation::PresentWaits(const Place& place, VkSemaphore semaphore) {
  if (semaphore == VK_NULL_HANDLE) return;
  Record(SyncKind::kWait, kSyncBinary | kSyncPresent, place, HandleValue(semaphore), 0);
}

void Synchronisation::PresentSignals(const Place& place, VkFence fence) {
  if (fence == VK_NULL_HANDLE) return;
  Record(SyncKind::kSignal, kSyncFence | kSyncPresent, place, HandleValue(fence), 0);
  // The fence shows the presentation, not the queue.
  fences_.VisitOrAdd(HandleValue(fence), [&](FenceState& state) { Restart(&state, FenceState{}); });
}

void Synchronisation::Withdraw(VkQueue queue, uint64_t first_number) {
  const auto refused = [&](const Place& place) {
    return place.queue == queue && place.number >= first_number;
  };
  fences_.VisitAll([&](FenceState& state) {
    if (refused(state.place)) state.place = Place{};
  });
  timelines_.VisitAll([&](Timeline& state) {
    std::erase_if(state.pending, [&](const Pending& pending) { return refused(pending.place); });
  });
}

void Synchronisation::CpuWaits(VkFence fence) {
  if (fence == VK_NULL_HANDLE) return;
  fences_.VisitOrAdd(HandleValue(fence), [&](FenceState& state) {
    if (state.no_news) return;
    state.no_news = true;
    state.wait = Record(SyncKind::kWait, kSyncFence, Place{}, HandleValue(fence), 0);
  });
}

void Synchronisation::CpuWaits(VkSemaphore semaphore, uint64_t value) {
  if (semaphore == VK_NULL_HANDLE) return;
  const bool known = timelines_.Visit(HandleValue(semaphore), [&](Timeline& state) {
    const uint64_t no_news =
        state.waits.empty() ? state.reached : std::max(state.reached, state.waits.back().value);
    if (value <= no_news) return;
    if (state.waits.size() == kMaxPending) state.waits.erase(state.waits.begin());
    const uint64_t record = Record(SyncKind::kWait, 0, Place{}, HandleValue(semaphore), value);
    state.waits.push_back({value, record});
  });
  if (!known) Record(SyncKind::kWait, 0, Place{}, HandleValue(semaphore), value);
}

void Synchronisation::CpuWaitsNoMore(VkFence fence) {
  fences_.Visit(HandleValue(fence), [&](FenceState& state) {
    if (state.wait == 0) return;  // It is signalled, or what is noted is another call's.
    Restart(&state, FenceState{state.place});
  });
}

void Synchronisation::CpuWaitsNoMore(VkSemaphore semaphore, uint64_t value) {
  timelines_.Visit(HandleValue(semaphore), [&](Timeline& state) {
    const auto same = [value](const CpuWait& wait) { return wait.value == value; };
    const auto found = std::find_if(state.waits.begin(), state.waits.end(), same);
    if (found == state.waits.end()) return;
    block_.EndWait(found->record);
    state.waits.erase(found);
  });
}

void Synchronisation::CpuSignals(VkSemaphore semaphore, uint64_t value) {
  if (semaphore == VK_NULL_HANDLE) return;
  Record(SyncKind::kSignal, 0, Place{}, HandleValue(semaphore), value);
}

void Synchronisation::Acquired(VkSemaphore semaphore, VkFence fence) {
  if (semaphore != VK_NULL_HANDLE) {
    Record(SyncKind::kSignal, kSyncBinary | kSyncAcquire, Place{}, HandleValue(semaphore), 0);
  }
  if (fence == VK_NULL_HANDLE) return;
  Record(SyncKind::kSignal, kSyncFence | kSyncAcquire, Place{}, HandleValue(fence), 0);
  // The fence no longer shows the progress of a queue.
  fences_.VisitOrAdd(HandleValue(fence), [&](FenceState& state) { Restart(&state, FenceState{}); });
}

void Synchronisation::Signalled(VkFence fence) {
  Place place;
  fences_.Visit(HandleValue(fence), [&](FenceState& state) {
    place = state.place;
    Restart(&state, FenceState{{}, true});  // It stays signalled until it is reset.
  });
  Complete(place);
}

void Synchronisation::Reached(VkSemaphore semaphore, uint64_t value) {
  std::vector<Pending> done;
  timelines_.Visit(HandleValue(semaphore), [&](Timeline& state) {
    const auto first_done =
        std::stable_partition(state.pending.begin(), state.pending.end(),
                              [&](const Pending& pending) { return pending.value > value; });
    state.reached = std::max(value, state.reached);
    std::erase_if(state.waits, [&](const CpuWait& wait) {
      if (wait.value > value) return false;
      block_.EndWait(wait.record);
      return true;
    });
    done.assign(first_done, state.pending.end());
    state.pending.erase(first_done, state.pending.end());
  });
  for (const Pending& pending : done) Complete(pending.place);
}

void Synchronisation::Reset(VkFence fence) {
  fences_.Visit(HandleValue(fence), [&](FenceState& state) { Restart(&state, FenceState{}); });
}

}  // namespace cairn
