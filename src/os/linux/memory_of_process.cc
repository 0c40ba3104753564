// SPDX-License-Identifier: Apache-2.0
#include "os/memory_of_process.h"

#include <sys/uio.h>

namespace cairn {

bool ReadMemoryOfProcess(ProcessId process, uint64_t address, std::span<std::byte> out) {
  const iovec local = {out.data(), out.size()};
  const iovec remote = {reinterpret_cast<void*>(static_cast<uintptr_t>(address)), out.size()};
  return process_vm_readv(static_cast<pid_t>(process), &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(out.size());
}

}  // namespace cairn
