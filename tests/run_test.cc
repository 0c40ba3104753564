// SPDX-License-Identifier: Apache-2.0
//
// `cairn run` and the programs under it: what is noticed, what is written, and that nothing stays
// behind, whoever dies first.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "format/settings/layer_settings.h"
#include "harness.h"
#include "programs/misbehave_report.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string Misbehave() {
  return CAIRN_BINARY_DIR "/tests/programs/misbehave";
}
std::string Plain() {
  return CAIRN_BINARY_DIR "/tests/programs/plain";
}

std::string Faults() {
  return CAIRN_BINARY_DIR "/tests/programs/faults";
}

std::vector<std::string> UnderCairn(const std::vector<std::string>& options,
                                    const std::vector<std::string>& program) {
  std::vector<std::string> arguments = {Program("cairn"), "run"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back("--");
  arguments.insert(arguments.end(), program.begin(), program.end());
  return arguments;
}

class RunTest : public ::testing::Test {
 protected:
  // `cairn run OPTIONS -- misbehave MODE`, in the test's folder; checks what every run must keep.
  CommandResult Run(const std::vector<std::string>& options,
                    const std::vector<std::string>& program, const std::string& input = "") {
    CommandResult result =
        RunCommand(UnderCairn(options, program), {.folder = folder_.path(), .input = input});
    EXPECT_FALSE(result.timed_out) << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty()) << result.Summary();
    for (const std::string& name : folder_.Contents()) {
      EXPECT_FALSE(name.ends_with(".part") || name.ends_with(".old")) << name;
    }
    return result;
  }

  TemporaryFolder folder_;
};

TEST_F(RunTest, NormalExitWritesNothing) {
  const CommandResult result = Run({}, {Misbehave(), "exit"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(RunTest, AProgramThatEndsAtOnceLeadsToTheNextStep) {
  const CommandResult result = RunCommand({Program("cairn"), "run", "--", "true"}, {});
  EXPECT_EQ(result.exit_code, 0);
  // A busy machine may see it before it ends.
  EXPECT_THAT(
      result.errors,
      AnyOf("cairn: no GPU work was seen: true ended at once, and no device of Vulkan or "
            "Direct3D 12 was seen; if it only starts your program, type: " +
                Program("cairn") + " run -- YOUR-PROGRAM\n",
            ::testing::ContainsRegex("true \\(process [0-9]+\\) loaded neither Vulkan nor")));
}

TEST_F(RunTest, ExitCodeIsTheProgramsOwn) {
  EXPECT_EQ(Run({}, {Misbehave(), "exit", "7"}).exit_code, 7);
  EXPECT_EQ(Run({}, {Misbehave(), "exit", "255"}).exit_code, 255);
}

TEST_F(RunTest, StandardStreamsAreTheProgramsOwn) {
  const CommandResult result = Run({"--quiet"}, {Plain(), "cat"}, "some\ninput");
  EXPECT_EQ(result.output, "some\ninput");
  EXPECT_EQ(result.errors, "on stderr\n");
}

TEST_F(RunTest, DumpOnExitShowsTheFinishedWork) {
  const CommandResult result = Run({"--dump-on-exit"}, {Misbehave(), "idle", "0"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors,
            "cairn: misbehave exited with code 0; report: cairn report misbehave.cairn\n");
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.cairn"),
              ElementsAre(ReportedIncident{"exited", 0, "", ""}));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), R"(<Frame 1>
 - [X] queue 0 "Graphics" (direct), submission 1, command list 1 "Main"
    └─[X] Frame
       ├─[X] Opaque
       │  ├─[X] DRAW_INDEXED #1, graphics pipeline "Basic" [ VS: MainVS | PS: MainPS ]
       │  └─[X] DRAW_INDEXED #2, graphics pipeline "Basic" [ VS: MainVS | PS: MainPS ]
       ├─[X] DISPATCH #1: "Blur", compute pipeline "Blur" [ CS: BlurCS ]
       └─[X] DISPATCH #2, compute pipeline "Blur" [ CS: BlurCS ]
)");
}

TEST_F(RunTest, Sigkill) {
  const CommandResult result = Run({}, {Misbehave(), "kill"});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_EQ(result.Lines(),
            "cairn: misbehave died with signal 9 (SIGKILL), which Cairn did not send; report: "
            "cairn report "
            "misbehave.cairn\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("misbehave.cairn"));
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.cairn"),
              ElementsAre(ReportedIncident{"signal", SIGKILL, "", ""}));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), kTreeInBlur);
  EXPECT_THAT(ReadReportedWork(folder_ / "misbehave.cairn").candidates,
              ElementsAre("DISPATCH Blur"));
}

