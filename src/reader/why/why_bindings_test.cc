// SPDX-License-Identifier: Apache-2.0
//
// The search with the experiment "bindings".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "format/block/block.h"
#include "os/testing/file_fixture.h"
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
  EXPECT_EQ(WhyVerdict::kLikely, result.verdict) << "nothing controls the changed code";
  EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.without);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.bindings.control);
  EXPECT_EQ(2u, result.changes);
  EXPECT_THAT(result.bindings.variables, ElementsAre(also_fog, fog));
  EXPECT_THAT(result.bindings.also, IsEmpty());
  EXPECT_EQ(fog.place, result.bindings.emptied.binding);
  EXPECT_EQ((std::vector<uint64_t>{kSky, kFog}), result.bindings.emptied.shaders);
  const std::string of_fog = ",shader=0000000000000f09";
  EXPECT_THAT(BindingsAsked(program),
              ElementsAre("binding=none" + of_fog, "binding=0.1" + of_fog,
                          "binding=0.3,shader=00000000000005c1" + of_fog,
                          "binding=0.3,shader=00000000000005c1" + of_fog,
                          "binding=0.3,shader=00000000000005c1" + of_fog,
                          "binding=0.3,shader=00000000000005c1" + of_fog, "binding=0.0" + of_fog))
      << "buffers of constants first, samplers last";
}

TEST(WhyBindings, OthersThatHelpAreToldBesideIt) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer);
  const BindingNote other = Buffer(1, BindingKind::kStorageBuffer);
  ModelProgram program(NeedsOneOf({one.place, other.place}, {other, one}));
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_EQ(WhyVerdict::kLikely, result.verdict);
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
    if (experiment.binding.from == From::kNone) return trial;
    trial.notes.refused = 1;
    trial.notes.why_refused = "its address is stored";
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
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kBindings, ExperimentName::kStages))
      << "the binding is narrower";
  EXPECT_THAT(ResultOf(*found, ExperimentName::kBindings).bindings.variables,
              ElementsAre(of_pixel));
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

// The device that is made for changed shaders is what helps: an empty stage has it, too.
TEST(WhyBindings, TheirControlIsThatOfStages) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer, kSky, kStagePixel);
  const auto search = [&](const std::vector<BindingNote>& bindings, TrialRun control) {
    control.notes.bindings = bindings;
    ModelProgram program([&, control](const Experiment& experiment, uint64_t run) {
      if (experiment.change == Change::kEmptyBinding &&
          experiment.binding.from == BindingPlace::From::kNone)
        return control;
      return NeedsStageAnd(EmptiedStage::kFragment, one.place, bindings)(experiment, run);
    });
    const Result<WhyFound> found = Search(program);
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : WhyFound{};
  };
  const WhyFound helps = search({one}, Clean());
  EXPECT_THAT(helps.causes, IsEmpty());
  EXPECT_EQ(WhyVerdict::kCodeHelps, ResultOf(helps, ExperimentName::kStages).verdict);
  EXPECT_EQ(WhyVerdict::kCodeHelps, ResultOf(helps, ExperimentName::kBindings).verdict);
  const WhyFound without_bindings = search({}, Clean());
  EXPECT_THAT(without_bindings.causes, IsEmpty());
  EXPECT_EQ(WhyVerdict::kCodeHelps, ResultOf(without_bindings, ExperimentName::kStages).verdict);

  const WhyFound otherwise = search({one}, Fails(FailureKind::kDied, 11));
  EXPECT_THAT(Causes(otherwise), ElementsAre(ExperimentName::kBindings, ExperimentName::kStages))
      << "a control that fails in another way leaves it at likely";
}

