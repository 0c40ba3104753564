// SPDX-License-Identifier: Apache-2.0
//
// truth_model: the analysis against the model of a command processor, counted instead of asserted: scripted
// programs in all legal orders, in each mode, with each kind of barrier, each work once the culprit. Prints a
// line of JSON for each of them; bench/truth --model makes a table.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "reader/analysis/culprit.h"
#include "reader/analysis/testing/command_processor_model.h"
#include "reader/analysis/testing/scenario.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

constexpr size_t kStateLimit = 400'000;
constexpr uint64_t kRandomOrders = 300;

// The effect of barriers on the machine, and the reader's assumption about them.
enum class Barriers { kNone, kHold, kWitness };
constexpr const char* kBarrierNames[] = {"none", "hold", "witness"};

// A list of works as letters: d a dispatch, g a draw, c a copy, | a barrier, ( and ) a pass, [ and ] one in
// which nothing can be written, + submits what stands before it and begins another list, * submits it twice.
struct Program {
  const char* name;
  uint32_t queues;
  const char* script;
};
// With two queues, lists take turns.
constexpr Program kPrograms[] = {
    {"chain", 1, "(d|d|d|d)"},        {"pairs", 1, "(dd|dd)"},      {"draws", 1, "(gg)|(g|g)"},
    {"mixed", 1, "(gg)|(d|d)|(g)"},   {"frames", 1, "(d|g)+(d|g)"}, {"render pass", 1, "d|[gg]|d"},
    {"two queues", 2, "(d|d)+(d|d)"}, {"again", 1, "(d|g)*"},       {"copies", 1, "c|(d)|c|d"},
};

void AddBarrier(Barriers barriers, bool writes, Scenario* scenario) {
  if (barriers == Barriers::kNone) return;
  if (barriers == Barriers::kWitness) {
    scenario->AddDrain(writes);
    return;
  }
  scenario->BeginScope(CAIRN_MARKER_RESOURCE_BARRIER, writes);
  scenario->AddBarrier();
  scenario->EndScope(writes);
}

// Records the letters of one list; returns those that follow it.
const char* RecordList(const char* script, Barriers barriers, Scenario* scenario) {
  bool writes = true;
  for (; *script != '\0' && *script != '+' && *script != '*'; ++script) {
    switch (*script) {
      case 'd': scenario->AddMarkedWork(writes, Scenario::kOfDispatches); break;
      case 'g': scenario->AddMarkedWork(writes, Scenario::kOfDraws); break;
      case 'c': scenario->AddMarkedWork(writes, Scenario::kOfCopies); break;
      case '|': AddBarrier(barriers, writes, scenario); break;
      case '(': scenario->BeginScope(CAIRN_MARKER_PASS); break;
      case ')': scenario->EndScope(); break;
      case '[':
        scenario->BeginScope(CAIRN_MARKER_PASS);
        writes = false;
        break;
      case ']':
        scenario->EndScope();
        writes = true;
        break;
    }
  }
  scenario->EndList();
  return script;
}

Scenario Record(const Program& program, MarkerMode mode, Barriers barriers) {
  Scenario scenario(mode);
  for (uint32_t i = 0; i < program.queues; ++i) scenario.AddQueue();
  const char* script = program.script;
  for (uint32_t list = 0; *script != '\0'; ++list) {
    const uint32_t queue = list % program.queues;
    scenario.BeginList(queue);
    script = RecordList(script, barriers, &scenario);
    scenario.Submit(queue, list);
    if (*script == '*') scenario.Submit(queue, list);
    if (*script != '\0') ++script;
  }
  return scenario;
}

struct Score {
  uint64_t cases = 0, in_set = 0, first = 0, alone = 0, exact = 0, wrongly_proven = 0;
  uint64_t suspects = 0, most_suspects = 0, with_pipeline = 0, most_with_pipeline = 0;
  uint64_t false_finished = 0, false_not_started = 0;
};

// The reader's answer for these words.
struct Answer {
  Analysis analysis;
  CulpritFinding finding;
  uint32_t with_pipeline = 0;
};

class Judge {
 public:
  Judge(Scenario scenario, bool hang) : scenario_(std::move(scenario)), hang_(hang) {}

  const Scenario& scenario() const { return scenario_; }

  // `culprit` is one that runs.
  void Add(const ModelMoment& moment, uint32_t culprit, Score* score) {
    const Answer& answer = AnswerTo(moment.words);
    ++score->cases;
    CountFalseClaims(moment, answer.analysis, score);
    const std::vector<SuspectWork>& suspects = answer.finding.suspects;
    size_t place = 0;
    while (place < suspects.size() && !Is(answer.analysis, suspects[place], culprit)) ++place;
    const bool proven = answer.finding.certainty == Certainty::kProven;
    score->in_set += place < suspects.size() ? 1 : 0;
    score->first += place == 0 && !suspects.empty() ? 1 : 0;
    // The others run nothing: barriers.
    score->alone += place == 0 && !suspects.empty() && answer.with_pipeline <= 1 ? 1 : 0;
    score->exact += proven && place == 0 ? 1 : 0;
    score->wrongly_proven += proven && place != 0 ? 1 : 0;
    score->suspects += suspects.size();
    score->most_suspects = std::max<uint64_t>(score->most_suspects, suspects.size());
    score->with_pipeline += answer.with_pipeline;
    score->most_with_pipeline = std::max<uint64_t>(score->most_with_pipeline, answer.with_pipeline);
  }