TEST_F(RunTest, SegmentationFaultInAnotherThread) {
  const CommandResult result = Run({}, {Misbehave(), "segv-in-thread"});
  EXPECT_EQ(result.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.cairn"),
              ElementsAre(ReportedIncident{"signal", SIGSEGV, "", kAtThatMoment}));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), kTreeInBlur);
  // Seen by the library's own handler.
  EXPECT_THAT(
      RunCommand({Program("cairn"), "report", "--json", folder_ / "misbehave.cairn"}, {}).output,
      HasSubstr("\"address\": \"0xdead000\""));
}

#ifndef CAIRN_SANITIZED  // nothing is preloaded then
TEST_F(RunTest, ExitByAnExceptionOfWindows) {
  const CommandResult result = Run({}, {Misbehave(), "exit-by-exception"});
  EXPECT_EQ(result.exit_code, 5) << "what the system keeps of the code";
  EXPECT_EQ(result.Lines(),
            "cairn: misbehave died with exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION); report: "
            "cairn report misbehave.cairn\n");
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.cairn"),
              ElementsAre(ReportedIncident{"signal", 0xc0000005, "", kAtThatMoment}));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), kTreeInBlur);
}
#endif

TEST_F(RunTest, TheAnswerStandsBehindTheLines) {
  const std::string lines =
      "cairn: misbehave died with signal 6 (SIGABRT); report: cairn report 'the report.cairn'\n";
  const CommandResult result = Run({"-o", "the report.cairn"}, {Misbehave(), "abort"});
  EXPECT_EQ(result.errors, lines + R"(
The program died of SIGABRT                                                            cause unknown
  because   the thread that crashed is in no call that this file knows
  running   DISPATCH #1: "Blur"
  where     Frame · command list 1 "Main" · submission 1 · queue 0 "Graphics" (direct) · frame 1
  pipeline  compute pipeline "Blur" [ CS: BlurCS ]
  device    custom backend
  next      cairn bisect -- )" +
                               Misbehave() + R"( abort
            finds the culprit, then why: runs the program with one thing changed each time
  send      cairn report --markdown 'the report.cairn'
            for a bug tracker: this answer as text; --redact replaces names by hashes
  file      'the report.cairn'
            for the program's or the driver's authors; holds names, paths and the command line
)");
  EXPECT_EQ(Run({"--quiet"}, {Misbehave(), "abort"}).errors, "");
}

TEST_F(RunTest, Abort) {
  const CommandResult result = Run({"-o", "sub.cairn"}, {Misbehave(), "abort"});
  EXPECT_EQ(result.exit_code, 128 + SIGABRT);
  EXPECT_EQ(result.Lines(),
            "cairn: misbehave died with signal 6 (SIGABRT); report: cairn report sub.cairn\n");
  EXPECT_THAT(ReportedIncidents(folder_ / "sub.cairn"),
              ElementsAre(ReportedIncident{"signal", SIGABRT, "", kAtThatMoment}));
  EXPECT_EQ(ReportTree(folder_ / "sub.cairn", true), kTreeInBlur);
}

TEST_F(RunTest, DeviceLostReportedByTheProgram) {
  const CommandResult result = Run({}, {Misbehave(), "device-lost"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.Lines(),
            "cairn: misbehave lost its device (code -4, 0xfffffffc); "
            "report: cairn report misbehave.cairn\n");
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.cairn"),
              ElementsAre(ReportedIncident{"device lost", -4, "", "vkQueueSubmit"}));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), kTreeInBlur);
}

TEST_F(RunTest, HangIsKilledOnRequest) {
  const CommandResult result =
      Run({"--hang-timeout", "0.3", "--kill-on-hang"}, {Misbehave(), "hang"});
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_EQ(result.Lines(),
            "cairn: misbehave hangs: GPU work made no progress for 0.3 s; killed it; "
            "report: cairn report misbehave.cairn\n");
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.cairn"),
              ElementsAre(ReportedIncident{"hang", 300, "Graphics", "--kill-on-hang"}));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), kTreeInBlur);
}

TEST_F(RunTest, HangThatFinishesLaterKeepsItsReport) {
  const CommandResult result =
      Run({"--hang-timeout", "0.3"}, {Misbehave(), "hang-then-finish", "misbehave.cairn"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.Lines(),
            "cairn: misbehave hangs: GPU work made no progress for 0.3 s; "
            "report: cairn report misbehave.cairn\n");
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), kTreeInBlur);
}

