// SPDX-License-Identifier: Apache-2.0
//
// The system's functions wait for 64 handles at most. Its thread pool waits for more: each handle has a wait there
// that wakes the thread of the set, which then looks itself at what happened.
#include "os/wait_set.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "os/clock.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

struct Waited {
  HANDLE handle;
  uint64_t key;
  HANDLE wake;
  HANDLE wait = nullptr;           // in the pool
  std::atomic<bool> woke = false;  // it wakes once, and then has to be armed again
};

void CALLBACK Wake(void* context, BOOLEAN) {
  auto* const waited = static_cast<Waited*>(context);
  waited->woke = true;
  SetEvent(waited->wake);
}

bool Arm(Waited* waited) {
  waited->woke = false;
  waited->wait = nullptr;
  return RegisterWaitForSingleObject(&waited->wait, waited->handle, &Wake, waited, INFINITE,
                                     WT_EXECUTEONLYONCE | WT_EXECUTEINWAITTHREAD) != 0;
}

// The callback does not run any more when this returns.
void Disarm(const Waited& waited) {
  UnregisterWaitEx(waited.wait, INVALID_HANDLE_VALUE);
}

}  // namespace

struct WaitSet::State {
  ~State() {
    for (const auto& waited : all) Disarm(*waited);
  }
  // Adds the keys of handles that are signalled right now.
  void Look() {
    keys.clear();
    for (const auto& waited : all) {
      if (WaitForSingleObject(waited->handle, 0) == WAIT_OBJECT_0) keys.push_back(waited->key);
    }
  }

  SystemHandle wake;
  std::vector<std::unique_ptr<Waited>> all;
  std::vector<uint64_t> keys;
};

WaitSet::WaitSet() : state_(std::make_unique<State>()) {}
WaitSet::~WaitSet() = default;

Status WaitSet::Open() {
  state_->wake = Owned(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  return state_->wake.valid() ? Status() : StatusFromLastError("events cannot be waited for");
}

Status WaitSet::Add(const SystemHandle& handle, uint64_t key) {
  auto waited = std::unique_ptr<Waited>(new Waited{HandleOf(handle), key, HandleOf(state_->wake)});
  if (!Arm(waited.get())) return StatusFromLastError("events cannot be waited for");
  state_->all.push_back(std::move(waited));
  return Status();
}

void WaitSet::Remove(const SystemHandle& handle) {
  std::erase_if(state_->all, [&handle](const std::unique_ptr<Waited>& waited) {
    if (waited->handle != HandleOf(handle)) return false;
    Disarm(*waited);
    return true;
  });
}

Result<std::span<const uint64_t>> WaitSet::Wait(uint64_t time_ns) {
  for (;;) {
    // Reset before the look: a later event wakes again.
    ResetEvent(HandleOf(state_->wake));
    state_->Look();
    const uint64_t now_ns = MonotonicNs();
    if (now_ns >= time_ns) state_->keys.push_back(kTime);
    if (!state_->keys.empty()) return std::span<const uint64_t>(state_->keys);
    for (const auto& waited : state_->all) {
      if (!waited->woke) continue;
      Disarm(*waited);
      if (!Arm(waited.get())) return StatusFromLastError("events cannot be waited for");
    }
    // Wait in parts: the system counts milliseconds, up to 49 days. The loop waits again after an
    // early end.
    const DWORD left = time_ns == kTime ? INFINITE : Milliseconds(time_ns - now_ns);
    WaitForSingleObject(HandleOf(state_->wake), left);
  }
}

}  // namespace cairn
