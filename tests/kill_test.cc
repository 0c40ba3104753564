// SPDX-License-Identifier: Apache-2.0
//
// 200 kills at random moments: each leaves a valid report, and nothing in it contradicts what the
// program had logged about its GPU. CAIRN_KILL_SEED repeats a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "harness.h"
#include "reader/report/work_states.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

#if defined(CAIRN_SANITIZED) || defined(_WIN32)
constexpr int kKills = 50;  // a program takes four times as long to start; under Wine longer
#else
constexpr int kKills = 200;
#endif
constexpr uint32_t kDefaultSeed = 20240607;
constexpr uint32_t kMaxLines = 700;  // some 15 frames

// The facts about one list from the log.
struct ListLog {
  uint32_t last = 0;  // sequence number of its last write
  // At least this had been done and was in the shared block; at most that.
  uint32_t reached_least = 0, reached_most = 0;
  uint32_t passed_least = 0, passed_most = 0;
};

std::map<std::string, ListLog> ParseLog(const std::string& log) {
  std::map<std::string, ListLog> lists;
  std::istringstream lines(log.substr(0, log.rfind('\n') + 1));
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string what, frame;
    uint32_t first = 0, second = 0;
    fields >> what >> frame >> first >> second;
    ListLog& list = lists["List " + frame];
    if (what == "list") list.last = first;
    if (what == "before") {
      list.reached_most = first;
      list.passed_most = second;
    } else if (what == "after") {
      list.reached_least = first;
      list.passed_least = second;
    }
  }
  return lists;
}

void ExpectConsistent(const ReportedProgress& reported, const ListLog& logged) {
  SCOPED_TRACE(reported.name + " is " + reported.state + ", reached " +
               std::to_string(reported.reached) + ", passed " + std::to_string(reported.passed));
  EXPECT_GE(reported.reached, logged.reached_least);
  EXPECT_LE(reported.reached, logged.reached_most);
  EXPECT_GE(reported.passed, logged.passed_least);
  EXPECT_LE(reported.passed, logged.passed_most);
  if (reported.state == kCompletedWord) {
    EXPECT_EQ(logged.passed_most, logged.last) << "called completed, but was not";
  } else {
    EXPECT_TRUE(logged.last == 0 || logged.passed_least < logged.last)
        << "was completed, and is not called so";
  }
  if (reported.state == kNotStartedWord) {
    EXPECT_EQ(logged.reached_least, 0u) << "called not started, but was";
  }
}

class KillTest : public ::testing::Test {
 protected:
  // Kills the program once its log has `line_count` lines; returns the log.
  std::string RunAndKill(uint32_t seed, uint32_t line_count) {
    const std::string program = TestProgram("render_for_ever");
    Command command(
        {Program("cairn"), "run", "--quiet", "-o", "a.cairn", "--", program, std::to_string(seed)},
        {.folder = folder_.path()});
    const pid_t pid = command.WaitUntilReady();
    EXPECT_GT(pid, 0);
    if (pid <= 0) return "";
    std::string log = command.output();
    while (std::count(log.begin(), log.end(), '\n') < line_count && IsRunning(pid)) {
      std::this_thread::yield();
      log = command.output();
    }
    KillProcess(pid);
    const CommandResult result = command.Wait();
    EXPECT_EQ(result.exit_code, kExitOfKilled) << result.errors;
    EXPECT_THAT(result.left_behind, ::testing::IsEmpty());
    EXPECT_THAT(folder_.Contents(), ::testing::ElementsAre("a.cairn"));
    return result.output;
  }

  TemporaryFolder folder_;
};

TEST_F(KillTest, EachKillGivesATrueReport) {
  const char* chosen = std::getenv("CAIRN_KILL_SEED");
  const uint32_t seed =
      chosen == nullptr ? kDefaultSeed : static_cast<uint32_t>(std::strtoul(chosen, nullptr, 10));
  std::printf("CAIRN_KILL_SEED=%u repeats this run\n", seed);
  std::mt19937 random(seed);
  size_t compared = 0;
  for (int i = 0; i < kKills && !HasFailure(); ++i) {
    const uint32_t program_seed = random();
    const uint32_t line_count = random() % kMaxLines;
    SCOPED_TRACE("kill " + std::to_string(i) + " after " + std::to_string(line_count) + " lines");
    const std::map<std::string, ListLog> logged = ParseLog(RunAndKill(program_seed, line_count));
    const ReportedWork report = ReadReportedWork(folder_ / "a.cairn");
    ASSERT_TRUE(report.valid);
    for (const ReportedProgress& execution : report.executions) {
      const auto list = logged.find(execution.name);
      // A list that was still being recorded is not in the log yet.
      ExpectConsistent(execution, list == logged.end() ? ListLog() : list->second);
      ++compared;
    }
    std::filesystem::remove(folder_ / "a.cairn");
  }
  EXPECT_GT(compared, static_cast<size_t>(kKills));
}

}  // namespace
}  // namespace cairn::testing
