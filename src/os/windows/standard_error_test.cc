// SPDX-License-Identifier: Apache-2.0
//
// This program debugs itself.
#include "os/standard_error.h"

#include <gtest/gtest.h>

#include <string>

#include "os/testing/test_role.h"
#include "os/windows/launch.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

const std::string kLong = std::string(1'500, 'x') + "end\n";

const TestRole says("says", [](const TestWords&) {
  SetLastError(77);
  WriteStandardError("cairn: one line\n");
  WriteStandardError(kLong);
  return GetLastError() == 77 ? 5 : 1;
});

std::string ReadText(HANDLE process, const OUTPUT_DEBUG_STRING_INFO& info) {
  std::string text(info.nDebugStringLength, '\0');
  SIZE_T read = 0;
  EXPECT_NE(0, ReadProcessMemory(process, info.lpDebugStringData, text.data(), text.size(), &read));
  EXPECT_EQ('\0', text.back());
  text.pop_back();
  return text;
}

TEST(StandardError, ADebuggerIsToldTheSame) {
  std::wstring line = JoinedCommandLine(ArgumentsOfRole("says"));
  STARTUPINFOW startup = {};
  startup.cb = sizeof(startup);
  PROCESS_INFORMATION started = {};
  ASSERT_NE(0, CreateProcessW(nullptr, line.data(), nullptr, nullptr, FALSE,
                              DEBUG_ONLY_THIS_PROCESS, nullptr, nullptr, &startup, &started))
      << GetLastError();
  std::string told;
  DWORD exit_code = STILL_ACTIVE;
  while (exit_code == STILL_ACTIVE) {
    DEBUG_EVENT event = {};
    ASSERT_NE(0, WaitForDebugEvent(&event, 60'000)) << GetLastError();
    DWORD answer = DBG_CONTINUE;
    switch (event.dwDebugEventCode) {
      case OUTPUT_DEBUG_STRING_EVENT:
        told += ReadText(started.hProcess, event.u.DebugString);
        break;
      case EXCEPTION_DEBUG_EVENT:
        if (event.u.Exception.ExceptionRecord.ExceptionCode != EXCEPTION_BREAKPOINT) {
          answer = DBG_EXCEPTION_NOT_HANDLED;
        }
        break;
      case EXIT_PROCESS_DEBUG_EVENT: exit_code = event.u.ExitProcess.dwExitCode; break;
      default: break;
    }
    ContinueDebugEvent(event.dwProcessId, event.dwThreadId, answer);
  }
  CloseHandle(started.hThread);
  CloseHandle(started.hProcess);
  EXPECT_EQ(5u, exit_code);
  EXPECT_NE(std::string::npos, told.find("cairn: one line\n" + kLong)) << told;
}

}  // namespace
}  // namespace cairn
