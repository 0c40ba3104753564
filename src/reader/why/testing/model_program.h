// SPDX-License-Identifier: Apache-2.0
//
// Programs for tests of the search: a model says with which changes they fail, and what their loops and accesses tell.
#ifndef CAIRN_READER_WHY_TESTING_MODEL_PROGRAM_H_
#define CAIRN_READER_WHY_TESTING_MODEL_PROGRAM_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reader/why/why_search.h"

namespace cairn {

inline constexpr uint64_t kFog = 0xf09;
inline constexpr uint64_t kSky = 0x5c1;

inline TrialRun Clean() {
  return {};
}
inline TrialRun Fails(FailureKind kind = FailureKind::kHang, int signal = 0) {
  TrialRun run;
  run.end = TrialEnd::kFailed;
  run.failure = kind;
  run.value = signal;
  return run;
}

// A loop of the model, and how many trips it would make; 0: no end.
struct ModelLoop {
  uint64_t shader = kFog;
  uint32_t index = 0;
  uint64_t trips = 0;
};

class ModelProgram {
 public:
  // `limited` loops end, those of the experiment. `run` counts from 1.
  using Behaviour = std::function<TrialRun(const Experiment& experiment, uint64_t run)>;

  explicit ModelProgram(Behaviour behaviour, std::vector<ModelLoop> loops = {})
      : behaviour_(std::move(behaviour)), loops_(std::move(loops)) {}

  RunExperiment run() {
    return [this](const Experiment& experiment, uint64_t) -> Result<WhyRun> {
      asked_.push_back(FormatExperiment(experiment));
      if (interrupt_at_ == asked_.size()) {
        TrialRun interrupted;
        interrupted.end = TrialEnd::kInterrupted;
        return WhyRun{interrupted, {}};
      }
      WhyRun run;
      run.trial = behaviour_(experiment, asked_.size());
      run.trial.catalogue.lists = lists_;
      run.trial.catalogue.devices = {"model"};
      if (experiment.change == Change::kNone) {
        run.shaders = shaders_;
      } else if (IsMadeByLayers(experiment.change) && !TellsOnBoard(experiment.change)) {
        run.trial.catalogue.changes = changes_;
      }
      if (experiment.change == Change::kLimitLoops) run.trial.notes = LoopsOf(experiment);
      return run;
    };
  }
  // True if the experiment ends this loop after at least one trip less.
  static bool Cuts(const Experiment& experiment, const ModelLoop& loop) {
    if (experiment.change != Change::kLimitLoops) return false;
    if (experiment.trips == Experiment::kOnlyCount) return false;
    const auto& shaders = experiment.shaders;
    if (!shaders.empty() && !std::count(shaders.begin(), shaders.end(), loop.shader)) return false;
    if (experiment.loop && *experiment.loop != loop.index) return false;
    return loop.trips == 0 || loop.trips > experiment.trips;
  }
  // True if no loop goes on for ever.
  static bool AllEnd(const Experiment& experiment, const std::vector<ModelLoop>& loops) {
    return std::all_of(loops.begin(), loops.end(), [&](const ModelLoop& loop) {
      return loop.trips != 0 || Cuts(experiment, loop);
    });
  }

  const std::vector<std::string>& asked() const { return asked_; }

  std::vector<uint64_t> shaders_ = {kFog};
  size_t interrupt_at_ = 0;
  uint64_t lists_ = 1;
  uint64_t changes_ = 20;
  std::string why_none_;

 private:
  ExperimentNotes LoopsOf(const Experiment& experiment) const {
    ExperimentNotes notes;
    notes.why_none = why_none_;
    if (!why_none_.empty()) return notes;
    for (const ModelLoop& loop : loops_) {
      const auto& shaders = experiment.shaders;
      const bool meant = shaders.empty() || std::count(shaders.begin(), shaders.end(), loop.shader);
      if (!meant || (experiment.loop && *experiment.loop != loop.index)) continue;
      notes.limited = 1;
      LoopNote note;
      note.shader = loop.shader;
      note.index = loop.index;
      note.record.executions = 100;
      note.record.most_trips = static_cast<uint32_t>(loop.trips);
      if (Cuts(experiment, loop)) note.record.cuts = 50 + loop.index;
      notes.loops.push_back(note);
    }
    return notes;
  }

  const Behaviour behaviour_;
  const std::vector<ModelLoop> loops_;
  std::vector<std::string> asked_;
};

inline Result<WhyFound> Search(ModelProgram& program, BisectJournal* journal = nullptr,
                               WhyOptions options = {}) {
  return WhySearch(program.run(), options, journal).Search();
}

inline const WhyResult& ResultOf(const WhyFound& found, ExperimentName name) {
  for (const WhyResult& result : found.results) {
    if (result.name == name) return result;
  }
  ADD_FAILURE() << "not asked";
  static const WhyResult kNone;
  return kNone;
}

inline std::vector<ExperimentName> Causes(const WhyFound& found) {
  std::vector<ExperimentName> names;
  for (const size_t cause : found.causes) names.push_back(found.results[cause].name);
  return names;
}

// The answer of shaders with checked accesses: the second of two misses.
inline ExperimentNotes CheckedAccesses(uint32_t misses) {
  ExperimentNotes told;
  told.limited = 1;
  told.accesses.resize(3);
  for (uint32_t i = 0; i < 3; ++i) {
    told.accesses[i].shader = kFog;
    told.accesses[i].index = i;
  }
  told.accesses[0].cannot = "the size of what it accesses is not known";
  told.accesses[1].record.misses = misses / 2;
  told.accesses[2].record.misses = misses;
  return told;
}

}  // namespace cairn

#endif  // CAIRN_READER_WHY_TESTING_MODEL_PROGRAM_H_
