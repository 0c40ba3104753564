// SPDX-License-Identifier: Apache-2.0
//
// Hostile programs beside a healthy one, under one `cairn run`: the hang of the healthy one is noticed and reported as
// ever, and the watcher's memory stays within its bound (docs/reference/bounds.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

#include "harness.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns the peak of the process's resident memory so far; 0 if it is not known.
uint64_t PeakMiB(pid_t pid) {
  const std::string status = ReadFile("/proc/" + std::to_string(pid) + "/status");
  const size_t at = status.find("VmHWM:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 6, nullptr, 10) / 1024;
}

class HostileNeighbours : public ::testing::Test {
 protected:
  // `cairn run` of a shell that starts the neighbours, waits until as many of them have said that they are ready, and
  // then starts a program that hangs.
  std::vector<std::string> Beside(const std::vector<std::string>& neighbours, int ready,
                                  const std::vector<std::string>& options = {}) {
    std::string script;
    for (const std::string& neighbour : neighbours) script += neighbour + " >> ready &\n";
    script += "until [ \"$(grep -c ready ready)\" -ge " + std::to_string(ready) +
              " ]; do sleep 0.02; done\n" + misbehave_ + " hang\n";
    std::vector<std::string> arguments = {Program("cairn"), "run", "--hang-timeout", "1",
                                          "--no-layer"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", script});
    return arguments;
  }
  // Until the hang is told; then everything ends.
  CommandResult RunUntilHang(const std::vector<std::string>& arguments) {
    Command command(arguments,
                    {.folder = folder_.path(), .timeout_s = 240, .leaves_behind = SIZE_MAX});
    EXPECT_TRUE(WaitUntil(
        [&] {
          return command.errors().find("misbehave hangs:") != std::string::npos ||
                 !IsRunning(command.pid());
        },
        120))
        << command.errors();
    peak_mib_ = PeakMiB(command.pid());
    // The first one ends the shell; those after it have cairn wait for nobody whom the shell left behind.
    EXPECT_TRUE(WaitUntil(
        [&] {
          kill(command.pid(), SIGTERM);
          return !IsRunning(command.pid());
        },
        120))
        << command.errors();
    return command.Wait();
  }
  void ExpectTheHang(const CommandResult& result) {
    EXPECT_FALSE(result.timed_out);
    // If another process took the first file, the name has the number of the process.
    const std::regex line(
        "cairn: misbehave hangs: GPU work made no progress for 1 s; report: cairn report (misbehave"
        "(-[0-9]+)?\\.cairn)\n");
    std::smatch found;
    ASSERT_TRUE(std::regex_search(result.errors, found, line)) << result.errors;
    EXPECT_THAT(ReadReportedWork(folder_ / found[1].str()).candidates,
                ElementsAre("DISPATCH Blur"));
    EXPECT_LE(peak_mib_, 256u);
  }

  const std::string neighbour_ = CAIRN_BINARY_DIR "/tests/programs/hostile_neighbour";
  const std::string misbehave_ = CAIRN_BINARY_DIR "/tests/programs/misbehave";
  TemporaryFolder folder_;
  uint64_t peak_mib_ = 0;
};

// 40 times 4,194,304 command lists, of which each look and each report would copy all.
TEST_F(HostileNeighbours, OneBlockHandedOverByManyIsOneBlock) {
  const CommandResult result = RunUntilHang(Beside({neighbour_ + " claims 40 64"}, 1));
  ExpectTheHang(result);
  EXPECT_THAT(result.errors, HasSubstr("it sent the memory of another process"));
}

// Each small enough for itself.
TEST_F(HostileNeighbours, ManyBlocksTogetherTakeNoMoreThanIsAllowed) {
  const CommandResult result = RunUntilHang(Beside({neighbour_ + " owns 20 2"}, 1));
  ExpectTheHang(result);
  EXPECT_THAT(result.errors, HasSubstr("hangs of hostile_neighbour (process "));
}

TEST_F(HostileNeighbours, ReportsOfFullBlocksAreBounded) {
  const CommandResult result =
      RunUntilHang(Beside({neighbour_ + " events; echo ready", neighbour_ + " reports"}, 2));
  ExpectTheHang(result);
  EXPECT_THAT(result.errors, HasSubstr("hostile_neighbour died with signal 9"));
  // 64 devices, in as many messages.
  EXPECT_THAT(result.errors, HasSubstr("hostile_neighbour lost its device"));
}

// Sockets that linger for a minute when they are closed, alone, in one message, and inside of other sockets.
TEST_F(HostileNeighbours, WhatIsNoMemoryHoldsNobodyUp) {
  ExpectTheHang(
      RunUntilHang(Beside({neighbour_ + " descriptors", neighbour_ + " descriptors"}, 2)));
}

TEST_F(HostileNeighbours, MemoryOfHugePagesIsNotTouched) {
  const CommandResult result = RunUntilHang(Beside({neighbour_ + " huge; echo ready"}, 1));
  ExpectTheHang(result);
}

TEST_F(HostileNeighbours, AFloodOfMessagesHoldsNobodyUp) {
  ExpectTheHang(RunUntilHang(Beside({neighbour_ + " flood", neighbour_ + " flood"}, 0)));
}

// One round of what takes ten minutes otherwise, in both of its forms.
TEST_F(HostileNeighbours, AllKindsTogether) {
  for (const char* form : {"--inherited", "--service"}) {
    const CommandResult result =
        RunCommand({CAIRN_SOURCE_DIR "/tests/soak/hostile", "--build", CAIRN_BINARY_DIR,
                    "--seconds", "1", "--no-times", form},
                   {.folder = folder_.path(), .timeout_s = 400});
    EXPECT_EQ(result.exit_code, 0) << form << "\n" << result.Summary();
    EXPECT_THAT(result.output,
                HasSubstr("5 reports and endings of healthy programs looked at, 0 wrong"));
  }
}

}  // namespace
}  // namespace cairn::testing
