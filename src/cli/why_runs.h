// SPDX-License-Identifier: Apache-2.0
//
// The experiments of cairn why on a program, or on the playback of a trace; cairn bisect goes on with them.
#ifndef CAIRN_CLI_WHY_RUNS_H_
#define CAIRN_CLI_WHY_RUNS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "cli/program_runs.h"
#include "format/snapshot/snapshot.h"
#include "format/trace/trace_reader.h"
#include "reader/bisect/bisect_journal.h"
#include "reader/replay/device.h"
#include "reader/view/why_text.h"
#include "reader/why/why_search.h"

namespace cairn::cli {

struct WhyRunsOptions {
  uint32_t repeats = 3;
  uint32_t trips = 65536;
  uint32_t counts = 1 << 24;
  uint64_t max_runs = 10'000;
  // The shaders that are changed; empty: those of the work that the first report suspects.
  std::vector<uint64_t> shaders;
};

// The subject of the journal's answers.
struct WhySubject {
  std::string shown;  // the program as a shell takes it, or the trace's file
  bool is_trace = false;
  std::string journal;  // the file
  // `own_options`: those of the experiments.
  std::function<JournalIdentity(const std::string& own_options)> identity;
};

WhySubject WhySubjectOfTrace(const TraceReader& trace, const std::string& path,
                             const DeviceFacts& device, const PlayOn& on,
                             const std::string& journal, uint64_t hang_timeout_ns);

// The ending of a journal's name.
inline constexpr char kWhyEnding[] = ".why";

// The parts of a report that a search needs. Without one, or with one that knows nothing, all is empty.
struct ReportFacts {
  std::vector<uint64_t> shaders;              // of what it suspects
  std::string driver;                         // of the device
  std::map<uint64_t, std::string> pipelines;  // names, by the hashes of their shaders
  std::optional<Snapshot> snapshot;
};
ReportFacts ReadReportFacts(const std::string& path);

// The options with which cairn bisect goes on, of its own --runs and --max-probes: those of cairn why where they are not
// given, so that both ask the same.
WhyRunsOptions WhyOptionsBehind(uint32_t repeats, uint64_t max_probes);
// The journal's file beside one that was given with --journal; `otherwise` if none was.
std::string WhyJournalBeside(const std::string& given, const std::string& otherwise);

class WhyRuns {
 public:
  // `verb` is that of messages. All have to outlive it; `runs` is prepared.
  WhyRuns(const char* verb, const ProgramRunsOptions& options, ProgramRuns* runs,
          WhyRunsOptions why)
      : verb_(verb), options_(options), runs_(*runs), why_(std::move(why)) {}

  // Errors: those of WhySearch and of the journal, which stays if there are answers in it.
  Result<WhyTold> Search(const WhySubject& subject);
  // The report of the first run without a change that failed; empty if there is none.
  const std::optional<Snapshot>& report() const { return facts_.snapshot; }
  // Removes the journal: its answers were told.
  void Forget();

 private:
  WhyOptions SearchOptions();
  Result<WhyRun> Try(const Experiment& experiment, uint64_t most_ns);
  void SetMoreTime(uint32_t times, TrialSettings* settings) const;

  const char* const verb_;
  const ProgramRunsOptions& options_;
  ProgramRuns& runs_;
  const WhyRunsOptions why_;
  std::unique_ptr<BisectJournal> journal_;
  bool reported_ = false;  // a run without a change failed, and its report was read
  ReportFacts facts_;      // of it; its shaders went to the search
};

// The answer of cairn bisect about the cause.
struct WhyPart {
  std::optional<WhyTold> told;
  bool interrupted = false;  // the same command goes on: journals stay
};

// Makes the experiments. Prints why there is no answer.
WhyPart SearchBehindBisect(WhyRuns* runs, const WhySubject& subject);
// The same where the runs cannot be prepared.
void PrintNoWhy(const Status& status);
// Prints that the search for the cause was interrupted, behind the answer of the bisect.
void PrintWhyInterrupted();

}  // namespace cairn::cli

#endif  // CAIRN_CLI_WHY_RUNS_H_
