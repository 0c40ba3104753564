// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/event_matching.h"

namespace cairn {

uint64_t MatchEvents(std::span<Event> events, std::vector<uint32_t>& open_events) {
  uint64_t contradictions = 0;
  open_events.clear();
  for (uint32_t i = 0; i < events.size(); ++i) {
    Event& event = events[i];
    if (event.kind == EventKind::kBegin) {
      event.match = 0;
      open_events.push_back(i + 1);
      continue;
    }
    if (event.kind != EventKind::kEnd || event.match == 0) continue;
    if (open_events.empty() ||
        (event.match != kMatchInnermost && event.match != open_events.back())) {
      event.match = 0;
      ++contradictions;
      continue;
    }
    event.match = open_events.back();
    events[event.match - 1].match = i + 1;
    open_events.pop_back();
  }
  return contradictions;
}

}  // namespace cairn
