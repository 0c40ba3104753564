// SPDX-License-Identifier: Apache-2.0
//
// Replaces D3D12CreateDevice in the program's table of imports, as overlays do, and goes on to what was there.
#include "tests/windows/layered/replace_import.h"

namespace {

using CreateDevice = HRESULT(WINAPI*)(void*, int, const GUID&, void**);

CreateDevice next = nullptr;
unsigned calls = 0;

HRESULT WINAPI OnCreateDevice(void* adapter, int level, const GUID& iid, void** device) {
  ++calls;
  return next(adapter, level, iid, device);
}

}  // namespace

extern "C" __declspec(dllexport) unsigned OverlayCalls() {
  return calls;
}

BOOL WINAPI DllMain(HINSTANCE, DWORD reason, void*) {
  return reason != DLL_PROCESS_ATTACH ||
         cairn::testing::ReplaceImport("D3D12CreateDevice", &OnCreateDevice, &next);
}
