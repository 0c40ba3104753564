// SPDX-License-Identifier: Apache-2.0
//
// Measures the duration of work by repeated looks of a thread that may itself pause: stopped,
// suspended, or starved by others. Pure.
#ifndef CAIRN_READER_REPLAY_WAIT_TIME_H_
#define CAIRN_READER_REPLAY_WAIT_TIME_H_

#include <algorithm>
#include <cstdint>

namespace cairn {

class WaitTime {
 public:
  // The most time that counts between two looks, and no more than a quarter of the time-out, so
  // that no single pause exceeds it: work is looked at every half millisecond, or more often.
  static constexpr uint64_t kMostBetweenLooksNs = 250'000'000;

  // Times are those of MonotonicNs().
  WaitTime(uint64_t start_ns, uint64_t timeout_ns)
      : start_ns_(start_ns),
        last_ns_(start_ns),
        most_ns_(std::min(kMostBetweenLooksNs, std::max<uint64_t>(timeout_ns / 4, 1))) {}

  void Look(uint64_t now_ns) {
    if (now_ns <= last_ns_) return;
    seen_ns_ += std::min(now_ns - last_ns_, most_ns_);
    last_ns_ = now_ns;
  }

  // Returns the watched part of the time until the last look. The work took at least this time.
  uint64_t seen_ns() const { return seen_ns_; }
  // All of it. It took no longer, if it had ended at the last look.
  uint64_t passed_ns() const { return last_ns_ - start_ns_; }

 private:
  uint64_t start_ns_;
  uint64_t last_ns_;
  uint64_t most_ns_;
  uint64_t seen_ns_ = 0;
};

// The judgement of a time-out about work.
enum class Punctuality : uint8_t {
  kInTime,   // it ended, or there is time left
  kTooLate,  // it took longer
  kUnknown,  // it ended; whether in time, nobody watched
};
inline Punctuality PunctualityOf(const WaitTime& time, bool ended, uint64_t timeout_ns) {
  if (time.seen_ns() > timeout_ns) return Punctuality::kTooLate;
  return ended && time.passed_ns() > timeout_ns ? Punctuality::kUnknown : Punctuality::kInTime;
}

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_WAIT_TIME_H_
