// SPDX-License-Identifier: Apache-2.0
//
// Concludes from the raw markers of a snapshot: the commands of each queue in recorded order, from
// the events of its recordings, and the slots of its device, judged by the rules of raw_markers.h.
// docs/reference/raw-markers.md is the page for people.
#ifndef CAIRN_READER_ANALYSIS_RAW_MARKER_VERDICTS_H_
#define CAIRN_READER_ANALYSIS_RAW_MARKER_VERDICTS_H_

#include <cstdint>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/analysis/raw_markers.h"

namespace cairn {

// One recorded write of a raw marker.
struct RawMarkerCommand {
  uint32_t execution = kNone;  // into Analysis::executions
  bool top = false;            // at the top of the pipe; otherwise at its bottom
  uint32_t slot = 0;
  uint64_t value = 0;
  RawArrival arrival = RawArrival::kUnknown;
};

// Work among the raw markers of a queue: the innermost scopes, or in a recording without scopes whatever
// lies between two markers.
struct RawMarkerWork {
  uint32_t execution = kNone;  // into Analysis::executions
  uint32_t scope = kNone;     // into Analysis::scopes; kNone: what was recorded between two markers
  uint32_t after_marker = 0;  // how many of the markers were recorded before it
  WorkState state = WorkState::kInFlight;  // as in RawWorkVerdict
  bool likely = false;  // of kInFlight: can be the culprit of a hang that has settled
  // Only of kInFlight: by raw markers or progress words it had not started, but they can have been
  // lost (lost_stores.h).
  bool by_lost_store = false;
  RawReason reason;  // its marker 3 is the third of RawMarkerVerdict::markers
};

// The conclusions from the raw markers of one queue.
struct RawMarkerVerdict {
  uint32_t queue = kNone;  // kNone: lists registered without a queue
  uint32_t device = kNone;
  // False if no legal order leaves the slots like this: stores were lost, or slots hold values of an
  // earlier use. Nothing is claimed unstarted then.
  bool consistent = true;
  uint32_t unreached_marker = 0;          // as in RawVerdict
  std::vector<RawMarkerCommand> markers;  // in recorded order; never empty
  std::vector<RawMarkerWork> works;       // in recorded order
  uint32_t candidate_count = 0;           // works in flight
  uint32_t likely_count = 0;              // of these, the likely ones
  uint32_t executions_left_out = 0;       // the oldest, of which there are too many
};

// The limit for all queues together; the last commands of each are read.
inline constexpr uint32_t kMaxRawMarkerCommands = 65536;

// For each queue with raw markers whose recorded order is known. Time O(n log n) of the executions, and of
// at most kMaxRawMarkerCommands commands.
std::vector<RawMarkerVerdict> JudgeRawMarkers(const Snapshot& snapshot, const Analysis& analysis);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_RAW_MARKER_VERDICTS_H_
