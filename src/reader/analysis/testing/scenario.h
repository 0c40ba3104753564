// SPDX-License-Identifier: Apache-2.0
//
// For tests: one recording session written down twice, as the snapshot that the recorder would leave
// and as the program that the model of the command processor runs.
#ifndef CAIRN_READER_ANALYSIS_TESTING_SCENARIO_H_
#define CAIRN_READER_ANALYSIS_TESTING_SCENARIO_H_

#include <cstdint>
#include <random>
#include <vector>

#include "reader/analysis/testing/command_processor_model.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {

class Scenario {
 public:
  // ModelCommand::kinds
  static constexpr uint8_t kOfDraws = 1;
  static constexpr uint8_t kOfDispatches = 2;
  static constexpr uint8_t kOfCopies = 4;

  explicit Scenario(MarkerMode mode) : builder_(mode) {}

  // One piece of work in one execution of a list.
  struct Work {
    uint32_t submission = 0;
    uint32_t queue = 0;
    uint32_t scope = kNone;  // innermost scope around it, by its number within the list
  };

  uint32_t AddQueue() {
    program_.queues.emplace_back();
    return builder_.AddQueue();
  }
  void BeginList(uint32_t queue) {
    list_ = builder_.BeginList(queue);
    commands_.emplace_back();
    scope_count_ = 0;
    program_.initial_words.resize(program_.initial_words.size() + kWordsPerList);
  }
  void BeginScope(CairnMarkerType type, bool writes = true) {
    open_scopes_.push_back(scope_count_++);
    const uint32_t sequence = builder_.Begin(type, writes);
    if (writes) Write(ModelCommandKind::kTopWrite, kReached, sequence);
  }
  void EndScope(bool writes = true) {
    open_scopes_.pop_back();
    const uint32_t sequence = builder_.End(writes);
    if (LastEvent().flags != 0) Write(ModelCommandKind::kBottomWrite, kPassed, sequence);
  }
  void EndList() {
    const bool has_write = (LastEvent().flags & kEventWritesBottom) != 0;
    builder_.EndList();
    const Recording& recording = builder_.snapshot.recordings[list_];
    if (!has_write) Write(ModelCommandKind::kBottomWrite, kPassed, recording.event_count);
  }
  void AddWork(uint8_t kind = kOfDraws) {
    const uint32_t scope = open_scopes_.empty() ? kNone : open_scopes_.back();
    commands_[list_].push_back({{ModelCommandKind::kWork, 0, 0, 0, kind}, scope});
  }
  void AddBarrier() {
    commands_[list_].push_back({{ModelCommandKind::kBarrier, 0, 0, 0, kAllKindsOfWork}, kNone});
  }
  // A barrier of a device that was seen to hold at it until these kinds of work have finished.
  void AddDrain(bool writes = true, uint8_t kinds = kAllKindsOfWork) {
    BeginScope(CAIRN_MARKER_RESOURCE_BARRIER, writes);
    commands_[list_].push_back({{ModelCommandKind::kBarrier, 0, 0, 0, kinds}, kNone});
    EndScope(writes);
    uint8_t& flags = builder_.snapshot.events.back().flags;
    if ((kinds & kOfDispatches) != 0) flags |= kEventDrainsDispatches;
    if ((kinds & kOfDraws) != 0) flags |= kEventDrainsDraws;
    if (kinds == kAllKindsOfWork) flags |= kEventDrainsOther;
  }
  // Like EndScope in mode exact: a full barrier precedes the write.
  void EndScopeBehindBarrier() {
    AddBarrier();
    EndScope();
    builder_.snapshot.events.back().flags |= kEventDrains;
  }
  void SetReusable() { builder_.snapshot.recordings[list_].reusable = true; }

  // A draw or dispatch with a scope of its own.
  void AddMarkedWork(bool writes = true, uint8_t kind = kOfDraws) {
    BeginScope(kind == kOfDraws        ? CAIRN_MARKER_DRAW
               : kind == kOfDispatches ? CAIRN_MARKER_DISPATCH
                                       : CAIRN_MARKER_COPY_RESOURCE,
               writes);
    AddWork(kind);
    EndScope(writes);
  }

  void Submit(uint32_t queue, uint32_t list) {
    builder_.Submit(queue, list);
    const uint32_t submission = static_cast<uint32_t>(builder_.snapshot.submissions.size() - 1);
    std::vector<ModelCommand>& commands = program_.queues[queue];
    if (builder_.snapshot.recordings[list].reusable) StartRun(list, &commands);
    for (const Command& recorded : commands_[list]) {
      ModelCommand command = recorded.command;
      if (command.kind == ModelCommandKind::kWork) {
        command.work = program_.work_count++;
        works_.push_back({submission, queue, recorded.scope});
      }
      commands.push_back(command);
    }
  }

  // The snapshot that an observer takes when the words read like this.
  const Snapshot& Observe(const std::vector<uint64_t>& words) {
    for (uint32_t list = 0; list < builder_.snapshot.recordings.size(); ++list) {
      Recording& recording = builder_.snapshot.recordings[list];
      recording.reached = static_cast<uint32_t>(words[list * kWordsPerList + kReached]);
      recording.passed = static_cast<uint32_t>(words[list * kWordsPerList + kPassed]);
      recording.runs = static_cast<uint32_t>(words[list * kWordsPerList + kRuns]);
    }
    return builder_.snapshot;
  }

  const ModelProgram& program() const { return program_; }
  const Snapshot& snapshot() const { return builder_.snapshot; }
  const std::vector<Work>& works() const { return works_; }

 private:
  enum Word : uint32_t { kReached, kPassed, kRuns };
  static constexpr uint32_t kWordsPerList = 3;
  struct Command {
    ModelCommand command;
    uint32_t scope;
  };

  const Event& LastEvent() const { return builder_.snapshot.events.back(); }

  void Write(ModelCommandKind kind, Word word, uint32_t value) {
    commands_[list_].push_back({{kind, 0, list_ * kWordsPerList + word, value, 0}, kNone});
  }

  // Adds the commands that a backend records at the start of a reusable list.
  void StartRun(uint32_t list, std::vector<ModelCommand>* commands) {
    const uint32_t run = builder_.snapshot.recordings[list].submit_count;
    const uint32_t word = list * kWordsPerList;
    commands->push_back({});
    commands->push_back({ModelCommandKind::kTopWrite, 0, word + kReached, 0, 0});
    commands->push_back({ModelCommandKind::kTopWrite, 0, word + kPassed, 0, 0});
    commands->push_back({});
    commands->push_back({ModelCommandKind::kTopWrite, 0, word + kRuns, run, 0});
    commands->push_back({});
  }

  SnapshotBuilder builder_;
  ModelProgram program_;
  std::vector<Work> works_;
  std::vector<std::vector<Command>> commands_;  // of each list
  std::vector<uint32_t> open_scopes_;
  uint32_t list_ = 0;
  uint32_t scope_count_ = 0;
};

struct ScenarioLimits {
  uint32_t max_queues = 2;
  uint32_t max_lists = 2;
  uint32_t max_works_per_list = 4;
  uint32_t max_works = 6;  // over all executions
  bool all_work_marked = false;
  bool all_writes = false;  // no render pass in which nothing can be written
  bool single_executions = false;
  bool no_barriers = false;
  bool no_drains = false;  // barriers are there, but prove nothing
};

// A random session; the same engine state gives the same session.
Scenario RandomScenario(MarkerMode mode, const ScenarioLimits& limits, std::mt19937_64& random);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_TESTING_SCENARIO_H_
