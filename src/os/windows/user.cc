// SPDX-License-Identifier: Apache-2.0
#include "os/user.h"

#include "os/windows/system.h"

namespace cairn {

bool IsAdministrator() {
  HANDLE token = nullptr;
  if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token) == 0) return false;
  const SystemHandle owned = Owned(token);
  TOKEN_ELEVATION elevation = {};
  DWORD bytes = 0;
  return GetTokenInformation(token, TokenElevation, &elevation, sizeof(elevation), &bytes) != 0 &&
         elevation.TokenIsElevated != 0;
}

std::string UserName() {
  wchar_t name[257] = {};
  DWORD length = static_cast<DWORD>(std::size(name));
  return GetUserNameW(name, &length) == 0 || length == 0 ? "an unknown user"
                                                         : Utf8({name, length - 1});
}

}  // namespace cairn
