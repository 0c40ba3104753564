// SPDX-License-Identifier: Apache-2.0
#include "os/environment.h"

#include <cstdlib>
#include <mutex>
#include <set>

#include "os/windows/system.h"

namespace cairn {
namespace {

// Keeps every value, since callers keep pointers to them: there are few.
const char* Kept(std::string value) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& values = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return values.insert(std::move(value)).first->c_str();
}

}  // namespace

// An elevated program gets the environment of the user who agreed to that, not of the caller.
bool IsPrivilegedProcess() {
  return false;
}

const char* OwnVariable(const char* name) {
  const wchar_t* const value = _wgetenv(Wide(name).c_str());
  return value == nullptr ? nullptr : Kept(Utf8(value));
}

void SetMissingVariable(const char* name, const char* value) {
  if (_wgetenv(Wide(name).c_str()) == nullptr) SetVariable(name, value);
}

// Sets the variable in the C library's copy, and through it in the system's, which programs that
// are started inherit.
void SetVariable(const std::string& name, const std::string& value) {
  _wputenv_s(Wide(name).c_str(), Wide(value).c_str());
}

void ClearVariable(const std::string& name) {
  _wputenv_s(Wide(name).c_str(), L"");
}

}  // namespace cairn
