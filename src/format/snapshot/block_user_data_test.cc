// SPDX-License-Identifier: Apache-2.0
//
// User data, from a block into a snapshot and through a file.
#include "format/snapshot/block_user_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_writer.h"
#include "format/block/user_data.h"
#include "format/file/testing/test_container.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"

namespace cairn {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Entries = std::vector<std::pair<std::string, std::string>>;

Entries EntriesOf(const Snapshot& snapshot) {
  Entries entries;
  for (const UserData& data : snapshot.user_data) {
    entries.emplace_back(snapshot.Text(data.key), ToText(snapshot.Blob(data.bytes)));
  }
  return entries;
}

std::vector<std::string> LossesOf(const Snapshot& snapshot) {
  std::vector<std::string> losses;
  for (const TextRef loss : snapshot.losses) losses.emplace_back(snapshot.Text(loss));
  return losses;
}

Snapshot Take(const TestBlock& block, Binaries binaries = Binaries::kKeep) {
  return std::move(SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000, binaries).value());
}

Result<Snapshot> Read(std::span<const std::byte> file) {
  const Result<FileReader> reader = FileReader::FromBytes(file);
  if (!reader.ok()) return reader.status();
  return ReadSnapshot(*reader);
}

const Entries kSample = {{"a/../b", ""},
                         {"level", "e1m1"},
                         {"save.bin", std::string("\x01\x00\xff", 3) + std::string(5000, 's')},
                         {"settings.json", "{\"shadows\": true}\n"}};

TEST(BlockUserData, ASnapshotHasTheEntriesByKey) {
  TestBlock block;
  FillUserDataBlock(&block);
  const Snapshot snapshot = Take(block);
  EXPECT_EQ(EntriesOf(snapshot), kSample);
  EXPECT_THAT(snapshot.losses, IsEmpty());
}

TEST(BlockUserData, AReportOfALivingBlockHasSizesAlone) {
  TestBlock block;
  FillUserDataBlock(&block);
  const Snapshot snapshot = Take(block, Binaries::kLeaveOut);
  ASSERT_EQ(snapshot.user_data.size(), 4u);
  EXPECT_EQ(snapshot.user_data[2].size_bytes, 5003u);
  EXPECT_TRUE(snapshot.user_data[2].bytes.empty());
  EXPECT_THAT(snapshot.blobs, IsEmpty());
  EXPECT_THAT(snapshot.losses, IsEmpty());
}

TEST(BlockUserData, TheStateSaysWhichBytesAreInEffect) {
  TestBlock block;
  UserDataRecord& record = block.AddUserData(0, "key", "old");
  block.AddUserData(1, "other", "new value");
  const uint64_t table = *reinterpret_cast<uint64_t*>(&block.bytes()[kUserDataTableOffset]);
  record.bytes[0] = reinterpret_cast<UserDataTable*>(&block.bytes()[table])->records[1].bytes[1];
  EXPECT_THAT(EntriesOf(Take(block)), ElementsAre(Pair("key", "old"), Pair("other", "new value")));
  record.state = 4;
  EXPECT_THAT(EntriesOf(Take(block)),
              ElementsAre(Pair("key", "new value"), Pair("other", "new value")));
  record.state = 0;
  EXPECT_THAT(EntriesOf(Take(block)), ElementsAre(Pair("other", "new value")));
}

TEST(BlockUserData, EntriesThatContradictThemselvesAreCounted) {
  TestBlock block;
  block.AddUserData(0, "good", "1");
  block.AddUserData(1, "no key", "2").key_length = 0;
  block.AddUserData(2, "long key", "3").key_length = kMaxUserDataKeyBytes + 1;
  block.AddUserData(3, "behind the block", "4").bytes[1].offset = block.bytes().size();
  block.AddUserData(4, "in its tables", "5").bytes[1].offset = kPageBytes;
  block.AddUserData(5, "not aligned", "6").bytes[1].offset += 8;
  block.AddUserData(6, "too long", "7").bytes[1].size_bytes = kMaxUserDataBytes + 1;
  block.AddUserData(7, "longest", "8").bytes[1].size_bytes = UINT64_MAX;
  block.AddUserData(8, "good", "twice");
  const Snapshot snapshot = Take(block);
  EXPECT_THAT(EntriesOf(snapshot), ElementsAre(Pair("good", "1")));
  EXPECT_THAT(LossesOf(snapshot), ElementsAre("8 entries of user data could not be read."));
  EXPECT_EQ(FindInconsistency(snapshot), "");
}

