// SPDX-License-Identifier: Apache-2.0
//
// `cairn.exe run` and the programs under it: every way of Windows to die is told as what it is. What holds on every
// system is asked of Linux by run_test.cc in more cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <windows.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "harness.h"
#include "programs/misbehave_report.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

bool UnderWine8() {
  using Version = const char* (*)();
  const auto version = reinterpret_cast<Version>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version")));
  return version != nullptr && std::string(version()).starts_with("8.");
}

class RunExeTest : public ::testing::Test {
 protected:
  // `cairn run OPTIONS -- PROGRAM`, in the test's folder; checks what every run must keep.
  CommandResult Run(const std::vector<std::string>& options,
                    const std::vector<std::string>& program, const std::string& input = "",
                    std::vector<std::string> environment = {}) {
    CommandResult result =
        RunCommand(UnderCairn(options, program),
                   {.folder = folder_.path(), .environment = environment, .input = input});
    EXPECT_FALSE(result.timed_out) << result.Summary();
    result.errors = result.Lines();
    for (const std::string& name : folder_.Contents()) {
      EXPECT_FALSE(name.ends_with(".part") || name.ends_with(".old")) << name;
    }
    return result;
  }
  std::vector<std::string> UnderCairn(const std::vector<std::string>& options,
                                      const std::vector<std::string>& program) {
    // Other tests check the layers in programs.
    std::vector<std::string> arguments = {Program("cairn"), "run"};
    if (!with_layer_) arguments.push_back("--no-layer");
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back("--");
    arguments.insert(arguments.end(), program.begin(), program.end());
    return arguments;
  }
  // Expects the line of cairn about a death.
  void ExpectDeath(const std::string& mode, uint32_t exit_code, const std::string& died,
                   const ReportedIncident& incident) {
    SCOPED_TRACE(mode);
    const CommandResult result = Run({}, {misbehave_, mode});
    EXPECT_EQ(static_cast<uint32_t>(result.exit_code), exit_code) << result.Summary();
    EXPECT_THAT(result.errors, EndsWith("cairn: misbehave.exe died with " + died +
                                        "; report: cairn report misbehave.exe.cairn\n"));
    EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.exe.cairn"), ElementsAre(incident));
    EXPECT_EQ(ReportTree(folder_ / "misbehave.exe.cairn", true), kTreeInBlur);
    std::filesystem::remove(folder_ / "misbehave.exe.cairn");
  }

  const std::string misbehave_ = TestProgram("misbehave");
  const std::string plain_ = TestProgram("plain");
  bool with_layer_ = false;
  TemporaryFolder folder_;
};

