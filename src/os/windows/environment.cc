// SPDX-License-Identifier: Apache-2.0
#include "os/environment.h"

#include <cstdlib>

#include "os/windows/system.h"

namespace cairn {

// A program that is elevated gets the environment of whoever agreed to that, not of whoever asked.
bool IsPrivilegedProcess() {
  return false;
}

const char* OwnVariable(const char* name) {
  return std::getenv(name);
}

void SetMissingVariable(const char* name, const char* value) {
  if (std::getenv(name) == nullptr) SetVariable(name, value);
}

// In the C library's copy, and by it in the system's, which programs that are started inherit.
void SetVariable(const std::string& name, const std::string& value) {
  _putenv_s(name.c_str(), value.c_str());
}

}  // namespace cairn
