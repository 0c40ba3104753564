// SPDX-License-Identifier: Apache-2.0
//
// Concludes from raw markers (include/cairn/markers.h): given the order in which works and marker
// writes were recorded on one queue, and the values of the slots after a crash, which work can be
// the culprit? docs/raw-markers.md derives the rules; they are tested against
// command_processor_model.h.
#ifndef CAIRN_READER_ANALYSIS_RAW_MARKERS_H_
#define CAIRN_READER_ANALYSIS_RAW_MARKERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reader/analysis/analysis.h"

namespace cairn {

enum class RawCommandKind : uint8_t { kWork, kTopMarker, kBottomMarker };

// The state of a marker's write to its slot. kUnknown: a later write hides it.
enum class RawArrival : uint8_t { kUnknown, kArrived, kMissing };
// "written", "missing", "unknown".
const char* RawArrivalWord(RawArrival arrival);

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
  std::string reason;  // in words; "marker 3" is the third marker, counted from 1
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

// Returns the sentence why a work is the culprit (`first`) or may be. `unreached_marker` as in
// RawVerdict.
std::string LostStoreReason(uint32_t unreached_marker, bool first);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_RAW_MARKERS_H_
