// SPDX-License-Identifier: Apache-2.0
//
// A library comes into a program that was started suspended, as `cairn run` brings it: by a thread there that loads it.
#ifndef CAIRN_TESTS_WINDOWS_LAYERED_INJECT_H_
#define CAIRN_TESTS_WINDOWS_LAYERED_INJECT_H_

#include <windows.h>

#include <string>

namespace cairn::testing {

// `process` may do anything with the program, none of whose own code has run. True: `library`, a whole path, is in it.
inline bool Inject(HANDLE process, const std::wstring& library) {
  const size_t bytes = (library.size() + 1) * sizeof(wchar_t);
  void* const there =
      VirtualAllocEx(process, nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (there == nullptr || !WriteProcessMemory(process, there, library.c_str(), bytes, nullptr)) {
    return false;
  }
  // The same place in all programs of a session.
  const auto load = reinterpret_cast<LPTHREAD_START_ROUTINE>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "LoadLibraryW")));
  const HANDLE thread = CreateRemoteThread(process, nullptr, 0, load, there, 0, nullptr);
  if (thread == nullptr) return false;
  WaitForSingleObject(thread, INFINITE);
  DWORD low_half = 0;  // of the library's address
  GetExitCodeThread(thread, &low_half);
  CloseHandle(thread);
  VirtualFreeEx(process, there, 0, MEM_RELEASE);
  return low_half != 0;
}

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_WINDOWS_LAYERED_INJECT_H_
