// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_BASE_SIGNAL_NAME_H_
#define CAIRN_BASE_SIGNAL_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

// The cause of a process's death, as blocks and files store it: a signal number of Linux on x86-64
// and ARM, or the code of an exception of Windows. Every system can read both.
inline constexpr int64_t kSignalAbort = 6;
inline constexpr int64_t kSignalKill = 9;
inline constexpr int64_t kSignalTerminate = 15;
inline constexpr int64_t kAccessViolation = 0xc0000005;
inline constexpr int64_t kStackOverflow = 0xc00000fd;
inline constexpr int64_t kControlCExit = 0xc000013a;
inline constexpr int64_t kConsoleClosed = 0x40010004;  // or the session has ended
inline constexpr int64_t kKilledByCairn = 0xe043524e;  // os/windows/exit_code.h

// Among the codes that programs of Windows exit with, those that mean an exception; others are small, -1, or an
// HRESULT. Those of the system begin with 0xc, those of languages and programs with 0xe; 0x8000000n are breakpoints and
// the like.
constexpr bool IsExceptionCode(int64_t code) {
  return (code >= 0xc0000000 && code <= 0xcfffffff) || (code >= 0xe0000000 && code <= 0xefffffff) ||
         (code >= 0x80000001 && code <= 0x80000004) || code == kConsoleClosed;
}

// Returns the cause for a process of Windows that TerminateProcess ended with this exit code:
// larger than any other code.
constexpr int64_t TerminatedWith(int32_t exit_code) {
  return int64_t{1} << 32 | static_cast<uint32_t>(exit_code);
}
constexpr bool IsTermination(int64_t number) {
  return number >> 32 == 1;
}

// "SIGSEGV", "EXCEPTION_ACCESS_VIOLATION"; empty if unknown.
constexpr std::string_view SignalName(int64_t number) {
  if (IsTermination(number)) return "TerminateProcess";
  switch (number) {
    case 1: return "SIGHUP";
    case 2: return "SIGINT";
    case 3: return "SIGQUIT";
    case 4: return "SIGILL";
    case 5: return "SIGTRAP";
    case kSignalAbort: return "SIGABRT";
    case 7: return "SIGBUS";
    case 8: return "SIGFPE";
    case kSignalKill: return "SIGKILL";
    case 10: return "SIGUSR1";
    case 11: return "SIGSEGV";
    case 12: return "SIGUSR2";
    case 13: return "SIGPIPE";
    case 14: return "SIGALRM";
    case kSignalTerminate: return "SIGTERM";
    case 16: return "SIGSTKFLT";
    case 24: return "SIGXCPU";
    case 25: return "SIGXFSZ";
    case 26: return "SIGVTALRM";
    case 27: return "SIGPROF";
    case 29: return "SIGIO";
    case 30: return "SIGPWR";
    case 31: return "SIGSYS";
    case kConsoleClosed: return "DBG_TERMINATE_PROCESS";
    case 0x80000003: return "EXCEPTION_BREAKPOINT";
    case kAccessViolation: return "EXCEPTION_ACCESS_VIOLATION";
    case 0xc0000006: return "EXCEPTION_IN_PAGE_ERROR";
    case 0xc000001d: return "EXCEPTION_ILLEGAL_INSTRUCTION";
    case 0xc0000094: return "EXCEPTION_INT_DIVIDE_BY_ZERO";
    case 0xc0000096: return "EXCEPTION_PRIV_INSTRUCTION";
    case kStackOverflow: return "EXCEPTION_STACK_OVERFLOW";
    case kControlCExit: return "STATUS_CONTROL_C_EXIT";
    case 0xc0000374: return "STATUS_HEAP_CORRUPTION";
    case 0xc0000409: return "STATUS_STACK_BUFFER_OVERRUN";
    case kKilledByCairn: return "TerminateProcess by Cairn";
    case 0xe06d7363: return "a C++ exception";
    default: return "";
  }
}

// True for those with which others end a program; what its own code raises is a fault.
constexpr bool IsSentFromOutside(int64_t number) {
  if (IsTermination(number)) return true;
  switch (number) {
    case 1:
    case 2:
    case 3:
    case kSignalKill:
    case 14:
    case kSignalTerminate:
    case 24:
    case kControlCExit:
    case kConsoleClosed:
    case kKilledByCairn: return true;
    default: return false;
  }
}

// True for those that ask a program to end: so terminals, shells and parents end what they are done with.
constexpr bool IsRequestToEnd(int64_t number) {
  return number == 1 || number == 2 || number == kSignalTerminate;
}

// "signal 11 (SIGSEGV)", "exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION)", "TerminateProcess(1)".
std::string SignalInWords(int64_t number);

}  // namespace cairn

#endif  // CAIRN_BASE_SIGNAL_NAME_H_
