// SPDX-License-Identifier: Apache-2.0
//
// `cairn run -- wine PROGRAM.exe` on Linux: a program of Windows gets the report that a native one gets. `./test --windows`
// runs it in tools/wine-env, where Wine draws Direct3D 12 on lavapipe; the programs are of `cmake --preset windows`.
#include "wine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "harness.h"
#include "reader/report/work_states.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kAtThatMoment[] = "the report shows the state at that moment";

// Returns the output of `cairn` about a file.
std::string Told(const std::vector<std::string>& words) {
  std::vector<std::string> command = {Program("cairn")};
  command.insert(command.end(), words.begin(), words.end());
  return RunCommand(command, {}).output;
}

class WineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNoWine().empty()) GTEST_SKIP() << WhyNoWine();
  }

  std::vector<std::string> RunWords(std::vector<std::string> options,
                                    const std::vector<std::string>& program) const {
    std::vector<std::string> words = {Program("cairn"), "run", "--no-witnesses", "-o", file_};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "wine"});
    words.insert(words.end(), program.begin(), program.end());
    return words;
  }
  CommandResult Run(const std::vector<std::string>& options,
                    const std::vector<std::string>& program) const {
    CommandResult result = RunCommand(RunWords(options, program), {.folder = folder_.path()});
    result.errors = result.Lines();
    return result;
  }
  CommandResult Dies(const std::string& how, const std::vector<std::string>& options = {}) const {
    return Run(options, {WindowsProgram("dies.exe"), how});
  }
  std::string Line(const std::string& what) const {
    return "cairn: dies.exe " + what + "; report: cairn report " + file_ + "\n";
  }
  bool HasFile() const { return std::filesystem::exists(file_); }

  // The copies of the second list, of which the GPU has begun some, or none yet.
  void ExpectCopiesUnfinished() const {
    const std::string tree = ReportTree(file_, true);
    EXPECT_THAT(tree, HasSubstr("[X] queue 0 \"Main queue\" (direct), submission 1, command list "
                                "1 \"Warm-up\""));
    EXPECT_THAT(tree, ContainsRegex("\\[[> ]\\] queue 0 \"Main queue\" \\(direct\\), submission 2, "
                                    "command list 2 \"Copies\""));
    EXPECT_THAT(tree, HasSubstr("Frame 7\n"));
    EXPECT_THAT(tree, HasSubstr("200 copies\n"));
    EXPECT_THAT(tree, HasSubstr("[ ] COPY_BUFFER_REGION #200 ("));
    const std::string report = Told({"report", "--all", file_});
    EXPECT_THAT(report,
                ContainsRegex("ID3D12CommandQueue::ExecuteCommandLists\\(NumCommandLists = 1, "
                              "[^)]*\\) of command queue \"Main queue\""));
    EXPECT_THAT(report, HasSubstr("written with vkCmdFillBuffer through the Vulkan layer, imported "
                                  "memory"));
    EXPECT_THAT(report, Not(HasSubstr("Device 1"))) << "the same device once more, as Vulkan's";
  }

  TemporaryFolder folder_;
  std::string file_ = folder_ / "dies.cairn";
};

TEST_F(WineTest, Exceptions) {
  struct Case {
    const char* how;
    int exit_code;  // what Linux keeps of it
    int64_t exception;
    const char* words;
    const char* address;
  };
  for (const Case& one :
       {Case{"write", 0x05, 0xc0000005, "exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION)",
             "0x1230"},
        Case{"execute", 0x05, 0xc0000005, "exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION)",
             "0x1230"},
        Case{"divide", 0x94, 0xc0000094, "exception 0xc0000094 (EXCEPTION_INT_DIVIDE_BY_ZERO)", ""},
        Case{"raise", 0x34, 0xe0001234, "exception 0xe0001234", ""},
        Case{"fastfail", 0x09, 0xc0000409, "exception 0xc0000409 (STATUS_STACK_BUFFER_OVERRUN)",
             ""}}) {
    SCOPED_TRACE(one.how);
    const CommandResult result = Dies(one.how);
    EXPECT_EQ(result.exit_code, one.exit_code);
    EXPECT_EQ(result.Lines(), Line(std::string("died with ") + one.words));
    EXPECT_THAT(ReportedIncidents(file_),
                ElementsAre(ReportedIncident{"signal", one.exception, "", kAtThatMoment}));
    EXPECT_THAT(Told({"report", "--json", file_}), HasSubstr(one.address));
    ExpectCopiesUnfinished();
  }
}

