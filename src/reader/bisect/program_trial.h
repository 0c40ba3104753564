// SPDX-License-Identifier: Apache-2.0
//
// One run of a program for `cairn bisect -- PROGRAM` and `cairn why -- PROGRAM`: this program, run again with the word
// "trial", starts it under a watcher, as `cairn run` would, and tells in memory what happened. What the layers in the
// program are to leave out, and what they met, stands on a board (format/elimination/board.h); what limited loops did,
// on another (format/experiment/experiment_board.h).
//
// The program reads nothing, and what it prints goes nowhere. What it started ends with the run (Child::KillAll).
#ifndef CAIRN_READER_BISECT_PROGRAM_TRIAL_H_
#define CAIRN_READER_BISECT_PROGRAM_TRIAL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/elimination/catalogue.h"
#include "format/experiment/experiment.h"
#include "format/experiment/experiment_board.h"
#include "os/child_status.h"
#include "reader/bisect/bisect.h"

namespace cairn {

// The status of the child (os/child_status.h); the parent trusts none of it.
struct TrialStatus {
  enum class Program : uint32_t { kRuns, kEnded, kNotRun };

  // In the child. The first failure of a run is the one that counts: what follows is its consequence.
  void Fails(FailureKind kind, int number);

  StatusWord<FailureKind, FailureKind::kDied> failure;
  std::atomic<int32_t> signal{0};  // of the failure kDied
  StatusWord<Program, Program::kNotRun> program;
  std::atomic<int32_t> exit_code{0};  // of the program, once it kEnded
  StatusText<> why;                   // kNotRun
};

struct TrialSettings {
  std::vector<std::string> program;      // and its arguments
  std::vector<std::string> environment;  // "NAME=value", for the layers
  std::string preloaded;                 // the library that they are in; "": none
  std::string hang_timeout = "10";       // in seconds, as typed
  // A run that still goes after so long is clean, and is ended. 0: runs end by themselves.
  uint64_t survive_ns = 0;
  // One that goes on for so long although it did not fail says nothing, and is ended. 0: it may take any time.
  uint64_t most_ns = 0;
  Experiment experiment;  // what the layers change
  // Writes the report of the failure there; "": nowhere. A program that goes on after it lost its device is ended a
  // few seconds later, and its report may then stand at FILE.part.
  std::string report_path;
  std::function<bool()>
      keep_on;  // asked several times a second; false ends the run. Empty: always true
  std::vector<std::string> arguments = {"trial"};
};

enum class TrialEnd : uint8_t {
  kExited,       // by itself, with `value`
  kSurvived,     // TrialSettings::survive_ns
  kFailed,       // `failure`, and of a death the signal in `value`
  kStuck,        // TrialSettings::most_ns
  kEndedByUser,  // somebody outside ended it, by signal `value`
  kInterrupted,  // keep_on
};

struct TrialRun {
  TrialEnd end = TrialEnd::kExited;
  FailureKind failure = FailureKind::kNone;
  int value = 0;
  uint64_t duration_ns = 0;
  WorkCatalogue catalogue;
  ExperimentNotes notes;  // of changes with a board
};

// Errors: kUnsupported: the program cannot be run, with the reason, or not ended; kCorrupt: it wrote over its
// board; kIo.
Result<TrialRun> RunTrial(const TrialSettings& settings, const BoardQuestion& question);

// Returns how long a changed run may go on without a failure, if the program takes `longest_ns` as it is.
uint64_t EndlessAfterNs(uint64_t longest_ns, uint64_t hang_timeout_ns);

// A GPU that has just crashed may be gone for a while: then the program did not run as it does. Returns that in words;
// "" if the run met one that the program met in the runs of `usual`.
std::string GpuMissedBy(const TrialRun& run, const WorkCatalogue& usual);

// Returns the answer that a search draws from the run. Errors: kInterrupted.
Result<ProbeAnswer> AnswerOf(const TrialRun& run);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_PROGRAM_TRIAL_H_
