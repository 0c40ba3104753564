// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/run_experiment.h"

#include <atomic>
#include <optional>
#include <string>

#include "app/settings/log.h"
#include "app/settings/own_settings.h"

namespace cairn {
namespace {

const Experiment* ReadRunExperiment() {
  const std::string& text = *Settings().experiment;
  if (text.empty() || text.starts_with("loops=")) return nullptr;
  const std::optional<Experiment> experiment = ParseExperiment(text);
  if (experiment) return new Experiment(*experiment);  // for the life of the process
  Log(LogLevel::kError, "nothing is changed: " + FormatSetting<&LayerSettings::experiment>(text) +
                            " is no experiment");
  return nullptr;
}

std::atomic<const Experiment*>& RunExperimentOfEnvironment() {
  static std::atomic<const Experiment*> experiment = ReadRunExperiment();
  return experiment;
}

}  // namespace

const Experiment* RunExperimentOfProcess() {
  return RunExperimentOfEnvironment().load(std::memory_order_acquire);
}

void ReplaceRunExperiment(const Experiment* experiment) {
  RunExperimentOfEnvironment().store(experiment, std::memory_order_release);
}

}  // namespace cairn
