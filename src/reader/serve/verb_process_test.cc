// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/verb_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "os/testing/test_role.h"
#include "reader/serve/private_folder.h"

namespace cairn {
namespace {

void Print(int bytes) {
  for (int i = 0; i < bytes; ++i) std::fputc('x', stdout);
  std::fflush(stdout);
}

const TestRole prints("prints", [](const TestWords& words) {
  Print(std::stoi(words.at(0)));
  return 7;
});
const TestRole prints_and_stays("prints-and-stays", [](const TestWords& words) -> int {
  Print(std::stoi(words.at(0)));
  SleepForEver();
});

constexpr size_t kMost = 1000;

Result<VerbResult> RunRole(const std::string& role, size_t bytes, bool wanted = true) {
  const PrivateFolder folder = std::move(PrivateFolder::Make()).value();
  return RunVerb({"--role", role, std::to_string(bytes)}, folder.path(), kMost,
                 [wanted](const std::string&) { return wanted; });
}

TEST(RunVerb, GivesWhatIsPrintedUpToABound) {
  const Result<VerbResult> all = RunRole("prints", kMost);
  ASSERT_TRUE(all.ok()) << all.status().message();
  EXPECT_EQ(all->exit_code, 7);
  EXPECT_EQ(all->output, std::string(kMost, 'x'));
  const Result<VerbResult> more = RunRole("prints", kMost + 1);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.status().message(), "cairn --role printed more than 1,000 bytes");
}

TEST(RunVerb, KillsWhoPrintsMoreAndWhomNobodyWants) {
  const Result<VerbResult> more = RunRole("prints-and-stays", kMost + 1);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.status().message(), "cairn --role printed more than 1,000 bytes");
  const Result<VerbResult> unwanted = RunRole("prints-and-stays", 1, false);
  ASSERT_FALSE(unwanted.ok());
  EXPECT_EQ(unwanted.status().message(), "cairn --role was stopped");
}

}  // namespace
}  // namespace cairn
