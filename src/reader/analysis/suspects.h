// SPDX-License-Identifier: Apache-2.0
//
// The candidates of all queues as one list, the likeliest first: half of culprit.h.
#ifndef CAIRN_READER_ANALYSIS_SUSPECTS_H_
#define CAIRN_READER_ANALYSIS_SUSPECTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "reader/analysis/culprit.h"

namespace cairn {

// What speaks for a queue being the one that failed, the strongest first.
enum class QueueEvidence : uint8_t {
  kHang,         // the watchdog saw it stand still, and nothing holds it back
  kDriver,       // the driver's checkpoints or EventIDs lie in unfinished work of it
  kWaitedFor,    // something waits for it
  kNone,         //
  kHeldBack,     // a wait holds it back
  kEndUnseen,    // its work is in flight only because nothing tells of its end
  kOtherDevice,  // another device faulted or was lost, this one not
};

// One for each of Analysis::verdicts.
std::vector<QueueEvidence> WeighQueues(const Snapshot& snapshot, const Analysis& analysis,
                                       const WaitGraph& waits);

// Fills `finding->suspects` and `finding->certainty`. `evidence` is that of WeighQueues.
void RankSuspects(const Snapshot& snapshot, const Analysis& analysis,
                  std::span<const RawMarkerVerdict> raw_verdicts,
                  std::span<const QueueEvidence> evidence, uint32_t device,
                  CulpritFinding* finding);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_SUSPECTS_H_
