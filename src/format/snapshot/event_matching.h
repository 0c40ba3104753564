// SPDX-License-Identifier: Apache-2.0
//
// Matches ends with begins: shared by all code that makes a Snapshot.
#ifndef CAIRN_FORMAT_SNAPSHOT_EVENT_MATCHING_H_
#define CAIRN_FORMAT_SNAPSHOT_EVENT_MATCHING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Markers nest, so an end ends the innermost open begin. On entry a kEnd's `match` is the sequence
// number of the begin that it claims, or kMatchInnermost, or 0 for an end that ends nothing; a
// kBegin's is ignored, and a kBind's is 0. On return both sides name each other; a claim that is not true becomes 0.
// Returns the number of such claims. `open_events` is scratch memory, kept between calls.
inline constexpr uint32_t kMatchInnermost = 0xFFFFFFFF;
uint64_t MatchEvents(std::span<Event> events, std::vector<uint32_t>& open_events);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_EVENT_MATCHING_H_
