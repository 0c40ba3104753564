// SPDX-License-Identifier: Apache-2.0
#include "reader/why/why_search.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"

namespace cairn {
namespace {

// So many loops are tried alone, those with the most cuts.
constexpr size_t kMostAlone = 8;
constexpr uint32_t kLonger = 16;
// Loops that take too long in spite of the limit are asked with so many times fewer trips, down to the fewest.
constexpr uint32_t kFewer = 64;
constexpr uint32_t kFewestTrips = 16;

uint64_t KeyOf(const Experiment& experiment) {
  const std::string text = FormatExperiment(experiment);
  return XXH3_64bits(text.data(), text.size());
}

std::vector<LoopNote> CutLoops(const ExperimentNotes& notes) {
  std::vector<LoopNote> cut;
  std::copy_if(notes.loops.begin(), notes.loops.end(), std::back_inserter(cut),
               [](const LoopNote& loop) { return loop.record.cuts != 0; });
  std::stable_sort(cut.begin(), cut.end(), [](const LoopNote& one, const LoopNote& other) {
    return one.record.cuts > other.record.cuts;
  });
  return cut;
}

// Those with a part of `trips` in one execution, for a driver that leaves loops by itself.
std::vector<LoopNote> LongLoops(const ExperimentNotes& notes, uint32_t trips) {
  std::vector<LoopNote> long_ones;
  std::copy_if(notes.loops.begin(), notes.loops.end(), std::back_inserter(long_ones),
               [trips](const LoopNote& loop) {
                 return loop.record.most_trips >= std::max(1u, trips / kFewer);
               });
  return long_ones;
}

std::vector<uint64_t> ShadersOf(const std::vector<LoopNote>& loops) {
  std::vector<uint64_t> shaders;
  for (const LoopNote& loop : loops) {
    if (std::find(shaders.begin(), shaders.end(), loop.shader) == shaders.end()) {
      shaders.push_back(loop.shader);
    }
  }
  return shaders;
}

std::vector<AccessNote> MissedAccesses(const ExperimentNotes& notes) {
  std::vector<AccessNote> missed;
  std::copy_if(notes.accesses.begin(), notes.accesses.end(), std::back_inserter(missed),
               [](const AccessNote& access) { return access.record.misses != 0; });
  std::stable_sort(missed.begin(), missed.end(),
                   [](const AccessNote& one, const AccessNote& other) {
                     return one.record.misses > other.record.misses;
                   });
  return missed;
}

std::vector<CountNote> LimitedCalls(const ExperimentNotes& notes) {
  std::vector<CountNote> calls;
  std::copy_if(notes.counts.begin(), notes.counts.end(), std::back_inserter(calls),
               [](const CountNote& call) { return call.record.limited != 0; });
  std::stable_sort(calls.begin(), calls.end(), [](const CountNote& one, const CountNote& other) {
    return one.record.limited > other.record.limited;
  });
  return calls;
}

bool TellsSomething(const ExperimentNotes& notes) {
  return !CutLoops(notes).empty() || !MissedAccesses(notes).empty() || !LimitedCalls(notes).empty();
}

// Counts the loops or accesses that were changed.
template <typename Note>
uint64_t CountChanged(const std::vector<Note>& notes) {
  return static_cast<uint64_t>(std::count_if(notes.begin(), notes.end(),
                                             [](const Note& note) { return note.cannot.empty(); }));
}

std::vector<UncheckedAccesses> UncheckedOf(const ExperimentNotes& notes) {
  std::vector<UncheckedAccesses> unchecked;
  for (const AccessNote& access : notes.accesses) {
    const bool partly = access.cannot.empty();
    const std::string& why = partly ? access.partly : access.cannot;
    if (why.empty()) continue;
    const auto same = std::find_if(
        unchecked.begin(), unchecked.end(),
        [&](const UncheckedAccesses& known) { return known.partly == partly && known.why == why; });
    if (same != unchecked.end()) {
      ++same->count;
    } else {
      unchecked.push_back({why, 1, partly});
    }
  }
  std::stable_sort(unchecked.begin(), unchecked.end(),
                   [](const UncheckedAccesses& one, const UncheckedAccesses& other) {
                     return one.count > other.count;
                   });
  return unchecked;
}

std::string WhyNoAccess(const ExperimentNotes& notes, bool restricted) {
  if (!notes.why_none.empty()) return notes.why_none;
  if (!notes.why_refused.empty()) return notes.why_refused;
  return restricted ? "the shaders of the suspected work have no access that could be out of bounds"
                    : "no shader has an access that could be out of bounds";
}

std::string WhyNoLoop(const ExperimentNotes& notes, bool restricted) {
  if (!notes.why_none.empty()) return notes.why_none;
  if (!notes.why_refused.empty()) return notes.why_refused;
  for (const LoopNote& loop : notes.loops) {
    if (!loop.cannot.empty()) return "a loop cannot be limited: " + loop.cannot;
  }
  return restricted ? "the layers limited no loop in the shaders of the suspected work"
                    : "the layers limited no loop";
}

// Returns what the journal keeps of a run in the place of its answer: the changes that layers counted on the board of the
// run, the modules in which something was emptied, or how many milliseconds the run took. What shaders tell besides has a
// board of its own.
std::optional<uint64_t> NumberOf(const Experiment& experiment, const TrialRun& run) {
  constexpr uint64_t kNsPerMs = 1'000'000;
  if (experiment.change == Change::kMoreTime) return run.duration_ns / kNsPerMs;
  // Commands whose counts were not looked at: those that were limited stand on the other board.
  if (experiment.change == Change::kLimitCounts) return run.catalogue.not_changed;
  if (experiment.change == Change::kEmptyStage || experiment.change == Change::kEmptyBinding) {
    const ExperimentNotes& notes = run.notes;
    return WordOf(EmptiedModules{notes.limited, notes.refused, !notes.why_none.empty()});
  }
  if (experiment.change == Change::kNone || ChangesShaders(experiment.change)) return std::nullopt;
  return run.catalogue.changes;
}

}  // namespace

bool WhySearch::IsIt(const ProbeAnswer& answer) const {
  return answer.outcome == ProbeOutcome::kFails &&
         (found_.kind_varies || (answer.kind == found_.kind && answer.signal == found_.signal));
}

void WhySearch::Count(const ProbeAnswer& answer, RunCount* count) const {
  ++count->runs;
  if (answer.outcome == ProbeOutcome::kInvalid) ++count->endless;
  if (answer.outcome != ProbeOutcome::kFails) return;
  ++(IsIt(answer) ? count->failed : count->otherwise);
}

uint32_t WhySearch::TriesOfClean() const {
  if (FailsAlways()) return options_.runs;
  // 99 of 100 failures would have shown by then.
  const double rate = static_cast<double>(found_.unchanged.failed) / found_.unchanged.runs;
  const double enough = std::ceil(std::log(0.01) / std::log(1 - rate));
  return std::max(options_.runs, static_cast<uint32_t>(enough));
}

Result<ProbeAnswer> WhySearch::Try(const Experiment& experiment) {
  const bool unchanged = experiment.change == Change::kNone;
  const uint64_t hang_timeout_ns = options_.hang_timeout_ns * std::max(1u, experiment.times);
  const uint64_t most_ns =
      unchanged || longest_ns_ == 0 ? 0 : EndlessAfterNs(longest_ns_, hang_timeout_ns);
  const Result<WhyRun> run = run_(experiment, most_ns);
  if (!run.ok()) return run.status();
  Result<ProbeAnswer> answer = AnswerOf(run->trial);
  if (!answer.ok()) return answer;
  std::string missed = learned_ ? GpuMissedBy(run->trial, baseline_) : "";
  if (missed.empty()) {
    without_gpu_ = 0;
    if (answer->outcome == ProbeOutcome::kUndecided) return answer;
    Note(experiment, *run);
    // The journal keeps it: a search that goes on knows whether the change was made.
    if (const auto number = NumberOf(experiment, run->trial)) answer->place = *number;
    return answer;
  }
  ++without_gpu_;
  if (options_.pause) options_.pause(without_gpu_);
  return ProbeAnswer{ProbeOutcome::kUndecided, 0, FailureKind::kNone, 0, std::move(missed)};
}

void WhySearch::Note(const Experiment& experiment, const WhyRun& run) {
  const TrialRun& trial = run.trial;
  if (TellsOnBoard(experiment.change)) {
    ExperimentNotes& known = told_[FormatExperiment(experiment)];
    if (!TellsSomething(known) || TellsSomething(trial.notes)) known = trial.notes;
  }
  if (experiment.change != Change::kNone) return;
  longest_ns_ = std::max(longest_ns_, trial.duration_ns);
  if (trial.end == TrialEnd::kExited) found_.exit_code = trial.value;
  found_.survived |= trial.end == TrialEnd::kSurvived;
  if (learned_) {
    Merge(trial.catalogue, &baseline_);
  } else {
    baseline_ = trial.catalogue;
  }
  learned_ |= trial.end == TrialEnd::kFailed;
  // Those of the first failure: each experiment restricts loops to the same shaders.
  if (found_.shaders.empty() && trial.end == TrialEnd::kFailed) found_.shaders = run.shaders;
}

WhySearch::Answer WhySearch::Ask(const Experiment& experiment) {
  const auto run = [&] { return Try(experiment); };
  return AskUntilDecided(experiment, [&] {
    return journal_ == nullptr ? run() : journal_->AskKey(KeyOf(experiment), run);
  });
}

WhySearch::Answer WhySearch::AskUntilDecided(const Experiment& experiment,
                                             const std::function<Result<ProbeAnswer>()>& run) {
  const uint32_t most = std::max(1u, options_.most_undecided);
  for (uint32_t undecided = 0;;) {
    if (found_.runs >= options_.max_runs) {
      found_.out_of_runs = true;
      return std::optional<ProbeAnswer>();
    }
    if (options_.progress) {
      options_.progress({found_.runs, found_.runs + std::max<uint64_t>(1, to_come_), what_});
    }
    ++found_.runs;
    Result<ProbeAnswer> answer = run();
    if (!answer.ok()) return answer.status();
    if (answer->outcome != ProbeOutcome::kUndecided) {
      if (to_come_ != 0) --to_come_;
      uint64_t& number = numbers_[FormatExperiment(experiment)];
      number = std::max(number, answer->place);
      return std::optional<ProbeAnswer>(std::move(*answer));
    }
    ++found_.undecided;
    if (++undecided < most) continue;
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} runs in a row did not show whether the program fails: {}",
                              undecided, answer->why));
  }
}

