// SPDX-License-Identifier: Apache-2.0
//
// The functions of our d3d12.dll and dxgi.dll beside a program (proxies.cmake): each jumps to the
// system's function of its name, or to its replacement, with all arguments unchanged.
#include <array>
#include <atomic>
#include <string>

#include "app/entry/windows/functions.h"
#include "app/entry/windows/import_tables.h"
#include "app/settings/log.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

struct Proxied {
  const char* library;
  const char* name;
};

#define CAIRN_PROXIED(library, name) {#library ".dll", #name},
constexpr Proxied kProxied[] = {
#include "entrygen/proxied_functions.inc"
};
#undef CAIRN_PROXIED

std::array<std::atomic<void*>, std::size(kProxied)> found_functions = {};

HRESULT IsNotThere() {
  return E_NOTIMPL;
}

// Loads by the whole path: the name alone means the library beside the program.
HMODULE LoadSystemLibrary(const char* name) {
  std::wstring path(MAX_PATH, L'\0');
  path.resize(GetSystemDirectoryW(path.data(), MAX_PATH));
  const HMODULE module = LoadLibraryW((path + L'\\' + Wide(name)).c_str());
  if (module != nullptr) ReplaceImports();
  return module;
}

void* Find(const Proxied& proxied) {
  const HMODULE module = LoadSystemLibrary(proxied.library);
  void* const found =
      module == nullptr ? nullptr : reinterpret_cast<void*>(GetProcAddress(module, proxied.name));
  if (found != nullptr) return InPlaceOf(found, proxied.name);
  LogOnce(LogLevel::kWarning, proxied.name,
          std::string(proxied.name) + " is called, and the system's " + proxied.library +
              " has no such function: E_NOTIMPL");
  return reinterpret_cast<void*>(&IsNotThere);
}

}  // namespace
}  // namespace cairn

extern "C" {
__attribute__((used)) void* CairnProxyFind(uint32_t index) {
  std::atomic<void*>& known = cairn::found_functions[index];
  void* function = known.load(std::memory_order_acquire);
  if (function != nullptr) return function;
  function = cairn::Find(cairn::kProxied[index]);
  known.store(function, std::memory_order_release);
  return function;
}
}

// The registers of arguments are kept across the call, and room for those of the function that is called.
#define CAIRN_PROXIED(library, name)                                         \
  ".globl CairnProxy_" #library "_" #name "\nCairnProxy_" #library "_" #name \
  ":\n  movl $proxied, %eax\n  jmp CairnProxyGo\n  .set proxied, proxied + 1\n"
__asm__(R"(
  .text
CairnProxyGo:
  push %rcx
  push %rdx
  push %r8
  push %r9
  sub $104, %rsp
  movaps %xmm0, 32(%rsp)
  movaps %xmm1, 48(%rsp)
  movaps %xmm2, 64(%rsp)
  movaps %xmm3, 80(%rsp)
  mov %eax, %ecx
  call CairnProxyFind
  movaps 32(%rsp), %xmm0
  movaps 48(%rsp), %xmm1
  movaps 64(%rsp), %xmm2
  movaps 80(%rsp), %xmm3
  add $104, %rsp
  pop %r9
  pop %r8
  pop %rdx
  pop %rcx
  jmp *%rax
  .set proxied, 0
)"
#include "entrygen/proxied_functions.inc"
);
