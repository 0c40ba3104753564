// SPDX-License-Identifier: Apache-2.0
//
// Computes the values that fences will reach by the operations that are enqueued already: a wait of
// the CPU may only block the replay when nothing that comes later in the trace is needed to end it.
// Pure.
//
// A Signal on a queue counts once all Waits before it on that queue are for values that are reachable.
#ifndef CAIRN_READER_REPLAY_FENCE_MODEL_H_
#define CAIRN_READER_REPLAY_FENCE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cairn {

struct FenceValue {
  uint64_t fence = 0;
  uint64_t value = 0;
  friend bool operator==(const FenceValue&, const FenceValue&) = default;
};

// Fences and queues by their numbers. Memory: 32 bytes an operation that is not reachable yet; 256 bytes for each of
// the kMostAwaited values. Cost of a call: the logarithm of what waits, for each operation that it makes reachable.
class FenceModel {
 public:
  static constexpr size_t kMostAwaited = 1u << 16;  // values that the CPU waits for

  void Create(uint64_t fence, uint64_t initial_value) { Set(Of(fence), initial_value); }
  // `fence` is another number of `original`. Call it after Create(fence).
  void AddNumber(uint64_t fence, uint64_t original);
  // Returns true if the fence has several numbers that were not removed.
  bool HasNumbers(uint64_t fence) const;
  // Removes an object; a fence goes with the last of its numbers. The CPU waits no longer for a removed fence. A queue
  // that waits for it never proceeds: it cannot be signalled.
  void Remove(uint64_t object);
  // Sets the real value of the fence.
  void Correct(uint64_t fence, uint64_t value) { Set(Of(fence), value); }

  void SignalFromCpu(uint64_t fence, uint64_t value) { Set(Of(fence), value); }
  void SignalFromQueue(uint64_t queue, uint64_t fence, uint64_t value);
  void WaitOnQueue(uint64_t queue, uint64_t fence, uint64_t value);

  // Returns true if enqueued signals bring the fence to `value` or beyond. False for unknown
  // fences.
  bool Reachable(uint64_t fence, uint64_t value) const;

  // The queue waits for a value that nothing enqueued brings: it comes to no end by itself.
  bool Blocked(uint64_t queue) const;

  // The CPU waits for one of these. TakeReachable() gives those of them for which nothing more is needed, as
  // soon as there is one, once, by the numbers that were given. False: it waits for kMostAwaited already, and this wait is not kept.
  bool Await(const std::vector<FenceValue>& any);
  std::vector<std::vector<FenceValue>> TakeReachable();

 private:
  struct Operation {
    bool is_signal;
    FenceValue what;
  };
  struct Awaited {
    uint64_t value = 0;
    uint64_t number = 0;  // of the fence, as it was given
  };
  struct Numbers {
    size_t further = 0;
    bool first_removed = false;
  };
  using Waiting = std::set<std::pair<uint64_t, uint64_t>>;  // (value, who waits for it)

  void Enqueue(uint64_t queue, const Operation& operation);
  void Set(uint64_t fence, uint64_t value);
  void SetValue(uint64_t fence, uint64_t value);
  // Runs the queues of `woken_`, and those that they wake.
  void Advance();
  void RemoveWaits(uint64_t fence);
  // Returns the number by which the fence is kept.
  uint64_t Of(uint64_t fence) const {
    const auto found = original_of_.find(fence);
    return found == original_of_.end() ? fence : found->second;
  }

  std::unordered_map<uint64_t, uint64_t> original_of_;  // further number -> the first
  std::unordered_map<uint64_t, Numbers> numbers_of_;    // by the first number
  std::unordered_map<uint64_t, uint64_t> values_;  // fence -> value that is reachable, set last
  std::unordered_map<uint64_t, std::deque<Operation>> queues_;  // what is not reachable yet
  std::unordered_map<uint64_t, Waiting> blocked_;  // by the fence of their first operation: queues
  std::deque<uint64_t> woken_;                     // queues

  std::map<uint64_t, std::map<uint64_t, Awaited>> awaited_;  // waits in their order, by fence
  std::unordered_map<uint64_t, Waiting> waits_;              // by fence: those of `awaited_`
  std::unordered_set<uint64_t> changed_;  // fences of `waits_`, since the last look
  uint64_t next_wait_ = 0;
  size_t awaited_count_ = 0;  // values
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_FENCE_MODEL_H_
