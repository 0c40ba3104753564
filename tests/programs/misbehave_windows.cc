// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "programs/misbehave.h"

namespace {

// Before main: no box with a button.
[[maybe_unused]] const UINT kErrorMode =
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);

constexpr DWORD kKilled = 77;

volatile int* const nowhere = reinterpret_cast<volatile int*>(0x1230);
volatile int one = 1, zero = 0;

int __attribute__((noinline)) Recurse(volatile int* before) {
  volatile int here[1024];
  here[0] = *before;
  return here[0] != 0 ? 0 : Recurse(here) + here[0];
}

LONG CALLBACK LeaveThread(EXCEPTION_POINTERS* exception) {
  if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION) {
    return EXCEPTION_CONTINUE_SEARCH;
  }
  // Behind the store: rax holds where it went.
  static int somewhere;
  exception->ContextRecord->Rax = reinterpret_cast<DWORD64>(&somewhere);
  return EXCEPTION_CONTINUE_EXECUTION;
}

void Write() {
  asm volatile("movl $1, (%%rax)" : : "a"(nowhere) : "memory");
}

// Ends, or returns if it is not the mode.
void Die(const std::string& mode) {
  if (mode == "terminate-0") TerminateProcess(GetCurrentProcess(), 0);
  if (mode == "throw") throw std::runtime_error("nobody catches this");
  if (mode == "write") Write();
  if (mode == "write-in-thread") std::thread(Write).join();
  if (mode == "execute") reinterpret_cast<void (*)()>(const_cast<int*>(nowhere))();
  if (mode == "divide") std::exit(one / zero);
  if (mode == "raise") RaiseException(0xe0001234, 0, 0, nullptr);
  if (mode == "fastfail") asm volatile("int $0x29" : : "c"(FAST_FAIL_FATAL_APP_EXIT));
  if (mode == "overflow") std::exit(Recurse(&zero));
  if (mode == "exit-process") ExitProcess(5);
  if (mode == "quick-exit") std::_Exit(6);
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
    AddVectoredExceptionHandler(1, LeaveThread);
    Write();
    return 5;  // what Linux keeps of an access violation's code
  }
  if (mode == "handled-then-hang") {
    AddVectoredExceptionHandler(0, LeaveThread);
    Write();
    WaitForEver();
  }
  if (mode == "idle-then-terminate-0") {
    device.Finish(native);
    cairnRefresh(device.context());
    Die("terminate-0");
  }
  return std::nullopt;
}
