// SPDX-License-Identifier: Apache-2.0
//
// What programs can make `cairn run` spend: memory, bytes, time, descriptors, lines. The bounds are those of
// docs/reference/bounds.md. By processes that fork and signals that are ignored; hostile_captures_test.cc has what
// takes neither.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "harness.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

size_t LinesThatBegin(const std::string& beginning, const std::string& text) {
  size_t count = text.starts_with(beginning) ? 1 : 0;
  for (size_t at = 0; (at = text.find('\n' + beginning, at)) != std::string::npos; ++at) ++count;
  return count;
}

class HostileTest : public ::testing::Test {
 protected:
  std::vector<std::string> UnderCairn(const std::vector<std::string>& options,
                                      const std::vector<std::string>& program) {
    std::vector<std::string> arguments = {Program("cairn"), "run", "-o", folder_ / "out.cairn"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back("--");
    arguments.insert(arguments.end(), program.begin(), program.end());
    return arguments;
  }
  CommandResult Run(const std::vector<std::string>& options,
                    const std::vector<std::string>& program) {
    return RunCommand(UnderCairn(options, program),
                      {.folder = folder_.path(), .timeout_s = 240, .leaves_behind = 1});
  }
  // The same with `ulimit OPTION COUNT` before it.
  CommandResult RunLimited(const std::string& limit, const std::vector<std::string>& program) {
    std::vector<std::string> arguments = {"sh", "-c", "ulimit " + limit + " && exec \"$@\"", "sh"};
    for (const std::string& word : UnderCairn({}, program)) arguments.push_back(word);
    return RunCommand(arguments, {.folder = folder_.path(), .timeout_s = 240});
  }

  const std::string hostile_ = CAIRN_BINARY_DIR "/tests/programs/hostile";
  const std::string capture_ = CAIRN_BINARY_DIR "/tests/programs/hostile_capture";
  TemporaryFolder folder_;
};

// The bytes of the region, and no more, whatever a child goes on writing into it.
TEST_F(HostileTest, AChildThatFillsTheRegionDoesNotKeepCairn) {
  const CommandResult result = Run({"--capture"}, {capture_, "fill"});
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.left_behind.size(), 1u);
  EXPECT_LT(fs::file_size(folder_ / "out.cairn"), uint64_t{2} << 30);
}

// Entries that are no records cannot block the reader either.
TEST_F(HostileTest, AChildThatFeedsTheRegionDoesNotKeepCairn) {
  for (const char* what : {"old", "late", "damaged"}) {
    SCOPED_TRACE(what);
    const CommandResult result = Run({"--capture"}, {capture_, "feed", what});
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_EQ(result.left_behind.size(), 1u);
    EXPECT_THAT(result.errors, HasSubstr("hostile_capture captured: 1 call"));
  }
}

TEST_F(HostileTest, AProgramThatDoesNotObeyIsKilledByASecondSigterm) {
  Command command(UnderCairn({}, {"sh", "-c", "trap '' TERM; echo ready $$; exec sleep 1000"}),
                  {.folder = folder_.path(), .timeout_s = 240});
  const pid_t program = command.WaitUntilReady();
  ASSERT_GT(program, 0);
  kill(command.pid(), SIGTERM);
  EXPECT_TRUE(WaitUntil([&] {
    return command.errors().find(
               "goes on 5 s after SIGTERM; a second SIGTERM to cairn kills it\n") !=
           std::string::npos;
  }));
  EXPECT_TRUE(IsRunning(program));
  kill(command.pid(), SIGTERM);
  const CommandResult result = command.Wait();
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL) << result.Summary();
  EXPECT_THAT(result.left_behind, ::testing::IsEmpty());
  EXPECT_THAT(result.errors, HasSubstr(": SIGTERM did not end it\n"));
  // As with SIGTERM: no GPU work was unfinished.
  EXPECT_THAT(folder_.Contents(), ::testing::IsEmpty());
}

