// SPDX-License-Identifier: Apache-2.0
#include "app/annotations/message_callback.h"

#include <mutex>

#include "cairn/annotations.h"

namespace cairn {
namespace {

// Recursive: a callback may make a call that is at fault itself.
std::recursive_mutex callback_mutex;
CairnMessageCallback message_callback = nullptr;
void* message_user_data = nullptr;

}  // namespace

bool TellMessageCallback(uint32_t id, void* device, const char* text) {
  std::lock_guard lock(callback_mutex);
  if (message_callback == nullptr) return false;
  message_callback(id, device, text, message_user_data);
  return true;
}

}  // namespace cairn

extern "C" CairnResult cairnSetMessageCallback(CairnMessageCallback callback, void* user_data) {
  std::lock_guard lock(cairn::callback_mutex);
  cairn::message_callback = callback;
  cairn::message_user_data = user_data;
  return CAIRN_OK;
}
