// SPDX-License-Identifier: Apache-2.0
#include "os/user.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

namespace cairn {

bool IsAdministrator() {
  return geteuid() == 0;
}

std::string UserName() {
  const passwd* const user = getpwuid(geteuid());
  if (user != nullptr && user->pw_name != nullptr && user->pw_name[0] != 0) return user->pw_name;
  return fmt::format("number {}", geteuid());
}

}  // namespace cairn