// What the implementation of Direct3D has made for itself is no shader of the program.
TEST(WhyBindings, ShadersOfTheProgramComeFirst) {
  const BindingNote own = Buffer(0, BindingKind::kUniformBuffer, kFog);
  BindingNote translated = Buffer(0, BindingKind::kUniformBuffer, kFog + 1);
  translated.translated = 0xdc;
  ModelProgram program(NeedsOneOf({own.place}, {own, translated}));
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(ResultOf(*found, ExperimentName::kBindings).bindings.variables,
              ElementsAre(translated, own));

  // So do their places: at most eight are tried.
  BindingNote later = Buffer(9, BindingKind::kUniformBuffer, kFog + 1);
  later.translated = 0xdc;
  std::vector<BindingNote> told = {later};
  for (uint32_t place = 0; place < 8; ++place) {
    told.push_back(Buffer(place, BindingKind::kUniformBuffer, kFog));
  }
  ModelProgram other(NeedsOneOf({later.place}, told));
  const Result<WhyFound> among_many = Search(other);
  ASSERT_TRUE(among_many.ok());
  EXPECT_THAT(ResultOf(*among_many, ExperimentName::kBindings).bindings.variables,
              ElementsAre(later));
}

// A program that fails now and then: all of it is likely.
TEST(WhyBindings, StandInFrontOfTheirStageAndOfTime) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer, kSky, kStagePixel);
  ModelProgram program([&](const Experiment& experiment, uint64_t run) {
    if (experiment.change == Change::kMoreTime) return Clean();
    if (experiment.change == Change::kNone && run == 1) return Clean();
    return NeedsStageAnd(EmptiedStage::kFragment, one.place, {one})(experiment, run);
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kBindings, ExperimentName::kStages,
                                          ExperimentName::kTime));
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

TEST(WhyBindings, OneWhoseConfirmationEndsTheRunsWasAsked) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer);
  const BindingNote other = Buffer(1, BindingKind::kUniformBuffer);
  WhyOptions options;
  ModelProgram program(NeedsOneOf({one.place}, {one, other}));
  // As above, three with the first one empty, and one without.
  options.max_runs = 3 + OrderFor(FailureKind::kHang).size() - 3 + 2 + 1 + 3 + 1;
  const Result<WhyFound> found = Search(program, nullptr, options);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_TRUE(found->out_of_runs);
  EXPECT_EQ(WhyVerdict::kLikely, result.verdict);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.without);
  EXPECT_EQ(1u, result.bindings.not_asked) << "the other one";
}

// Other code of the shaders helps: whatever an empty binding does, it may be that.
TEST(WhyBindings, AreNotAskedIfChangedCodeHelpsByItself) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer);
  ModelProgram program([&](const Experiment& experiment, uint64_t run) {
    if (experiment.change == Change::kCheckBounds) {
      TrialRun trial = Clean();
      trial.notes = CheckedAccesses(0);
      return trial;
    }
    return NeedsOneOf({one.place}, {one})(experiment, run);
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  ASSERT_EQ(WhyVerdict::kCodeHelps, ResultOf(*found, ExperimentName::kBounds).verdict);
  for (const ExperimentName name : {ExperimentName::kStages, ExperimentName::kBindings}) {
    EXPECT_EQ(WhyVerdict::kDoesNotApply, ResultOf(*found, name).verdict);
    EXPECT_EQ("changed code of the shaders helps by itself", ResultOf(*found, name).why);
  }
  EXPECT_THAT(BindingsAsked(program), IsEmpty());
}

// Threads fill the board: its order says nothing.
TEST(WhyBindings, TheOrderOfTheBoardDoesNotMatter) {
  std::vector<BindingNote> bindings;
  for (uint32_t i = 0; i < 10; ++i) {
    bindings.push_back(Buffer(i % 5, BindingKind::kStorageBuffer, i < 5 ? kSky : kFog));
    bindings.back().index = i;
  }
  bindings.push_back(Buffer(7, BindingKind::kUniformBuffer));
  ModelProgram program(NeedsOneOf({bindings[4].place}, bindings));
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  std::reverse(bindings.begin(), bindings.end());
  ModelProgram reversed(NeedsOneOf({bindings[1].place}, bindings));
  const Result<WhyFound> same = Search(reversed);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(program.asked(), reversed.asked());
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_THAT(result.bindings.variables, SizeIs(2));
  EXPECT_EQ(result.bindings.variables,
            ResultOf(*same, ExperimentName::kBindings).bindings.variables);
}

TEST(WhyBindings, OthersHaveWhatAllShadersAgreeOn) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer);
  const BindingNote other = Buffer(1, BindingKind::kStorageBuffer);
  BindingNote elsewhere = Buffer(1, BindingKind::kSampledImage, kSky);
  elsewhere.name = "image";
  ModelProgram program(NeedsOneOf({one.place, other.place}, {one, other, elsewhere}));
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const BindingFindings& bindings = ResultOf(*found, ExperimentName::kBindings).bindings;
  ASSERT_THAT(bindings.also, SizeIs(1));
  EXPECT_EQ(other.place, bindings.also[0].place);
  EXPECT_EQ("", bindings.also[0].name);
  EXPECT_EQ(BindingKind::kUnknown, bindings.also[0].kind);
}

