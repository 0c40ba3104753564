// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/loop_run.h"

#include <atomic>
#include <string>
#include <utility>

#include "app/settings/log.h"
#include "app/settings/own_settings.h"
#include "os/shared_memory.h"

namespace cairn {
namespace {

// Its board lies in this memory, which is never unmapped: devices write until the end of the process.
struct MappedRun : LoopRun {
  SharedMemory memory;
};

const LoopRun* OpenOfProcess() {
  const LayerSettings& settings = Settings();
  const std::string& asked = *settings.experiment;
  const bool counts = asked.starts_with("counts=");
  if (!counts && !asked.starts_with("loops=") && !asked.starts_with("bounds=") &&
      !asked.starts_with("stage=")) {
    return nullptr;
  }
  const std::optional<Experiment> experiment = ParseExperiment(asked);
  if (!experiment) {
    Log(LogLevel::kError,
        "nothing is changed: " + FormatSetting<&LayerSettings::experiment>(asked) +
            " is no experiment");
    return nullptr;
  }
  Result<SharedMemory> memory = SharedMemory::MapPathForWriting(*settings.loop_board);
  Status status = memory.status();
  if (memory.ok()) {
    const Result<LoopBoard> board = LoopBoard::Over({memory->data(), memory->size_bytes()});
    status = board.status();
    if (board.ok()) {
      if (counts || CAIRN_LIMITS_LOOPS != 0) {
        return new MappedRun{{*experiment, *board}, std::move(*memory)};
      }
      board->SetWhyNone("shaders are not changed on this system: SPIRV-Tools is missing");
      return nullptr;
    }
  }
  Log(LogLevel::kError, std::string("nothing is changed, ") +
                            kVariableOf<&LayerSettings::loop_board> +
                            " cannot be used: " + status.message());
  return nullptr;
}

std::atomic<const LoopRun*>& OfProcess() {
  static std::atomic<const LoopRun*> run = OpenOfProcess();
  return run;
}

}  // namespace

const LoopRun* LoopRun::Active() {
  const LoopRun* const run = WithBoard();
  return run != nullptr && ChangesShaders(run->experiment.change) ? run : nullptr;
}

const LoopRun* LoopRun::WithBoard() {
  return OfProcess().load(std::memory_order_acquire);
}

void LoopRun::Replace(const LoopRun* run) {
  OfProcess().store(run, std::memory_order_release);
}

}  // namespace cairn
