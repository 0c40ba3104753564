// SPDX-License-Identifier: Apache-2.0
//
// The answer against the model of a command processor: ranking drops no candidate and adds none, and nothing
// that runs no work stands before work with a pipeline. Seeds are fixed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reader/analysis/culprit.h"
#include "reader/analysis/testing/command_processor_model.h"
#include "reader/analysis/testing/scenario.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

constexpr MarkerMode kModes[] = {MarkerMode::kTop, MarkerMode::kPass, MarkerMode::kFull};
constexpr uint16_t kTypes[] = {CAIRN_MARKER_DRAW,        CAIRN_MARKER_DISPATCH,
                               CAIRN_MARKER_COPY_BUFFER, CAIRN_MARKER_PIPELINE_BARRIER,
                               CAIRN_MARKER_BARRIER,     CAIRN_MARKER_BEGIN_RENDERING};

using ExecutionAndScope = std::pair<uint32_t, uint32_t>;

// With the work before a barrier that hangs.
std::set<ExecutionAndScope> Candidates(const Analysis& analysis) {
  std::set<ExecutionAndScope> candidates;
  for (const QueueVerdict& verdict : analysis.verdicts) {
    for (size_t i = 0; i < verdict.candidates.size(); ++i) {
      candidates.emplace(verdict.candidate_executions[i], verdict.candidates[i]);
    }
    for (const uint32_t execution : verdict.list_candidates) candidates.emplace(execution, kNone);
    if (verdict.late_suspect != kNone) {
      candidates.emplace(verdict.late_suspect_execution, verdict.late_suspect);
    }
  }
  return candidates;
}

// "" or what is wrong.
std::string Check(const Snapshot& snapshot) {
  const Analysis analysis = Analyse(snapshot);
  const CulpritFinding finding = FindCulprit(snapshot, analysis, WaitGraph(), {});
  std::set<ExecutionAndScope> suspects;
  bool waits_before = false;
  for (const SuspectWork& suspect : finding.suspects) {
    if (!suspects.emplace(suspect.execution, suspect.scope).second) return "named twice";
    if (suspect.scope == kNone) continue;
    const WorkClass work = ClassOfScope(snapshot, analysis.scopes[suspect.scope]);
    if (work == WorkClass::kNoWork) waits_before = true;
    if (work == WorkClass::kPipeline && waits_before) return "a barrier before work";
  }
  if (suspects != Candidates(analysis)) return "the suspects are not the candidates";
  const bool proven = finding.certainty == Certainty::kProven;
  if (proven && (suspects.size() != 1 || finding.suspects[0].scope == kNone)) return "not proven";
  if (finding.tied > suspects.size() || (finding.tied == 0) != suspects.empty()) return "tied";
  const bool likely = finding.certainty == Certainty::kLikely;
  const bool alike = finding.certainty == Certainty::kOneOf && suspects.size() > 1;
  if ((likely && finding.tied != 1) || (alike && finding.tied < 2))
    return "tied, and the likeliest";
  return "";
}

TEST(CulpritModel, SuspectsAreTheCandidatesAndNoBarrierGoesBeforeWork) {
  std::mt19937_64 random(21);
  ScenarioLimits limits;
  limits.max_queues = 3;
  limits.max_lists = 5;
  limits.max_works_per_list = 8;
  limits.max_works = 30;
  size_t state_count = 0;
  for (int round = 0; round < 150; ++round) {
    limits.all_work_marked = round % 2 == 0;
    Scenario scenario = RandomScenario(kModes[round % 3], limits, random);
    std::vector<uint16_t> types(scenario.snapshot().events.size());
    for (uint16_t& type : types) type = kTypes[random() % std::size(kTypes)];
    ModelOptions options;
    options.hanging_work = static_cast<uint32_t>(random() % scenario.works().size());
    std::set<std::vector<uint64_t>> seen;
    std::string wrong;
    CommandProcessorModel(scenario.program(), options)
        .VisitRandomOrder(static_cast<uint64_t>(round), [&](const ModelMoment& moment) {
          if (!wrong.empty() || !seen.insert(moment.words).second) return;
          Snapshot snapshot = scenario.Observe(moment.words);
          for (size_t i = 0; i < snapshot.events.size(); ++i) {
            Event& event = snapshot.events[i];
            if (event.kind == EventKind::kBegin && event.type != CAIRN_MARKER_PASS) {
              event.type = types[i];
            }
          }
          if (round % 4 == 0) {
            snapshot.incidents.push_back({.kind = IncidentKind::kHang, .value = 1, .queue = 0});
          }
          wrong = Check(snapshot);
        });
    ASSERT_EQ(wrong, "") << "round " << round;
    state_count += seen.size();
  }
  EXPECT_GT(state_count, 1000u);
}

}  // namespace
}  // namespace cairn
