// SPDX-License-Identifier: Apache-2.0
//
// For programs that exist to die: exceptions, each at a place or with a code that tests know.
#ifndef CAIRN_TESTS_WINDOWS_PROGRAMS_EXCEPTIONS_H_
#define CAIRN_TESTS_WINDOWS_PROGRAMS_EXCEPTIONS_H_

#include <windows.h>

#include <cstdlib>
#include <string_view>

inline volatile int* const nowhere = reinterpret_cast<volatile int*>(0x1230);

// The address is in rax, for GoOnBehindIt.
inline void WriteNowhere() {
  asm volatile("movl $1, (%%rax)" : : "a"(nowhere) : "memory");
}

// A vectored handler that repairs WriteNowhere.
inline LONG CALLBACK GoOnBehindIt(EXCEPTION_POINTERS* exception) {
  if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION) {
    return EXCEPTION_CONTINUE_SEARCH;
  }
  static int somewhere;
  exception->ContextRecord->Rax = reinterpret_cast<DWORD64>(&somewhere);
  return EXCEPTION_CONTINUE_EXECUTION;
}

inline int __attribute__((noinline)) Recurse(volatile int* before) {
  volatile int here[1024];
  here[0] = *before;
  return here[0] != 0 ? 0 : Recurse(here) + here[0];
}

// Returns if it is none of these.
inline void DieByException(std::string_view how) {
  static volatile int one = 1, zero = 0;
  if (how == "write") WriteNowhere();
  if (how == "read") std::exit(*nowhere);
  if (how == "execute") reinterpret_cast<void (*)()>(const_cast<int*>(nowhere))();
  if (how == "divide") std::exit(one / zero);
  if (how == "raise") RaiseException(0xe0001234, 0, 0, nullptr);
  if (how == "fastfail") asm volatile("int $0x29" : : "c"(FAST_FAIL_FATAL_APP_EXIT));
  if (how == "overflow") std::exit(Recurse(&zero));
}

#endif  // CAIRN_TESTS_WINDOWS_PROGRAMS_EXCEPTIONS_H_
