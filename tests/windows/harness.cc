// SPDX-License-Identifier: Apache-2.0
//
// harness.h without signals and /proc.
#include "harness.h"

#include <windows.h>
// Behind it.
#include <tlhelp32.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

namespace cairn::testing {
namespace {

std::wstring Wide(const std::string& text) {
  return std::filesystem::path(std::u8string(text.begin(), text.end())).wstring();
}

// Quotes a word as programs split their command line:
// https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments
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

// Returns the variables of this process, with the settings; a zero behind each, and one behind all.
std::wstring EnvironmentWith(const std::vector<std::string>& settings) {
  std::map<std::wstring, std::wstring> variables;
  wchar_t* const own = GetEnvironmentStringsW();
  for (const wchar_t* at = own; *at != 0; at += wcslen(at) + 1) {
    const std::wstring line = at;
    const size_t equals = line.find(L'=', 1);
    variables[line.substr(0, equals)] = line.substr(equals + 1);
  }
  FreeEnvironmentStringsW(own);
  variables[L"COLUMNS"] = L"0";  // sentences in one line
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

std::wstring LongPath(const std::filesystem::path& path) {
  return L"\\\\?\\" + std::filesystem::absolute(path).make_preferred().wstring();
}

// Numbers of processes come again soon, and one that was killed has left its folder.
std::filesystem::path MakeFolder(const std::string& beginning) {
  static std::atomic<int> count = 0;
  const std::string stem = beginning + std::to_string(GetCurrentProcessId()) + "-";
  std::filesystem::path path;
  do {
    path = std::filesystem::temp_directory_path() / (stem + std::to_string(++count));
  } while (!std::filesystem::create_directory(path));
  return path;
}

BOOL WINAPI IgnoreRequest(DWORD) {
  return TRUE;
}

HANDLE HandleOf(intptr_t process) {
  return reinterpret_cast<HANDLE>(process);
}

}  // namespace

std::string Program(const std::string& name) {
  // Beside Khronos's loader.
  const bool calls_vulkan = name.starts_with("sample-") && name.find("-vulkan") != name.npos;
  return CAIRN_BINARY_DIR + std::string(calls_vulkan ? "/tests/vulkan/" : "/bin/") + name + ".exe";
}

std::string TestProgram(const std::string& name) {
  return CAIRN_BINARY_DIR "/tests/programs/" + name + ".exe";
}

std::string CommandResult::Summary() const {
  return "exit code " + std::to_string(exit_code) + (timed_out ? " (timed out)" : "") +
         "\nstdout:\n" + output + "\nstderr:\n" + errors;
}

Command::Command(const std::vector<std::string>& arguments, const Options& options)
    : options_(options), files_(MakeFolder("cairn-command-")) {
  std::ofstream(files_ / "input", std::ios::binary) << options.input;
  STARTUPINFOW startup = {};
  startup.cb = sizeof(startup);
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdInput = OpenInherited(files_ / "input", GENERIC_READ, OPEN_EXISTING);
  startup.hStdOutput = OpenInherited(files_ / "output", GENERIC_WRITE, CREATE_ALWAYS);
  startup.hStdError = OpenInherited(files_ / "errors", GENERIC_WRITE, CREATE_ALWAYS);
  std::wstring line;
  for (const std::string& argument : arguments) AppendQuoted(Wide(argument), &line);
  // The tests themselves may run under a watcher. Most of them must not depend on devices.
  std::vector<std::string> settings = {"CAIRN_WATCHER_FD", "CAIRN_WATCHER_ADDRESS",
                                       "CAIRN_WITNESSES=off"};
  // libcairn.dll lies beside cairn.exe.
  const char* const path = std::getenv("PATH");
  settings.push_back(std::string("PATH=") + (path == nullptr ? "" : path) +
                     ";" CAIRN_BINARY_DIR "/bin");
  settings.insert(settings.end(), options.environment.begin(), options.environment.end());
  std::wstring environment = EnvironmentWith(settings);
  PROCESS_INFORMATION process = {};
  if (CreateProcessW(Wide(arguments[0]).c_str(), line.data(), nullptr, nullptr, TRUE,
                     CREATE_UNICODE_ENVIRONMENT | (options.own_console ? CREATE_NO_WINDOW : 0),
                     environment.data(), options.folder.empty() ? nullptr : options.folder.c_str(),
                     &startup, &process) != 0) {
    CloseHandle(process.hThread);
    pid_ = static_cast<pid_t>(process.dwProcessId);
    process_ = reinterpret_cast<intptr_t>(process.hProcess);
  }
  for (const HANDLE file : {startup.hStdInput, startup.hStdOutput, startup.hStdError}) {
    CloseHandle(file);
  }
}

Command::~Command() {
  if (process_ != 0) {
    TerminateProcess(HandleOf(process_), 1);
    WaitForSingleObject(HandleOf(process_), INFINITE);
    CloseHandle(HandleOf(process_));
  }
  RemoveAll(LongPath(files_));
}

pid_t Command::WaitUntilReady() {
  pid_t ready = -1;
  WaitUntil(
      [&] {
        const std::string text = output();
        const size_t start = text.find("ready ");
        if (start != std::string::npos && text.find('\n', start) != std::string::npos) {
          ready = std::stoi(text.substr(start + 6));
        }
        return ready != -1 || process_ == 0 ||
               WaitForSingleObject(HandleOf(process_), 0) == WAIT_OBJECT_0;
      },
      options_.timeout_s);
  return ready;
}

CommandResult Command::Wait() {
  CommandResult result;
  if (process_ == 0) {
    result.errors = "not started";
    return result;
  }
  const auto most_ms = static_cast<DWORD>(options_.timeout_s) * 1000;
  result.timed_out = WaitForSingleObject(HandleOf(process_), most_ms) != WAIT_OBJECT_0;
  if (result.timed_out) {
    TerminateProcess(HandleOf(process_), 1);
    WaitForSingleObject(HandleOf(process_), INFINITE);
  }
  DWORD exit_code = 0;
  GetExitCodeProcess(HandleOf(process_), &exit_code);
  result.exit_code = static_cast<int>(exit_code);
  CloseHandle(HandleOf(std::exchange(process_, 0)));
  result.output = output();
  result.errors = errors();
  return result;
}

std::string Command::output() const {
  return ReadFile(files_ / "output");
}

std::string Command::errors() const {
  return ReadFile(files_ / "errors");
}

CommandResult RunCommand(const std::vector<std::string>& arguments,
                         const Command::Options& options) {
  return Command(arguments, options).Wait();
}

std::string OutputBeside(const std::vector<std::string>& arguments) {
  return RunCommand(arguments, {}).output;
}

TemporaryFolder::TemporaryFolder() : path_(MakeFolder("cairn-test-")) {}

TemporaryFolder::~TemporaryFolder() {
  RemoveAll(LongPath(path_));
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

std::vector<std::string> ChosenDriverEnvironment() {
  return LavapipeEnvironment();
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

const int kExitOfKilled = 1;

void KillProcess(pid_t pid) {
  const HANDLE process = OpenProcess(PROCESS_TERMINATE, FALSE, static_cast<DWORD>(pid));
  TerminateProcess(process, static_cast<UINT>(kExitOfKilled));
  CloseHandle(process);
}

// Returns the child that is not the host of its console, which is a child as well.
pid_t ChildOf(pid_t parent) {
  const HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
  PROCESSENTRY32W process = {};
  process.dwSize = sizeof(process);
  pid_t child = 0;
  for (BOOL more = Process32FirstW(all, &process); more != 0 && child == 0;
       more = Process32NextW(all, &process)) {
    if (process.th32ParentProcessID == static_cast<DWORD>(parent) &&
        _wcsicmp(process.szExeFile, L"conhost.exe") != 0) {
      child = static_cast<pid_t>(process.th32ProcessID);
    }
  }
  CloseHandle(all);
  return child;
}

// To all that are at its console, this process among them.
void PressInterrupt(pid_t pid) {
  FreeConsole();
  AttachConsole(static_cast<DWORD>(pid));
  SetConsoleCtrlHandler(IgnoreRequest, TRUE);
  GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
  FreeConsole();
}

void PullTrigger(pid_t pid) {
  const std::wstring name = L"Local\\cairn-trigger-" + std::to_wstring(pid);
  const HANDLE trigger = OpenEventW(EVENT_MODIFY_STATE, FALSE, name.c_str());
  SetEvent(trigger);
  CloseHandle(trigger);
}

bool IsRunning(pid_t pid) {
  return !WaitForEnd(pid, 0);
}

bool WaitForEnd(pid_t pid, int timeout_s) {
  const HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(pid));
  if (process == nullptr) return true;
  const DWORD ended = WaitForSingleObject(process, static_cast<DWORD>(timeout_s) * 1000);
  CloseHandle(process);
  return ended == WAIT_OBJECT_0;
}

bool WaitForFile(const std::filesystem::path& path, int timeout_s) {
  return WaitUntil([&path] { return std::filesystem::exists(path); }, timeout_s);
}

}  // namespace cairn::testing