// A child that is watched and does not obey SIGTERM: cairn does.
TEST_F(HostileTest, WhatAProgramLeavesBehindDoesNotKeepCairnFromObeying) {
  Command command(UnderCairn({"--capture"}, {capture_, "linger"}),
                  {.folder = folder_.path(), .timeout_s = 240, .leaves_behind = 1});
  // The region of the child is open: its file is there.
  ASSERT_TRUE(WaitForFile(folder_ / "out.cairn.part"));
  // The program's own parent has reaped it: the child that it started is now cairn's only child.
  const auto is_left = [&command] {
    const pid_t child = ChildOf(command.pid());
    return child != 0 && ChildOf(child) == 0 &&
           !ReadFile("/proc/" + std::to_string(child) + "/cmdline").empty();
  };
  while (IsRunning(command.pid()) && !is_left()) std::this_thread::yield();
  kill(command.pid(), SIGTERM);
  const CommandResult result = command.Wait();
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.left_behind.size(), 1u);
  EXPECT_THAT(result.errors, HasSubstr("goes on after the signal, and is no longer watched\n"));
  EXPECT_THAT(folder_.Contents(), ElementsAre("out.cairn"));
}

// It ends before cairn reads of it: its name is known all the same.
TEST_F(HostileTest, WhoeverLeftIsCalledByItsName) {
  Command command(UnderCairn({}, {capture_, "left"}), {.folder = folder_.path(), .timeout_s = 240});
  siginfo_t stopped{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(command.pid()), &stopped, WSTOPPED | WNOWAIT), 0);
  ASSERT_EQ(stopped.si_code, CLD_STOPPED);
  const std::string child = std::to_string(ChildOf(command.pid()));
  while (!ReadFile("/proc/" + child + "/cmdline").empty()) std::this_thread::yield();
  kill(command.pid(), SIGCONT);
  const CommandResult result = command.Wait();
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.errors, StartsWith("cairn: hostile_capture (process " + child + ") asks"));
}

// 300 processes at once: their blocks and pidfds do not fit into the soft limit that a shell sets.
TEST_F(HostileTest, EveryForkGetsItsReport) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < 2048) GTEST_SKIP() << "the hard limit of descriptors is " << limit.rlim_max;
  const CommandResult result = RunLimited("-Sn 256", {hostile_, "forks", "300"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(folder_.Contents().size(), 300u);
  // A line each up to the bound, and how many there would be more; then the answers of the first four.
  EXPECT_EQ(LinesThatBegin("cairn: ", result.errors), 201u);
  EXPECT_THAT(result.errors, HasSubstr("cairn: 100 more lines are not shown\n\n"));
  EXPECT_EQ(LinesThatBegin("The program ", result.errors), 4u);
}

TEST_F(HostileTest, ThePrograms_OwnLimitStaysAsItWas) {
  const CommandResult result = RunLimited("-Sn 256", {"sh", "-c", "ulimit -Sn"});
  EXPECT_EQ(result.output, "256\n");
}

// If the limit cannot be raised, as many as fit are watched, and one line reports the others.
TEST_F(HostileTest, WithoutDescriptorsTheRestIsToldInOneLine) {
  const CommandResult result = RunLimited("-n 64", {hostile_, "forks", "150"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  const size_t reports = folder_.Contents().size();
  EXPECT_GE(reports, 30u);
  EXPECT_LT(reports, 64u);
  EXPECT_EQ(LinesThatBegin("cairn: ", result.errors), reports + 2);
  EXPECT_THAT(result.errors,
              ::testing::ContainsRegex("cairn: hostile \\(process [0-9]+\\) is not watched: "));
  EXPECT_THAT(result.errors,
              HasSubstr("\ncairn: " + std::to_string(150 - reports) +
                        " requests of processes to be watched were refused in all\n"));
}

}  // namespace
}  // namespace cairn::testing
