// SPDX-License-Identifier: Apache-2.0
//
// The experiment "stages": each is empty in turn; and what "bindings" shares with it.
#include <algorithm>

#include "reader/why/why_search.h"

namespace cairn {
namespace {

constexpr int kLimitedShift = 32;
constexpr uint32_t kMostRefused = INT32_MAX;

}  // namespace

// The most modules changed have the highest word: the search keeps the highest of several runs.
uint64_t WordOf(const EmptiedModules& modules) {
  const uint64_t refused = std::min(modules.refused, kMostRefused);
  return uint64_t{modules.limited} << kLimitedShift | refused << 1 | uint64_t{modules.none};
}

EmptiedModules EmptiedModulesOf(uint64_t word) {
  return {static_cast<uint32_t>(word >> kLimitedShift),
          static_cast<uint32_t>(word >> 1) & kMostRefused, (word & 1) != 0};
}

std::string WhySearch::WhyNotEmptied() const {
  std::string why;
  for (const WhyResult& other : found_.results) {
    if (other.name == ExperimentName::kStages) continue;
    if (Helps(other.verdict)) return "another change helps, and says more";
    // Other code again would help for the same reason.
    if (other.verdict == WhyVerdict::kCodeHelps &&
        ChangesShaders(RowOf(other.name).experiment.change)) {
      why = "changed code of the shaders helps by itself";
    }
  }
  return why;
}

Result<std::string> WhySearch::WhyNothingEmptied(const Experiment& experiment, std::string why) {
  const EmptiedModules modules = EmptiedModulesOf(numbers_[FormatExperiment(experiment)]);
  if (modules.refused == 0 && !modules.none) return why;
  const Result<std::optional<ExperimentNotes>> notes = TellingsOf(experiment);
  if (!notes.ok()) return notes.status();
  if (!notes->has_value()) return why;
  if (!(*notes)->why_none.empty()) return (*notes)->why_none;
  return (*notes)->why_refused.empty() ? why : (*notes)->why_refused;
}

// The last stage first: where the one in front of it does nothing, it has nothing to do either. Compute shaders are no
// stage among others: without them there is no dispatch.
Status WhySearch::AskStages(WhyResult* result) {
  constexpr EmptiedStage kStages[] = {EmptiedStage::kFragment, EmptiedStage::kVertex};
  result->verdict = WhyVerdict::kDoesNotApply;
  result->why = WhyNotEmptied();
  if (!result->why.empty()) return {};
  result->why = found_.shaders.empty() ? "no fragment or vertex shader could be emptied"
                                       : "no suspected shader is a fragment or vertex shader";
  StageFindings stages;
  ++to_come_;  // two stages
  for (const EmptiedStage stage : kStages) {
    WhyResult one;
    const Experiment emptied = {
        .change = Change::kEmptyStage, .shaders = found_.shaders, .stage = stage};
    CAIRN_RETURN_IF_ERROR(AskOne(emptied, &one));
    if (one.verdict == WhyVerdict::kNotAsked) {
      result->verdict = one.verdict;
      return {};
    }
    const EmptiedModules modules = EmptiedModulesOf(numbers_[FormatExperiment(emptied)]);
    stages.refused_modules = std::max(stages.refused_modules, modules.refused);
    const bool was_asked = result->verdict != WhyVerdict::kDoesNotApply;
    if (was_asked) result->stages.refused_modules = stages.refused_modules;
    // On a device that was not changed the failure stays by itself.
    if (modules.limited == 0 || (modules.none && one.verdict == WhyVerdict::kFails)) {
      const Result<std::string> why = WhyNothingEmptied(emptied, result->why);
      if (!why.ok()) return why.status();
      if (!was_asked) result->why = *why;
      continue;
    }
    if (Helps(one.verdict) && one.with.endless == 0)
      CAIRN_RETURN_IF_ERROR(ConfirmWithoutControl(emptied, &one));
    if (Helps(one.verdict) && one.with.endless != 0) {
      if (was_asked) continue;  // the stage before has an answer
      one.verdict = WhyVerdict::kDoesNotApply;
      one.why = kGoesOnAndOn;
    }
    one.name = ExperimentName::kStages;
    one.changes = modules.limited;
    if (one.verdict == WhyVerdict::kFails && modules.refused == 0)
      stages.not_needed.push_back(stage);
    stages.emptied = emptied;
    one.stages = stages;
    *result = one;
    if (Helps(one.verdict)) return {};
  }
  return {};
}

}  // namespace cairn
