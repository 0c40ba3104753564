// SPDX-License-Identifier: Apache-2.0
//
// Computes the values that fences will reach by the operations that are enqueued already: a wait of
// the CPU may only block the replay when nothing that comes later in the trace is needed to end it.
// Pure.
//
// A Signal on a queue counts once all Waits before it on that queue are for values that are reachable.
#ifndef CAIRN_READER_REPLAY_FENCE_MODEL_H_
#define CAIRN_READER_REPLAY_FENCE_MODEL_H_

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cairn {

struct FenceValue {
  uint64_t fence = 0;
  uint64_t value = 0;
  friend bool operator==(const FenceValue&, const FenceValue&) = default;
};

// Fences and queues by their numbers. Memory: 32 bytes an operation that is not reachable yet.
class FenceModel {
 public:
  void Create(uint64_t fence, uint64_t initial_value) { values_[fence] = initial_value; }
  // Removes an object. The CPU waits no longer for a removed fence. A queue that waits for it never
  // proceeds: it cannot be signalled.
  void Remove(uint64_t object);
  // Sets the real value of the fence.
  void Correct(uint64_t fence, uint64_t value);

  void SignalFromCpu(uint64_t fence, uint64_t value);
  void SignalFromQueue(uint64_t queue, uint64_t fence, uint64_t value);
  void WaitOnQueue(uint64_t queue, uint64_t fence, uint64_t value);

  // Returns true if enqueued signals bring the fence to `value` or beyond. False for unknown
  // fences.
  bool Reachable(uint64_t fence, uint64_t value) const;

  // The queue waits for a value that nothing enqueued brings: it comes to no end by itself.
  bool Blocked(uint64_t queue) const;

  // The CPU waits for one of these. TakeReachable() gives those of them for which nothing more is needed, as
  // soon as there is one, once.
  void Await(std::vector<FenceValue> any) { awaited_.push_back(std::move(any)); }
  std::vector<std::vector<FenceValue>> TakeReachable();

 private:
  struct Operation {
    bool is_signal;
    FenceValue what;
  };
  void Advance();

  std::unordered_map<uint64_t, uint64_t> values_;  // fence -> value that is reachable, set last
  std::unordered_map<uint64_t, std::deque<Operation>> queues_;  // what is not reachable yet
  std::vector<std::vector<FenceValue>> awaited_;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_FENCE_MODEL_H_
