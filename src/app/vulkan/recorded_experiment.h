// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_VULKAN_RECORDED_EXPERIMENT_H_
#define CAIRN_APP_VULKAN_RECORDED_EXPERIMENT_H_

#include <optional>

#include "format/experiment/experiment.h"
#include "format/experiment/experiment_board.h"

namespace cairn {

// The change of this run, and the memory of the command that gets the records.
struct RecordedExperiment {
  Experiment experiment;
  ExperimentBoard board;

  // Returns WithBoard() if shaders are changed, else null.
  static const RecordedExperiment* Active();
  // The one that the environment asks for (CAIRN_EXPERIMENT, CAIRN_EXPERIMENT_BOARD); null without it, and where it cannot be:
  // stderr or the board say why. Found out once; then a load. Any thread.
  static const RecordedExperiment* WithBoard();
  // For tests: what WithBoard returns from now on, for devices that are made from now on.
  static void Replace(const RecordedExperiment* run);
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_RECORDED_EXPERIMENT_H_
