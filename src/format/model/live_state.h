// SPDX-License-Identifier: Apache-2.0
//
// Keeps the state that a capture needs if it starts late: fed with every record from the beginning
// of the program, it keeps those that are needed to make the present state again, and drops the
// rest.
//
//   kept                                            until
//   creation of an object, its names, identifiers   it ended, and no object made of it is left
//   what was written into a descriptor              another is written, or the heap ends
//   what was recorded into a list, and what its     the list is reset, or ends
//   calls read meanwhile: views of targets and of
//   what they clear, bundles
//   the last signal of a fence                      the next one
//   tile mappings of a resource                     it ends
//   a Map                                           its Unmap
//   a call that has not returned                    it returns
//
// Contents of resources are not kept: the program records them when the recording starts. Results
// of queries are not kept either (start_losses.h).
//
// Memory: what is alive in the program, once; at most as much again while WriteTo() runs. A program whose
// memory is too_large() is hostile, or beyond what can be started late: its owner gives up.
#ifndef CAIRN_FORMAT_MODEL_LIVE_STATE_H_
#define CAIRN_FORMAT_MODEL_LIVE_STATE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"
#include "format/calls/record.h"

namespace cairn {

// One thread.
class LiveState {
 public:
  // The limit for all instances in this process together.
  static constexpr size_t kMostBytes = size_t{2} << 30;

  explicit LiveState(size_t most_bytes = kMostBytes);
  ~LiveState();
  LiveState(LiveState&&) noexcept;
  LiveState& operator=(LiveState&&) noexcept;

  // The next record of the program. Bodies that do not mean what they should are left out.
  void Keep(const Record& record);
  // More is kept than may be.
  bool too_large() const;
  size_t most_bytes() const;

  // Gives what was kept, in the order of the numbers, marked kRecordRestores; all numbers are smaller
  // than `next_number`. Ends with the first error of `write`.
  Status WriteTo(uint64_t next_number, const std::function<Status(const Record&)>& write);

  // Descriptors that found no number of their own in WriteTo().
  uint64_t left_out() const;
  size_t object_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_LIVE_STATE_H_
