// SPDX-License-Identifier: Apache-2.0
//
// The state of fences: the values that they are known to have, those that queues will give them, and who
// waits for them.
#ifndef CAIRN_FORMAT_MODEL_FENCE_STATE_H_
#define CAIRN_FORMAT_MODEL_FENCE_STATE_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "d3d12gen/roles.h"
#include "format/calls/record.h"
#include "format/model/call_values.h"
#include "format/trace/trace_reader.h"

namespace cairn {

struct FenceState {
  struct Value {
    uint64_t value = 0;
    uint64_t record = 0;  // the call or record that says so
    friend bool operator==(const Value&, const Value&) = default;
  };
  static constexpr size_t kMostEntries = 64;  // of each of the maps; more are not kept
  static constexpr uint64_t kMostValue = std::numeric_limits<uint64_t>::max();

  // Last that the program, or the capture, came to know; none of a fence that the trace did not see being made, as one
  // of another process.
  std::optional<Value> completed;
  std::map<uint64_t, Value> signals;  // by queue, the last; by device if it signals itself
  std::map<uint64_t, Value>
      queue_waits;  // by queue, the last, as long as the value is not completed
  std::map<uint64_t, uint64_t> event_waits;  // value -> call, likewise

  uint64_t highest = 0;            // of the values that it has had, or was to be given
  uint64_t falls_to = kMostValue;  // the lowest value of a signal that was less than `highest` then

  bool HasCompleted(uint64_t value) const { return completed && completed->value >= value; }
};

// Follows all fences through a trace. One thread.
// Memory: at most 16 KiB for each fence that has not ended, of kMostFences; later ones have no state.
class FenceTracker {
 public:
  static constexpr size_t kMostFences = 1u << 12;

  // `trace` must outlive it.
  explicit FenceTracker(TraceReader* trace) : trace_(*trace) {}

  // Takes the next record of the trace; wants all of them, in order. A call that cannot be decoded
  // changes nothing.
  void Look(const Record& record);
  // The fences that live, by their numbers.
  const std::map<uint64_t, FenceState>& fences() const { return fences_; }

 private:
  // A wait of the CPU that lasts as long as its call: its result says that it is over.
  struct OpenWait {
    std::vector<std::pair<uint64_t, uint64_t>> values;  // (fence, value)
    bool any = false;                                   // one of them is enough
  };

  void OnCreation(const Record& record);
  void OnCall(const Record& record);
  void OnResult(const Record& record);
  void OnWait(const Record& record, const CallRole& role, const DecodedCall& call);
  // Notes what somebody saw: the fence has this value, or had it before.
  void Saw(FenceState* fence, uint64_t value, uint64_t record);
  void Signalled(FenceState* fence, uint64_t value);
  void Complete(FenceState* fence, uint64_t value, uint64_t record);
  FenceState* Find(uint64_t fence);

  TraceReader& trace_;
  CallValuesReader reader_;
  std::map<uint64_t, FenceState> fences_;
  std::unordered_map<uint64_t, uint64_t> initial_values_;  // by the call that is making a fence
  std::unordered_map<uint64_t, OpenWait> open_waits_;      // by call
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_FENCE_STATE_H_
