// SPDX-License-Identifier: Apache-2.0
//
// Runs a program again and again for a search: cairn bisect -- PROGRAM, cairn why. The program may be the playback of
// a trace (cli/trace_player.h).
#ifndef CAIRN_CLI_PROGRAM_RUNS_H_
#define CAIRN_CLI_PROGRAM_RUNS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/bisect_parts.h"
#include "cli/gpu_check.h"
#include "cli/progress.h"
#include "format/elimination/catalogue.h"
#include "reader/bisect/bisect_journal.h"
#include "reader/bisect/program_trial.h"

namespace cairn::cli {

struct ProgramRunsOptions {
  std::vector<std::string> program;  // and its arguments
  // Returns the run with what the program's exit code says of it; empty: nothing. Errors end the search.
  std::function<Result<TrialRun>(TrialRun, const Experiment&)> judge;
  // Returns the program with its arguments for another --hang-timeout; empty: it knows of none.
  std::function<std::vector<std::string>(uint64_t hang_timeout_ns)> with_hang_timeout;
  std::string journal;              // "": named after the program
  std::string hang_timeout = "10";  // seconds
  uint64_t hang_timeout_ns = 0;     // the same; not 0
  uint64_t survive_ns = 0;          // 0: the program ends by itself
  uint64_t recovery_ns = 0;         // GpuCheck
  bool restart = false;
  bool json = false;
  bool quiet = false;
  ProbeProgress progress = ProbeProgress::kNone;
};

// Reads --hang-timeout. Errors: kInvalidArgument, with a sentence for the user; 0 is one.
Result<uint64_t> ParseHangTimeout(const std::string& typed);
// Reads --survive, "" for none. Errors: as above; one that ends a run before a hang is noticed.
Result<uint64_t> ParseSurvive(const std::string& typed, const std::string& hang_timeout,
                              uint64_t hang_timeout_ns);

class ProgramRuns {
 public:
  // All have to outlive it.
  ProgramRuns(const char* verb, const ProgramRunsOptions& options, TaskProgress* signals);

  // Finds the layers. Errors: kNotFound, kUnsupported: as VulkanLayerVariables and PreloadedLayer.
  Status Prepare();

  const TrialSettings& settings() const { return settings_; }
  ProbeLine& line() { return line_; }

  // The journal's file: that of the options, else named after the program with this ending.
  std::string JournalPath(const char* ending) const;
  // The subject of its answers. `own_options`: those of the verb that they depend on.
  JournalIdentity Identity(const std::string& own_options) const;

  // Waits for the GPU if the run before failed. Errors: as RunTrial and GpuCheck.
  Result<TrialRun> Try(const TrialSettings& settings, const BoardQuestion& question);
  // Says that the runs draw, where that is known before the first one.
  void ExpectDraws() { gpus_.RunDraws(); }
  // Says what runs of an earlier search met.
  void NoteWork(const WorkCatalogue& catalogue);
  // Waits after a crash, when a GPU may be gone for a while; the `nth` time in a row. Returns early on ^C.
  void WaitForGpu(uint32_t nth) const;

  // Prints why the search ended without an answer.
  void PrintFailure(const Status& status) const;

 private:
  const char* const verb_;
  const ProgramRunsOptions& options_;
  TaskProgress* const signals_;
  ProbeLine line_;
  GpuCheck gpus_;
  TrialSettings settings_;
};

}  // namespace cairn::cli

#endif  // CAIRN_CLI_PROGRAM_RUNS_H_
