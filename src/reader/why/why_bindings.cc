// SPDX-License-Identifier: Apache-2.0
//
// The experiment "bindings": which of them exist is told by a run in which the layer changes nothing; then each is empty
// alone.
#include <algorithm>

#include "format/block/block.h"
#include "reader/why/why_search.h"

namespace cairn {
namespace {

// So many bindings are tried.
constexpr size_t kMostBindings = 8;

// The variables of one binding, in the shaders that have it.
struct Candidate {
  BindingKind kind = BindingKind::kUnknown;
  std::vector<BindingNote> variables;
};

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

// Those that mostly decide what a shader does first, then as the board has them.
std::vector<Candidate> CandidatesOf(const ExperimentNotes& notes, const StageFindings& stages,
                                    bool stage_helps) {
  std::vector<Candidate> candidates;
  for (const BindingNote& note : notes.bindings) {
    if (!MayHelp(note, stages, stage_helps)) continue;
    const auto same = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& one) {
      return one.variables.front().place == note.place;
    });
    if (same != candidates.end()) {
      same->variables.push_back(note);
    } else {
      candidates.push_back({note.kind, {note}});
    }
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate& one, const Candidate& other) { return one.kind < other.kind; });
  return candidates;
}

Experiment Emptying(const Candidate& candidate, const std::vector<uint64_t>& suspected) {
  Experiment experiment = {.change = Change::kEmptyBinding};
  experiment.binding = candidate.variables.front().place;
  for (const BindingNote& variable : candidate.variables) {
    std::vector<uint64_t>& shaders = experiment.shaders;
    if (std::find(shaders.begin(), shaders.end(), variable.shader) == shaders.end())
      shaders.push_back(variable.shader);
  }
  if (experiment.shaders.size() > Experiment::kMostShaders) experiment.shaders = suspected;
  return experiment;
}

void Add(const RunCount& more, RunCount* count) {
  count->runs += more.runs;
  count->failed += more.failed;
  count->otherwise += more.otherwise;
  count->endless += more.endless;
}

}  // namespace

// Says where it shows, and no reason: asked if nothing but a stage helps. Tells which bindings there are, and so is the
// control: a device that is made for changed shaders, and has none.
Status WhySearch::AskBindings(WhyResult* result) {
  BindingFindings& bindings = result->bindings;
  StageFindings stages;
  bool stage_helps = false, another_helps = false;
  for (const WhyResult& other : found_.results) {
    if (other.name != ExperimentName::kStages) {
      another_helps = another_helps || Helps(other.verdict);
      continue;
    }
    stages = other.stages;
    stage_helps = Helps(other.verdict);
  }
  result->verdict = WhyVerdict::kDoesNotApply;
  result->why = "another change helps, and says more";
  if (another_helps) return {};
  bindings.emptied = {.change = Change::kEmptyBinding, .shaders = found_.shaders};
  const Result<Went> listed = Once(bindings.emptied, &bindings.control);
  if (!listed.ok()) return listed.status();
  if (*listed == Went::kNotAsked) {
    result->verdict = WhyVerdict::kNotAsked;
    return {};
  }
  const Result<ExperimentNotes> notes = TellingsOf(bindings.emptied);
  if (!notes.ok()) return notes.status();
  const std::vector<Candidate> candidates = CandidatesOf(*notes, stages, stage_helps);
  result->why = !notes->why_none.empty()      ? notes->why_none
                : !notes->why_refused.empty() ? notes->why_refused
                : notes->bindings.empty()     ? "the shaders have no binding"
                                          : "no binding of the shaders that count can be emptied";
  if (candidates.empty()) return {};
  if (*listed == Went::kAway) {
    result->verdict = WhyVerdict::kCodeHelps;
    return {};
  }
  const size_t tried = std::min(candidates.size(), kMostBindings);
  bindings.not_asked = candidates.size() - tried;
  to_come_ += tried;
  for (size_t i = 0; i < tried; ++i) {
    CAIRN_RETURN_IF_ERROR(
        AskBinding(candidates[i].variables, Emptying(candidates[i], found_.shaders), result));
    if (!found_.out_of_runs) continue;
    bindings.not_asked += tried - i;
    if (result->with.runs == 0) result->verdict = WhyVerdict::kNotAsked;
    break;
  }
  // A control that fails in another way proves nothing.
  if (result->verdict == WhyVerdict::kProven && *listed != Went::kStays)
    result->verdict = WhyVerdict::kLikely;
  return {};
}

// The first one that helps is the answer; the others that do are told beside it.
Status WhySearch::AskBinding(const std::vector<BindingNote>& variables,
                             const Experiment& experiment, WhyResult* result) {
  BindingFindings& bindings = result->bindings;
  WhyResult one;
  CAIRN_RETURN_IF_ERROR(AskOne(experiment, &one));
  if (one.verdict == WhyVerdict::kNotAsked) return {};
  const Result<ExperimentNotes> notes = TellingsOf(experiment);
  if (!notes.ok()) return notes.status();
  if (notes->limited == 0) {
    ++bindings.not_emptied;
    if (!notes->why_refused.empty()) result->why = notes->why_refused;
    return {};
  }
  if (Helps(result->verdict)) {
    if (Helps(one.verdict)) bindings.also.push_back(variables.front());
    return {};
  }
  if (Helps(one.verdict)) CAIRN_RETURN_IF_ERROR(Confirm(experiment, &one));
  if (Helps(one.verdict)) {
    bindings.emptied = experiment;
    bindings.variables = variables;
    result->with = {};
    result->changes = 0;
  }
  // Those that do not help are one answer.
  const bool fails_anyway =
      result->verdict == WhyVerdict::kFails && one.verdict == WhyVerdict::kFailsOtherwise;
  if (!fails_anyway) result->verdict = one.verdict;
  result->other_kind = one.other_kind;
  result->other_signal = one.other_signal;
  Add(one.with, &result->with);
  Add(one.without, &result->without);
  result->changes += notes->limited;
  return {};
}

}  // namespace cairn
