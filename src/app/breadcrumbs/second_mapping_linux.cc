// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <cerrno>

#include "app/breadcrumbs/second_mapping.h"

namespace cairn {

Result<SharedMemory> MapAgain(const SharedMemory& memory) {
  const int fd = fcntl(static_cast<int>(memory.handle()), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return StatusFromErrno(errno, "shared memory cannot be mapped a second time");
  return SharedMemory::MapForReading(SystemHandle(fd), memory.size_bytes());
}

}  // namespace cairn
