// SPDX-License-Identifier: Apache-2.0
//
// Keeps a value for the recording of each command list: from its Reset, or its creation, to the next Reset. A
// Reset that is refused leaves the recording as it was.
//
//   Recordings<std::vector<uint64_t>> calls;       the value: here, the numbers of calls
//   calls.Reset(list);                             at the call
//   calls.OnResult(record, role);                  at every result
//   calls[list].push_back(record.number);
#ifndef CAIRN_FORMAT_MODEL_RECORDINGS_H_
#define CAIRN_FORMAT_MODEL_RECORDINGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "d3d12gen/roles.h"
#include "format/calls/record.h"
#include "format/model/call_values.h"

namespace cairn {

// One thread. Memory: one T for each list, two from a Reset to its result.
template <typename T>
class Recordings {
 public:
  // Returns the value of the list's recording; adds an empty one for a list that is not known.
  T& operator[](uint64_t list) { return lists_[list].now; }
  // Returns the same without adding one; null for a list that is not known.
  const T* Find(uint64_t list) const {
    const auto found = lists_.find(list);
    return found == lists_.end() ? nullptr : &found->second.now;
  }
  // Begins a recording with `fresh`, and keeps the last one until the result is known.
  void Reset(uint64_t list, T fresh = T()) {
    Recording& recording = lists_[list];
    recording.before = std::exchange(recording.now, std::move(fresh));
  }
  // Takes the last recording back if a Reset failed. `result`: a kResult record of a method with this role. A
  // trace that ends in a Reset has none.
  void OnResult(const Record& result, const CallRole& role) {
    if (role.role != Role::kListReset) return;
    const auto found = lists_.find(result.object);
    if (found == lists_.end()) return;
    Recording& recording = found->second;
    if (!Succeeded(result) && recording.before.has_value()) {
      recording.now = *std::move(recording.before);
    }
    recording.before.reset();
  }
  void End(uint64_t list) { lists_.erase(list); }
  size_t size() const { return lists_.size(); }

 private:
  struct Recording {
    T now{};
    std::optional<T> before;  // the last Reset, until its result
  };
  std::unordered_map<uint64_t, Recording> lists_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_RECORDINGS_H_
