// SPDX-License-Identifier: Apache-2.0
//
// What of harness.h needs neither signals nor /proc: running a command to its end.
#include "harness.h"

#include <windows.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <map>

namespace cairn::testing {
namespace {

std::wstring Wide(const std::string& text) {
  return std::filesystem::path(std::u8string(text.begin(), text.end())).wstring();
}

// As programs take their command line apart: https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments
void AppendQuoted(const std::wstring& word, std::wstring* line) {
  if (!line->empty()) *line += L' ';
  *line += L'"';
  size_t backslashes = 0;
  for (const wchar_t c : word) {
    // Only in front of a quote are they anything but themselves.
    if (c == L'"') line->append(backslashes + 1, L'\\');
    backslashes = c == L'\\' ? backslashes + 1 : 0;
    *line += c;
  }
  line->append(backslashes, L'\\');
  *line += L'"';
}

// Those of this process, with the settings; a zero behind each, and one behind all.
std::wstring EnvironmentWith(const std::vector<std::string>& settings) {
  std::map<std::wstring, std::wstring> variables;
  wchar_t* const own = GetEnvironmentStringsW();
  for (const wchar_t* at = own; *at != 0; at += wcslen(at) + 1) {
    const std::wstring line = at;
    const size_t equals = line.find(L'=', 1);
    variables[line.substr(0, equals)] = line.substr(equals + 1);
  }
  FreeEnvironmentStringsW(own);
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      variables.erase(Wide(setting));
    } else {
      variables[Wide(setting.substr(0, equals))] = Wide(setting.substr(equals + 1));
    }
  }
  std::wstring block;
  for (const auto& [name, value] : variables) block += name + L"=" + value + L'\0';
  return block + L'\0';
}

HANDLE OpenInherited(const std::filesystem::path& path, DWORD access, DWORD creation) {
  SECURITY_ATTRIBUTES inherited = {sizeof(inherited), nullptr, TRUE};
  return CreateFileW(path.c_str(), access, FILE_SHARE_READ, &inherited, creation,
                     FILE_ATTRIBUTE_NORMAL, nullptr);
}

// With the prefix that lets names have any length, which the standard library does not take.
void RemoveAll(const std::wstring& folder) {
  WIN32_FIND_DATAW found = {};
  const HANDLE search = FindFirstFileW((folder + L"\\*").c_str(), &found);
  for (BOOL more = search != INVALID_HANDLE_VALUE; more != 0;
       more = FindNextFileW(search, &found)) {
    const std::wstring name = found.cFileName;
    const std::wstring path = folder + L"\\" + name;
    if (name == L"." || name == L"..") continue;
    if ((found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
      RemoveAll(path);
    } else {
      DeleteFileW(path.c_str());
    }
  }
  if (search != INVALID_HANDLE_VALUE) FindClose(search);
  RemoveDirectoryW(folder.c_str());
}

}  // namespace

std::string Program(const std::string& name) {
  return CAIRN_BINARY_DIR "/bin/" + name + ".exe";
}

std::string CommandResult::Summary() const {
  return "exit code " + std::to_string(exit_code) + (timed_out ? " (timed out)" : "") +
         "\nstdout:\n" + output + "\nstderr:\n" + errors;
}

CommandResult RunCommand(const std::vector<std::string>& arguments,
                         const Command::Options& options) {
  const TemporaryFolder files;
  std::ofstream(files / "input", std::ios::binary) << options.input;
  STARTUPINFOW startup = {};
  startup.cb = sizeof(startup);
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdInput = OpenInherited(files / "input", GENERIC_READ, OPEN_EXISTING);
  startup.hStdOutput = OpenInherited(files / "output", GENERIC_WRITE, CREATE_ALWAYS);
  startup.hStdError = OpenInherited(files / "errors", GENERIC_WRITE, CREATE_ALWAYS);
  std::wstring line;
  for (const std::string& argument : arguments) AppendQuoted(Wide(argument), &line);
  std::wstring environment = EnvironmentWith(options.environment);
  PROCESS_INFORMATION process = {};
  CommandResult result;
  const BOOL started =
      CreateProcessW(Wide(arguments[0]).c_str(), line.data(), nullptr, nullptr, TRUE,
                     CREATE_UNICODE_ENVIRONMENT, environment.data(),
                     options.folder.empty() ? nullptr : options.folder.c_str(), &startup, &process);
  for (const HANDLE file : {startup.hStdInput, startup.hStdOutput, startup.hStdError}) {
    CloseHandle(file);
  }
  if (started == 0) {
    result.errors = "not started: error " + std::to_string(GetLastError());
    return result;
  }
  result.timed_out = WaitForSingleObject(process.hProcess, static_cast<DWORD>(options.timeout_s) *
                                                               1000) != WAIT_OBJECT_0;
  if (result.timed_out) {
    TerminateProcess(process.hProcess, 1);
    WaitForSingleObject(process.hProcess, INFINITE);
  }
  DWORD exit_code = 0;
  GetExitCodeProcess(process.hProcess, &exit_code);
  result.exit_code = static_cast<int>(exit_code);
  CloseHandle(process.hThread);
  CloseHandle(process.hProcess);
  result.output = ReadFile(files / "output");
  result.errors = ReadFile(files / "errors");
  return result;
}

// Numbers of processes come again soon, and one that was killed has left its folder.
TemporaryFolder::TemporaryFolder() {
  static std::atomic<int> count = 0;
  const std::string stem = "cairn-test-" + std::to_string(GetCurrentProcessId()) + "-";
  do {
    path_ = std::filesystem::temp_directory_path() / (stem + std::to_string(++count));
  } while (!std::filesystem::create_directory(path_));
}

TemporaryFolder::~TemporaryFolder() {
  RemoveAll(L"\\\\?\\" + std::filesystem::absolute(path_).make_preferred().wstring());
}

std::vector<std::string> TemporaryFolder::Contents() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> LavapipeEnvironment() {
  return {};  // Whoever starts the tests has seen to it: tools/wine-env.
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace cairn::testing
