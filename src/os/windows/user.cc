// SPDX-License-Identifier: Apache-2.0
#define WIN32_LEAN_AND_MEAN
#include "os/user.h"

#include <windows.h>

namespace cairn {

bool IsAdministrator() {
  HANDLE token = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) return false;
  TOKEN_ELEVATION elevation = {};
  DWORD size_bytes = 0;
  const BOOL known =
      GetTokenInformation(token, TokenElevation, &elevation, sizeof(elevation), &size_bytes);
  CloseHandle(token);
  return known && elevation.TokenIsElevated != 0;
}

std::string UserName() {
  char name[257] = {};
  DWORD size = sizeof(name);
  return GetUserNameA(name, &size) ? name : "unknown";
}

}  // namespace cairn