// All of them claim the same two mebibytes.
TEST(BlockUserData, AllTogetherHaveABound) {
  TestBlock block;
  const UserDataBytes most{
      block.AddUserData(0, "first", std::string(kMaxUserDataBytes, 'm')).bytes[1]};
  for (uint32_t i = 1; i < kMaxUserData; ++i) {
    block.AddUserData(i, "key " + std::to_string(i), "").bytes[1] = most;
  }
  const Snapshot snapshot = Take(block);
  EXPECT_EQ(snapshot.user_data.size(), kMaxUserData);
  EXPECT_EQ(snapshot.blobs.size(), kMaxUserDataBytes);
  EXPECT_EQ(FindInconsistency(snapshot), "");
  EXPECT_THAT(LossesOf(snapshot), ElementsAre("63 entries of user data could not be read."));
}

TEST(BlockUserData, ATableOutsideOfTheBlockIsCounted) {
  for (const uint64_t offset : {uint64_t{1}, uint64_t{kPageBytes}, kTestBlockBytes - kPageBytes,
                                kTestBlockBytes, UINT64_MAX - kPageBytes + 1, UINT64_MAX}) {
    TestBlock block;
    block.AddUserData(0, "key", "value");
    *reinterpret_cast<uint64_t*>(&block.bytes()[kUserDataTableOffset]) = offset;
    const Snapshot snapshot = Take(block);
    EXPECT_THAT(EntriesOf(snapshot), IsEmpty()) << offset;
    EXPECT_THAT(LossesOf(snapshot), ElementsAre("1 entries of user data could not be read."));
  }
}

TEST(BlockUserData, AFileKeepsIt) {
  TestBlock block;
  FillUserDataBlock(&block);
  const Snapshot snapshot = Take(block);
  const Result<Snapshot> read = Read(SnapshotFileBytes(snapshot));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(EntriesOf(*read), kSample);
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(snapshot));
}

TEST(BlockUserData, ReadsAndWritesTheGoldenFile) {
  std::ifstream file(CAIRN_SOURCE_DIR "/tests/golden/snapshot-user-data-v1.cairn",
                     std::ios::binary);
  const std::string golden(std::istreambuf_iterator<char>(file), {});
  const Result<Snapshot> read = Read(std::as_bytes(std::span(golden)));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(EntriesOf(*read), kSample);
  EXPECT_THAT(read->losses, IsEmpty());
  TestBlock block;
  FillUserDataBlock(&block);
  EXPECT_EQ(ToText(SnapshotFileBytes(Take(block), Compression::kNone)), golden)
      << "the writer's bytes have changed: is a new chunk type due?";
}

// A file with the rows, and this chunk of bytes for them.
Snapshot ReadWithBytes(std::vector<UserData> rows, const std::vector<std::string>& payloads) {
  Snapshot snapshot;
  snapshot.user_data = std::move(rows);
  for (UserData& data : snapshot.user_data) data.key = snapshot.AddText("key");
  MemoryFile file;
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(file));
  EXPECT_TRUE(WriteSnapshot(snapshot, &*writer).ok());
  for (const std::string& payload : payloads) {
    EXPECT_TRUE(writer->Append(kUserDataBytesChunk, ToBytes(payload)).ok());
  }
  EXPECT_TRUE(writer->Finish().ok());
  return std::move(Read(file.bytes).value());
}

TEST(BlockUserData, BytesOfAFileMustBeAsManyAsItsRowSays) {
  const auto kept = [](const Snapshot& snapshot) {
    EXPECT_EQ(FindInconsistency(snapshot), "");
    return EntriesOf(snapshot).front().second;
  };
  UserData row;
  row.size_bytes = 3;
  EXPECT_EQ(kept(ReadWithBytes({row}, {"\x01"
                                       "abc"})),
            "abc");
  for (const char* bad : {"\x01"
                          "ab",
                          "\x01"
                          "abcd",
                          "\x02"
                          "abc",
                          "\x01", "", "\xff\xff"}) {
    const Snapshot snapshot = ReadWithBytes({row}, {bad});
    EXPECT_EQ(kept(snapshot), "") << bad;
    EXPECT_THAT(LossesOf(snapshot), Contains("A chunk UDAB is damaged.")) << bad;
  }
  // The first one counts.
  EXPECT_EQ(kept(ReadWithBytes({row}, {"\x01"
                                       "abc",
                                       "\x01"
                                       "xyz"})),
            "abc");
}

TEST(BlockUserData, AFileHasNoMoreRowsThanTheTable) {
  EXPECT_EQ(ReadWithBytes(std::vector<UserData>(kMaxUserData), {}).user_data.size(), kMaxUserData);
  const Snapshot more = ReadWithBytes(std::vector<UserData>(kMaxUserData + 1), {});
  EXPECT_THAT(more.user_data, IsEmpty());
  EXPECT_THAT(LossesOf(more), ElementsAre("A chunk UDAT is damaged."));
}

}  // namespace
}  // namespace cairn
