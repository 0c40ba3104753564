// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "wait_event.h"

namespace sample {

WaitEvent::WaitEvent() : handle_(eventfd(0, EFD_CLOEXEC)) {}

WaitEvent::~WaitEvent() {
  close(static_cast<int>(handle_));
}

bool WaitEvent::Wait(uint32_t timeout_ms) const {
  pollfd descriptor = {static_cast<int>(handle_), POLLIN, 0};
  uint64_t count = 0;
  return poll(&descriptor, 1, static_cast<int>(timeout_ms)) == 1 &&
         read(descriptor.fd, &count, sizeof(count)) == sizeof(count);
}

}  // namespace sample
