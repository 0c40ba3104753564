// SPDX-License-Identifier: Apache-2.0
//
// The search against models of programs: with which changes they fail, and what their loops tell.
#include "reader/why/why_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "os/testing/file_fixture.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr uint64_t kFog = 0xf09;
constexpr uint64_t kSky = 0x5c1;

TrialRun Clean() {
  return {};
}
TrialRun Fails(FailureKind kind = FailureKind::kHang, int signal = 0) {
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
      if (experiment.change == Change::kLimitLoops) run.trial.loops = LoopsOf(experiment);
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
  LoopCatalogue LoopsOf(const Experiment& experiment) const {
    LoopCatalogue catalogue;
    catalogue.why_none = why_none_;
    if (!why_none_.empty()) return catalogue;
    for (const ModelLoop& loop : loops_) {
      const auto& shaders = experiment.shaders;
      const bool meant = shaders.empty() || std::count(shaders.begin(), shaders.end(), loop.shader);
      if (!meant || (experiment.loop && *experiment.loop != loop.index)) continue;
      catalogue.limited = 1;
      LoopNote note;
      note.shader = loop.shader;
      note.index = loop.index;
      note.record.executions = 100;
      note.record.most_trips = static_cast<uint32_t>(loop.trips);
      if (Cuts(experiment, loop)) note.record.cuts = 50 + loop.index;
      catalogue.loops.push_back(note);
    }
    return catalogue;
  }

  const Behaviour behaviour_;
  const std::vector<ModelLoop> loops_;
  std::vector<std::string> asked_;
};

Result<WhyFound> Search(ModelProgram& program, BisectJournal* journal = nullptr,
                        WhyOptions options = {}) {
  return WhySearch(program.run(), options, journal).Search();
}

const WhyResult& ResultOf(const WhyFound& found, ExperimentName name) {
  for (const WhyResult& result : found.results) {
    if (result.name == name) return result;
  }
  ADD_FAILURE() << "not asked";
  static const WhyResult kNone;
  return kNone;
}

std::vector<ExperimentName> Causes(const WhyFound& found) {
  std::vector<ExperimentName> names;
  for (const size_t cause : found.causes) names.push_back(found.results[cause].name);
  return names;
}

TEST(WhySearch, EachCauseAlone) {
  for (const ExperimentRow& row : ExperimentRows()) {
    if (TellsOnBoard(row.experiment.change)) continue;
    for (const FailureKind kind : {FailureKind::kHang, FailureKind::kLost, FailureKind::kDied}) {
      const std::vector<ExperimentName> order = OrderFor(kind);
      if (!std::count(order.begin(), order.end(), row.name)) continue;
      ModelProgram program([&](const Experiment& experiment, uint64_t) {
        return experiment == row.experiment ? Clean() : Fails(kind, 11);
      });
      const Result<WhyFound> found = Search(program);
      ASSERT_TRUE(found.ok()) << found.status().message();
      EXPECT_THAT(Causes(*found), ElementsAre(row.name)) << row.word;
      EXPECT_EQ(kind, found->kind);
      EXPECT_EQ((RunCount{3, 3, 0, 0}), found->unchanged);
      const WhyResult& result = ResultOf(*found, row.name);
      EXPECT_EQ(WhyVerdict::kProven, result.verdict);
      EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
      EXPECT_EQ((RunCount{1, 1, 0, 0}), result.without);
      EXPECT_THAT(found->results, SizeIs(order.size()));
      for (const WhyResult& other : found->results) {
        if (other.name == row.name || TellsOnBoard(RowOf(other.name).experiment.change)) continue;
        EXPECT_EQ(WhyVerdict::kFails, other.verdict);
        EXPECT_EQ((RunCount{1, 1, 0, 0}), other.with);
      }
      // 3 unchanged, 4 and 1 of the cause, 1 of each other; none of stages, or two where nothing had helped yet.
      const uint64_t stages = row.name == ExperimentName::kTime ? 2 : 0;
      EXPECT_EQ(6 + stages + order.size(), found->runs);
      EXPECT_EQ(found->runs, program.asked().size());
    }
  }
}

// Runs of this many seconds with more time; they end in this way.
ModelProgram::Behaviour SlowWork(uint64_t seconds, TrialEnd end = TrialEnd::kExited) {
  return [=](const Experiment& experiment, uint64_t run_number) {
    if (experiment.change != Change::kMoreTime) return Fails();
    TrialRun run = Clean();
    run.end = end;
    run.duration_ns = (seconds * 1000 + run_number) * 1'000'000;
    return run;
  };
}

