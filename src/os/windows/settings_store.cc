// SPDX-License-Identifier: Apache-2.0
//
// The registry: the text that is a file elsewhere is one value here, since one value is what the registry
// changes at once. Writers take turns by a named mutex.
#define WIN32_LEAN_AND_MEAN
#include "os/settings_store.h"

#include <fmt/format.h>
#include <windows.h>

#include <string_view>

namespace cairn {
namespace {

constexpr wchar_t kKey[] = L"Software\\Cairn";
constexpr wchar_t kValue[] = L"D3DConfig";
constexpr wchar_t kMutex[] = L"Global\\CairnD3DConfig";
// For people.
constexpr char kKeyName[] = "Software\\Cairn, value D3DConfig";

HKEY Root(SettingsScope scope) {
  return scope == SettingsScope::kUser ? HKEY_CURRENT_USER : HKEY_LOCAL_MACHINE;
}

Status StatusFromWindows(LSTATUS error, const std::string& what) {
  const StatusCode code = error == ERROR_OUTOFMEMORY ? StatusCode::kOutOfMemory : StatusCode::kIo;
  const char* reason =
      error == ERROR_ACCESS_DENIED ? " (access is denied: run as administrator)" : "";
  return Status(code, fmt::format("{}: error {}{}", what, error, reason));
}

std::string Name(SettingsScope scope) {
  return fmt::format("{}\\{}",
                     scope == SettingsScope::kUser ? "HKEY_CURRENT_USER" : "HKEY_LOCAL_MACHINE",
                     kKeyName);
}

// Programs of 32 and of 64 bits see the same settings.
constexpr DWORD kReadFlags = RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY;

Status WriteText(SettingsScope scope, const std::string& text) {
  HKEY key = nullptr;
  LSTATUS error = RegCreateKeyExW(Root(scope), kKey, 0, nullptr, REG_OPTION_NON_VOLATILE,
                                  KEY_SET_VALUE | KEY_WOW64_64KEY, nullptr, &key, nullptr);
  if (error == ERROR_SUCCESS) {
    const std::wstring wide(text.begin(), text.end());
    error = RegSetValueExW(key, kValue, 0, REG_SZ, reinterpret_cast<const BYTE*>(wide.c_str()),
                           static_cast<DWORD>((wide.size() + 1) * sizeof(wchar_t)));
    RegCloseKey(key);
  }
  if (error == ERROR_SUCCESS) return Status();
  return StatusFromWindows(error, fmt::format("{} cannot be written", Name(scope)));
}

// Held from construction to destruction.
class WriterLock {
 public:
  WriterLock() : mutex_(CreateMutexW(nullptr, FALSE, kMutex)) {
    if (mutex_ == nullptr) return;
    const DWORD result = WaitForSingleObject(mutex_, INFINITE);
    // Abandoned: its last owner died between reading and writing, which left nothing half done.
    held_ = result == WAIT_OBJECT_0 || result == WAIT_ABANDONED;
  }
  ~WriterLock() {
    if (held_) ReleaseMutex(mutex_);
    if (mutex_ != nullptr) CloseHandle(mutex_);
  }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  bool held() const { return held_; }

 private:
  HANDLE mutex_;
  bool held_ = false;
};

}  // namespace

Result<std::string> SettingsName(SettingsScope scope) {
  return Name(scope);
}

Result<std::string> ReadSettings(SettingsScope scope, size_t most_bytes) {
  std::wstring wide(most_bytes + 2, L'\0');
  DWORD size_bytes = static_cast<DWORD>(wide.size() * sizeof(wchar_t));
  const LSTATUS error =
      RegGetValueW(Root(scope), kKey, kValue, kReadFlags, nullptr, wide.data(), &size_bytes);
  if (error == ERROR_FILE_NOT_FOUND) return std::string();
  if (error == ERROR_UNSUPPORTED_TYPE || error == ERROR_MORE_DATA) {
    return Status(StatusCode::kCorrupt, fmt::format("{} is not a short text", Name(scope)));
  }
  if (error != ERROR_SUCCESS) {
    return StatusFromWindows(error, fmt::format("{} cannot be read", Name(scope)));
  }
  wide.resize(size_bytes / sizeof(wchar_t));
  while (!wide.empty() && wide.back() == L'\0') wide.pop_back();
  std::string text;
  // Settings are ASCII; what is not becomes a character that no setting has.
  for (const wchar_t unit : wide) text += unit < 0x80 ? static_cast<char>(unit) : '\x7f';
  return text;
}

Status ChangeSettings(SettingsScope scope, const std::function<Result<std::string>()>& change) {
  const WriterLock lock;
  if (!lock.held()) {
    return StatusFromWindows(static_cast<LSTATUS>(GetLastError()),
                             fmt::format("{} cannot be locked", Name(scope)));
  }
  const Result<std::string> text = change();
  return text.ok() ? WriteText(scope, *text) : text.status();
}

}  // namespace cairn
