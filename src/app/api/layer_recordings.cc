// SPDX-License-Identifier: Apache-2.0
#include "app/api/layer_recordings.h"

#include "app/breadcrumbs/context.h"

namespace cairn {

bool IsLayerContext(CairnContext* context) {
  return reinterpret_cast<Context*>(context)->is_layers();
}

bool FindLayerRecording(CairnContext* context, void* native, LayerRecording* recording) {
  const Context& inner = *reinterpret_cast<Context*>(context);
  if (!inner.is_layers()) return false;
  const LayerList* const layer = inner.FindLayerList(native);
  if (layer == nullptr) return false;
  *recording = {};
  if (layer->recording == nullptr) return true;
  if (!layer->recording->open()) {
    recording->state = LayerRecording::State::kClosed;
    return true;
  }
  recording->state = LayerRecording::State::kOpen;
  recording->list = reinterpret_cast<CairnCommandList*>(layer->recording);
  recording->id = layer->recording->slot()->recording_id;
  return true;
}

RecordedEvent LastEventOf(CairnCommandList* list) {
  const CommandList& inner = *reinterpret_cast<CommandList*>(list);
  const uint32_t value = inner.progress_value();
  return {inner.slot()->recording_id, value & kMaxSequence};
}

}  // namespace cairn
