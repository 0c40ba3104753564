// SPDX-License-Identifier: Apache-2.0
//
// The search with experiments that have rules of their own: accesses, counts, stages, time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reader/why/testing/model_program.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

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
  EXPECT_EQ("the program does not end, and its GPU work does not hang", result.why);
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

TEST(WhySearch, AnAccessOutsideOfEveryBuffer) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    TrialRun run = Fails(FailureKind::kDied, 11);
    if (experiment.change != Change::kCheckBounds) return run;
    if (!experiment.only_counts) run = Clean();
    run.notes = CheckedAccesses(64);
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
  ASSERT_THAT(result.accesses.unchecked, SizeIs(1));
  EXPECT_EQ("the size of what it accesses is not known", result.accesses.unchecked[0].why);
  EXPECT_EQ(1u, result.accesses.unchecked[0].count);
  EXPECT_FALSE(result.accesses.unchecked[0].partly);
  ASSERT_THAT(result.accesses.missed, SizeIs(2));
  EXPECT_EQ(2u, result.accesses.missed[0].index) << "the one with the most misses is first";
  EXPECT_THAT(program.asked(), ::testing::Contains("bounds=skip,shader=0000000000000f09").Times(4));
  EXPECT_THAT(program.asked(), ::testing::Contains("bounds=count,shader=0000000000000f09"));
}

// By reasons, the most frequent first.
TEST(WhySearch, CountsAccessesThatAreNotChecked) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    TrialRun run = Fails(FailureKind::kDied, 11);
    if (experiment.change != Change::kCheckBounds) return run;
    run.notes = CheckedAccesses(0);
    run.notes.accesses[1].partly = "nobody knows how many there are";
    run.notes.accesses.insert(run.notes.accesses.end(), 2, run.notes.accesses[1]);
    run.notes.accesses.back().cannot = "nobody knows how many there are";
    run.notes.accesses.back().partly = "";
    return run;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok()) << found.status().message();
  const WhyResult& result = ResultOf(*found, ExperimentName::kBounds);
  EXPECT_EQ(WhyVerdict::kFails, result.verdict);
  EXPECT_EQ(3u, result.accesses.checked_accesses) << "those that are checked in part are";
  ASSERT_THAT(result.accesses.unchecked, SizeIs(3));
  EXPECT_EQ(2u, result.accesses.unchecked[0].count);
  EXPECT_TRUE(result.accesses.unchecked[0].partly);
  EXPECT_EQ("the size of what it accesses is not known", result.accesses.unchecked[1].why);
  EXPECT_FALSE(result.accesses.unchecked[2].partly);
  EXPECT_EQ("nobody knows how many there are", result.accesses.unchecked[2].why);
}

TEST(WhySearch, ACheckOfAccessesIsNoCauseIfCountingHelpsOrNothingMissed) {
  for (const uint32_t misses : {64u, 0u}) {
    ModelProgram program([misses](const Experiment& experiment, uint64_t) {
      if (experiment.change != Change::kCheckBounds) return Fails();
      TrialRun run = Clean();
      run.notes = CheckedAccesses(misses);
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
    run.notes = CheckedAccesses(64);
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
    run.notes = CheckedAccesses(64);
    run.notes.why_none = "too many buffers";
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
ExperimentNotes LimitedCounts(uint32_t limited, bool indirect) {
  ExperimentNotes told;
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
    run.notes = LimitedCounts(limited, indirect);
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
    run.notes.limited = std::count(stages.begin(), stages.end(), experiment.stage) != 0 ? 2 : 0;
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
    EXPECT_EQ(WhyVerdict::kLikely, result.verdict) << "nothing controls the changed code";
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

// A stage is not needed if all its shaders were empty. A run that never ends says nothing.
TEST(WhySearch, AStageThatStayedOrNeverEndsIsNoEvidence) {
  ModelProgram program([](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kEmptyStage) return Fails();
    TrialRun run = Fails();
    run.notes.limited = 1;
    run.notes.refused = experiment.stage == EmptiedStage::kFragment ? 3 : 0;
    return run;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const WhyResult& stages = ResultOf(*found, ExperimentName::kStages);
  EXPECT_EQ(WhyVerdict::kFails, stages.verdict);
  EXPECT_THAT(stages.stages.not_needed, ElementsAre(EmptiedStage::kVertex));
  EXPECT_EQ(3u, stages.stages.refused_modules);

  ModelProgram endless([](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kEmptyStage) return Fails();
    TrialRun run;
    run.end = TrialEnd::kStuck;
    run.notes.limited = 1;
    return run;
  });
  const Result<WhyFound> none = Search(endless);
  ASSERT_TRUE(none.ok());
  EXPECT_THAT(none->causes, IsEmpty());
  EXPECT_EQ(WhyVerdict::kDoesNotApply, ResultOf(*none, ExperimentName::kStages).verdict);
  EXPECT_EQ(kGoesOnAndOn, ResultOf(*none, ExperimentName::kStages).why);
}

// The vertex stage is refused, endless, or unchanged on a device, behind a fragment stage that is not needed.
TEST(WhySearch, TheSecondStageLeavesTheAnswerOfTheFirst) {
  const auto stages_with = [](TrialRun vertex) {
    ModelProgram program([vertex](const Experiment& experiment, uint64_t) {
      if (experiment.change != Change::kEmptyStage) return Fails();
      if (experiment.stage == EmptiedStage::kVertex) return vertex;
      TrialRun run = Fails();
      run.notes.limited = 1;
      return run;
    });
    const Result<WhyFound> found = Search(program);
    EXPECT_TRUE(found.ok());
    const WhyResult& stages = ResultOf(*found, ExperimentName::kStages);
    EXPECT_EQ(WhyVerdict::kFails, stages.verdict);
    EXPECT_EQ("", stages.why);
    EXPECT_THAT(stages.stages.not_needed, ElementsAre(EmptiedStage::kFragment));
    return stages.stages.refused_modules;
  };
  TrialRun refused = Fails();
  refused.notes.refused = 2;
  refused.notes.why_refused = "too large";
  EXPECT_EQ(2u, stages_with(refused));

  TrialRun endless;
  endless.end = TrialEnd::kStuck;
  endless.notes.limited = 1;
  EXPECT_EQ(0u, stages_with(endless));

  TrialRun other_device = Fails();
  other_device.notes.limited = 1;
  other_device.notes.why_none = "a device without addresses of buffers";
  EXPECT_EQ(0u, stages_with(other_device))
      << "the failure may be of the device that was not changed";
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

}  // namespace
}  // namespace cairn
