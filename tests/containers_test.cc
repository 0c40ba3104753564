// SPDX-License-Identifier: Apache-2.0
//
// Programs in containers with a /usr of their own, which hide Cairn's folder, and show the installed implicit layer in
// another place: as pressure-vessel, which Steam starts games in, calls bubblewrap (docs/reference/cairn-run.md, "Behind
// other programs").
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Words = std::vector<std::string>;

constexpr char kManifest[] = "share/vulkan/implicit_layer.d/cairn.json";
constexpr char kLibrary[] = CAIRN_BINARY_DIR "/lib/libcairn-d3d12.so";
constexpr char kImported[] = "lib/x86_64-linux-gnu/vulkan_imp_layer/0";
constexpr char kInserted[] = "Insert instance layer \"VK_LAYER_CAIRN_breadcrumbs\"";

void Append(Words* words, const Words& more) {
  words->insert(words->end(), more.begin(), more.end());
}

int CountOf(const std::string& part, const std::string& text) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Writes the installed manifest into the data folder `share`, with the library in another folder.
void WriteManifest(const fs::path& share, const std::string& folder_of_library) {
  std::string text = ReadFile(fs::path(CAIRN_BINARY_DIR) / kManifest);
  const std::string name = "\"library_path\": \"";
  const size_t at = text.find(name);
  const size_t end = text.find("/libcairn-d3d12.so", at);
  ASSERT_NE(end, std::string::npos) << text;
  text.replace(at + name.size(), end - at - name.size(), folder_of_library);
  fs::create_directories(share / "vulkan/implicit_layer.d");
  std::ofstream(share / "vulkan/implicit_layer.d/0.json") << text;
}

class ContainersTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(CAIRN_SANITIZED)
    GTEST_SKIP() << "a library with sanitizers cannot be loaded into programs without them";
#endif
    Words words = Container();
    words.push_back("true");
    if (RunCommand(words, {}).exit_code != 0) GTEST_SKIP() << "bwrap cannot be run";
    fs::create_directories(overrides_ / kImported);
    fs::create_symlink("/run/host" + std::string(kLibrary),
                       overrides_ / kImported / "libcairn-d3d12.so");
    WriteManifest(overrides_ / "share", "/overrides/" + std::string(kImported));
  }

  // The call of bubblewrap without a program. The host's /usr stands for that of a runtime: it has a loader and a
  // driver, and no Cairn.
  Words Container() const {
    Words words = {"bwrap", "--ro-bind", "/usr", "/usr"};
    for (const char* name : {"bin", "lib", "lib64", "sbin"}) {
      Append(&words, {"--symlink", std::string("usr/") + name, std::string("/") + name});
    }
    Append(&words, {"--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs",
                    "/tmp", "--ro-bind", "/", "/run/host"});
    for (const char* programs : {CAIRN_BINARY_DIR "/bin", CAIRN_BINARY_DIR "/tests/programs"}) {
      Append(&words, {"--ro-bind", programs, programs});
    }
    Append(&words, {"--ro-bind", overrides_.string(), "/overrides", "--setenv", "XDG_DATA_DIRS",
                    "/overrides/share:/usr/local/share:/usr/share", "--unsetenv", "VK_LAYER_PATH"});
    return words;
  }

  // A program that draws and is killed, in a container called with `more`, gives one report that names its work.
  void ExpectOneReport(const Words& more) {
    Words words = {Program("cairn"), "run", "--"};
    Append(&words, Container());
    Append(&words, more);
    words.push_back(CAIRN_BINARY_DIR "/bin/sample-killed-vulkan-plain");
    ExpectOneReportOf(words);
  }
  void ExpectOneReportOf(const Words& words) {
    const CommandResult result =
        RunCommand(words, {.folder = folder_.path(), .environment = LavapipeEnvironment()});
    const std::string file = "sample-killed-vulkan-plain.cairn";
    errors_ = result.errors;
    ASSERT_THAT(folder_.Contents(), ElementsAre(file)) << result.Summary();
    EXPECT_THAT(result.errors,
                HasSubstr("cairn: sample-killed-vulkan-plain died with signal 9 (SIGKILL), which "
                          "Cairn did not send; report: cairn report " +
                          file + "\n"));
    EXPECT_THAT(result.errors, Not(HasSubstr("ld.so"))) << result.Summary();
    EXPECT_THAT(ReadReportedWork(folder_ / file).candidates, Contains("DISPATCH "))
        << result.Summary();
  }

  // Returns the sentences of cairn about a program in a container called with `more` that opens the Vulkan loader and waits.
  std::string ToldOf(const Words& more) {
    Words words = {Program("cairn"), "run", "--"};
    Append(&words, Container());
    Append(&words, more);
    Append(&words, {CAIRN_BINARY_DIR "/tests/programs/vulkan_idle", "libvulkan.so.1"});
    Command command(words, {.folder = folder_.path()});
    const pid_t program = command.WaitUntilReady();
    if (program <= 0) return "it did not start: " + command.Wait().Summary();
    WaitUntilLookedFrom(command.pid());
    kill(program, SIGTERM);
    return command.Wait().errors;
  }

  TemporaryFolder folder_;
  TemporaryFolder imported_;
  const fs::path overrides_ = imported_.path();
  std::string errors_;  // of ExpectOneReport()
};

