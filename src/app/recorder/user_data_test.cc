// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/user_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// The entries as a reader finds them.
std::map<std::string, std::string> EntriesOf(const BlockWriter& block) {
  std::map<std::string, std::string> entries;
  uint64_t offset = 0;
  std::memcpy(&offset, block.data() + kUserDataTableOffset, sizeof(offset));
  if (offset == 0) return entries;
  const auto* const table = reinterpret_cast<const UserDataTable*>(block.data() + offset);
  for (const UserDataRecord& record : table->records) {
    const uint64_t state = record.state.load();
    if (state == 0) continue;
    const UserDataBytes& bytes = record.bytes[state % 2];
    entries[std::string(record.key, record.key_length)] =
        std::string(reinterpret_cast<const char*>(block.data()) + bytes.offset, bytes.size_bytes);
  }
  return entries;
}

class UserDataTest : public ::testing::Test {
 protected:
  uint64_t UsedPages() const { return block_->header()->next_page.load(); }

  // The fixed tables take most of the smallest block.
  std::unique_ptr<BlockWriter> block_ = std::move(BlockWriter::Create(uint64_t{16} << 20).value());
  UserDataWriter data_{*block_};
};

TEST_F(UserDataTest, AProgramWithoutItHasNoTable) {
  const std::unique_ptr<BlockWriter> other =
      std::move(BlockWriter::Create(uint64_t{16} << 20).value());
  ASSERT_TRUE(data_.Remove("level").ok());
  EXPECT_FALSE(data_.Set("", Bytes("e1m1")).ok());
  EXPECT_THAT(EntriesOf(*block_), IsEmpty());
  EXPECT_EQ(UsedPages(), other->header()->next_page.load());
  ASSERT_TRUE(data_.Set("level", Bytes("e1m1")).ok());
  EXPECT_GT(UsedPages(), other->header()->next_page.load());
}

TEST_F(UserDataTest, KeepsReplacesAndRemoves) {
  ASSERT_TRUE(data_.Set("level", Bytes("e1m1")).ok());
  ASSERT_TRUE(data_.Set("paused", {}).ok());
  ASSERT_TRUE(data_.Set("level", Bytes("e1m2, a longer name")).ok());
  EXPECT_THAT(EntriesOf(*block_),
              ElementsAre(Pair("level", "e1m2, a longer name"), Pair("paused", "")));
  ASSERT_TRUE(data_.Remove("level").ok());
  ASSERT_TRUE(data_.Remove("level").ok());
  ASSERT_TRUE(data_.Set("new", Bytes("entry")).ok());
  EXPECT_THAT(EntriesOf(*block_), ElementsAre(Pair("new", "entry"), Pair("paused", "")));
}

