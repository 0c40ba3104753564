// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/raw_markers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "reader/analysis/testing/command_processor_model.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Numbers = std::vector<uint32_t>;

// Programs in the notation of the tests: "T1 X B2" is a top-of-pipe marker, a work and a bottom-of-pipe
// marker. Marker n writes value n to slot n.
std::vector<RawCommand> Program(const std::string& text) {
  std::vector<RawCommand> commands;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find(' ', i), text.size());
    const std::string token = text.substr(i, end - i);
    if (token[0] == 'T' || token[0] == 'B') {
      const uint32_t number = static_cast<uint32_t>(std::stoul(token.substr(1)));
      commands.push_back(
          {token[0] == 'T' ? RawCommandKind::kTopMarker : RawCommandKind::kBottomMarker, number,
           number});
    } else {
      commands.push_back({});
    }
    i = end + 1;
  }
  return commands;
}

RawSlots Written(const Numbers& markers) {
  RawSlots slots;
  for (const uint32_t marker : markers) slots[marker] = marker;
  return slots;
}

ModelProgram ToModel(const std::vector<RawCommand>& commands) {
  ModelProgram program;
  program.queues.resize(1);
  uint32_t word_count = 0;
  for (const RawCommand& command : commands) word_count = std::max(word_count, command.slot + 1);
  program.initial_words.assign(word_count, kRawMarkerUnwritten);
  for (const RawCommand& command : commands) {
    ModelCommand model;
    switch (command.kind) {
      case RawCommandKind::kWork:
        model.kind = ModelCommandKind::kWork;
        model.work = program.work_count++;
        break;
      case RawCommandKind::kTopMarker: model.kind = ModelCommandKind::kTopWrite; break;
      case RawCommandKind::kBottomMarker: model.kind = ModelCommandKind::kBottomWrite; break;
    }
    model.word = command.slot;
    model.value = command.value;
    program.queues[0].push_back(model);
  }
  return program;
}

RawSlots ToSlots(const ModelMoment& moment) {
  RawSlots slots;
  for (uint32_t i = 0; i < moment.words.size(); ++i) {
    if (moment.words[i] != kRawMarkerUnwritten) slots[i] = moment.words[i];
  }
  return slots;
}

struct Truth {
  std::set<uint32_t> running;             // in some legal state with these slots
  std::set<uint32_t> running_in_settled;  // in some settled state with these slots
};

// All that a crash can leave, with what can have been running then.
using Outcomes = std::map<RawSlots, Truth>;

void AddOutcomes(const ModelProgram& program, const ModelOptions& options, Outcomes* outcomes) {
  const size_t count =
      CommandProcessorModel(program, options).VisitAll([&](const ModelMoment& moment) {
        Truth& truth = (*outcomes)[ToSlots(moment)];
        for (uint32_t work = 0; work < program.work_count; ++work) {
          if (!moment.Running(work)) continue;
          truth.running.insert(work);
          if (moment.settled) truth.running_in_settled.insert(work);
        }
      });
  ASSERT_NE(count, 0u);
}

// Free orders for crashes at any moment, and hangs of every work with every room for bottom writes.
Outcomes AllOutcomes(const std::vector<RawCommand>& commands) {
  const ModelProgram program = ToModel(commands);
  Outcomes outcomes;
  AddOutcomes(program, {}, &outcomes);
  for (uint32_t work = 0; work < program.work_count; ++work) {
    for (uint32_t limit = 0; limit <= 3; ++limit) {
      ModelOptions options;
      options.bottom_line_limit = limit;
      options.hanging_work = work;
      AddOutcomes(program, options, &outcomes);
    }
  }
  return outcomes;
}

// The inference against every legal order: nothing that can have run is excluded, and nothing is
// included that cannot have run.
void ExpectExact(const std::vector<RawCommand>& commands) {
  for (const auto& [slots, truth] : AllOutcomes(commands)) {
    const RawVerdict verdict = InferFromRawMarkers(commands, slots);
    EXPECT_TRUE(verdict.consistent);
    EXPECT_EQ(verdict.Candidates(), Numbers(truth.running.begin(), truth.running.end()));
    const Numbers likely = verdict.Likely();
    for (const uint32_t work : truth.running_in_settled) {
      EXPECT_THAT(likely, ::testing::Contains(work));
    }
  }
}