TEST(WhyBindings, ModulesThatStayedAreCounted) {
  const BindingNote one = Buffer(0, BindingKind::kUniformBuffer);
  const BindingNote other = Buffer(1, BindingKind::kUniformBuffer);
  ModelProgram program([&](const Experiment& experiment, uint64_t run) {
    TrialRun trial = NeedsOneOf({}, {one, other})(experiment, run);
    if (experiment.change != Change::kEmptyBinding) return trial;
    if (experiment.binding.from == From::kNone) {
      trial.notes.dropped = 5;
      trial.notes.refused = 1;
    }
    if (experiment.binding == other.place) trial.notes.refused = 2;
    return trial;
  });
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_EQ(WhyVerdict::kFails, result.verdict);
  EXPECT_EQ("", result.why);
  EXPECT_EQ(5u, result.bindings.dropped);
  EXPECT_EQ(2u, result.bindings.refused_modules);
  EXPECT_EQ(0u, result.bindings.not_emptied);
}

TrialRun WithOneLimited(TrialRun run) {
  run.notes.limited = 1;
  return run;
}

// With a binding empty it fails in the way that `ways` has for its number; binding 9 helps, and not the second time.
ModelProgram::Behaviour FailsInWays(std::vector<BindingNote> bindings,
                                    std::vector<FailureKind> ways) {
  return [=, helped = 0](const Experiment& experiment, uint64_t run) mutable {
    const uint32_t number = experiment.binding.number;
    if (experiment.binding.from == From::kNone) return NeedsOneOf({}, bindings)(experiment, run);
    if (number == 9) return WithOneLimited(++helped <= 3 ? Clean() : Fails());
    return WithOneLimited(Fails(number < ways.size() ? ways[number] : FailureKind::kHang));
  };
}

