// SPDX-License-Identifier: Apache-2.0
//
// Waiting for several things at once: ends of processes, messages, requests of the user, a time.
#ifndef CAIRN_OS_WAIT_SET_H_
#define CAIRN_OS_WAIT_SET_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "base/status.h"
#include "os/handle.h"

namespace cairn {

// One thread.
class WaitSet {
 public:
  // The key that is returned when the time is up.
  static constexpr uint64_t kTime = std::numeric_limits<uint64_t>::max();

  WaitSet();
  ~WaitSet();
  WaitSet(const WaitSet&) = delete;
  WaitSet& operator=(const WaitSet&) = delete;

  Status Open();

  // Adds a handle to wait for; its key is returned again and again while the handle is signalled.
  // `key` is not kTime.
  Status Add(const SystemHandle& handle, uint64_t key);
  // Removes the handle. Call it before the handle is closed, unless the set is gone by then.
  void Remove(const SystemHandle& handle);

  // Sleeps until something happens, or it is `time_ns` by MonotonicNs() (kTime: no time). The keys of all
  // that happened, some of them perhaps only in the next call; none is possible. Valid until then.
  Result<std::span<const uint64_t>> Wait(uint64_t time_ns);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_OS_WAIT_SET_H_