TEST_F(WineTest, AnAbort) {
  EXPECT_EQ(Dies("abort").errors, Line("died with signal 6 (SIGABRT)"));
  ExpectCopiesUnfinished();
}

TEST_F(WineTest, TerminateProcess) {
  const CommandResult result = Dies("terminate");
  EXPECT_EQ(result.exit_code, 77);
  EXPECT_EQ(result.Lines(), Line("died with TerminateProcess(77), which Cairn did not call"));
  ExpectCopiesUnfinished();
}

TEST_F(WineTest, AnExitAndARepairedFaultAreNothing) {
  for (const auto& [how, exit_code] : {std::pair{"exit", 5}, {"handled", 0}}) {
    const CommandResult result = Dies(how);
    EXPECT_EQ(result.exit_code, exit_code) << how;
    EXPECT_EQ(result.errors, "") << how;
    EXPECT_FALSE(HasFile()) << how;
  }
}

TEST_F(WineTest, AKill) {
  Command command(RunWords({}, {WindowsProgram("dies.exe"), "wait"}), {.folder = folder_.path()});
  ASSERT_NE(command.WaitUntilReady(), -1);
  KillProcess(ChildOf(command.pid()));
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.exit_code, kExitOfKilled);
  EXPECT_EQ(result.Lines(), Line("died with signal 9 (SIGKILL), which Cairn did not send"));
  EXPECT_THAT(ReportedIncidents(file_), ElementsAre(ReportedIncident{"signal", SIGKILL, "", ""}));
  ExpectCopiesUnfinished();
}

TEST_F(WineTest, AHang) {
  const CommandResult result = Dies("hang", {"--hang-timeout", "2", "--kill-on-hang"});
  EXPECT_EQ(result.Lines(), Line("hangs: GPU work made no progress for 2 s; killed it"));
  EXPECT_THAT(ReportedIncidents(file_),
              ElementsAre(ReportedIncident{"hang", 2000, "Main queue", "--kill-on-hang"}));
  const std::string report = Told({"report", "--all", file_});
  EXPECT_THAT(report,
              ContainsRegex("^GPU hang( or unreported fault)? in DISPATCH #1 \\([0-9]+, 1, 1\\) "
                            "+likely\n  where     Frame 7 > Fog · .*\n"
                            "  pipeline  compute pipeline \"Volumetric fog\""));
  EXPECT_THAT(ReportTree(file_, true), HasSubstr("[ ] COPY_BUFFER_REGION #2"));
}

// The Windows half leaves work out, by a board that `cairn bisect` has made on Linux.
TEST_F(WineTest, ASearchForTheCulprit) {
  const CommandResult result = RunCommand({Program("cairn"), "bisect", "--no-why", "--hang-timeout",
                                           "2", "--", "wine", WindowsProgram("dies.exe"), "hang"},
                                          {.folder = folder_.path(), .timeout_s = 200});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("in        Frame # > Fog\n"), HasSubstr("pipeline  Volumetric fog ["),
                    HasSubstr("Without it everything else runs to its end.\n")));
}

TEST_F(WineTest, ALostDevice) {
  const CommandResult result = Dies("lost");
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.Lines(), Line("lost its device (code -2005270527, 0x887a0001)"));
  const std::vector<ReportedIncident> incidents = ReportedIncidents(file_);
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents[0].kind, "device lost");
  EXPECT_THAT(Told({"report", "--all", file_}), HasSubstr("ID3D12Device::GetDeviceRemovedReason"));
}

