// SPDX-License-Identifier: Apache-2.0
#include "os/handle.h"

#include <fcntl.h>
#include <unistd.h>

namespace cairn {

void SystemHandle::Close() {
  if (valid()) close(static_cast<int>(Release()));
}

SystemHandle CopyOf(RawHandle handle) {
  constexpr int kFirstOwnDescriptor = 200;
  return SystemHandle(fcntl(static_cast<int>(handle), F_DUPFD_CLOEXEC, kFirstOwnDescriptor));
}

void KeepFromPrograms(RawHandle handle) {
  fcntl(static_cast<int>(handle), F_SETFD, FD_CLOEXEC);
}

}  // namespace cairn
