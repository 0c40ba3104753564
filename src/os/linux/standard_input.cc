// SPDX-License-Identifier: Apache-2.0
#include "os/standard_input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "os/linux/file_descriptor.h"

namespace cairn {

size_t ReadStandardInput(std::span<std::byte> bytes) {
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) return 0;
  }
}

Status ReplaceStandardInput(std::span<const std::byte> bytes) {
  const FileDescriptor memory(memfd_create("standard input", MFD_CLOEXEC));
  if (!memory.valid()) return StatusFromErrno(errno, "no memory for a standard input");
  while (!bytes.empty()) {
    const ssize_t count = write(memory.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return StatusFromErrno(errno, "no memory for a standard input");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  if (lseek(memory.get(), 0, SEEK_SET) != 0 || dup2(memory.get(), STDIN_FILENO) < 0) {
    return StatusFromErrno(errno, "the standard input cannot be replaced");
  }
  return Status();
}

}  // namespace cairn
