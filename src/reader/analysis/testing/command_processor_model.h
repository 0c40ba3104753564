// SPDX-License-Identifier: Apache-2.0
//
// A software model of a GPU command processor: the test partner of the analysis and of the raw marker
// inference. It knows nothing of either; it only knows in which orders a GPU may do things.
//
// The machine. Each queue has a front end that fetches its commands in order and never goes back:
//   work     is handed to the pipe and runs beside everything that has not finished; it may finish at
//            any later moment, and works finish in any order
//   top      is stored when the front end reaches it
//   bottom   joins the queue's waiting line; the first in line is stored once all earlier work of the
//            queue has finished. The line has room for `bottom_line_limit` writes; when it is full, the
//            front end stops before the next bottom write and before the next work
//   drain    lets the front end pass once all earlier work of the queue has finished, its waiting line
//            is empty and everything it stored is visible
//   barrier  the application's: a drain, or one of some kinds of work alone, which then does not wait for
//            stores; without `barriers_hold` nothing, which is more than any GPU may do, for it has to hold
//            back at least the work behind it
// A store becomes visible to the host later than it was made: stores to one word in order, stores to
// different words in any order. With `top_confirmed` the front end waits for its own stores.
//
// Faults. A culprit can be found in any state in which it runs, because a crash may come at any
// moment; `hanging_work` never finishes; `poisoning_work` finishes, and no work handed to the pipe
// after that ever does.
#ifndef CAIRN_READER_ANALYSIS_TESTING_COMMAND_PROCESSOR_MODEL_H_
#define CAIRN_READER_ANALYSIS_TESTING_COMMAND_PROCESSOR_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cairn {

inline constexpr uint32_t kNoWork = 0xFFFFFFFF;
inline constexpr uint8_t kAllKindsOfWork = 0xFF;
inline constexpr uint32_t kGcnBottomLineLimit = 64;

enum class ModelCommandKind : uint8_t { kWork, kTopWrite, kBottomWrite, kDrain, kBarrier };

struct ModelCommand {
  ModelCommandKind kind = ModelCommandKind::kDrain;
  uint32_t work = 0;  // kWork: unique in the program, < work_count
  uint32_t word = 0;  // writes: < initial_words.size()
  uint64_t value = 0;
  uint8_t kinds = kAllKindsOfWork;  // kWork: its bit; kBarrier: those that it waits for
};

struct ModelProgram {
  std::vector<std::vector<ModelCommand>> queues;
  std::vector<uint64_t> initial_words;
  uint32_t work_count = 0;
};

struct ModelOptions {
  uint32_t bottom_line_limit = kGcnBottomLineLimit;
  bool top_confirmed = true;
  bool barriers_hold = true;
  // If true, a crash loses all stores that were made but are not visible yet; otherwise it loses
  // none.
  bool crash_loses_stores = false;
  uint32_t hanging_work = kNoWork;
  uint32_t poisoning_work = kNoWork;
};

enum class ModelWorkState : uint8_t { kQueued, kRunning, kRunningPoisoned, kFinished };

// One state of the machine, as a crash or an observer would find it.
struct ModelMoment {
  std::vector<uint64_t> words;        // what the host reads after a crash in this state
  std::vector<ModelWorkState> works;  // the truth
  std::vector<uint32_t> front_ends;   // of each queue: commands passed
  bool settled = false;               // nothing more will ever happen

  bool Started(uint32_t work) const { return works[work] != ModelWorkState::kQueued; }
  bool Finished(uint32_t work) const { return works[work] == ModelWorkState::kFinished; }
  bool Running(uint32_t work) const { return Started(work) && !Finished(work); }
};

class CommandProcessorModel {
 public:
  using Visitor = std::function<void(const ModelMoment&)>;

  CommandProcessorModel(ModelProgram program, ModelOptions options);

  // Visits every state that any legal order leads to, each once, and returns their number; stops with
  // 0 once there are more than `state_limit`.
  size_t VisitAll(const Visitor& visit, size_t state_limit = 2'000'000) const;

  // Visits the states of one legal order, drawn with `seed`; the same seed gives the same order.
  void VisitRandomOrder(uint64_t seed, const Visitor& visit) const;

 private:
  struct Word {
    uint64_t visible = 0;
    std::vector<uint64_t> pending;  // stores not yet visible, oldest first
    std::vector<uint8_t> owners;    // the queue of each
  };
  struct State {
    std::vector<uint32_t> front_ends;
    std::vector<uint32_t> bottoms_done;  // of each queue
    std::vector<ModelWorkState> works;
    std::vector<Word> words;
    bool poisoned = false;
  };
  enum class StepKind : uint8_t { kFetch, kFinish, kStoreBottom, kShow };
  struct Step {
    StepKind kind;
    uint32_t index;  // queue, work, queue, word
  };

  State InitialState() const;
  std::vector<Step> Enabled(const State& state) const;
  bool CanFetch(const State& state, uint32_t queue) const;
  bool CanFinish(const State& state, uint32_t work) const;
  bool CanStoreBottom(const State& state, uint32_t queue) const;
  bool WorkBeforeFinished(const State& state, uint32_t queue, uint32_t position,
                          uint8_t kinds = kAllKindsOfWork) const;
  bool StoresVisible(const State& state, uint32_t queue) const;
  void Apply(const Step& step, State* state) const;
  void Fetch(uint32_t queue, State* state) const;
  void Store(uint32_t queue, const ModelCommand& command, State* state) const;
  ModelMoment Moment(const State& state, bool settled) const;
  static std::string Key(const State& state);

  ModelProgram program_;
  ModelOptions options_;
  std::vector<std::vector<uint32_t>> bottom_positions_;  // of each queue: its bottom writes
  std::vector<std::vector<uint32_t>> bottoms_before_;    // of each queue and position
};

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_TESTING_COMMAND_PROCESSOR_MODEL_H_