Status WhySearch::AskUnchanged() {
  what_ = "the program as it is";
  const uint32_t runs = std::max(1u, options_.runs);
  to_come_ = runs + ExperimentRows().size();
  std::optional<ProbeAnswer> first;
  for (uint32_t i = 0; i < runs; ++i) {
    const Answer answer = Ask({});
    if (!answer.ok()) return answer.status();
    if (!answer->has_value()) return {};
    const ProbeAnswer& told = **answer;
    ++found_.unchanged.runs;
    if (told.outcome != ProbeOutcome::kFails) continue;
    ++found_.unchanged.failed;
    if (first && (first->kind != told.kind || first->signal != told.signal)) {
      found_.kind_varies = true;
    }
    if (!first) first = told;
  }
  if (!first) return {};
  found_.kind = first->kind;
  found_.signal = first->signal;
  return {};
}

// The journal keeps answers alone. Whoever goes on with one runs the program as it is once more for the rest: the
// shaders that are suspected, the time that a run takes, the devices.
Status WhySearch::LearnAgain() {
  for (uint32_t i = 0; !learned_ && i < TriesOfClean(); ++i) {
    if (found_.runs >= options_.max_runs) return {};
    ++found_.runs;
    const Result<ProbeAnswer> answer = Try({});
    if (!answer.ok()) return answer.status();
  }
  return {};
}

