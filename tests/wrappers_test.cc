// SPDX-License-Identifier: Apache-2.0
//
// Programs behind what starts programs (docs/reference/cairn-run.md, "Behind other programs"): one crash makes one file, named
// after the program that used the GPU; and where nothing could be seen of it, the cause and the line to type are told.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kLibraries[] = CAIRN_BINARY_DIR "/lib";
constexpr char kFile[] = "sample-killed-vulkan-plain.cairn";
constexpr char kDied[] =
    "cairn: sample-killed-vulkan-plain died with signal 9 \\(SIGKILL\\), which Cairn did not send; "
    "report: cairn report sample-killed-vulkan-plain\\.cairn\n";

bool Works(const std::vector<std::string>& command) {
  return RunCommand(command, {}).exit_code == 0;
}

class WrappersTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(CAIRN_SANITIZED)
    GTEST_SKIP() << "a library with sanitizers cannot be preloaded into programs without them";
#endif
  }
  std::vector<std::string> UnderCairn(const std::vector<std::string>& words) {
    std::vector<std::string> arguments = {Program("cairn"), "run", "--"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return arguments;
  }

  // `wrapper`, and behind it a Vulkan program that knows nothing of Cairn, and is killed while it draws.
  void ExpectOneReport(std::vector<std::string> wrapper) {
    wrapper.push_back(game_);
    const CommandResult result = RunCommand(
        UnderCairn(wrapper), {.folder = folder_.path(), .environment = LavapipeEnvironment()});
    EXPECT_THAT(folder_.Contents(), ElementsAre(kFile)) << result.Summary();
    EXPECT_THAT(result.errors, ContainsRegexOnce(kDied)) << result.Summary();
    EXPECT_THAT(result.errors, Not(HasSubstr("no GPU work was seen"))) << result.Summary();
    if (folder_.Contents().empty()) return;
    EXPECT_THAT(ReadReportedWork(folder_ / kFile).candidates, Contains("DISPATCH "))
        << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty());
  }
  // One report and no other.
  static ::testing::Matcher<std::string> ContainsRegexOnce(const std::string& line) {
    return AllOf(::testing::ContainsRegex(line),
                 Not(MatchesRegex("(.|\n)*; report: (.|\n)*; report: (.|\n)*")));
  }
  // `words` start tests/programs/vulkan_idle, which is ended once cairn has looked at it. Returns what cairn says.
  std::string ToldOf(const std::vector<std::string>& words,
                     const std::vector<std::string>& environment = {}) {
    Command command(UnderCairn(words), {.folder = folder_.path(), .environment = environment});
    const pid_t program = command.WaitUntilReady();
    if (program <= 0) return "it did not start: " + command.Wait().Summary();
    WaitUntilLookedFrom(command.pid());
    kill(program, SIGTERM);
    return command.Wait().errors;
  }

  const std::string game_ = CAIRN_BINARY_DIR "/bin/sample-killed-vulkan-plain";
  const std::string idle_ = CAIRN_BINARY_DIR "/tests/programs/vulkan_idle";
  const std::string static_launcher_ = CAIRN_BINARY_DIR "/tests/programs/static_launcher";
  TemporaryFolder folder_;
};

// ---- Followed -----------------------------------------------------------------------------------------

TEST_F(WrappersTest, Timeout) {
  ExpectOneReport({"timeout", "50"});
}

TEST_F(WrappersTest, Nohup) {
  ExpectOneReport({"nohup"});
}

TEST_F(WrappersTest, UnshareFork) {
  if (!Works({"unshare", "--fork", "true"})) GTEST_SKIP() << "unshare cannot be run";
  ExpectOneReport({"unshare", "--fork"});
}

TEST_F(WrappersTest, UnshareNetworkAndMounts) {
  if (!Works({"unshare", "--fork", "--net", "--mount", "true"})) {
    GTEST_SKIP() << "this user may make no such namespaces";
  }
  ExpectOneReport({"unshare", "--fork", "--net", "--mount"});
}

TEST_F(WrappersTest, Strace) {
  if (!Works({"strace", "-o", "/dev/null", "true"})) GTEST_SKIP() << "strace cannot be run";
  ExpectOneReport({"strace", "-f", "-o", "/dev/null"});
}

TEST_F(WrappersTest, ShellThatBecomesTheProgram) {
  ExpectOneReport({"bash", "-c", "exec \"$0\""});
}

TEST_F(WrappersTest, ShellThatStaysBesideIt) {
  ExpectOneReport({"sh", "-c", "\"$0\"; exit 3"});
}

TEST_F(WrappersTest, EmptyEnvironmentByEnv) {
  ExpectOneReport({"env", "-i"});
}

