// SPDX-License-Identifier: Apache-2.0
//
// Starts a program as launchers do, with none of its own handles: launcher [--other-pipe] PROGRAM [ARGUMENTS]. The exit code is
// the program's. --other-pipe: it inherits, and the number of the pipe that came from `cairn run` is another pipe's.
#include <windows.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// Numbers of handles that were closed are given out again, not at once.
HANDLE TakeNumberOfInherited() {
  const char* const text = std::getenv("CAIRN_WATCHER_FD");
  if (text == nullptr) std::exit(70);
  const auto wanted = reinterpret_cast<HANDLE>(std::atoll(text));
  if (CloseHandle(wanted) == 0) std::exit(71);
  SECURITY_ATTRIBUTES inherited = {sizeof(inherited), nullptr, TRUE};
  for (int i = 0; i < 10000; ++i) {
    HANDLE reading = nullptr, writing = nullptr;
    if (CreatePipe(&reading, &writing, &inherited, 0) == 0) break;
    if (reading == wanted || writing == wanted) return wanted;
  }
  std::exit(72);
}

}  // namespace

int wmain(int argc, wchar_t** argv) {
  const bool other_pipe = argc > 1 && std::wcscmp(argv[1], L"--other-pipe") == 0;
  std::wstring line;
  for (int i = other_pipe ? 2 : 1; i < argc; ++i) {
    line += (line.empty() ? L"\"" : L" \"") + std::wstring(argv[i]) + L"\"";
  }
  if (line.empty()) return 69;
  if (other_pipe) TakeNumberOfInherited();
  STARTUPINFOW info = {};
  info.cb = sizeof(info);
  PROCESS_INFORMATION started = {};
  if (CreateProcessW(nullptr, line.data(), nullptr, nullptr, other_pipe, 0, nullptr, nullptr, &info,
                     &started) == 0) {
    return 73;
  }
  WaitForSingleObject(started.hProcess, INFINITE);
  DWORD code = 0;
  GetExitCodeProcess(started.hProcess, &code);
  return static_cast<int>(code);
}