TEST(WhySearch, WorkThatIsSlowEndsIfItGetsMoreTime) {
  std::vector<uint64_t> most_ns;
  ModelProgram program(SlowWork(23));
  const RunExperiment run = program.run();
  const Result<WhyFound> found = WhySearch(
                                     [&](const Experiment& experiment, uint64_t most) {
                                       if (experiment.change == Change::kMoreTime)
                                         most_ns.push_back(most);
                                       Result<WhyRun> made = run(experiment, most);
                                       if (experiment.change == Change::kNone)
                                         made->trial.duration_ns = 1'000'000'000;
                                       return made;
                                     },
                                     {}, nullptr)
                                     .Search();
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_THAT(Causes(*found), ElementsAre(ExperimentName::kTime));
  const WhyResult& result = ResultOf(*found, ExperimentName::kTime);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_EQ(ExperimentName::kTime, found->results.back().name) << "it takes the longest";
  // Milliseconds are the numbers of the runs; the last one is the second time that it helps.
  EXPECT_EQ(23'000u + found->runs, result.longest_ms);
  EXPECT_EQ(0u, result.changes);
  // Ten times what the program takes, ten times the watchdog's patience, and 5 s.
  EXPECT_THAT(most_ns, ::testing::Each(uint64_t{115} * 1'000'000'000));
}

TEST(WhySearch, AProgramThatGoesOnAndOnIsNotSlow) {
  ModelProgram program(SlowWork(0, TrialEnd::kStuck));
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  const WhyResult& result = ResultOf(*found, ExperimentName::kTime);
  EXPECT_EQ(WhyVerdict::kDoesNotApply, result.verdict);
  EXPECT_EQ("the program goes on and on, and its GPU work does not hang", result.why);
}

// A driver, or the process, was done with it: the watchdog's patience changes nothing.
TEST(WhySearch, OnlyHangsGetMoreTime) {
  for (const FailureKind kind : {FailureKind::kLost, FailureKind::kDied}) {
    ModelProgram program([&](const Experiment&, uint64_t) { return Fails(kind, 11); });
    ASSERT_TRUE(Search(program).ok());
    EXPECT_THAT(program.asked(), ::testing::Not(::testing::Contains("time=10")));
  }
}

// A loop that is long, but ends: the place first, and that it ends behind it.
TEST(WhySearch, ALongLoopEndsIfItGetsMoreTime) {
  const std::vector<ModelLoop> loops = {{kFog, 0, 70'000'000}};
  ModelProgram program(
      [&](const Experiment& experiment, uint64_t) {
        const bool ends =
            experiment.change == Change::kMoreTime || ModelProgram::Cuts(experiment, loops.front());
        return ends ? Clean() : Fails();
      },
      loops);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kLoops, ExperimentName::kTime));
}

TEST(WhySearch, AnEndlessLoop) {
  const std::vector<ModelLoop> loops = {{kFog, 0, 10}, {kFog, 1, 0}, {kSky, 0, 70'000}};
  ModelProgram program(
      [&](const Experiment& experiment, uint64_t) {
        return ModelProgram::AllEnd(experiment, loops) ? Clean() : Fails();
      },
      loops);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_THAT(Causes(*found), ElementsAre(ExperimentName::kLoops));
  const WhyResult& result = ResultOf(*found, ExperimentName::kLoops);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.without);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.loops.control);
  EXPECT_EQ((RunCount{1, 0, 0, 0}), result.loops.longer);
  EXPECT_EQ(65536u * 16, result.loops.longer_trips);
  EXPECT_EQ(2u, result.loops.limited_loops);  // those of the suspected shader
  ASSERT_THAT(result.loops.cut, SizeIs(1));
  EXPECT_EQ(1u, result.loops.cut[0].index);
  EXPECT_EQ(result.loops.cut, result.loops.alone);
  EXPECT_THAT(program.asked(), ::testing::Contains("loops=65536,shader=0000000000000f09").Times(4));
  EXPECT_THAT(program.asked(), ::testing::Contains("loops=4294967295,shader=0000000000000f09"));
}

// Many invocations wait for one lock: 65,536 trips of each take too long. The healthy loop stays as it is.
TEST(WhySearch, ALoopThatTakesTooLongInSpiteOfTheLimitIsCutEarlier) {
  const std::vector<ModelLoop> loops = {{kFog, 0, 5'000}, {kFog, 1, 0}};
  ModelProgram program(
      [&](const Experiment& experiment, uint64_t) {
        const bool ends = ModelProgram::AllEnd(experiment, loops) && experiment.trips <= 1024;
        return ends ? Clean() : Fails();
      },
      loops);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_THAT(Causes(*found), ElementsAre(ExperimentName::kLoops));
  const WhyResult& result = ResultOf(*found, ExperimentName::kLoops);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_EQ("loops=1024,shader=0000000000000f09,loop=1", FormatExperiment(result.loops.limited));
  EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.loops.longer);
  EXPECT_EQ(16u * 1024, result.loops.longer_trips);
  ASSERT_THAT(result.loops.alone, SizeIs(1));
  EXPECT_EQ(1u, result.loops.alone[0].index);
}

// The driver leaves a loop by itself, below the limit: nothing is cut until the limit is lower.
TEST(WhySearch, ALoopThatTheDriverLeavesIsCutEarlier) {
  const std::vector<ModelLoop> loops = {{kFog, 0, 200}, {kFog, 1, 65'000}};
  ModelProgram program(
      [&](const Experiment& experiment, uint64_t) {
        return ModelProgram::Cuts(experiment, loops[1]) ? Clean() : Fails();
      },
      loops);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok()) << found.status().message();
  const WhyResult& result = ResultOf(*found, ExperimentName::kLoops);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_EQ("loops=1024,shader=0000000000000f09,loop=1", FormatExperiment(result.loops.limited));
  ASSERT_THAT(result.loops.alone, SizeIs(1));
  EXPECT_EQ(1u, result.loops.alone[0].index);
}

// Loops reach the limit, and are not the cause: two more runs say so.
TEST(WhySearch, FewerTripsThatDoNotHelpEither) {
  const std::vector<ModelLoop> loops = {{kFog, 1, 0}, {kSky, 0, 0}, {kFog, 2, 100}};
  ModelProgram program([](const Experiment&, uint64_t) { return Fails(); }, loops);
  program.shaders_ = {kFog, kSky};
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok()) << found.status().message();
  const WhyResult& result = ResultOf(*found, ExperimentName::kLoops);
  EXPECT_EQ(WhyVerdict::kFails, result.verdict);
  EXPECT_THAT(result.loops.cut, IsEmpty());
  EXPECT_EQ(65536u, result.loops.limited.trips);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.with);
  EXPECT_THAT(program.asked(),
              ::testing::Contains("loops=16,shader=0000000000000f09,shader=00000000000005c1"));
}

// Loop 2 ends by itself, only late; the other is the cause.
TEST(WhySearch, OfTwoCutLoopsTheOneThatIsEnoughAlone) {
  const std::vector<ModelLoop> loops = {{kFog, 1, 0}, {kFog, 2, 100'000}};
  ModelProgram program(
      [&](const Experiment& experiment, uint64_t) {
        return ModelProgram::AllEnd(experiment, loops) ? Clean() : Fails();
      },
      loops);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kLoops);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  ASSERT_THAT(result.loops.cut, SizeIs(2));
  EXPECT_EQ(2u, result.loops.cut[0].index);  // the most cuts
  ASSERT_THAT(result.loops.alone, SizeIs(1));
  EXPECT_EQ(1u, result.loops.alone[0].index);
}

TEST(WhySearch, TwoEndlessLoopsAreACauseTogether) {
  const std::vector<ModelLoop> loops = {{kFog, 0, 0}, {kSky, 3, 0}};
  ModelProgram program(
      [&](const Experiment& experiment, uint64_t) {
        return ModelProgram::AllEnd(experiment, loops) ? Clean() : Fails();
      },
      loops);
  program.shaders_ = {};
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kLoops);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_THAT(result.loops.limited.shaders, IsEmpty());
  EXPECT_THAT(result.loops.cut, SizeIs(2));
  EXPECT_THAT(result.loops.alone, IsEmpty());
}

// The answer of shaders with checked accesses: the second of two misses.
LoopCatalogue CheckedAccesses(uint32_t misses) {
  LoopCatalogue told;
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

TEST(WhySearch, AnAccessOutsideOfEveryBuffer) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    TrialRun run = Fails(FailureKind::kDied, 11);
    if (experiment.change != Change::kCheckBounds) return run;
    if (!experiment.only_counts) run = Clean();
    run.loops = CheckedAccesses(64);
    return run;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_THAT(Causes(*found), ElementsAre(ExperimentName::kBounds));
  const WhyResult& result = ResultOf(*found, ExperimentName::kBounds);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.without);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.accesses.control);
  EXPECT_EQ(2u, result.accesses.checked_accesses);
  ASSERT_THAT(result.accesses.missed, SizeIs(2));
  EXPECT_EQ(2u, result.accesses.missed[0].index) << "the one with the most misses is first";
  EXPECT_THAT(program.asked(), ::testing::Contains("bounds=skip,shader=0000000000000f09").Times(4));
  EXPECT_THAT(program.asked(), ::testing::Contains("bounds=count,shader=0000000000000f09"));
}

