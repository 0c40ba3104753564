// SPDX-License-Identifier: Apache-2.0
//
// The search within a call, against models of calls that fail for some of their parts.
#include "reader/bisect/call_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;

constexpr uint64_t kCall = 70;
constexpr uint64_t kSubmission = 100;

BisectTree Tree() {
  BisectTree tree;
  tree.submissions = {{50, {}}, {kSubmission, {}}, {200, {}}};
  return tree;
}

BisectAnswer Failure() {
  BisectAnswer failure;
  failure.found = true;
  failure.culprits = {{Suspect::Kind::kCall, kCall, 0}};
  failure.place = kSubmission;
  failure.failed = failure.asked = 2;
  failure.probes = 10;
  return failure;
}

// First, middle and last places of ten.
constexpr std::pair<uint64_t, uint64_t> kPairs[] = {{0, 9}, {3, 4}, {0, 1}, {5, 9}};

using Fails = std::function<bool(const KeptParts&)>;

PartsAnswer Search(const CallParts& parts, const Fails& fails) {
  const BisectTree tree = Tree();
  PartsAnswer answer;
  const Status status = SearchParts(
      parts, tree, Failure(),
      [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
        EXPECT_THAT(question.left_out, IsEmpty());
        EXPECT_TRUE(question.rest_stays);
        EXPECT_EQ(200u, question.stop_before);
        EXPECT_EQ(kCall, question.parts->call);
        EXPECT_LE(question.parts->end, parts.count);
        if (!fails(*question.parts)) return ProbeAnswer{};
        return ProbeAnswer{ProbeOutcome::kFails, kSubmission};
      },
      {}, &answer);
  EXPECT_TRUE(status.ok()) << status.message();
  return answer;
}

TEST(SearchParts, OneIsNamedWhereverItIs) {
  for (const uint64_t count : {1u, 2u, 3u, 17u, 120u}) {
    for (uint64_t guilty = 0; guilty < count; ++guilty) {
      const PartsAnswer answer =
          Search({kCall, count}, [&](const KeptParts& kept) { return kept.Has(guilty); });
      EXPECT_THAT(answer.guilty, ElementsAre(PartRange{guilty, guilty + 1})) << count;
      EXPECT_TRUE(answer.all_looked_at);
      EXPECT_FALSE(answer.needs_none || answer.more);
      EXPECT_THAT(answer.probes, Le(10u + 15u));
    }
  }
}

TEST(SearchParts, TwoThatFailByThemselvesAreBothNamed) {
  for (const auto& pair : kPairs) {
    const uint64_t one = pair.first;
    const uint64_t other = pair.second;
    const PartsAnswer answer = Search(
        {kCall, 10}, [&](const KeptParts& kept) { return kept.Has(one) || kept.Has(other); });
    EXPECT_THAT(answer.guilty, ElementsAre(PartRange{one, one + 1}, PartRange{other, other + 1}));
    EXPECT_TRUE(answer.all_looked_at);
  }
}

TEST(SearchParts, TwoThatFailTogetherAreTheEndsOfARange) {
  for (const auto& pair : kPairs) {
    const uint64_t one = pair.first;
    const uint64_t other = pair.second;
    const PartsAnswer answer = Search(
        {kCall, 10}, [&](const KeptParts& kept) { return kept.Has(one) && kept.Has(other); });
    EXPECT_THAT(answer.guilty, ElementsAre(PartRange{one, other + 1}));
  }
}

TEST(SearchParts, MoreThanAFewAreCountedNoFurther) {
  const PartsAnswer answer =
      Search({kCall, 100}, [](const KeptParts& kept) { return kept.end > kept.first; });
  EXPECT_EQ(kMostGuiltyParts, answer.guilty.size());
  EXPECT_TRUE(answer.more);
  EXPECT_FALSE(answer.all_looked_at);
}

TEST(SearchParts, AFailureThatNeedsNoneOfThemIsThatOfTheCallAlone) {
  const PartsAnswer answer = Search({kCall, 10}, [](const KeptParts&) { return true; });
  EXPECT_TRUE(answer.needs_none);
  EXPECT_THAT(answer.guilty, IsEmpty());
}

TEST(SearchParts, WithPrefixesAloneTheFirstIsNamedAndNothingBehindItIsPlayed) {
  CallParts parts = {kCall, 50};
  parts.only_prefixes = true;
  const PartsAnswer answer = Search(parts, [](const KeptParts& kept) {
    EXPECT_EQ(0u, kept.first);
    return kept.Has(20) || kept.Has(40);
  });
  EXPECT_THAT(answer.guilty, ElementsAre(PartRange{20, 21}));
  EXPECT_FALSE(answer.all_looked_at);
}

