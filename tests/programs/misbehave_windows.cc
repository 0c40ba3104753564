// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "programs/misbehave.h"
#include "windows/programs/exceptions.h"

namespace {

// Before main: no box with a button.
[[maybe_unused]] const UINT kErrorMode =
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);

constexpr DWORD kKilled = 77;

// Ends, or returns if it is not the mode.
void Die(const std::string& mode) {
  if (mode == "terminate-0") TerminateProcess(GetCurrentProcess(), 0);
  if (mode == "throw") throw std::runtime_error("nobody catches this");
  if (mode == "write-in-thread") std::thread(WriteNowhere).join();
  if (mode == "exit-process") ExitProcess(5);
  if (mode == "quick-exit") std::_Exit(6);
  DieByException(mode);
}

}  // namespace

void EndSuddenly() {
  TerminateProcess(GetCurrentProcess(), kKilled);
  __builtin_unreachable();
}

bool AnotherIsKilled(const char*) {
  wchar_t path[1024];
  GetModuleFileNameW(nullptr, path, 1024);
  wchar_t line[] = L"misbehave kill";
  STARTUPINFOW info = {};
  info.cb = sizeof(info);
  PROCESS_INFORMATION started = {};
  if (CreateProcessW(path, line, nullptr, nullptr, FALSE, 0, nullptr, nullptr, &info, &started) ==
      0) {
    std::exit(71);
  }
  WaitForSingleObject(started.hProcess, INFINITE);
  DWORD code = 0;
  GetExitCodeProcess(started.hProcess, &code);
  return code == kKilled;
}

void WaitForEver() {
  for (;;) Sleep(INFINITE);
}

std::optional<int> MisbehaveAsHere(const std::string& mode, const char*, SimulatedDevice& device,
                                   SimulatedCommandList& native) {
  Die(mode);
  if (mode == "handled") {
    AddVectoredExceptionHandler(1, GoOnBehindIt);
    WriteNowhere();
    return 5;  // what Linux keeps of an access violation's code
  }
  if (mode == "handled-then-hang") {
    AddVectoredExceptionHandler(0, GoOnBehindIt);
    WriteNowhere();
    WaitForEver();
  }
  if (mode == "idle-then-terminate-0") {
    device.Finish(native);
    cairnRefresh(device.context());
    Die("terminate-0");
  }
  return std::nullopt;
}
