// SPDX-License-Identifier: Apache-2.0
#include "cairn/user_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "app/recorder/block_writer.h"
#include "format/snapshot/snapshot_from_block.h"

namespace cairn {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

BlockWriter& Block() {
  return *BlockWriter::OfThisProcess(kDefaultBlockBytes).value();
}

// The entries of a report that is taken now.
std::map<std::string, std::string> Reported() {
  const Result<Snapshot> snapshot = SnapshotFromBlock(
      std::span<const std::byte>(Block().data(), Block().size_bytes()), 1, Binaries::kKeep);
  std::map<std::string, std::string> entries;
  for (const UserData& data : snapshot->user_data) {
    const std::span<const std::byte> bytes = snapshot->Blob(data.bytes);
    EXPECT_EQ(bytes.size(), data.size_bytes);
    entries[std::string(snapshot->Text(data.key))] =
        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  EXPECT_TRUE(snapshot->losses.empty());
  return entries;
}

// Comes first: the others make the block.
TEST(UserDataApi, CallsThatSetNothingMakeNoBlock) {
  EXPECT_EQ(cairnRemoveUserData("level"), CAIRN_OK);
  EXPECT_EQ(cairnRemoveUserData(""), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnSetUserData("", "e1m1", 4), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnSetUserData("level", "", CAIRN_USER_DATA_MAX_BYTES + 1),
            CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(BlockWriter::FindOfThisProcess(), nullptr);
}

TEST(UserDataApi, AReportHasIt) {
  ASSERT_EQ(cairnSetUserData("level", "e1m1", 4), CAIRN_OK);
  ASSERT_EQ(cairnSetUserData("bytes", "\0\xff\n", 3), CAIRN_OK);
  ASSERT_EQ(cairnSetUserData("paused", nullptr, 0), CAIRN_OK);
  EXPECT_THAT(Reported(), Contains(Pair("level", "e1m1")));
  EXPECT_THAT(Reported(), Contains(Pair("bytes", std::string("\0\xff\n", 3))));
  EXPECT_THAT(Reported(), Contains(Pair("paused", "")));
  ASSERT_EQ(cairnRemoveUserData("paused"), CAIRN_OK);
  ASSERT_EQ(cairnRemoveUserData("paused"), CAIRN_OK);
  EXPECT_THAT(Reported(), Not(Contains(Key("paused"))));
}

TEST(UserDataApi, WrongArgumentsChangeNothing) {
  ASSERT_EQ(cairnSetUserData("kept", "1", 1), CAIRN_OK);
  EXPECT_EQ(cairnSetUserData(nullptr, "2", 1), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnSetUserData("", "2", 1), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnSetUserData("\xff\xfe", "2", 1), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnSetUserData("kept", nullptr, 1), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(cairnGetLastErrorMessage(), HasSubstr("data is NULL, and size_bytes is not 0"));
  EXPECT_EQ(cairnSetUserData("kept", "2", CAIRN_USER_DATA_MAX_BYTES + 1),
            CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(cairnGetLastErrorMessage(), HasSubstr("2097153 bytes: an entry has 2097152 at most"));
  EXPECT_EQ(cairnRemoveUserData(nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(Reported(), Contains(Pair("kept", "1")));
}

// The report of a program that runs on: of a hang. Each entry is as it was at one moment.
TEST(UserDataApi, AReportThatIsTakenMeanwhileHasNoMixture) {
  constexpr size_t kMostBytes = 100'000;
  std::atomic<bool> started = false, done = false;
  std::thread writer([&] {
    std::string value;
    for (size_t i = 0; !done; ++i) {
      value.assign(i * 7919 % kMostBytes + 1, static_cast<char>('a' + i % 26));
      EXPECT_EQ(cairnSetUserData("changes", value.data(), value.size()), CAIRN_OK);
      started = true;
      // Others have the memory in between.
      EXPECT_EQ(cairnSetUserData("other", std::string(kMostBytes, '?').data(), kMostBytes),
                CAIRN_OK);
    }
  });
  while (!started) std::this_thread::yield();
  size_t seen = 0;
  for (int i = 0; i < 200; ++i) {
    const Result<Snapshot> snapshot = SnapshotFromBlock(
        std::span<const std::byte>(Block().data(), Block().size_bytes()), 1, Binaries::kKeep);
    for (const UserData& data : snapshot->user_data) {
      if (snapshot->Text(data.key) != "changes") continue;
      const std::span<const std::byte> bytes = snapshot->Blob(data.bytes);
      EXPECT_EQ(bytes.size(), data.size_bytes);
      const std::vector<std::byte> expected(bytes.size(), bytes.front());
      EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
      ++seen;
    }
  }
  done = true;
  writer.join();
  EXPECT_GT(seen, 0u);
}

}  // namespace
}  // namespace cairn