TEST(WhyBindings, OnesThatFailAreSummed) {
  const auto buffers = [](std::vector<uint32_t> numbers) {
    std::vector<BindingNote> bindings;
    for (const uint32_t number : numbers)
      bindings.push_back(Buffer(number, BindingKind::kStorageBuffer));
    return bindings;
  };
  const auto answer = [](ModelProgram::Behaviour behaviour) {
    ModelProgram program(std::move(behaviour));
    const Result<WhyFound> found = Search(program);
    EXPECT_TRUE(found.ok());
    return ResultOf(*found, ExperimentName::kBindings);
  };
  constexpr FailureKind kLost = FailureKind::kLost, kDied = FailureKind::kDied;
  const WhyResult mixed = answer(FailsInWays(buffers({0, 1, 2}), {kLost, kLost}));
  EXPECT_EQ(WhyVerdict::kFails, mixed.verdict);
  EXPECT_EQ((RunCount{3, 1, 2, 0}), mixed.with);
  EXPECT_EQ(FailureKind::kNone, mixed.other_kind);
  const WhyResult agreed = answer(FailsInWays(buffers({0, 1}), {kLost, kLost}));
  EXPECT_EQ(WhyVerdict::kFailsOtherwise, agreed.verdict);
  EXPECT_EQ((RunCount{2, 0, 2, 0}), agreed.with);
  EXPECT_EQ(kLost, agreed.other_kind);
  const WhyResult differ = answer(FailsInWays(buffers({0, 1, 2}), {kLost, kDied, kLost}));
  EXPECT_EQ(WhyVerdict::kFailsOtherwise, differ.verdict);
  EXPECT_EQ(FailureKind::kNone, differ.other_kind);
  // The three clean runs in front of the one that failed are left out.
  const WhyResult refuted = answer(FailsInWays(buffers({3, 9}), {}));
  EXPECT_EQ(WhyVerdict::kFails, refuted.verdict);
  EXPECT_EQ((RunCount{2, 2, 0, 0}), refuted.with);
}

// Without a store for which the program waits, it does not end.
TEST(WhyBindings, OneWithWhichItNeverEndsIsNoCause) {
  const BindingNote polled = Buffer(0, BindingKind::kStorageBuffer);
  const BindingNote needed = Buffer(1, BindingKind::kStorageBuffer);
  std::vector<BindingNote> bindings = {polled};
  const auto behaviour = [&](const Experiment& experiment, uint64_t run) {
    TrialRun trial = NeedsOneOf({needed.place}, bindings)(experiment, run);
    if (experiment.binding == polled.place) trial.end = TrialEnd::kStuck;
    return trial;
  };
  ModelProgram program(behaviour);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_EQ(WhyVerdict::kDoesNotApply, result.verdict);
  EXPECT_EQ(kGoesOnAndOn, result.why);
  EXPECT_EQ(1u, result.bindings.endless);

  bindings = {polled, needed};
  ModelProgram both(behaviour);
  const Result<WhyFound> cause = Search(both);
  ASSERT_TRUE(cause.ok());
  const WhyResult& helps = ResultOf(*cause, ExperimentName::kBindings);
  EXPECT_EQ(WhyVerdict::kLikely, helps.verdict);
  EXPECT_THAT(helps.bindings.variables, ElementsAre(needed));
  EXPECT_THAT(helps.bindings.also, IsEmpty());
  EXPECT_EQ(1u, helps.bindings.endless);
}

TEST(WhyBindings, AJournalsNumberHasTheModules) {
  const EmptiedModules modules = {7, 5, true};
  EXPECT_EQ(modules, EmptiedModulesOf(WordOf(modules)));
  EXPECT_EQ(EmptiedModules(), EmptiedModulesOf(0));
  const EmptiedModules most = {UINT32_MAX, UINT32_MAX, false};
  EXPECT_EQ((EmptiedModules{UINT32_MAX, INT32_MAX, false}), EmptiedModulesOf(WordOf(most)));
}

class WhyBindingsFiles : public FileTest {};