 private:
  const Answer& AnswerTo(const std::vector<uint64_t>& words) {
    const auto found = answers_.find(words);
    if (found != answers_.end()) return found->second;
    Snapshot snapshot = scenario_.Observe(words);
    const IncidentKind kind = hang_ ? IncidentKind::kHang : IncidentKind::kDeviceLost;
    snapshot.incidents.push_back({.kind = kind, .value = 1, .queue = hang_ ? 0 : kNone});
    Answer answer;
    answer.analysis = Analyse(snapshot);
    answer.finding = FindCulprit(snapshot, answer.analysis, WaitGraph(), {});
    for (const SuspectWork& suspect : answer.finding.suspects) {
      if (suspect.scope == kNone) continue;
      const WorkClass work = ClassOfScope(snapshot, answer.analysis.scopes[suspect.scope]);
      if (work == WorkClass::kPipeline) ++answer.with_pipeline;
    }
    return answers_.emplace(words, std::move(answer)).first->second;
  }

  // An execution that nobody can tell from another counts as naming what is in it.
  bool Is(const Analysis& analysis, const SuspectWork& suspect, uint32_t work) const {
    const Execution& execution = analysis.executions[suspect.execution];
    if (execution.submission != scenario_.works()[work].submission) return false;
    return suspect.scope == kNone ||
           suspect.scope == execution.first_scope + scenario_.works()[work].scope;
  }

  void CountFalseClaims(const ModelMoment& moment, const Analysis& analysis, Score* score) const {
    for (uint32_t i = 0; i < scenario_.works().size(); ++i) {
      const Scenario::Work& work = scenario_.works()[i];
      for (const Execution& execution : analysis.executions) {
        if (execution.submission != work.submission) continue;
        const WorkState state = analysis.scopes[execution.first_scope + work.scope].state;
        if (state == WorkState::kCompleted && !moment.Finished(i)) ++score->false_finished;
        if (state == WorkState::kNotStarted && moment.Started(i)) ++score->false_not_started;
      }
    }
  }

  Scenario scenario_;
  const bool hang_;
  std::map<std::vector<uint64_t>, Answer> answers_;
};

// All orders, or many where there are too many; false in the second case.
bool Visit(const CommandProcessorModel& model, const CommandProcessorModel::Visitor& visit) {
  size_t count = 0;
  if (model.VisitAll([&count](const ModelMoment&) { ++count; }, kStateLimit) != 0) {
    model.VisitAll(visit, kStateLimit);
    return true;
  }
  for (uint64_t seed = 0; seed < kRandomOrders; ++seed) model.VisitRandomOrder(seed, visit);
  return false;
}

// hang: what is left when one work never ends. fault: each moment at which a work runs.
void Run(const Program& program, MarkerMode mode, const char* mode_name, Barriers barriers,
         bool hang) {
  Judge judge(Record(program, mode, barriers), hang);
  const auto work_count = static_cast<uint32_t>(judge.scenario().works().size());
  ModelOptions options;
  options.barriers_hold = barriers != Barriers::kNone;
  Score score;
  bool all_orders = true;
  if (hang) {
    for (uint32_t work = 0; work < work_count; ++work) {
      options.hanging_work = work;
      const CommandProcessorModel model(judge.scenario().program(), options);
      all_orders &= Visit(model, [&](const ModelMoment& moment) {
        if (moment.settled) judge.Add(moment, work, &score);
      });
    }
  } else {
    const CommandProcessorModel model(judge.scenario().program(), options);
    all_orders = Visit(model, [&](const ModelMoment& moment) {
      for (uint32_t work = 0; work < work_count; ++work) {
        if (moment.Running(work)) judge.Add(moment, work, &score);
      }
    });
  }
  std::printf(
      "{\"backend\": \"model\", \"program\": \"%s\", \"fault\": \"%s\", \"mode\": \"%s\", "
      "\"barriers\": \"%s\", \"all_orders\": %s",
      program.name, hang ? "hang" : "fault", mode_name, kBarrierNames[static_cast<int>(barriers)],
      all_orders ? "true" : "false");
  const std::pair<const char*, uint64_t> numbers[] = {
      {"cases", score.cases},
      {"in_set", score.in_set},
      {"first", score.first},
      {"alone", score.alone},
      {"exact", score.exact},
      {"wrongly_proven", score.wrongly_proven},
      {"suspects", score.suspects},
      {"most_suspects", score.most_suspects},
      {"with_pipeline", score.with_pipeline},
      {"most_with_pipeline", score.most_with_pipeline},
      {"false_finished", score.false_finished},
      {"false_not_started", score.false_not_started}};
  for (const auto& [name, value] : numbers) {
    std::printf(", \"%s\": %llu", name, static_cast<unsigned long long>(value));
  }
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  using namespace cairn;
  if (argc > 1) {
    std::fprintf(stderr, "truth_model: unknown argument '%s'; it takes none\n", argv[1]);
    return 2;
  }
  constexpr std::pair<MarkerMode, const char*> kModes[] = {
      {MarkerMode::kTop, "top"}, {MarkerMode::kPass, "pass"}, {MarkerMode::kFull, "full"}};
  for (const auto& [mode, name] : kModes) {
    for (const Barriers barriers : {Barriers::kNone, Barriers::kHold, Barriers::kWitness}) {
      for (const Program& program : kPrograms) {
        for (const bool hang : {true, false}) Run(program, mode, name, barriers, hang);
      }
    }
  }
  return 0;
}
