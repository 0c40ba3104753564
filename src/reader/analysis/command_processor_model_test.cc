// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/testing/command_processor_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Words = std::vector<uint64_t>;

ModelCommand Work(uint32_t work) {
  return {ModelCommandKind::kWork, work, 0, 0};
}
ModelCommand Top(uint32_t word, uint64_t value) {
  return {ModelCommandKind::kTopWrite, 0, word, value};
}
ModelCommand Bottom(uint32_t word, uint64_t value) {
  return {ModelCommandKind::kBottomWrite, 0, word, value};
}
ModelCommand Barrier() {
  return {ModelCommandKind::kBarrier, 0, 0, 0};
}

ModelProgram Program(std::vector<std::vector<ModelCommand>> queues, uint32_t work_count,
                     uint32_t word_count) {
  return {std::move(queues), Words(word_count, 0), work_count};
}

std::set<Words> AllWords(const CommandProcessorModel& model) {
  std::set<Words> words;
  EXPECT_NE(model.VisitAll([&](const ModelMoment& moment) { words.insert(moment.words); }), 0u);
  return words;
}

std::set<Words> SettledWords(const CommandProcessorModel& model) {
  std::set<Words> words;
  model.VisitAll([&](const ModelMoment& moment) {
    if (moment.settled) words.insert(moment.words);
  });
  return words;
}

TEST(CommandProcessorModel, TopWritesOvertakeBottomWrites) {
  const ModelProgram program = Program({{Work(0), Bottom(0, 1), Top(1, 1)}}, 1, 2);
  EXPECT_THAT(AllWords({program, {}}),
              UnorderedElementsAre(Words{0, 0}, Words{1, 0}, Words{0, 1}, Words{1, 1}));
}

TEST(CommandProcessorModel, BottomWritesWaitForAllEarlierWorkAndStayInOrder) {
  const ModelProgram program = Program({{Work(0), Bottom(0, 1), Work(1), Bottom(1, 1)}}, 2, 2);
  CommandProcessorModel(program, {}).VisitAll([](const ModelMoment& moment) {
    if (moment.words[0] == 1) {
      EXPECT_TRUE(moment.Finished(0));
    }
    if (moment.words[1] == 1) {
      EXPECT_TRUE(moment.Finished(0) && moment.Finished(1));
      EXPECT_EQ(moment.words[0], 1u);
    }
  });
}

TEST(CommandProcessorModel, WorkFinishesInAnyOrder) {
  std::set<std::pair<bool, bool>> finished;
  CommandProcessorModel(Program({{Work(0), Work(1)}}, 2, 0), {})
      .VisitAll([&](const ModelMoment& moment) {
        finished.insert({moment.Finished(0), moment.Finished(1)});
      });
  EXPECT_EQ(finished.size(), 4u);
}

TEST(CommandProcessorModel, BarrierWaitsForWorkAndStores) {
  const ModelProgram program = Program({{Work(0), Bottom(0, 1), Barrier(), Work(1)}}, 2, 1);
  ModelOptions options;
  options.crash_loses_stores = true;
  CommandProcessorModel(program, options).VisitAll([](const ModelMoment& moment) {
    if (moment.Started(1)) {
      EXPECT_TRUE(moment.Finished(0));
      EXPECT_EQ(moment.words[0], 1u);
    }
  });
}

TEST(CommandProcessorModel, FullLineStopsTheFrontEndBeforeWorkButNotBeforeTopWrites) {
  ModelOptions options;
  options.bottom_line_limit = 2;
  options.hanging_work = 0;
  const ModelProgram program =
      Program({{Work(0), Bottom(0, 1), Bottom(0, 2), Top(1, 1), Work(1), Top(1, 2)}}, 2, 2);
  EXPECT_THAT(SettledWords({program, options}), ElementsAre(Words{0, 1}));
  options.bottom_line_limit = 3;
  EXPECT_THAT(SettledWords({program, options}), ElementsAre(Words{0, 2}));
}

TEST(CommandProcessorModel, LateStoresOfDifferentWordsArriveInAnyOrder) {
  const ModelProgram program = Program({{Top(0, 1), Top(1, 1), Top(0, 2)}}, 0, 2);
  ModelOptions options;
  options.crash_loses_stores = true;
  EXPECT_EQ(AllWords({program, options}).size(), 4u);  // in order
  options.top_confirmed = false;
  // Word 0 goes 0, 1, 2 in order whatever word 1 does.
  EXPECT_EQ(AllWords({program, options}).size(), 6u);
  options.crash_loses_stores = false;
  EXPECT_EQ(AllWords({program, options}).size(), 4u);
}

TEST(CommandProcessorModel, PoisonedWorkNeverFinishes) {
  ModelOptions options;
  options.poisoning_work = 0;
  const ModelProgram program =
      Program({{Work(0), Bottom(0, 1), Barrier(), Work(1), Bottom(0, 2)}}, 2, 1);
  EXPECT_THAT(SettledWords({program, options}), ElementsAre(Words{1}));
}

TEST(CommandProcessorModel, QueuesAreIndependent) {
  const ModelProgram program = Program({{Top(0, 1)}, {Top(1, 1)}}, 0, 2);
  EXPECT_EQ(AllWords({program, {}}).size(), 4u);
}

TEST(CommandProcessorModel, SameSeedSameOrder) {
  const ModelProgram program = Program({{Work(0), Bottom(0, 1), Work(1), Top(1, 1)}}, 2, 2);
  const CommandProcessorModel model(program, {});
  std::vector<Words> first;
  std::vector<Words> second;
  model.VisitRandomOrder(5, [&](const ModelMoment& moment) { first.push_back(moment.words); });
  model.VisitRandomOrder(5, [&](const ModelMoment& moment) { second.push_back(moment.words); });
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.back(), (Words{1, 1}));
}

TEST(CommandProcessorModel, StateLimitStopsTheSearch) {
  const ModelProgram program = Program({{Work(0), Work(1), Work(2)}}, 3, 0);
  EXPECT_EQ(CommandProcessorModel(program, {}).VisitAll([](const ModelMoment&) {}, 4), 0u);
}

}  // namespace
}  // namespace cairn
