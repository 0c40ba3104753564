// SPDX-License-Identifier: Apache-2.0
#include "os/windows/function_table.h"

#include <atomic>

#include "os/windows/system.h"

namespace cairn {

bool WriteFunction(void** place, void* function) {
  DWORD before = 0;
  if (VirtualProtect(place, sizeof(*place), PAGE_READWRITE, &before) == 0) return false;
  std::atomic_ref<void*>(*place).store(function, std::memory_order_release);
  VirtualProtect(place, sizeof(*place), before, &before);
  return true;
}

void KeepLibraryOf(const void* address) {
  HMODULE library = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                     static_cast<const wchar_t*>(address), &library);
}

}  // namespace cairn
