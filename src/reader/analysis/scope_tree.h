// SPDX-License-Identifier: Apache-2.0
//
// The tree of a recording's scopes, and the state of each, given what is known of one execution.
#ifndef CAIRN_READER_ANALYSIS_SCOPE_TREE_H_
#define CAIRN_READER_ANALYSIS_SCOPE_TREE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reader/analysis/analysis.h"

namespace cairn {

inline constexpr uint32_t kAllEvents = 0xFFFFFFFF;

// The evidence about one execution of a recording, in sequence numbers.
struct Evidence {
  uint32_t passed = 0;              // everything before this event has finished
  uint32_t unreached = kAllEvents;  // this event and all behind it were not reached
  uint32_t passed_dispatches = 0;   // dispatches before this event have finished
  uint32_t passed_draws = 0;        // draws have

  bool operator==(const Evidence&) const = default;
};
inline constexpr Evidence kProvenCompleted = {kAllEvents, kAllEvents};
inline constexpr Evidence kProvenNotStarted = {0, 0};
inline constexpr Evidence kNothingProven = {0, kAllEvents};

// `type`: a CairnMarkerType.
WorkState ScopeState(uint32_t type, uint32_t begin_sequence, uint32_t end_sequence,
                     const Evidence& evidence);

// Numbers scopes of one type within their parent, in their order, whatever stands between them. Keeps its memory
// from recording to recording.
class OrdinalCounter {
 public:
  // `event_count`: it has no more scopes.
  void StartRecording(uint32_t event_count) {
    links_.clear();
    const size_t needed = size_t{event_count} + 1;
    if (links_.capacity() < needed) links_.reserve(std::max(needed, 2 * links_.capacity()));
    links_.emplace_back();
  }
  // Adds the next scope of the recording, which is scopes[first + offset], and numbers it if `is_numbered`.
  // Constant time, as long as siblings have few types.
  void Add(uint32_t first, uint32_t offset, bool is_numbered, std::vector<Scope>& scopes);

 private:
  // Lists of the latest child of each type, the latest of all first; as offsets from the first scope.
  struct Links {
    uint32_t last_child = kNone;  // of this scope
    uint32_t other_kind = kNone;  // of its parent: the latest of the next type
  };
  std::vector<Links> links_;  // of the recording itself, and of each scope
};

// Appends the scopes of `recording`, states unset, and returns how many. Ends that end nothing are
// plain events; scopes that a properly matched end of an outer scope closes get that end. Sets
// has_raw_markers where an event asks for one.
uint32_t AppendScopes(const Snapshot& snapshot, const Recording& recording,
                      OrdinalCounter* ordinals, Analysis* analysis);

// Appends a copy of scopes [first, first + count) of the same vector.
void AppendCopy(uint32_t first, uint32_t count, std::vector<Scope>* scopes);

// Returns true if all of them have completed.
bool SetScopeStates(const Recording& recording, uint32_t first, uint32_t count,
                    const Evidence& evidence, std::vector<Scope>* scopes);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_SCOPE_TREE_H_
