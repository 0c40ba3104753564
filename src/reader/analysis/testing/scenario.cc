// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/testing/scenario.h"

namespace cairn {
namespace {

class Generator {
 public:
  Generator(MarkerMode mode, const ScenarioLimits& limits, std::mt19937_64& random)
      : limits_(limits), random_(random), scenario_(mode) {}

  Scenario Run() {
    const uint32_t queue_count = 1 + Below(limits_.max_queues);
    for (uint32_t i = 0; i < queue_count; ++i) scenario_.AddQueue();
    barriers_ = !limits_.no_barriers && Below(3) == 0;
    gaps_ = !limits_.all_writes && Below(2) == 0;
    const uint32_t list_count = 1 + Below(limits_.max_lists);
    for (uint32_t list = 0; list < list_count; ++list) {
      scenario_.BeginList(Below(queue_count));
      const bool reusable = !limits_.single_executions && Below(3) == 0;
      if (reusable) scenario_.SetReusable();
      RecordList();
      works_in_list_.push_back(work_count_);
    }
    Submit(queue_count);
    return std::move(scenario_);
  }

 private:
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  void RecordList() {
    work_count_ = 0;
    const uint32_t wanted = 1 + Below(limits_.max_works_per_list);
    uint32_t depth = 0;
    std::vector<bool> writes;
    while (work_count_ < wanted) {
      const uint32_t choice = Below(8);
      if (choice < 2 && depth < 2) {
        // A render pass keeps its inside silent.
        writes.push_back(Writes() && (writes.empty() || writes.back()));
        scenario_.BeginScope(CAIRN_MARKER_PASS, writes.back());
        ++depth;
      } else if (choice == 2 && depth > 0) {
        scenario_.EndScope(writes.back());
        writes.pop_back();
        --depth;
      } else if (choice == 3 && depth > 0 && !limits_.all_work_marked) {
        scenario_.AddWork(AnyKind());
        ++work_count_;
      } else {
        scenario_.AddMarkedWork((writes.empty() || writes.back()) && Writes(), AnyKind());
        ++work_count_;
      }
      if (barriers_ && Below(2) == 0) AddBarrier((writes.empty() || writes.back()) && Writes());
    }
    for (; depth > 0; --depth, writes.pop_back()) scenario_.EndScope(writes.back());
    if (Below(3) != 0) scenario_.EndList();
  }

  void AddBarrier(bool writes) {
    if (!limits_.no_drains && Below(2) == 0) {
      constexpr uint8_t kKinds[] = {kAllKindsOfWork, Scenario::kOfDraws, Scenario::kOfDispatches,
                                    Scenario::kOfDraws | Scenario::kOfDispatches};
      scenario_.AddDrain(writes, kKinds[Below(4)]);
    } else {
      scenario_.AddBarrier();
    }
  }

  uint8_t AnyKind() { return static_cast<uint8_t>(1 << Below(3)); }

  bool Writes() { return !gaps_ || Below(2) == 0; }

  // Every list once, then some again, within the limit of works. A list's executions share one queue.
  void Submit(uint32_t queue_count) {
    const uint32_t list_count = static_cast<uint32_t>(works_in_list_.size());
    std::vector<uint32_t> queues;
    uint32_t total = 0;
    for (uint32_t list = 0; list < list_count; ++list) {
      queues.push_back(Below(queue_count));
      if (total + works_in_list_[list] > limits_.max_works) continue;
      total += works_in_list_[list];
      scenario_.Submit(queues[list], list);
    }
    if (limits_.single_executions) return;
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t list = Below(list_count);
      if (total + works_in_list_[list] > limits_.max_works) continue;
      total += works_in_list_[list];
      scenario_.Submit(queues[list], list);
    }
  }

  const ScenarioLimits& limits_;
  std::mt19937_64& random_;
  Scenario scenario_;
  std::vector<uint32_t> works_in_list_;
  uint32_t work_count_ = 0;
  bool barriers_ = false;
  bool gaps_ = false;
};

}  // namespace

Scenario RandomScenario(MarkerMode mode, const ScenarioLimits& limits, std::mt19937_64& random) {
  return Generator(mode, limits, random).Run();
}

}  // namespace cairn
