// SPDX-License-Identifier: Apache-2.0
//
// Finds the change without which a program fails, and with which it does not: pure strategy. Another part runs the
// program (program_trial.h; tests: a model).
//
//   1. the program as it is, `runs` times: does it fail, and how?
//   2. each experiment of experiments.h: the first failure ends it, for the failure did not go away
//   3. one that helps: the program as it is must fail again, and the change must help again
//   4. of loops: fewer trips, if loops come near the limit and the failure stays; counted loops without a limit must fail; more
//      trips; each cut loop alone
//      of bounds: accesses that are only checked must fail; of indirect counts: those that are only read
//      of robust accesses, stages and bindings: likely at most, for they have no control
//      of stages: each in turn, and none of them if another change helped
//      of bindings: which there are; each alone, and none if another change helped, but a stage
//      of time: it must not be ended for going on and on
//   5. where both kept objects and zeros in new memory help: which one it is
//
// docs/internals/why.md has the rules of proof.
#ifndef CAIRN_READER_WHY_WHY_SEARCH_H_
#define CAIRN_READER_WHY_WHY_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/experiment/experiment.h"
#include "format/experiment/experiment_board.h"
#include "format/experiment/robust_features.h"
#include "reader/bisect/bisect.h"
#include "reader/bisect/bisect_journal.h"
#include "reader/bisect/program_trial.h"
#include "reader/why/experiments.h"

namespace cairn {

// A run in which a stage or a binding was empty, as the journal keeps it.
struct EmptiedModules {
  uint32_t limited = 0;  // were changed
  uint32_t refused = 0;  // stayed as they were
  bool none = false;     // a device changed none

  bool operator==(const EmptiedModules&) const = default;
};
uint64_t WordOf(const EmptiedModules& modules);
EmptiedModules EmptiedModulesOf(uint64_t word);

struct WhyRun {
  TrialRun trial;
  // Of a run without a change that failed: hashes of the shader modules of what is suspected. Empty: not known.
  std::vector<uint64_t> shaders;
};

// Runs the program with one thing changed; ended after `most_ns`, 0 for never.
using RunExperiment = std::function<Result<WhyRun>(const Experiment& experiment, uint64_t most_ns)>;

struct WhyOptions {
  uint32_t runs = 3;          // of the program as it is, and of each change
  uint32_t trips = 65536;     // after which loops are cut
  uint32_t counts = 1 << 24;  // vertices of a draw, groups of a dispatch
  uint64_t max_runs = 10'000;
  // Hashes of the modules whose loops are limited, where the culprit is known; empty: WhyRun::shaders.
  std::vector<uint64_t> shaders;
  uint32_t most_undecided = 4;  // runs in a row that say nothing; more end the search
  uint64_t hang_timeout_ns = uint64_t{10} * 1'000'000'000;
  std::function<void(const BisectProgress&)> progress;  // before each run; may be empty
  // A run met no GPU although others did, the `nth` one in a row from 1 on. May be empty.
  std::function<void(uint32_t nth)> pause;
};

// Runs of one kind, and what came of them.
struct RunCount {
  uint32_t runs = 0;
  uint32_t failed = 0;     // as the program does without a change
  uint32_t otherwise = 0;  // in another way
  uint32_t endless =
      0;  // went on far longer than a run of the program as it is, without a failure; ended