// Paths below /usr and /lib are rewritten.
TEST_F(ContainersTest, PressureVessel) {
  ExpectOneReport({"--setenv", "LD_PRELOAD", "/run/host" + std::string(kLibrary)});
}

TEST_F(ContainersTest, AListOfPreloadedLibrariesThatIsNotPassedOn) {
  ExpectOneReport({"--unsetenv", "LD_PRELOAD"});
}

TEST_F(ContainersTest, ALibraryThatIsPreloadedAndHidden) {
  ExpectOneReport({});
}

TEST_F(ContainersTest, NothingOfTheLoadersVariables) {
  ExpectOneReport({"--unsetenv", "LD_PRELOAD", "--unsetenv", "VK_INSTANCE_LAYERS", "--unsetenv",
                   "VK_ADD_LAYER_PATH"});
}

TEST_F(ContainersTest, AnEmptyEnvironment) {
  ExpectOneReport({"--clearenv", "--setenv", "XDG_DATA_DIRS", "/overrides/share:/usr/share"});
}

// Installed in the home folder, which such containers share.
TEST_F(ContainersTest, ALibraryAtItsOwnPath) {
  fs::remove_all(overrides_ / "share");
  ExpectOneReport({"--ro-bind", CAIRN_BINARY_DIR "/lib", CAIRN_BINARY_DIR "/lib"});
}

// Both manifests name the layer: the implicit one is enabled by hand, and the container shows the folder of the other.
TEST_F(ContainersTest, BothManifestsGiveOneLayer) {
  ExpectOneReport({"--ro-bind", CAIRN_BINARY_DIR "/lib", CAIRN_BINARY_DIR "/lib", "--setenv",
                   "CAIRN_ENABLE_VULKAN_LAYER", "1", "--setenv", "VK_LOADER_DEBUG", "all"});
  EXPECT_THAT(errors_, HasSubstr("/overrides/share/vulkan/implicit_layer.d/0.json"));
  EXPECT_THAT(errors_, HasSubstr(CAIRN_BINARY_DIR "/lib/VkLayer_CAIRN_breadcrumbs.json"));
  EXPECT_EQ(CountOf(kInserted, errors_), 1) << errors_;
}

// The program enables the layer as well.
TEST_F(ContainersTest, TheProgramEnablesTheLayerItself) {
  const std::string preloaded = CAIRN_BINARY_DIR "/tests/programs/libenable_layer.so";
  ExpectOneReport({"--setenv", "LD_PRELOAD", preloaded, "--ro-bind", CAIRN_BINARY_DIR "/lib",
                   CAIRN_BINARY_DIR "/lib", "--setenv", "CAIRN_ENABLE_VULKAN_LAYER", "1",
                   "--setenv", "VK_LOADER_DEBUG", "all"});
  EXPECT_EQ(CountOf(kInserted, errors_), 1) << errors_;
}

TEST_F(ContainersTest, ProcessesOfItsOwn) {
  ExpectOneReport({"--unshare-pid", "--unshare-ipc", "--unshare-uts"});
}

TEST_F(ContainersTest, AMissingManifestIsTold) {
  fs::remove_all(overrides_ / "share");
  EXPECT_THAT(ToldOf({"--setenv", "LD_PRELOAD", "/run/host" + std::string(kLibrary)}),
              HasSubstr(" and was not followed: the Vulkan loader in its container did not load "
                        "the layer; if Cairn's package is not installed there, install it: "));
}

