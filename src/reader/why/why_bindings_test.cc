// SPDX-License-Identifier: Apache-2.0
//
// The search with the experiment "bindings".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "format/block/block.h"
#include "reader/why/testing/model_program.h"
#include "reader/why/why_search.h"

namespace cairn {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using From = BindingPlace::From;

BindingNote Buffer(uint32_t binding, BindingKind kind, uint64_t shader = kFog,
                   uint32_t stage = kStageCompute) {
  BindingNote note;
  note.shader = shader;
  note.stage = stage;
  note.place = {From::kDescriptor, 0, binding};
  note.kind = kind;
  note.name = "b" + std::to_string(binding);
  return note;
}

// It has these bindings, and fails but for runs in which one of `needed` is empty.
ModelProgram::Behaviour NeedsOneOf(std::vector<BindingPlace> needed,
                                   std::vector<BindingNote> bindings) {
  return [=](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kEmptyBinding) return Fails();
    if (experiment.binding.from == From::kNone) {
      TrialRun run = Fails();
      run.notes.bindings = bindings;
      return run;
    }
    TrialRun run =
        std::count(needed.begin(), needed.end(), experiment.binding) != 0 ? Clean() : Fails();
    run.notes.limited = static_cast<uint32_t>(experiment.shaders.size());
    return run;
  };
}

std::vector<std::string> BindingsAsked(const ModelProgram& program) {
  std::vector<std::string> asked;
  for (const std::string& text : program.asked()) {
    if (text.starts_with("binding=")) asked.push_back(text);
  }
  return asked;
}

TEST(WhyBindings, TheOneThatTheFailureNeeds) {
  const BindingNote fog = Buffer(3, BindingKind::kStorageBuffer);
  const BindingNote also_fog = Buffer(3, BindingKind::kStorageBuffer, kSky);
  ModelProgram program(NeedsOneOf({fog.place}, {Buffer(0, BindingKind::kSampler), fog, also_fog,
                                                Buffer(1, BindingKind::kUniformBuffer)}));
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_THAT(Causes(*found), ElementsAre(ExperimentName::kBindings));
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.without);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.bindings.control);
  EXPECT_EQ(2u, result.changes);
  EXPECT_THAT(result.bindings.variables, ElementsAre(fog, also_fog));
  EXPECT_THAT(result.bindings.also, IsEmpty());
  EXPECT_EQ(fog.place, result.bindings.emptied.binding);
  EXPECT_EQ((std::vector<uint64_t>{kFog, kSky}), result.bindings.emptied.shaders);
  const std::string of_fog = ",shader=0000000000000f09";
  EXPECT_THAT(
      BindingsAsked(program),
      ElementsAre("binding=none" + of_fog, "binding=0.1" + of_fog,
                  "binding=0.3" + of_fog + ",shader=00000000000005c1",
                  "binding=0.3" + of_fog + ",shader=00000000000005c1",
                  "binding=0.3" + of_fog + ",shader=00000000000005c1",
                  "binding=0.3" + of_fog + ",shader=00000000000005c1", "binding=0.0" + of_fog))
      << "buffers of constants first, samplers last";
}

TEST(WhyBindings, OthersThatHelpAreToldBesideIt) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer);
  const BindingNote other = Buffer(1, BindingKind::kStorageBuffer);
  ModelProgram program(NeedsOneOf({one.place, other.place}, {other, one}));
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_EQ(WhyVerdict::kProven, result.verdict);
  EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with) << "runs of the first alone";
  EXPECT_THAT(result.bindings.variables, ElementsAre(one));
  EXPECT_THAT(result.bindings.also, ElementsAre(other));
}

TEST(WhyBindings, EightAreAsked) {
  std::vector<BindingNote> bindings;
  for (uint32_t i = 0; i < 11; ++i) bindings.push_back(Buffer(i, BindingKind::kSampledImage));
  bindings.push_back(Buffer(11, BindingKind::kAccelerationStructure));
  ModelProgram program(NeedsOneOf({}, bindings));
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_EQ(WhyVerdict::kFails, result.verdict);
  EXPECT_EQ((RunCount{8, 8, 0, 0}), result.with);
  EXPECT_EQ(3u, result.bindings.not_asked);
  EXPECT_THAT(BindingsAsked(program), SizeIs(9));
}

