// SPDX-License-Identifier: Apache-2.0
//
// A waiter makes the event of the value that it expects, and then checks that the word still has
// it. A thread that changes the word changes it first, and then sets the event of the value before,
// if there is one. So either the waiter sees the change, or the event is there. A word that counts
// does not come back to a value, so the event stays set until the last waiter for that value has
// closed it.
#include "os/futex.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "os/clock.h"
#include "os/linux_half.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

using EventName = std::array<wchar_t, 200>;

EventName NameOf(const SharedMemory& memory, const std::atomic<uint32_t>& word, uint32_t value) {
  const auto offset = reinterpret_cast<const std::byte*>(&word) - memory.data();
  EventName name = {};
  std::swprintf(name.data(), name.size(), L"Local\\%hs-%lld-%u", memory.name().c_str(),
                static_cast<long long>(offset), value);
  return name;
}

bool IsStill(const std::atomic<uint32_t>& word, uint32_t expected) {
  return word.load(std::memory_order_seq_cst) == expected;
}

// An answer that is on its way comes sooner than an event could be made.
bool ChangesSoon(const std::atomic<uint32_t>& word, uint32_t expected) {
  constexpr int kLooks = 500;  // some microseconds
  for (int i = 0; i < kLooks; ++i) {
    if (!IsStill(word, expected)) return true;
    YieldProcessor();
  }
  return false;
}

}  // namespace

bool FutexWait(const SharedMemory& memory, const std::atomic<uint32_t>& word, uint32_t expected,
               uint64_t timeout_ns) {
  if (ChangesSoon(word, expected)) return true;
  if (const LinuxHalf* const half = FindLinuxHalf()) {
    return half->Wait(&word, expected, timeout_ns);
  }
  const SystemHandle event =
      Owned(memory.name().empty()
                ? nullptr
                : CreateEventW(nullptr, TRUE, FALSE, NameOf(memory, word, expected).data()));
  const uint64_t end_ns = MonotonicNs() + timeout_ns;
  for (uint64_t now_ns = 0; IsStill(word, expected);) {
    now_ns = MonotonicNs();
    if (now_ns >= end_ns) return false;
    // Without an event, poll.
    if (!event.valid()) {
      Sleep(1);
    } else if (WaitForSingleObject(HandleOf(event), Milliseconds(end_ns - now_ns)) ==
               WAIT_OBJECT_0) {
      return true;
    }
  }
  return true;
}

void FutexWake(const SharedMemory& memory, const std::atomic<uint32_t>& word, uint32_t was) {
  if (const LinuxHalf* const half = FindLinuxHalf()) half->Wake(&word);
  if (memory.name().empty()) return;
  const SystemHandle event =
      Owned(OpenEventW(EVENT_MODIFY_STATE, FALSE, NameOf(memory, word, was).data()));
  if (event.valid()) SetEvent(HandleOf(event));
}

}  // namespace cairn