TEST(WhySearch, ACheckOfAccessesIsNoCauseIfCountingHelpsOrNothingMissed) {
  for (const uint32_t misses : {64u, 0u}) {
    ModelProgram program([misses](const Experiment& experiment, uint64_t) {
      if (experiment.change != Change::kCheckBounds) return Fails();
      TrialRun run = Clean();
      run.loops = CheckedAccesses(misses);
      return run;
    });
    const Result<WhyFound> found = Search(program);
    ASSERT_TRUE(found.ok());
    EXPECT_THAT(found->causes, IsEmpty());
    EXPECT_EQ(WhyVerdict::kCodeHelps, ResultOf(*found, ExperimentName::kBounds).verdict) << misses;
  }
}

TEST(WhySearch, ACheckOfAccessesThatFailsInAnotherWayIsLikelyAtMost) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kCheckBounds) return Fails();
    TrialRun run = experiment.only_counts ? Fails(FailureKind::kLost) : Clean();
    run.loops = CheckedAccesses(64);
    return run;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(WhyVerdict::kLikely, ResultOf(*found, ExperimentName::kBounds).verdict);
}

TEST(WhySearch, AccessesThatWereNotAllCheckedAreNoEvidence) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    TrialRun run = Fails();
    if (experiment.change != Change::kCheckBounds) return run;
    run = Clean();
    run.loops = CheckedAccesses(64);
    run.loops.why_none = "too many buffers";
    return run;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kBounds);
  EXPECT_EQ(WhyVerdict::kDoesNotApply, result.verdict);
  EXPECT_EQ("too many buffers", result.why);

  ModelProgram without([](const Experiment&, uint64_t) { return Fails(); });
  const Result<WhyFound> none = Search(without);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ("the shaders of the suspected work have no access that could be out of bounds",
            ResultOf(*none, ExperimentName::kBounds).why);
}

