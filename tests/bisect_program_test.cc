// SPDX-License-Identifier: Apache-2.0
//
// `cairn bisect -- PROGRAM`: programs that fail in some runs only, or not of the GPU's work; what is said, kept and left
// behind; whoever interrupts it. Which work it names: bisect_vulkan_program_test.cc, bisect_d3d12_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/json.h"
#include "bisect_answers.h"
#include "bisect_program_fixture.h"
#include "harness.h"
#include "screen_of_tests.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class BisectProgramTest : public SearchOfProgramsTest {
 protected:
  // A script that counts its runs in the file "runs", and then does this.
  std::vector<std::string> CountingScript(const std::string& rest) {
    std::ofstream script(folder_ / "program.sh");
    script << "n=$(cat runs 2>/dev/null || echo 0); n=$((n + 1)); echo $n > runs\n" << rest << "\n";
    return {"sh", "program.sh"};
  }
  int RunsMade() { return std::stoi("0" + ReadFile(folder_ / "runs")); }
};

TEST_F(BisectProgramTest, AProgramThatFailsInSomeRuns) {
  const std::vector<std::string> flaky = CountingScript(
      "fault=store-far-one@middle; [ $((n % 3)) -eq 1 ] && fault=healthy\n"
      "mkdir -p truth; exec " CAIRN_BINARY_DIR
      "/tests/truth/truth_program --truth truth --fault $fault");
  const Json answer = Bisect({"--runs", "6"}, flaky);
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  EXPECT_EQ(4, answer["failed"]);
  EXPECT_EQ(6, answer["asked"]);
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  EXPECT_THAT(PathOf(answer["culprits"][0][0]), Contains("Probes"));
  EXPECT_LT(answer["failed_with"].get<int>(), answer["runs_with"].get<int>());
  EXPECT_EQ(0, answer["failed_without"]);
  EXPECT_EQ(RunsMade(), answer["runs"].get<int>());
}

TEST_F(BisectProgramTest, WhatTheGpuIsNotToBlameFor) {
  const Json answer =
      Bisect({}, CountingScript(Program("sample-triangle-vulkan-plain") + "\nkill -SEGV $$"), 1);
  EXPECT_EQ(false, answer["found"]);
  EXPECT_EQ(true, answer["fails_without_gpu_work"]);
  EXPECT_EQ(true, answer["layers_seen"]);
  EXPECT_EQ(RunsMade(), answer["runs"].get<int>());
  const Json without_gpu = Bisect({}, {"sh", "-c", "kill -SEGV $$"}, 1);
  EXPECT_EQ(true, without_gpu["fails_without_gpu_work"]);
  EXPECT_EQ(false, without_gpu["layers_seen"]);
  EXPECT_EQ(2, without_gpu["runs"]);
}

TEST_F(BisectProgramTest, AForeignProgramThatGoesOn) {
  if (Screen::Display().empty()) GTEST_SKIP() << "install the package xvfb";
  if (RunCommand({"sh", "-c", "command -v vkcube"}, Options()).exit_code != 0) {
    GTEST_SKIP() << "install the package vulkan-tools";
  }
  const Json answer = Bisect({"--survive", "4", "--hang-timeout", "3"},
                             {"env", "DISPLAY=" + Screen::Display(), "vkcube"}, 1);
  EXPECT_EQ("the program does not fail: 2 of 2 runs were clean", answer["reason"]);
  EXPECT_EQ(true, answer["layers_seen"]);
  EXPECT_EQ(4.0, answer["survive_seconds"]);
}

