// SPDX-License-Identifier: Apache-2.0
#include "os/windows/launch.h"

#include <algorithm>
#include <array>
#include <cwchar>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace cairn {
namespace {

// Backslashes mean themselves, but for those before a quotation mark.
std::wstring Quoted(std::wstring_view word) {
  if (!word.empty() && word.find_first_of(L" \t\n\v\"") == word.npos) return std::wstring(word);
  std::wstring quoted = L"\"";
  size_t backslashes = 0;
  for (const wchar_t unit : word) {
    if (unit == L'"') quoted.append(backslashes + 1, L'\\');
    backslashes = unit == L'\\' ? backslashes + 1 : 0;
    quoted += unit;
  }
  return quoted.append(backslashes, L'\\') + L'"';
}

std::wstring_view NameOf(std::wstring_view entry) {
  // The system's own ("=C:=C:\games") begin with the sign.
  return entry.substr(0, entry.find(L'=', 1));
}

bool IsBefore(std::wstring_view a, std::wstring_view b) {
  return CompareStringOrdinal(a.data(), static_cast<int>(a.size()), b.data(),
                              static_cast<int>(b.size()), TRUE) == CSTR_LESS_THAN;
}

std::vector<std::wstring> OwnEnvironment() {
  std::vector<std::wstring> entries;
  wchar_t* const block = GetEnvironmentStringsW();
  for (const wchar_t* at = block; at != nullptr && *at != 0; at += entries.back().size() + 1) {
    entries.emplace_back(at);
  }
  FreeEnvironmentStringsW(block);
  return entries;
}

SystemHandle Inheritable(HANDLE handle) {
  HANDLE copy = nullptr;
  if (handle == nullptr || handle == INVALID_HANDLE_VALUE) return {};
  DuplicateHandle(GetCurrentProcess(), handle, GetCurrentProcess(), &copy, 0, TRUE,
                  DUPLICATE_SAME_ACCESS);
  return Owned(copy);
}

SystemHandle Nowhere() {
  SECURITY_ATTRIBUTES inheritable = {sizeof(inheritable), nullptr, TRUE};
  return Owned(CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                           &inheritable, OPEN_EXISTING, 0, nullptr));
}

// The child's input and output, which it inherits as copies.
class StandardStreams {
 public:
  StandardStreams(const Launch& launch, STARTUPINFOW* info) {
    constexpr std::array kStreams = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    const std::array files = {HANDLE{nullptr}, launch.output, launch.errors};
    for (size_t i = 0; i < kStreams.size(); ++i) {
      if (launch.output == nullptr) {
        streams_[i] = launch.silent ? Nowhere() : Inheritable(GetStdHandle(kStreams[i]));
      } else {
        streams_[i] = files[i] == nullptr ? Nowhere() : Inheritable(files[i]);
      }
    }
    info->dwFlags |= STARTF_USESTDHANDLES;
    info->hStdInput = HandleAt(0);
    info->hStdOutput = HandleAt(1);
    info->hStdError = HandleAt(2);
  }
  // Null: there is none.
  HANDLE HandleAt(size_t i) const {
    return streams_[i].valid() ? cairn::HandleOf(streams_[i]) : nullptr;
  }

 private:
  std::array<SystemHandle, 3> streams_;
};

// While it lives, these may be inherited: by programs that name them, as LaunchProgram does. One at a time, as
// a handle may be named twice.
class Inheriting {
 public:
  explicit Inheriting(const std::vector<HANDLE>& handles) : lock_(Mutex()), handles_(handles) {
    for (const HANDLE handle : handles_) {
      SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    }
  }
  ~Inheriting() {
    for (const HANDLE handle : handles_) SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0);
  }
  Inheriting(const Inheriting&) = delete;
  Inheriting& operator=(const Inheriting&) = delete;

 private:
  static std::mutex& Mutex() {
    static std::mutex& mutex = *new std::mutex;
    return mutex;
  }
  const std::lock_guard<std::mutex> lock_;
  const std::vector<HANDLE>& handles_;
};

