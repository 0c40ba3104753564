// SPDX-License-Identifier: Apache-2.0
//
// Memory that one process gives to another with a message.
#ifndef CAIRN_OS_CHANNEL_H_
#define CAIRN_OS_CHANNEL_H_

#include <cstdint>

#include "base/status.h"
#include "os/process.h"
#include "os/shared_memory.h"

namespace cairn {

class AttachedMemory {
 public:
  AttachedMemory() = default;  // there is none
  explicit AttachedMemory(FileDescriptor descriptor) : descriptor_(std::move(descriptor)) {}
  // As another process would be given it.
  static AttachedMemory Of(const SharedMemory& memory);

  // Once. Errors: those of SharedMemory::MapForReading; kNotFound if there is none.
  Result<SharedMemory> MapForReading(uint64_t size_bytes);
  Result<SharedMemory> MapForWriting(uint64_t size_bytes);

 private:
  FileDescriptor descriptor_;
};

}  // namespace cairn

#endif  // CAIRN_OS_CHANNEL_H_