TEST_F(BisectProgramTest, WhatCannotBeRunIsSaid) {
  const CommandResult missing = Run({"bisect", "--", "./no-such-program"});
  EXPECT_EQ(1, missing.exit_code);
  EXPECT_EQ("", missing.output);
  EXPECT_EQ(
      "cairn bisect: program './no-such-program' was not found; give its path, or a name in PATH\n",
      missing.errors);
  const CommandResult both = Run({"bisect", "a.cairn", "--", "true"});
  EXPECT_EQ(2, both.exit_code);
  EXPECT_EQ("cairn bisect: give a trace or a program, not both: a.cairn stands in front of --\n",
            both.errors);
  const CommandResult soon = Run({"bisect", "--survive", "5", "--", "true"});
  EXPECT_EQ(2, soon.exit_code);
  EXPECT_EQ(
      "cairn bisect: --survive 5 ends a run before --hang-timeout 10 could tell of a hang; give "
      "more\n",
      soon.errors);
  const CommandResult trace_option = Run({"bisect", "--no-output", "--", "true"});
  EXPECT_EQ(2, trace_option.exit_code);
  EXPECT_EQ("cairn bisect: --no-output is for traces: a program is not played\n",
            trace_option.errors);
  const CommandResult nothing = Run({"bisect", "--"});
  EXPECT_EQ(2, nothing.exit_code);
  EXPECT_EQ("cairn bisect: no program is given behind --\n", nothing.errors);
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(BisectProgramTest, AReportReplacesNeitherTheProgramNorTheJournal) {
  for (const char* output : {"j", "./j.work"}) {
    const CommandResult journal = Run({"bisect", "--journal", "j", "-o", output, "--", "true"});
    EXPECT_EQ(2, journal.exit_code);
    EXPECT_EQ(
        "cairn bisect: " + std::string(output) +
            " is a file of the journal, which goes when the search is over; give another file "
            "with -o\n",
        journal.errors);
  }
  EXPECT_THAT(folder_.Contents(), IsEmpty());
  const std::string program = folder_ / "program";
  std::ofstream(program) << "#!/bin/sh\nexit 0\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  for (const std::string& verb : {std::string("bisect"), std::string("run")}) {
    const CommandResult own = Run({verb, "-o", "program", "--", "./program"});
    EXPECT_EQ(verb == "run" ? 125 : 2, own.exit_code);
    EXPECT_EQ(
        "cairn " + verb +
            ": program is the program, which the report would replace; give another file with "
            "-o\n",
        own.errors);
  }
  EXPECT_EQ("#!/bin/sh\nexit 0\n", ReadFile(program));
}

// ---- Interruptions ---------------------------------------------------------------------------------

size_t AnswersIn(const std::string& journal) {
  const std::string text = ReadFile(journal);
  const size_t head = text.find("answers\n");
  if (head == std::string::npos) return 0;
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) -
         static_cast<size_t>(
             std::count(text.begin(), text.begin() + static_cast<long>(head), '\n')) -
         1;
}

// The search is interrupted after some answers; then the same command continues, repeats no
// question, and finds the same culprits. The driver of tests/icd: after a hang, making a device
// blocks until the file is removed.
Command::Options WhereHangsStay(Command::Options options, const std::string& file,
                                const std::string& more = "") {
  const std::string driver = CAIRN_BINARY_DIR "/tests/icd/cairn_icd.json";
  options.environment = {"VK_ICD_FILENAMES=" + driver, "VK_DRIVER_FILES=" + driver,
                         "CAIRN_ICD=sticks-after-hang=" + file + more};
  return options;
}
const std::vector<std::string> kHangingProgram = {"--", CAIRN_BINARY_DIR "/tests/icd/icd_program",
                                                  "hang"};

TEST_F(BisectProgramTest, AGpuThatStaysIllEndsTheSearch) {
  const std::vector<std::string> words = Words(
      {Program("cairn"), "bisect", "--hang-timeout", "0.5", "--recovery", "1", "--journal", "kept"},
      kHangingProgram);
  const Command::Options options = WhereHangsStay(Options(), folder_ / "ill");
  const CommandResult result = RunCommand(words, options);
  EXPECT_EQ(1, result.exit_code) << result.Summary();
  EXPECT_THAT(
      result.errors,
      HasSubstr("cairn bisect: a GPU of this machine has not finished a dispatch of "
                "Cairn's own for 1 s, since a run failed: other work would fail there, "
                "too. Reset the GPU, or wait; then run the same command again, which resumes. "
                "With --recovery 0 it resumes at once, without this check"));
  EXPECT_THAT(result.left_behind, IsEmpty()) << result.Summary();
  EXPECT_THAT(folder_.Contents(), ElementsAre("ill", "ill.waits", "kept", "kept.work"));
  // It is ill before the first run, too.
  const CommandResult again = RunCommand(words, options);
  EXPECT_EQ(1, again.exit_code) << again.Summary();
  EXPECT_THAT(again.errors, HasSubstr("of Cairn's own for 1 s: other work would fail there, too"));
}

// Like NVIDIA's driver after a fault of memory.
TEST_F(BisectProgramTest, AProgramThatOnlyDispatchesDoesNotWaitForDraws) {
  const CommandResult result =
      RunCommand(Words({Program("cairn"), "bisect", "--json", "--no-why", "--hang-timeout", "0.5"},
                       kHangingProgram),
                 WhereHangsStay(Options(), folder_ / "ill", ",draws-stick"));
  const Json answer = Json::Parse(result.output);
  ASSERT_TRUE(answer.is_object()) << result.Summary();
  EXPECT_EQ("hang", answer["failure"]) << answer.dump(2);
  EXPECT_THAT(folder_.Contents(), ElementsAre("ill")) << "nobody waited";
}