// The attributes of CreateProcessW. Values are referenced, not copied.
class Attributes {
 public:
  Attributes() {
    SIZE_T bytes = 0;
    InitializeProcThreadAttributeList(nullptr, kMost, 0, &bytes);
    bytes_ = std::make_unique<std::byte[]>(bytes);
    InitializeProcThreadAttributeList(list(), kMost, 0, &bytes);
  }
  ~Attributes() { DeleteProcThreadAttributeList(list()); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  LPPROC_THREAD_ATTRIBUTE_LIST list() const {
    return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(bytes_.get());
  }
  bool Set(DWORD_PTR attribute, const HANDLE* handles, size_t count) {
    return UpdateProcThreadAttribute(list(), 0, attribute, const_cast<HANDLE*>(handles),
                                     count * sizeof(HANDLE), nullptr, nullptr) != 0;
  }

 private:
  static constexpr DWORD kMost = 2;
  std::unique_ptr<std::byte[]> bytes_;
};

// PROC_THREAD_ATTRIBUTE_JOB_LIST, Windows 10; not in all headers.
constexpr DWORD_PTR kJobList = 0x0002'000D;

}  // namespace

std::wstring JoinedCommandLine(const std::vector<std::string>& words) {
  std::wstring line;
  for (const std::string& word : words) {
    std::wstring wide = Wide(word);
    if (line.empty()) {
      std::erase(wide, L'"');
      line = L'"' + wide + L'"';
    } else {
      line += L' ' + Quoted(wide);
    }
  }
  return line;
}

std::wstring EnvironmentBlock(const std::vector<std::string>& settings) {
  std::vector<std::wstring> entries = OwnEnvironment();
  for (const std::string& setting : settings) {
    std::wstring wide = Wide(setting);
    std::erase_if(entries, [&wide](const std::wstring& entry) {
      return !IsBefore(NameOf(entry), NameOf(wide)) && !IsBefore(NameOf(wide), NameOf(entry));
    });
    entries.push_back(std::move(wide));
  }
  // Sort as the system's search expects.
  std::stable_sort(
      entries.begin(), entries.end(),
      [](const std::wstring& a, const std::wstring& b) { return IsBefore(NameOf(a), NameOf(b)); });
  std::wstring block;
  for (const std::wstring& entry : entries) block += entry + L'\0';
  if (block.empty()) block += L'\0';
  return block;  // and the zero behind each string ends it
}

DWORD WithoutNewConsole() {
  return GetConsoleCP() == 0 ? CREATE_NO_WINDOW : 0;
}

std::error_code LaunchProgram(const Launch& launch, ProcessHandle* process,
                              SystemHandle* main_thread) {
  STARTUPINFOEXW info = {};
  info.StartupInfo.cb = sizeof(info);
  const StandardStreams streams(launch, &info.StartupInfo);
  std::vector<HANDLE> inherited = launch.inherited;
  for (size_t i = 0; i < 3; ++i) {
    if (streams.HandleAt(i) != nullptr) inherited.push_back(streams.HandleAt(i));
  }
  Attributes attributes;
  info.lpAttributeList = attributes.list();
  if ((!inherited.empty() &&
       !attributes.Set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited.data(), inherited.size())) ||
      (launch.job != nullptr && !attributes.Set(kJobList, &launch.job, 1))) {
    return LastError();
  }
  std::wstring line = JoinedCommandLine(launch.words);
  std::wstring environment = EnvironmentBlock(launch.environment);
  const DWORD flags = launch.flags | EXTENDED_STARTUPINFO_PRESENT | CREATE_UNICODE_ENVIRONMENT;
  const Inheriting inheriting(launch.inherited);
  PROCESS_INFORMATION started = {};
  if (CreateProcessW(launch.file.c_str(), line.data(), nullptr, nullptr, !inherited.empty(), flags,
                     environment.data(), nullptr, &info.StartupInfo, &started) == 0) {
    return LastError();
  }
  SystemHandle thread = Owned(started.hThread);
  if (main_thread != nullptr) *main_thread = std::move(thread);
  process->pid = started.dwProcessId;
  process->handle = Owned(started.hProcess);
  return {};
}

}  // namespace cairn