// The answer of a layer that limited counts: a direct draw, and a dispatch that is indirect and was limited more often.
LoopCatalogue LimitedCounts(uint32_t limited, bool indirect) {
  LoopCatalogue told;
  told.counts.resize(3);
  told.counts[0] = {.command = "vkCmdDraw", .label = "Terrain", .count = 2};
  told.counts[0].record = {.used = {1 << 24, 1}, .given = {UINT32_MAX, 1}, .limited = limited};
  told.counts[1] = {.command = "vkCmdDispatchIndirect", .count = 3, .is_indirect = true};
  if (indirect) told.counts[1].record.limited = limited * 2;
  told.counts[2] = {.command = "vkCmdDispatch", .count = 3};
  return told;
}

// It fails unless counts are limited; with indirect counts that are only read it fails in this way.
ModelProgram::Behaviour TooMany(uint32_t limited, bool indirect, const TrialRun& only_read) {
  return [=](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kLimitCounts) return Fails();
    TrialRun run = experiment.counts == Experiment::kOnlyCount ? only_read : Clean();
    run.loops = LimitedCounts(limited, indirect);
    run.catalogue.not_changed = 5;
    return run;
  };
}

TEST(WhySearch, ADrawOfFarTooMany) {
  ModelProgram program(TooMany(7, false, Clean()));
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_THAT(Causes(*found), ElementsAre(ExperimentName::kCounts));
  const WhyResult& result = ResultOf(*found, ExperimentName::kCounts);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.without);
  EXPECT_EQ(RunCount{}, result.counts.control) << "nothing but the count changes";
  ASSERT_THAT(result.counts.calls, SizeIs(1));
  EXPECT_EQ("vkCmdDraw", result.counts.calls[0].command);
  EXPECT_EQ(5u, result.counts.not_limited);
  EXPECT_THAT(program.asked(), ::testing::Contains("counts=16777216").Times(4));
}

// The layer reads them with copies, barriers and a dispatch of its own.
TEST(WhySearch, IndirectCountsHaveAControl) {
  const auto verdict_of = [](const TrialRun& only_read) {
    ModelProgram program(TooMany(7, true, only_read));
    const Result<WhyFound> found = Search(program);
    EXPECT_TRUE(found.ok());
    EXPECT_THAT(program.asked(), ::testing::Contains("counts=4294967295"));
    const WhyResult& result = ResultOf(*found, ExperimentName::kCounts);
    EXPECT_EQ("vkCmdDispatchIndirect", result.counts.calls.front().command) << "the most first";
    return result.verdict;
  };
  EXPECT_EQ(WhyVerdict::kProven, verdict_of(Fails()));
  EXPECT_EQ(WhyVerdict::kLikely, verdict_of(Fails(FailureKind::kDied, 11)));
  EXPECT_EQ(WhyVerdict::kCodeHelps, verdict_of(Clean()));
}

TEST(WhySearch, CountsThatNothingReachedAreNoEvidence) {
  ModelProgram program(TooMany(0, false, Fails()));
  WhyOptions options;
  options.counts = 1000;
  const Result<WhyFound> found = Search(program, nullptr, options);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  const WhyResult& result = ResultOf(*found, ExperimentName::kCounts);
  EXPECT_EQ(WhyVerdict::kDoesNotApply, result.verdict);
  EXPECT_EQ("no draw or dispatch that could be limited has more than 1,000 vertices or groups",
            result.why);
}

// It fails but for runs in which the shaders of this stage do nothing. It has shaders of `stages`.
ModelProgram::Behaviour NeedsStage(EmptiedStage needed, std::vector<EmptiedStage> stages) {
  return [=](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kEmptyStage) return Fails();
    TrialRun run = experiment.stage == needed ? Clean() : Fails();
    run.loops.limited = std::count(stages.begin(), stages.end(), experiment.stage) != 0 ? 2 : 0;
    return run;
  };
}

TEST(WhySearch, TheStageThatTheFailureNeeds) {
  const std::vector<EmptiedStage> both = {EmptiedStage::kVertex, EmptiedStage::kFragment};
  for (const EmptiedStage needed : both) {
    ModelProgram program(NeedsStage(needed, both));
    const Result<WhyFound> found = Search(program);
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_THAT(Causes(*found), ElementsAre(ExperimentName::kStages));
    const WhyResult& result = ResultOf(*found, ExperimentName::kStages);
    EXPECT_EQ(WhyVerdict::kProven, result.verdict);
    EXPECT_EQ(needed, result.stages.emptied.stage);
    EXPECT_EQ((std::vector<uint64_t>{kFog}), result.stages.emptied.shaders);
    EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
    EXPECT_EQ((RunCount{1, 1, 0, 0}), result.without);
    EXPECT_EQ(2u, result.changes);
    EXPECT_THAT(program.asked(), ::testing::Contains("stage=vertex,shader=0000000000000f09")
                                     .Times(needed == EmptiedStage::kVertex ? 4 : 0))
        << "a stage in front helps as well";
  }
}