TEST(SearchParts, WhereTheCountIsALimitNothingBehindTheFirstIsPlayed) {
  CallParts parts = {kCall, 4'000'000'000};
  parts.count_is_limit = true;
  const PartsAnswer answer = Search(parts, [](const KeptParts& kept) { return kept.Has(2); });
  EXPECT_THAT(answer.guilty, ElementsAre(PartRange{2, 3}));
  EXPECT_FALSE(answer.all_looked_at);
  EXPECT_THAT(answer.probes, Le(10u + 39u));
}

TEST(SearchParts, APlayThatMakesNoSenseNamesNothing) {
  PartsAnswer answer;
  const Status status = SearchParts(
      {kCall, 8}, Tree(), Failure(),
      [](const BisectQuestion&) -> Result<ProbeAnswer> {
        return ProbeAnswer{ProbeOutcome::kInvalid, 0};
      },
      {}, &answer);
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(answer.guilty, IsEmpty());
  EXPECT_FALSE(answer.needs_none || answer.all_looked_at);
}

TEST(SearchParts, AnInterruptionLeavesWhatIsKnown) {
  PartsAnswer answer;
  const Status status = SearchParts(
      {kCall, 8}, Tree(), Failure(),
      [](const BisectQuestion& question) -> Result<ProbeAnswer> {
        if (question.parts->first != 0 && question.parts->end == 8) {
          return Status(StatusCode::kInterrupted, "interrupted");
        }
        return ProbeAnswer{question.parts->Has(2) ? ProbeOutcome::kFails : ProbeOutcome::kClean,
                           kSubmission};
      },
      {}, &answer);
  EXPECT_EQ(StatusCode::kInterrupted, status.code());
  EXPECT_THAT(answer.guilty, ElementsAre(PartRange{2, 3}));
  EXPECT_FALSE(answer.all_looked_at);
}

// A play that is refused in the halving, and one of what is behind the first part.
TEST(SearchParts, WhatIsRefusedCountsAsNothing) {
  for (const KeptParts& refused : {KeptParts{kCall, 0, 4}, KeptParts{kCall, 3, 8}}) {
    PartsAnswer answer;
    const Status status = SearchParts(
        {kCall, 8}, Tree(), Failure(),
        [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
          if (*question.parts == refused) return ProbeAnswer{ProbeOutcome::kInvalid, 0};
          return ProbeAnswer{question.parts->Has(2) ? ProbeOutcome::kFails : ProbeOutcome::kClean,
                             kSubmission};
        },
        {}, &answer);
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(refused.first == 0 ? 0u : 1u, answer.guilty.size());
    EXPECT_FALSE(answer.all_looked_at);
  }
}

TEST(SearchParts, ACallThatIsCleanWithAllItsPartsNamesNone) {
  const PartsAnswer answer = Search({kCall, 10}, [](const KeptParts&) { return false; });
  EXPECT_THAT(answer.guilty, IsEmpty());
  EXPECT_FALSE(answer.fails_with_all || answer.needs_none || answer.all_looked_at);
  EXPECT_EQ(12u, answer.probes);
}

TEST(SearchParts, OneCleanPlayByLuckNamesNoWrongRange) {
  for (int lucky = 2; lucky < 12; ++lucky) {
    int play = 0;
    const PartsAnswer answer =
        Search({kCall, 10}, [&](const KeptParts& kept) { return kept.Has(5) && play++ != lucky; });
    for (const PartRange& range : answer.guilty) EXPECT_EQ((PartRange{5, 6}), range) << lucky;
  }
}

TEST(SearchParts, AFailureElsewhereIsAnotherOne) {
  PartsAnswer answer;
  const Status status = SearchParts(
      {kCall, 8}, Tree(), Failure(),
      [](const BisectQuestion& question) -> Result<ProbeAnswer> {
        if (question.parts->Has(5)) return ProbeAnswer{ProbeOutcome::kFails, kSubmission};
        if (question.parts->Has(1)) return ProbeAnswer{ProbeOutcome::kFails, 50};
        return ProbeAnswer{};
      },
      {}, &answer);
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(answer.guilty, ElementsAre(PartRange{5, 6}));
}

}  // namespace
}  // namespace cairn
