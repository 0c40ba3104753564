// SPDX-License-Identifier: Apache-2.0
//
// The machine behind the test driver: src/reader/analysis/testing/command_processor_model.h made to run. That model
// visits every order that a GPU may take; this one takes one order, always the same, with real memory
// and real effects, and misbehaves as directives say. It knows no Vulkan.
//
// Time is steps. In one step, in this order,
//   stores that are due are seen by the host,
//   every running work comes one step nearer to its end, and ends if it was the last,
//   each queue's line of bottom-of-pipe writes moves by one if the work before its first has ended,
//   each queue's front end fetches one command, if it may.
// A machine in which a step moves nothing has settled: it is idle, or it hangs.
//
// Threads: none of its own and no lock; the owner calls from one thread at a time. Callbacks of
// commands run inside Step and may not call back.
#ifndef CAIRN_TESTS_ICD_COMMAND_PROCESSOR_H_
#define CAIRN_TESTS_ICD_COMMAND_PROCESSOR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "icd/script.h"

namespace cairn::icd {

// Kinds of work, as a set.
inline constexpr uint32_t kGraphicsWork = 1;
inline constexpr uint32_t kComputeWork = 2;
inline constexpr uint32_t kTransferWork = 4;
inline constexpr uint32_t kAllWork = 7;

enum class CommandKind : uint8_t {
  kWork,
  kTopStore,
  kBottomStore,
  kTopCheckpoint,
  kBottomCheckpoint,
  kBarrier,
  kWait,    // holds the front end until `condition`
  kSignal,  // calls `effect` when all before it has ended and is seen
  kDirective,
};

struct Command {
  CommandKind kind = CommandKind::kBarrier;
  uint32_t work_kinds = kAllWork;    // kWork: of which kind; kBarrier: which it waits for
  uint32_t* target = nullptr;        // stores
  uint32_t value = 0;                // stores
  const void* checkpoint = nullptr;  // checkpoints
  std::function<void()> effect;      // kWork: done at its end, may be empty; kSignal
  std::function<bool()> condition;   // kWait: true lets pass, and takes what it waited for
  Directive directive;
};

struct Fault {
  uint64_t address = 0;
  uint64_t precision = 1;
  FaultAccess access = FaultAccess::kNone;  // kNone: no address is known
};

class CommandProcessor {
 public:
  CommandProcessor(uint32_t queue_count, uint32_t bottom_line_limit);

  // Directives that are not about execution: vendor data and address bindings. And kHang, when a work that hangs begins.
  // Sums of Missed: those that fault nothing.
  void set_harmless_misses(uint32_t misses) { harmless_misses_ = misses; }
  void set_on_directive(std::function<void(const Directive&)> function) {
    on_directive_ = std::move(function);
  }

  void Enqueue(uint32_t queue, Command command);

  // Returns false if nothing moved, as ever after a loss or a stop.
  bool Step();
  // Steps until nothing moves.
  void Settle();
  // The queue has nothing left to do, and all its stores are seen.
  bool Idle(uint32_t queue) const;

  // Also simulates vkDeviceLost: no work proceeds any more.
  void LoseDevice();
  bool lost() const { return lost_; }
  bool stopped() const { return stopped_; }
  uint64_t steps() const { return step_; }
  // Faults with an address, in the order in which they happened.
  const std::vector<Fault>& faults() const { return faults_; }

  // The last checkpoint that the queue's front end or its end of the pipe has passed; null for none.
  const void* top_checkpoint(uint32_t queue) const { return queues_[queue].top_checkpoint; }
  const void* bottom_checkpoint(uint32_t queue) const { return queues_[queue].bottom_checkpoint; }

 private:
  static constexpr uint64_t kNever = UINT64_MAX;

  struct Work {
    uint64_t serial = 0;
    uint32_t kinds = 0;
    uint64_t steps_left = 1;  // kNever: it hangs
    std::function<void()> effect;
    std::optional<Directive> fault;
    std::span<uint32_t> note;
  };
  struct LineEntry {
    Command command;
    uint64_t works_before = 0;  // serial of the first work that it does not wait for
  };
  struct Store {
    uint32_t* target = nullptr;
    uint32_t value = 0;
    uint64_t due = 0;  // step; kNever
  };
  // The effects of directives on the next work.
  struct NextWork {
    uint64_t duration = 1;
    bool hangs = false;
    bool lose_top = false;
    uint64_t lose_bottoms = 0;
    std::optional<Directive> fault;
    std::span<uint32_t> note;
  };
  struct Queue {
    std::deque<Command> commands;
    std::vector<Work> running;   // in the order in which they were fetched
    std::deque<LineEntry> line;  // of bottom-of-pipe writes
    std::deque<Store> stores;    // made and not yet seen, oldest first
    std::vector<Store> held;     // those that `reorder` keeps back, all for one word
    uint64_t works_fetched = 0;
    uint32_t writes_in_line = 0;
    const void* top_checkpoint = nullptr;
    const void* bottom_checkpoint = nullptr;
    // The effects of directives on later work.
    NextWork next_draw;  // or dispatch
    NextWork next_transfer;
    uint64_t late_top_steps = 0;
    uint64_t late_bottom_steps = 0;
    uint64_t lose_markers = 0;
    uint64_t lose_bottoms = 0;
    uint64_t lose_bottom_behind = 0;  // works fetched up to the one meant
    bool reorder = false;
  };

  bool ShowStores(Queue* queue);
  void ShowOne(Queue* queue, size_t index);
  bool AdvanceWork(Queue* queue);
  void EndWork(Work* work);
  bool MoveLine(Queue* queue);
  bool Fetch(Queue* queue);
  bool MayPass(const Queue& queue, const Command& command) const;
  void StartWork(Queue* queue, Command* command);
  void JoinLine(Queue* queue, Command* command);
  void MakeStore(Queue* queue, const Command& command);
  bool LoseStore(Queue* queue, bool is_top, uint64_t works_before);
  void Obey(Queue* queue, const Directive& directive);
  static void SetLateness(Queue* queue, MarkerPlace place, uint64_t steps);
  bool ObeyForNextWork(Queue* queue, const Directive& directive);
  static bool ReleaseHeld(Queue* queue);
  bool ReleaseAllHeld();
  bool AnyWorkRuns() const;
  bool WorkBeforeEnded(const Queue& queue, uint64_t works_before, uint32_t kinds) const;
  bool RunOut(uint64_t deadline) const { return deadline != kNever && step_ >= deadline; }
  bool ObeyDeadlines();

  const uint32_t bottom_line_limit_;
  std::vector<Queue> queues_;
  std::function<void(const Directive&)> on_directive_;
  uint32_t harmless_misses_ = 0;
  std::vector<Fault> faults_;
  uint64_t step_ = 0;
  uint64_t lost_at_ = kNever;
  uint64_t stop_at_ = kNever;
  bool poisoned_ = false;
  bool drop_stores_ = false;
  bool lost_ = false;
  bool stopped_ = false;
};

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_COMMAND_PROCESSOR_H_
