// SPDX-License-Identifier: Apache-2.0
//
// A backend for tests and benchmarks: command lists are vectors of writes, and the test decides how
// far the "GPU" executes each. Writes land in order, as on a GPU that does one thing at a time.
#ifndef CAIRN_APP_BREADCRUMBS_TESTING_SIMULATED_GPU_H_
#define CAIRN_APP_BREADCRUMBS_TESTING_SIMULATED_GPU_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "app/breadcrumbs/backend.h"

namespace cairn {

// The list that a test records into; its address is the native handle.
struct SimulatedList {
  struct Write {
    uint32_t* word;
    uint32_t value;
    PipeLocation where;
  };
  std::vector<Write> writes;
  size_t executed = 0;
  uint8_t drains = 0;  // DrainsHere
};

class SimulatedGpu {
 public:
  // The next `count` writes of the list reach memory; all that is left by default.
  static void Execute(SimulatedList& list, size_t count = SIZE_MAX) {
    for (; count != 0 && list.executed < list.writes.size(); --count, ++list.executed) {
      const SimulatedList::Write& write = list.writes[list.executed];
      reinterpret_cast<std::atomic<uint32_t>*>(write.word)->store(write.value);
    }
  }
  static void ExecuteAgain(SimulatedList& list, size_t count = SIZE_MAX) {
    list.executed = 0;
    Execute(list, count);
  }
};

class SimulatedBackend final : public Backend {
 public:
  // `live_lists` counts lists between BeginList and ReleaseList; may be null.
  // `on_clear`: called with the slot whose words are about to be cleared; may be empty.
  explicit SimulatedBackend(int* live_lists = nullptr, std::function<void(uint32_t)> on_clear = {})
      : live_lists_(live_lists), on_clear_(std::move(on_clear)) {}

  Status Initialize(const WordRegion& region, BackendDescription* description) override {
    region_ = region;
    description->api = Api::kCustom;
    description->method = WriteMethod::kCustom;
    description->memory = WordMemory::kImported;
    description->device_name = "simulated GPU";
    return Status();
  }

  Status BeginList(BackendList& list) override {
    if (live_lists_ != nullptr) ++*live_lists_;
    auto* native = static_cast<SimulatedList*>(list.native);
    if (!list.reusable) return Status();
    // The count is fixed when it is recorded; good enough for one execution at a time.
    ProgressWords& words = Words(list.slot);
    native->writes.push_back({Address(words.reached), 0, PipeLocation::kTop});
    native->writes.push_back({Address(words.passed), 0, PipeLocation::kTop});
    return Status();
  }

  bool WriteProgress(BackendList& list, WordKind word, PipeLocation where,
                     uint32_t value) override {
    if (list.inside_render_pass) return false;
    ProgressWords& words = Words(list.slot);
    static_cast<SimulatedList*>(list.native)
        ->writes.push_back(
            {word == WordKind::kReached ? Address(words.reached) : Address(words.passed), value,
             where});
    return true;
  }

  uint8_t DrainsHere(const BackendList& list) override {
    return static_cast<const SimulatedList*>(list.native)->drains;
  }

  Status WriteRaw(void* native, PipeLocation where, uint32_t index, uint64_t value) override {
    auto* slot = reinterpret_cast<uint32_t*>(region_.base + region_.raw_markers_offset +
                                             index * sizeof(uint64_t));
    auto& writes = static_cast<SimulatedList*>(native)->writes;
    writes.push_back({slot, static_cast<uint32_t>(value), where});
    writes.push_back({slot + 1, static_cast<uint32_t>(value >> 32), where});
    return Status();
  }

  void ClearWords(uint32_t slot) override {
    if (on_clear_) on_clear_(slot);
  }

  void ReleaseList(BackendList&) override {
    if (live_lists_ != nullptr) --*live_lists_;
  }

 private:
  static uint32_t* Address(std::atomic<uint32_t>& word) {
    return reinterpret_cast<uint32_t*>(&word);
  }
  ProgressWords& Words(uint32_t slot) {
    return reinterpret_cast<ProgressWords*>(region_.base + region_.progress_offset)[slot];
  }

  WordRegion region_;
  int* live_lists_;
  const std::function<void(uint32_t)> on_clear_;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_TESTING_SIMULATED_GPU_H_
