// SPDX-License-Identifier: Apache-2.0
//
// The search for loops: limits and their control, fewer trips and more, loops alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "reader/why/testing/model_program.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

}  // namespace
}  // namespace cairn
