// SPDX-License-Identifier: Apache-2.0
//
// Programs that load Direct3D when they need it: what they load is looked at, and what they look up is ours.
#include "app/breadcrumbs/crash_signals.h"
#include "app/d3d12/layer.h"
#include "app/entry/windows/functions.h"
#include "app/entry/windows/import_tables.h"
#include "app/replacement/replacement.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

// Keeps the error code of the system's function.
HMODULE Loaded(HMODULE module) {
  const DWORD error = GetLastError();
  if (module != nullptr) ReplaceImports();
  SetLastError(error);
  return module;
}

HMODULE OnLoadLibraryA(HMODULE (*next)(const char*), const char* name) {
  return Loaded(next(name));
}
HMODULE OnLoadLibraryW(HMODULE (*next)(const wchar_t*), const wchar_t* name) {
  return Loaded(next(name));
}
HMODULE OnLoadLibraryExA(HMODULE (*next)(const char*, HANDLE, DWORD), const char* name, HANDLE file,
                         DWORD flags) {
  return Loaded(next(name, file, flags));
}
HMODULE OnLoadLibraryExW(HMODULE (*next)(const wchar_t*, HANDLE, DWORD), const wchar_t* name,
                         HANDLE file, DWORD flags) {
  return Loaded(next(name, file, flags));
}

using GetAddress = void* (*)(HMODULE module, const char* name);

// Libraries export by numbers as well, which stand in place of the name.
bool IsNumber(const char* name) {
  return reinterpret_cast<uintptr_t>(name) <= 0xffff;
}

// The name of what `module` exports by this number too; null if that is nothing that we replace.
const char* NameOf(void* found, GetAddress next, HMODULE module) {
  for (const ReplacedFunction& function : ReplacedFunctions()) {
    if (function.when_looked_up && next(module, function.name) == found) return function.name;
  }
  return nullptr;
}

void* OnGetProcAddress(GetAddress next, HMODULE module, const char* name) {
  void* const found = next(module, name);
  // Names of Direct3D's functions begin with these letters.
  if (found == nullptr || (!IsNumber(name) && name[0] != 'D' && name[0] != 'C')) return found;
  const DWORD error = GetLastError();
  if (IsNumber(name)) name = NameOf(found, next, module);
  void* const given = name == nullptr ? found : InPlaceOf(found, name);
  SetLastError(error);
  return given;
}

// All threads still run here, so that the capture's last records are read. Notifications of
// libraries come too late for that.
void OnExitProcess(void (*next)(UINT), UINT code) {
  EndCapturedFrames();
  MirrorAtExit();
  next(code);
}

}  // namespace

void* OverLoadLibraryA(void* function) {
  return Replacement<&OnLoadLibraryA>::Over(function);
}
void* OverLoadLibraryW(void* function) {
  return Replacement<&OnLoadLibraryW>::Over(function);
}
void* OverLoadLibraryExA(void* function) {
  return Replacement<&OnLoadLibraryExA>::Over(function);
}
void* OverLoadLibraryExW(void* function) {
  return Replacement<&OnLoadLibraryExW>::Over(function);
}
void* OverGetProcAddress(void* function) {
  return Replacement<&OnGetProcAddress>::Over(function);
}
void* OverExitProcess(void* function) {
  return Replacement<&OnExitProcess>::Over(function);
}

}  // namespace cairn
