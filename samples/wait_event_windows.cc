// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include "wait_event.h"

namespace sample {

WaitEvent::WaitEvent()
    : handle_(reinterpret_cast<intptr_t>(CreateEventA(nullptr, FALSE, FALSE, nullptr))) {}

WaitEvent::~WaitEvent() {
  CloseHandle(handle());
}

bool WaitEvent::Wait(uint32_t timeout_ms) const {
  return WaitForSingleObject(handle(), timeout_ms) == WAIT_OBJECT_0;
}

}  // namespace sample