// The journal has what was emptied: the runs that it has are not made again, but the one that tells the bindings.
TEST_F(WhyBindingsFiles, AreTheSameBehindAnInterruption) {
  const BindingNote needed = Buffer(3, BindingKind::kStorageBuffer);
  const BindingNote other = Buffer(0, BindingKind::kUniformBuffer);
  const auto behaviour = [&](const Experiment& experiment, uint64_t run) {
    TrialRun trial =
        NeedsStageAnd(EmptiedStage::kCompute, needed.place, {needed, other})(experiment, run);
    if (experiment.binding == other.place) trial.notes.refused = 4;
    return trial;
  };
  ModelProgram whole(behaviour);
  const Result<WhyFound> all = Search(whole);
  ASSERT_TRUE(all.ok());
  const WhyResult& expected = ResultOf(*all, ExperimentName::kBindings);
  ASSERT_EQ(WhyVerdict::kLikely, expected.verdict);
  const std::vector<std::string>& asked = whole.asked();
  const auto first = static_cast<size_t>(
      std::find(asked.begin(), asked.end(), BindingsAsked(whole).front()) - asked.begin());
  const JournalIdentity identity = {{"program", "model"}};
  for (size_t at = first + 1; at <= asked.size(); ++at) {
    const std::string path = In("bindings" + std::to_string(at)).string();
    {
      const auto journal = BisectJournal::Open(path, identity);
      ASSERT_TRUE(journal.ok()) << journal.status().message();
      ModelProgram interrupted(behaviour);
      interrupted.interrupt_at_ = at;
      EXPECT_EQ(StatusCode::kInterrupted, Search(interrupted, journal->get()).status().code());
    }
    const auto journal = BisectJournal::Open(path, identity);
    ASSERT_TRUE(journal.ok()) << journal.status().message();
    // The run that tells the bindings again says nothing once.
    uint64_t listed = 0;
    ModelProgram flaky([&](const Experiment& experiment, uint64_t run) {
      TrialRun trial = behaviour(experiment, run);
      const bool lists =
          experiment.change == Change::kEmptyBinding && experiment.binding.from == From::kNone;
      if (lists && ++listed == 1) trial.end = TrialEnd::kEndedByUser;
      return trial;
    });
    const Result<WhyFound> found = Search(flaky, journal->get());
    ASSERT_TRUE(found.ok()) << found.status().message();
    const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
    EXPECT_EQ(WhyVerdict::kLikely, result.verdict) << at;
    EXPECT_EQ(expected.with, result.with) << at;
    EXPECT_EQ(expected.changes, result.changes) << at;
    EXPECT_EQ(expected.bindings.variables, result.bindings.variables) << at;
    EXPECT_EQ(4u, result.bindings.refused_modules) << at;
    EXPECT_EQ(0u, result.bindings.not_emptied) << at;
    EXPECT_EQ(1u, found->undecided) << at;
    EXPECT_THAT(flaky.asked(), Not(Contains(StartsWith("stage=")))) << at;
    EXPECT_EQ(2u, listed) << at;
  }
}

// All answers are in the journal, and no run is left for what it does not keep.
TEST_F(WhyBindingsFiles, ThatNoRunIsLeftToTellThemIsNoAnswer) {
  const BindingNote needed = Buffer(3, BindingKind::kStorageBuffer);
  const auto behaviour = NeedsOneOf({needed.place}, {needed});
  const JournalIdentity identity = {{"program", "model"}};
  const std::string path = In("bindings.why").string();
  WhyOptions options;
  options.max_runs = 3 + OrderFor(FailureKind::kHang).size() - 3 + 2 + 1;
  {
    const auto journal = BisectJournal::Open(path, identity);
    ASSERT_TRUE(journal.ok()) << journal.status().message();
    ModelProgram first(behaviour);
    ASSERT_TRUE(Search(first, journal->get(), options).ok());
    EXPECT_THAT(BindingsAsked(first), SizeIs(1));
  }
  const auto journal = BisectJournal::Open(path, identity);
  ASSERT_TRUE(journal.ok()) << journal.status().message();
  // Four tell again the shaders, the loops, the counts and the accesses.
  options.max_runs += 4;
  ModelProgram rest(behaviour);
  const Result<WhyFound> found = Search(rest, journal->get(), options);
  ASSERT_TRUE(found.ok()) << found.status().message();
  const WhyResult& result = ResultOf(*found, ExperimentName::kBindings);
  EXPECT_EQ(WhyVerdict::kNotAsked, result.verdict) << result.why;
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.bindings.control) << "of the journal";
  EXPECT_THAT(BindingsAsked(rest), IsEmpty());
  EXPECT_TRUE(found->out_of_runs);
}

}  // namespace
}  // namespace cairn
