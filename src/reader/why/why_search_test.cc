// SPDX-License-Identifier: Apache-2.0
//
// The search against models of programs: with which changes they fail, what is proven, and how an interrupted search goes
// on.
#include "reader/why/why_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "os/testing/file_fixture.h"
#include "reader/why/testing/model_program.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
      const bool has_control = row.name != ExperimentName::kRobust;
      EXPECT_EQ(has_control ? WhyVerdict::kProven : WhyVerdict::kLikely, result.verdict);
      EXPECT_EQ((RunCount{4, 0, 0, 0}), result.with);
      EXPECT_EQ((RunCount{1, 1, 0, 0}), result.without);
      EXPECT_THAT(found->results, SizeIs(order.size()));
      for (const WhyResult& other : found->results) {
        if (other.name == row.name || TellsOnBoard(RowOf(other.name).experiment.change)) continue;
        EXPECT_EQ(WhyVerdict::kFails, other.verdict);
        EXPECT_EQ((RunCount{1, 1, 0, 0}), other.with);
      }
      // 3 unchanged, 4 and 1 of the cause, 1 of each other; none of stages and bindings, or two and one where nothing had
      // helped yet.
      const uint64_t last = row.name == ExperimentName::kTime ? 3 : 0;
      EXPECT_EQ(5 + last + order.size(), found->runs);
      EXPECT_EQ(found->runs, program.asked().size());
    }
  }
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
        run.notes = CheckedAccesses(0);
        return run;
      },
      {{kFog, 0, 3}});
  const Result<WhyFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->causes, IsEmpty());
  // Two stages.
  EXPECT_EQ(4 + OrderFor(FailureKind::kDied).size(), found->runs);
  for (const WhyResult& result : found->results) {
    // The model has no calls, no stages and no bindings.
    if (result.name == ExperimentName::kCounts || result.name == ExperimentName::kStages ||
        result.name == ExperimentName::kBindings) {
      continue;
    }
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
  const std::vector<ExperimentName> order = OrderFor(FailureKind::kHang);
  const uint64_t all = 5 + order.size();
  const auto kept = std::find(order.begin(), order.end(), ExperimentName::kKeepAlive);
  // Behind 3 runs of the program as it is, one of each experiment before, and 3 clean ones.
  const auto seen = static_cast<uint64_t>(3 + (kept - order.begin()) + 3);
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
    // To come back and to go again takes 2 more.
    EXPECT_EQ(most < seen       ? WhyVerdict::kNotAsked
              : most < seen + 2 ? WhyVerdict::kLikely
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
  EXPECT_EQ(7 + OrderFor(FailureKind::kHang).size(), found->runs);
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
