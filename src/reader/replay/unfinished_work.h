// SPDX-License-Identifier: Apache-2.0
//
// Keeps the submissions of a playback whose end was not seen. When the process dies, any of these may
// have been in flight. Pure: no graphics API.
#ifndef CAIRN_READER_REPLAY_UNFINISHED_WORK_H_
#define CAIRN_READER_REPLAY_UNFINISHED_WORK_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "reader/replay/fence_model.h"

namespace cairn {

// Queues and fences by their numbers, submissions by those of their calls, which are not 0. The player
// says what it enqueues and what it sees end. Memory: 24 bytes for each submission and signal that is
// not seen to end. One thread.
class UnfinishedWork {
 public:
  // Gets the first and the last submission that may be unfinished, by their numbers; 0, 0: none.
  using OnChange = std::function<void(uint64_t first, uint64_t last)>;

  // `on_change`: called when one of the two changes. Null: nothing is kept.
  explicit UnfinishedWork(OnChange on_change) : on_change_(std::move(on_change)) {}

  void Submitted(uint64_t queue, uint64_t submission);
  // The queue will give the fence the value once it has done what it was given before.
  void Signalled(uint64_t queue, uint64_t fence, uint64_t value);
  // A fence was seen with the value, or a greater one: what stands before that signal has ended.
  void Reached(uint64_t fence, uint64_t value);
  // The queue was seen idle, or has ended.
  void Idle(uint64_t queue);

 private:
  struct Entry {
    uint64_t submission = 0;  // 0: a signal
    FenceValue signal;
  };
  void Tell();

  const OnChange on_change_;
  std::map<uint64_t, std::deque<Entry>> given_;  // by queue, in order
  std::pair<uint64_t, uint64_t> told_ = {0, 0};
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_UNFINISHED_WORK_H_
