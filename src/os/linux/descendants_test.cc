// SPDX-License-Identifier: Apache-2.0
#include "os/descendants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "os/process.h"
#include "os/running_processes.h"
#include "os/testing/test_role.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TestRole stays("descendant-stays", [](const TestWords&) -> int { SleepForEver(); });

std::optional<Descendant> Find(ProcessId id) {
  for (const Descendant& process : Descendants()) {
    if (process.id == id) return process;
  }
  return std::nullopt;
}

TEST(Descendants, ShowWhatTheyWereStartedWith) {
  SpawnRequest request;
  request.arguments = ArgumentsOfRole("descendant-stays");
  request.environment = {"CAIRN_DESCENDANT=some value"};
  const Result<ProcessHandle> program = SpawnProgram(request);
  ASSERT_TRUE(program.ok());
  while (!WasStartedWith(program->pid, "CAIRN_DESCENDANT=some value")) std::this_thread::yield();

  const std::optional<Descendant> found = Find(program->pid);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->parent, OwnProcessId());
  EXPECT_EQ(found->session, getsid(0));
  EXPECT_FALSE(found->ended);
  EXPECT_NE(found->started, 0u);

  ProcessLook look = LookAtProcess(program->pid, {"/bin/sh", {"CAIRN_DESCENDANT=", "NONE="}});
  EXPECT_EQ(look.program, request.arguments[0]);
  EXPECT_EQ(look.arguments, request.arguments);
  EXPECT_TRUE(look.environment_known);
  EXPECT_THAT(look.environment, ElementsAre("CAIRN_DESCENDANT=some value"));
  EXPECT_EQ(look.gpu, GpuLibrary::kNone);
  EXPECT_TRUE(look.same_user);
  EXPECT_EQ(look.user_id, std::to_string(geteuid()));
  EXPECT_TRUE(look.library_in_reach);
  EXPECT_FALSE(look.has_library || look.is_static || look.is_32_bit || look.is_setuid ||
               look.has_capabilities || look.is_secure || look.is_out_of_reach);
  // A library is found by its name: another root has other paths. The system loads it after the
  // process has its environment.
  do {
    look = LookAtProcess(program->pid, {"/nowhere/libc.so.6", {}});
  } while (!look.has_library);
  EXPECT_FALSE(look.library_in_reach);
  EXPECT_THAT(look.environment, IsEmpty());

  ASSERT_TRUE(KillProcess(*program).ok());
  (void)EndOf(*program);
  EXPECT_FALSE(Find(program->pid).has_value());
  EXPECT_EQ(LookAtProcess(program->pid, {}).program, "");
}

TEST(Descendants, OrphansStayAndAreForgottenWhenTheyEnd) {
  ASSERT_TRUE(AdoptOrphans());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    const pid_t orphan = fork();
    if (orphan == 0) {
      for (;;) pause();
    }
    _exit(write(ends[1], &orphan, sizeof(orphan)) == sizeof(orphan) ? 0 : 1);
  }
  pid_t orphan = 0;
  ASSERT_EQ(read(ends[0], &orphan, sizeof(orphan)), static_cast<ssize_t>(sizeof(orphan)));
  ASSERT_EQ(waitpid(launcher, nullptr, 0), launcher);
  ASSERT_TRUE(Find(orphan).has_value());
  EXPECT_EQ(Find(orphan)->parent, OwnProcessId());

  kill(orphan, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(orphan), &ended, WEXITED | WNOWAIT), 0);
  ForgetEndedOrphans([](ProcessId) { return true; });
  ASSERT_TRUE(Find(orphan).has_value()) << "somebody wants to know how it ended";
  EXPECT_TRUE(Find(orphan)->ended);
  ForgetEndedOrphans([](ProcessId) { return false; });
  EXPECT_FALSE(Find(orphan).has_value());
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace cairn
