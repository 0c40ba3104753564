// SPDX-License-Identifier: Apache-2.0
#include "os/standard_input.h"

#include <unistd.h>

#include <cerrno>

namespace cairn {

size_t ReadStandardInput(std::span<std::byte> bytes) {
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) return 0;
  }
}

}  // namespace cairn
