// SPDX-License-Identifier: Apache-2.0
//
// Programs behind others: who is named, how many files one crash makes, and whom the watcher stays for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "watcher/session.h"
#include "watcher/testing/session_scene.h"

namespace cairn {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kChildDied[] =
    "cairn: child died with signal 11 (SIGSEGV); report: cairn report child.cairn";

SessionSettings NamedByProgram() {
  SessionSettings settings;
  settings.output_path = kNamedByProgram;
  return settings;
}

// timeout, strace and unshare --fork kill themselves with the signal that their child died of.
TEST(WatchSessionWrappers, ADeathThatIsPassedOnMakesOneFile) {
  Scene scene(NamedByProgram());
  scene.StartWrapper("timeout");
  scene.Block(kChild);
  scene.End(kChild, kSegv);
  scene.End(kGame, kSegv);
  EXPECT_TRUE(scene.session->Finished());
  EXPECT_THAT(scene.lines, ElementsAre(kChildDied));
  ASSERT_EQ(scene.world.reports.size(), 1u);
  EXPECT_EQ(scene.world.reports[0].program, "child");
  EXPECT_EQ(scene.session->end().value, SIGSEGV);
}

// `timeout -s KILL` may be dead before its child is.
TEST(WatchSessionWrappers, TheWrapperMayDieFirst) {
  Scene scene(NamedByProgram());
  scene.StartWrapper("timeout");
  scene.Block(kChild);
  scene.End(kGame, kKilled);
  EXPECT_FALSE(scene.session->Finished());
  EXPECT_THAT(scene.lines, IsEmpty());
  scene.End(kChild, kKilled);
  EXPECT_TRUE(scene.session->Finished());
  ASSERT_EQ(scene.lines.size(), 1u);
  EXPECT_THAT(scene.lines[0], HasSubstr("child died with signal 9 (SIGKILL)"));
}

TEST(WatchSessionWrappers, AKillByCairnIsPassedOnAsWell) {
  SessionSettings settings = KillingOnHang();
  settings.output_path = kNamedByProgram;
  Scene scene(settings);
  scene.StartWrapper("timeout");
  scene.Block(kChild);
  scene.Pass(3 * kSecond);
  scene.End(kChild, kKilled);
  scene.End(kGame, kKilled);
  EXPECT_THAT(scene.lines, ElementsAre("cairn: child hangs: GPU work made no progress for 1 s; "
                                       "killed it; report: cairn report child.cairn"));
  EXPECT_TRUE(scene.session->killed_for_hang());
}

// A death of the wrapper alone is reported when no process is left that may have died of the same
// signal, or after kPassedOnNs.
TEST(WatchSessionWrappers, ADeathOfTheWrappersOwnIsTold) {
  Scene scene(NamedByProgram());
  scene.StartWrapper("timeout");
  scene.Block(kChild);
  scene.End(kGame, kSegv);
  EXPECT_THAT(scene.lines, IsEmpty());
  scene.Pass(2 * kPassedOnNs);
  EXPECT_THAT(scene.lines, Contains("cairn: timeout died with signal 11 (SIGSEGV); report: cairn "
                                    "report timeout-71.cairn"));
  scene.End(kChild, {EndKind::kSignalled, kSigabrt});
  EXPECT_TRUE(scene.session->Finished());
  EXPECT_THAT(scene.lines.back(), HasSubstr("child died with signal 6 (SIGABRT)"));

  Scene alone(NamedByProgram());
  alone.StartWrapper("timeout");
  alone.End(kGame, kSegv);
  EXPECT_TRUE(alone.session->Finished());
  EXPECT_THAT(alone.lines, ElementsAre("cairn: timeout died with signal 11 (SIGSEGV); report: "
                                       "cairn report timeout.cairn"));
}

TEST(WatchSessionWrappers, AnotherSignalIsNotPassedOn) {
  Scene scene(NamedByProgram());
  scene.StartWrapper("timeout");
  scene.Block(kChild);
  scene.End(kChild, kSegv);
  scene.End(kGame, {EndKind::kSignalled, kSigabrt});
  ASSERT_EQ(scene.lines.size(), 2u);
  EXPECT_THAT(scene.lines[1], HasSubstr("timeout died with signal 6 (SIGABRT)"));
}

// nohup, env, and the last command of a shell: one process, several programs.
TEST(WatchSessionWrappers, AWrapperThatBecomesTheProgramIsCalledWhatThatIs) {
  Scene scene(NamedByProgram());
  scene.StartWrapper("nohup");
  scene.world.processes[kGame].program = "/opt/child";
  scene.world.processes[kGame].command_line = "/opt/child -x";
  scene.Block(kGame);
  scene.End(kGame, kSegv);
  EXPECT_THAT(scene.lines, ElementsAre(kChildDied));
}

TEST(WatchSessionWrappers, SoItIsOfACapture) {
  SessionSettings settings = Capturing();
  settings.output_path = kNamedByProgram;
  Scene scene(settings);
  scene.StartWrapper("nohup");
  scene.world.processes[kGame].program = "/opt/child";
  scene.world.processes[kGame].command_line = "/opt/child -x";
  scene.Capture(kGame);
  scene.End(kGame, kExit);
  ASSERT_EQ(scene.lines.size(), 1u);
  EXPECT_THAT(scene.lines[0], testing::StartsWith("cairn: child captured: "));
  EXPECT_THAT(scene.lines[0], HasSubstr("child.cairn"));
}

TEST(WatchSessionWrappers, SoItIsOfOneThatDiedAtOnce) {
  Scene scene(NamedByProgram());
  scene.StartWrapper("nohup");
  scene.world.SendBlock(kGame);
  auto& header = *reinterpret_cast<BlockHeader*>(scene.world.processes[kGame].block.data());
  std::strncpy(header.program, "/opt/child", sizeof(header.program) - 1);
  scene.End(kGame, kSegv);
  EXPECT_THAT(scene.lines, ElementsAre(kChildDied));
}

// "#!/usr/bin/python3": the script is the program.
TEST(WatchSessionWrappers, AScriptKeepsItsName) {
  Scene scene(NamedByProgram());
  scene.StartWrapper("game.py");
  scene.world.processes[kGame].program = "/usr/bin/python3";
  scene.world.processes[kGame].command_line = "/usr/bin/python3 ./game.py ./child";
  scene.Block(kGame);
  scene.End(kGame, kSegv);
  EXPECT_THAT(
      scene.lines,
      ElementsAre(
          "cairn: game.py died with signal 11 (SIGSEGV); report: cairn report game.py.cairn"));
}

// A launcher of Windows that ends with what its child ended with (cmd /c): the code is no proof of a kill.
TEST(WatchSessionWrappers, ACodeThatCairnKillsWithMayBePassedOn) {
  Scene scene(NamedByProgram());
  scene.StartWrapper("cmd.exe");
  scene.End(kGame, EndOfExitCode(kKilledByCairn));
  EXPECT_THAT(scene.lines, IsEmpty());
  EXPECT_TRUE(scene.session->Finished());

  Scene passed(NamedByProgram());
  passed.StartWrapper("cmd.exe");
  passed.Block(kChild);
  passed.End(kChild, EndOfExitCode(0xc0000005));
  passed.End(kGame, EndOfExitCode(0xc0000005));
  EXPECT_EQ(passed.world.reports.size(), 1u);
}

// ---- Who outlives the program -------------------------------------------------------------------------

Scene& Follow(Scene& scene) {
  scene.session->FollowDescendants({{"launcher"}, "/lib/l.so", "A=b", "cairn"});
  scene.StartWrapper("launcher");
  scene.world.descendants = {{kGame, 1, 1, 1, false}, {kChild, kGame, 2, 1, false}};
  scene.world.looks[kChild] = {
      .program = "./child", .command_line = "./child", .arguments = {"./child"}};
  return scene;
}

void EndLauncher(Scene& scene) {
  scene.world.descendants = {{kChild, 1, 2, 1, false}};
  scene.End(kGame, kExit);
}

TEST(WatchSessionWrappers, ALauncherMayEndBeforeTheGameDoesAnything) {
  Scene scene(NamedByProgram());
  EndLauncher(Follow(scene));
  EXPECT_FALSE(scene.session->Finished());
  scene.Pass(2 * kSecond);
  EXPECT_THAT(scene.lines, ElementsAre("cairn: launcher has ended; cairn waits for what it "
                                       "started: child (process 72); ^C ends that"));
  scene.Block(kChild);
  scene.world.descendants.clear();
  scene.End(kChild, kSegv);
  scene.Pass(kSecond);
  EXPECT_TRUE(scene.session->Finished());
  EXPECT_EQ(scene.lines.back(), kChildDied);
}

// A launcher with GPU work of its own, which is followed, starts the game and ends.
TEST(WatchSessionWrappers, ALauncherThatIsFollowedMayEndFirstAsWell) {
  constexpr ProcessId kGrandchild = 73;
  Scene scene(NamedByProgram());
  Follow(scene);
  scene.Block(kChild);
  scene.world.descendants = {{kChild, 1, 2, 1, false}};
  scene.End(kGame, kExit);
  scene.world.processes[kGrandchild] = {.program = "grandchild", .command_line = "grandchild"};
  scene.world.looks[kGrandchild] = {.program = "grandchild", .gpu = GpuLibrary::kVulkan};
  scene.world.descendants = {{kGrandchild, 1, 3, 1, false}};
  scene.End(kChild, kExit);
  EXPECT_FALSE(scene.session->Finished());
  scene.Block(kGrandchild);
  scene.world.descendants.clear();
  scene.End(kGrandchild, kSegv);
  EXPECT_TRUE(scene.session->Finished());
  EXPECT_THAT(scene.lines, ElementsAre(HasSubstr("grandchild died with signal 11")));
}

TEST(WatchSessionWrappers, TheUserMayHaveEnoughOfWaiting) {
  Scene scene(NamedByProgram());
  EndLauncher(Follow(scene));
  scene.session->OnSignal(SIGINT);
  EXPECT_TRUE(scene.session->Finished());
  EXPECT_EQ(scene.session->NextTimeNs(), kNever);
  EXPECT_THAT(scene.lines, ElementsAre("! cairn: child (process 72) goes on after the signal, and "
                                       "is no longer watched"));
}

TEST(WatchSessionWrappers, WhoHasTheProgramKilledWaitsForNobodyElse) {
  Scene scene(NamedByProgram());
  Follow(scene);
  scene.session->OnSignal(SIGTERM);
  scene.Pass(6 * kSecond);
  scene.session->OnSignal(SIGTERM);
  scene.world.descendants = {{kChild, 1, 2, 1, false}};
  scene.End(kGame, kKilled);
  EXPECT_TRUE(scene.session->Finished());
  EXPECT_EQ(scene.session->NextTimeNs(), kNever);
  EXPECT_THAT(scene.lines,
              ElementsAre(HasSubstr("launcher (process 71) goes on 5 s after SIGTERM"),
                          "! cairn: killed launcher (process 71): SIGTERM did not end it"));
}

TEST(WatchSessionWrappers, WithoutGpuWorkItIsSaidWhoRan) {
  Scene scene(NamedByProgram());
  Follow(scene);
  scene.session->OnTime();
  scene.world.descendants.clear();
  scene.End(kGame, kExit);
  scene.session->SayLast();
  EXPECT_THAT(scene.lines, ElementsAre("cairn: no GPU work was seen: child (process 72) loaded "
                                       "neither Vulkan nor Direct3D 12"));
}

TEST(WatchSessionWrappers, ACauseIsSaidAndStandsInTheReport) {
  Scene scene(NamedByProgram());
  Follow(scene);
  scene.world.looks[kChild].gpu = GpuLibrary::kVulkan;
  scene.world.looks[kChild].gpu_library = "libvulkan.so.1";
  scene.world.looks[kChild].environment_known = true;
  scene.session->OnTime();
  scene.world.descendants.clear();
  scene.End(kGame, kSegv);
  scene.session->SayLast();
  const std::string cause =
      "child (process 72) loaded libvulkan.so.1 and was not followed: its environment was emptied "
      "before it started; type: cairn run -- ./child";
  ASSERT_EQ(scene.world.reports.size(), 1u);
  EXPECT_THAT(scene.world.reports[0].why_no_block, ElementsAre(cause));
  EXPECT_EQ(scene.lines.back(), "cairn: no GPU work was seen: " + cause);
}

// If one process is followed, no other is looked for.
TEST(WatchSessionWrappers, WhoIsFollowedIsNotLookedAt) {
  Scene scene(NamedByProgram());
  Follow(scene);
  scene.Block(kGame);
  scene.world.looks.clear();
  scene.Pass(3 * kSecond);
  EXPECT_THAT(scene.world.looks, IsEmpty());
  scene.world.descendants.clear();
  scene.End(kGame, kExit);
  scene.session->SayLast();
  EXPECT_TRUE(scene.session->Finished());
}

}  // namespace
}  // namespace cairn