TEST_F(RunTest, HangThenDeathGivesOneFileWithBoth) {
  const CommandResult result =
      Run({"--hang-timeout", "0.3"}, {Misbehave(), "hang-then-kill", "misbehave.cairn"});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_THAT(folder_.Contents(), ElementsAre("misbehave.cairn"));
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.cairn"),
              ElementsAre(ReportedIncident{"hang", 300, "Graphics", ""},
                          ReportedIncident{"signal", SIGKILL, "", ""}));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), kTreeInBlur);
}

// Held while it dies, as a driver holds a process whose work the GPU still executes: far beyond the time-out.
TEST_F(RunTest, AProcessThatIsDyingDoesNotHangAndNobodyClaimsItsDeath) {
  Command command(UnderCairn({"--hang-timeout", "0.3", "--kill-on-hang"}, {Misbehave(), "hang"}),
                  {.folder = folder_.path()});
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0);
  if (ptrace(PTRACE_SEIZE, program, nullptr, PTRACE_O_TRACEEXIT) != 0) {
    GTEST_SKIP() << "this system lets nobody trace";
  }
  ASSERT_EQ(kill(program, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(program, &status, __WALL), program);
  ASSERT_EQ(status >> 16, PTRACE_EVENT_EXIT);
  // The report's file comes before the watcher's line about it.
  ASSERT_TRUE(WaitForFile(folder_.path() / "misbehave.cairn"));
  // Read later: a command's end ends whatever else the test has started.
  std::filesystem::copy_file(folder_ / "misbehave.cairn", folder_ / "first.cairn");
  ASSERT_EQ(ptrace(PTRACE_DETACH, program, nullptr, nullptr), 0);
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_EQ(
      result.Lines(),
      "cairn: misbehave is ending, and after 5 s still inside a driver; report: cairn report "
      "misbehave.cairn\n"
      "cairn: misbehave died with signal 9 (SIGKILL), which Cairn did not send; report: cairn "
      "report misbehave.cairn\n");
  EXPECT_THAT(ReportedIncidents(folder_ / "misbehave.cairn"),
              ElementsAre(ReportedIncident{"signal", SIGKILL, "", ""}));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), kTreeInBlur);
  EXPECT_THAT(ReportedIncidents(folder_ / "first.cairn"),
              ElementsAre(ReportedIncident{"signal", 0, "", ""}));
}

// Writes lines into the kernel's own log, as a driver does: those that name the process are
// reported, those that name another one are not.
TEST_F(RunTest, WhatTheKernelSaysOfTheProcessIsInItsReport) {
  std::ofstream kernel_log("/dev/kmsg");
  std::string takes_lines;  // off: it throws them away
  std::ifstream("/proc/sys/kernel/printk_devkmsg") >> takes_lines;
  const bool is_ours =
      kernel_log && takes_lines != "off" && open("/dev/kmsg", O_RDONLY | O_CLOEXEC) >= 0;
  if (!is_ours) GTEST_SKIP() << "/dev/kmsg is not for us";
  Command command(UnderCairn({}, {Misbehave(), "hang"}), {.folder = folder_.path()});
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0);
  for (const pid_t named : {program, command.pid()}) {
    kernel_log << "NVRM: Xid (a test of Cairn): 31, pid=" << named << ", MMU Fault" << std::endl;
  }
  ASSERT_EQ(kill(program, SIGKILL), 0);
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  const std::string report = RunCommand({Program("cairn"), "report", folder_ / "misbehave.cairn"},
                                        {.folder = folder_.path()})
                                 .output;
  EXPECT_THAT(report, HasSubstr("] of this process: NVRM: Xid (a test of Cairn): 31, pid=" +
                                std::to_string(program) + ", MMU Fault\n"));
  EXPECT_THAT(report, Not(HasSubstr("pid=" + std::to_string(command.pid()) + ",")));
}

