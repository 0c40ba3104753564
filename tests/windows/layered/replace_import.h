// SPDX-License-Identifier: Apache-2.0
//
// A function in the program's table of imports is replaced, as overlays do.
#ifndef CAIRN_TESTS_WINDOWS_LAYERED_REPLACE_IMPORT_H_
#define CAIRN_TESTS_WINDOWS_LAYERED_REPLACE_IMPORT_H_

#include <windows.h>

#include <cstring>

namespace cairn::testing {

template <typename T>
T* At(HMODULE module, DWORD offset) {
  return reinterpret_cast<T*>(reinterpret_cast<char*>(module) + offset);
}

// The place in the program's table; null if it imports no such thing.
inline void** PlaceOfImport(const char* wanted) {
  const HMODULE program = GetModuleHandleW(nullptr);
  const auto* const dos = At<IMAGE_DOS_HEADER>(program, 0);
  const auto* const headers = At<IMAGE_NT_HEADERS>(program, static_cast<DWORD>(dos->e_lfanew));
  const DWORD table =
      headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress;
  for (const auto* library = At<IMAGE_IMPORT_DESCRIPTOR>(program, table); library->Name != 0;
       ++library) {
    const auto* names = At<IMAGE_THUNK_DATA>(program, library->OriginalFirstThunk);
    auto* place = At<void*>(program, library->FirstThunk);
    for (; names->u1.AddressOfData != 0; ++names, ++place) {
      if (IMAGE_SNAP_BY_ORDINAL(names->u1.Ordinal)) continue;
      const auto* const name =
          At<IMAGE_IMPORT_BY_NAME>(program, static_cast<DWORD>(names->u1.AddressOfData));
      if (std::strcmp(reinterpret_cast<const char*>(name->Name), wanted) == 0) return place;
    }
  }
  return nullptr;
}

// False if the program imports no such thing. `*next` is what stood there.
template <typename Function>
bool ReplaceImport(const char* name, Function ours, Function* next) {
  void** const place = PlaceOfImport(name);
  if (place == nullptr) return false;
  DWORD before = 0;
  VirtualProtect(place, sizeof(*place), PAGE_READWRITE, &before);
  *next = reinterpret_cast<Function>(*place);
  *place = reinterpret_cast<void*>(ours);
  VirtualProtect(place, sizeof(*place), before, &before);
  return true;
}

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_WINDOWS_LAYERED_REPLACE_IMPORT_H_
