// SPDX-License-Identifier: Apache-2.0
//
// The registry: the text that is a file elsewhere is one value here, since one value is what the registry changes at
// once. Writers take turns by a mutex of the whole machine.
#include "os/settings_store.h"

#include <algorithm>

#include "os/environment.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

constexpr wchar_t kKey[] = L"Software\\Cairn";
constexpr wchar_t kValue[] = L"D3DConfig";

HKEY RootOf(SettingsScope scope) {
  return scope == SettingsScope::kSystem ? HKEY_LOCAL_MACHINE : HKEY_CURRENT_USER;
}

// For people.
std::string NameOf(SettingsScope scope) {
  return scope == SettingsScope::kSystem ? "HKEY_LOCAL_MACHINE\\Software\\Cairn, value D3DConfig"
                                         : "HKEY_CURRENT_USER\\Software\\Cairn, value D3DConfig";
}

Status StatusOf(LSTATUS result, SettingsScope scope, const char* what) {
  if (result == ERROR_SUCCESS) return Status();
  SetLastError(static_cast<DWORD>(result));
  const Status status = StatusFromLastError(NameOf(scope) + what);
  if (result != ERROR_ACCESS_DENIED) return status;
  return Status(status.code(), status.message() + "; run it as administrator");
}

// Programs of 32 and of 64 bits see the same settings.
Status WriteText(SettingsScope scope, const std::string& text) {
  HKEY key = nullptr;
  LSTATUS result = RegCreateKeyExW(RootOf(scope), kKey, 0, nullptr, REG_OPTION_NON_VOLATILE,
                                   KEY_SET_VALUE | KEY_WOW64_64KEY, nullptr, &key, nullptr);
  if (result == ERROR_SUCCESS) {
    const std::wstring wide = Wide(text);
    result = RegSetValueExW(key, kValue, 0, REG_SZ, reinterpret_cast<const BYTE*>(wide.c_str()),
                            static_cast<DWORD>((wide.size() + 1) * sizeof(wchar_t)));
    RegCloseKey(key);
  }
  return StatusOf(result, scope, " cannot be written");
}

// Held until its end; one that died with it left nothing half done, and has passed it on.
class Turn {
 public:
  Turn() : mutex_(Owned(CreateMutexW(nullptr, FALSE, L"Global\\CairnSettings"))) {
    if (mutex_.valid()) WaitForSingleObject(HandleOf(mutex_), INFINITE);
  }
  ~Turn() {
    if (mutex_.valid()) ReleaseMutex(HandleOf(mutex_));
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool valid() const { return mutex_.valid(); }

 private:
  SystemHandle mutex_;
};

}  // namespace

Result<std::string> SettingsName(SettingsScope scope) {
  return NameOf(scope);
}

Result<std::string> ReadSettings(SettingsScope scope, size_t most_bytes) {
  std::wstring wide;
  DWORD bytes = 0;
  LSTATUS result = ERROR_MORE_DATA;
  // It may grow between two questions.
  while (result == ERROR_MORE_DATA) {
    wide.resize(bytes / sizeof(wchar_t) + 1);
    bytes = static_cast<DWORD>(wide.size() * sizeof(wchar_t));
    result = RegGetValueW(RootOf(scope), kKey, kValue, RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY,
                          nullptr, wide.data(), &bytes);
  }
  if (result == ERROR_FILE_NOT_FOUND) return std::string();
  if (result == ERROR_UNSUPPORTED_TYPE) {
    return Status(StatusCode::kCorrupt, NameOf(scope) + " is no text");
  }
  if (const Status status = StatusOf(result, scope, " cannot be read"); !status.ok()) return status;
  wide.resize(std::min<size_t>(wide.size(), wide.find(L'\0')));
  std::string text = Utf8(wide);
  text.resize(std::min(text.size(), most_bytes + 1));
  return text;
}

Status ChangeSettings(SettingsScope scope, const std::function<Result<std::string>()>& change) {
  const Turn turn;
  if (!turn.valid()) return StatusFromLastError(NameOf(scope) + " cannot be locked");
  const Result<std::string> text = change();
  if (!text.ok()) return text.status();
  return WriteText(scope, *text);
}

}  // namespace cairn
