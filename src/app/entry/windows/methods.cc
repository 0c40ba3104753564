// SPDX-License-Identifier: Apache-2.0
#include "app/entry/windows/methods.h"

#include <mutex>
#include <set>
#include <utility>

#include "app/entry/windows/import_tables.h"
#include "d3d12abi/com_ptr.h"
#include "os/windows/system.h"

namespace cairn {

void ReplaceMethods(void* object, std::span<const ReplacedMethod> methods) try {
  static std::mutex& mutex = *new std::mutex;
  // A table may be known for a part of the methods that it has: as that of an older interface.
  static auto& seen = *new std::set<std::pair<const void*, size_t>>;
  void** const table = *static_cast<void***>(object);
  HMODULE library = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                     reinterpret_cast<const wchar_t*>(table), &library);
  const std::lock_guard lock(mutex);
  for (const ReplacedMethod& method : methods) {
    if (!seen.emplace(table, method.slot).second) continue;
    void* const ours = method.over(table[method.slot]);
    if (ours != nullptr && ours != table[method.slot]) WriteTableEntry(&table[method.slot], ours);
  }
} catch (const std::bad_alloc&) {
  // The program's call goes on; the methods are replaced another time.
}

void ReplaceMethodsAs(IUnknown* object, const IID& iid, std::span<const ReplacedMethod> methods) {
  ComPtr<IUnknown> with;
  if (SUCCEEDED(object->QueryInterface(iid, with.Receive()))) ReplaceMethods(with.get(), methods);
}

}  // namespace cairn