Numbers LikelyFor(const std::string& program, const Numbers& written) {
  return InferFromRawMarkers(Program(program), Written(written)).Likely();
}

TEST(RawMarkers, AgsExample1) {
  const std::string program = "T1 B2 B3 X B4 B5 T6";
  EXPECT_THAT(LikelyFor(program, {1, 2, 3}), ElementsAre(0));
  // Marker 6 may be written while DrawX runs, before markers 4 and 5.
  EXPECT_THAT(LikelyFor(program, {1, 2, 3, 6}), ElementsAre(0));
  EXPECT_THAT(LikelyFor(program, {1, 2, 3, 4, 5, 6}), IsEmpty());
  EXPECT_THAT(LikelyFor(program, {1, 2, 3, 4}), IsEmpty());
  const Outcomes outcomes = AllOutcomes(Program(program));
  EXPECT_TRUE(outcomes.contains(Written({1, 2, 3, 6})));
  // Markers 2 and 3 wait for nothing: no hang that has settled lacks them.
  ModelOptions options;
  options.hanging_work = 0;
  CommandProcessorModel(ToModel(Program(program)), options)
      .VisitAll([&](const ModelMoment& moment) {
        if (moment.settled) {
          EXPECT_EQ(ToSlots(moment), Written({1, 2, 3, 6}));
        }
      });
  ExpectExact(Program(program));
}

TEST(RawMarkers, AgsExample2) {
  const std::string program = "T1 X B2 T3 Y B4";
  // DrawX hangs and DrawY is at the top of the pipe, or both hang.
  EXPECT_THAT(LikelyFor(program, {1, 3}), ElementsAre(0, 1));
  EXPECT_THAT(LikelyFor(program, {1, 2, 3}), ElementsAre(1));
  EXPECT_THAT(LikelyFor(program, {1}), ElementsAre(0));
  EXPECT_THAT(LikelyFor(program, {1, 2, 3, 4}), IsEmpty());
  ExpectExact(Program(program));
}

