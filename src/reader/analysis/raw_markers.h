// SPDX-License-Identifier: Apache-2.0
//
// Concludes from raw markers (include/cairn/markers.h): given the order in which works and marker
// writes were recorded on one queue, and the values of the slots after a crash, which work can be
// the culprit? docs/reference/raw-markers.md derives the rules; they are tested against
// command_processor_model.h.
#ifndef CAIRN_READER_ANALYSIS_RAW_MARKERS_H_
#define CAIRN_READER_ANALYSIS_RAW_MARKERS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "reader/analysis/analysis.h"

namespace cairn {

enum class RawCommandKind : uint8_t { kWork, kTopMarker, kBottomMarker };

// The state of a marker's write to its slot. kUnknown: a later write hides it.
enum class RawArrival : uint8_t { kUnknown, kArrived, kMissing };

// The rule from which a work's state follows, and the state.
enum class RawRule : uint8_t {
  kNothingTells,   // no marker tells how far the front end came: in flight
  kWrittenBehind,  // a marker behind it was written, and nothing tells that it finished: in flight
  kReachedBefore,  // the front end was at a marker before it at least: in flight
  kAroundMarker,   // it lies around a marker, and only one side is known: in flight
  kBottomWritten,  // the bottom-of-pipe marker behind it was written: completed
  kTopMissing,     // the top-of-pipe marker before it was not written: not started
  kLineIsFull,     // as many bottom-of-pipe writes as fit were waiting before it: not started
  kFirstUnproven,  // stores may be lost, and it is the first not proven to have finished: in flight
  kBehindUnproven,  // stores may be lost, and it is a later one: in flight
};

// Evidence against a work in flight; bits of RawReason::doubts. kDoubtMarkerMissing: the
// top-of-pipe marker directly behind it is missing, and earlier work had not finished.
inline constexpr uint8_t kDoubtMarkerMissing = 1;
inline constexpr uint8_t kDoubtOtherWork = 2;    // markers stand around other work
inline constexpr uint8_t kDoubtRunsNothing = 4;  // it is a barrier, a begin or an end

// The reason for a work's state; RawReasonInWords (reader/report/reason_text.h) says it.
struct RawReason {
  RawRule rule = RawRule::kNothingTells;
  // Number of the marker that the rule speaks of, counted from 1: of kLineIsFull the first that was
  // waiting, of lost stores RawVerdict::unreached_marker. 0: it speaks of none.
  uint32_t marker = 0;
  uint32_t waiting_count = 0;  // kLineIsFull: bottom-of-pipe writes that were waiting
  uint8_t doubts = 0;

  bool operator==(const RawReason&) const = default;
};

// One recorded command. Works are numbered by their order among the works.
struct RawCommand {
  RawCommandKind kind = RawCommandKind::kWork;
  uint32_t slot = 0;   // markers: where it writes
  uint64_t value = 0;  // markers: what it writes; not kRawMarkerUnwritten
};

// Slot to value, for slots that were written; slots that are missing were not.
using RawSlots = std::map<uint32_t, uint64_t>;

struct RawWorkVerdict {
  uint32_t command = 0;  // index of the work among the commands
  // kInFlight: can be the culprit. kCompleted is proven; kNotStarted is, where no top-of-pipe store was lost.
  WorkState state = WorkState::kInFlight;
  // Only for kInFlight: can be the culprit of a hang that has settled, that is after the front end has
  // fetched everything it could. False for work that only a crash in the very moment of its
  // fetching could leave behind.
  bool likely = false;
  RawReason reason;
};

struct RawVerdict {
  std::vector<RawWorkVerdict> works;  // in recorded order
  std::vector<RawArrival> arrivals;   // of the markers, in recorded order
  // False if no legal order leaves the slots like this: stores were lost, or slots hold values of an
  // earlier use. Nothing is claimed unstarted then.
  bool consistent = true;
  // The first missing top-of-pipe marker, counted from 1, from which it follows that works have not started;
  // 0 if it follows from none.
  uint32_t unreached_marker = 0;

  // Work numbers that can be the culprit, and those that are likely.
  std::vector<uint32_t> Candidates() const;
  std::vector<uint32_t> Likely() const;
};

// `bottom_line_limit`: how many bottom-of-pipe writes the device lets wait (64 on GCN 1 to 5); 0 if
// unknown or unlimited. With a limit, work behind that many missing bottom-of-pipe markers is proven
// not started; this needs bottom-of-pipe stores that are not lost. Time O(commands log slots).
RawVerdict InferFromRawMarkers(const std::vector<RawCommand>& commands, const RawSlots& slots,
                               uint32_t bottom_line_limit = 0);

// For slots that a failed device (lost, or hanging) left behind. A store at the top of the pipe can be lost with
// the device, and its absence then proves nothing. Where no work can be the culprit but some has not
// finished, this takes back what followed from missing stores: the first such work is likely, those
// behind it are possible.
void AllowForLostStores(RawVerdict* verdict);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_RAW_MARKERS_H_
