// SPDX-License-Identifier: Apache-2.0
#include "os/descendants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
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

  ProcessLook look = LookAtProcess(program->pid, {"/bin/sh", "", {"CAIRN_DESCENDANT=", "NONE="}});
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
    look = LookAtProcess(program->pid, {"/nowhere/libc.so.6", "VK_LAYER_x", {}});
  } while (!look.has_library);
  EXPECT_FALSE(look.library_in_reach || look.has_manifest);
  EXPECT_THAT(look.environment, IsEmpty());

  ASSERT_TRUE(KillProcess(*program).ok());
  (void)EndOf(*program);
  EXPECT_FALSE(Find(program->pid).has_value());
  EXPECT_EQ(LookAtProcess(program->pid, {}).program, "");
}

// A container names manifests anew, and its data folders may be anything.
TEST(Descendants, ShowTheManifestInTheirDataFolders) {
  const std::string data = testing::TempDir() + "descendants_data";
  const std::string folder = data + "/vulkan/implicit_layer.d";
  std::filesystem::remove_all(data);
  std::filesystem::create_directories(folder + "/folder.json");
  ASSERT_EQ(mkfifo((folder + "/pipe.json").c_str(), 0600), 0);
  std::ofstream(folder + "/0.json") << R"({"layer": {"name": "VK_LAYER_x"}})";
  SpawnRequest request;
  request.arguments = ArgumentsOfRole("descendant-stays");
  const std::string variable = "XDG_DATA_DIRS=::relative:/nowhere:" + data;
  request.environment = {variable};
  const Result<ProcessHandle> program = SpawnProgram(request);
  ASSERT_TRUE(program.ok());
  while (!WasStartedWith(program->pid, variable)) std::this_thread::yield();
  EXPECT_TRUE(LookAtProcess(program->pid, {"/nowhere/l.so", "VK_LAYER_x", {}}).has_manifest);
  EXPECT_FALSE(LookAtProcess(program->pid, {"/nowhere/l.so", "VK_LAYER_y", {}}).has_manifest);
  EXPECT_FALSE(LookAtProcess(program->pid, {"/bin/sh", "VK_LAYER_x", {}}).has_manifest);
  ASSERT_TRUE(KillProcess(*program).ok());
  (void)EndOf(*program);
  std::filesystem::remove_all(data);
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
  for (const Descendant& other : Descendants({Find(orphan)->group})) EXPECT_NE(other.id, orphan);

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
