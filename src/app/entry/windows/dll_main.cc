// SPDX-License-Identifier: Apache-2.0
//
// cairn-d3d.dll comes into a program. The system's loader is locked meanwhile, so that nothing is loaded here, no
// thread is started and nothing is waited for: tables of addresses are written, and that is all. The rest happens in
// the program's calls.
#include "app/breadcrumbs/layer_identity.h"
#include "app/entry/windows/functions.h"
#include "app/entry/windows/import_tables.h"
#include "os/windows/system.h"

extern "C" BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void*) {
  if (reason != DLL_PROCESS_ATTACH) return TRUE;
  // For the life of the process: objects, handlers and tables go on to code in it.
  HMODULE module = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                     reinterpret_cast<const wchar_t*>(self), &module);
  cairn::SetProgramLookUp(cairn::InPlaceOf);
  // The first does the work.
  if (!cairn::AnotherIsHere()) cairn::ReplaceImports();
  return TRUE;
}