// The crash reporter takes long, and the GPU finishes meanwhile: the report shows the moment of the
// fault.
TEST_F(RunTest, AfterAFaultTheReportTellsThatMoment) {
  const CommandResult result = Run({}, {Faults(), "finish"});
  EXPECT_EQ(result.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(ReportedIncidents(folder_ / "faults.cairn"),
              ElementsAre(ReportedIncident{"signal", SIGSEGV, "", kAtThatMoment}));
  EXPECT_THAT(ReadReportedWork(folder_ / "faults.cairn").candidates, ElementsAre("DISPATCH Blur"));
}

// A fault that was handled long ago is not what the program dies of, and its moment is past.
TEST_F(RunTest, AFaultThatTheProgramLeftBehindIsNotItsDeath) {
  const CommandResult result = Run({}, {Faults(), "jump-then-kill"});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_THAT(ReadReportedWork(folder_ / "faults.cairn").candidates, IsEmpty());
}

TEST_F(RunTest, ProgramsThatHandleTheirFaultsNoticeNothing) {
  const std::pair<const char*, int> modes[] = {{"repair", 0},
                                               {"jump", 3},
                                               {"once", 128 + SIGSEGV},
                                               {"overflow", 5},
                                               {"overflow-unhandled", 128 + SIGSEGV},
                                               {"own-stack", 5},
                                               {"mask", 6},
                                               {"nested", 7},
                                               {"nested-blocked", 128 + SIGSEGV},
                                               {"ignored", 4}};
  for (const auto& [mode, exit_code] : modes) {
    const CommandResult plain = RunCommand({Faults(), mode, "plain"}, {.folder = folder_.path()});
    EXPECT_EQ(plain.exit_code, exit_code) << mode;
    const CommandResult watched = Run({}, {Faults(), mode});
    EXPECT_EQ(watched.exit_code, exit_code) << mode;
    EXPECT_EQ(watched.output, plain.output) << mode;
    const bool died = exit_code > 128;
    EXPECT_EQ(watched.errors.empty(), !died) << mode << ": " << watched.errors;
    EXPECT_EQ(std::filesystem::remove(folder_.path() / "faults.cairn"), died) << mode;
  }
}

// The executable is Wine's; the program is the .exe that it was given.
TEST_F(RunTest, UnderWineTheProgramIsTheExe) {
  std::filesystem::copy_file(Misbehave(), folder_ / "wine64-preloader");
  const CommandResult result =
      Run({}, {"./wine64-preloader", "kill", "Z:\\My Games\\Game.exe", "other.exe"});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_EQ(result.Lines(),
            "cairn: Game.exe died with signal 9 (SIGKILL), which Cairn did not send; report: cairn "
            "report Game.exe.cairn\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("Game.exe.cairn", "wine64-preloader"));
  // Started by somebody else, it is known by what the process itself says.
  const CommandResult child =
      Run({}, {"sh", "-c", "./wine64-preloader kill 'Z:\\My Games\\Game.exe'; exit 4"});
  EXPECT_EQ(child.exit_code, 4);
  // The cause of the end is known until the shell has reaped the process.
  EXPECT_THAT(child.errors, AnyOf(HasSubstr("cairn: Game.exe died with signal 9 (SIGKILL)"),
                                  HasSubstr("cairn: Game.exe ended with GPU work unfinished")));

  Command running(UnderCairn({}, {"./wine64-preloader", "hang", "C:\\Game.exe"}),
                  {.folder = folder_.path()});
  const pid_t pid = running.WaitUntilReady();
  ASSERT_GT(pid, 0);
  EXPECT_THAT(RunCommand({Program("cairn"), "top"}, {}).output,
              HasSubstr(std::to_string(pid) + "  C:\\Game.exe\n"));
  kill(pid, SIGKILL);
}

TEST_F(RunTest, AnIdleProgramNeverTriggersTheWatchdog) {
  // Idle for many times the time-out.
  const CommandResult result =
      Run({"--hang-timeout", "0.1", "--kill-on-hang"}, {Misbehave(), "idle", "1500"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(RunTest, QuietSaysNothingAndWritesAllTheSame) {
  const CommandResult result = Run({"--quiet"}, {Misbehave(), "kill"});
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(folder_.Contents(), ElementsAre("misbehave.cairn"));
}

TEST_F(RunTest, TheProgramDoesNotSurviveItsWatcher) {
  Command command(UnderCairn({}, {Misbehave(), "hang"}), {.folder = folder_.path()});
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0);
  kill(command.pid(), SIGKILL);
  EXPECT_TRUE(WaitForEnd(program));
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_THAT(result.left_behind, IsEmpty());
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(RunTest, SignalsAreForwarded) {
  for (const int number : {SIGTERM, SIGHUP, SIGINT}) {
    const std::string file = std::to_string(number) + ".cairn";
    Command command(UnderCairn({"-o", file}, {Misbehave(), "hang"}), {.folder = folder_.path()});
    const pid_t program = command.WaitUntilReady();
    ASSERT_GT(program, 0);
    kill(command.pid(), number);
    const CommandResult result = command.Wait();
    EXPECT_EQ(result.exit_code, 128 + number) << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty());
    EXPECT_THAT(ReportedIncidents(folder_ / file),
                ElementsAre(ReportedIncident{"signal", number, "", ""}));
  }
}

TEST_F(RunTest, AProgramThatForksIsOneProgram) {
  const CommandResult result = Run({}, {Misbehave(), "fork"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(RunTest, AProgramStartedByTheProgramIsWatched) {
  const CommandResult result = Run({}, {"sh", "-c", Misbehave() + " kill; exit 4"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(folder_.Contents(), ElementsAre("misbehave.cairn"));
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), kTreeInBlur);
}

TEST_F(RunTest, TwoProcessesGetAFileEach) {
  const CommandResult result = Run({}, {Misbehave(), "two"});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  const std::vector<std::string> files = folder_.Contents();
  ASSERT_EQ(files.size(), 2u) << result.Summary();
  EXPECT_THAT(files[0], ::testing::MatchesRegex("misbehave-[0-9]+\\.cairn"));
  EXPECT_EQ(files[1], "misbehave.cairn");
  for (const std::string& file : files) {
    EXPECT_EQ(ReportTree(folder_ / file, true), kTreeInBlur) << file;
  }
}

TEST_F(RunTest, AProgramWithoutLibcairnGetsAReportThatSaysSo) {
  EXPECT_EQ(Run({}, {Plain(), "9"}).exit_code, 9);
  EXPECT_THAT(folder_.Contents(), IsEmpty());
  const CommandResult result = Run({}, {Plain(), "kill"});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_THAT(ReportedIncidents(folder_ / "plain.cairn"),
              ElementsAre(ReportedIncident{"signal", SIGKILL, "", ""}));
  EXPECT_THAT(ReadReportedWork(folder_ / "plain.cairn").losses,
              ElementsAre("The program never created a Cairn context: it does not use libcairn, or "
                          "ended before."));
}

TEST_F(RunTest, AProgramMayStartItsOwnWatcher) {
  const CommandResult result = RunCommand(
      {Misbehave(), "start-watcher", "own.cairn", Program("cairn")}, {.folder = folder_.path()});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_THAT(result.left_behind, IsEmpty());
  EXPECT_THAT(folder_.Contents(), ElementsAre("own.cairn"));
  EXPECT_EQ(ReportTree(folder_ / "own.cairn", true), kTreeInBlur);
  EXPECT_EQ(result.errors.find("cairn: misbehave "), 0u) << result.errors;
}

TEST_F(RunTest, AWatcherStartedAfterTheFirstContextSeesItAsWell) {
  const CommandResult result =
      RunCommand({Misbehave(), "start-watcher-late", "own.cairn", Program("cairn")},
                 {.folder = folder_.path()});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_THAT(result.left_behind, IsEmpty());
  EXPECT_EQ(ReportTree(folder_ / "own.cairn", true), kTreeInBlur);
}

TEST_F(RunTest, UnderCairnRunNoSecondWatcherIsStarted) {
  const CommandResult result =
      Run({}, {Misbehave(), "start-watcher", "own.cairn", "/nonexistent/cairn"});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_THAT(folder_.Contents(), ElementsAre("misbehave.cairn"));
}

TEST_F(RunTest, AWatcherThatCannotWriteIsAnErrorOfTheCall) {
  const CommandResult result =
      RunCommand({Misbehave(), "start-watcher", "missing/own.cairn", Program("cairn")},
                 {.folder = folder_.path()});
  EXPECT_EQ(result.exit_code, 70);
  // The two processes speak in any order.
  EXPECT_THAT(result.errors,
              HasSubstr("cairn watch: no file can be written in directory 'missing' (No such file "
                        "or directory); give another with -o FILE\n"));
  EXPECT_THAT(result.errors,
              HasSubstr("cairnStartWatcher: CAIRN_ERROR_OPERATING_SYSTEM: the watcher ended at "
                        "once; it says why on stderr\n"));
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(RunTest, AnUnwritablePlaceIsNoticedBeforeTheProgramStarts) {
  const CommandResult result =
      Run({"-o", "missing/a.cairn"}, {"sh", "-c", "echo started > started"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(result.errors,
            "cairn run: no file can be written in directory 'missing' (No such file or directory); "
            "give another with -o FILE\n");
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(RunTest, AHostileProgramIsNotBelieved) {
  const std::string hostile = CAIRN_BINARY_DIR "/tests/programs/hostile";
  const CommandResult lie = Run({}, {hostile, "lie"});
  EXPECT_EQ(lie.exit_code, 0) << lie.Summary();
  EXPECT_THAT(lie.errors, StartsWith("cairn: no GPU work was seen: hostile "));
  EXPECT_THAT(folder_.Contents(), IsEmpty());

  const CommandResult kill = Run({}, {hostile, "kill"});
  EXPECT_EQ(kill.exit_code, 128 + SIGKILL) << kill.Summary();
  EXPECT_THAT(folder_.Contents(), ElementsAre("hostile.cairn"));
  EXPECT_TRUE(ReadReportedWork(folder_ / "hostile.cairn").valid);
}

TEST_F(RunTest, AnOlderReportIsReplacedOnlyByANewOneOfThatName) {
  std::ofstream(folder_ / "misbehave.cairn") << "older";
  EXPECT_EQ(Run({}, {Misbehave(), "exit"}).exit_code, 0);
  EXPECT_EQ(ReadFile(folder_ / "misbehave.cairn"), "older");
  const CommandResult again = Run({}, {Misbehave(), "kill"});
  EXPECT_EQ(again.exit_code, 128 + SIGKILL);
  EXPECT_EQ(ReadFile(folder_ / "misbehave.cairn"), "older");
  EXPECT_THAT(again.errors, ::testing::ContainsRegex("cairn report misbehave-[0-9]+[.]cairn"));
  EXPECT_EQ(folder_.Contents().size(), 2u);
  // A file that the user names is written over.
  EXPECT_EQ(Run({"-o", "misbehave.cairn"}, {Misbehave(), "kill"}).exit_code, 128 + SIGKILL);
  EXPECT_EQ(ReportTree(folder_ / "misbehave.cairn", true), kTreeInBlur);
  EXPECT_EQ(folder_.Contents().size(), 2u);
}

TEST_F(RunTest, NoSharedMemoryHasAName) {
  Command command(UnderCairn({}, {Misbehave(), "hang"}), {.folder = folder_.path()});
  ASSERT_GT(command.WaitUntilReady(), 0);
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    EXPECT_THAT(entry.path().filename().string(), ::testing::Not(HasSubstr("cairn")));
  }
}

#if !defined(CAIRN_SANITIZED)

// Programs without Direct3D 12, into which the layer is preloaded as into all.
class PreloadTest : public RunTest {
 protected:
  CommandResult Shell(const std::string& script, const std::vector<std::string>& environment = {},
                      std::vector<std::string> options = {}) {
    options.emplace_back("--quiet");  // what is seen of a shell is of no interest here
    return RunCommand(UnderCairn(options, {"sh", "-c", script}),
                      {.folder = folder_.path(), .environment = environment});
  }
  const std::string layer_ = CAIRN_BINARY_DIR "/lib/libcairn-d3d12.so";
  const std::string other_ = CAIRN_BINARY_DIR "/tests/programs/libstop_at_frame.so";
};

TEST_F(PreloadTest, TheLayerComesBeforeWhatIsPreloadedAlready) {
  CommandResult result = Shell("echo $LD_PRELOAD", {"LD_PRELOAD"});
  EXPECT_EQ(result.output, layer_ + "\n");
  EXPECT_EQ(result.errors, "");
  result = Shell("echo $LD_PRELOAD", {"LD_PRELOAD=" + other_});
  EXPECT_EQ(result.output, layer_ + ":" + other_ + "\n");
  EXPECT_EQ(result.errors, "");
}

TEST_F(PreloadTest, TheLayerCanBeLeftOut) {
  const CommandResult result = Shell("echo $LD_PRELOAD", {"LD_PRELOAD=" + other_}, {"--no-layer"});
  EXPECT_EQ(result.output, other_ + "\n");
  EXPECT_EQ(result.errors, "");
}

TEST_F(PreloadTest, TheLayerCanBeElsewhere) {
  std::filesystem::create_symlink(layer_, folder_ / "layer.so");
  const CommandResult result =
      Shell("echo $LD_PRELOAD", {"LD_PRELOAD", "CAIRN_LAYER_PATH=layer.so"});
  EXPECT_EQ(result.output, (folder_ / "layer.so") + "\n");
  EXPECT_EQ(result.errors, "");
}

TEST_F(PreloadTest, AMissingLayerIsOneWarning) {
  const CommandResult result =
      Shell("echo \"preload $LD_PRELOAD\"", {"LD_PRELOAD", "CAIRN_LAYER_PATH=/nowhere/layer.so"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "preload \n");
  EXPECT_EQ(result.errors,
            "cairn run: warning: Direct3D 12 and Vulkan calls are not followed: "
            "CAIRN_LAYER_PATH=/nowhere/layer.so is no file; name the library libcairn-d3d12.so, or "
            "unset it\n");
}

TEST_F(PreloadTest, ALayerWhosePathCannotBePreloadedIsOneWarning) {
  std::filesystem::create_symlink(layer_, folder_ / "a layer.so");
  const CommandResult result =
      Shell("echo \"preload $LD_PRELOAD\"", {"LD_PRELOAD", "CAIRN_LAYER_PATH=a layer.so"});
  EXPECT_EQ(result.output, "preload \n");
  EXPECT_THAT(result.errors, HasSubstr("contains a space or a colon"));
}

// Returns the variables for the Vulkan loader, as "NAME=value" lines in order of the names.
class VulkanEnvironmentTest : public PreloadTest {
 protected:
  std::string Told(std::vector<std::string> environment,
                   const std::vector<std::string>& options = {}) {
    for (const char* name : {"VK_ADD_LAYER_PATH", "VK_LAYER_PATH", "VK_INSTANCE_LAYERS"}) {
      environment.insert(environment.begin(), name);
    }
    const CommandResult result = Shell("env | grep ^VK_.*LAYER | sort", environment, options);
    EXPECT_EQ(result.errors, "");
    return result.output;
  }
  const std::string folder_of_layer_ = CAIRN_BINARY_DIR "/lib";
};

TEST_F(VulkanEnvironmentTest, TheLayerIsFoundAndEnabled) {
  EXPECT_EQ(Told({}), "VK_ADD_LAYER_PATH=" + folder_of_layer_ +
                          "\nVK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs\n");
  EXPECT_EQ(Told({"CAIRN_BREADCRUMBS=off"}), Told({}));
}

// DXVK answers a program's annotations differently with it: only where they are used.
TEST_F(VulkanEnvironmentTest, DxvkIsAskedForLabelsWhereThereAreBreadcrumbs) {
  const auto told = [this](const std::vector<std::string>& environment,
                           const std::vector<std::string>& options = {}) {
    return Shell("echo \"$DXVK_DEBUG\"", environment, options).output;
  };
  EXPECT_EQ(told({"DXVK_DEBUG"}), "markers\n");
  EXPECT_EQ(told({"DXVK_DEBUG=none"}), "none\n");
  EXPECT_EQ(told({"DXVK_DEBUG", "CAIRN_BREADCRUMBS=off"}), "\n");
  EXPECT_EQ(told({"DXVK_DEBUG"}, {"--breadcrumbs", "off"}), "\n");
}

// Found and listed last: next to the driver, so that what it adds is not seen by the layers of the user.
TEST_F(VulkanEnvironmentTest, LayersOfTheUserKeepTheirPlace) {
  std::filesystem::create_directories(folder_.path() / "data/vulkan/explicit_layer.d");
  const std::vector<std::string> no_others = {"XDG_CONFIG_HOME=/none", "XDG_CONFIG_DIRS=/none",
                                              "XDG_DATA_HOME=" + (folder_ / "data"),
                                              "XDG_DATA_DIRS=/none"};
  const auto with = [&no_others](std::vector<std::string> more) {
    more.insert(more.end(), no_others.begin(), no_others.end());
    return more;
  };
  std::string standard = ":" + (folder_ / "data") + "/vulkan/explicit_layer.d:";
  if (std::filesystem::is_directory("/etc/vulkan/explicit_layer.d")) {
    standard = ":/etc/vulkan/explicit_layer.d" + standard;
  }
  EXPECT_EQ(Told(with({"VK_ADD_LAYER_PATH=/a:/b",
                       "VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation:VK_LAYER_x"})),
            "VK_ADD_LAYER_PATH=/a:/b" + standard + folder_of_layer_ +
                "\nVK_INSTANCE_LAYERS="
                "VK_LAYER_KHRONOS_validation:VK_LAYER_x:VK_LAYER_CAIRN_breadcrumbs\n");
  // A user who lists our layer decides its place.
  EXPECT_THAT(Told({"VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs:VK_LAYER_x"}),
              HasSubstr("VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs:VK_LAYER_x\n"));
  // The loader ignores VK_ADD_LAYER_PATH then.
  EXPECT_THAT(Told({"VK_LAYER_PATH=/only"}),
              HasSubstr("VK_LAYER_PATH=/only:" + folder_of_layer_ + "\n"));
}

TEST_F(VulkanEnvironmentTest, TheLayerCanBeLeftOut) {
  EXPECT_EQ(Told({"VK_INSTANCE_LAYERS=VK_LAYER_x"}, {"--no-layer"}),
            "VK_INSTANCE_LAYERS=VK_LAYER_x\n");
}

TEST_F(VulkanEnvironmentTest, AMissingManifestIsOneWarning) {
  std::filesystem::copy_file(layer_, folder_ / "libcairn-d3d12.so");
  const CommandResult result =
      Shell("echo \"$VK_INSTANCE_LAYERS\"",
            {"VK_INSTANCE_LAYERS", "CAIRN_LAYER_PATH=" + (folder_ / "libcairn-d3d12.so")});
  EXPECT_EQ(result.output, "\n");
  EXPECT_EQ(result.errors,
            "cairn run: warning: Vulkan calls are not followed: the layer's manifest "
            "VkLayer_CAIRN_breadcrumbs.json is neither in " +
                folder_.path().string() +
                " nor in " CAIRN_BINARY_DIR
                "/share/vulkan/explicit_layer.d; install it, or say --no-layer\n");
}

TEST_F(PreloadTest, BreadcrumbsAreChosenByTheEnvironment) {
  EXPECT_EQ(Shell("echo ${CAIRN_BREADCRUMBS-none}", {"CAIRN_BREADCRUMBS"}).output, "none\n");
  EXPECT_EQ(Shell("echo $CAIRN_BREADCRUMBS", {"CAIRN_BREADCRUMBS=top"}).output, "top\n");
  EXPECT_EQ(
      Shell("echo $CAIRN_BREADCRUMBS", {"CAIRN_BREADCRUMBS=top"}, {"--breadcrumbs", "full"}).output,
      "full\n");
  EXPECT_EQ(Shell("", {}, {"--breadcrumbs", "all"}).exit_code, 125);
}

TEST_F(PreloadTest, OptionsOfTheLayersBecomeVariables) {
  for (const SettingRow& row : kSettingRows) {
    if (row.option.name == nullptr) continue;
    const std::string variable = row.variable;
    for (const SettingWord& word : row.words) {
      if (word.text.empty()) break;
      const std::string text(word.text);
      EXPECT_EQ(Shell("echo $" + variable, {variable}, {row.option.name, text}).output,
                text + "\n");
    }
  }
  EXPECT_EQ(Shell("echo $CAIRN_CAPTURE", {"CAIRN_CAPTURE=off"},
                  {"--capture", "--frames", "3-5", "--hash-frames", "--hash-resources"})
                .output,
            "on,frames=3-5,hash,hash-resources\n");
  EXPECT_EQ(Shell("echo $CAIRN_CAPTURE", {"CAIRN_CAPTURE"}, {"--capture", "--trigger", "x"}).output,
            "on,armed\n");
}

// Nothing would ever end it.
TEST_F(PreloadTest, WhatCannotBeNoticedIsSaidBeforeTheProgramStarts) {
  constexpr char kWarning[] =
      "cairn run: warning: with breadcrumbs off the GPU does not write how far it is";
  EXPECT_THAT(Shell("", {}, {"--kill-on-hang", "--breadcrumbs", "off"}).errors,
              StartsWith(kWarning));
  EXPECT_THAT(Shell("", {"CAIRN_BREADCRUMBS=off"}, {"--kill-on-hang"}).errors,
              StartsWith(kWarning));
  EXPECT_EQ(Shell("", {"CAIRN_BREADCRUMBS"}, {"--kill-on-hang"}).errors, "");
}

// A user of `cairn run` gets the names of events.
TEST_F(PreloadTest, NamesOfEventsAreAskedFor) {
  EXPECT_EQ(Shell("echo $CAIRN_EVENTS", {"CAIRN_EVENTS"}).output, "all\n");
  EXPECT_EQ(Shell("echo $CAIRN_EVENTS", {"CAIRN_EVENTS=retail"}).output, "retail\n");
  EXPECT_EQ(Shell("echo $CAIRN_EVENTS", {"CAIRN_EVENTS"}, {"--events", "retail"}).output,
            "retail\n");
  EXPECT_EQ(Shell("echo $CAIRN_EVENTS", {"CAIRN_EVENTS=retail"}, {"--events", "all"}).output,
            "all\n");
  EXPECT_EQ(Shell("", {}, {"--events", "none"}).exit_code, 125);
}

// The program has no more threads, output or descriptors than without the layer, and may fork
// freely.
TEST_F(PreloadTest, AProgramWithoutDirect3DNoticesNothing) {
  const std::string script =
      "grep Threads /proc/self/status; ls /proc/self/fd | wc -l; (echo forked; (echo twice))";
  const CommandResult without = Shell(script, {}, {"--no-layer"});
  const CommandResult with = Shell(script);
  EXPECT_EQ(with.exit_code, 0);
  EXPECT_EQ(with.errors, "");
  EXPECT_EQ(with.output, without.output);
  EXPECT_THAT(with.output, HasSubstr("Threads:\t1\n"));
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

#endif  // CAIRN_SANITIZED

}  // namespace
}  // namespace cairn::testing
