// SPDX-License-Identifier: Apache-2.0
//
// The experiment "bindings": which of them exist is told by a run in which the layer changes nothing; then each is empty
// alone.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "format/block/block.h"
#include "reader/why/why_search.h"

namespace cairn {
namespace {

// So many bindings are tried.
constexpr size_t kMostBindings = 8;

// The variables of one binding, in the shaders that have it.
using Candidate = std::vector<BindingNote>;

std::optional<EmptiedStage> StageOf(const BindingNote& note) {
  switch (note.stage) {
    case kStageVertex: return EmptiedStage::kVertex;
    case kStagePixel: return EmptiedStage::kFragment;
    default: return std::nullopt;
  }
}

// Where a stage helps, the failure needs its shaders; where one does not, it does not need them. Acceleration structures
// cannot be emptied.
bool MayHelp(const BindingNote& note, const StageFindings& stages, bool stage_helps) {
  if (note.kind == BindingKind::kAccelerationStructure) return false;
  const std::optional<EmptiedStage> stage = StageOf(note);
  if (stage_helps) return note.stage == ShaderNote::kNoStage || stage == stages.emptied.stage;
  return !stage || std::find(stages.not_needed.begin(), stages.not_needed.end(), *stage) ==
                       stages.not_needed.end();
}

// Those that mostly decide what a shader does first. Threads of the program have filled the board in any order, and the
// journal needs the same questions each time. A program's shaders of Direct3D come before an implementation's own.
std::vector<Candidate> CandidatesOf(std::vector<BindingNote> bindings, const StageFindings& stages,
                                    bool stage_helps) {
  std::sort(bindings.begin(), bindings.end(), [](const BindingNote& one, const BindingNote& other) {
    const bool one_is_own = one.translated == 0, other_is_own = other.translated == 0;
    return std::tie(one.kind, one_is_own, one.place, one.shader, one.index) <
           std::tie(other.kind, other_is_own, other.place, other.shader, other.index);
  });
  std::vector<Candidate> candidates;
  std::map<BindingPlace, size_t> known;
  for (BindingNote& note : bindings) {
    if (!MayHelp(note, stages, stage_helps)) continue;
    const auto [at, is_new] = known.emplace(note.place, candidates.size());
    if (is_new) candidates.emplace_back();
    candidates[at->second].push_back(std::move(note));
  }
  return candidates;
}

Experiment Emptying(const Candidate& candidate, const std::vector<uint64_t>& suspected) {
  Experiment experiment = {.change = Change::kEmptyBinding};
  experiment.binding = candidate.front().place;
  std::set<uint64_t> shaders;
  for (const BindingNote& variable : candidate) shaders.insert(variable.shader);
  if (shaders.size() > Experiment::kMostShaders) {
    experiment.shaders = suspected;
  } else {
    experiment.shaders.assign(shaders.begin(), shaders.end());
  }
  return experiment;
}

// Shaders may declare different things in one place.
BindingNote CommonOf(const Candidate& candidate) {
  BindingNote common = candidate.front();
  for (const BindingNote& variable : candidate) {
    if (variable.name != common.name) common.name.clear();
    if (variable.kind != common.kind) common.kind = BindingKind::kUnknown;
  }
  return common;
}

std::string WhyNoBinding(const ExperimentNotes& notes) {
  if (!notes.why_none.empty()) return notes.why_none;
  if (!notes.why_refused.empty()) return notes.why_refused;
  if (!notes.bindings.empty()) return "no binding of the shaders that count can be emptied";
  return notes.dropped != 0 ? "there was no room to tell the bindings of the shaders"
                            : "the shaders have no binding";
}

void Add(const RunCount& more, RunCount* count) {
  count->runs += more.runs;
  count->failed += more.failed;
  count->otherwise += more.otherwise;
  count->endless += more.endless;
}

// Those that do not help are one answer: it fails, or it fails otherwise with each; in one way, or in several.
void AddFailing(const WhyResult& one, WhyResult* result) {
  if (result->verdict != WhyVerdict::kFails) result->verdict = one.verdict;
  if (one.verdict == WhyVerdict::kFailsOtherwise) {
    const bool agree =
        result->other_kind == one.other_kind && result->other_signal == one.other_signal;
    const bool is_first = result->with.otherwise == 0;
    result->other_kind = is_first || agree ? one.other_kind : FailureKind::kNone;
    result->other_signal = is_first || agree ? one.other_signal : 0;
  }
  Add(one.with, &result->with);
  Add(one.without, &result->without);
}

}  // namespace

// Says where it shows, and no reason: asked if nothing but a stage helps. The first run tells which bindings there are,
// and controls the device that is made for changed shaders, for stages as well. Nothing controls the changed code.
Status WhySearch::AskBindings(WhyResult* result) {
  BindingFindings& bindings = result->bindings;
  result->verdict = WhyVerdict::kDoesNotApply;
  result->why = WhyNotEmptied();
  if (!result->why.empty()) return {};
  StageFindings stages;
  bool stage_helps = false;
  WhyResult* of_stages = nullptr;
  for (WhyResult& other : found_.results) {
    if (other.name != ExperimentName::kStages) continue;
    of_stages = &other;
    stages = other.stages;
    stage_helps = Helps(other.verdict);
  }
  bindings.emptied = {.change = Change::kEmptyBinding, .shaders = found_.shaders};
  const Result<Went> listed = Once(bindings.emptied, &bindings.control);
  if (!listed.ok()) return listed.status();
  std::optional<ExperimentNotes> notes;
  if (*listed != Went::kNotAsked) {
    Result<std::optional<ExperimentNotes>> told = TellingsOf(bindings.emptied);
    if (!told.ok()) return told.status();
    notes = std::move(*told);
  }
  if (!notes) {
    result->verdict = WhyVerdict::kNotAsked;
    return {};
  }
  // An empty stage needs that device, too.
  if (*listed == Went::kAway && stage_helps) of_stages->verdict = WhyVerdict::kCodeHelps;
  bindings.dropped = notes->dropped;
  bindings.refused_modules = notes->refused;
  result->why = WhyNoBinding(*notes);
  const std::vector<Candidate> candidates =
      CandidatesOf(std::move(notes->bindings), stages, stage_helps);
  if (candidates.empty()) return {};
  if (*listed == Went::kAway) {
    result->verdict = WhyVerdict::kCodeHelps;
    result->why.clear();
    return {};
  }
  const size_t tried = std::min(candidates.size(), kMostBindings);
  bindings.not_asked = candidates.size() - tried;
  to_come_ += tried;
  for (size_t i = 0; i < tried; ++i) {
    const Result<bool> asked =
        AskBinding(candidates[i], Emptying(candidates[i], found_.shaders), result);
    if (!asked.ok()) return asked.status();
    if (!found_.out_of_runs) continue;
    bindings.not_asked += tried - i - (*asked ? 1 : 0);
    if (result->with.runs == 0) result->verdict = WhyVerdict::kNotAsked;
    break;
  }
  if (result->verdict != WhyVerdict::kDoesNotApply) result->why.clear();
  if (result->verdict == WhyVerdict::kFails) {
    result->other_kind = FailureKind::kNone;
    result->other_signal = 0;
  }
  return {};
}

// The first one that helps is the answer; the others that do are told beside it.
Result<bool> WhySearch::AskBinding(const std::vector<BindingNote>& variables,
                                   const Experiment& experiment, WhyResult* result) {
  BindingFindings& bindings = result->bindings;
  WhyResult one;
  CAIRN_RETURN_IF_ERROR(AskOne(experiment, &one));
  if (one.verdict == WhyVerdict::kNotAsked) return false;
  const EmptiedModules modules = EmptiedModulesOf(numbers_[FormatExperiment(experiment)]);
  // On a device that was not changed the failure stays by itself.
  if (modules.limited == 0 || (modules.none && one.verdict == WhyVerdict::kFails)) {
    ++bindings.not_emptied;
    const Result<std::string> why = WhyNothingEmptied(experiment, result->why);
    if (!why.ok()) return why.status();
    result->why = *why;
    return true;
  }
  bindings.refused_modules = std::max(bindings.refused_modules, modules.refused);
  const bool is_first = !Helps(result->verdict);
  if (is_first && Helps(one.verdict) && one.with.endless == 0) {
    const RunCount clean = std::exchange(one.with, {});
    CAIRN_RETURN_IF_ERROR(ConfirmWithoutControl(experiment, &one));
    // The clean runs of one that fails the second time say nothing among those of others.
    if (Helps(one.verdict)) Add(clean, &one.with);
  }
  if (Helps(one.verdict) && one.with.endless != 0) {
    ++bindings.endless;
    if (is_first && result->with.runs == 0) result->why = kGoesOnAndOn;
    return true;
  }
  if (!is_first) {
    if (Helps(one.verdict)) bindings.also.push_back(CommonOf(variables));
    return true;
  }
  if (Helps(one.verdict)) {
    bindings.emptied = experiment;
    bindings.variables = variables;
    result->verdict = one.verdict;
    result->other_kind = FailureKind::kNone;
    result->other_signal = 0;
    result->with = one.with;
    result->without = one.without;
    result->changes = modules.limited;
    return true;
  }
  AddFailing(one, result);
  result->changes += modules.limited;
  return true;
}

}  // namespace cairn
