// SPDX-License-Identifier: Apache-2.0
//
// The causes of death of processes in tests, as ProcessEnd gives them on this system.
#ifndef CAIRN_READER_BISECT_TESTING_DEATHS_H_
#define CAIRN_READER_BISECT_TESTING_DEATHS_H_

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace cairn {

#if defined(_WIN32)
inline constexpr int kFault = static_cast<int>(0xC000'0005);
inline constexpr char kFaultName[] = "exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION)";
inline constexpr int kKilled = static_cast<int>(0xE043'524E);  // what Child::Kill leaves
#else
inline constexpr int kFault = SIGSEGV;
inline constexpr char kFaultName[] = "SIGSEGV";
inline constexpr int kKilled = SIGKILL;
#endif

// The values of which a process can be told to die. abort() is among them unless it is an exit with
// 3.
inline std::vector<int> Deaths() {
#if defined(_WIN32)
  return {kFault, kKilled};
#else
  return {kFault, SIGABRT, kKilled};
#endif
}

inline void DieOf(int cause) {
#if defined(_WIN32)
  if (cause != kFault) std::_Exit(cause);
  *reinterpret_cast<volatile int*>(uintptr_t{4096}) = 1;
#else
  signal(cause, SIG_DFL);
  raise(cause);
#endif
}

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_TESTING_DEATHS_H_
