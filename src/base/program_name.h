// SPDX-License-Identifier: Apache-2.0
//
// Finds the program that a command line runs, in people's words. Under Wine the executable is
// Wine's own: the program is the .exe that it was given.
#ifndef CAIRN_BASE_PROGRAM_NAME_H_
#define CAIRN_BASE_PROGRAM_NAME_H_

#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// Returns the program in arguments with a zero behind each, as in /proc/PID/cmdline: the first one,
// but in a command line of Wine the first that is an .exe. A view into `command_line`; "" if that
// is empty. Allocates nothing.
std::string_view ProgramOfCommandLine(std::string_view command_line);

// The same of arguments that are not joined; there is at least one.
std::string ProgramOfArguments(const std::vector<std::string>& arguments);

// Returns true if the path ends with ".exe", in capitals or not.
bool IsWindowsProgram(std::string_view path);

// The last part of a path; of an .exe also behind backslashes.
std::string_view NameOfProgram(std::string_view path);

}  // namespace cairn

#endif  // CAIRN_BASE_PROGRAM_NAME_H_
