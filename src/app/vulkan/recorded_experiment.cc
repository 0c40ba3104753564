// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/recorded_experiment.h"

#include <atomic>
#include <string>
#include <utility>

#include "app/settings/log.h"
#include "app/settings/own_settings.h"
#include "os/shared_memory.h"

namespace cairn {
namespace {

// Its board lies in this memory, which is never unmapped: devices write until the end of the process.
struct MappedRun : RecordedExperiment {
  SharedMemory memory;
};

const RecordedExperiment* OpenOfProcess() {
  const LayerSettings& settings = Settings();
  const std::string& asked = *settings.experiment;
  const bool counts = asked.starts_with("counts=");
  if (!counts && !asked.starts_with("loops=") && !asked.starts_with("bounds=") &&
      !asked.starts_with("stage=") && !asked.starts_with("binding=")) {
    return nullptr;
  }
  const std::optional<Experiment> experiment = ParseExperiment(asked);
  if (!experiment) {
    Log(LogLevel::kError,
        "nothing is changed: " + FormatSetting<&LayerSettings::experiment>(asked) +
            " is no experiment");
    return nullptr;
  }
  Result<SharedMemory> memory = SharedMemory::MapPathForWriting(*settings.experiment_board);
  Status status = memory.status();
  if (memory.ok()) {
    const Result<ExperimentBoard> board =
        ExperimentBoard::Over({memory->data(), memory->size_bytes()});
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
                            kVariableOf<&LayerSettings::experiment_board> +
                            " cannot be used: " + status.message());
  return nullptr;
}

std::atomic<const RecordedExperiment*>& OfProcess() {
  static std::atomic<const RecordedExperiment*> run = OpenOfProcess();
  return run;
}

}  // namespace

const RecordedExperiment* RecordedExperiment::Active() {
  const RecordedExperiment* const run = WithBoard();
  return run != nullptr && ChangesShaders(run->experiment.change) ? run : nullptr;
}

const RecordedExperiment* RecordedExperiment::WithBoard() {
  return OfProcess().load(std::memory_order_acquire);
}

void RecordedExperiment::Replace(const RecordedExperiment* run) {
  OfProcess().store(run, std::memory_order_release);
}

}  // namespace cairn
