// SPDX-License-Identifier: Apache-2.0
//
// Memory that shaders can reach by address, and that was destroyed while work which may do so was in flight. No bind
// says which work uses it: buffer device addresses, and addresses that shaders pass on.
#ifndef CAIRN_READER_ANALYSIS_FREED_IN_FLIGHT_H_
#define CAIRN_READER_ANALYSIS_FREED_IN_FLIGHT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/analysis.h"

namespace cairn {

struct FreedInFlight {
  uint32_t object = kNone;  // into Snapshot::objects; it has an address
  uint32_t submission =
      kNone;  // into Snapshot::submissions: the first of its device that was in flight then
  int64_t after_submission_ns = 0;  // from that submission to the destruction
  uint32_t destruction = kNone;  // by whom; into Snapshot::destructions, kNone if that is not known
};
inline constexpr size_t kMostFreedInFlight = 64;

// The first that were destroyed, in that order, and before the incident where its time is known. In flight is what
// has begun or may have and has not finished; of a device that was lost or faulted with nothing in flight its last
// submission, for work that went wrong may seem to have finished. `analysis` is that of `snapshot`. Linear in objects
// and executions, and sorting of what is found.
std::vector<FreedInFlight> FindFreedInFlight(const Snapshot& snapshot, const Analysis& analysis);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_FREED_IN_FLIGHT_H_
