// SPDX-License-Identifier: Apache-2.0
#include "reader/view/dump_reader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cairn {
namespace {

constexpr std::chrono::hours kLong(1);

std::vector<std::string> Files(size_t count) {
  const std::string names[] = {"snapshot-v1", "snapshot-vulkan-v1", "trace-v1", "none"};
  std::vector<std::string> files;
  for (size_t i = 0; i < count; ++i) {
    files.push_back(CAIRN_SOURCE_DIR "/tests/golden/" + names[i * i % 7 % 4] + ".cairn");
  }
  return files;
}

void ExpectSame(const Result<DumpSummary>& read, const Result<DumpSummary>& expected) {
  ASSERT_EQ(read.ok(), expected.ok());
  if (read.ok()) {
    EXPECT_EQ(TriageLine(*read), TriageLine(*expected));
  } else {
    EXPECT_EQ(read.status().message(), expected.status().message());
  }
}

TEST(DumpReader, GivesInTheOrderOfTheFilesWhatSummariseDumpSays) {
  // Less than a batch, a batch, and more files than all threads have at a time.
  for (const size_t count : {0, 1, 8, 9, 100}) {
    const std::vector<std::string> files = Files(count);
    for (const size_t threads : {0, 1, 3}) {
      DumpReader dumps(files, threads);
      for (const std::string& file : files) {
        const std::optional<Result<DumpSummary>> dump = dumps.Next(kLong);
        ASSERT_TRUE(dump.has_value());
        ExpectSame(*dump, SummariseDump(file));
      }
    }
  }
}

TEST(DumpReader, LosesNothingWhereNobodyWaitsForIt) {
  const std::vector<std::string> files = Files(50);
  DumpReader dumps(files, 2);
  for (size_t given = 0; given < files.size();) {
    const std::optional<Result<DumpSummary>> dump = dumps.Next(std::chrono::milliseconds(0));
    if (!dump.has_value()) continue;
    ExpectSame(*dump, SummariseDump(files[given++]));
  }
}

TEST(DumpReader, MayEndBeforeAllAreGiven) {
  const std::vector<std::string> files = Files(10'000);
  { const DumpReader none_given(files, 2); }
  DumpReader dumps(files, 2);
  EXPECT_TRUE(dumps.Next(kLong).has_value());
}

}  // namespace
}  // namespace cairn
