// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "format/block/handover.h"

namespace cairn {

std::string WatcherFdValue(int socket) {
  struct stat info {};
  std::string value = std::to_string(socket);
  if (fstat(socket, &info) == 0) value += ":" + std::to_string(info.st_ino);
  return value;
}

}  // namespace cairn
