// SPDX-License-Identifier: Apache-2.0
#include "os/handle.h"

#include "os/windows/system.h"

namespace cairn {

void SystemHandle::Close() {
  if (valid()) CloseHandle(reinterpret_cast<HANDLE>(Release()));
}

SystemHandle CopyOf(RawHandle handle) {
  HANDLE copy = nullptr;
  DuplicateHandle(GetCurrentProcess(), reinterpret_cast<HANDLE>(handle), GetCurrentProcess(), &copy,
                  0, FALSE, DUPLICATE_SAME_ACCESS);
  return Owned(copy);
}

void KeepFromPrograms(RawHandle) {}

}  // namespace cairn
