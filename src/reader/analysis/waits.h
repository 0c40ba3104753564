// SPDX-License-Identifier: Apache-2.0
//
// Builds the graph of waits from the waits and signals of queues and the CPU, and the state of each
// wait. docs/internals/analysis.md derives the rules.
#ifndef CAIRN_READER_ANALYSIS_WAITS_H_
#define CAIRN_READER_ANALYSIS_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/analysis.h"
#include "reader/analysis/submission_progress.h"

namespace cairn {

enum class WaitState : uint8_t {
  kSatisfied,        // its signal has come
  kWillBeSignalled,  // it comes, once the work before it has finished
  kBlocked,          // what would signal it is behind a wait that does not end
  kNeverSignalled,   // nothing was told to signal it
  kDeadlock,         // what would signal it waits, at last, for the same queue
  kUnknown,          // nothing was told, as far as is known; what was told earlier is lost
};

struct Wait {
  uint32_t sync = kNone;  // into Snapshot::syncs
  WaitState state = WaitState::kUnknown;
  // The signal that satisfies the wait, into Snapshot::syncs: the first to arrive of those that
  // reach the value; if none arrives, the first that was reported. kNone: none was.
  uint32_t signal = kNone;
  // The submission that it holds back; 0 for the CPU, for presents and where none was made after it.
  uint64_t held_submission = 0;
  // kDeadlock: into WaitGraph::cycles; kNone where all that it is part of were left out.
  uint32_t cycle = kNone;
};

struct QueueWaits {
  uint32_t queue = kNone;  // kNone: the CPU
  // Submissions that have finished; of those without command lists, those that nothing holds back.
  uint64_t finished = 0;
  uint64_t first_unfinished = 0;  // number of a submission; 0: all have finished
  uint64_t submitted = 0;
  // Words say that the GPU has begun with the first that is unfinished: if something holds it back, then only
  // a later stage of it.
  bool begun = false;
  // True if an unsatisfied wait holds back the first unfinished submission, or the work that
  // follows the last one. False if that submission has begun.
  bool held = false;
  uint32_t first_wait = 0;  // into WaitGraph::waits, in the order of the queue
  uint32_t wait_count = 0;
};

inline constexpr size_t kMaxWaitCycles = 16;
inline constexpr size_t kMaxQueuesOfCycle = 64;

struct WaitGraph {
  // The progress of each of Snapshot::queues: FindSubmissionProgress, and the evidence of waits
  // about submissions without command lists, which are over when their waits are satisfied.
  std::vector<SubmissionProgress> progress;
  // The queues with unfinished submissions or waits, in the order of Snapshot::queues; then the
  // CPU, if it waits for something that has not arrived. None where the snapshot has no syncs.
  std::vector<QueueWaits> queues;
  // The waits of unfinished work; those of finished work are over. For the CPU, the waits of calls
  // that have not returned with success; a call may have timed out.
  std::vector<Wait> waits;
  // Deadlocks: indices into `waits`. Each waits for a signal of the queue of the next one, which is
  // held back by that one; the last one for the first. One entry: a queue waits for itself. At most
  // kMaxWaitCycles, each with at most kMaxQueuesOfCycle queues.
  std::vector<std::vector<uint32_t>> cycles;
  uint64_t cycles_left_out = 0;  // deadlocks beyond that
};

// `analysis` is that of `snapshot`. Binary semaphores pair in the order in which waits and signals
// were recorded; a timeline semaphore or a fence of Direct3D satisfies a wait with any signal of at
// least its value. Signals of the CPU have come; those of the presentation engine are taken to
// come. Time O(n log n) in the number of syncs; where queues are in deadlocks, also n times the
// length of the longest. Any snapshot whose indices are in range is safe.
WaitGraph FindWaits(const Snapshot& snapshot, const Analysis& analysis);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_WAITS_H_
