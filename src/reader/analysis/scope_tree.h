// SPDX-License-Identifier: Apache-2.0
//
// The tree of a recording's scopes, and the state of each, given what is known of one execution.
#ifndef CAIRN_READER_ANALYSIS_SCOPE_TREE_H_
#define CAIRN_READER_ANALYSIS_SCOPE_TREE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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
    const size_t needed = size_t{event_count} + 1;
    if (size_ < needed) {
      size_ = std::max(needed, 2 * size_);
      links_ = std::make_unique_for_overwrite<Links[]>(size_);
    }
    links_[0] = {kNone, kNone};
  }
  // Adds the next scope of the recording, which is scopes[first + offset], and returns its number. Constant time, as
  // long as siblings have few types.
  uint32_t Add(const Scope* scopes, uint32_t offset, uint32_t parent, uint16_t type) {
    Links& own = links_[offset + 1];
    own.last_child = kNone;
    uint32_t* const head = &links_[parent].last_child;
    const uint32_t before = *head;
    *head = offset;
    // Most siblings are of one type.
    if (before != kNone && scopes[before].type == type) {
      own.other_kind = links_[before + 1].other_kind;
      return scopes[before].ordinal + 1;
    }
    own.other_kind = before;
    return before == kNone ? 1 : TakeOfOtherKind(scopes, &own.other_kind, type);
  }
  // The same for one that has no number.
  void AddUnnumbered(uint32_t offset) { links_[offset + 1] = {kNone, kNone}; }

 private:
  // Lists of the latest child of each type, the latest of all first; as offsets from the first scope.
  struct Links {
    uint32_t last_child;  // of this scope
    uint32_t other_kind;  // of its parent: the latest of the next type
  };
  uint32_t TakeOfOtherKind(const Scope* scopes, uint32_t* link, uint16_t type);

  std::unique_ptr<Links[]> links_;  // of the recording itself, and of each scope so far
  size_t size_ = 0;
};

struct AppendedScopes {
  uint32_t count = 0;
  bool all_completed = true;
};
// Appends the scopes of `recording`, with the states that `evidence` proves. Ends that end nothing are
// plain events; scopes that a properly matched end of an outer scope closes get that end. Sets
// has_raw_markers where an event asks for one.
AppendedScopes AppendScopes(const Snapshot& snapshot, const Recording& recording,
                            const Evidence& evidence, OrdinalCounter* ordinals, Analysis* analysis);

// Appends a copy of scopes [first, first + count) of the same vector.
void AppendCopy(uint32_t first, uint32_t count, std::vector<Scope>* scopes);

// Returns true if all of them have completed.
bool SetScopeStates(const Recording& recording, uint32_t first, uint32_t count,
                    const Evidence& evidence, std::vector<Scope>* scopes);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_SCOPE_TREE_H_