Result<WhySearch::Went> WhySearch::Repeat(const Experiment& experiment, uint32_t runs,
                                          RunCount* count, ProbeAnswer* last) {
  for (uint32_t i = 0; i < runs; ++i) {
    const Answer answer = Ask(experiment);
    if (!answer.ok()) return answer.status();
    if (!answer->has_value()) return Went::kNotAsked;
    Count(**answer, count);
    if ((*answer)->outcome != ProbeOutcome::kFails) continue;
    if (last != nullptr) *last = **answer;
    return IsIt(**answer) ? Went::kStays : Went::kOtherwise;
  }
  return Went::kAway;
}

Result<WhySearch::Went> WhySearch::Once(const Experiment& experiment, RunCount* count) {
  return Repeat(experiment, FailsAlways() ? 1 : TriesOfClean(), count, nullptr);
}

// Sets kLikely if the failure goes away.
Status WhySearch::AskOne(const Experiment& experiment, WhyResult* result) {
  ProbeAnswer last;
  const Result<Went> went = Repeat(experiment, TriesOfClean(), &result->with, &last);
  if (!went.ok()) return went.status();
  switch (*went) {
    case Went::kAway: result->verdict = WhyVerdict::kLikely; break;
    case Went::kStays: result->verdict = WhyVerdict::kFails; break;
    case Went::kOtherwise:
      result->verdict = WhyVerdict::kFailsOtherwise;
      result->other_kind = last.kind;
      result->other_signal = last.signal;
      break;
    case Went::kNotAsked: break;
  }
  return {};
}