TEST_F(RunExeTest, AnExitWritesNothingAndItsCodeIsTheProgramsOwn) {
  for (const char* code : {"0", "7", "255", "-1"}) {
    const CommandResult result = Run({}, {misbehave_, "exit", code});
    EXPECT_EQ(result.exit_code, std::stoi(code));
    EXPECT_EQ(result.errors, "") << code;
  }
  // In the middle of work, too, and without what the C library does at the end.
  EXPECT_EQ(Run({}, {misbehave_, "exit-process"}).exit_code, 5);
  EXPECT_EQ(Run({}, {misbehave_, "quick-exit"}).exit_code, 6);
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(RunExeTest, StandardStreamsAreTheProgramsOwn) {
  const CommandResult result = Run({}, {plain_, "cat"}, "some input");
  EXPECT_EQ(result.output, "some input");
  EXPECT_EQ(result.errors, "on stderr\r\n");
}

TEST_F(RunExeTest, AnExceptionIsToldWithItsCodeAndAddress) {
  const ReportedIncident violation = {"signal", 0xc0000005, "", kAtThatMoment};
  const std::string words = "exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION)";
  ExpectDeath("write", 0xc0000005, words, violation);
  ExpectDeath("write-in-thread", 0xc0000005, words, violation);
  ExpectDeath("execute", 0xc0000005, words, violation);
  ExpectDeath("divide", 0xc0000094, "exception 0xc0000094 (EXCEPTION_INT_DIVIDE_BY_ZERO)",
              {"signal", 0xc0000094, "", kAtThatMoment});
  ExpectDeath("raise", 0xe0001234, "exception 0xe0001234",
              {"signal", 0xe0001234, "", kAtThatMoment});
  (void)Run({}, {misbehave_, "write"});
  const std::string report =
      RunCommand({Program("cairn"), "report", "--json", folder_ / "misbehave.exe.cairn"}, {})
          .output;
  EXPECT_THAT(report, HasSubstr("\"address\": \"0x1230\""));
  EXPECT_THAT(report, HasSubstr("\"name\": \"EXCEPTION_ACCESS_VIOLATION\""));
}

// The system's own handler exits so.
TEST_F(RunExeTest, TheEndByControlCHasAName) {
  const CommandResult result = Run({}, {misbehave_, "exit", "-1073741510"});
  EXPECT_EQ(static_cast<uint32_t>(result.exit_code), 0xc000013au);
  EXPECT_EQ(result.errors,
            "cairn: misbehave.exe died with exception 0xc000013a (STATUS_CONTROL_C_EXIT); report: "
            "cairn report misbehave.exe.cairn\n");
}

// Nobody in the program is told: what the GPU had done by then is in the block all the same.
TEST_F(RunExeTest, AFastfailIsToldByItsCode) {
  ExpectDeath("fastfail", 0xc0000409, "exception 0xc0000409 (STATUS_STACK_BUFFER_OVERRUN)",
              {"signal", 0xc0000409, "", ""});
}

TEST_F(RunExeTest, AnAbortIsNoExit) {
  ExpectDeath("abort", 3, "signal 6 (SIGABRT)", {"signal", 6, "", kAtThatMoment});
  ExpectDeath("throw", 3, "signal 6 (SIGABRT)", {"signal", 6, "", kAtThatMoment});
}

// Wine 8 ends the thread, not the process, whose GPU work then stands still.
TEST_F(RunExeTest, AStackOverflowIsToldAsOne) {
  if (UnderWine8()) {
    const CommandResult result =
        Run({"--hang-timeout", "0.5", "--kill-on-hang"}, {misbehave_, "overflow"});
    EXPECT_EQ(result.exit_code, 124) << result.Summary();
    EXPECT_EQ(ReportTree(folder_ / "misbehave.exe.cairn", true), kTreeInBlur);
    GTEST_SKIP() << "Wine 8 tells no stack overflow";
  }
  ExpectDeath("overflow", 0xc00000fd, "exception 0xc00000fd (EXCEPTION_STACK_OVERFLOW)",
              {"signal", 0xc00000fd, "", kAtThatMoment});
}

TEST_F(RunExeTest, WhoIsTerminatedHasNotExited) {
  ExpectDeath("kill", 77, "TerminateProcess(77), which Cairn did not call",
              {"signal", (int64_t{1} << 32) + 77, "", ""});
  ExpectDeath("terminate-0", 0, "TerminateProcess(0), which Cairn did not call",
              {"signal", int64_t{1} << 32, "", ""});
  // Programs that have no work left may exit so.
  const CommandResult result = Run({}, {misbehave_, "idle-then-terminate-0"});
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(folder_.Contents(), IsEmpty());
  (void)Run({}, {misbehave_, "kill"});
  EXPECT_THAT(RunCommand({Program("cairn"), "report", folder_ / "misbehave.exe.cairn"}, {}).output,
              HasSubstr(" - The program died of TerminateProcess(77), which Cairn did not call, "));
}

TEST_F(RunExeTest, SomebodyElsesTerminateProcessIsTold) {
  Command command(UnderCairn({}, {misbehave_, "hang"}), {.folder = folder_.path()});
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0);
  KillProcess(program);
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.exit_code, kExitOfKilled);
  EXPECT_EQ(result.Lines(),
            "cairn: misbehave.exe died with TerminateProcess(1), which Cairn did not call; report: "
            "cairn report misbehave.exe.cairn\n");
  EXPECT_EQ(ReportTree(folder_ / "misbehave.exe.cairn", true), kTreeInBlur);
}

