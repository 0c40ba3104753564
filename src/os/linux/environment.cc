// SPDX-License-Identifier: Apache-2.0
#include "os/environment.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/xattr.h>

#include <cerrno>
#include <cstdlib>

namespace cairn {
namespace {

bool FindOut() {
  const int error = errno;  // the caller's own call is not about this
  const bool privileged = getauxval(AT_SECURE) != 0 ||
                          getxattr("/proc/self/exe", "security.capability", nullptr, 0) > 0;
  errno = error;
  return privileged;
}

}  // namespace

bool IsPrivilegedProcess() {
  static const bool privileged = FindOut();
  return privileged;
}

const char* OwnVariable(const char* name) {
  return IsPrivilegedProcess() ? nullptr : std::getenv(name);
}

void SetMissingVariable(const char* name, const char* value) {
  setenv(name, value, /*overwrite=*/0);
}

void SetVariable(const std::string& name, const std::string& value) {
  setenv(name.c_str(), value.c_str(), 1);
}

void ClearVariable(const std::string& name) {
  unsetenv(name.c_str());
}

}  // namespace cairn
