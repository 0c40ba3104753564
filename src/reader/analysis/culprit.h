// SPDX-License-Identifier: Apache-2.0
//
// One answer for a whole snapshot: what happened, how sure that is, and which work can have done it, the
// likeliest first. docs/internals/analysis.md, "The answer", has the rules.
#ifndef CAIRN_READER_ANALYSIS_CULPRIT_H_
#define CAIRN_READER_ANALYSIS_CULPRIT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/analysis.h"
#include "reader/analysis/raw_marker_verdicts.h"
#include "reader/analysis/unreturned_call.h"
#include "reader/analysis/waits.h"

namespace cairn {

enum class FindingKind : uint8_t {
  kNothingWrong,  // the report was asked for, or the program ended well
  kGpuFault,      // the driver or the kernel tells of an access that went wrong
  kDeviceLost,    // and nobody says why
  kGpuHang,       // submitted work made no progress, and nothing held it back
  kDeadlock,      // queues wait for each other
  kEndlessWait,   // a queue waits for what nothing was told to signal
  kCpuFault,      // the program died of a signal that its own code raised
  kKilled,        // it was ended from outside: SIGKILL, SIGTERM
  kExited,        // it ended with GPU work unfinished
};

enum class Certainty : uint8_t {
  kProven,  // the one suspect is the only marked work that was running, and faults of its device are noticed in time; or
            // the waits tell
  kLikely,  // each of the suspects can be the culprit, and the first is the likeliest or the only one
  kOneOf,           // each of them, and nothing separates the first ones (CulpritFinding::tied)
  kNothingRunning,  // no marked work was
  kAllCompleted,  // the GPU failed, and all marked work that had begun had finished: it may have gone on
  kUnknown,       // the mode was off, or what is left has no end that can be seen
};

// The reason for a suspect's rank.
enum class SuspectReason : uint8_t {
  kOnlyWorkRunning,    // proven, unless its device is known to notice faults late (Device::notes)
  kLeadsToFault,       // it had finished, and leads to the address of the fault (fault_users.h)
  kFinishedByItsWord,  // the late suspect of its queue (late_suspect.h): the driver reports a fault
  kBarrierBehind,      // the late suspect of its queue: the barrier behind it did not end
  kFirstUnfinished,  // the mode tells what has finished, and of its kind this is the first that has not
  kUnfinished,       // it was reached, and its end was not
  kLastReached,      // the mode does not tell what has finished; of its kind it was reached last
  kReached,          // it was reached earlier
  kReachedTogether,  // the same mode; no barrier stands between it and the work of its kind reached last
  kMayHaveBegun,      // the GPU was asked to write nothing where it begins
  kOutsideOfMarkers,  // a list in flight without a scope that is
  kRawMarkers,        // it lies between raw markers, of which the later one was not written
  kRawMarkerLost,     // the first that raw markers do not prove finished (lost_stores.h)
  kRawMarkersClear,   // raw markers say that it had finished, or had not begun
  kTied,              // one of several works between which the GPU writes nothing (ties.h)
  kRunsNothing,       // a barrier, a begin or an end, a label: it waits for other work
  kHeldBack,          // its queue is held back by a wait
  kEndUnseen,         // nothing is written where its list ends
};

// The evidence that puts one work first, of several between which the GPU writes nothing.
enum class TieEvidence : uint8_t {
  kNone,        // nothing but their order
  kAbsurdSize,  // by its arguments it would run for minutes
  kLoops,       // a shader of its pipeline has a loop
  kMayLoop,     // the code of its shaders is not known; that of the others ends by itself
  kLarger,      // by its arguments it is a thousand times as large
};

struct SuspectWork {
  uint32_t verdict = kNone;    // its queue: into Analysis::verdicts
  uint32_t execution = kNone;  // into Analysis::executions
  uint32_t scope = kNone;      // into Analysis::scopes; kNone: work outside of markers
  // Without a scope and among raw markers: how many of the queue's were recorded before it.
  uint32_t after_marker = kNone;
  SuspectReason reason = SuspectReason::kUnfinished;
  // Something bound where it begins that leads to the fault, was destroyed, or lies in no object that is known;
  // into Analysis::bindings. kNone: nothing such is known of.
  uint32_t binding = kNone;
  // kTied: how many tie with each other, this one included; whether they stand in a render pass; what sets the first
  // of them apart from others.
  uint32_t tied_count = 0;
  bool tied_in_pass = false;
  TieEvidence tie_evidence = TieEvidence::kNone;
};

// The last completed work of a queue.
struct CompletedWork {
  uint32_t verdict = kNone;    // the queue: into Analysis::verdicts
  uint32_t execution = kNone;  // into Analysis::executions
  uint32_t scope = kNone;      // into Analysis::scopes; kNone: no work of it is marked
};

// The progress of a queue's work when the program ended (slow_progress.h).
struct SlowProgress {
  uint32_t verdict =
      kNone;  // the queue: into Analysis::verdicts; kNone: it made none, or nobody knows
  bool counts_begun = false;  // the mode writes no ends: what was reached is counted as done
  uint64_t done_count = 0;    // works that had finished
  uint64_t work_count = 0;    // of so many
  uint64_t duration_ns = 0;   // from the submission to the end
};

// True where suspects are what failed; otherwise they are what was running when something else did.
constexpr bool HasCulpritWork(FindingKind kind) {
  return kind == FindingKind::kGpuFault || kind == FindingKind::kDeviceLost ||
         kind == FindingKind::kGpuHang;
}

// The work that a queue had to begin next, by words that were old copies: it may have begun.
struct NextWork {
  uint32_t verdict = kNone;    // the queue: into Analysis::verdicts
  uint32_t execution = kNone;  // into Analysis::executions
};

struct CulpritFinding {
  FindingKind kind = FindingKind::kNothingWrong;
  Certainty certainty = Certainty::kUnknown;
  // kGpuHang: it is as likely a fault of memory that the driver does not report (unreported_fault.h).
  bool may_be_fault = false;
  uint32_t incident = kNone;  // into Snapshot::incidents: the one that the kind follows from
  uint32_t fault_address =
      kNone;  // kGpuFault: into Snapshot::fault_addresses, if the driver tells it
  uint32_t kernel_line = kNone;  // kGpuFault: into Snapshot::kernel_lines, if the kernel does
  uint32_t cycle = kNone;    // kDeadlock: into WaitGraph::cycles; kNone if that one is not listed
  uint32_t wait = kNone;     // kEndlessWait: into WaitGraph::waits
  UnreturnedCall crash;      // kCpuFault: the thread, and the call that it was in
  BoundTables crash_tables;  // of that call's list
  // Every candidate of every queue, each once, behind the finished work that leads to a fault; of the kinds that are
  // no fault of the GPU's, what was running. None for kDeadlock and kEndlessWait: there no work is a suspect.
  std::vector<SuspectWork> suspects;
  // The number of suspects, from the first on, that nothing separates: at least 1 if there are
  // suspects.
  uint32_t tied = 0;
  SlowProgress
      slow;  // after an exit, a kill or an abort: the GPU was slow, and no work is the culprit
  std::vector<CompletedWork> last_completed;  // kAllCompleted: of each queue on which something had
  std::vector<NextWork> next_to_begin;  // kUnknown without suspects: of each queue with old words
};

// Returns the context of a suspect, in its queue's verdict; null where it is not explained.
const CandidateContext* FindContext(const Analysis& analysis, const SuspectWork& suspect);

// `analysis`, `waits` and `raw_verdicts` are those of `snapshot`. `device`: only what concerns this one; kNone:
// all of them. Pure. Time O(n log n) in the candidates, linear in the rest; the number of allocations does not
// depend on either. Any snapshot whose indices are in range is safe.
CulpritFinding FindCulprit(const Snapshot& snapshot, const Analysis& analysis,
                           const WaitGraph& waits, std::span<const RawMarkerVerdict> raw_verdicts,
                           uint32_t device = kNone);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_CULPRIT_H_
