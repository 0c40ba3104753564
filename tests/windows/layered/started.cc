// SPDX-License-Identifier: Apache-2.0
#include "tests/windows/layered/started.h"

#include "harness.h"
#include "os/windows/launch.h"
#include "tests/windows/layered/inject.h"

namespace cairn::testing {

StartedResult RunWithLibrary(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment,
                             const std::string& library) {
  constexpr DWORD kMinuteMs = 60'000;
  const TemporaryFolder folder;
  SECURITY_ATTRIBUTES inheritable = {sizeof(inheritable), nullptr, TRUE};
  STARTUPINFOW startup = {};
  startup.cb = sizeof(startup);
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdOutput = CreateFileW(Wide(folder / "output").c_str(), GENERIC_WRITE, FILE_SHARE_READ,
                                   &inheritable, CREATE_ALWAYS, 0, nullptr);
  startup.hStdError = startup.hStdOutput;
  std::wstring line = JoinedCommandLine(words);
  std::wstring variables = EnvironmentBlock(environment);
  PROCESS_INFORMATION program = {};
  StartedResult result;
  const BOOL started = CreateProcessW(Wide(words[0]).c_str(), line.data(), nullptr, nullptr, TRUE,
                                      CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT,
                                      variables.data(), nullptr, &startup, &program);
  CloseHandle(startup.hStdOutput);
  if (started == 0) return result;
  if (!Inject(program.hProcess, Wide(library))) TerminateProcess(program.hProcess, 1);
  ResumeThread(program.hThread);
  if (WaitForSingleObject(program.hProcess, kMinuteMs) != WAIT_OBJECT_0) {
    TerminateProcess(program.hProcess, 1);
    WaitForSingleObject(program.hProcess, INFINITE);
  }
  DWORD code = 0;
  GetExitCodeProcess(program.hProcess, &code);
  result.exit_code = code;
  CloseHandle(program.hThread);
  CloseHandle(program.hProcess);
  result.output = ReadFile(folder / "output");
  return result;
}

void PreferNeighbours(const std::string& program, const std::vector<std::string>& libraries) {
  const std::wstring key = L"Software\\Wine\\AppDefaults\\" + Wide(program) + L"\\DllOverrides";
  constexpr wchar_t kOrder[] = L"native,builtin";
  for (const std::string& library : libraries) {
    RegSetKeyValueW(HKEY_CURRENT_USER, key.c_str(), Wide(library).c_str(), REG_SZ, kOrder,
                    sizeof(kOrder));
  }
}

}  // namespace cairn::testing
