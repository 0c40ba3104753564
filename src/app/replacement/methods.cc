// SPDX-License-Identifier: Apache-2.0
#include "app/replacement/methods.h"

#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "os/windows/function_table.h"

namespace cairn {
namespace {

// Methods by table and slot: a table may be known for a part of its methods, as that of an older
// interface.
struct Replaced {
  std::mutex mutex;
  std::map<std::pair<const void*, size_t>, void*> methods;
};

Replaced& AllReplaced() {
  static Replaced& replaced = *new Replaced;
  return replaced;
}

void** TableOf(void* object) {
  return *static_cast<void***>(object);
}

}  // namespace

void ReplaceMethods(void* object, std::span<const ReplacedMethod> methods) try {
  Replaced& replaced = AllReplaced();
  void** const table = TableOf(object);
  const std::lock_guard lock(replaced.mutex);
  for (const ReplacedMethod& method : methods) {
    void** const place = &table[method.slot];
    if (!replaced.methods.emplace(std::pair(table, method.slot), *place).second) continue;
    KeepLibraryOf(table);
    void* const ours = method.over(*place);
    if (ours != nullptr && ours != *place) WriteFunction(place, ours);
  }
} catch (const std::bad_alloc&) {
  // The program's call goes on; the methods are replaced another time.
}

void ReplaceMethodsAs(IUnknown* object, const IID& iid, std::span<const ReplacedMethod> methods) {
  void* with = nullptr;
  if (FAILED(object->QueryInterface(iid, &with)) || with == nullptr) return;
  ReplaceMethods(with, methods);
  static_cast<IUnknown*>(with)->Release();
}

void* MethodBehind(void* object, size_t slot) {
  Replaced& replaced = AllReplaced();
  void** const table = TableOf(object);
  const std::lock_guard lock(replaced.mutex);
  const auto found = replaced.methods.find(std::pair<const void*, size_t>(table, slot));
  return found == replaced.methods.end() ? table[slot] : found->second;
}

}  // namespace cairn
