// SPDX-License-Identifier: Apache-2.0
//
// Starting a program with exactly what it is given: words, variables, handles.
#ifndef CAIRN_OS_WINDOWS_LAUNCH_H_
#define CAIRN_OS_WINDOWS_LAUNCH_H_

#include <string>
#include <system_error>
#include <vector>

#include "os/process.h"
#include "os/windows/system.h"

namespace cairn {

// Returns one line that CommandLineToArgvW and the C runtime split into these words again. The
// first word, which has other rules, loses quotation marks: no path has one.
std::wstring JoinedCommandLine(const std::vector<std::string>& words);

// This process's variables with these ("NAME=value") in their places; names are the same in capitals or not.
std::wstring EnvironmentBlock(const std::vector<std::string>& settings);

struct Launch {
  std::wstring file;  // as SystemPath
  std::vector<std::string> words;
  std::vector<std::string> environment;
  std::vector<HANDLE> inherited;  // with the same numbers there; beside input and output
  bool silent = false;            // input and output are nowhere; else this process's
  HANDLE output = nullptr;        // not null: what it prints goes there, and it reads nothing
  HANDLE errors = nullptr;        // the same, with `output` alone
  HANDLE job = nullptr;           // from its first moment on
  DWORD flags = 0;                // as of CreateProcessW
};

// Returns the flags for programs without a user: no console is opened for them if this process has
// none.
DWORD WithoutNewConsole();

// The error of CreateProcessW; nothing runs then. `main_thread`: of a program that is started suspended.
std::error_code LaunchProgram(const Launch& launch, ProcessHandle* process,
                              SystemHandle* main_thread = nullptr);

}  // namespace cairn

#endif  // CAIRN_OS_WINDOWS_LAUNCH_H_