TEST_F(WrappersTest, EmptyEnvironmentByAShell) {
  if (!Works({"bash", "-c", "exec -c true"})) GTEST_SKIP() << "bash cannot be run";
  ExpectOneReport({"bash", "-c", "exec -c \"$0\""});
}

TEST_F(WrappersTest, EmptyEnvironmentByPython) {
  ExpectOneReport(
      {"python3", "-c",
       "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], env={}).returncode)"});
}

TEST_F(WrappersTest, EmptyEnvironmentByPosixSpawn) {
  ExpectOneReport({"python3", "-c",
                   "import os, sys; os.waitpid(os.posix_spawn(sys.argv[1], sys.argv[1:], {}), 0)"});
}

TEST_F(WrappersTest, EmptyEnvironmentByBubblewrap) {
  if (!Works({"bwrap", "--dev-bind", "/", "/", "true"})) GTEST_SKIP() << "bwrap cannot be run";
  ExpectOneReport({"bwrap", "--dev-bind", "/", "/", "--clearenv"});
}

TEST_F(WrappersTest, OtherLayersAndPreloadedLibraries) {
  ExpectOneReport({"env", "VK_INSTANCE_LAYERS=VK_LAYER_none", "LD_PRELOAD="});
}

TEST_F(WrappersTest, Sudo) {
  if (!Works({"sudo", "-n", "true"})) GTEST_SKIP() << "sudo cannot be run";
  if (geteuid() != 0) GTEST_SKIP() << "the program would have another user";
  ExpectOneReport({"sudo", "-n"});
}

TEST_F(WrappersTest, Su) {
  if (geteuid() != 0 || !Works({"su", "root", "-c", "true"})) GTEST_SKIP() << "su wants a password";
  ExpectOneReport({"su", "root", "-s", "/bin/sh", "-c", "exec \"$0\"", "--"});
}

TEST_F(WrappersTest, XvfbRun) {
  if (!Works({"xvfb-run", "-a", "true"})) GTEST_SKIP() << "xvfb-run cannot be run";
  ExpectOneReport({"xvfb-run", "-a"});
}

// The game is started, and has done nothing, when its launcher is gone; its standard streams are elsewhere, or not.
TEST_F(WrappersTest, ALauncherThatEndsFirst) {
  ExpectOneReport({"sh", "-c", "(read line; exec \"$0\") < /dev/null & exit 0"});
}

TEST_F(WrappersTest, ALauncherThatEndsFirstAndMakesASession) {
  ExpectOneReport(
      {"python3", "-c",
       "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"});
}

TEST_F(WrappersTest, WrappersBehindWrappers) {
  ExpectOneReport({"env", "-i", "/usr/bin/timeout", "50", "/bin/sh", "-c", "\"$0\"; kill -9 $$"});
}

// ---- Told ---------------------------------------------------------------------------------------------