// It comes back without the change, and goes again with it.
Status WhySearch::Confirm(const Experiment& experiment, WhyResult* result) {
  to_come_ += 2;
  const Result<Went> back = Once({}, &result->without);
  if (!back.ok()) return back.status();
  if (*back != Went::kStays) return {};
  ProbeAnswer last;
  const Result<Went> again =
      Repeat(experiment, FailsAlways() ? 1 : TriesOfClean(), &result->with, &last);
  if (!again.ok()) return again.status();
  if (*again == Went::kAway && FailsAlways()) result->verdict = WhyVerdict::kProven;
  if (*again == Went::kStays) result->verdict = WhyVerdict::kFails;
  if (*again == Went::kOtherwise) {
    result->verdict = WhyVerdict::kFailsOtherwise;
    result->other_kind = last.kind;
    result->other_signal = last.signal;
  }
  return {};
}

// A driver compiles other code, and no run has that code without what it does.
Status WhySearch::ConfirmWithoutControl(const Experiment& experiment, WhyResult* result) {
  CAIRN_RETURN_IF_ERROR(Confirm(experiment, result));
  if (result->verdict == WhyVerdict::kProven) result->verdict = WhyVerdict::kLikely;
  return {};
}

// Those of a run of this process: one more is made if all came from the journal.
Result<std::optional<ExperimentNotes>> WhySearch::TellingsOf(const Experiment& experiment) {
  const std::string text = FormatExperiment(experiment);
  if (!told_.contains(text)) {
    ++to_come_;
    const Answer answer = AskUntilDecided(experiment, [&] { return Try(experiment); });
    if (!answer.ok()) return answer.status();
    if (!answer->has_value()) return std::optional<ExperimentNotes>();
  }
  return std::optional<ExperimentNotes>(told_[text]);
}

Status WhySearch::AskChange(const Experiment& experiment, WhyResult* result) {
  CAIRN_RETURN_IF_ERROR(AskOne(experiment, result));
  if (result->verdict == WhyVerdict::kNotAsked) return {};
  result->changes = numbers_[FormatExperiment(experiment)];
  if (result->changes == 0) {
    result->verdict = WhyVerdict::kDoesNotApply;
    result->why = "the layers changed nothing";
    return {};
  }
  return Helps(result->verdict) ? Confirm(experiment, result) : Status();
}

Status WhySearch::AskTime(const Experiment& experiment, WhyResult* result) {
  CAIRN_RETURN_IF_ERROR(AskOne(experiment, result));
  if (!Helps(result->verdict)) return {};
  CAIRN_RETURN_IF_ERROR(Confirm(experiment, result));
  result->longest_ms = numbers_[FormatExperiment(experiment)];
  if (result->with.endless == 0) return {};
  result->verdict = WhyVerdict::kDoesNotApply;
  result->why = kGoesOnAndOn;
  return {};
}

