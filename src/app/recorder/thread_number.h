// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_RECORDER_THREAD_NUMBER_H_
#define CAIRN_APP_RECORDER_THREAD_NUMBER_H_

#include <atomic>
#include <cstdint>

namespace cairn {

// Returns the calling thread's number: threads are numbered from 0 as they ask.
inline uint32_t ThreadNumber() {
  static constinit std::atomic<uint32_t> threads{0};
#if defined(__GNUC__) && !defined(_WIN32)
  // The library is there when the program starts: no call is needed to find the variable.
  [[gnu::tls_model("initial-exec")]]
#endif
  static constinit thread_local uint32_t number = 0;
  if (number == 0) [[unlikely]]
    number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return number - 1;
}

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_THREAD_NUMBER_H_
