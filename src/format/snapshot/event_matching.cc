// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/event_matching.h"

namespace cairn {

uint64_t MatchEvents(std::span<Event> events, std::vector<uint32_t>& open_events) {
  uint64_t contradictions = 0;
  size_t open_count = 0;  // of `open_events`, which only grows
  for (uint32_t i = 0; i < events.size(); ++i) {
    Event& event = events[i];
    if (event.kind == EventKind::kBegin) {
      event.match = 0;
      if (open_count == open_events.size()) open_events.resize(2 * open_count + 64);
      open_events[open_count++] = i + 1;
      continue;
    }
    if (event.kind != EventKind::kEnd || event.match == 0) continue;
    if (open_count == 0 ||
        (event.match != kMatchInnermost && event.match != open_events[open_count - 1])) {
      event.match = 0;
      ++contradictions;
      continue;
    }
    event.match = open_events[--open_count];
    events[event.match - 1].match = i + 1;
  }
  return contradictions;
}

}  // namespace cairn