TEST(WhySearch, AStageThatNoShaderHasIsNoEvidence) {
  ModelProgram program(NeedsStage(EmptiedStage::kFragment, {EmptiedStage::kVertex}));
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  const WhyResult& vertex = ResultOf(*found, ExperimentName::kStages);
  EXPECT_EQ(WhyVerdict::kFails, vertex.verdict);
  EXPECT_EQ(EmptiedStage::kVertex, vertex.stages.emptied.stage);

  ModelProgram compute(NeedsStage(EmptiedStage::kFragment, {}));
  const Result<WhyFound> none = Search(compute);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(WhyVerdict::kDoesNotApply, ResultOf(*none, ExperimentName::kStages).verdict);
  EXPECT_EQ("no suspected shader is a fragment or vertex shader",
            ResultOf(*none, ExperimentName::kStages).why);
}

// It would help as well, and says less.
TEST(WhySearch, StagesAreNotAskedIfAnotherChangeHelps) {
  ModelProgram program([](const Experiment& experiment, uint64_t run) {
    if (experiment.change == Change::kKeepAlive) return Clean();
    return NeedsStage(EmptiedStage::kFragment, {EmptiedStage::kFragment})(experiment, run);
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kKeepAlive));
  EXPECT_EQ("another change helps, and says more", ResultOf(*found, ExperimentName::kStages).why);
  for (const std::string& asked : program.asked()) EXPECT_THAT(asked, Not(HasSubstr("stage=")));
}

// As cairn bisect knows them: no report is more exact.
TEST(WhySearch, ShadersThatAreGivenGoBeforeThoseOfTheReport) {
  const std::vector<ModelLoop> loops = {{kFog, 0, 0}, {kSky, 3, 70'000}};
  ModelProgram program(
      [&](const Experiment& experiment, uint64_t) {
        return ModelProgram::AllEnd(experiment, loops) ? Clean() : Fails();
      },
      loops);
  program.shaders_ = {kFog, kSky};
  WhyOptions options;
  options.shaders = {kFog};
  const Result<WhyFound> found = WhySearch(program.run(), options, nullptr).Search();
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->shaders, ElementsAre(kFog));
  const WhyResult& result = ResultOf(*found, ExperimentName::kLoops);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_THAT(result.loops.limited.shaders, ElementsAre(kFog));
  EXPECT_THAT(result.loops.cut, SizeIs(1));
}

TEST(WhySearch, ALimitIsNoCauseIfCountingHelpsAsWell) {
  const std::vector<ModelLoop> loops = {{kFog, 0, 0}};
  ModelProgram program(
      [&](const Experiment& experiment, uint64_t) {
        return experiment.change == Change::kLimitLoops ? Clean() : Fails();
      },
      loops);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  const WhyResult& result = ResultOf(*found, ExperimentName::kLoops);
  EXPECT_EQ(WhyVerdict::kCodeHelps, result.verdict);
  EXPECT_EQ((RunCount{1, 0, 0, 0}), result.loops.control);
}

TEST(WhySearch, ALimitIsNoCauseIfItEndedNoLoop) {
  const std::vector<ModelLoop> loops = {{kFog, 0, 3}};
  ModelProgram program(
      [&](const Experiment& experiment, uint64_t) {
        return experiment.change == Change::kLimitLoops ? Clean() : Fails();
      },
      loops);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  EXPECT_EQ(WhyVerdict::kCodeHelps, ResultOf(*found, ExperimentName::kLoops).verdict);

  // Nor if it fails while they are counted.
  ModelProgram counted(
      [](const Experiment& experiment, uint64_t) {
        const bool limits = experiment.change == Change::kLimitLoops;
        return limits && experiment.trips != Experiment::kOnlyCount ? Clean() : Fails();
      },
      loops);
  const Result<WhyFound> again = Search(counted);
  ASSERT_TRUE(again.ok());
  EXPECT_THAT(again->causes, IsEmpty());
  EXPECT_EQ(WhyVerdict::kCodeHelps, ResultOf(*again, ExperimentName::kLoops).verdict);
}

TEST(WhySearch, AControlThatFailsInAnotherWayProvesNothing) {
  const std::vector<ModelLoop> loops = {{kFog, 0, 0}};
  ModelProgram program(
      [&](const Experiment& experiment, uint64_t) {
        if (ModelProgram::AllEnd(experiment, loops)) return Clean();
        return experiment.change == Change::kLimitLoops ? Fails(FailureKind::kDied, 6) : Fails();
      },
      loops);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(WhyVerdict::kLikely, ResultOf(*found, ExperimentName::kLoops).verdict);
}

TEST(WhySearch, WithoutALoopTheLimitDoesNotApply) {
  const auto always = [](const Experiment&, uint64_t) { return Fails(); };
  ModelProgram none(always);
  Result<WhyFound> found = Search(none);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(WhyVerdict::kDoesNotApply, ResultOf(*found, ExperimentName::kLoops).verdict);
  EXPECT_EQ("the layers limited no loop in the shaders of the suspected work",
            ResultOf(*found, ExperimentName::kLoops).why);

  ModelProgram no_memory(always, {{kFog, 0, 0}});
  no_memory.why_none_ = "the device imports no memory";
  found = Search(no_memory);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ("the device imports no memory", ResultOf(*found, ExperimentName::kLoops).why);
}

TEST(WhySearch, WithoutALayerNothingApplies) {
  ModelProgram program([](const Experiment&, uint64_t) { return Fails(); });
  program.lists_ = 0;
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->layers_seen);
  EXPECT_EQ(3u, found->runs);
  for (const WhyResult& result : found->results) {
    EXPECT_EQ(WhyVerdict::kDoesNotApply, result.verdict);
  }
}

