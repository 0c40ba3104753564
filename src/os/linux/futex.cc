// SPDX-License-Identifier: Apache-2.0
#include "os/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

namespace cairn {

bool FutexWait(const SharedMemory&, const std::atomic<uint32_t>& word, uint32_t expected,
               uint64_t timeout_ns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const timespec timeout{static_cast<time_t>(timeout_ns / kSecond),
                         static_cast<long>(timeout_ns % kSecond)};
  return syscall(SYS_futex, &word, FUTEX_WAIT, expected, &timeout, nullptr, 0) == 0 ||
         errno != ETIMEDOUT;
}

void FutexWake(const SharedMemory&, const std::atomic<uint32_t>& word, uint32_t) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace cairn
