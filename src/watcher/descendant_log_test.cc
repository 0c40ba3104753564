// SPDX-License-Identifier: Apache-2.0
#include "watcher/descendant_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr char kLibrary[] = "/opt/cairn/lib/libcairn-d3d12.so";
constexpr char kAddress[] = "CAIRN_WATCHER_ADDRESS=name:0:1:2";

RunFacts Facts(std::vector<std::string> arguments) {
  return {std::move(arguments), kLibrary, kAddress, "/opt/cairn/bin/cairn", {}};
}

// A program that opened the Vulkan loader, and has all that the run gave.
ProcessLook Game() {
  ProcessLook look;
  look.program = "./game";
  look.command_line = "./game -x; y";
  look.arguments = {"./game", "-x; y"};
  look.gpu = GpuLibrary::kVulkan;
  look.gpu_library = "libvulkan.so.1";
  look.has_library = true;
  look.environment_known = true;
  look.environment = {kAddress, std::string("LD_PRELOAD=") + kLibrary,
                      "VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs"};
  look.user_id = "1000";
  return look;
}

ProcessLook Outside() {
  ProcessLook look = Game();
  look.has_library = false;
  return look;
}

class DescendantLogTest : public testing::Test {
 protected:
  void Run(std::vector<std::string> arguments) {
    log_ = DescendantLog(Facts(std::move(arguments)));
  }
  void Start(ProcessId id, ProcessId parent, ProcessLook look, ProcessId session = 1) {
    living_.push_back({id, parent, static_cast<uint64_t>(id), session, false});
    looks_[id] = std::move(look);
  }
  void End(ProcessId id) {
    std::erase_if(living_, [id](const Descendant& process) { return process.id == id; });
  }
  void See() {
    log_.See(living_, now_ns_, [this](ProcessId id) {
      ++looked_at_;
      return looks_[id];
    });
  }
  // Returns the sentence about a game with this look, which a wrapper with number 70 started.
  std::string Told(ProcessLook look, std::vector<std::string> arguments) {
    Run(std::move(arguments));
    living_.clear();
    ProcessLook wrapper = Game();
    wrapper.program = "/usr/bin/wrapper";
    wrapper.gpu = GpuLibrary::kNone;
    Start(70, 1, wrapper);
    Start(71, 70, std::move(look));
    See();
    const std::vector<std::string> told = log_.TellUnfollowed();
    return told.size() == 1 ? told.front() : "not one sentence";
  }

  std::vector<Descendant> living_;
  std::map<ProcessId, ProcessLook> looks_;
  uint64_t now_ns_ = 100 * kSecond;
  int looked_at_ = 0;
  DescendantLog log_{Facts({"./game"})};
};

TEST_F(DescendantLogTest, AnEmptiedEnvironmentIsToldWithTheLineToType) {
  ProcessLook look = Outside();
  look.environment.clear();
  EXPECT_EQ(Told(look, {"wrapper", "-i", "./game", "-x y"}),
            "game (process 71) loaded libvulkan.so.1 and was not followed: its environment was "
            "emptied before it started, by wrapper (process 70); type: wrapper -i "
            "/opt/cairn/bin/cairn run -- ./game '-x y'");
  EXPECT_THAT(Told(look, {"launcher"}),
              HasSubstr("type: /opt/cairn/bin/cairn run -- ./game '-x; y'"))
      << "it was not typed";
}

TEST_F(DescendantLogTest, AnotherUserIsTold) {
  ProcessLook look = Outside();
  look.environment.clear();
  look.environment_known = look.same_user = false;
  look.user_id = "0";
  EXPECT_EQ(Told(look, {"sudo", "./game"}),
            "game (process 71) loaded libvulkan.so.1 and was not followed: user 0 runs it, by "
            "wrapper (process 70); type: sudo /opt/cairn/bin/cairn run -- ./game");
}

TEST_F(DescendantLogTest, MoreRightsAreToldWhicheverTheyAre) {
  ProcessLook look = Outside();
  look.is_setuid = true;
  EXPECT_THAT(Told(look, {"./game"}),
              HasSubstr("more rights than its user (setuid or setgid), and the system keeps other "
                        "libraries out; type: cp ./game /tmp/game && sudo /opt/cairn/bin/cairn run "
                        "-- /tmp/game"));
  look = Game();  // linked with it
  look.has_capabilities = true;
  EXPECT_THAT(Told(look, {"./game"}), HasSubstr("more rights than its user (file capabilities)"));
  look = Game();
  look.is_secure = true;
  EXPECT_THAT(Told(look, {"./game"}), HasSubstr("more rights than its user (setuid or setgid)"));
}

