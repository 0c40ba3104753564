// SPDX-License-Identifier: Apache-2.0
//
// The analysis against the model of a command processor, over all legal orders of small sessions and
// random orders of larger ones. Seeds are fixed: every run checks the same sessions.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "reader/analysis/analysis.h"
#include "reader/analysis/testing/command_processor_model.h"
#include "reader/analysis/testing/scenario.h"

namespace cairn {
namespace {

using Words = std::vector<uint64_t>;

// The analysis of every state of the words, with what may be asked of it.
class Checker {
 public:
  // `top_stores_are_seen`: the assumption under which "not started" is claimed.
  Checker(Scenario& scenario, bool top_stores_are_seen, bool all_work_marked = true)
      : scenario_(scenario),
        top_stores_are_seen_(top_stores_are_seen),
        all_work_marked_(all_work_marked) {
    for (uint32_t work = 0; work < scenario.works().size(); ++work) {
      for (uint32_t scope = scenario.works()[work].scope; scope != kNone;
           scope = Parent(work, scope)) {
        works_inside_[{scenario.works()[work].submission, scope}].push_back(work);
      }
    }
  }

  // "" or what is wrong.
  std::string Check(const ModelMoment& moment) {
    const Analysis& analysis = AnalysisOf(moment.words);
    for (uint32_t index = 0; index < analysis.executions.size(); ++index) {
      std::string wrong = CheckClaims(moment, analysis, index);
      if (!wrong.empty()) return wrong;
    }
    if (!top_stores_are_seen_) return "";
    for (uint32_t work = 0; work < scenario_.works().size(); ++work) {
      if (!moment.Running(work)) continue;
      std::string wrong = CheckCulprit(analysis, work);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  const Analysis& AnalysisOf(const Words& words) {
    const auto found = analyses_.find(words);
    if (found != analyses_.end()) return found->second;
    return analyses_.emplace(words, Analyse(scenario_.Observe(words))).first->second;
  }

  const std::map<Words, Analysis>& analyses() const { return analyses_; }

  const Execution& ExecutionOf(const Analysis& analysis, uint32_t submission) const {
    return *std::find_if(
        analysis.executions.begin(), analysis.executions.end(),
        [&](const Execution& execution) { return execution.submission == submission; });
  }

 private:
  // Scope numbers within a list, from the recorded events.
  uint32_t Parent(uint32_t work, uint32_t scope) {
    const uint32_t list =
        scenario_.snapshot().submissions[scenario_.works()[work].submission].recording;
    auto& parents = parents_[list];
    if (parents.empty()) {
      const Recording& recording = scenario_.snapshot().recordings[list];
      std::vector<uint32_t> open;
      for (uint32_t i = 0; i < recording.event_count; ++i) {
        if (scenario_.snapshot().events[recording.first_event + i].kind == EventKind::kEnd) {
          open.pop_back();
        } else {
          parents.push_back(open.empty() ? kNone : open.back());
          open.push_back(static_cast<uint32_t>(parents.size() - 1));
        }
      }
    }
    return parents[scope];
  }

  std::string CheckClaims(const ModelMoment& moment, const Analysis& analysis,
                          uint32_t index) const {
    const Execution& execution = analysis.executions[index];
    if (execution.submission == kNone) {
      return execution.state == WorkState::kNotStarted ? "" : "a list never submitted was started";
    }
    for (uint32_t scope = 0; scope < execution.scope_count; ++scope) {
      const auto inside = works_inside_.find({execution.submission, scope});
      if (inside == works_inside_.end()) continue;
      const WorkState state = analysis.scopes[execution.first_scope + scope].state;
      for (const uint32_t work : inside->second) {
        if (state == WorkState::kCompleted && !moment.Finished(work)) {
          return fmt::format("scope {} of submission {} called completed, work {} is not", scope,
                             execution.submission, work);
        }
        if (top_stores_are_seen_ && state == WorkState::kNotStarted && moment.Started(work)) {
          return fmt::format("scope {} of submission {} called not started, work {} has", scope,
                             execution.submission, work);
        }
      }
    }
    for (uint32_t work = 0; work < scenario_.works().size(); ++work) {
      if (scenario_.works()[work].submission != execution.submission) continue;
      if (execution.state == WorkState::kCompleted && !moment.Finished(work)) {
        return fmt::format("submission {} called completed", execution.submission);
      }
      if (top_stores_are_seen_ && execution.state == WorkState::kNotStarted &&
          moment.Started(work)) {
        return fmt::format("submission {} called not started", execution.submission);
      }
    }
    return "";
  }

  // Every running work can be the culprit: its scope, or something inside that scope, must be listed,
  // or its whole list.
  std::string CheckCulprit(const Analysis& analysis, uint32_t work) const {
    const Scenario::Work& culprit = scenario_.works()[work];
    const Execution& execution = ExecutionOf(analysis, culprit.submission);
    if (execution.state != WorkState::kInFlight)
      return fmt::format("list of work {} not in flight", work);
    const uint32_t index = static_cast<uint32_t>(&execution - analysis.executions.data());
    for (const QueueVerdict& verdict : analysis.verdicts) {
      if (verdict.queue != culprit.queue) continue;
      if (std::ranges::find(verdict.list_candidates, index) != verdict.list_candidates.end())
        return "";
      if (culprit.scope == kNone) return "";
      const uint32_t wanted = execution.first_scope + culprit.scope;
      if (verdict.exact && verdict.candidates[0] != wanted && all_work_marked_) {
        return fmt::format("work {} runs beside an exact verdict for another", work);
      }
      for (uint32_t scope : verdict.candidates) {
        for (; scope != kNone; scope = analysis.scopes[scope].parent) {
          if (scope == wanted) return "";
        }
      }
    }
    return fmt::format("work {} is not among the candidates", work);
  }

  Scenario& scenario_;
  bool top_stores_are_seen_;
  bool all_work_marked_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> works_inside_;
  std::map<uint32_t, std::vector<uint32_t>> parents_;
  std::map<Words, Analysis> analyses_;
};

constexpr MarkerMode kModes[] = {MarkerMode::kTop, MarkerMode::kPass, MarkerMode::kFull};

// Top-of-pipe stores are seen if the front end waits for them or if a crash loses none.
ModelOptions Options(bool top_confirmed, bool crash_loses_stores, uint32_t limit,
                     bool barriers_hold = true) {
  ModelOptions options;
  options.barriers_hold = barriers_hold;
  options.top_confirmed = top_confirmed;
  options.crash_loses_stores = crash_loses_stores;
  options.bottom_line_limit = limit;
  return options;
}

void CheckAllOrders(MarkerMode mode, bool top_confirmed, bool crash_loses_stores, uint64_t seed,
                    int rounds, bool barriers_hold = true) {
  std::mt19937_64 random(seed);
  size_t state_count = 0;
#if defined(CAIRN_SANITIZED)
  rounds /= 5;  // what is looked for then is in the first ones as well
#endif
  for (int round = 0; round < rounds; ++round) {
    ScenarioLimits limits;
    limits.all_work_marked = round % 2 == 0;
    limits.no_drains = !barriers_hold;
    Scenario scenario = RandomScenario(mode, limits, random);
    const uint32_t limit = round % 3 == 0 ? 1 + round % 2 : kGcnBottomLineLimit;
    Checker checker(scenario, top_confirmed || !crash_loses_stores, limits.all_work_marked);
    std::string wrong;
    const size_t count =
        CommandProcessorModel(scenario.program(),
                              Options(top_confirmed, crash_loses_stores, limit, barriers_hold))
            .VisitAll([&](const ModelMoment& moment) {
              if (wrong.empty()) wrong = checker.Check(moment);
            });
    ASSERT_NE(count, 0u) << "round " << round << " has too many states";
    ASSERT_EQ(wrong, "") << "round " << round;
    state_count += count;
  }
  ::testing::Test::RecordProperty("states", std::to_string(state_count));
}

class AllOrders : public ::testing::TestWithParam<MarkerMode> {};

TEST_P(AllOrders, CulpritIsACandidateAndClaimsHold) {
  CheckAllOrders(GetParam(), true, true, 1, 600);
}

TEST_P(AllOrders, LateStoresThatNothingLoses) {
  CheckAllOrders(GetParam(), false, false, 2, 50);
}

// Even where a crash loses stores of both kinds, nothing unfinished is called completed.
TEST_P(AllOrders, LostStoresNeverMakeWorkCompleted) {
  CheckAllOrders(GetParam(), false, true, 3, 50);
}

TEST_P(AllOrders, BarriersThatHoldNothingProveNothing) {
  CheckAllOrders(GetParam(), true, true, 5, 60, false);
}

std::string ModeName(const ::testing::TestParamInfo<MarkerMode>& info) {
  if (info.param == MarkerMode::kTop) return "Top";
  return info.param == MarkerMode::kPass ? "Pass" : "Full";
}
INSTANTIATE_TEST_SUITE_P(Modes, AllOrders, ::testing::ValuesIn(kModes), ModeName);

// The assumption is needed: without it, a running draw can look like one that was never started.
TEST(AnalysisAssumptions, LostTopStoresHideTheCulprit) {
  Scenario scenario(MarkerMode::kFull);
  const uint32_t queue = scenario.AddQueue();
  scenario.BeginList(queue);
  scenario.AddMarkedWork();
  scenario.Submit(queue, 0);
  Checker checker(scenario, true);
  std::set<std::string> wrong;
  CommandProcessorModel(scenario.program(), Options(false, true, kGcnBottomLineLimit))
      .VisitAll([&](const ModelMoment& moment) { wrong.insert(checker.Check(moment)); });
  EXPECT_THAT(wrong, ::testing::Contains("scope 0 of submission 0 called not started, work 0 has"));
}

// A draw, a barrier that is marked as one that holds, a draw.
Scenario DrawsAroundDrain() {
  Scenario scenario(MarkerMode::kTop);
  const uint32_t queue = scenario.AddQueue();
  scenario.BeginList(queue);
  scenario.AddMarkedWork();
  scenario.AddDrain();
  scenario.AddMarkedWork();
  scenario.Submit(queue, 0);
  return scenario;
}

// Marks on barriers that do not hold make running work look finished: the assumption is needed,
// too.
TEST(AnalysisAssumptions, BarriersMarkedAsHoldingHaveToHold) {
  for (const bool hold : {true, false}) {
    Scenario scenario = DrawsAroundDrain();
    Checker checker(scenario, true);
    std::set<std::string> wrong;
    CommandProcessorModel(scenario.program(), Options(true, true, kGcnBottomLineLimit, hold))
        .VisitAll([&](const ModelMoment& moment) { wrong.insert(checker.Check(moment)); });
    if (hold) {
      EXPECT_THAT(wrong, ::testing::ElementsAre(""));
    } else {
      EXPECT_THAT(wrong,
                  ::testing::Contains("scope 0 of submission 0 called completed, work 0 is not"));
    }
  }
}

// In mode top, with a barrier that holds behind each work: never more than one work is a candidate, and
// it is the one that runs, if one does.
TEST(AnalysisSharpness, BarriersThatHoldLeaveOneWorkInModeTop) {
  Scenario scenario(MarkerMode::kTop);
  const uint32_t queue = scenario.AddQueue();
  for (int list = 0; list < 2; ++list) {
    scenario.BeginList(queue);
    for (int i = 0; i < 3; ++i) {
      scenario.AddMarkedWork();
      scenario.AddDrain();
    }
    scenario.Submit(queue, static_cast<uint32_t>(list));
  }
  Checker checker(scenario, true);
  CommandProcessorModel(scenario.program(), {}).VisitAll([&](const ModelMoment& moment) {
    EXPECT_EQ(checker.Check(moment), "");
    const Analysis& analysis = checker.AnalysisOf(moment.words);
    uint32_t works = 0;
    for (const uint32_t scope : analysis.verdicts.at(0).candidates) {
      const Event& begin = scenario.snapshot().events[analysis.scopes[scope].event];
      works += begin.type == CAIRN_MARKER_DRAW;
    }
    EXPECT_LE(works, 1u);
  });
}

// Draws and dispatches by turns, on a device whose barriers drain one kind alone: no more than the last of
// each is a candidate.
TEST(AnalysisSharpness, BarriersThatDrainOneKindLeaveTheOther) {
  Scenario scenario(MarkerMode::kTop);
  const uint32_t queue = scenario.AddQueue();
  scenario.BeginList(queue);
  for (int i = 0; i < 4; ++i) {
    const uint8_t kind = i % 2 == 0 ? Scenario::kOfDraws : Scenario::kOfDispatches;
    scenario.AddMarkedWork(true, kind);
    scenario.AddDrain(true, kind);
  }
  scenario.AddMarkedWork(true, Scenario::kOfCopies);
  scenario.AddDrain(true, Scenario::kOfDraws);
  scenario.AddMarkedWork(true, Scenario::kOfDraws);
  scenario.Submit(queue, 0);
  Checker checker(scenario, true);
  size_t most = 0;
  CommandProcessorModel(scenario.program(), {}).VisitAll([&](const ModelMoment& moment) {
    EXPECT_EQ(checker.Check(moment), "");
    std::map<uint16_t, size_t> works;
    for (const uint32_t scope : checker.AnalysisOf(moment.words).verdicts.at(0).candidates) {
      ++works
          [scenario.snapshot().events[checker.AnalysisOf(moment.words).scopes[scope].event].type];
    }
    EXPECT_LE(works[CAIRN_MARKER_DRAW], 1u);
    EXPECT_LE(works[CAIRN_MARKER_DISPATCH], 1u);
    most = std::max(most, works[CAIRN_MARKER_COPY_RESOURCE] + works[CAIRN_MARKER_DRAW]);
  });
  EXPECT_EQ(most, 2u);  // what drains draws does not drain the copy
}

// In mode full, with all work marked and written, a scope is in flight only if some legal order with
// these words has its work running.
TEST(AnalysisSharpness, NothingIsInFlightThatCannotBe) {
  std::mt19937_64 random(4);
  ScenarioLimits limits;
  limits.max_queues = 1;
  limits.max_lists = 1;
  limits.max_works_per_list = 5;
  limits.all_work_marked = true;
  limits.all_writes = true;
  limits.single_executions = true;
  limits.no_barriers = true;  // what a barrier proves, the analysis does not know
  for (int round = 0; round < 120; ++round) {
    Scenario scenario = RandomScenario(MarkerMode::kFull, limits, random);
    Checker checker(scenario, true);
    std::map<Words, std::set<uint32_t>> running;  // scopes
    CommandProcessorModel(scenario.program(), {}).VisitAll([&](const ModelMoment& moment) {
      checker.AnalysisOf(moment.words);
      for (uint32_t work = 0; work < scenario.works().size(); ++work) {
        if (moment.Running(work)) running[moment.words].insert(scenario.works()[work].scope);
      }
    });
    for (const auto& [words, analysis] : checker.analyses()) {
      for (const uint32_t scope : analysis.verdicts.at(0).candidates) {
        const bool is_work = analysis.scopes[scope].ordinal != 0;  // others are passes
        if (!is_work) continue;
        EXPECT_TRUE(running[words].contains(scope)) << "round " << round << " scope " << scope;
      }
    }
  }
}

// Works one after the other, in passes of two.
Scenario SerialisedSession(uint32_t work_count) {
  Scenario scenario(MarkerMode::kFull);
  const uint32_t queue = scenario.AddQueue();
  scenario.BeginList(queue);
  for (uint32_t i = 0; i < work_count; ++i) {
    if (i % 2 == 0) scenario.BeginScope(CAIRN_MARKER_PASS);
    scenario.AddMarkedWork();
    scenario.AddBarrier();
    if (i % 2 == 1 || i + 1 == work_count) {
      scenario.EndScope();
      scenario.AddBarrier();
    }
  }
  scenario.Submit(queue, 0);
  return scenario;
}

TEST(AnalysisSharpness, SerialisedHangIsExact) {
  for (uint32_t culprit = 0; culprit < 5; ++culprit) {
    Scenario scenario = SerialisedSession(5);
    Checker checker(scenario, true);
    ModelOptions options;
    options.hanging_work = culprit;
    size_t settled_count = 0;
    CommandProcessorModel(scenario.program(), options).VisitAll([&](const ModelMoment& moment) {
      EXPECT_EQ(checker.Check(moment), "");
      if (!moment.settled) return;
      ++settled_count;
      const QueueVerdict& verdict = checker.AnalysisOf(moment.words).verdicts.at(0);
      EXPECT_TRUE(verdict.exact);
      EXPECT_THAT(verdict.candidates, ::testing::ElementsAre(scenario.works()[culprit].scope));
    });
    EXPECT_EQ(settled_count, 1u);
  }
}

// Serialised work is exact at every crash, too, where stores are seen before the next step.
TEST(AnalysisSharpness, SerialisedCrashNamesTheRunningWorkAlone) {
  Scenario scenario = SerialisedSession(4);
  Checker checker(scenario, true);
  CommandProcessorModel(scenario.program(), {}).VisitAll([&](const ModelMoment& moment) {
    for (uint32_t work = 0; work < scenario.works().size(); ++work) {
      if (!moment.Running(work)) continue;
      const QueueVerdict& verdict = checker.AnalysisOf(moment.words).verdicts.at(0);
      EXPECT_TRUE(verdict.exact);
      EXPECT_THAT(verdict.candidates, ::testing::ElementsAre(scenario.works()[work].scope));
    }
  });
}

// A device on which a faulting dispatch completes and the next one never does: the verdict names the
// victim, and the culprit is the last scope that finished before it. That is what the device's note
// in the reason is for.
TEST(AnalysisLimits, FaultAfterCompletionPointsAtTheVictim) {
  for (uint32_t culprit = 0; culprit < 4; ++culprit) {
    Scenario scenario = SerialisedSession(5);
    Checker checker(scenario, true);
    ModelOptions options;
    options.poisoning_work = culprit;
    CommandProcessorModel(scenario.program(), options).VisitAll([&](const ModelMoment& moment) {
      EXPECT_EQ(checker.Check(moment), "");
      if (!moment.settled) return;
      const Analysis& analysis = checker.AnalysisOf(moment.words);
      EXPECT_TRUE(analysis.verdicts.at(0).exact);
      const uint32_t victim = analysis.verdicts.at(0).candidates.at(0);
      EXPECT_EQ(victim, scenario.works()[culprit + 1].scope);
      uint32_t last_finished = kNone;
      for (uint32_t scope = 0; scope < victim; ++scope) {
        const Scope& before = analysis.scopes[scope];
        if (!before.has_children && before.state == WorkState::kCompleted) last_finished = scope;
      }
      EXPECT_EQ(last_finished, scenario.works()[culprit].scope);
    });
  }
}

// ---- Mode exact ----------------------------------------------------------------------------------------

// Works in mode exact, one behind the other, in passes of labels, and render passes that are not cut among
// them: the works inside of those overlap. `pieces` gets the piece that each scope of each list is part of:
// a work, or such a render pass.
class ExactSession {
 public:
  explicit ExactSession(uint64_t seed) : random_(seed), scenario(MarkerMode::kExact) {
    const uint32_t queue_count = 1 + Below(2);
    for (uint32_t i = 0; i < queue_count; ++i) scenario.AddQueue();
    const uint32_t list_count = 1 + Below(3);
    for (uint32_t list = 0; list < list_count; ++list) {
      const uint32_t queue = Below(queue_count);
      scenario.BeginList(queue);
      pieces.emplace_back();
      const bool reusable = Below(3) == 0;
      if (reusable) scenario.SetReusable();
      Record();
      scenario.Submit(queue, list);
      if (reusable) scenario.Submit(queue, list);
    }
  }

 private:
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  void Record() {
    const bool labels = Below(2) == 0;
    if (labels) Begin(CAIRN_MARKER_PASS, ++piece_);
    const uint32_t count = 1 + Below(2);
    for (uint32_t i = 0; i < count; ++i) {
      if (Below(3) == 0) {
        WholePass();
      } else {
        Begin(CAIRN_MARKER_DISPATCH, ++piece_);
        scenario.AddWork(Scenario::kOfDispatches);
        scenario.EndScopeBehindBarrier();
      }
    }
    if (labels) scenario.EndScopeBehindBarrier();
  }

  // With markers, which are written inside of render passes, or with fills, which are not.
  void WholePass() {
    const bool writes = Below(2) == 0;
    Begin(CAIRN_MARKER_BEGIN_RENDERING, ++piece_);
    scenario.EndScope(writes);
    for (int draw = 0; draw < 2; ++draw) {
      Begin(CAIRN_MARKER_DRAW, piece_, writes);
      scenario.AddWork(Scenario::kOfDraws);
      scenario.EndScope(writes);
    }
    Begin(CAIRN_MARKER_END_RENDERING, piece_, writes);
    scenario.EndScopeBehindBarrier();
  }

  void Begin(CairnMarkerType type, uint32_t piece, bool writes = true) {
    scenario.BeginScope(type, writes);
    pieces.back().push_back(piece);
  }

  std::mt19937_64 random_;
  uint32_t piece_ = 0;

 public:
  Scenario scenario;
  std::vector<std::vector<uint32_t>> pieces;  // of each list
};

// Reached, passed and runs of each list: cleared by a further execution that has not counted itself (R6).
bool BetweenTwoExecutions(const Words& words) {
  for (size_t i = 0; i < words.size(); i += 3) {
    if (words[i] == 0 && words[i + 1] == 0 && words[i + 2] != 0) return true;
  }
  return false;
}

// In all orders, whatever a crash loses, nothing unfinished is called finished. Unless writes at the top were
// lost, what runs is a candidate, and all candidates of a queue are parts of one piece.
TEST(AnalysisOfModeExact, OneQueueHasOnePieceInFlight) {
#if defined(CAIRN_SANITIZED)
  constexpr uint64_t kSessions = 20;
#else
  constexpr uint64_t kSessions = 120;
#endif
  for (uint64_t seed = 0; seed < kSessions; ++seed) {
    const bool confirmed = seed % 3 != 0;
    const bool loses = seed % 2 == 0;
    ExactSession session(seed);
    const bool tops_are_seen = confirmed || !loses;
    Checker checker(session.scenario, tops_are_seen);
    const size_t count =
        CommandProcessorModel(session.scenario.program(),
                              Options(confirmed, loses, seed % 5 == 0 ? 1 : kGcnBottomLineLimit))
            .VisitAll([&](const ModelMoment& moment) {
              ASSERT_EQ(checker.Check(moment), "") << "seed " << seed;
            });
    ASSERT_NE(count, 0u) << "seed " << seed;
    for (const auto& [words, analysis] : checker.analyses()) {
      if (!tops_are_seen || BetweenTwoExecutions(words)) continue;
      for (const QueueVerdict& verdict : analysis.verdicts) {
        std::set<uint32_t> pieces;
        for (const uint32_t scope : verdict.candidates) {
          const auto execution = std::ranges::find_if(analysis.executions, [&](const Execution& e) {
            return e.first_scope <= scope && scope < e.first_scope + e.scope_count;
          });
          pieces.insert(session.pieces[execution->recording][scope - execution->first_scope]);
        }
        ASSERT_LE(pieces.size(), 1u) << "seed " << seed;
      }
    }
  }
}

// The barrier that the layer says stands there has to: without it the same marks make running work look
// finished.
TEST(AnalysisOfModeExact, TheBarriersHaveToHold) {
  std::set<std::string> wrong;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    ExactSession session(seed);
    Checker checker(session.scenario, true);
    CommandProcessorModel(session.scenario.program(),
                          Options(true, true, kGcnBottomLineLimit, /*barriers_hold=*/false))
        .VisitAll([&](const ModelMoment& moment) { wrong.insert(checker.Check(moment)); });
  }
  EXPECT_THAT(wrong, ::testing::Contains(::testing::HasSubstr("called completed, work")));
}

TEST(AnalysisRandomOrders, LargerSessions) {
  std::mt19937_64 random(9);
  ScenarioLimits limits;
  limits.max_queues = 3;
  limits.max_lists = 6;
  limits.max_works_per_list = 12;
  limits.max_works = 60;
  for (int round = 0; round < 60; ++round) {
    const MarkerMode mode = kModes[round % 3];
    Scenario scenario = RandomScenario(mode, limits, random);
    Checker checker(scenario, true, limits.all_work_marked);
    ModelOptions options = Options(round % 2 == 0, round % 2 == 0, 1 + random() % 8);
    options.hanging_work = static_cast<uint32_t>(random() % scenario.works().size());
    for (uint64_t seed = 0; seed < 3; ++seed) {
      std::string wrong;
      CommandProcessorModel(scenario.program(), options)
          .VisitRandomOrder(seed, [&](const ModelMoment& moment) {
            if (wrong.empty()) wrong = checker.Check(moment);
          });
      ASSERT_EQ(wrong, "") << "round " << round << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace cairn
