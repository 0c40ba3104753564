// SPDX-License-Identifier: Apache-2.0
#include "os/standard_error.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace cairn {

void WriteStandardError(std::string_view text) {
  const int error = errno;
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    text.remove_prefix(static_cast<size_t>(written));
  }
  errno = error;
}

}  // namespace cairn