TEST_F(DescendantLogTest, OtherCausesAreTold) {
  ProcessLook look = Outside();
  look.library_in_reach = false;
  EXPECT_THAT(Told(look, {"./game"}),
              HasSubstr("its container does not show /opt/cairn/lib/libcairn-d3d12.so; show that "
                        "folder in it, read-only: bwrap --ro-bind /opt/cairn/lib /opt/cairn/lib"));
  look = Game();
  look.library_in_reach = false;
  look.environment.push_back("CAIRN_ENABLE_VULKAN_LAYER=1");
  EXPECT_THAT(
      Told(look, {"./game"}),
      HasSubstr(" and was not followed: the Vulkan loader in its container did not load the "
                "layer; if Cairn's package is not installed there, install it: "));
  look = Outside();
  look.is_static = true;
  EXPECT_THAT(Told(look, {"./game"}), HasSubstr("linked statically"));
  look = Outside();
  look.is_32_bit = true;
  EXPECT_THAT(Told(look, {"./game"}), HasSubstr("a program of 32 bits"));
  look = Outside();
  look.environment[1] = "LD_PRELOAD=/other.so";
  EXPECT_THAT(Told(look, {"wrapper", "./game"}),
              HasSubstr("LD_PRELOAD was overwritten, by wrapper (process 70); type: wrapper "
                        "/opt/cairn/bin/cairn run -- ./game"));
  look = Game();
  look.environment[2] = "VK_INSTANCE_LAYERS=VK_LAYER_x";
  EXPECT_THAT(Told(look, {"wrapper", "./game"}),
              HasSubstr("VK_INSTANCE_LAYERS was overwritten, by wrapper (process 70), "
                        "without VK_LAYER_CAIRN_breadcrumbs; type: wrapper "));
  look = Game();
  look.environment.push_back("VK_LOADER_LAYERS_DISABLE=~all~");
  EXPECT_THAT(Told(look, {"./game"}), HasSubstr("VK_LOADER_LAYERS_DISABLE=~all~ disables"));
  look = Game();
  look.environment.push_back("CAIRN_BREADCRUMBS=off");
  EXPECT_THAT(Told(look, {"./game"}), HasSubstr("breadcrumbs are off"));
  look = Game();
  look.is_out_of_reach = true;
  EXPECT_THAT(Told(look, {"./game"}), HasSubstr("podman --network host, or --pid host"));
  look = Game();
  look.gpu = GpuLibrary::kDriver;
  look.gpu_library = "libvulkan_lvp.so";
  EXPECT_THAT(
      Told(look, {"./game"}),
      HasSubstr("loaded libvulkan_lvp.so and was not followed: it opened the driver itself, "
                "without the Vulkan loader"));
  look = Game();
  look.gpu = GpuLibrary::kOpenGl;
  EXPECT_THAT(Told(look, {"./game"}), HasSubstr("OpenGL is not followed"));
}

// A container that hides the library's folder has other causes than a hidden manifest.
TEST_F(DescendantLogTest, AContainerWithTheManifestIsNotToldToInstallIt) {
  constexpr char kNoDevice[] =
      "game (process 71) loaded libvulkan.so.1, and created no device that Cairn follows";
  ProcessLook hidden = Game();
  hidden.library_in_reach = false;
  hidden.environment.push_back("CAIRN_ENABLE_VULKAN_LAYER=1");
  for (const bool has_library : {true, false}) {
    hidden.has_library = has_library;
    ProcessLook look = hidden;
    look.environment.push_back("CAIRN_BREADCRUMBS=off");
    EXPECT_THAT(Told(look, {"./game"}), HasSubstr("breadcrumbs are off"));
    look = hidden;
    look.environment.push_back("CAIRN_DISABLE_VULKAN_LAYER=1");
    EXPECT_THAT(Told(look, {"./game"}),
                HasSubstr("not followed: CAIRN_DISABLE_VULKAN_LAYER=1 disables "
                          "VK_LAYER_CAIRN_breadcrumbs; unset it"));
    look = hidden;
    look.has_manifest = true;
    EXPECT_EQ(Told(look, {"./game"}), kNoDevice) << "it created no instance";
    look.environment[2] = "VK_INSTANCE_LAYERS=VK_LAYER_x";
    EXPECT_EQ(Told(look, {"./game"}), kNoDevice) << "the manifest needs no list";
    look.has_manifest = false;
    EXPECT_EQ(WhyUnfollowed(look, Facts({"./game"})),
              has_library ? Unfollowed::kManifestHidden : Unfollowed::kLibraryHidden);
  }
  ProcessLook shown = Game();
  shown.environment.push_back("CAIRN_DISABLE_VULKAN_LAYER=1");
  EXPECT_EQ(Told(shown, {"./game"}), kNoDevice) << "that variable is the manifest's";
}

TEST_F(DescendantLogTest, WhereTheLayersWereNothingIsReported) {
  EXPECT_EQ(Told(Game(), {"./game"}),
            "game (process 71) loaded libvulkan.so.1, and created no device that Cairn follows");
}