TEST_F(WrappersTest, AStaticLauncherWithAnEmptyEnvironment) {
  if (!fs::exists(static_launcher_)) GTEST_SKIP() << "programs cannot be linked statically here";
  EXPECT_THAT(
      ToldOf({static_launcher_, "--start", idle_, "libvulkan.so.1"}),
      AllOf(StartsWith("cairn: no GPU work was seen: vulkan_idle (process "),
            HasSubstr(" loaded libvulkan.so.1"),
            HasSubstr(" and was not followed: its environment was emptied before it started, by "
                      "static_launcher (process "),
            HasSubstr("); type: " + static_launcher_ + " --start " + Program("cairn") + " run -- " +
                      idle_ + " libvulkan.so.1\n")));
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(WrappersTest, ADriverThatIsOpenedDirectly) {
  EXPECT_THAT(
      ToldOf({idle_, "libvulkan_lvp.so"}),
      HasSubstr(" loaded libvulkan_lvp.so and was not followed: it opened the driver itself, "
                "without the Vulkan loader"));
}

TEST_F(WrappersTest, ALayerThatIsDisabled) {
  EXPECT_THAT(ToldOf({idle_, "libvulkan.so.1"}, {"VK_LOADER_LAYERS_DISABLE=~explicit~"}),
              HasSubstr("VK_LOADER_LAYERS_DISABLE=~explicit~ disables VK_LAYER_CAIRN_breadcrumbs"));
}

TEST_F(WrappersTest, AContainerThatHidesTheLibrary) {
  const std::vector<std::string> bwrap = {"bwrap", "--ro-bind", "/",     "/",       "--dev",
                                          "/dev",  "--proc",    "/proc", "--tmpfs", kLibraries};
  std::vector<std::string> words = bwrap;
  words.push_back("true");
  if (!Works(words)) GTEST_SKIP() << "bwrap cannot be run";
  words.back() = idle_;
  words.push_back("libvulkan.so.1");
  EXPECT_THAT(ToldOf(words),
              HasSubstr(std::string("its container does not show ") + kLibraries +
                        "/libcairn-d3d12.so; show that folder in it, read-only: bwrap --ro-bind " +
                        kLibraries + " " + kLibraries));
}

TEST_F(WrappersTest, ASetuidProgramOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root: another user runs a program of root's";
  fs::permissions(folder_.path(), fs::perms::all);
  const std::string copy = folder_ / "setuid-copy";
  fs::copy_file(idle_, copy);
  ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
  EXPECT_THAT(
      ToldOf(
          {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy, "libvulkan.so.1"}),
      HasSubstr(" was not followed: it has more rights than its user (setuid or setgid), and "
                "the system keeps other libraries out; type: cp "));
}

TEST_F(WrappersTest, AProgramWithCapabilities) {
  fs::permissions(folder_.path(), fs::perms::all);
  const std::string copy = folder_ / "capable-copy";
  fs::copy_file(idle_, copy);
  if (!Works({"setcap", "cap_net_raw+ep", copy})) {
    GTEST_SKIP() << "file capabilities cannot be set in " << folder_.path();
  }
  EXPECT_THAT(ToldOf({copy, "libvulkan.so.1"}),
              HasSubstr(" was not followed: it has more rights than its user (file capabilities)"));
}

// Writes a program of 32 bits that waits for ever, without libraries.
void WriteProgramOf32Bits(const std::string& path) {
  constexpr uint32_t kBase = 0x10000;
  // mov eax, 29; int 0x80; jmp to the first: pause() again and again
  constexpr uint8_t kCode[] = {0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7};
  Elf32_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_386;
  header.e_version = EV_CURRENT;
  header.e_entry = kBase + sizeof(header) + sizeof(Elf32_Phdr);
  header.e_phoff = header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf32_Phdr);
  header.e_phnum = 1;
  Elf32_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_vaddr = segment.p_paddr = kBase;
  segment.p_filesz = segment.p_memsz = sizeof(header) + sizeof(segment) + sizeof(kCode);
  segment.p_flags = PF_R | PF_X;
  segment.p_align = 0x1000;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof(header));
  file.write(reinterpret_cast<const char*>(&segment), sizeof(segment));
  file.write(reinterpret_cast<const char*>(kCode), sizeof(kCode));
  file.close();
  fs::permissions(path, fs::perms::owner_all);
}

TEST_F(WrappersTest, AProgramOf32Bits) {
  const std::string program = folder_ / "game32";
  WriteProgramOf32Bits(program);
  for (const std::vector<std::string>& wrapper : std::vector<std::vector<std::string>>{
           {},
           {"env", "-i"},
           {"bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--die-with-parent", "--clearenv"}}) {
    std::vector<std::string> words = wrapper;
    if (!wrapper.empty() && !Works({wrapper.front(), "--version"})) continue;
    words.insert(words.end(), {"sh", "-c", "echo ready 1; exec \"$0\"", program});
    Command command(UnderCairn(words), {.folder = folder_.path()});
    ASSERT_EQ(command.WaitUntilReady(), 1);
    WaitUntilLookedFrom(command.pid());
    kill(command.pid(), SIGTERM);
    const CommandResult result = command.Wait();
    if (result.exit_code == 126) GTEST_SKIP() << "this kernel runs no programs of 32 bits";
    EXPECT_THAT(result.errors,
                ::testing::ContainsRegex(
                    "cairn: no GPU work was seen: game32 \\(process [0-9]+\\) was not followed: it "
                    "is a program of 32 bits, which no library of 64 bits can be loaded into\n"))
        << result.Summary();
  }
}

// More devices at once than there is room for, as implementations of WebGPU make them.
TEST_F(WrappersTest, ManyDevicesAreToldOfOnce) {
  const CommandResult result =
      RunCommand(UnderCairn({CAIRN_BINARY_DIR "/tests/programs/many_devices", "70"}),
                 {.folder = folder_.path(), .environment = LavapipeEnvironment()});
  EXPECT_EQ(result.output, "70 devices\n") << result.Summary();
  EXPECT_EQ(result.errors,
            "cairn: warning: no breadcrumbs for a Vulkan device: this process has 64 devices with "
            "breadcrumbs already, the most that there is room for; destroy one to make room\n");
}

// The report also tells why a program was not followed.
TEST_F(WrappersTest, TheReportTellsTheCause) {
  Command command(UnderCairn({idle_, "libvulkan_lvp.so"}), {.folder = folder_.path()});
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0);
  WaitUntilLookedFrom(command.pid());
  kill(program, SIGKILL);
  const CommandResult result = command.Wait();
  EXPECT_THAT(ReadReportedWork(folder_ / "vulkan_idle.cairn").losses,
              ElementsAre(HasSubstr("it opened the driver itself")))
      << result.Summary();
}

}  // namespace
}  // namespace cairn::testing
