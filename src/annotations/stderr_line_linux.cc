// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "annotations/stderr_line.h"

namespace cairn {

void WriteStderrLine(const char* prefix, const char* text) {
  char line[512];
  size_t length = 0;
  const auto append = [&](const char* from) {
    for (; *from != 0 && length + 1 < sizeof(line); ++from) {
      const unsigned char character = static_cast<unsigned char>(*from);
      line[length++] = character < 0x20 || character == 0x7F ? '?' : *from;
    }
  };
  append("cairn: ");
  append(prefix);
  append(": ");
  append(text);
  line[length++] = '\n';
  const int error = errno;
  // Nobody is left to tell when stderr is closed.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, length);
  errno = error;
}

}  // namespace cairn