// Shells and helpers are not reported if any process used the GPU.
TEST_F(DescendantLogTest, WithoutAnyUseOfTheGpuWhoRanIsTold) {
  ProcessLook shell = Game();
  shell.program = "/bin/sh";
  shell.gpu = GpuLibrary::kNone;
  Start(70, 1, shell);
  See();
  EXPECT_THAT(log_.TellUnfollowed(), IsEmpty());
  EXPECT_EQ(log_.TellWhoRan(), "sh (process 70) loaded neither Vulkan nor Direct3D 12");
  for (ProcessId id = 71; id < 80; ++id) Start(id, 70, shell);
  See();
  EXPECT_EQ(log_.TellWhoRan(),
            "sh (process 70), sh (process 71), sh (process 72), sh (process 73) and 6 more loaded "
            "neither Vulkan nor Direct3D 12");
}

TEST_F(DescendantLogTest, OfWhoEndsAtOnceTheFileIsLookedAt) {
  Run({"./game", "--fast"});
  EXPECT_EQ(
      log_.TellWhoRan(),
      "game ended at once, and no device of Vulkan or Direct3D 12 was seen; if it only starts "
      "your program, type: /opt/cairn/bin/cairn run -- YOUR-PROGRAM");
  RunFacts facts = Facts({"./game"});
  facts.file.program = "./game";
  facts.file.is_static = true;
  EXPECT_EQ(DescendantLog(facts).TellWhoRan(),
            "game was not followed: it is linked statically, so that no library is loaded into it; "
            "link it dynamically");
  facts.file.is_static = false;
  facts.file.is_32_bit = true;
  EXPECT_EQ(DescendantLog(facts).TellWhoRan(),
            "game was not followed: it is a program of 32 bits, which no library of 64 bits can be "
            "loaded into");
  facts.file.is_32_bit = false;
  facts.file.is_setuid = true;
  EXPECT_THAT(
      DescendantLog(facts).TellWhoRan(),
      HasSubstr("game was not followed: it has more rights than its user (setuid or setgid)"));
}

TEST_F(DescendantLogTest, WhoWantsNoLayerIsToldSo) {
  RunFacts facts = Facts({"./game"});
  facts.library.clear();
  EXPECT_EQ(WhyUnfollowed(Outside(), facts), Unfollowed::kNoLayer);
}

// On a machine with very many processes.
TEST_F(DescendantLogTest, LookingCostsATwentieth) {
  See();
  log_.NoteCost(now_ns_ + kSecond / 10, kSecond / 10);
  EXPECT_EQ(log_.next_look_ns(), now_ns_ + kSecond / 10 + 2 * kSecond);
}

TEST_F(DescendantLogTest, NobodyIsLookedAtAgainAndAgain) {
  Start(71, 1, Game());
  for (int i = 0; i < 1000; ++i) {
    See();
    now_ns_ += kSecond / 100;
  }
  EXPECT_LT(looked_at_, 12) << "in ten seconds";
  EXPECT_EQ(log_.next_look_ns(), now_ns_ - kSecond / 100 + kSecond / 2);
  log_.LookSoon();
  See();
  EXPECT_EQ(log_.next_look_ns(), now_ns_ + kSecond / 50);
}

TEST_F(DescendantLogTest, WhoOutlivesTheProgramIsAwaited) {
  ProcessLook idle = Game();
  idle.gpu = GpuLibrary::kNone;
  ProcessLook server = idle;
  server.program = "/usr/lib/wine/wineserver";
  Start(70, 1, idle, 1);
  Start(71, 70, idle, 1);
  Start(72, 70, idle, 2);
  Start(73, 70, Game(), 3);
  Start(74, 70, server, 1);
  See();
  End(70);
  See();
  const uint64_t ended_ns = now_ns_;
  EXPECT_THAT(log_.Awaited({ended_ns}, now_ns_),
              ElementsAre("game (process 71)", "game (process 72)", "game (process 73)"));
  EXPECT_THAT(log_.Awaited({ended_ns, true, {71}}, now_ns_),
              ElementsAre("game (process 72)", "game (process 73)"));
  const uint64_t later_ns = now_ns_ + DescendantLog::kGraceNs;
  EXPECT_THAT(log_.Awaited({ended_ns}, later_ns),
              ElementsAre("game (process 71)", "game (process 73)"))
      << "a daemon that does nothing with the GPU";
  EXPECT_THAT(log_.Awaited({ended_ns, true}, later_ns), ElementsAre("game (process 73)"))
      << "what a game leaves behind";
  End(71);
  End(73);
  See();
  EXPECT_THAT(log_.Awaited({ended_ns}, later_ns), IsEmpty());
}

// Numbers are used again, and a process may become another program.
TEST_F(DescendantLogTest, TheLastProgramOfAProcessCounts) {
  ProcessLook shell = Game();
  shell.program = "/bin/sh";
  Start(71, 1, shell);
  See();
  looks_[71] = Game();
  now_ns_ += kSecond;
  See();
  EXPECT_EQ(log_.LookOf(71)->program, "./game");
  looks_[71] = ProcessLook();  // it ends while it is looked at
  now_ns_ += 10 * kSecond;
  See();
  EXPECT_EQ(log_.LookOf(71)->program, "./game");
  EXPECT_EQ(log_.LookOf(72), nullptr);
}

}  // namespace
}  // namespace cairn