TEST(WhyBindings, OneThatCannotBeEmptiedIsNoEvidence) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer);
  ModelProgram program([&](const Experiment& experiment, uint64_t run) {
    TrialRun trial = NeedsOneOf({one.place}, {one})(experiment, run);
    if (experiment.change != Change::kEmptyBinding) return trial;
    trial.notes.limited = 0;
    if (experiment.binding.from != From::kNone) trial.notes.why_refused = "its address is stored";
    return trial;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_EQ(WhyVerdict::kDoesNotApply, result.verdict);
  EXPECT_EQ("its address is stored", result.why);
  EXPECT_EQ(1u, result.bindings.not_emptied);
}

// A device that is made for changed shaders, and has none.
TEST(WhyBindings, WhereTellingThemHelpsNoneOfThemIsTheCause) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer);
  ModelProgram program([&](const Experiment& experiment, uint64_t) {
    if (experiment.change != Change::kEmptyBinding) return Fails();
    TrialRun run = Clean();
    run.notes.bindings = {one};
    return run;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  EXPECT_EQ(WhyVerdict::kCodeHelps, ResultOf(*found, ExperimentName::kBindings).verdict);
  EXPECT_THAT(BindingsAsked(program), SizeIs(1));
}

TEST(WhyBindings, AreNotAskedIfAnotherChangeHelpsButAStage) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer, kFog, kStageVertex);
  ModelProgram kept([&](const Experiment& experiment, uint64_t run) {
    if (experiment.change == Change::kKeepAlive) return Clean();
    return NeedsOneOf({one.place}, {one})(experiment, run);
  });
  const Result<WhyFound> found = Search(kept);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kKeepAlive));
  EXPECT_EQ("another change helps, and says more", ResultOf(*found, ExperimentName::kBindings).why);
  EXPECT_THAT(BindingsAsked(kept), IsEmpty());
}

// It fails, but for runs in which that stage does nothing, or one of these bindings is empty.
ModelProgram::Behaviour NeedsStageAnd(EmptiedStage needed, const BindingPlace& place,
                                      std::vector<BindingNote> bindings) {
  return [=](const Experiment& experiment, uint64_t run) {
    if (experiment.change != Change::kEmptyStage)
      return NeedsOneOf({place}, bindings)(experiment, run);
    TrialRun trial = experiment.stage == needed ? Clean() : Fails();
    trial.notes.limited = 1;
    return trial;
  };
}

TEST(WhyBindings, AStageSaysWhereToLook) {
  const BindingNote of_vertex = Buffer(0, BindingKind::kUniformBuffer, kFog, kStageVertex);
  const BindingNote of_pixel = Buffer(1, BindingKind::kUniformBuffer, kSky, kStagePixel);
  const BindingNote of_compute = Buffer(2, BindingKind::kUniformBuffer, 0xc0, kStageCompute);
  const std::vector<BindingNote> all = {of_vertex, of_pixel, of_compute};
  ModelProgram pixel(NeedsStageAnd(EmptiedStage::kFragment, of_pixel.place, all));
  const Result<WhyFound> found = Search(pixel);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kStages, ExperimentName::kBindings));
  EXPECT_THAT(BindingsAsked(pixel), Contains(StartsWith("binding=0.1,")).Times(4));
  EXPECT_THAT(BindingsAsked(pixel), SizeIs(5)) << "bindings of other stages are not asked";

  // Both stages were emptied, and it failed: their bindings cannot help.
  ModelProgram compute([&](const Experiment& experiment, uint64_t run) {
    if (experiment.change != Change::kEmptyStage)
      return NeedsOneOf({of_compute.place}, all)(experiment, run);
    TrialRun trial = Fails();
    trial.notes.limited = 1;
    return trial;
  });
  const Result<WhyFound> third = Search(compute);
  ASSERT_TRUE(third.ok());
  EXPECT_THAT(Causes(*third), ElementsAre(ExperimentName::kBindings));
  EXPECT_THAT(ResultOf(*third, ExperimentName::kBindings).bindings.variables,
              ElementsAre(of_compute));
  EXPECT_THAT(BindingsAsked(compute), Not(Contains(HasSubstr("binding=0.0"))));
  EXPECT_THAT(BindingsAsked(compute), Not(Contains(HasSubstr("binding=0.1"))));
}

TEST(WhyBindings, ThatRunsEndFirstIsTold) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer);
  const BindingNote other = Buffer(1, BindingKind::kUniformBuffer);
  WhyOptions options;
  ModelProgram program(NeedsOneOf({other.place}, {one, other}));
  // 3 as it is, 9 that do not help, two stages that it does not have, the bindings, and the first one.
  options.max_runs = 3 + OrderFor(FailureKind::kHang).size() - 3 + 2 + 1 + 1;
  const Result<WhyFound> found = Search(program, nullptr, options);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_EQ(WhyVerdict::kFails, result.verdict);
  EXPECT_EQ(1u, result.bindings.not_asked);
  EXPECT_TRUE(found->out_of_runs);
}

}  // namespace
}  // namespace cairn
