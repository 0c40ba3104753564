// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/capture/event_waits.h"

#include <cstring>
#include <iterator>
#include <limits>
#include <new>

#include "app/capture/capture.h"
#include "d3d12gen/roles.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// More waits than these are not followed: a replay waits for them where the program asked for the event.
constexpr size_t kMostWaits = 1 << 16;
// The value of fences of lost devices; a program may set that value, too.
constexpr uint64_t kLost = std::numeric_limits<uint64_t>::max();

template <typename T>
T ArgumentAt(const void* place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

}  // namespace

EventWaits& EventWaits::Get() {
  static EventWaits& waits = *new EventWaits;
  return waits;
}

uint8_t EventWaits::BeforeCall(const Wrapper& wrapper, Method method,
                               const void* const* arguments) {
  const CallRole& role = RoleOf(method);
  if (IsRecorded(method) && role.role != Role::kListReset) return 0;
  if (role.replay == Replay::kSkip) return 0;
  Look();
  if (role.signals) {
    const Wrapper* const fence =
        role.object == kNoParameter
            ? &wrapper
            : AsWrapper(ArgumentAt<ID3D12Fence*>(arguments[static_cast<size_t>(role.object)]));
    const auto value = ArgumentAt<UINT64>(arguments[static_cast<size_t>(role.value)]);
    if (fence != nullptr) Signals(*fence, value);
  }
  return AddAll(wrapper, method, arguments) ? kRecordWaitFollowed : uint8_t{0};
}

bool EventWaits::AddAll(const Wrapper& wrapper, Method method, const void* const* arguments) {
  switch (RoleOf(method).replay) {
    case Replay::kAwaitEvent:
      return ArgumentAt<HANDLE>(arguments[1]) != HANDLE{} &&
             Add(&wrapper, ArgumentAt<UINT64>(arguments[0]));
    case Replay::kAwaitEvents: {
      if (ArgumentAt<HANDLE>(arguments[4]) == HANDLE{}) return false;
      auto* const* const fences = ArgumentAt<ID3D12Fence* const*>(arguments[0]);
      const auto* const values = ArgumentAt<const UINT64*>(arguments[1]);
      const UINT count = ArgumentAt<UINT>(arguments[2]);
      if (fences == nullptr || values == nullptr) return false;
      bool all = true;
      for (UINT i = 0; i < count; ++i) all = Add(AsWrapper(fences[i]), values[i]) && all;
      return all;
    }
    default: return false;
  }
}

bool EventWaits::Add(const Wrapper* fence, uint64_t value) try {
  if (fence == nullptr) return false;
  const std::lock_guard lock(mutex_);
  if (count_.load(std::memory_order_relaxed) >= kMostWaits) return false;
  Fence& known = fences_[fence->capture_number()];
  known.real = static_cast<ID3D12Fence*>(fence->real_pointer());
  if (known.values.insert(value).second) count_.fetch_add(1, std::memory_order_relaxed);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void EventWaits::LookAtAll() {
  const std::lock_guard lock(mutex_);
  for (auto& [number, fence] : fences_) {
    if (fence.values.empty()) continue;
    const uint64_t completed = fence.real->GetCompletedValue();
    // A lost device answers with the greatest value and ends all waits: nobody knows how far the GPU came.
    if (completed == kLost && fence.signalled != kLost) {
      Reached(number, &fence, 0);
      Unseen(number, &fence, 0, kLost);
    } else {
      Reached(number, &fence, completed);
    }
  }
}

void EventWaits::Signals(const Wrapper& fence, uint64_t value) try {
  const std::lock_guard lock(mutex_);
  Fence& known = fences_[fence.capture_number()];
  if (value < known.signalled) Unseen(fence.capture_number(), &known, value, known.signalled);
  known.signalled = value;
} catch (const std::bad_alloc&) {
  // Without the value a fence that goes back is not seen: a replay waits when the fence ends.
}

void EventWaits::FenceEnds(const Wrapper& fence) {
  Look();
  const std::lock_guard lock(mutex_);
  const auto found = fences_.find(fence.capture_number());
  if (found == fences_.end()) return;
  Unseen(found->first, &found->second, 0, kLost);
  fences_.erase(found);
}

void EventWaits::Reached(uint64_t number, Fence* fence, uint64_t completed) {
  const auto behind = fence->values.upper_bound(completed);
  if (behind == fence->values.begin()) return;
  Record(number, *std::prev(behind), true);
  Forget(fence, fence->values.begin(), behind);
}

void EventWaits::Unseen(uint64_t number, Fence* fence, uint64_t from, uint64_t to) {
  const auto first = fence->values.upper_bound(from);
  const auto behind = fence->values.upper_bound(to);
  for (auto value = first; value != behind; ++value) Record(number, *value, false);
  Forget(fence, first, behind);
}

void EventWaits::Record(uint64_t number, uint64_t value, bool seen) {
  const FenceReachedBody body = {value, seen ? uint64_t{1} : uint64_t{0}};
  if (Capture* const capture = Capture::Active(); capture != nullptr) {
    capture->Put(RecordKind::kFenceReached, number, BytesOf(body));
  }
}

void EventWaits::Forget(Fence* fence, std::set<uint64_t>::iterator first,
                        std::set<uint64_t>::iterator last) {
  const auto count = static_cast<size_t>(std::distance(first, last));
  fence->values.erase(first, last);
  count_.fetch_sub(count, std::memory_order_release);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
