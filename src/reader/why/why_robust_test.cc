// SPDX-License-Identifier: Apache-2.0
//
// The search with the experiment "robust": what it proves, and that checked accesses say more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "os/testing/file_fixture.h"
#include "reader/why/testing/model_program.h"

namespace cairn {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr RobustDevices kTwo = {.enabled = kRobustBufferAccess2 | kNullDescriptor,
                                .own = kRobustBufferAccess,
                                .missing = kRobustImageAccess2,
                                .left = kRobustImageAccess};

// Dies, but not with robust accesses.
TrialRun Fetch(const Experiment& experiment) {
  return experiment.change == Change::kRobust ? Clean() : Fails(FailureKind::kDied, 11);
}

size_t FirstOf(const std::vector<std::string>& asked, std::string_view begin) {
  const auto first = std::find_if(asked.begin(), asked.end(),
                                  [&](const std::string& one) { return one.starts_with(begin); });
  return static_cast<size_t>(first - asked.begin());
}

TEST(WhyRobust, IsLikelyForThereIsNoControl) {
  ModelProgram program([](const Experiment& experiment, uint64_t) { return Fetch(experiment); });
  program.changes_ = WordOf(kTwo);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_THAT(Causes(*found), ElementsAre(ExperimentName::kRobust));
  const WhyResult& result = ResultOf(*found, ExperimentName::kRobust);
  EXPECT_EQ(WhyVerdict::kLikely, result.verdict);
  EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
  EXPECT_EQ((RunCount{1, 1, 0, 0}), result.without) << "it came back without";
  EXPECT_EQ(kTwo, result.robust);
  EXPECT_EQ(2u, result.changes) << "the features that were enabled";
  EXPECT_LT(FirstOf(program.asked(), "robust"), FirstOf(program.asked(), "bounds="));
}

TEST(WhyRobust, IsNoCauseIfItHelpsOnceOnly) {
  uint32_t runs = 0;
  ModelProgram program([&](const Experiment& experiment, uint64_t) {
    if (experiment.change == Change::kRobust && ++runs == 4) return Fails(FailureKind::kDied, 11);
    return Fetch(experiment);
  });
  program.changes_ = WordOf(kTwo);
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Causes(*found), IsEmpty());
  EXPECT_EQ(WhyVerdict::kFails, ResultOf(*found, ExperimentName::kRobust).verdict);
}

// The place is told first, be it proven or likely.
TEST(WhyRobust, StandsBehindCheckedAccesses) {
  for (const bool control_fails_otherwise : {false, true}) {
    ModelProgram program([=](const Experiment& experiment, uint64_t) {
      if (experiment.change != Change::kCheckBounds) return Fetch(experiment);
      TrialRun run = Clean();
      if (experiment.only_counts)
        run = Fails(control_fails_otherwise ? FailureKind::kLost : FailureKind::kDied, 11);
      run.notes = CheckedAccesses(64);
      return run;
    });
    program.changes_ = WordOf(kTwo);
    const Result<WhyFound> found = Search(program);
    ASSERT_TRUE(found.ok());
    EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kBounds, ExperimentName::kRobust));
    EXPECT_EQ(control_fails_otherwise ? WhyVerdict::kLikely : WhyVerdict::kProven,
              ResultOf(*found, ExperimentName::kBounds).verdict);
    EXPECT_EQ(WhyVerdict::kLikely, ResultOf(*found, ExperimentName::kRobust).verdict);
  }
}

TEST(WhyRobust, DoesNotApplyWithoutAFeatureMore) {
  struct Case {
    RobustDevices devices;
    const char* why;
  };
  constexpr Case kCases[] = {
      {{}, "the layers changed nothing"},
      {{.own = kAllRobustFeatures},
       "the program enables robustBufferAccess, robustBufferAccess2, robustImageAccess, "
       "robustImageAccess2, nullDescriptor itself"},
      {{.missing = kAllRobustFeatures & ~kRobustBufferAccess, .left = kRobustBufferAccess},
       "the layers could not enable robustBufferAccess; the device does not have "
       "robustBufferAccess2, robustImageAccess, robustImageAccess2, nullDescriptor"},
  };
  for (const Case& one : kCases) {
    ModelProgram program([](const Experiment& experiment, uint64_t) { return Fetch(experiment); });
    program.changes_ = WordOf(one.devices);
    const Result<WhyFound> found = Search(program);
    ASSERT_TRUE(found.ok());
    EXPECT_THAT(Causes(*found), IsEmpty());
    const WhyResult& result = ResultOf(*found, ExperimentName::kRobust);
    EXPECT_EQ(WhyVerdict::kDoesNotApply, result.verdict);
    EXPECT_EQ(one.why, result.why);
    EXPECT_EQ(0u, result.changes);
  }
}

// The journal has what was enabled.
class WhyRobustFiles : public FileTest {};

TEST_F(WhyRobustFiles, IsTheSameBehindAnInterruption) {
  ModelProgram whole([](const Experiment& experiment, uint64_t) { return Fetch(experiment); });
  whole.changes_ = WordOf(kTwo);
  const Result<WhyFound> all = Search(whole);
  ASSERT_TRUE(all.ok());
  const JournalIdentity identity = {{"program", "model"}};
  const std::string path = In("robust.why").string();
  const size_t bounds = FirstOf(whole.asked(), "bounds=");
  ASSERT_LT(bounds, whole.asked().size());
  {
    const auto journal = BisectJournal::Open(path, identity);
    ASSERT_TRUE(journal.ok()) << journal.status().message();
    ModelProgram first([](const Experiment& experiment, uint64_t) { return Fetch(experiment); });
    first.changes_ = WordOf(kTwo);
    first.interrupt_at_ = bounds + 1;
    EXPECT_EQ(StatusCode::kInterrupted, Search(first, journal->get()).status().code());
  }
  const auto journal = BisectJournal::Open(path, identity);
  ASSERT_TRUE(journal.ok()) << journal.status().message();
  ModelProgram rest([](const Experiment& experiment, uint64_t) { return Fetch(experiment); });
  const Result<WhyFound> found = Search(rest, journal->get());
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_THAT(rest.asked(), ::testing::Not(Contains("robust")));
  EXPECT_EQ(kTwo, ResultOf(*found, ExperimentName::kRobust).robust);
  EXPECT_THAT(Causes(*found), ElementsAre(ExperimentName::kRobust));
}

}  // namespace
}  // namespace cairn
