// SPDX-License-Identifier: Apache-2.0
//
// Shows one look at a process for `cairn top`: as lines for people, as JSON for scripts. Pure.
#ifndef CAIRN_READER_VIEW_TOP_VIEW_H_
#define CAIRN_READER_VIEW_TOP_VIEW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/snapshot/progress_probe.h"
#include "format/snapshot/snapshot.h"
#include "reader/analysis/analysis.h"
#include "reader/analysis/at_work.h"

namespace cairn::cli {

// The time since a queue last moved.
struct ProgressAge {
  uint64_t age_ns = 0;
  bool at_least = false;  // it has not moved since the first look, and nobody looked before
};

// Measures the ages from look to look, for the queues of one block, whose probe gave `queues`.
class ProgressClock {
 public:
  void Look(std::span<const QueueProgress> queues, uint64_t now_ns);
  // Empty for a queue that was seen but once, or never. The device counts for lists without a queue.
  std::optional<ProgressAge> AgeOf(uint32_t queue, uint32_t device, uint64_t now_ns) const;

 private:
  struct Seen {
    uint32_t queue = kNone;
    uint32_t device = kNone;
    uint64_t fingerprint = 0;
    uint64_t since_ns = 0;
    bool moved = false;
    uint32_t looks = 0;
  };
  std::vector<Seen> seen_;
};

struct LiveLook {
  const Snapshot& snapshot;
  const Analysis& analysis;
  const LiveView& view;
  const ProgressClock& clock;
  uint64_t monotonic_ns = 0;  // when the snapshot was taken
};

// Lines that end with '\n', cut to `width` columns (0: not cut).
std::string LiveText(const LiveLook& look, uint32_t width, bool colour);

// docs/formats/top.schema.json; ends with '\n'.
std::string LiveJson(const LiveLook& look);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_TOP_VIEW_H_
