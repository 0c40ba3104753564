// SPDX-License-Identifier: Apache-2.0
//
// The recordings of a layer's context, for compat_* files: the layer opens and closes the
// recordings of its lists by itself, and code that knows a list by the application's pointer finds
// only the current recording here.
#ifndef CAIRN_APP_API_LAYER_RECORDINGS_H_
#define CAIRN_APP_API_LAYER_RECORDINGS_H_

#include <cstdint>

#include "cairn/breadcrumbs.h"

namespace cairn {

struct LayerRecording {
  enum class State { kNone, kOpen, kClosed };

  // kNone: the list was never opened, was reset, or found no room when it was opened.
  State state = State::kNone;
  CairnCommandList* list = nullptr;  // kOpen only
  uint64_t id = 0;                   // kOpen only; another for each recording of the process
};

// Returns true if the context is that of a layer, which sees every queue and submission.
bool IsLayerContext(CairnContext* context);

// Finds the layer's recording of a list. Returns false if the list is none of a layer's:
// `recording` stays unchanged. The caller must be the only thread that records into the list, or
// opens or closes it.
bool FindLayerRecording(CairnContext* context, void* native, LayerRecording* recording);

// The event that a list recorded last; the caller records into it.
struct RecordedEvent {
  uint64_t recording_id = 0;  // another for each recording of the process
  uint32_t sequence = 0;      // from 1; 0: it has none
};
RecordedEvent LastEventOf(CairnCommandList* list);

}  // namespace cairn

#endif  // CAIRN_APP_API_LAYER_RECORDINGS_H_
