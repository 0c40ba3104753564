// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/thread_number.h"

#include <array>
#include <atomic>
#include <bit>
#include <mutex>

#include "os/thread.h"

namespace cairn {
namespace {

constexpr uint32_t kWordBits = 64;

// A bit for each number that a thread has.
std::array<std::atomic<uint64_t>, 1024 / kWordBits> taken{};
std::atomic<uint32_t> beyond{0};  // threads that found none
constinit ThreadSlot number_end;  // holds 1 + the number

#if defined(__GNUC__) && !defined(_WIN32)
// The library is there when the program starts: no call is needed to find the variable.
[[gnu::tls_model("initial-exec")]]
#endif
constinit thread_local uint32_t own_number = 0;  // 1 + the number; 0: none yet

// The thread ends. Its later destructors go on with the number, which may then be a new thread's as well. On Windows
// another thread may end the fiber that this one asked in: the number stays taken.
void GiveBack(void* value) {
  const auto number = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(value) - 1);
  if (own_number != number + 1) return;
  taken[number / kWordBits].fetch_and(~(uint64_t{1} << number % kWordBits),
                                      std::memory_order_relaxed);
}

uint32_t TakeNumber() {
  for (uint32_t word = 0; word < taken.size(); ++word) {
    uint64_t bits = taken[word].load(std::memory_order_relaxed);
    while (bits != ~uint64_t{0}) {
      const auto bit = static_cast<uint32_t>(std::countr_one(bits));
      if (taken[word].compare_exchange_weak(bits, bits | uint64_t{1} << bit,
                                            std::memory_order_relaxed)) {
        const uint32_t number = word * kWordBits + bit;
        number_end.Set(reinterpret_cast<void*>(uintptr_t{number} + 1));
        return number;
      }
    }
  }
  return beyond.fetch_add(1, std::memory_order_relaxed) %
         static_cast<uint32_t>(taken.size() * kWordBits);
}

uint32_t NumberNow() {
  static std::once_flag once;
  std::call_once(once, [] { number_end.Open(&GiveBack); });
  const uint32_t number = TakeNumber();
  own_number = number + 1;
  return number;
}

}  // namespace

uint32_t ThreadNumber() {
  return own_number != 0 ? own_number - 1 : NumberNow();
}

}  // namespace cairn