// The driver loses the device, and vkd3d keeps that to itself: the program waits for ever.
TEST_F(WineTest, ALossThatTheDriverReports) {
  const CommandResult result =
      RunCommand(RunWords({"--breadcrumbs", "exact", "--hang-timeout", "2", "--kill-on-hang"},
                          {WindowsProgram("dies.exe"), "lose"}),
                 {.folder = folder_.path(), .environment = {"VK_DRIVER_FILES=" + LosingDriver()}});
  EXPECT_EQ(result.Lines(), Line("lost its device (code -4, 0xfffffffc)") +
                                Line("hangs: GPU work made no progress for 2 s; killed it"));
  EXPECT_THAT(ReportedIncidents(file_),
              ElementsAre(ReportedIncident{"device lost", -4, "", "vkWaitSemaphores"},
                          ReportedIncident{"hang", 2000, "Main queue", "--kill-on-hang"}));
  EXPECT_THAT(
      Told({"report", "--all", file_}),
      ContainsRegex(
          "^Device lost \\(VK_ERROR_DEVICE_LOST\\) in DISPATCH #1 \\([0-9]+, 1, 1\\) +proven\n"
          "  where     Frame 7 > Fog · .*\n  pipeline  compute pipeline \"Volumetric fog\""));
  EXPECT_THAT(ReportTree(file_, true),
              AllOf(HasSubstr("[X] COPY_BUFFER_REGION #1"), HasSubstr("[>] DISPATCH #1"),
                    HasSubstr("[ ] COPY_BUFFER_REGION #2")));
}

// Nobody but the launcher knows that it is Wine, and no drive of Windows is where the library lies.
TEST_F(WineTest, ThroughALauncherFromAFolderOfAnyName) {
  const std::string folder = folder_ / "Bücher 本 𝕏";
  std::filesystem::create_directory(folder);
  std::filesystem::copy(WindowsProgram("../../bin/cairn-d3d.dll"), folder);
  const CommandResult result =
      RunCommand({Program("cairn"), "run", "--no-witnesses", "-o", file_, "--", "sh", "-c",
                  "wine " + WindowsProgram("dies.exe") + " raise; exit 3"},
                 {.folder = folder_.path(),
                  .environment = {"CAIRN_WINDOWS_LAYER_PATH=" + folder + "/cairn-d3d.dll"}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.Lines(), Line("died with exception 0xe0001234"));
  ExpectCopiesUnfinished();
}

TEST_F(WineTest, WithoutTheWindowsHalfVulkanCallsAreFollowed) {
  const CommandResult result = RunCommand(
      RunWords({}, {WindowsProgram("dies.exe"), "raise"}),
      {.folder = folder_.path(), .environment = {"CAIRN_WINDOWS_LAYER_PATH=/nowhere.dll"}});
  EXPECT_EQ(result.Lines(),
            "cairn: warning: calls of Direct3D are not followed: /nowhere.dll cannot be loaded, "
            "status 0xc0000135\n" +
                Line("died with exception 0xe0001234"));
  EXPECT_THAT(ReportTree(file_, true), HasSubstr("] COPY_BUFFER #200 ("));
}

// A program that we did not write, which another program of Windows starts.
TEST_F(WineTest, AForeignProgramAndItsCapture) {
  const CommandResult result =
      Run({"--capture", "--dump-on-exit"},
          {WindowsProgram("watch-window.exe"), "10", WindowsProgram("imgui-d3d12.exe")});
  EXPECT_THAT(result.output, HasSubstr("10 pictures, then ended with 0")) << result.errors;
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("cairn: imgui-d3d12.exe "), Not(HasSubstr("warning"))));
  EXPECT_THAT(Told({"verify", file_}), HasSubstr("0 errors"));
  EXPECT_THAT(Told({"calls", file_}),
              ContainsRegex("ID3D12GraphicsCommandList #[0-9]+  DrawIndexedInstanced"));
  EXPECT_THAT(ReportTree(file_, true), HasSubstr("DRAW_INDEXED_INSTANCED"));
  const ReportedWork work = ReadReportedWork(file_);
  EXPECT_TRUE(work.valid);
  EXPECT_THAT(work.scope_states, Each(kCompletedWord));
}

}  // namespace
}  // namespace cairn::testing