// Runs with it may even end well: that is no evidence.
TEST(WhySearch, AChangeThatChangedNothingIsNoAnswer) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    return experiment.change == Change::kKeepAlive ? Clean() : Fails();
  });
  program.changes_ = 0;
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  for (const WhyResult& result : found->results) {
    if (result.name == ExperimentName::kTime) continue;  // the watchdog is no layer
    EXPECT_EQ(WhyVerdict::kDoesNotApply, result.verdict);
  }
  EXPECT_EQ("the layers changed nothing", ResultOf(*found, ExperimentName::kKeepAlive).why);
}

TEST(WhySearch, NothingHelps) {
  ModelProgram program(
      [](const Experiment&, uint64_t) {
        TrialRun run = Fails(FailureKind::kDied, 11);
        run.loops = CheckedAccesses(0);
        return run;
      },
      {{kFog, 0, 3}});
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  // Two stages.
  EXPECT_EQ(4 + OrderFor(FailureKind::kDied).size(), found->runs);
  for (const WhyResult& result : found->results) {
    // The model has no calls, and no stages.
    if (result.name == ExperimentName::kCounts || result.name == ExperimentName::kStages) continue;
    EXPECT_EQ(WhyVerdict::kFails, result.verdict);
  }
}

TEST(WhySearch, AProgramThatDoesNotFail) {
  ModelProgram program([](const Experiment&, uint64_t) {
    TrialRun run;
    run.value = 4;
    return run;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((RunCount{3, 0, 0, 0}), found->unchanged);
  EXPECT_EQ(4, found->exit_code);
  EXPECT_THAT(found->results, IsEmpty());
}

TEST(WhySearch, AnotherFailureIsNoneThatWentAway) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    return experiment.change == Change::kKeepAlive ? Fails(FailureKind::kLost) : Fails();
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  const WhyResult& result = ResultOf(*found, ExperimentName::kKeepAlive);
  EXPECT_EQ(WhyVerdict::kFailsOtherwise, result.verdict);
  EXPECT_EQ((RunCount{1, 0, 1, 0}), result.with);
  EXPECT_EQ(FailureKind::kLost, result.other_kind);
}

TEST(WhySearch, AnotherSignalIsAnotherFailure) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    return Fails(FailureKind::kDied, experiment.change == Change::kKeepAlive ? 6 : 11);
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kKeepAlive);
  EXPECT_EQ(WhyVerdict::kFailsOtherwise, result.verdict);
  EXPECT_EQ(FailureKind::kDied, result.other_kind);
  EXPECT_EQ(6, result.other_signal);
}

// It hangs or loses its device by chance: a third failure is none that went away.
TEST(WhySearch, WhereFailuresDifferAnyIsTheSame) {
  ModelProgram program([](const Experiment& experiment, uint64_t run) {
    if (experiment.change == Change::kKeepAlive) return Fails(FailureKind::kDied, 11);
    return Fails(run % 2 == 0 ? FailureKind::kLost : FailureKind::kHang);
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->kind_varies);
  EXPECT_EQ((RunCount{3, 3, 0, 0}), found->unchanged);
  const WhyResult& result = ResultOf(*found, ExperimentName::kKeepAlive);
  EXPECT_EQ(WhyVerdict::kFails, result.verdict);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.with);
}

