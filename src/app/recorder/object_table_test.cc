// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/object_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/recorder/block_writer.h"

namespace cairn {
namespace {

class ObjectTableTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<BlockWriter>> block = BlockWriter::Create(kMinLayerBlockBytes);
    ASSERT_TRUE(block.ok());
    block_ = std::move(*block);
  }
  ObjectTable& table() { return block_->objects(); }
  const ObjectRecord& At(uint32_t index) { return *table().Find(index); }
  std::string NameOf(uint32_t index) {
    const ObjectRecord& record = At(index);
    return std::string(record.name, record.name_length.load() & ~kObjectNameCut);
  }

  std::unique_ptr<BlockWriter> block_;
};

TEST_F(ObjectTableTest, KeepsWhatIsSaidOfAnObject) {
  ObjectTable::Object object;
  object.kind = 34;
  object.context = 3;
  object.handle = this;
  object.gpu_address = 0x1000000000;
  object.size_bytes = 65536;
  const uint32_t first = table().Add(object);
  const uint32_t second = table().Add(object);
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(second, 1u);
  const ObjectRecord& record = At(first);
  EXPECT_EQ(record.state.load(), static_cast<uint32_t>(ObjectState::kAlive));
  EXPECT_EQ(record.kind, 34u);
  EXPECT_EQ(record.context, 3u);
  EXPECT_EQ(record.native_handle, reinterpret_cast<uintptr_t>(this));
  EXPECT_EQ(record.gpu_address, 0x1000000000u);
  EXPECT_EQ(record.size_bytes, 65536u);
  EXPECT_EQ(record.serial, 1u);
  EXPECT_EQ(At(second).serial, 2u);
  EXPECT_NE(record.created_ns, 0u);
  EXPECT_EQ(record.destroyed_ns.load(), 0u);
  table().Destroy(first);
  EXPECT_EQ(record.state.load(), static_cast<uint32_t>(ObjectState::kDestroyed));
  EXPECT_GE(record.destroyed_ns.load(), record.created_ns);
}

TEST_F(ObjectTableTest, NamesAreCutBetweenCharacters) {
  const uint32_t index = table().Add({});
  EXPECT_EQ(NameOf(index), "");
  table().SetName(index, "Shadow map");
  EXPECT_EQ(NameOf(index), "Shadow map");
  EXPECT_EQ(At(index).name_length.load() & kObjectNameCut, 0u);
  const std::string fitting(kObjectNameBytes, 'x');
  table().SetName(index, fitting);
  EXPECT_EQ(NameOf(index), fitting);
  EXPECT_EQ(At(index).name_length.load() & kObjectNameCut, 0u);
  table().SetName(index, std::string(kObjectNameBytes - 1, 'y') + "\xC3\xA4");
  EXPECT_EQ(NameOf(index), std::string(kObjectNameBytes - 1, 'y'));
  EXPECT_NE(At(index).name_length.load() & kObjectNameCut, 0u);
  table().SetName(index, "short", /*cut=*/true);
  EXPECT_EQ(NameOf(index), "short");
  EXPECT_NE(At(index).name_length.load() & kObjectNameCut, 0u);
  table().SetName(index, "");
  EXPECT_EQ(At(index).name_length.load(), 0u);
}

TEST_F(ObjectTableTest, FenceValuesAreMaxima) {
  ObjectTable::Object fence;
  fence.initial_completed = 5;
  const uint32_t index = table().Add(fence);
  table().NoteSignalled(index, 7);
  table().NoteSignalled(index, 6);
  table().NoteWaited(index, UINT64_MAX);
  table().NoteWaited(index, 1);
  table().NoteCompleted(index, 4);
  EXPECT_EQ(At(index).signalled.load(), 7u);
  EXPECT_EQ(At(index).waited.load(), UINT64_MAX);
  EXPECT_EQ(At(index).completed.load(), 5u);
  table().NoteCompleted(index, 9);
  EXPECT_EQ(At(index).completed.load(), 9u);
}

TEST_F(ObjectTableTest, EntriesOfDestroyedObjectsAreUsedAgainOldestFirst) {
  for (uint32_t i = 0; i <= ObjectTable::kKeptDestroyed; ++i) {
    const uint32_t index = table().Add({});
    EXPECT_EQ(index, i);
    table().SetName(index, "old");
    table().Destroy(index);
  }
  const uint32_t again = table().Add({});
  EXPECT_EQ(again, 0u);
  EXPECT_EQ(NameOf(again), "");
  EXPECT_EQ(At(again).destroyed_ns.load(), 0u);
  table().Destroy(again);
  EXPECT_EQ(table().Add({}), 1u);
  EXPECT_EQ(block_->header()->object_count.load(), ObjectTable::kKeptDestroyed + 1);
}

