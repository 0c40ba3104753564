// SPDX-License-Identifier: Apache-2.0
//
// Findings: everything that follows from a dump, found once and handed to each printer: the report
// as text and as JSON, its page, the export for Perfetto, `cairn triage`. Facts are enumerators,
// counts, times and indices; reader/report makes sentences of them.
#ifndef CAIRN_READER_ANALYSIS_FINDINGS_H_
#define CAIRN_READER_ANALYSIS_FINDINGS_H_

#include <cstdint>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/analysis.h"
#include "reader/analysis/arguments_origin.h"
#include "reader/analysis/checkpoint_check.h"
#include "reader/analysis/culprit.h"
#include "reader/analysis/fault_address.h"
#include "reader/analysis/freed_in_flight.h"
#include "reader/analysis/raw_marker_verdicts.h"
#include "reader/analysis/submission_progress.h"
#include "reader/analysis/usual_duration.h"
#include "reader/analysis/waits.h"

namespace cairn {

// Indices lead into the snapshot, which is not part of it, and into each other. Nothing refers to
// memory of the snapshot.
struct Findings {
  // The device that the question is about, into Snapshot::devices: `culprit` concerns this one
  // only. kNone: all devices. Everything else is of all devices; whoever prints leaves out the
  // others.
  uint32_t device = kNone;

  // Progress: scopes and executions with their states, the candidates of each queue and their
  // context; work that had finished and leads to the address of a fault.
  Analysis analysis;
  // The progress of each queue in its submissions, and who waits for whom.
  WaitGraph waits;
  // Submissions of Vulkan without command lists, in submission order.
  std::vector<EmptySubmission> empty_submissions;
  // For each of Snapshot::submissions its execution, into Analysis::executions; kNone: its
  // recording is gone.
  std::vector<uint32_t> submission_executions;
  // For each queue with raw markers.
  std::vector<RawMarkerVerdict> raw_markers;

  // Owners of the addresses that drivers reported, that the kernel logged, and at which the program
  // died.
  FaultAddresses addresses;
  // Memory that shaders reach by address, destroyed while work was in flight.
  std::vector<FreedInFlight> freed_in_flight;
  // For each of Snapshot::checkpoints.
  std::vector<CheckpointVerdict> checkpoints;

  // The answer: what happened, how sure that is, which work can have done it.
  CulpritFinding culprit;
  // The usual duration of submissions like that of the first suspect, and of those with its label.
  UsualDuration duration;
  LabelDuration label_duration;
  // Who wrote the indirect arguments of the first suspect.
  ArgumentsOrigin arguments;
  // Missing data sources of the device that would have told more of it; into Snapshot::sources, in
  // rising order.
  std::vector<uint32_t> limiting_sources;
};

// Runs the whole analysis. `device`: as Findings::device. Pure. Time is O(n log n) at most in each
// table of the snapshot (bench AnalyseDump); the number of allocations does not depend on the
// number of events. Any snapshot whose indices are in range is safe.
Findings AnalyseDump(const Snapshot& snapshot, uint32_t device = kNone);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_FINDINGS_H_