  bool operator==(const RunCount&) const = default;
};

enum class WhyVerdict : uint8_t {
  kNotAsked,        // max_runs came first
  kDoesNotApply,    // the change changed nothing
  kFails,           // the failure stays
  kFailsOtherwise,  // another failure comes
  kCodeHelps,  // loops, bounds, counts, stages, bindings: not the limit helps, but what it takes to set it
  kLikely,  // the failure went away; once, or it comes and goes anyway
  kProven,  // it went away, came back without the change, and went away again
};

// Why a change does not apply with which the program does not fail, but never ends.
inline constexpr const char* kGoesOnAndOn =
    "the program does not end, and its GPU work does not hang";

// True for a cause.
constexpr bool Helps(WhyVerdict verdict) {
  return verdict == WhyVerdict::kLikely || verdict == WhyVerdict::kProven;
}

struct LoopFindings {
  Experiment limited;  // the change that was made
  RunCount control;    // loops are counted, and none is cut
  RunCount longer;     // with `longer_trips`
  uint32_t longer_trips = 0;
  // Loops that were cut while the failure was gone; the one with the most cuts first.
  std::vector<LoopNote> cut;
  // Those of them that are enough alone; empty if it takes several, or if that was not asked.
  std::vector<LoopNote> alone;
  uint64_t limited_loops = 0;  // so many had a limit
  uint64_t dropped = 0;        // so many found no room, and ran as they were
  uint32_t refused_modules = 0;
};

// Accesses that ran as they were, for one reason.
struct UncheckedAccesses {
  std::string why;
  uint64_t count = 0;
  bool partly = false;  // an index of each was not checked; others were
};

struct AccessFindings {
  Experiment checked;  // the change that was made
  RunCount control;    // accesses are checked, and each goes where the program wants it
  // Accesses that missed while the failure was gone; the one with the most misses first.
  std::vector<AccessNote> missed;
  uint64_t checked_accesses = 0;
  std::vector<UncheckedAccesses> unchecked;  // most first
  uint64_t dropped = 0;                      // as in LoopFindings
  uint32_t refused_modules = 0;
};

struct CountFindings {
  Experiment limited;  // the change that was made
  RunCount control;    // of indirect commands: counts are read, and none is limited
  // Commands that were limited while the failure was gone; the one that was limited most often first.
  std::vector<CountNote> calls;
  uint64_t not_limited = 0;  // commands whose counts were not looked at, when they were recorded
};

struct StageFindings {
  Experiment emptied;                    // the change that helped; else the last that was made
  std::vector<EmptiedStage> not_needed;  // with these emptied, in all shaders, the failure stays
  uint32_t refused_modules = 0;          // the most of a run
};

struct BindingFindings {
  Experiment emptied;  // the change that helped; else the one of `control`
  RunCount control;    // the layer tells which bindings there are, and changes nothing
  // The variables of that change: one of each shader that has the binding.
  std::vector<BindingNote> variables;
  // Others that help, alone and once; without what differs from shader to shader.
  std::vector<BindingNote> also;
  uint64_t not_asked = 0;    // bindings: too many, or max_runs came first
  uint64_t not_emptied = 0;  // bindings that no shader lets be emptied
  uint64_t endless = 0;      // bindings: with one empty the program does not end
  uint64_t dropped = 0;      // bindings that found no room on the board
  // Modules whose bindings are not known, or in which a binding stayed that was empty in others: the most of a run.
  uint32_t refused_modules = 0;
};

struct WhyResult {
  ExperimentName name = ExperimentName::kLoops;
  WhyVerdict verdict = WhyVerdict::kNotAsked;
  RunCount with;     // the change
  RunCount without;  // it, between runs with it
  // kFailsOtherwise; kNone if bindings differ in it
  FailureKind other_kind = FailureKind::kNone;
  int other_signal = 0;
  std::string why;  // kDoesNotApply: the reason
  // Stages and bindings: so many modules were changed. Robust: so many features were enabled. Others, except loops, bounds,
  // counts and time: the most changes that layers made
  // in one run.
  uint64_t changes = 0;
  LoopFindings loops;
  AccessFindings accesses;
  CountFindings counts;
  StageFindings stages;
  RobustDevices robust;
  BindingFindings bindings;
  uint64_t longest_ms = 0;  // of time: the longest run with it
};

struct WhyFound {
  // The program as it is.
  RunCount unchanged;
  FailureKind kind = FailureKind::kNone;
  int signal = 0;
  bool kind_varies = false;  // it failed in different ways: any counts
  bool survived = false;     // a run was ended by us, and clean
  int exit_code = 0;         // of the last one that was clean and ended by itself
  bool layers_seen = false;
  std::vector<std::string> devices;
  std::vector<uint64_t> shaders;  // to which loops and bounds were restricted; empty: all