TEST_F(BisectProgramTest, AProgramThatDrawsWaitsForThem) {
  const CommandResult result = RunCommand(
      {Program("cairn"), "bisect", "--hang-timeout", "0.5", "--recovery", "1", "--progress",
       "--journal", "kept", "--", CAIRN_BINARY_DIR "/tests/truth/truth_program", "--fault",
       "pixel-long@glass", "--truth", folder_.path(), "--limit", "5", "--scripted",
       CAIRN_BINARY_DIR "/tests/icd/libcairn_icd.so"},
      WhereHangsStay(Options(), folder_ / "ill", ",draws-stick"));
  EXPECT_EQ(1, result.exit_code) << result.Summary();
  EXPECT_THAT(result.errors, HasSubstr("has not finished a dispatch and a draw of Cairn's own for "
                                       "1 s, since a run failed"));
}

TEST_F(BisectProgramTest, AGpuThatGetsWellIsWaitedFor) {
  const std::string file = folder_ / "ill";
  std::atomic<bool> over = false;
  std::atomic<int> times = 0;
  std::thread doctor([&] {
    while (!over) {
      if (std::filesystem::remove(file + ".waits") && std::filesystem::remove(file)) ++times;
      std::this_thread::yield();
    }
  });
  const CommandResult result =
      RunCommand(Words({Program("cairn"), "bisect", "--json", "--no-why", "--hang-timeout", "0.5"},
                       kHangingProgram),
                 WhereHangsStay(Options(), file));
  over = true;
  doctor.join();
  const Json answer = Json::Parse(result.output);
  ASSERT_TRUE(answer.is_object()) << result.Summary();
  EXPECT_EQ("hang", answer["failure"]) << answer.dump(2);
  EXPECT_LE(1, times) << answer.dump(2);
}

TEST_F(BisectProgramTest, AnInterruptedSearchGoesOn) {
  const std::vector<std::string> program =
      CountingScript("exec " + Program("sample-fault-vulkan-plain"));
  const std::vector<std::string> arguments =
      Words({Program("cairn"), "bisect", "--no-why", "--journal", "j", "--"}, program);
  for (const size_t answers : {1u, 2u, 5u}) {
    Command command(arguments, Options());
    ASSERT_TRUE(WaitUntil([&] { return AnswersIn(folder_ / "j") >= answers; }));
    ASSERT_EQ(0, kill(command.pid(), SIGTERM));
    const CommandResult result = command.Wait();
    EXPECT_EQ(1, result.exit_code) << result.Summary();
    EXPECT_THAT(result.errors,
                HasSubstr("cairn bisect: interrupted; the same command resumes from here\n"));
    EXPECT_THAT(result.left_behind, IsEmpty());
    EXPECT_THAT(folder_.Contents(), ElementsAre("j", "j.work", "program.sh", "runs"));
  }
  const size_t remembered = AnswersIn(folder_ / "j");
  const int runs = RunsMade();
  const Json answer = Bisect({"--journal", "j"}, program);
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  EXPECT_THAT(PathOf(answer["culprits"][0][0]), Contains("Scatter to nowhere"));
  EXPECT_EQ(RunsMade() - runs, answer["runs"].get<int>() - static_cast<int>(remembered));
  EXPECT_THAT(folder_.Contents(), ElementsAre("program.sh", "runs"));
}

// Killing cairn ends the programs that it runs; the journal is whole.
TEST_F(BisectProgramTest, AKilledSearchLeavesNothingRunningAndGoesOn) {
  const std::vector<std::string> program =
      CountingScript("echo $$ > pid; exec " + Program("sample-fault-vulkan-plain"));
  for (const int delay_ms : {20, 150, 400, 900, 1500}) {
    Command command(
        Words({Program("cairn"), "bisect", "--no-why", "--journal", "j", "--"}, program),
        Options());
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    kill(command.pid(), SIGKILL);
    // The kernel ends them one after the other.
    if (const std::string pid = ReadFile(folder_ / "pid"); !pid.empty()) {
      EXPECT_TRUE(WaitForEnd(std::stoi(pid)));
    }
    command.Wait();
  }
  const Json answer = Bisect({"--journal", "j"}, program);
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  EXPECT_THAT(PathOf(answer["culprits"][0][0]), Contains("Scatter to nowhere"));
  EXPECT_THAT(folder_.Contents(), ElementsAre("pid", "program.sh", "runs"));
}

