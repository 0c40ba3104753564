// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <string>

#include "cairn/annotations.h"

#include "annotations/runtime.h"
#include "annotations/stderr_line.h"

namespace cairn {
namespace {

// Recursive: a callback may make a call that is at fault itself.
std::recursive_mutex callback_mutex;
CairnMessageCallback message_callback = nullptr;
void* message_user_data = nullptr;

}  // namespace

void GiveDebugMessage(const AnnotationRuntime& runtime, uint32_t id, const std::string& text) {
  const AnnotationOptions& options = runtime.options();
  bool told = options.add_to_info_queue != nullptr &&
              options.add_to_info_queue(options.info_queue_user_data, id, text.c_str());
  std::lock_guard lock(callback_mutex);
  if (message_callback != nullptr) {
    message_callback(id, options.application_device, text.c_str(), message_user_data);
    told = true;
  }
  if (!told) WriteStderrLine("Direct3D 12", text.c_str());
}

}  // namespace cairn

extern "C" CairnResult cairnSetMessageCallback(CairnMessageCallback callback, void* user_data) {
  std::lock_guard lock(cairn::callback_mutex);
  cairn::message_callback = callback;
  cairn::message_user_data = user_data;
  return CAIRN_OK;
}