TEST(RawMarkers, AgsExample3) {
  const std::string program = "B1 X B2 Y B3 Z B4";
  EXPECT_THAT(LikelyFor(program, {1}), ElementsAre(0, 1, 2));
  EXPECT_THAT(LikelyFor(program, {1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(LikelyFor(program, {1, 2, 3}), ElementsAre(2));
  ExpectExact(Program(program));
}

TEST(RawMarkers, AgsExample4) {
  const std::string program = "T1 X T2 Y T3 Z";
  EXPECT_THAT(LikelyFor(program, {1}), ElementsAre(0));
  EXPECT_THAT(LikelyFor(program, {1, 2}), ElementsAre(0, 1));
  EXPECT_THAT(LikelyFor(program, {1, 2, 3}), ElementsAre(0, 1, 2));
  ExpectExact(Program(program));
}

TEST(RawMarkers, AgsExample5) {
  const std::string program = "X T1 B2 Y T3 B4";
  EXPECT_THAT(LikelyFor(program, {1, 3}), ElementsAre(0, 1));
  EXPECT_THAT(LikelyFor(program, {1}), ElementsAre(0));
  EXPECT_THAT(LikelyFor(program, {1, 2, 3}), ElementsAre(1));
  // With only marker 1, the source document names DrawX alone. That holds once the hang has settled:
  // a crash in the moment in which DrawY was fetched leaves the same marker.
  EXPECT_THAT(InferFromRawMarkers(Program(program), Written({1})).Candidates(), ElementsAre(0, 1));
  const Outcomes outcomes = AllOutcomes(Program(program));
  EXPECT_THAT(outcomes.at(Written({1})).running, ElementsAre(0, 1));
  EXPECT_THAT(outcomes.at(Written({1})).running_in_settled, ElementsAre(0));
  ExpectExact(Program(program));
}

TEST(RawMarkers, PlacementDecidesNotTheNumbers) {
  // The same markers arrive; before the draws they tell that DrawY was reached, behind them not.
  EXPECT_THAT(LikelyFor("T1 X B2 T3 Y B4", {1}), ElementsAre(0));
  EXPECT_THAT(LikelyFor("X T1 B2 Y T3 B4", {1}), ElementsAre(0));
  EXPECT_EQ(InferFromRawMarkers(Program("T1 X B2 T3 Y B4"), Written({1})).works[1].state,
            WorkState::kNotStarted);
  EXPECT_EQ(InferFromRawMarkers(Program("X T1 B2 Y T3 B4"), Written({1})).works[1].state,
            WorkState::kInFlight);
}

TEST(RawMarkers, ReasonsNameTheMarkers) {
  const RawVerdict verdict =
      InferFromRawMarkers(Program("T1 X B2 T3 Y B4 T5 Z"), Written({1, 2, 3}));
  ASSERT_EQ(verdict.works.size(), 3u);
  EXPECT_EQ(verdict.works[0].state, WorkState::kCompleted);
  EXPECT_EQ(verdict.works[0].reason, (RawReason{RawRule::kBottomWritten, 2}));
  EXPECT_EQ(verdict.works[1].state, WorkState::kInFlight);
  EXPECT_EQ(verdict.works[1].reason, (RawReason{RawRule::kReachedBefore, 3}));
  EXPECT_EQ(verdict.works[2].state, WorkState::kNotStarted);
  EXPECT_EQ(verdict.works[2].reason, (RawReason{RawRule::kTopMissing, 5}));
}

TEST(RawMarkers, NoMarkersProveNothing) {
  const RawVerdict verdict = InferFromRawMarkers(Program("X Y"), {});
  EXPECT_THAT(verdict.Candidates(), ElementsAre(0, 1));
  EXPECT_THAT(InferFromRawMarkers({}, {}).works, IsEmpty());
}

TEST(RawMarkers, ValueNobodyWritesProvesNothing) {
  RawSlots slots = Written({1, 2});
  slots[3] = 77;  // left from an earlier use
  const RawVerdict verdict = InferFromRawMarkers(Program("T1 X B2 T3 Y T5 Z"), slots);
  EXPECT_FALSE(verdict.consistent);
  EXPECT_THAT(verdict.Candidates(), ElementsAre(1, 2));
  EXPECT_EQ(verdict.works[0].state, WorkState::kCompleted);
}

TEST(RawMarkers, ContradictionClaimsNothingUnstarted) {
  // Marker 3 arrived although marker 1, earlier in the same front end, did not: stores were lost.
  const RawVerdict verdict = InferFromRawMarkers(Program("T1 X T3 Y T5 Z"), Written({3}));
  EXPECT_FALSE(verdict.consistent);
  EXPECT_THAT(verdict.Candidates(), ElementsAre(0, 1, 2));
}

TEST(RawMarkers, OneSlotForAllMarkers) {
  // The usual progress word: every top marker to slot 0, every bottom marker to slot 1.
  std::vector<RawCommand> commands = Program("T1 X B2 T3 Y B4 T5 Z B6");
  for (RawCommand& command : commands) {
    command.slot = command.kind == RawCommandKind::kBottomMarker ? 1 : 0;
  }
  EXPECT_THAT(InferFromRawMarkers(commands, {{0, 3}, {1, 2}}).Candidates(), ElementsAre(1));
  EXPECT_THAT(InferFromRawMarkers(commands, {{0, 3}}).Candidates(), ElementsAre(0, 1));
  EXPECT_THAT(InferFromRawMarkers(commands, {{0, 5}, {1, 4}}).Candidates(), ElementsAre(2));
  ExpectExact(commands);
}

TEST(RawMarkers, OneSlotForBothPipesAndRepeatedValues) {
  // Top and bottom stores to one slot overtake each other, and equal values tell less: still nothing
  // that can have run may be excluded.
  std::mt19937_64 random(20);
  for (int round = 0; round < 150; ++round) {
    std::vector<RawCommand> commands;
    for (uint64_t i = 0, count = 3 + random() % 6; i < count; ++i) {
      const auto kind = static_cast<RawCommandKind>(random() % 3);
      commands.push_back({kind, static_cast<uint32_t>(random() % 2), 1 + random() % 3});
    }
    Outcomes outcomes;
    AddOutcomes(ToModel(commands), {}, &outcomes);
    for (const auto& [slots, truth] : outcomes) {
      const RawVerdict verdict = InferFromRawMarkers(commands, slots);
      EXPECT_TRUE(verdict.consistent) << "round " << round;
      for (const uint32_t work : truth.running) {
        EXPECT_THAT(verdict.Candidates(), ::testing::Contains(work)) << "round " << round;
      }
    }
  }
}

TEST(RawMarkers, RandomProgramsAgainstAllOrders) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<RawCommand> commands;
    for (uint32_t i = 0, count = 3 + random() % 6; i < count; ++i) {
      commands.push_back({static_cast<RawCommandKind>(random() % 3), i, 1});
    }
    SCOPED_TRACE(round);
    ExpectExact(commands);
  }
}

// Runs every order with `limit` places for bottom writes and checks the inference that knows it.
void ExpectSoundWithLimit(const std::vector<RawCommand>& commands, uint32_t limit) {
  ModelOptions options;
  options.bottom_line_limit = limit;
  Outcomes outcomes;
  AddOutcomes(ToModel(commands), options, &outcomes);
  for (const auto& [slots, truth] : outcomes) {
    const RawVerdict verdict = InferFromRawMarkers(commands, slots, limit);
    EXPECT_TRUE(verdict.consistent);
    EXPECT_EQ(verdict.Candidates(), Numbers(truth.running.begin(), truth.running.end()));
  }
}

TEST(RawMarkers, BottomLineLimitAgainstAllOrders) {
  for (uint32_t limit = 1; limit <= 4; ++limit) {
    SCOPED_TRACE(limit);
    ExpectSoundWithLimit(Program("W B1 X B2 Y B3 Z B4"), limit);
    ExpectSoundWithLimit(Program("W B1 B2 X T3 Y B4 B5 Z"), limit);
  }
}

TEST(RawMarkers, SixtyFourBottomWritesStopTheFrontEnd) {
  // 70 draws, each with a bottom marker, of which the first hangs: on a GCN device the front end stops
  // behind 64 waiting writes, so that draws 65 and later were never started.
  std::vector<RawCommand> commands;
  for (uint32_t i = 0; i < 70; ++i) {
    commands.push_back({});
    commands.push_back({RawCommandKind::kBottomMarker, i, 1});
  }
  ModelOptions options;
  options.hanging_work = 0;
  std::vector<ModelMoment> settled;
  const CommandProcessorModel model(ToModel(commands), options);
  for (uint64_t seed = 0; seed < 4; ++seed) {
    model.VisitRandomOrder(seed, [&](const ModelMoment& moment) {
      if (moment.settled) settled.push_back(moment);
    });
  }
  ASSERT_EQ(settled.size(), 4u);
  for (const ModelMoment& moment : settled) {
    EXPECT_TRUE(moment.Started(63));
    EXPECT_FALSE(moment.Started(64));
    const RawVerdict limited = InferFromRawMarkers(commands, ToSlots(moment), kGcnBottomLineLimit);
    EXPECT_EQ(limited.Candidates().size(), 64u);
    EXPECT_EQ(limited.works[63].state, WorkState::kInFlight);
    EXPECT_EQ(limited.works[64].state, WorkState::kNotStarted);
    EXPECT_EQ(limited.works[64].reason, (RawReason{RawRule::kLineIsFull, 1, 64}));
    EXPECT_EQ(InferFromRawMarkers(commands, ToSlots(moment)).Candidates().size(), 70u);
  }
}

TEST(RawMarkers, LostBottomStoresAreSafeWithoutTheLimit) {
  ModelOptions options;
  options.crash_loses_stores = true;
  const std::vector<RawCommand> commands = Program("T1 X B2 T3 Y B4 T5 Z B6");
  Outcomes outcomes;
  AddOutcomes(ToModel(commands), options, &outcomes);
  for (const auto& [slots, truth] : outcomes) {
    const RawVerdict verdict = InferFromRawMarkers(commands, slots);
    for (const uint32_t work : truth.running) {
      EXPECT_THAT(verdict.Candidates(), ::testing::Contains(work));
    }
  }
}

}  // namespace
}  // namespace cairn
