// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/program_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn {

BisectWords ProgramWords() {
  BisectWords words;
  words.whole = "program";
  words.play = "run";
  words.submission = "scope";
  words.list = "group";
  words.call = "piece of work";
  words.calls = "pieces of work";
  words.here = "";
  return words;
}

ProgramSearch::ProgramSearch(RunProgram run, ProgramSearchOptions options, BisectJournal* journal,
                             const WorkCatalogue* known)
    : run_(std::move(run)), options_(std::move(options)), journal_(journal) {
  if (known == nullptr) return;
  catalogue_ = *known;
  has_catalogue_ = true;
}

Result<ProbeAnswer> ProgramSearch::FromJournalOr(const BisectQuestion& question,
                                                 const Probe& probe) {
  ++asks_;
  return journal_ == nullptr ? probe(question) : journal_->Ask(question, probe);
}

Result<ProbeAnswer> ProgramSearch::Try(const BoardQuestion& question, TrialRun* run) {
  // A run that waits for omitted work waits forever. Until the duration of a whole run is known,
  // there is no limit.
  const bool whole = question == BoardQuestion();
  const uint64_t most_ns = whole || longest_whole_ns_ == 0
                               ? 0
                               : EndlessAfterNs(longest_whole_ns_, options_.hang_timeout_ns);
  Result<TrialRun> tried = run_(question, most_ns);
  if (!tried.ok()) return tried.status();
  *run = std::move(*tried);
  if (run->end == TrialEnd::kStuck) ++stuck_;
  Result<ProbeAnswer> answer = AnswerOf(*run);
  if (!answer.ok()) return answer;
  std::string missed = has_catalogue_ ? GpuMissedBy(*run, catalogue_) : "";
  if (missed.empty()) {
    without_gpu_ = 0;
    return answer;
  }
  ++without_gpu_;
  if (options_.pause) options_.pause(without_gpu_);
  return ProbeAnswer{ProbeOutcome::kUndecided, 0, FailureKind::kNone, 0, std::move(missed)};
}

Status ProgramSearch::Learn(const TrialRun& run) {
  longest_whole_ns_ = std::max(longest_whole_ns_, run.duration_ns);
  if (run.end == TrialEnd::kExited) exit_code_ = run.value;
  survived_ |= run.end == TrialEnd::kSurvived;
  if (has_catalogue_) {
    Merge(run.catalogue, &catalogue_);
  } else {
    catalogue_ = run.catalogue;
    has_catalogue_ = true;
  }
  return options_.save ? options_.save(catalogue_) : Status();
}

// Rebuilds the tree of work that can still be left out.
void ProgramSearch::Plant() {
  tree_ = std::make_shared<const WorkTree>(catalogue_, searched_, gone_);
  suspects_ = tree_->tree();
}

// The search among copies has the answers of the first.
Result<ProbeAnswer> ProgramSearch::AskWhole() {
  if (next_whole_ < whole_.size()) return whole_[next_whole_++];
  Result<ProbeAnswer> answer =
      FromJournalOr({}, [this](const BisectQuestion&) -> Result<ProbeAnswer> {
        TrialRun run;
        Result<ProbeAnswer> tried = Try({}, &run);
        if (tried.ok() && tried->outcome != ProbeOutcome::kUndecided) {
          CAIRN_RETURN_IF_ERROR(Learn(run));
        }
        return tried;
      });
  if (!answer.ok() || answer->outcome == ProbeOutcome::kUndecided) return answer;
  whole_.push_back(*answer);
  next_whole_ = whole_.size();
  Plant();
  asked_.push_back({tree_, {}, *answer});
  return answer;
}

Result<ProbeAnswer> ProgramSearch::Ask(const BisectQuestion& question) {
  if (question.left_out.empty() && gone_.empty()) return AskWhole();
  Result<ProbeAnswer> answer = FromJournalOr(question, [this](const BisectQuestion& q) {
    TrialRun run;
    return Try(tree_->QuestionFor(q), &run);
  });
  if (answer.ok() && answer->outcome != ProbeOutcome::kUndecided) {
    asked_.push_back({tree_, question, *answer});
  }
  return answer;
}

