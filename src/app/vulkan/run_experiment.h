// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_VULKAN_RUN_EXPERIMENT_H_
#define CAIRN_APP_VULKAN_RUN_EXPERIMENT_H_

#include "format/experiment/experiment.h"

namespace cairn {

// Returns the change that the environment asks of this run (CAIRN_EXPERIMENT); null for none, and for limited loops,
// which RecordedExperiment has. Found out once; then a load. Any thread.
const Experiment* RunExperimentOfProcess();
// For tests: what it returns from now on, for devices that are made from now on.
void ReplaceRunExperiment(const Experiment* experiment);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_RUN_EXPERIMENT_H_