Status WhySearch::AskLoops(WhyResult* result) {
  LoopFindings& loops = result->loops;
  loops.limited = {
      .change = Change::kLimitLoops, .trips = options_.trips, .shaders = found_.shaders};
  CAIRN_RETURN_IF_ERROR(AskOne(loops.limited, result));
  if (result->verdict == WhyVerdict::kNotAsked) return {};
  const Result<std::optional<ExperimentNotes>> told = TellingsOf(loops.limited);
  if (!told.ok()) return told.status();
  if (!told->has_value()) {
    result->verdict = WhyVerdict::kNotAsked;
    return {};
  }
  const ExperimentNotes& notes = **told;
  loops.limited_loops = CountChanged(notes.loops);
  loops.dropped = notes.dropped;
  loops.refused_modules = notes.refused;
  if (notes.limited == 0 || loops.limited_loops == 0) {
    result->verdict = WhyVerdict::kDoesNotApply;
    result->why = WhyNoLoop(notes, !found_.shaders.empty());
    return {};
  }
  loops.cut = CutLoops(notes);
  if (result->verdict == WhyVerdict::kFails) {
    CAIRN_RETURN_IF_ERROR(AskFewerTrips(
        loops.cut.empty() ? LongLoops(notes, loops.limited.trips) : loops.cut, result));
  }
  if (!Helps(result->verdict)) {
    loops.cut.clear();
    return {};
  }
  if (loops.cut.empty()) {
    result->verdict = WhyVerdict::kCodeHelps;
    return {};
  }
  return ConfirmLoops(result);
}

// Loops that reached the limit take too long nevertheless where thousands of invocations wait for one lock. They alone
// are cut earlier: what had ended by itself says nothing if it is cut, too.
Status WhySearch::AskFewerTrips(const std::vector<LoopNote>& long_ones, WhyResult* result) {
  if (long_ones.empty() || ShadersOf(long_ones).size() > Experiment::kMostShaders) return {};
  WhyResult fewer = *result;
  Experiment& limited = fewer.loops.limited;
  limited.shaders = ShadersOf(long_ones);
  if (long_ones.size() == 1) limited.loop = long_ones.front().index;
  for (limited.trips /= kFewer; limited.trips >= kFewestTrips; limited.trips /= kFewer) {
    ++to_come_;
    fewer.with = {};
    fewer.verdict = WhyVerdict::kNotAsked;
    CAIRN_RETURN_IF_ERROR(AskOne(limited, &fewer));
    if (fewer.verdict != WhyVerdict::kFails) break;
  }
  if (!Helps(fewer.verdict)) return {};
  const Result<std::optional<ExperimentNotes>> told = TellingsOf(limited);
  if (!told.ok()) return told.status();
  if (!told->has_value()) {
    result->verdict = WhyVerdict::kNotAsked;
    return {};
  }
  fewer.loops.cut = CutLoops(**told);
  std::erase_if(fewer.loops.cut, [&long_ones](const LoopNote& loop) {
    return std::none_of(long_ones.begin(), long_ones.end(), [&loop](const LoopNote& long_one) {
      return long_one.shader == loop.shader && long_one.index == loop.index;
    });
  });
  *result = std::move(fewer);
  return {};
}

Status WhySearch::ConfirmLoops(WhyResult* result) {
  LoopFindings& loops = result->loops;
  to_come_ += 2;
  Experiment control = loops.limited;
  control.trips = Experiment::kOnlyCount;
  const Result<Went> counted = Once(control, &loops.control);
  if (!counted.ok()) return counted.status();
  if (*counted == Went::kAway) {
    result->verdict = WhyVerdict::kCodeHelps;
    return {};
  }
  CAIRN_RETURN_IF_ERROR(Confirm(loops.limited, result));
  if (!Helps(result->verdict)) return {};
  // A control that fails in another way, or was not made, proves nothing.
  if (*counted != Went::kStays) result->verdict = WhyVerdict::kLikely;
  constexpr uint32_t kMostTrips = Experiment::kOnlyCount - 1;
  loops.longer_trips =
      loops.limited.trips > kMostTrips / kLonger ? kMostTrips : loops.limited.trips * kLonger;
  Experiment longer = loops.limited;
  longer.trips = loops.longer_trips;
  const Result<Went> still = Once(longer, &loops.longer);
  if (!still.ok()) return still.status();
  return NarrowLoops(result);
}

Status WhySearch::NarrowLoops(WhyResult* result) {
  LoopFindings& loops = result->loops;
  // Others were counted, and the control says that this does not help.
  if (loops.cut.size() == 1) {
    loops.alone = loops.cut;
    return {};
  }
  const size_t tried = std::min(loops.cut.size(), kMostAlone);
  to_come_ += tried;
  for (size_t i = 0; i < tried; ++i) {
    Experiment alone = loops.limited;
    alone.shaders = {loops.cut[i].shader};
    alone.loop = loops.cut[i].index;
    RunCount count;
    const Result<Went> went = Repeat(alone, TriesOfClean(), &count, nullptr);
    if (!went.ok()) return went.status();
    if (*went == Went::kAway) loops.alone.push_back(loops.cut[i]);
  }
  return {};
}

