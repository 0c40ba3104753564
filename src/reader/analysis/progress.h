// SPDX-License-Identifier: Apache-2.0
//
// From the words of a recording, and from the order of its queue, to what is proven about one
// execution. Each function is one rule of docs/internals/analysis.md.
#ifndef CAIRN_READER_ANALYSIS_PROGRESS_H_
#define CAIRN_READER_ANALYSIS_PROGRESS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/analysis/scope_tree.h"

namespace cairn {

// The last events of a list that drain, by their sequence numbers; 0: none does.
struct Drains {
  uint32_t all = 0;
  uint32_t dispatches = 0;
  uint32_t draws = 0;
};

// The work of a queue that is known to have finished.
struct Drained {
  bool all = false;
  bool dispatches = false;
  bool draws = false;
};

// The evidence of one execution's own words and counters, before the order of the queue is
// considered.
struct Progress {
  Evidence evidence;
  bool began = false;  // the GPU was inside or behind this execution
  // It, or a later execution of its list, wrote at the bottom, or came beyond what drains: of the executions
  // before it on its queue all has finished, or dispatches, or draws.
  Drained drained;
  bool words_are_its = false;    // the words describe this execution and no other
  bool told_apart = true;        // false: several executions share the words
  bool mode_off = false;         // the GPU was asked to write nothing, and nothing else tells
  bool words_make_sense = true;  // false: a word holds a value that no write of the list produces
};

// Judges an execution. `device_tells_submissions`: the application reports submissions, so that a
// list without one has not run.
Progress JudgeExecution(const Snapshot& snapshot, const Execution& execution,
                        bool device_tells_submissions);

// The last drains of recordings, looked for at the first question: most recordings are never asked about. Linear in
// the events of those that are.
class LastDrains {
 public:
  explicit LastDrains(const Snapshot& snapshot);
  const Drains& Of(uint32_t recording);

 private:
  struct Entry {
    bool is_known = false;
    Drains drains;
  };
  const Snapshot& snapshot_;
  std::vector<Entry> entries_;  // by recording
};

// Returns true if every write in the recording has arrived and none of them proves its end: its end
// takes no writes, or nothing in it does. Linear in the events behind the last write.
bool EndIsUnseen(const Snapshot& snapshot, const Recording& recording);

// Refines the executions of one queue, in submission order: a queue is fetched in order, and a
// bottom-of-pipe write and what drains wait for all earlier work of its queue.
void ApplyQueueOrder(std::span<const uint32_t> queue_order, std::span<const Execution> executions,
                     LastDrains* last_drains, std::span<Progress> progress);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_PROGRESS_H_