TEST(WhySearch, AChangeWithWhichItFailsOtherwiseInTheEndIsNoCause) {
  uint32_t with = 0;
  ModelProgram program([&](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kKeepAlive) return Fails();
    return ++with <= 3 ? Clean() : Fails(FailureKind::kDied, 6);
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  const WhyResult& result = ResultOf(*found, ExperimentName::kKeepAlive);
  EXPECT_EQ(WhyVerdict::kFailsOtherwise, result.verdict);
  EXPECT_EQ(6, result.other_signal);
  EXPECT_EQ((RunCount{4, 0, 1, 0}), result.with);
}

// Without a change it fails in two of three runs: nothing is proven, and a few clean runs are not enough.
TEST(WhySearch, AFailureThatComesAndGoesIsLikelyAtMost) {
  ModelProgram program([](const Experiment& experiment, uint64_t run) {
    if (experiment.change == Change::kSerialQueues) return Clean();
    return run % 3 == 0 ? Clean() : Fails();
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((RunCount{3, 2, 0, 0}), found->unchanged);
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kSerialQueues));
  const WhyResult& result = ResultOf(*found, ExperimentName::kSerialQueues);
  EXPECT_EQ(WhyVerdict::kLikely, result.verdict);
  // (1/3)^5 is the first power below 1 in 100; confirmed as often again.
  EXPECT_EQ((RunCount{10, 0, 0, 0}), result.with);
  EXPECT_EQ(1u, result.without.failed);
}

TEST(WhySearch, AFailureThatDoesNotComeBackIsLikely) {
  bool helped = false;
  ModelProgram program([&](const Experiment& experiment, uint64_t) {
    helped |= experiment.change == Change::kFillMemory;
    return helped ? Clean() : Fails();
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kMemoryZero);
  EXPECT_EQ(WhyVerdict::kLikely, result.verdict);
  EXPECT_EQ((RunCount{1, 0, 0, 0}), result.without);
}

TEST(WhySearch, AChangeThatHelpsOnceMoreOrNotAtAll) {
  uint32_t with = 0;
  ModelProgram program([&](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kKeepAlive) return Fails();
    return ++with <= 3 ? Clean() : Fails();
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  const WhyResult& result = ResultOf(*found, ExperimentName::kKeepAlive);
  EXPECT_EQ(WhyVerdict::kFails, result.verdict);
  EXPECT_EQ((RunCount{4, 1, 0, 0}), result.with);
}

TEST(WhySearch, TheNarrowestOfSeveralCausesComesFirst) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    const bool helps = experiment.change == Change::kSerialQueues ||
                       experiment.change == Change::kBarrierBefore ||
                       experiment.change == Change::kKeepAlive;
    return helps ? Clean() : Fails();
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Causes(*found),
              ElementsAre(ExperimentName::kKeepAlive, ExperimentName::kBarrierBefore,
                          ExperimentName::kSerialQueues));
}

// Memory that is not given out again is zeros, as is memory that is filled with them.
TEST(WhySearch, KeptObjectsAreNotTheCauseIfTheyOnlyBringFreshMemory) {
  const auto unwritten = [](TrialRun with_rubbish) {
    return ModelProgram([with_rubbish](const Experiment& experiment, uint64_t) {
      const bool zeros =
          FillOf(experiment) ? FillOf(experiment) == 0x00 : experiment.change == Change::kKeepAlive;
      return zeros ? Clean() : FillOf(experiment) ? with_rubbish : Fails();
    });
  };
  ModelProgram program = unwritten(Fails());
  Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kMemoryZero));
  EXPECT_EQ(program.asked().back(), "keep-alive,memory=fe");
  const WhyResult& kept = ResultOf(*found, ExperimentName::kKeepAlive);
  EXPECT_EQ(kept.verdict, WhyVerdict::kDoesNotApply);
  EXPECT_THAT(kept.why, HasSubstr("not given out again"));

  // Rubbish that does another harm leaves it open.
  ModelProgram other = unwritten(Fails(FailureKind::kDied, 11));
  found = Search(other);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kMemoryZero, ExperimentName::kKeepAlive));
  EXPECT_EQ(ResultOf(*found, ExperimentName::kKeepAlive).verdict, WhyVerdict::kLikely);
}

TEST(WhySearch, KeptObjectsAreTheCauseWhateverNewMemoryHolds) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    const bool helps =
        experiment.change == Change::kKeepAlive || FormatExperiment(experiment) == "memory=00";
    return helps ? Clean() : Fails();
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kKeepAlive, ExperimentName::kMemoryZero));
  EXPECT_EQ(ResultOf(*found, ExperimentName::kKeepAlive).verdict, WhyVerdict::kProven);
  EXPECT_EQ(program.asked().back(), "keep-alive,memory=fe");
}

TEST(WhySearch, ARunThatGoesOnAndOnDidNotFail) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kKeepAlive) return Fails();
    TrialRun run;
    run.end = TrialEnd::kStuck;
    return run;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kKeepAlive);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_EQ((RunCount{4, 0, 0, 4}), result.with);
}

TEST(WhySearch, ItEndsWithTheLastRunThatItMayMake) {
  const uint64_t all = 6 + OrderFor(FailureKind::kHang).size();
  for (uint64_t most = 1; most <= all; ++most) {
    ModelProgram program([](const Experiment& experiment, uint64_t) {
      return experiment.change == Change::kKeepAlive ? Clean() : Fails();
    });
    WhyOptions options;
    options.max_runs = most;
    const Result<WhyFound> found = Search(program, nullptr, options);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(most, program.asked().size());
    EXPECT_EQ(most, found->runs);
    EXPECT_EQ(most < all, found->out_of_runs);
    // Seen to go away behind 3 runs of it, to come back and to go again behind 2 more.
    EXPECT_EQ(most < 12   ? WhyVerdict::kNotAsked
              : most < 14 ? WhyVerdict::kLikely
                          : WhyVerdict::kProven,
              ResultOf(*found, ExperimentName::kKeepAlive).verdict)
        << most;
  }
}