// The exit code is the part of an access violation's code that Linux keeps.
TEST_F(RunExeTest, AFaultThatTheProgramHandlesIsNoDeath) {
  const CommandResult result = Run({}, {misbehave_, "handled"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(folder_.Contents(), IsEmpty());
  const CommandResult hang =
      Run({"--hang-timeout", "0.3", "--kill-on-hang"}, {misbehave_, "handled-then-hang"});
  EXPECT_EQ(hang.exit_code, 124);
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.exe.cairn"),
              ElementsAre(ReportedIncident{"hang", 300, "Graphics", "--kill-on-hang"}));
}

TEST_F(RunExeTest, ADumpOnExitSaysTheCode) {
  const CommandResult result = Run({"--dump-on-exit"}, {misbehave_, "idle", "0"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors,
            "cairn: misbehave.exe exited with code 0; report: cairn report misbehave.exe.cairn\n");
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.exe.cairn"),
              ElementsAre(ReportedIncident{"exited", 0, "", ""}));
}

TEST_F(RunExeTest, ALostDeviceIsReported) {
  const CommandResult result = Run({}, {misbehave_, "device-lost"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.errors,
            "cairn: misbehave.exe lost its device (code -4, 0xfffffffc); report: cairn report "
            "misbehave.exe.cairn\n");
  EXPECT_EQ(ReportTree(folder_ / "misbehave.exe.cairn", true), kTreeInBlur);
}

TEST_F(RunExeTest, AHangIsKilledOnRequest) {
  const CommandResult result =
      Run({"--hang-timeout", "0.3", "--kill-on-hang"}, {misbehave_, "hang"});
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_EQ(result.errors,
            "cairn: misbehave.exe hangs: GPU work made no progress for 0.3 s; killed it; report: "
            "cairn report misbehave.exe.cairn\n");
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.exe.cairn"),
              ElementsAre(ReportedIncident{"hang", 300, "Graphics", "--kill-on-hang"}));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.exe.cairn", true), kTreeInBlur);
}

// Whoever reads its stderr sees a line while the program still runs.
TEST_F(RunExeTest, LinesAreSaidAtOnce) {
  Command command(UnderCairn({"--hang-timeout", "0.3"}, {misbehave_, "hang"}),
                  {.folder = folder_.path()});
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0);
  EXPECT_TRUE(WaitUntil([&] { return command.errors().find('\n') != std::string::npos; }));
  EXPECT_EQ(command.errors(),
            "cairn: misbehave.exe hangs: GPU work made no progress for 0.3 s; report: cairn report "
            "misbehave.exe.cairn\n");
  EXPECT_TRUE(IsRunning(program));
  KillProcess(program);
  EXPECT_EQ(command.Wait().exit_code, kExitOfKilled);
}

