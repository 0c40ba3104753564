// SPDX-License-Identifier: Apache-2.0
//
// Replaces D3D12CreateDevice in the program's table of imports, as overlays do, and goes on to what was there.
#include <windows.h>

#include <cstring>

namespace {

using CreateDevice = HRESULT(WINAPI*)(void*, int, const GUID&, void**);

CreateDevice next = nullptr;
unsigned calls = 0;

HRESULT WINAPI OnCreateDevice(void* adapter, int level, const GUID& iid, void** device) {
  ++calls;
  return next(adapter, level, iid, device);
}

template <typename T>
T* At(HMODULE module, DWORD offset) {
  return reinterpret_cast<T*>(reinterpret_cast<char*>(module) + offset);
}

// The place in the program's table; null if it imports no such thing.
void** PlaceOf(const char* wanted) {
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

}  // namespace

extern "C" __declspec(dllexport) unsigned OverlayCalls() {
  return calls;
}

BOOL WINAPI DllMain(HINSTANCE, DWORD reason, void*) {
  if (reason != DLL_PROCESS_ATTACH) return TRUE;
  void** const place = PlaceOf("D3D12CreateDevice");
  if (place == nullptr) return FALSE;
  DWORD before = 0;
  VirtualProtect(place, sizeof(*place), PAGE_READWRITE, &before);
  next = reinterpret_cast<CreateDevice>(*place);
  *place = reinterpret_cast<void*>(&OnCreateDevice);
  VirtualProtect(place, sizeof(*place), before, &before);
  return TRUE;
}
