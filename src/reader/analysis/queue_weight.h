// SPDX-License-Identifier: Apache-2.0
//
// The evidence that a queue is the one that failed. Part of suspects.h; see docs/internals/analysis.md,
// "Which queue".
#ifndef CAIRN_READER_ANALYSIS_QUEUE_WEIGHT_H_
#define CAIRN_READER_ANALYSIS_QUEUE_WEIGHT_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/analysis/waits.h"

namespace cairn {

// The strongest first.
enum class QueueEvidence : uint8_t {
  kHang,         // it stood still for the watchdog's time, or nearly so, and nothing holds it back
  kDriver,       // the driver's checkpoints or EventIDs lie in unfinished work of it
  kWaitedFor,    // something waits for it
  kNone,         //
  kHeldBack,     // a wait holds it back
  kEndUnseen,    // its work is in flight only because nothing tells of its end
  kOtherDevice,  // another device faulted or was lost, this one not
};

// Smaller is likelier; of equals nothing separates the queues.
struct QueueWeight {
  QueueEvidence evidence = QueueEvidence::kNone;
  // A draw beside a dispatch of another queue with the same evidence, on a GPU of NVIDIA: behind a fault of
  // memory draws of all queues stop there.
  bool draw_beside_dispatch = false;
  auto operator<=>(const QueueWeight&) const = default;
};

// Returns a weight for each of Analysis::verdicts. Pure; linear in the snapshot, and in the pairs
// of its queues.
std::vector<QueueWeight> WeighQueues(const Snapshot& snapshot, const Analysis& analysis,
                                     const WaitGraph& waits);

// The submission with a queue's first unfinished work, into Snapshot::submissions; kNone: it is not known.
uint32_t FirstUnfinished(const Analysis& analysis, const QueueVerdict& verdict);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_QUEUE_WEIGHT_H_
