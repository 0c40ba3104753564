// SPDX-License-Identifier: Apache-2.0
#include "os/running_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "os/testing/test_role.h"

namespace cairn {
namespace {

using testing::Contains;

constexpr char kName[] = "running-processes-test";

const TestRole sleeps_long("sleeps-long", [](const TestWords&) -> int { SleepForEver(); });

class RunningProcess : public testing::Test {
 protected:
  void SetUp() override {
    SpawnRequest request;
    request.arguments = ArgumentsOfRole("sleeps-long");
    request.environment = {"CAIRN_RUNNING_TEST=some value"};
    Result<ProcessHandle> program = SpawnProgram(request);
    ASSERT_TRUE(program.ok());
    program_ = std::move(*program);
  }
  void TearDown() override {
    EXPECT_TRUE(KillProcess(program_).ok());
    (void)EndOf(program_);
  }
  ProcessHandle program_;
};

TEST_F(RunningProcess, IsInTheList) {
  EXPECT_THAT(RunningProcesses(), Contains(program_.pid));
  EXPECT_EQ(ParentOf(program_.pid), OwnProcessId());
  EXPECT_EQ(OwnNumberOf(OwnProcessId()), OwnProcessId());
}

TEST_F(RunningProcess, WasStartedWithWhatItWasGiven) {
  // Under Wine a process writes it down itself, when it begins to run, and may put it elsewhere then.
  while (!WasStartedWith(program_.pid, "CAIRN_RUNNING_TEST=some value")) std::this_thread::yield();
  EXPECT_FALSE(WasStartedWith(program_.pid, "CAIRN_RUNNING_TEST=some"));
  EXPECT_FALSE(WasStartedWith(program_.pid, "RUNNING_TEST=some value"));
  EXPECT_FALSE(WasStartedWith(OwnProcessId(), "CAIRN_RUNNING_TEST=some value"));
}

TEST(LookAtHeldMemory, ShowsWhatAProcessHoldsUnderTheName) {
  Result<SharedMemory> one = SharedMemory::Create(kName, 8192);
  Result<SharedMemory> other = SharedMemory::Create("another", 8192);
  ASSERT_TRUE(one.ok() && other.ok());
  std::strcpy(reinterpret_cast<char*>(one->data()) + 100, "stones");
  int looks = 0;
  std::optional<HeldMemory> found;
  const std::error_code error = LookAtHeldMemory(OwnProcessId(), kName, [&](HeldMemory& memory) {
    ++looks;
    found = std::move(memory);
    return true;
  });
  EXPECT_FALSE(error);
  EXPECT_EQ(looks, 1);
  ASSERT_TRUE(found.has_value());
  char text[7] = {};
  EXPECT_TRUE(found->ReadAt(100, std::as_writable_bytes(std::span(text))));
  EXPECT_STREQ(text, "stones");
  EXPECT_FALSE(found->ReadAt(8190, std::as_writable_bytes(std::span(text))));
  Result<SharedMemory> mapped = found->MapForReading();
  ASSERT_TRUE(mapped.ok()) << mapped.status().message();
  EXPECT_EQ(mapped->size_bytes(), 8192u);
  EXPECT_STREQ(reinterpret_cast<const char*>(mapped->data()) + 100, "stones");
}

TEST(LookAtHeldMemory, SaysThatAProcessIsGone) {
  const std::error_code error =
      LookAtHeldMemory(ProcessId{1} << 40, kName, [](HeldMemory&) { return true; });
  EXPECT_TRUE(error == std::errc::no_such_file_or_directory || error == std::errc::no_such_process)
      << error.message();
}

}  // namespace
}  // namespace cairn