Result<BisectAnswer> ProgramSearch::SearchAmong(LeaveOutClass work_class) {
  searched_ = work_class;
  next_whole_ = 0;
  Plant();
  BisectOptions options;
  options.repeats = options_.repeats;
  options.max_probes = options_.max_probes;
  const uint64_t asked_before = asks_;
  options.progress = [&](BisectProgress now) {
    if (!options_.progress) return;
    now.probes_done += asked_before;
    now.probes_expected += asked_before;
    options_.progress(now);
  };
  options.words = ProgramWords();
  return Bisect(
      suspects_, [this](const BisectQuestion& question) { return Ask(question); }, options);
}

// Others that fail without those that were found.
Status ProgramSearch::SearchForMore(ProgramFound* found) {
  const BisectAnswer& first = found->answer;
  while (found->answer.without == ProbeOutcome::kFails &&
         IsSameFailure(first, asked_.back().answer) &&
         found->culprits.size() < ProgramFound::kMost) {
    for (const ProgramCulprit& culprit : found->culprits.back()) {
      gone_.push_back(tree_->HashOf(culprit.suspect));
    }
    Result<BisectAnswer> next = SearchAmong(searched_);
    if (!next.ok()) return next.status();
    found->answer.undecided += next->undecided;
    // This failure depends on no work that could be named, or is random.
    if (!next->found || next->kind != first.kind || next->signal != first.signal) return {};
    found->culprits.push_back(Describe(next->culprits));
    found->answer.without = next->without;
  }
  return {};
}

Result<ProgramFound> ProgramSearch::Search() {
  Result<BisectAnswer> answer = SearchAmong(LeaveOutClass::kShader);
  if (!answer.ok()) return answer.status();
  if (answer->no_culprit == NoCulprit::kFailsAnyway &&
      !WorkTree(catalogue_, LeaveOutClass::kCopy).tree().submissions.empty()) {
    answer = SearchAmong(LeaveOutClass::kCopy);
    if (!answer.ok()) return answer.status();
  }
  ProgramFound found;
  found.answer = std::move(*answer);
  if (found.answer.found) {
    found.culprits.push_back(Describe(found.answer.culprits));
    found.alone = tree_->AloneQuestion(found.answer.culprits);
    CAIRN_RETURN_IF_ERROR(SearchForMore(&found));
  }
  found.answer.probes = asks_;
  found.stuck = stuck_;
  found.work = catalogue_.work.size();
  found.work_not_in_all = static_cast<uint64_t>(
      std::count_if(catalogue_.work.begin(), catalogue_.work.end(),
                    [this](const WorkNote& note) { return note.runs < catalogue_.runs; }));
  found.work_dropped = catalogue_.dropped;
  found.devices = catalogue_.devices;
  found.layers_seen = catalogue_.lists != 0;
  found.survived = survived_;
  found.exit_code = exit_code_;
  CountRuns(&found);
  return found;
}

void ProgramSearch::CountRuns(ProgramFound* found) const {
  const BisectAnswer& failure = found->answer;
  for (const Asked& asked : asked_) {
    const bool failed = IsSameFailure(failure, asked.answer);
    if (!failed && asked.answer.outcome == ProbeOutcome::kFails) ++found->failed_otherwise;
    if (!failure.found || asked.answer.outcome == ProbeOutcome::kInvalid) continue;
    const auto keeps_all = [&](const ProgramCulprits& culprits) {
      return std::all_of(culprits.begin(), culprits.end(), [&](const ProgramCulprit& culprit) {
        return asked.tree->Keeps(asked.question, culprit.suspect.kind, culprit.work);
      });
    };
    const bool kept = std::any_of(found->culprits.begin(), found->culprits.end(), keeps_all);
    ++(kept ? found->runs_with : found->runs_without);
    if (failed) ++(kept ? found->failed_with : found->failed_without);
  }
}

ProgramCulprits ProgramSearch::Describe(const std::vector<Suspect>& culprits) const {
  ProgramCulprits described;
  for (const Suspect& suspect : culprits) {
    ProgramCulprit culprit;
    culprit.suspect = suspect;
    culprit.work = tree_->NoteOf(suspect);
    culprit.count = tree_->CountOf(suspect);
    culprit.alike = static_cast<size_t>(
        std::count_if(catalogue_.work.begin(), catalogue_.work.end(),
                      [&](const WorkNote& note) { return note.group == culprit.work.group; }));
    described.push_back(std::move(culprit));
  }
  return described;
}

}  // namespace cairn
