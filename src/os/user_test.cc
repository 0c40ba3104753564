// SPDX-License-Identifier: Apache-2.0
#include "os/user.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cairn {
namespace {

TEST(User, RootIsAdministrator) {
  EXPECT_EQ(IsAdministrator(), geteuid() == 0);
  EXPECT_EQ(UserName() == "root", geteuid() == 0);
}

TEST(User, OneWithoutANameIsANumber) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may become somebody else";
  constexpr uid_t kNobodysNumber = 3'123'456'789;
  const pid_t child = fork();
  if (child == 0) {
    const bool changed = seteuid(kNobodysNumber) == 0;
    _exit(changed && !IsAdministrator() && UserName() == "number 3123456789" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cairn
