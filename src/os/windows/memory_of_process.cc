// SPDX-License-Identifier: Apache-2.0
#include "os/memory_of_process.h"

#include "os/windows/system.h"

namespace cairn {

bool ReadMemoryOfProcess(ProcessId process, uint64_t address, std::span<std::byte> out) {
  const bool is_own = process == OwnProcessId();
  const HANDLE handle = is_own ? GetCurrentProcess()
                               : ::OpenProcess(PROCESS_VM_READ, FALSE, static_cast<DWORD>(process));
  if (handle == nullptr) return false;
  SIZE_T read = 0;
  const bool done = ReadProcessMemory(handle, reinterpret_cast<const void*>(address), out.data(),
                                      out.size(), &read) != 0;
  if (!is_own) CloseHandle(handle);
  return done && read == out.size();
}

}  // namespace cairn
