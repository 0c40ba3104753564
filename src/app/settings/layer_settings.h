// SPDX-License-Identifier: Apache-2.0
//
// What the environment asks of the layers of both APIs, read once, at the first device.
//   CAIRN_BREADCRUMBS  off | top (default) | pass | full | exact   how much the GPU writes;
//                                                          docs/breadcrumbs.md
//   CAIRN_CHECK        0 (default) | 1                     self-check; docs/d3d12-layer.md
//   CAIRN_EVENTS       retail (default) | all              whose events keep what they carry;
//                                                          docs/annotations.md
//   CAIRN_DRIVER       none | logging | breadcrumb (default) | /path/of/a/library.so
//   CAIRN_CAPTURE      off (default) | on[,armed][,frames=A-B][,hash]   docs/capture.md
// CAIRN_LOG is in log.h. All are as if unset in a privileged process (os/environment.h). Values that mean nothing count as the default, and are reported once.
#ifndef CAIRN_APP_SETTINGS_LAYER_SETTINGS_H_
#define CAIRN_APP_SETTINGS_LAYER_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "format/block/block.h"

namespace cairn {

// Whether and how calls are recorded.
struct CaptureSettings {
  bool on = false;
  bool armed = false;                  // wait until the watcher asks for the beginning
  uint64_t start_frame = 0;            // frames=A-B: the first that is recorded
  uint64_t stop_frame = ~uint64_t{0};  // B + 1: the first that is not; frames=A- has none
  bool hash_frames = false;
  bool hash_resources = false;
};

struct LayerSettings {
  MarkerMode breadcrumbs = MarkerMode::kTop;
  bool check = false;
  // Events of lists in RUNTIME_ONLY give their names to breadcrumbs. Otherwise nothing that they carry is
  // kept: `cairn run` asks for it.
  bool all_events = false;
  std::string driver = "breadcrumb";
  CaptureSettings capture;
};

// `get` answers like getenv. Each complaint names the variable, its value and what is used instead.
LayerSettings ReadLayerSettings(const char* (*get)(const char* name),
                                std::vector<std::string>* complaints);

// Of this process.
const LayerSettings& Settings();

}  // namespace cairn

#endif  // CAIRN_APP_SETTINGS_LAYER_SETTINGS_H_