Status WhySearch::AskBounds(WhyResult* result) {
  AccessFindings& accesses = result->accesses;
  accesses.checked = {.change = Change::kCheckBounds, .shaders = found_.shaders};
  CAIRN_RETURN_IF_ERROR(AskOne(accesses.checked, result));
  if (result->verdict == WhyVerdict::kNotAsked) return {};
  const Result<std::optional<ExperimentNotes>> told = TellingsOf(accesses.checked);
  if (!told.ok()) return told.status();
  if (!told->has_value()) {
    result->verdict = WhyVerdict::kNotAsked;
    return {};
  }
  const ExperimentNotes& notes = **told;
  accesses.checked_accesses = CountChanged(notes.accesses);
  accesses.unchecked = UncheckedOf(notes);
  accesses.dropped = notes.dropped;
  accesses.refused_modules = notes.refused;
  // A device whose buffers are too many may have accessed what another one forbids.
  if (notes.limited == 0 || accesses.checked_accesses == 0 || !notes.why_none.empty()) {
    result->verdict = WhyVerdict::kDoesNotApply;
    result->why = WhyNoAccess(notes, !found_.shaders.empty());
    return {};
  }
  if (!Helps(result->verdict)) return {};
  accesses.missed = MissedAccesses(notes);
  if (accesses.missed.empty()) {
    result->verdict = WhyVerdict::kCodeHelps;
    return {};
  }
  ++to_come_;
  Experiment control = accesses.checked;
  control.only_counts = true;
  const Result<Went> counted = Once(control, &accesses.control);
  if (!counted.ok()) return counted.status();
  if (*counted == Went::kAway) {
    result->verdict = WhyVerdict::kCodeHelps;
    return {};
  }
  CAIRN_RETURN_IF_ERROR(Confirm(accesses.checked, result));
  // A control that fails in another way, or was not made, proves nothing.
  if (Helps(result->verdict) && *counted != Went::kStays) result->verdict = WhyVerdict::kLikely;
  return {};
}

// Memory that is kept is not given out again, so that new memory is fresh from the system, which mostly is zeros. That
// helps as well where memory is read that nobody has written, but not if new memory then holds something else.
Status WhySearch::TellKeptFromFresh() {
  WhyResult* kept = nullptr;
  bool zeros_help = false;
  for (WhyResult& result : found_.results) {
    if (!Helps(result.verdict)) continue;
    if (result.name == ExperimentName::kKeepAlive) kept = &result;
    zeros_help = zeros_help || result.name == ExperimentName::kMemoryZero;
  }
  if (kept == nullptr || !zeros_help) return {};
  const Experiment filled = {.change = Change::kKeepAlive, .fill = 0xfe, .fills = true};
  what_ = "objects kept alive, new memory filled with 0xFE";
  to_come_ += FailsAlways() ? 1 : TriesOfClean();
  RunCount count;
  const Result<Went> went = Once(filled, &count);
  if (!went.ok()) return went.status();
  switch (*went) {
    case Went::kAway: break;
    case Went::kStays:
      kept->verdict = WhyVerdict::kDoesNotApply;
      kept->why =
          "with it, and new memory filled with 0xFE, the program fails: it helped because "
          "memory that is kept is not given out again";
      break;
    case Went::kOtherwise:
    case Went::kNotAsked: kept->verdict = WhyVerdict::kLikely; break;
  }
  return {};
}

