// SPDX-License-Identifier: Apache-2.0
//
// Two places see exceptions: a vectored handler, first of all, before anybody has had a chance to handle one; and the
// filter of unhandled exceptions, which the program may replace, and which is never asked after a stack overflow.
// So faults are told by the first, and what the program raises itself by the second.
#include "os/crash.h"

#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/signal_name.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

void (*crash_handler)(Crash& crash) = nullptr;
LPTOP_LEVEL_EXCEPTION_FILTER filter_before = nullptr;
void (*abort_handler_before)(int) = SIG_DFL;

// The rest of an overflowing stack that stays available to handlers.
constexpr ULONG kGuaranteedBytes = 32u << 10;

bool IsFault(DWORD code) {
  switch (code) {
    case EXCEPTION_ACCESS_VIOLATION:
    case EXCEPTION_IN_PAGE_ERROR:
    case EXCEPTION_DATATYPE_MISALIGNMENT:
    case EXCEPTION_ARRAY_BOUNDS_EXCEEDED:
    case EXCEPTION_ILLEGAL_INSTRUCTION:
    case EXCEPTION_PRIV_INSTRUCTION:
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
    case EXCEPTION_INT_OVERFLOW:
    case EXCEPTION_STACK_OVERFLOW: return true;
    default: return false;
  }
}

// Returns the address that could not be read, written or executed; for other exceptions the address
// where they happened.
uint64_t AddressOf(const EXCEPTION_RECORD& record) {
  const bool has_address = record.ExceptionCode == EXCEPTION_ACCESS_VIOLATION ||
                           record.ExceptionCode == EXCEPTION_IN_PAGE_ERROR;
  return has_address && record.NumberParameters >= 2
             ? record.ExceptionInformation[1]
             : reinterpret_cast<uint64_t>(record.ExceptionAddress);
}

// The system asks the other handlers when this one has returned, and does not report their result.
class FirstChance final : public Crash {
 public:
  explicit FirstChance(const EXCEPTION_RECORD& record)
      : Crash(record.ExceptionCode, AddressOf(record)) {}
  bool PassOn() override { return false; }
};

class Unhandled final : public Crash {
 public:
  explicit Unhandled(EXCEPTION_POINTERS* what)
      : Crash(what->ExceptionRecord->ExceptionCode, 0), what_(what) {}
  bool PassOn() override {
    if (filter_before != nullptr) answer_ = filter_before(what_);
    return answer_ == EXCEPTION_CONTINUE_EXECUTION;
  }
  LONG answer() const { return answer_; }

 private:
  EXCEPTION_POINTERS* what_;
  LONG answer_ = EXCEPTION_CONTINUE_SEARCH;
};

// abort(), of programs that have the same C library.
class Abort final : public Crash {
 public:
  Abort() : Crash(static_cast<uint32_t>(kSignalAbort), 0) {}
  bool PassOn() override {
    if (abort_handler_before != SIG_DFL && abort_handler_before != SIG_IGN) {
      abort_handler_before(SIGABRT);
    }
    return false;  // or it has jumped away
  }
};

LONG WINAPI OnException(EXCEPTION_POINTERS* what) {
  if (!IsFault(what->ExceptionRecord->ExceptionCode)) return EXCEPTION_CONTINUE_SEARCH;
  const DWORD error = GetLastError();
  FirstChance crash(*what->ExceptionRecord);
  crash_handler(crash);
  SetLastError(error);
  return EXCEPTION_CONTINUE_SEARCH;
}

LONG WINAPI OnUnhandled(EXCEPTION_POINTERS* what) {
  if (IsFault(what->ExceptionRecord->ExceptionCode)) {  // is told already
    return filter_before != nullptr ? filter_before(what) : EXCEPTION_CONTINUE_SEARCH;
  }
  Unhandled crash(what);
  crash_handler(crash);
  return crash.answer();
}

void OnAbort(int) {
  Abort crash;
  crash_handler(crash);
}

void (*exit_handler)() = nullptr;

void OnExit() {
  if (exit_handler != nullptr) std::exchange(exit_handler, nullptr)();
}

// Returns true if this code is part of the program itself, not of a library.
bool IsInProgram() {
  HMODULE own = nullptr;
  GetModuleHandleExW(
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
      reinterpret_cast<LPCWSTR>(&OnExit), &own);
  return own == GetModuleHandleW(nullptr);
}

// Returns true if the process ends; exit functions also run when only this library is unloaded.
bool ProcessEnds() {
  using Ask = BOOLEAN(NTAPI*)();
  const auto ask = reinterpret_cast<Ask>(reinterpret_cast<void*>(
      GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlDllShutdownInProgress")));
  return ask != nullptr && ask() != 0;
}

// The system calls this in ExitProcess, when the other threads have ended; TerminateProcess calls
// no library.
void NTAPI OnLibraryEvent(void*, DWORD reason, void*) {
  if (reason == DLL_PROCESS_DETACH && exit_handler != nullptr && ProcessEnds()) OnExit();
}

// The linker puts what stands in these sections into the list of functions that the system calls then; so it works in
// programs as well, which have no DllMain.
[[gnu::section(".CRT$XLC"), gnu::used]] const PIMAGE_TLS_CALLBACK in_list = &OnLibraryEvent;

}  // namespace

void InstallCrashHandler(void (*handler)(Crash& crash)) {
  crash_handler = handler;
  ULONG bytes = kGuaranteedBytes;
  SetThreadStackGuarantee(&bytes);
  // Last in the list: exceptions that the program's handlers handle are no crashes.
  AddVectoredExceptionHandler(/*First=*/0, OnException);
  filter_before = SetUnhandledExceptionFilter(OnUnhandled);
  abort_handler_before = std::signal(SIGABRT, OnAbort);
}

void TellExit(void (*function)()) {
  exit_handler = function;
  // Wine calls functions of libraries only.
  if (IsInProgram()) std::atexit(OnExit);
}

}  // namespace cairn