// The program only opens the loader, whose folders show the manifest by another name.
TEST_F(ContainersTest, AManifestThatIsThereIsNotMissing) {
  EXPECT_THAT(ToldOf({"--setenv", "LD_PRELOAD", "/run/host" + std::string(kLibrary)}),
              HasSubstr(", and created no device that Cairn follows\n"));
}

// Rootless, if this user is not root. The host's /usr stands for that of an image.
class PodmanTest : public ContainersTest {
 protected:
  void SetUp() override {
    ContainersTest::SetUp();
    if (IsSkipped()) return;
    for (const char* name : {"bin", "lib", "lib64", "sbin"}) {
      fs::create_symlink(std::string("usr/") + name, root_.path() / name);
    }
    Words words = Podman({});
    words.push_back("true");
    const CommandResult works = RunCommand(words, {.folder = folder_.path()});
    if (works.exit_code != 0) GTEST_SKIP() << "podman cannot be run: " << works.Summary();
  }

  // The call of podman without a program.
  Words Podman(const Words& more) const {
    Words words = {"podman",   "run",  "--rm",      "--cgroups=disabled",
                   "--ulimit", "host", "--network", "host"};
    for (const char* shown : {"/usr", "/etc/ld.so.cache", "/etc/ld.so.conf",
                              CAIRN_BINARY_DIR "/bin", CAIRN_BINARY_DIR "/tests/programs"}) {
      Append(&words, {"-v", std::string(shown) + ":" + shown + ":ro"});
    }
    Append(&words, more);
    Append(&words, {"--rootfs", root_.path().string()});
    return words;
  }

  TemporaryFolder root_;
};

TEST_F(PodmanTest, WithTheHostsEnvironmentAndTheLibrary) {
  Words words = {Program("cairn"), "run", "--"};
  const std::string library = CAIRN_BINARY_DIR "/lib";
  Append(&words, Podman({"--env-host", "-v", library + ":" + library + ":ro"}));
  // The first process of a container survives what it sends itself.
  Append(&words,
         {"sh", "-c", "\"$0\"; exit $?", CAIRN_BINARY_DIR "/bin/sample-killed-vulkan-plain"});
  ExpectOneReportOf(words);
}

// The manifest is for runs alone.
class ManifestTest : public ContainersTest {
 protected:
  // Returns the messages of the Vulkan loader while `program` creates a device, with the manifest installed.
  std::string LoaderSays(const std::string& program, const Words& more) {
    Words environment = LavapipeEnvironment();
    Append(&environment, {"XDG_DATA_HOME=" + (folder_ / "data"), "VK_LOADER_DEBUG=all"});
    Append(&environment, more);
    WriteManifest(folder_.path() / "data", CAIRN_BINARY_DIR "/lib");
    const CommandResult result = RunCommand({program, "1"}, {.environment = environment});
    EXPECT_EQ(result.output, "1 devices\n") << result.Summary();
    EXPECT_THAT(result.errors, HasSubstr("data/vulkan/implicit_layer.d/0.json"));
    return result.errors;
  }
  const std::string program_ = CAIRN_BINARY_DIR "/tests/programs/many_devices";
};

TEST_F(ManifestTest, OutsideOfARunNothingIsLoaded) {
  EXPECT_THAT(LoaderSays(program_, {}), Not(HasSubstr(kInserted)));
  EXPECT_THAT(LoaderSays(program_, {"CAIRN_ENABLE_VULKAN_LAYER=1"}), HasSubstr(kInserted));
  EXPECT_THAT(LoaderSays(program_, {"CAIRN_ENABLE_VULKAN_LAYER=1", "CAIRN_DISABLE_VULKAN_LAYER=1"}),
              Not(HasSubstr(kInserted)));
}

// The loader believes that variable of every program.
TEST_F(ManifestTest, ProgramsWithMoreRightsDoNotGetTheLayer) {
  const std::string copy = folder_ / "capable-copy";
  fs::copy_file(program_, copy);
  if (RunCommand({"setcap", "cap_net_raw+ep", copy}, {}).exit_code != 0) {
    GTEST_SKIP() << "file capabilities cannot be set in " << folder_.path();
  }
  EXPECT_THAT(LoaderSays(copy, {"CAIRN_ENABLE_VULKAN_LAYER=1"}), Not(HasSubstr(kInserted)));
}

}  // namespace
}  // namespace cairn::testing
