// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/testing/command_processor_model.h"

#include <random>
#include <unordered_set>
#include <utility>

namespace cairn {

CommandProcessorModel::CommandProcessorModel(ModelProgram program, ModelOptions options)
    : program_(std::move(program)), options_(options) {
  bottom_positions_.resize(program_.queues.size());
  bottoms_before_.resize(program_.queues.size());
  for (size_t queue = 0; queue < program_.queues.size(); ++queue) {
    const std::vector<ModelCommand>& commands = program_.queues[queue];
    for (uint32_t i = 0; i < commands.size(); ++i) {
      bottoms_before_[queue].push_back(static_cast<uint32_t>(bottom_positions_[queue].size()));
      if (commands[i].kind == ModelCommandKind::kBottomWrite) bottom_positions_[queue].push_back(i);
    }
    bottoms_before_[queue].push_back(static_cast<uint32_t>(bottom_positions_[queue].size()));
  }
}

CommandProcessorModel::State CommandProcessorModel::InitialState() const {
  State state;
  state.front_ends.assign(program_.queues.size(), 0);
  state.bottoms_done.assign(program_.queues.size(), 0);
  state.works.assign(program_.work_count, ModelWorkState::kQueued);
  for (const uint64_t value : program_.initial_words) {
    state.words.emplace_back();
    state.words.back().visible = value;
  }
  return state;
}

bool CommandProcessorModel::WorkBeforeFinished(const State& state, uint32_t queue,
                                               uint32_t position, uint8_t kinds) const {
  const std::vector<ModelCommand>& commands = program_.queues[queue];
  for (uint32_t i = 0; i < position; ++i) {
    if (commands[i].kind == ModelCommandKind::kWork && (commands[i].kinds & kinds) != 0 &&
        state.works[commands[i].work] != ModelWorkState::kFinished) {
      return false;
    }
  }
  return true;
}

bool CommandProcessorModel::StoresVisible(const State& state, uint32_t queue) const {
  for (const Word& word : state.words) {
    for (const uint8_t owner : word.owners) {
      if (owner == queue) return false;
    }
  }
  return true;
}

bool CommandProcessorModel::CanFetch(const State& state, uint32_t queue) const {
  const uint32_t position = state.front_ends[queue];
  if (position == program_.queues[queue].size()) return false;
  const uint32_t waiting = bottoms_before_[queue][position] - state.bottoms_done[queue];
  switch (program_.queues[queue][position].kind) {
    case ModelCommandKind::kTopWrite: return true;
    case ModelCommandKind::kWork:
    case ModelCommandKind::kBottomWrite: return waiting < options_.bottom_line_limit;
    case ModelCommandKind::kBarrier:
      if (!options_.barriers_hold) return true;
      if (const uint8_t kinds = program_.queues[queue][position].kinds; kinds != kAllKindsOfWork) {
        return WorkBeforeFinished(state, queue, position, kinds);
      }
      [[fallthrough]];
    case ModelCommandKind::kDrain:
      return waiting == 0 && WorkBeforeFinished(state, queue, position) &&
             StoresVisible(state, queue);
  }
  return false;
}

bool CommandProcessorModel::CanFinish(const State& state, uint32_t work) const {
  return state.works[work] == ModelWorkState::kRunning && work != options_.hanging_work;
}

bool CommandProcessorModel::CanStoreBottom(const State& state, uint32_t queue) const {
  const uint32_t done = state.bottoms_done[queue];
  if (done == bottoms_before_[queue][state.front_ends[queue]]) return false;
  return WorkBeforeFinished(state, queue, bottom_positions_[queue][done]);
}

std::vector<CommandProcessorModel::Step> CommandProcessorModel::Enabled(const State& state) const {
  std::vector<Step> steps;
  for (uint32_t queue = 0; queue < program_.queues.size(); ++queue) {
    if (CanFetch(state, queue)) steps.push_back({StepKind::kFetch, queue});
    if (CanStoreBottom(state, queue)) steps.push_back({StepKind::kStoreBottom, queue});
  }
  for (uint32_t work = 0; work < program_.work_count; ++work) {
    if (CanFinish(state, work)) steps.push_back({StepKind::kFinish, work});
  }
  for (uint32_t word = 0; word < state.words.size(); ++word) {
    if (!state.words[word].pending.empty()) steps.push_back({StepKind::kShow, word});
  }
  return steps;
}

void CommandProcessorModel::Store(uint32_t queue, const ModelCommand& command, State* state) const {
  Word& word = state->words[command.word];
  if (command.kind == ModelCommandKind::kTopWrite && options_.top_confirmed) {
    // The store waits behind older ones to the same word, and the front end waits for it.
    word.pending.clear();
    word.owners.clear();
    word.visible = command.value;
    return;
  }
  word.pending.push_back(command.value);
  word.owners.push_back(static_cast<uint8_t>(queue));
}

void CommandProcessorModel::Fetch(uint32_t queue, State* state) const {
  const ModelCommand& command = program_.queues[queue][state->front_ends[queue]++];
  if (command.kind == ModelCommandKind::kWork) {
    state->works[command.work] =
        state->poisoned ? ModelWorkState::kRunningPoisoned : ModelWorkState::kRunning;
  } else if (command.kind == ModelCommandKind::kTopWrite) {
    Store(queue, command, state);
  }
}

void CommandProcessorModel::Apply(const Step& step, State* state) const {
  switch (step.kind) {
    case StepKind::kFetch: Fetch(step.index, state); break;
    case StepKind::kFinish:
      state->works[step.index] = ModelWorkState::kFinished;
      if (step.index == options_.poisoning_work) state->poisoned = true;
      break;
    case StepKind::kStoreBottom: {
      const uint32_t position = bottom_positions_[step.index][state->bottoms_done[step.index]++];
      Store(step.index, program_.queues[step.index][position], state);
      break;
    }
    case StepKind::kShow: {
      Word& word = state->words[step.index];
      word.visible = word.pending.front();
      word.pending.erase(word.pending.begin());
      word.owners.erase(word.owners.begin());
      break;
    }
  }
}

ModelMoment CommandProcessorModel::Moment(const State& state, bool settled) const {
  ModelMoment moment;
  for (const Word& word : state.words) {
    const bool lost = options_.crash_loses_stores || word.pending.empty();
    moment.words.push_back(lost ? word.visible : word.pending.back());
  }
  moment.works = state.works;
  moment.front_ends = state.front_ends;
  moment.settled = settled;
  return moment;
}

std::string CommandProcessorModel::Key(const State& state) {
  std::string key;
  const auto add = [&key](uint64_t value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (const uint32_t position : state.front_ends) add(position);
  for (const uint32_t count : state.bottoms_done) add(count);
  for (const ModelWorkState work : state.works) key.push_back(static_cast<char>(work));
  for (const Word& word : state.words) {
    add(word.visible);
    key.push_back(static_cast<char>(word.pending.size()));
    for (const uint64_t value : word.pending) add(value);
    key.append(word.owners.begin(), word.owners.end());
  }
  key.push_back(state.poisoned ? 1 : 0);
  return key;
}

size_t CommandProcessorModel::VisitAll(const Visitor& visit, size_t state_limit) const {
  std::unordered_set<std::string> seen;
  std::vector<State> open = {InitialState()};
  seen.insert(Key(open.back()));
  while (!open.empty()) {
    if (seen.size() > state_limit) return 0;
    const State state = std::move(open.back());
    open.pop_back();
    const std::vector<Step> steps = Enabled(state);
    visit(Moment(state, steps.empty()));
    for (const Step& step : steps) {
      State next = state;
      Apply(step, &next);
      if (seen.insert(Key(next)).second) open.push_back(std::move(next));
    }
  }
  return seen.size();
}

void CommandProcessorModel::VisitRandomOrder(uint64_t seed, const Visitor& visit) const {
  // The engine's sequence is specified by the standard; a distribution's is not.
  std::mt19937_64 random(seed);
  State state = InitialState();
  while (true) {
    const std::vector<Step> steps = Enabled(state);
    visit(Moment(state, steps.empty()));
    if (steps.empty()) return;
    Apply(steps[random() % steps.size()], &state);
  }
}

}  // namespace cairn