TEST_F(ObjectTableTest, FullTableCountsWhatItDropsAndGoesOn) {
  for (uint32_t i = 0; i < kMaxObjects; ++i) ASSERT_EQ(table().Add({}), i);
  EXPECT_EQ(table().Add({}), ObjectTable::kNone);
  EXPECT_EQ(block_->header()->objects_dropped.load(), 1u);
  table().SetName(ObjectTable::kNone, "nothing");
  table().NoteSignalled(ObjectTable::kNone, 1);
  table().Destroy(ObjectTable::kNone);
  table().Destroy(4711);
  EXPECT_EQ(table().Add({}), 4711u);
  EXPECT_EQ(table().Add({}), ObjectTable::kNone);
}

TEST_F(ObjectTableTest, SmallBlockHasNoTable) {
  const auto small = std::move(BlockWriter::Create(kMinBlockBytes).value());
  EXPECT_EQ(small->header()->objects_offset, 0u);
  EXPECT_EQ(small->objects().Add({}), ObjectTable::kNone);
  EXPECT_EQ(small->header()->objects_dropped.load(), 1u);
}

TEST_F(ObjectTableTest, ThreadsNeverShareAnEntry) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 5000;
  constexpr int kAlive = 8;
  // Everything used once, so that all entries come from those that were destroyed.
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < kMaxObjects; ++i) all.push_back(table().Add({}));
  for (uint32_t index : all) table().Destroy(index);
  std::vector<std::vector<uint32_t>> alive(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t, &mine = alive[t]] {
      for (int i = 0; i < kRounds; ++i) {
        const uint32_t index = table().Add({.kind = static_cast<uint32_t>(t + 1)});
        ASSERT_NE(index, ObjectTable::kNone);
        mine.push_back(index);
        table().SetName(index, std::to_string(t));
        table().NoteSignalled(index, static_cast<uint64_t>(i));
        if (mine.size() <= kAlive) continue;
        EXPECT_EQ(At(mine.front()).kind, static_cast<uint32_t>(t + 1));
        table().Destroy(mine.front());
        mine.erase(mine.begin());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint32_t> distinct;
  for (const auto& mine : alive) distinct.insert(mine.begin(), mine.end());
  EXPECT_EQ(distinct.size(), size_t{kThreads} * kAlive);
}

TEST_F(ObjectTableTest, SerialsOfThreadsDifferAndRiseInEach) {
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;
  std::vector<std::vector<uint64_t>> serials(kThreads);
  std::vector<std::thread> threads;
  for (std::vector<uint64_t>& mine : serials) {
    threads.emplace_back([this, &mine] {
      for (int i = 0; i < kEach; ++i) mine.push_back(At(table().Add({})).serial);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> distinct;
  for (const std::vector<uint64_t>& mine : serials) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    distinct.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(distinct.size(), size_t{kThreads} * kEach);
  EXPECT_EQ(distinct.count(0), 0u);
}

// A thread that destroys little takes what another destroyed long ago, not its own last one.
TEST_F(ObjectTableTest, TheOldOnesOfAnotherThreadComeFirst) {
  std::vector<uint32_t> old;
  for (uint32_t i = 0; i <= ObjectTable::kKeptDestroyed; ++i) old.push_back(table().Add({}));
  for (const uint32_t index : old) table().Destroy(index);
  std::thread([&] {
    const uint32_t first = table().Add({});
    EXPECT_EQ(first, old[0]);
    table().Destroy(first);
    EXPECT_EQ(table().Add({}), old[1]);
  }).join();
}

TEST_F(ObjectTableTest, AFullTableGivesOutWhatAnyThreadDestroyed) {
  for (uint32_t i = 0; i < kMaxObjects; ++i) ASSERT_EQ(table().Add({}), i);
  std::thread([&] { table().Destroy(4711); }).join();
  EXPECT_EQ(table().Add({}), 4711u);
  EXPECT_EQ(table().Add({}), ObjectTable::kNone);
}

}  // namespace
}  // namespace cairn
