// SPDX-License-Identifier: Apache-2.0
#include "os/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "base/program_name.h"
#include "base/shell_words.h"
#include "os/windows/exit_code.h"
#include "os/windows/launch.h"
#include "os/windows/library_injection.h"
#include "os/windows/process_memory.h"
#include "os/windows/system.h"
// Included after windows.h.
#include <shellapi.h>
#include <tlhelp32.h>

namespace cairn {
namespace {

std::string InWords(const std::error_code& error) {
  return error.default_error_condition().message();
}

bool Exists(const std::wstring& path) {
  return GetFileAttributesW(path.c_str()) != INVALID_FILE_ATTRIBUTES;
}

// The file of this name in this folder, or of this name with ".exe"; "" if there is none.
std::wstring FindIn(const std::filesystem::path& folder, const std::filesystem::path& name) {
  const std::filesystem::path place = folder.empty() ? name : folder / name;
  std::filesystem::path with_extension = place;
  with_extension += ".exe";
  for (const std::filesystem::path& path : {place, with_extension}) {
    std::wstring file = SystemPath(path);
    if (Exists(file)) return file;
  }
  return {};
}

// Finds a program. CreateProcessW would search the current folder as well, and take "C:\Program"
// for "C:\Program Files".
std::wstring FindProgram(const std::string& name) {
  if (name.find_first_of("/\\:") != name.npos) return FindIn({}, Wide(name));
  const wchar_t* const variable = _wgetenv(L"PATH");
  std::wstring_view folders = variable == nullptr ? L"" : variable;
  while (!folders.empty()) {
    const std::wstring_view folder = folders.substr(0, folders.find(L';'));
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
    const std::wstring file = folder.empty() ? L"" : FindIn(folder, Wide(name));
    if (!file.empty()) return file;
  }
  return {};
}

// Processes in it die with this one; those that they start are not in it. Never closed but by the system.
HANDLE JobOfThisProcess() {
  static const HANDLE job = [] {
    const HANDLE made = CreateJobObjectW(nullptr, nullptr);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {};
    limits.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK;
    SetInformationJobObject(made, JobObjectExtendedLimitInformation, &limits, sizeof(limits));
    return made;
  }();
  return job;
}

bool IsBatchFile(std::wstring_view file) {
  return file.size() > 4 &&
         (CompareStringOrdinal(&file[file.size() - 4], 4, L".bat", 4, TRUE) == CSTR_EQUAL ||
          CompareStringOrdinal(&file[file.size() - 4], 4, L".cmd", 4, TRUE) == CSTR_EQUAL);
}

Status Preload(HANDLE process, const std::string& library) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(Wide(library), error);
  return LoadIntoProcess(process, SystemPath(path.make_preferred()));
}

bool HasEnded(HANDLE process) {
  return WaitForSingleObject(process, 0) == WAIT_OBJECT_0;
}

// Returns the smallest suspend count of its threads. 0 for a process without threads.
uint32_t TimesSuspended(ProcessId id) {
  using Query = LONG(NTAPI*)(HANDLE, int, void*, ULONG, ULONG*);
  constexpr int kSuspendCount = 35;  // ThreadSuspendCount, Windows 8.1; not in all headers
  static const auto query = reinterpret_cast<Query>(reinterpret_cast<void*>(
      GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtQueryInformationThread")));
  const SystemHandle all = Owned(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  THREADENTRY32 entry = {};
  entry.dwSize = sizeof(entry);
  uint32_t least = std::numeric_limits<uint32_t>::max();
  for (BOOL more = Thread32First(HandleOf(all), &entry); more != 0;
       more = Thread32Next(HandleOf(all), &entry)) {
    if (entry.th32OwnerProcessID != id) continue;
    const SystemHandle thread =
        Owned(OpenThread(THREAD_QUERY_INFORMATION, FALSE, entry.th32ThreadID));
    ULONG count = 0;
    if (thread.valid() && query != nullptr) {
      query(HandleOf(thread), kSuspendCount, &count, sizeof(count), nullptr);
    }
    least = std::min<uint32_t>(least, count);
  }
  return least == std::numeric_limits<uint32_t>::max() ? 0 : least;
}

}  // namespace

std::string FileOfProgram(const std::string& program) {
  return Utf8(FindProgram(program));
}

std::string ProgramFile(std::string_view name) {
  return std::string(name) + ".exe";
}

Result<ProcessHandle> SpawnProgram(const SpawnRequest& request) {
  const std::string& name = request.arguments[0];
  Launch launch;
  launch.file = FindProgram(name);
  if (launch.file.empty()) {
    return Status(
        StatusCode::kNotFound,
        fmt::format("program '{}' was not found; give its path, or a name in PATH", name));
  }
  if (IsBatchFile(launch.file)) {
    // cmd.exe takes its words apart by rules of its own.
    return Status(
        StatusCode::kUnsupported,
        fmt::format("'{}' cannot be executed: it is a batch file; start cmd.exe /c", name));
  }
  launch.words = request.arguments;
  launch.environment = request.environment;
  if (request.inherited != nullptr) launch.inherited.push_back(HandleOf(*request.inherited));
  launch.job = JobOfThisProcess();
  if (!request.preloaded.empty() && IsProgramOf32Bits(launch.file)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("'{}' cannot be watched: it is a program of 32 bits, and what is "
                              "loaded into it has 64; start its version of 64 bits",
                              name));
  }
  if (!request.preloaded.empty()) launch.flags |= CREATE_SUSPENDED;
  ProcessHandle process;
  SystemHandle main_thread;
  if (const std::error_code error = LaunchProgram(launch, &process, &main_thread)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("'{}' cannot be executed: {}", name, InWords(error)));
  }
  if (!request.preloaded.empty()) {
    const Status loaded = Preload(HandleOf(process.handle), request.preloaded);
    if (!loaded.ok() && request.not_preloaded) request.not_preloaded(loaded);
    ResumeThread(HandleOf(main_thread));
  }
  return process;
}

Status CheckPreloaded(const std::string&) {
  return Status();
}

Result<ProcessHandle> OpenProcess(ProcessId pid) {
  constexpr DWORD kLook = SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION;
  const auto number = static_cast<DWORD>(pid);
  ProcessHandle process{pid, Owned(::OpenProcess(kLook | PROCESS_TERMINATE, FALSE, number))};
  // A process that may not be killed may still be watched.
  if (!process.handle.valid()) process.handle = Owned(::OpenProcess(kLook, FALSE, number));
  const std::error_code error = LastError();
  // The system takes 9 for 8 as well.
  if (process.handle.valid() && GetProcessId(HandleOf(process.handle)) == pid) return process;
  if (process.handle.valid() || error.value() == ERROR_INVALID_PARAMETER) {
    return Status(StatusCode::kNotFound, fmt::format("process {} is gone", pid));
  }
  return Status(StatusCode::kIo,
                fmt::format("process {} cannot be watched: {}", pid, InWords(error)));
}

ProcessEnd CollectEnd(const ProcessHandle& process) {
  DWORD code = 0;
  if (!process.handle.valid() || !HasEnded(HandleOf(process.handle)) ||
      GetExitCodeProcess(HandleOf(process.handle), &code) == 0) {
    return {EndKind::kUnknown, 0};
  }
  return EndOfExitCode(code);
}

// A debugger that has stopped it, or its being about to end, is not seen from here.
ProcessCondition ConditionOf(ProcessId pid) {
  return TimesSuspended(pid) > 0 ? ProcessCondition::kStopped : ProcessCondition::kRunning;
}

Status KillProcess(const ProcessHandle& process) {
  const HANDLE handle = HandleOf(process.handle);
  if (TerminateProcess(handle, kKilledExitCode) != 0 || HasEnded(handle)) return Status();
  return StatusFromLastError(fmt::format("process {} cannot be killed", process.pid));
}

Status SendSignal(const ProcessHandle&, int signal_number) {
  return Status(StatusCode::kUnsupported,
                fmt::format("signal {} cannot be sent: Windows has none", signal_number));
}

// The limit of Windows is 16 million, and cannot be changed.
uint64_t RaiseHandleLimit(uint64_t) {
  return uint64_t{1} << 24;
}

void RestoreHandleLimit() {}

SystemHandle TakeInherited(uint64_t number) {
  return SystemHandle(static_cast<RawHandle>(number));
}

// Processes inherit only named handles on Windows.
void CloseAllBut(const SystemHandle&) {}

std::string ArgumentsOf(ProcessId pid) {
  const std::wstring line = CommandLineIn(pid);
  if (line.empty()) return {};
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(line.c_str(), &count);
  std::string arguments;
  for (int i = 0; words != nullptr && i < count; ++i) arguments += Utf8(words[i]) + '\0';
  LocalFree(words);
  return arguments;
}

std::string CommandLineOf(ProcessId pid) {
  return ShellQuotedLine(WordsOfArguments(ArgumentsOf(pid)));
}

// Arguments are never overwritten with titles here. If they cannot be read, the file's name can.
std::string ProgramOf(ProcessId pid) {
  std::string program(ProgramOfCommandLine(ArgumentsOf(pid)));
  if (!program.empty()) return program;
  const SystemHandle process =
      Owned(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(pid)));
  std::wstring path(32768, L'\0');
  auto length = static_cast<DWORD>(path.size());
  if (!process.valid() ||
      QueryFullProcessImageNameW(HandleOf(process), 0, path.data(), &length) == 0) {
    return {};
  }
  return Utf8({path.data(), length});
}

}  // namespace cairn
