// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "app/annotations/message_callback.h"
#include "app/annotations/runtime.h"
#include "app/annotations/stderr_line.h"

namespace cairn {

void GiveDebugMessage(const AnnotationRuntime& runtime, uint32_t id, const std::string& text) {
  const AnnotationOptions& options = runtime.options();
  const bool queued = options.add_to_info_queue != nullptr &&
                      options.add_to_info_queue(options.info_queue_user_data, id, text.c_str());
  const bool called = TellMessageCallback(id, options.application_device, text.c_str());
  if (!queued && !called) WriteStderrLine("Direct3D 12", text.c_str());
}

}  // namespace cairn
