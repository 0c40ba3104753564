// SPDX-License-Identifier: Apache-2.0
//
// Waiting for several things at once: ends of processes, messages, requests of the user, a time.
#ifndef CAIRN_OS_WAIT_SET_H_
#define CAIRN_OS_WAIT_SET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/status.h"
#include "os/handle.h"

namespace cairn {

// One thread.
class WaitSet {
 public:
  // What the time that was set is told as.
  static constexpr uint64_t kTime = std::numeric_limits<uint64_t>::max();

  Status Open();

  // Waits for this as well, until it is closed. `key` is not kTime.
  Status Add(const SystemHandle& handle, uint64_t key);

  // Sleeps until something happens, or it is `time_ns` by MonotonicNs() (kTime: no time). The keys of all
  // that happened, some of them perhaps only in the next call; none is possible. Valid until then.
  Result<std::span<const uint64_t>> Wait(uint64_t time_ns);

 private:
  static constexpr size_t kMostAtOnce = 16;

  SystemHandle set_;
  SystemHandle timer_;
  std::array<uint64_t, kMostAtOnce> keys_ = {};
};

}  // namespace cairn

#endif  // CAIRN_OS_WAIT_SET_H_