Status WhySearch::AskCounts(WhyResult* result) {
  CountFindings& counts = result->counts;
  counts.limited = {.change = Change::kLimitCounts, .counts = options_.counts};
  CAIRN_RETURN_IF_ERROR(AskOne(counts.limited, result));
  if (result->verdict == WhyVerdict::kNotAsked) return {};
  const Result<std::optional<ExperimentNotes>> told = TellingsOf(counts.limited);
  if (!told.ok()) return told.status();
  if (!told->has_value()) {
    result->verdict = WhyVerdict::kNotAsked;
    return {};
  }
  const ExperimentNotes& notes = **told;
  counts.not_limited = numbers_[FormatExperiment(counts.limited)];
  counts.calls = LimitedCalls(notes);
  if (counts.calls.empty()) {
    result->verdict = WhyVerdict::kDoesNotApply;
    result->why = fmt::format("no draw or dispatch{} has more than {} vertices or groups",
                              counts.not_limited == 0 ? "" : " that could be limited",
                              GroupedDigits(options_.counts));
    return {};
  }
  if (!Helps(result->verdict)) return {};
  const bool copies = std::any_of(counts.calls.begin(), counts.calls.end(),
                                  [](const CountNote& call) { return call.is_indirect; });
  std::optional<Went> read;
  if (copies) {
    ++to_come_;
    Experiment control = counts.limited;
    control.counts = Experiment::kOnlyCount;
    const Result<Went> went = Once(control, &counts.control);
    if (!went.ok()) return went.status();
    read = *went;
  }
  if (read == Went::kAway) {
    result->verdict = WhyVerdict::kCodeHelps;
    return {};
  }
  CAIRN_RETURN_IF_ERROR(Confirm(counts.limited, result));
  // A control that fails in another way, or was not made, proves nothing.
  if (Helps(result->verdict) && read.value_or(Went::kStays) != Went::kStays) {
    result->verdict = WhyVerdict::kLikely;
  }
  return {};
}

// Proven before likely; then the deepest, which ExperimentName has first.
std::vector<size_t> WhySearch::Ranked() const {
  std::vector<size_t> causes;
  for (size_t i = 0; i < found_.results.size(); ++i) {
    if (Helps(found_.results[i].verdict)) causes.push_back(i);
  }
  std::sort(causes.begin(), causes.end(), [this](size_t one, size_t other) {
    const WhyResult& a = found_.results[one];
    const WhyResult& b = found_.results[other];
    if (a.verdict != b.verdict) return a.verdict > b.verdict;
    return a.name < b.name;
  });
  return causes;
}

Result<WhyFound> WhySearch::Search() {
  found_ = {};
  found_.shaders = options_.shaders;
  CAIRN_RETURN_IF_ERROR(AskUnchanged());
  if (found_.unchanged.failed != 0) CAIRN_RETURN_IF_ERROR(LearnAgain());
  found_.layers_seen = baseline_.lists != 0;
  found_.devices = baseline_.devices;
  if (found_.unchanged.failed == 0) return found_;
  const std::vector<ExperimentName> order = OrderFor(found_.kind);
  for (size_t i = 0; i < order.size(); ++i) {
    const ExperimentRow& row = RowOf(order[i]);
    what_ = row.with;
    to_come_ = order.size() - i;
    WhyResult& result = found_.results.emplace_back();
    result.name = order[i];
    if (!found_.layers_seen) {
      result.verdict = WhyVerdict::kDoesNotApply;
      result.why = "no layer saw the program record work";
      continue;
    }
    if (row.name == ExperimentName::kLoops) {
      CAIRN_RETURN_IF_ERROR(AskLoops(&result));
      continue;
    }
    if (row.name == ExperimentName::kBounds) {
      CAIRN_RETURN_IF_ERROR(AskBounds(&result));
      continue;
    }
    if (row.name == ExperimentName::kStages) {
      CAIRN_RETURN_IF_ERROR(AskStages(&result));
      continue;
    }
    if (row.name == ExperimentName::kBindings) {
      CAIRN_RETURN_IF_ERROR(AskBindings(&result));
      continue;
    }
    if (row.name == ExperimentName::kCounts) {
      CAIRN_RETURN_IF_ERROR(AskCounts(&result));
      continue;
    }
    if (row.name == ExperimentName::kRobust) {
      CAIRN_RETURN_IF_ERROR(AskRobust(row.experiment, &result));
      continue;
    }
    if (row.name == ExperimentName::kTime) {
      CAIRN_RETURN_IF_ERROR(AskTime(row.experiment, &result));
      continue;
    }
    CAIRN_RETURN_IF_ERROR(AskChange(row.experiment, &result));
  }
  CAIRN_RETURN_IF_ERROR(TellKeptFromFresh());
  found_.causes = Ranked();
  return found_;
}

}  // namespace cairn