TEST(WhySearch, AGpuThatIsGoneForAWhileSaysNothing) {
  uint64_t gone = 0;
  ModelProgram program([&](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kKeepAlive) return Fails();
    TrialRun run = Clean();
    if (++gone <= 2) run.end = TrialEnd::kEndedByUser;
    return run;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(2u, found->undecided);
  EXPECT_EQ(8 + OrderFor(FailureKind::kHang).size(), found->runs);
  EXPECT_EQ((RunCount{4, 0, 0, 0}), ResultOf(*found, ExperimentName::kKeepAlive).with);

  ModelProgram killed([](const Experiment&, uint64_t) {
    TrialRun run;
    run.end = TrialEnd::kEndedByUser;
    return run;
  });
  const Result<WhyFound> never = Search(killed);
  EXPECT_EQ(StatusCode::kUnsupported, never.status().code());
  EXPECT_THAT(never.status().message(), HasSubstr("4 runs in a row"));
}

class WhyJournalTest : public FileTest {};

// Interrupted at each run: the next search makes the runs that are left, and finds the same.
TEST_F(WhyJournalTest, AnInterruptedSearchGoesOn) {
  const JournalIdentity identity = {{"program", "model"}};
  const std::vector<ModelLoop> loops = {{kFog, 0, 0}, {kFog, 1, 70'000}};
  const auto behaviour = [&](const Experiment& experiment, uint64_t) {
    return ModelProgram::AllEnd(experiment, loops) ? Clean() : Fails();
  };
  ModelProgram whole(behaviour, loops);
  const Result<WhyFound> expected = Search(whole);
  ASSERT_TRUE(expected.ok());
  ASSERT_THAT(Causes(*expected), ElementsAre(ExperimentName::kLoops));
  for (size_t at = 1; at <= whole.asked().size(); ++at) {
    const std::string path = In("why" + std::to_string(at)).string();
    {
      const auto journal = BisectJournal::Open(path, identity);
      ASSERT_TRUE(journal.ok()) << journal.status().message();
      ModelProgram interrupted(behaviour, loops);
      interrupted.interrupt_at_ = at;
      EXPECT_EQ(StatusCode::kInterrupted, Search(interrupted, journal->get()).status().code());
    }
    const auto journal = BisectJournal::Open(path, identity);
    ASSERT_TRUE(journal.ok()) << journal.status().message();
    EXPECT_EQ(at - 1, (*journal)->remembered());
    ModelProgram rest(behaviour, loops);
    const Result<WhyFound> found = Search(rest, journal->get());
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(Causes(*expected), Causes(*found));
    const WhyResult& result = ResultOf(*found, ExperimentName::kLoops);
    EXPECT_EQ(WhyVerdict::kProven, result.verdict);
    EXPECT_EQ(ResultOf(*expected, ExperimentName::kLoops).loops.alone, result.loops.alone);
    EXPECT_EQ(ResultOf(*expected, ExperimentName::kLoops).with, result.with);
    // One more for the shaders, for the loops, for the accesses, and for the counts.
    EXPECT_LE(rest.asked().size(), whole.asked().size() - (at - 1) + 4);
  }
}

TEST_F(WhyJournalTest, AnInterruptedSearchKnowsThatTheChangeWasMade) {
  const JournalIdentity identity = {{"program", "model"}};
  const auto behaviour = [](const Experiment& experiment, uint64_t) {
    return experiment.change == Change::kKeepAlive ? Clean() : Fails();
  };
  ModelProgram whole(behaviour);
  ASSERT_TRUE(Search(whole).ok());
  for (size_t at = 1; at <= whole.asked().size(); ++at) {
    const std::string path = In("why" + std::to_string(at)).string();
    for (const bool interrupted : {true, false}) {
      const auto journal = BisectJournal::Open(path, identity);
      ASSERT_TRUE(journal.ok()) << journal.status().message();
      ModelProgram program(behaviour);
      if (interrupted) program.interrupt_at_ = at;
      const Result<WhyFound> found = Search(program, journal->get());
      ASSERT_EQ(!interrupted, found.ok());
      if (interrupted) continue;
      // One more for the shaders, for the loops, for the accesses, and for the counts.
      EXPECT_LE(program.asked().size(), whole.asked().size() - (at - 1) + 4);
      EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kKeepAlive)) << at;
      const WhyResult& result = ResultOf(*found, ExperimentName::kKeepAlive);
      EXPECT_EQ(WhyVerdict::kProven, result.verdict) << at;
      EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
      EXPECT_EQ(20u, result.changes);
      for (const WhyResult& other : found->results) {
        if (TellsOnBoard(RowOf(other.name).experiment.change) || Helps(other.verdict)) continue;
        EXPECT_EQ(WhyVerdict::kFails, other.verdict) << at;
      }
    }
  }
}

TEST(WhySearch, ProgressNeverEndsBeforeTheSearch) {
  ModelProgram program([](const Experiment&, uint64_t) { return Fails(); });
  WhyOptions options;
  std::vector<uint64_t> done;
  options.progress = [&](const BisectProgress& now) {
    EXPECT_LT(now.probes_done, now.probes_expected);
    EXPECT_FALSE(now.what.empty());
    done.push_back(now.probes_done);
  };
  ASSERT_TRUE(Search(program, nullptr, options).ok());
  // Two stages.
  ASSERT_THAT(done, SizeIs(4 + OrderFor(FailureKind::kHang).size()));
  for (size_t i = 0; i < done.size(); ++i) EXPECT_EQ(i, done[i]);
}

}  // namespace
}  // namespace cairn