TEST_F(RunExeTest, AHangThatFinishesOrDiesLaterKeepsItsReport) {
  const CommandResult finished =
      Run({"--hang-timeout", "0.3"}, {misbehave_, "hang-then-finish", "misbehave.exe.cairn"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(ReportTree(folder_ / "misbehave.exe.cairn", true), kTreeInBlur);
  std::filesystem::remove(folder_ / "misbehave.exe.cairn");
  const CommandResult died =
      Run({"--hang-timeout", "0.3"}, {misbehave_, "hang-then-kill", "misbehave.exe.cairn"});
  EXPECT_EQ(died.exit_code, 77);
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.exe.cairn"),
              ElementsAre(ReportedIncident{"hang", 300, "Graphics", ""},
                          ReportedIncident{"signal", (int64_t{1} << 32) + 77, "", ""}));
}

TEST_F(RunExeTest, AnIdleProgramNeverTriggersTheWatchdog) {
  const CommandResult result =
      Run({"--hang-timeout", "0.1", "--kill-on-hang"}, {misbehave_, "idle", "1500"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(RunExeTest, QuietSaysNothingAndWritesAllTheSame) {
  EXPECT_EQ(Run({"--quiet"}, {misbehave_, "kill"}).errors, "");
  EXPECT_THAT(folder_.Contents(), ElementsAre("misbehave.exe.cairn"));
}

TEST_F(RunExeTest, TheProgramDoesNotSurviveItsWatcher) {
  Command command(UnderCairn({}, {misbehave_, "hang"}), {.folder = folder_.path()});
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0);
  KillProcess(command.pid());
  EXPECT_TRUE(WaitForEnd(program));
  EXPECT_EQ(command.Wait().exit_code, kExitOfKilled);
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

// Launchers that pass on no handles, or other ones under the number of the pipe to cairn.
TEST_F(RunExeTest, WhoDoesNotInheritThePipeIsWatched) {
  for (const bool other_pipe : {false, true}) {
    std::vector<std::string> program = {TestProgram("launcher")};
    if (other_pipe) program.emplace_back("--other-pipe");
    program.insert(program.end(), {misbehave_, "kill"});
    const CommandResult result = Run({}, program);
    EXPECT_EQ(result.exit_code, 77) << other_pipe;
    EXPECT_THAT(result.errors,
                HasSubstr("cairn: misbehave.exe died with TerminateProcess(77), which Cairn did "
                          "not call; report: "));
    EXPECT_THAT(folder_.Contents(), ElementsAre("misbehave.exe.cairn"));
    EXPECT_EQ(ReportTree(folder_ / "misbehave.exe.cairn", true), kTreeInBlur);
    std::filesystem::remove(folder_ / "misbehave.exe.cairn");
  }
}

TEST_F(RunExeTest, WhatTheProgramStartsIsWatched) {
  const CommandResult result = Run({}, {plain_, "starts", misbehave_, "write"});
  EXPECT_EQ(result.exit_code, 5) << "what it keeps of its child's";
  EXPECT_THAT(result.errors, HasSubstr("cairn: misbehave.exe died with exception 0xc0000005"));
  EXPECT_THAT(folder_.Contents(), ElementsAre("misbehave.exe.cairn"));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.exe.cairn", true), kTreeInBlur);
}

TEST_F(RunExeTest, TwoProcessesGetAFileEach) {
  const CommandResult result = Run({}, {misbehave_, "two"});
  EXPECT_EQ(result.exit_code, 77);
  const std::vector<std::string> files = folder_.Contents();
  ASSERT_EQ(files.size(), 2u) << result.Summary();
  // With its process number.
  EXPECT_THAT(files[0], AllOf(StartsWith("misbehave.exe-"), EndsWith(".cairn")));
  EXPECT_EQ(files[1], "misbehave.exe.cairn");
  for (const std::string& file : files) {
    EXPECT_EQ(ReportTree(folder_ / file, true), kTreeInBlur) << file;
  }
}

TEST_F(RunExeTest, AProgramWithoutLibcairnGetsAReportThatSaysSo) {
  EXPECT_EQ(Run({}, {plain_, "9"}).exit_code, 9);
  // Nobody can tell what it did: it may have exited.
  EXPECT_EQ(Run({}, {plain_, "kill"}).exit_code, 77);
  EXPECT_THAT(folder_.Contents(), IsEmpty());
  const CommandResult result = Run({}, {plain_, "fault"});
  EXPECT_EQ(static_cast<uint32_t>(result.exit_code), 0xc0000005u);
  EXPECT_THAT(ReportedIncidents(folder_ / "plain.exe.cairn"),
              ElementsAre(ReportedIncident{"signal", 0xc0000005, "", ""}));
  EXPECT_THAT(ReadReportedWork(folder_ / "plain.exe.cairn").losses,
              ElementsAre("The program never created a Cairn context: it does not use libcairn, or "
                          "ended before."));
}

TEST_F(RunExeTest, AProgramMayStartItsOwnWatcher) {
  for (const char* mode : {"start-watcher", "start-watcher-late"}) {
    // It lies beside libcairn.dll.
    Command command({misbehave_, mode, "own.cairn"}, {.folder = folder_.path()});
    EXPECT_EQ(command.Wait().exit_code, 77) << mode;
    EXPECT_TRUE(WaitForFile(folder_ / "own.cairn")) << mode;
    EXPECT_EQ(ReportTree(folder_ / "own.cairn", true), kTreeInBlur) << mode;
    std::filesystem::remove(folder_ / "own.cairn");
  }
  EXPECT_EQ(Run({}, {misbehave_, "start-watcher", "own.cairn", "nowhere/cairn"}).exit_code, 77);
  EXPECT_THAT(folder_.Contents(), ElementsAre("misbehave.exe.cairn"));
}

TEST_F(RunExeTest, WhatCannotRunIsOneLineAndAnExitCode) {
  CommandResult result = Run({}, {"no-such-program"});
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_EQ(
      result.errors,
      "cairn run: program 'no-such-program' was not found; give its path, or a name in PATH\n");
  std::ofstream(folder_ / "text.exe") << "no program";
  result = Run({}, {folder_ / "text.exe"});
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.errors, StartsWith("cairn run: '"));
  result = Run({"-o", "missing/a.cairn"}, {plain_, "0"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(result.errors,
            "cairn run: no file can be written in directory 'missing' (No such file or directory); "
            "give another with -o FILE\n");
  EXPECT_EQ(Run({"-o", "missing\\a.cairn"}, {plain_, "0"}).errors, result.errors);
}

TEST_F(RunExeTest, PathsMayHaveSpacesUmlautsAndAnyLength) {
  const std::filesystem::path place = folder_.path() / L"ein gr\u00fcnes Spiel";
  std::filesystem::create_directories(place);
  std::filesystem::copy_file(misbehave_, place / L"sch\u00f6n.exe");
  const std::u8string program = (place / L"sch\u00f6n").u8string();
  const CommandResult result = Run({}, {std::string(program.begin(), program.end()), "write"});
  EXPECT_THAT(result.errors, HasSubstr("cairn: sch\u00f6n.exe died with exception 0xc0000005 "
                                       "(EXCEPTION_ACCESS_VIOLATION); report: cairn report "));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / L"sch\u00f6n.exe.cairn")) << result.errors;
  // The report's path: Windows accepts it only behind a prefix.
  std::wstring folder = folder_.path().wstring();
  while (folder.size() < 300) {
    folder += L"\\" + std::wstring(40, L'x');
    ASSERT_TRUE(CreateDirectoryW((L"\\\\?\\" + folder).c_str(), nullptr)) << GetLastError();
  }
  const std::string report(folder.begin(), folder.end());
  EXPECT_THAT(Run({"-o", report + "\\a report.cairn"}, {misbehave_, "write"}).errors,
              EndsWith("; report: cairn report '" + report + "\\a report.cairn'\n"));
  EXPECT_NE(GetFileAttributesW((L"\\\\?\\" + folder + L"\\a report.cairn").c_str()),
            INVALID_FILE_ATTRIBUTES);
}

TEST_F(RunExeTest, AnOlderReportIsReplacedOnlyByANewOneOfThatName) {
  std::ofstream(folder_ / "misbehave.exe.cairn") << "older";
  EXPECT_EQ(Run({}, {misbehave_, "exit"}).exit_code, 0);
  EXPECT_EQ(ReadFile(folder_ / "misbehave.exe.cairn"), "older");
  EXPECT_THAT(Run({}, {misbehave_, "write"}).errors,
              ::testing::ContainsRegex("cairn report misbehave.exe-\\d+"));
  EXPECT_EQ(ReadFile(folder_ / "misbehave.exe.cairn"), "older");
  EXPECT_EQ(folder_.Contents().size(), 2u);
  // A file that the user names is written over.
  (void)Run({"-o", "misbehave.exe.cairn"}, {misbehave_, "write"});
  EXPECT_EQ(ReportTree(folder_ / "misbehave.exe.cairn", true), kTreeInBlur);
}

// The messages have no effect, and the program started by it is watched.
TEST_F(RunExeTest, AHostileProgramIsNotBelieved) {
  const std::string hostile = TestProgram("hostile");
  const CommandResult lie = Run({}, {hostile, "lie", misbehave_, "write"});
  EXPECT_EQ(lie.exit_code, 5) << lie.Summary();
  EXPECT_THAT(lie.errors, EndsWith("cairn: misbehave.exe died with exception 0xc0000005 "
                                   "(EXCEPTION_ACCESS_VIOLATION); report: cairn report "
                                   "misbehave.exe.cairn\n"));
  EXPECT_THAT(folder_.Contents(), ElementsAre("misbehave.exe.cairn"));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.exe.cairn", true), kTreeInBlur);
  std::filesystem::remove(folder_ / "misbehave.exe.cairn");

  const CommandResult fault = Run({}, {hostile, "fault"});
  EXPECT_EQ(static_cast<uint32_t>(fault.exit_code), 0xc0000005u) << fault.Summary();
  EXPECT_THAT(folder_.Contents(), ElementsAre("hostile.exe.cairn"));
  EXPECT_TRUE(ReadReportedWork(folder_ / "hostile.exe.cairn").valid);
}

TEST_F(RunExeTest, TopSeesARunningProgram) {
  Command command(UnderCairn({}, {misbehave_, "hang"}), {.folder = folder_.path()});
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0);
  EXPECT_THAT(RunCommand({Program("cairn"), "top"}, {}).output,
              HasSubstr(std::to_string(program) + "  "));
  const CommandResult look =
      RunCommand({Program("cairn"), "top", "--once", std::to_string(program)}, {});
  EXPECT_EQ(look.exit_code, 0) << look.Summary();
  EXPECT_THAT(look.output, HasSubstr("Blur"));
  KillProcess(program);
  EXPECT_EQ(command.Wait().exit_code, kExitOfKilled);
}

// ---- What is loaded into programs ------------------------------------------------------------------------------

class LoadedTest : public RunExeTest {
 protected:
  LoadedTest() { with_layer_ = true; }
  CommandResult AskForLibrary(const std::string& layer,
                              const std::vector<std::string>& options = {}) {
    return Run(options, {plain_, "has", "libcairn.dll"}, "", {"CAIRN_LAYER_PATH=" + layer});
  }
};

TEST_F(LoadedTest, TheLayerIsInAProgramThatDoesNotKnowIt) {
  CommandResult result = AskForLibrary(CAIRN_BINARY_DIR "/bin/libcairn.dll");
  EXPECT_EQ(result.output, "yes\r\n");
  EXPECT_EQ(result.errors, "");
  result = AskForLibrary(CAIRN_BINARY_DIR "/bin/libcairn.dll", {"--no-layer"});
  EXPECT_EQ(result.output, "no\r\n");
  EXPECT_EQ(result.errors, "");
}

TEST_F(LoadedTest, ItsPathMayHaveSpacesAndUmlauts) {
  const std::filesystem::path place = folder_.path() / L"gr\u00fcner Ordner";
  std::filesystem::create_directories(place);
  std::filesystem::copy_file(CAIRN_BINARY_DIR "/bin/libcairn.dll", place / "libcairn.dll");
  const std::u8string layer = (place / "libcairn.dll").u8string();
  const CommandResult result = AskForLibrary(std::string(layer.begin(), layer.end()));
  EXPECT_EQ(result.output, "yes\r\n") << result.errors;
}

TEST_F(LoadedTest, AMissingOneIsOneWarning) {
  CommandResult result = AskForLibrary("nowhere/layer.dll");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "no\r\n");
  EXPECT_EQ(result.errors,
            "cairn run: warning: Direct3D 12 and Vulkan calls are not followed: "
            "CAIRN_LAYER_PATH=nowhere/layer.dll is no file; name the library cairn-d3d.dll, or "
            "unset it\n");
}

TEST_F(LoadedTest, OneThatCannotBeLoadedIsOneWarning) {
  std::ofstream(folder_ / "broken.dll") << "no library";
  constexpr char kManifest[] = "VkLayer_CAIRN_breadcrumbs.json";
  std::filesystem::copy_file(std::string(CAIRN_BINARY_DIR "/bin/") + kManifest,
                             folder_ / kManifest);
  const CommandResult result = AskForLibrary(folder_ / "broken.dll");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "no\r\n");
  EXPECT_THAT(result.errors,
              StartsWith("cairn run: warning: the program's calls are not followed: "));
  EXPECT_THAT(result.errors, HasSubstr("broken.dll is not loaded into it: "));
}

