// SPDX-License-Identifier: Apache-2.0
//
// Interprets the exit code of a process. Windows reports nothing else about an end: the caller of
// TerminateProcess chooses the code, so that a program can fake any.
#ifndef CAIRN_OS_WINDOWS_EXIT_CODE_H_
#define CAIRN_OS_WINDOWS_EXIT_CODE_H_

#include <cstdint>
#include <string>

namespace cairn {

// The exit code of processes that this program kills: in the range that is left to programs. Others
// that kill use 1 (Task Manager, taskkill) or any code, which looks like an exit.
inline constexpr uint32_t kKilledExitCode = 0xE043'524E;

// Returns "EXCEPTION_ACCESS_VIOLATION"; "exception 0xC0001234" for a code without a name here.
std::string NameOfExitCode(uint32_t code);

}  // namespace cairn

#endif  // CAIRN_OS_WINDOWS_EXIT_CODE_H_
