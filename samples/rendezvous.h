// SPDX-License-Identifier: Apache-2.0
//
// Where the threads of a sample wait for each other.
#pragma once

#include <condition_variable>
#include <mutex>

namespace sample {

// Holds threads until as many as it is for have come, any number of times. Not std::barrier: where the system
// has no futex (mingw-w64), that of GCC 12 loses wake-ups.
class Rendezvous {
 public:
  explicit Rendezvous(unsigned threads) : threads_(threads) {}

  void ArriveAndWait() {
    std::unique_lock lock(mutex_);
    const unsigned round = round_;
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
      complete_.notify_all();
      return;
    }
    complete_.wait(lock, [&] { return round_ != round; });
  }

 private:
  const unsigned threads_;
  std::mutex mutex_;
  std::condition_variable complete_;
  unsigned arrived_ = 0;
  unsigned round_ = 0;
};

}  // namespace sample