TEST_F(UserDataTest, AKeyHasItsBounds) {
  EXPECT_THAT(data_.Set("", {}).message(), HasSubstr("the key has 0 bytes: use 1 to 63"));
  const std::string longest(kMaxUserDataKeyBytes, 'k');
  EXPECT_TRUE(data_.Set(longest, Bytes("1")).ok());
  const Status longer = data_.Set(longest + "k", Bytes("2"));
  EXPECT_EQ(longer.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(longer.message(), HasSubstr("the key has 64 bytes: use 1 to 63"));
  EXPECT_EQ(data_.Remove(longest + "k").code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(EntriesOf(*block_), ElementsAre(Pair(longest, "1")));
}

TEST_F(UserDataTest, All64AndNoMore) {
  for (uint32_t i = 0; i < kMaxUserData; ++i) {
    ASSERT_TRUE(data_.Set("key " + std::to_string(i), Bytes("1")).ok());
  }
  const Status more = data_.Set("one more", Bytes("1"));
  EXPECT_EQ(more.code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(more.message(), HasSubstr("there are 64 other entries: remove one"));
  EXPECT_TRUE(data_.Set("key 63", Bytes("2")).ok());
  EXPECT_TRUE(data_.Remove("key 0").ok());
  EXPECT_TRUE(data_.Set("one more", Bytes("3")).ok());
  EXPECT_EQ(EntriesOf(*block_)["key 63"], "2");
  EXPECT_EQ(EntriesOf(*block_)["one more"], "3");
  EXPECT_EQ(EntriesOf(*block_).size(), kMaxUserData);
}

TEST_F(UserDataTest, TwoMebibytesAndNoMore) {
  const std::string most(kMaxUserDataBytes, 'm');
  EXPECT_EQ(data_.Set("a", Bytes(most + "m")).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(data_.Set("a", Bytes(most)).ok());
  const Status more = data_.Set("b", Bytes("1"));
  EXPECT_EQ(more.code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(
      more.message(),
      HasSubstr("all entries together would have 2097153 bytes: they have 2097152 at most"));
  EXPECT_THAT(EntriesOf(*block_), ElementsAre(Pair("a", most)));
  // Its own bytes do not count where it is replaced.
  const std::string other(kMaxUserDataBytes, 'o');
  ASSERT_TRUE(data_.Set("a", Bytes(other)).ok());
  EXPECT_THAT(EntriesOf(*block_), ElementsAre(Pair("a", other)));
  ASSERT_TRUE(data_.Remove("a").ok());
  EXPECT_TRUE(data_.Set("b", Bytes(most)).ok());
}

TEST_F(UserDataTest, ReplacingTakesNoMoreMemoryInTheLongRun) {
  const auto replace = [this] {
    for (size_t size = 1; size <= kMaxUserDataBytes / 2; size *= 2) {
      ASSERT_TRUE(data_.Set("a", Bytes(std::string(size, 'a'))).ok());
      ASSERT_TRUE(data_.Set("b", Bytes(std::string(kMaxUserDataBytes / 4 / size, 'b'))).ok());
    }
  };
  replace();
  replace();
  const uint64_t used = UsedPages();
  for (int i = 0; i < 100; ++i) replace();
  EXPECT_EQ(UsedPages(), used);
}

TEST_F(UserDataTest, AFullBlockKeepsWhatItHas) {
  ASSERT_TRUE(data_.Set("a", Bytes("old")).ok());
  while (block_->AllocatePage() != 0) {
  }
  const Status full = data_.Set("a", Bytes("new"));
  EXPECT_EQ(full.code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(full.message(), HasSubstr("the shared block is full"));
  EXPECT_EQ(data_.Set("b", Bytes("new")).code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(EntriesOf(*block_), ElementsAre(Pair("a", "old")));
}

TEST_F(UserDataTest, AFullBlockReplacesAnEntryByOneThatFits) {
  constexpr size_t kSize = 3 * kPageBytes;
  ASSERT_TRUE(data_.Set("a", Bytes(std::string(kSize, 'a'))).ok());
  ASSERT_TRUE(data_.Set("a", Bytes(std::string(kSize, 'b'))).ok());
  while (block_->AllocatePage() != 0) {
  }
  for (char c = 'c'; c <= 'z'; ++c) {
    const std::string value(kSize, c);
    ASSERT_TRUE(data_.Set("a", Bytes(value)).ok());
    EXPECT_THAT(EntriesOf(*block_), ElementsAre(Pair("a", value)));
  }
  EXPECT_EQ(data_.Set("a", Bytes(std::string(kSize + 1, '?'))).code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(EntriesOf(*block_), ElementsAre(Pair("a", std::string(kSize, 'z'))));
  // A shorter value gives the rest of its memory back.
  ASSERT_TRUE(data_.Set("a", Bytes("short")).ok());
  ASSERT_TRUE(data_.Set("b", Bytes(std::string(kPageBytes, 'b'))).ok());
  ASSERT_TRUE(data_.Set("a", {}).ok());
  EXPECT_THAT(EntriesOf(*block_),
              ElementsAre(Pair("a", ""), Pair("b", std::string(kPageBytes, 'b'))));
}

// The block has no room for what all of them once were.
TEST_F(UserDataTest, EntriesThatWereOnceLongKeepNoMemory) {
  const std::string longest(kMaxUserDataBytes, 'l');
  for (uint32_t i = 0; i < kMaxUserData; ++i) {
    const std::string key = "key " + std::to_string(i);
    ASSERT_TRUE(data_.Set(key, Bytes(longest)).ok()) << key;
    ASSERT_TRUE(data_.Set(key, {}).ok());
  }
}

}  // namespace
}  // namespace cairn