// The layer beside cairn.exe.
class LayerTest : public LoadedTest {
 protected:
  CommandResult Asked(std::vector<std::string> program) {
    return Run({}, program, "", {"CAIRN_LAYER_PATH=", "CAIRN_LOG=info"});
  }
};

TEST_F(LayerTest, IsInTheProgramAndInAllThatItStarts) {
  const std::vector<std::string> asks = {plain_, "has", "cairn-d3d.dll"};
  EXPECT_EQ(Asked(asks).output, "yes\r\n");
  std::vector<std::string> starts = {plain_, "starts"};
  starts.insert(starts.end(), asks.begin(), asks.end());
  CommandResult result = Asked(starts);
  EXPECT_EQ(result.output, "yes\r\n");
  EXPECT_EQ(result.errors, "");
  starts.insert(starts.begin(), {plain_, "starts"});
  result = Asked(starts);
  EXPECT_EQ(result.output, "yes\r\n");
  EXPECT_EQ(result.errors, "");
}

// A program that has libcairn of its own as well: its marks go to the watcher, and it dies as without the layer.
TEST_F(LayerTest, ProgramsDieInItAsWithoutIt) {
  ExpectDeath("write", 0xc0000005, "exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION)",
              {"signal", 0xc0000005, "", kAtThatMoment});
  ExpectDeath("kill", 77, "TerminateProcess(77), which Cairn did not call",
              {"signal", (int64_t{1} << 32) + 77, "", ""});
  EXPECT_EQ(Run({}, {misbehave_, "exit", "7"}).exit_code, 7);
  EXPECT_EQ(Run({}, {misbehave_, "exit", "7"}).errors, "");
}

}  // namespace
}  // namespace cairn::testing