  std::vector<WhyResult> results;  // in the order in which they were asked
  std::vector<size_t> causes;      // into `results`: proven before likely, then as ExperimentName
  bool out_of_runs = false;        // max_runs ended it
  uint64_t runs = 0;               // in all, those of the journal counted in
  uint64_t undecided = 0;          // of these: said nothing, and were made again
};

class WhySearch {
 public:
  // `journal` may be null.
  WhySearch(RunExperiment run, WhyOptions options, BisectJournal* journal)
      : run_(std::move(run)), options_(std::move(options)), journal_(journal) {}

  // Errors: those of runs and of the journal; kUnsupported: runs of one kind that say nothing again and again.
  // ProgramSearch says more about both.
  Result<WhyFound> Search();

 private:
  // nullopt: max_runs was reached.
  using Answer = Result<std::optional<ProbeAnswer>>;

  // What became of the failure in runs of one kind. The first run that fails is the last.
  enum class Went : uint8_t { kAway, kStays, kOtherwise, kNotAsked };

  Answer Ask(const Experiment& experiment);
  // Calls `run` until it says something; too often in a row is an error.
  Answer AskUntilDecided(const Experiment& experiment,
                         const std::function<Result<ProbeAnswer>()>& run);
  Result<ProbeAnswer> Try(const Experiment& experiment);
  void Note(const Experiment& experiment, const WhyRun& run);
  Status AskUnchanged();
  Status LearnAgain();
  // `last`: the answer of the run that failed; may be null.
  Result<Went> Repeat(const Experiment& experiment, uint32_t runs, RunCount* count,
                      ProbeAnswer* last);
  // As often as it takes to see the failure.
  Result<Went> Once(const Experiment& experiment, RunCount* count);
  Status AskOne(const Experiment& experiment, WhyResult* result);
  Status AskLoops(WhyResult* result);
  Status AskFewerTrips(const std::vector<LoopNote>& long_ones, WhyResult* result);
  Status AskBounds(WhyResult* result);
  Status AskCounts(WhyResult* result);
  Status AskStages(WhyResult* result);
  Status AskRobust(const Experiment& experiment, WhyResult* result);
  Status AskBindings(WhyResult* result);
  // Returns false if max_runs came first.
  Result<bool> AskBinding(const std::vector<BindingNote>& variables, const Experiment& experiment,
                          WhyResult* result);
  Status ConfirmLoops(WhyResult* result);
  Status NarrowLoops(WhyResult* result);
  Status Confirm(const Experiment& experiment, WhyResult* result);
  Status ConfirmWithoutControl(const Experiment& experiment, WhyResult* result);
  Status AskChange(const Experiment& experiment, WhyResult* result);
  Status TellKeptFromFresh();
  Status AskTime(const Experiment& experiment, WhyResult* result);
  // nullopt: max_runs was reached.
  Result<std::optional<ExperimentNotes>> TellingsOf(const Experiment& experiment);
  // Why stages and bindings, which say least, are not asked; "" if they are.
  std::string WhyNotEmptied() const;
  // Why an experiment that empties changed no module; `why` if nothing is known.
  Result<std::string> WhyNothingEmptied(const Experiment& experiment, std::string why);
  void Count(const ProbeAnswer& answer, RunCount* count) const;
  bool IsIt(const ProbeAnswer& answer) const;
  bool FailsAlways() const { return found_.unchanged.failed == found_.unchanged.runs; }
  // How many runs without a failure count as none.
  uint32_t TriesOfClean() const;
  std::vector<size_t> Ranked() const;

  const RunExperiment run_;
  const WhyOptions options_;
  BisectJournal* const journal_;
  WhyFound found_;
  std::string what_;  // is asked now
  uint64_t to_come_ = 0;
  bool learned_ = false;    // a run without a change was made by this process and failed
  WorkCatalogue baseline_;  // of such runs
  uint64_t longest_ns_ = 0;
  uint32_t without_gpu_ = 0;  // runs in a row
  // By experiment: what the shaders told. Of a run with cuts or misses, else of the last.
  std::map<std::string, ExperimentNotes> told_;
  std::map<std::string, uint64_t> numbers_;  // NumberOf, the most of a run
};

}  // namespace cairn

#endif  // CAIRN_READER_WHY_WHY_SEARCH_H_
