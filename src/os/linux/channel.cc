// SPDX-License-Identifier: Apache-2.0
#include "os/channel.h"

#include <fcntl.h>

namespace cairn {
namespace {

Status NoMemory() {
  return Status(StatusCode::kNotFound, "no memory is attached");
}

}  // namespace

AttachedMemory AttachedMemory::Of(const SharedMemory& memory) {
  return AttachedMemory(FileDescriptor(fcntl(memory.fd(), F_DUPFD_CLOEXEC, 0)));
}

Result<SharedMemory> AttachedMemory::MapForReading(uint64_t size_bytes) {
  if (!descriptor_.valid()) return NoMemory();
  return SharedMemory::MapForReading(descriptor_.Release(), size_bytes);
}

Result<SharedMemory> AttachedMemory::MapForWriting(uint64_t size_bytes) {
  if (!descriptor_.valid()) return NoMemory();
  return SharedMemory::MapForWriting(descriptor_.Release(), size_bytes);
}

}  // namespace cairn
