// SPDX-License-Identifier: Apache-2.0
//
// Finds the work without which a program does not fail: the search of bisect.h over the work that
// its own runs met (work_tree.h). Another part runs the program (program_trial.h; tests: a model).
//
//   1. the whole program, `repeats` times: does it fail, how, and what work is there?
//   2. draws, dispatches and the like; copies and clears stay, for the others read what they write
//   3. only if it fails without all of those: copies and clears
//   4. if it fails in the same way without the culprit: again, without that, for a few more
//
// docs/internals/bisect.md.
#ifndef CAIRN_READER_BISECT_PROGRAM_SEARCH_H_
#define CAIRN_READER_BISECT_PROGRAM_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/elimination/catalogue.h"
#include "reader/bisect/bisect.h"
#include "reader/bisect/bisect_journal.h"
#include "reader/bisect/program_trial.h"
#include "reader/bisect/work_tree.h"

namespace cairn {

// Returns the words for the parts of a program in texts.
BisectWords ProgramWords();

// A run that leaves out what the question says; ended after `most_ns`, 0 for never.
using RunProgram = std::function<Result<TrialRun>(const BoardQuestion& question, uint64_t most_ns)>;

struct ProgramSearchOptions {
  uint32_t repeats = 2;  // BisectOptions::repeats
  uint64_t max_probes = 100'000;
  uint64_t hang_timeout_ns = uint64_t{10} * 1'000'000'000;
  std::function<void(const BisectProgress&)> progress;  // before each run; may be empty
  // The catalogue of the whole runs so far, before their answer counts; an error ends the search. May be empty.
  std::function<Status(const WorkCatalogue&)> save;
  // A run met no GPU although others did, the `nth` one in a row from 1 on: it may need a while to come back. May be
  // empty.
  std::function<void(uint32_t nth)> pause;
};

struct ProgramCulprit {
  Suspect suspect;
  WorkNote work;     // of a scope or a group, the first in it
  size_t count = 1;  // pieces of work that it stands for
  size_t alike = 1;  // of work: pieces that differ by their ordinal alone, itself included
};

// Culprits that fail by themselves; of several pieces of work all are needed.
using ProgramCulprits = std::vector<ProgramCulprit>;

struct ProgramFound {
  BisectAnswer answer;  // of the first search; `without` of the last, `probes` of all
  std::vector<ProgramCulprits>
      culprits;  // if found: those of `answer`, then what fails without them; at most kMost
  static constexpr size_t kMost = 5;
  BoardQuestion alone;  // if found: a run of nothing but the first culprits
  // Runs that kept one of `culprits` whole, and how many of them failed as the whole program did; the same of those
  // that did not.
  uint64_t runs_with = 0;
  uint64_t failed_with = 0;
  uint64_t runs_without = 0;
  uint64_t failed_without = 0;
  uint64_t failed_otherwise = 0;  // of all runs: in another way, which counts as no failure
  uint64_t stuck = 0;             // of all runs: ended by cairn, as they did not end by themselves
  // The totals of the runs of the whole program.
  uint64_t work = 0;                 // pieces that were met
  uint64_t work_not_in_all = 0;      // that some of those runs did not meet
  uint64_t work_dropped = 0;         // that found no room
  std::vector<std::string> devices;  // on which it recorded
  bool layers_seen = false;          // a layer saw the program record
  bool survived = false;             // one was ended by us, and clean
  int exit_code = 0;                 // of the last one that was clean and ended by itself
};

class ProgramSearch {
 public:
  // `journal` may be null. `known`: the catalogue that belongs to its answers, null if there is none.
  ProgramSearch(RunProgram run, ProgramSearchOptions options, BisectJournal* journal,
                const WorkCatalogue* known);

  // Errors: those of runs and of the journal; those of Bisect.
  Result<ProgramFound> Search();

 private:
  // One question and what came of it.
  struct Asked {
    std::shared_ptr<const WorkTree> tree;
    BisectQuestion question;
    ProbeAnswer answer;
  };

  Result<BisectAnswer> SearchAmong(LeaveOutClass work_class);
  Result<ProbeAnswer> Ask(const BisectQuestion& question);
  Result<ProbeAnswer> AskWhole();
  Result<ProbeAnswer> FromJournalOr(const BisectQuestion& question, const Probe& probe);
  Result<ProbeAnswer> Try(const BoardQuestion& question, TrialRun* run);
  Status Learn(const TrialRun& run);
  void Plant();
  Status SearchForMore(ProgramFound* found);
  void CountRuns(ProgramFound* found) const;
  ProgramCulprits Describe(const std::vector<Suspect>& culprits) const;

  const RunProgram run_;
  const ProgramSearchOptions options_;
  BisectJournal* const journal_;
  WorkCatalogue catalogue_;  // of the whole runs
  bool has_catalogue_ = false;
  std::shared_ptr<const WorkTree> tree_;  // what is searched now
  BisectTree suspects_;                   // the same, for Bisect
  LeaveOutClass searched_ = LeaveOutClass::kShader;
  std::vector<uint64_t> gone_;      // hashes of what was found
  std::vector<ProbeAnswer> whole_;  // answers of the whole runs, for the second search
  size_t next_whole_ = 0;
  std::vector<Asked> asked_;  // what undecided runs say is nothing
  uint64_t asks_ = 0;         // with those
  uint64_t longest_whole_ns_ = 0;
  uint32_t without_gpu_ = 0;  // runs in a row
  uint64_t stuck_ = 0;
  bool survived_ = false;
  int exit_code_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_PROGRAM_SEARCH_H_