// Found in PATH, it is known by its file as well.
TEST_F(BisectProgramTest, AProgramInPathThatChangedIsAnotherOne) {
  std::filesystem::create_directory(folder_ / "bin");
  const std::string game = folder_ / "bin/game";
  const auto write = [&game](const std::string& program) {
    std::ofstream(game) << "#!/bin/sh\nexec " << program << "\n";
    std::filesystem::permissions(game, std::filesystem::perms::owner_all);
  };
  Command::Options options = Options();
  options.environment.push_back("PATH=" + (folder_ / "bin") + ":" + std::getenv("PATH"));
  write(Program("sample-fault-vulkan-plain"));
  const CommandResult first =
      RunCommand({Program("cairn"), "bisect", "--max-probes", "3", "--", "game"}, options);
  EXPECT_EQ(1, first.exit_code) << first.Summary();
  write(Program("sample-triangle-vulkan-plain") + " # another");
  const CommandResult second = RunCommand({Program("cairn"), "bisect", "--", "game"}, options);
  EXPECT_EQ(1, second.exit_code) << second.Summary();
  EXPECT_THAT(second.errors, HasSubstr("starts over: game.bisect belongs to another search"));
  EXPECT_THAT(second.errors, HasSubstr("bin/game, "));
  EXPECT_THAT(second.output + second.errors, HasSubstr("2 of 2 runs were clean"));
}

TEST_F(BisectProgramTest, AJournalWithoutItsWorkIsOfNoUse) {
  const std::vector<std::string> program = {Program("sample-fault-vulkan-plain")};
  {
    Command command(
        Words({Program("cairn"), "bisect", "--no-why", "--journal", "j", "--"}, program),
        Options());
    ASSERT_TRUE(WaitUntil([&] { return AnswersIn(folder_ / "j") >= 3; }));
    kill(command.pid(), SIGTERM);
    command.Wait();
  }
  std::ofstream(folder_ / "j.work") << "no catalogue";
  const CommandResult result = Run(Words({"bisect", "--no-why", "--journal", "j", "--"}, program));
  EXPECT_EQ(0, result.exit_code) << result.Summary();
  EXPECT_THAT(result.errors,
              HasSubstr("starts over: the answers in j are of no use without j.work, which is "
                        "missing or damaged"));
  EXPECT_THAT(result.output, HasSubstr("Scatter to nowhere"));
}

// A program that somebody kills from outside said nothing: that run is made again.
TEST_F(BisectProgramTest, AProgramThatIsKilledFromOutsideIsRunAgain) {
  const std::vector<std::string> program = CountingScript(
      "[ $n -eq 4 ] && kill -KILL $$\n"
      "[ $n -eq 6 ] && kill -TERM $$\n"
      "exec " +
      Program("sample-fault-vulkan-plain"));
  const Json answer = Bisect({}, program);
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  EXPECT_THAT(PathOf(answer["culprits"][0][0]), Contains("Scatter to nowhere"));
  EXPECT_EQ(2, answer["undecided"]);
  EXPECT_EQ(RunsMade(), answer["runs"].get<int>());
  ExpectSure(answer);
}

// Processes that a program leaves in its group end with each run.
TEST_F(BisectProgramTest, WhatAProgramLeavesBehindEndsWithItsRun) {
  const Json answer =
      Bisect({}, CountingScript("sleep 1000 &\n" + Program("sample-triangle-vulkan-plain")), 1);
  EXPECT_EQ(2, answer["runs"]);
  EXPECT_EQ("the program does not fail: 2 of 2 runs were clean", answer["reason"]);
}

// ---- A capture of another tool ------------------------------------------------------------------------

// The sample passes addresses in push constants, which gfxreconstruct does not translate: in a replay its good store
// goes nowhere, too. Each of the two is enough.
TEST_F(BisectProgramTest, ACaptureOfGfxreconstruct) {
  Command::Options options = Options();
  if (RunCommand({"sh", "-c", "command -v gfxrecon-replay"}, options).exit_code != 0) {
    GTEST_SKIP() << "install the package gfxreconstruct";
  }
  options.environment.emplace_back("VK_INSTANCE_LAYERS=VK_LAYER_LUNARG_gfxreconstruct");
  options.environment.push_back("GFXRECON_CAPTURE_FILE=" + (folder_ / "a.gfxr"));
  options.environment.emplace_back("GFXRECON_CAPTURE_FILE_TIMESTAMP=false");
  options.environment.emplace_back("GFXRECON_CAPTURE_FILE_FLUSH=true");
  const CommandResult captured = RunCommand({Program("sample-fault-vulkan-plain")}, options);
  ASSERT_TRUE(std::filesystem::exists(folder_ / "a.gfxr")) << captured.Summary();
  const Json answer = Bisect({}, {"gfxrecon-replay", "a.gfxr"});
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  std::vector<std::string> names;
  for (const Json& culprits : answer["culprits"]) {
    ASSERT_EQ(1u, culprits.size()) << answer.dump(2);
    names.push_back(PathOf(culprits[0]).back());
  }
  EXPECT_THAT(names, UnorderedElementsAre("Scatter to nowhere", "Scatter to a buffer"))
      << answer.dump(2);
  ExpectSure(answer);
}

}  // namespace
}  // namespace cairn::testing
