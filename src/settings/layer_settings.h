// SPDX-License-Identifier: Apache-2.0
//
// What the environment asks of the layers of both APIs, read once, at the first device.
//   CAIRN_BREADCRUMBS  off | top (default) | pass | full   how much the GPU writes; docs/breadcrumbs.md
//   CAIRN_CHECK        0 (default) | 1                     self-check; docs/d3d12-layer.md
//   CAIRN_DRIVER       none | logging | breadcrumb (default) | /path/of/a/library.so
// CAIRN_LOG is in log.h. Values that mean nothing count as the default, and are reported once.
#ifndef CAIRN_SETTINGS_LAYER_SETTINGS_H_
#define CAIRN_SETTINGS_LAYER_SETTINGS_H_

#include <string>
#include <vector>

#include "recorder/block.h"

namespace cairn {

struct LayerSettings {
  MarkerMode breadcrumbs = MarkerMode::kTop;
  bool check = false;
  std::string driver = "breadcrumb";
};

// `get` answers like getenv. Each complaint names the variable, its value and what is used instead.
LayerSettings ReadLayerSettings(const char* (*get)(const char* name),
                                std::vector<std::string>* complaints);

// Of this process.
const LayerSettings& Settings();

}  // namespace cairn

#endif  // CAIRN_SETTINGS_LAYER_SETTINGS_H_
