// SPDX-License-Identifier: Apache-2.0
//
// Threads of a program that is not ours.
#ifndef CAIRN_OS_THREAD_H_
#define CAIRN_OS_THREAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

namespace cairn {

// The system's number of the calling thread. Safe in a crash handler.
uint32_t CurrentThreadId();

inline constexpr size_t kThreadNameBytes = 16;
// Returns the name that debuggers show for the calling thread, cut where it is longer; zeros behind
// it.
std::array<char, kThreadNameBytes> CurrentThreadName();

// Starts a thread on which none of the program's own handlers runs, but for faults of the thread itself.
// `name`: less than kThreadNameBytes. Throws as std::thread does.
std::thread StartInnerThread(const char* name, std::function<void()> body);

// A pointer of each thread. Where a thread ends and has one that is not null, `at_end` is called with it, on
// that thread. Unlike destructors of thread_local objects that is not done for the main thread when the
// program exits: calls that it makes meanwhile are recorded like others.
class ThreadSlot {
 public:
  constexpr ThreadSlot() = default;
  ThreadSlot(const ThreadSlot&) = delete;
  ThreadSlot& operator=(const ThreadSlot&) = delete;

  // Opens the slot for the life of the process. Call it once. Before that, and if the system has no
  // room left, nothing is kept. The library of `at_end` has to stay: Windows keeps it, elsewhere it is linked with
  // -z nodelete.
  void Open(void (*at_end)(void*));
  void* Get() const;
  void Set(void* value) const;

 private:
  uint32_t key_ = ~uint32_t{0};
};

}  // namespace cairn

#endif  // CAIRN_OS_THREAD_H_
