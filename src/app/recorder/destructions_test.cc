// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/destructions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/recorder/block_writer.h"
#include "app/recorder/numbers_in_blocks.h"
#include "os/thread.h"

namespace cairn {
namespace {

constexpr uint32_t kBuffer = kVulkanObject | 9;
constexpr uint32_t kMemory = kVulkanObject | 8;
constexpr uint32_t kFence = kVulkanObject | 7;

class DestructionsTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<BlockWriter>> block = BlockWriter::Create(kMinLayerBlockBytes);
    ASSERT_TRUE(block.ok());
    block_ = std::move(*block);
    context_ = block_->AddContext();
  }
  const DestructionRecord& At(uint64_t serial) {
    const auto* const records = reinterpret_cast<const DestructionRecord*>(
        block_->data() + block_->header()->destructions_offset);
    return records[(serial - 1) % kDestructionRing];
  }
  uint64_t Noted() {
    uint64_t noted = 0;
    for (uint64_t serial = 1; serial <= kDestructionRing; ++serial) {
      if (At(serial).serial.load() != 0) ++noted;
    }
    return noted;
  }

  std::unique_ptr<BlockWriter> block_;
  uint32_t context_ = 0;
};

TEST_F(DestructionsTest, NotesWhoAndWhen) {
  block_->contexts()[context_].frame = 211;
  for (int i = 0; i < 3; ++i) block_->AddSubmission(0, 1, context_, 0, 1, 1, 0, 5, 0);
  uint32_t thread_id = 0;
  StartInnerThread("streaming", [&] {
    thread_id = CurrentThreadId();
    block_->destructions().Note(context_, {kBuffer, 0xB1, {7, 70}}, {kMemory, 0xA1, {8, 80}},
                                {kFence, 0xC1, {9, 90}});
  }).join();
  EXPECT_EQ(Noted(), 1u);
  const DestructionRecord& record = At(1);
  EXPECT_EQ(record.serial.load(), 1u);
  EXPECT_EQ(record.kind, kBuffer);
  EXPECT_EQ(record.context, context_);
  EXPECT_EQ(record.native_handle, 0xB1u);
  EXPECT_NE(record.time_ns, 0u);
  EXPECT_EQ(record.frame, 211u);
  EXPECT_EQ(record.submission_serial, 3u);
  EXPECT_EQ(record.object, 7u);
  EXPECT_EQ(record.object_serial, 70u);
  EXPECT_EQ(record.cause_kind, kMemory);
  EXPECT_EQ(record.cause_handle, 0xA1u);
  EXPECT_EQ(record.cause_object, 8u);
  EXPECT_EQ(record.cause_object_serial, 80u);
  EXPECT_EQ(record.owner_kind, kFence);
  EXPECT_EQ(record.owner_handle, 0xC1u);
  EXPECT_EQ(record.owner_object, 9u);
  EXPECT_EQ(record.owner_object_serial, 90u);
  EXPECT_EQ(record.thread_id, thread_id);
  EXPECT_STREQ(record.thread_name, "streaming");
}

TEST_F(DestructionsTest, TheOldestIsOverwritten) {
  for (uint64_t i = 1; i <= kDestructionRing + 1; ++i) {
    block_->destructions().Note(context_, {kBuffer, i, {}});
  }
  EXPECT_EQ(At(1).serial.load(), kDestructionRing + 1u);
  EXPECT_EQ(At(1).native_handle, kDestructionRing + 1u);
  EXPECT_EQ(At(2).native_handle, 2u);
}

TEST_F(DestructionsTest, NothingIsNotedOnceTheDeviceIsLost) {
  block_->contexts()[context_].device_lost = 1;
  block_->destructions().Note(context_, {kBuffer, 0xB1, {}});
  EXPECT_EQ(Noted(), 0u);
  block_->destructions().Note(kMaxContexts, {kBuffer, 0xB1, {}});
  EXPECT_EQ(Noted(), 0u);
}

TEST_F(DestructionsTest, SmallBlocksHaveNoTable) {
  Result<std::unique_ptr<BlockWriter>> small = BlockWriter::Create(kMinBlockBytes);
  ASSERT_TRUE(small.ok());
  (*small)->destructions().Note(0, {kBuffer, 0xB1, {}});
  EXPECT_EQ((*small)->destructions().StampOf(0xB1), 0u);
  EXPECT_EQ((*small)->header()->destruction_serial.load(), 0u);
}

TEST_F(DestructionsTest, ObjectsOfMemoryTellTheTable) {
  ObjectTable& table = block_->objects();
  const uint32_t fence = table.Add({.kind = kFence, .context = context_});
  const uint32_t resource = table.Add({.kind = 34, .context = context_});
  const uint32_t retired = table.Add({.kind = 34, .context = context_});
  table.Destroy(fence);
  table.Retire(retired);
  EXPECT_EQ(Noted(), 0u);
  table.Destroy(resource);
  ASSERT_EQ(Noted(), 1u);
  EXPECT_EQ(At(1).object, resource + 1);
  EXPECT_EQ(At(1).object_serial, 2u);
  EXPECT_EQ(At(1).native_handle, 0u) << "no descriptor leads here by it";
  EXPECT_EQ(At(1).cause_kind, 0u);
}

TEST_F(DestructionsTest, ThreadsDoNotShareEntries) {
  constexpr uint32_t kThreads = 4;
  constexpr uint32_t kEach = 1000;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (uint32_t i = 0; i < kEach; ++i) {
        block_->destructions().Note(context_, {kBuffer, t * kEach + i + 1, {}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> handles;
  for (uint64_t serial = 1; serial <= block_->header()->destruction_serial; ++serial) {
    if (At(serial).serial.load() == 0) continue;
    EXPECT_EQ(At(serial).serial.load(), serial);
    handles.insert(At(serial).native_handle);
  }
  EXPECT_EQ(handles.size(), kThreads * kEach);
}

// A handle goes round eight threads: each destroys what it names, and then writes a descriptor with it, for what
// the next one destroys.
TEST_F(DestructionsTest, AStampLiesBetweenTheDestructionsBeforeAndAfter) {
  constexpr uint32_t kThreads = 8;
  constexpr uint32_t kRounds = 200;
  constexpr uint64_t kHandle = 0x7F12'3456'7000;
  std::atomic<uint32_t> turn{0};
  std::vector<uint32_t> stamps(kThreads * kRounds);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = t; i < kThreads * kRounds; i += kThreads) {
        // Others of its counter come in between.
        block_->destructions().Note(context_, {kBuffer, kHandle + 1 + t, {}});
        while (turn.load(std::memory_order_acquire) != i) std::this_thread::yield();
        block_->destructions().Note(context_, {kBuffer, kHandle, {i + 1, 0}});
        stamps[i] = block_->destructions().StampOf(kHandle);
        turn.store(i + 1, std::memory_order_release);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint32_t> orders(kThreads * kRounds);
  for (uint64_t serial = 1; serial <= block_->header()->destruction_serial; ++serial) {
    const DestructionRecord& record = At(serial);
    if (record.serial.load() != 0 && record.native_handle == kHandle) {
      orders[record.object - 1] = record.order;
    }
  }
  for (uint32_t i = 0; i < orders.size(); ++i) {
    EXPECT_LE(orders[i], stamps[i]) << i;
    EXPECT_GT(orders[i], i == 0 ? 0 : stamps[i - 1]) << i;
  }
}

TEST(NumbersInBlocksTest, WhatIsLeftOfAnOldBlockIsDropped) {
  std::atomic<uint64_t> counter{0};
  NumbersInBlocks<4> numbers;
  EXPECT_EQ(numbers.Next(counter), 0u);
  EXPECT_EQ(numbers.Next(counter), 1u);
  counter = 40;
  EXPECT_EQ(numbers.Next(counter, 2), 2u);
  EXPECT_EQ(numbers.Next(counter, 4), 40u);
  EXPECT_EQ(numbers.Next(counter, 4), 41u);
  EXPECT_EQ(counter.load(), 44u);
}

TEST_F(DestructionsTest, RecordsOfSetsAreUsedAgainWithANewGeneration) {
  DescriptorSets& sets = block_->descriptor_sets();
  EXPECT_EQ(DescriptorSets::SizeFor(0), 0u);
  EXPECT_EQ(DescriptorSets::SizeFor(2), 0u);
  EXPECT_EQ(DescriptorSets::SizeFor(3), 1u);
  EXPECT_EQ(DescriptorSets::SizeFor(kMaxSetDescriptors), kDescriptorSetSizes - 1);
  const DescriptorSets::Slot slot = sets.Take(1);
  ASSERT_NE(slot.record, nullptr);
  const DescriptorSetPlace place = sets.Start(slot, {context_, 0xD1, 6, 2});
  EXPECT_EQ(OffsetOfDescriptorSet(place), slot.offset);
  EXPECT_EQ(GenerationOfDescriptorSet(place), slot.record->generation.load());
  EXPECT_EQ(slot.record->native_handle, 0xD1u);
  EXPECT_EQ(slot.record->descriptor_count, 6u);
  EXPECT_EQ(slot.record->unseen_count, 2u);
  slot.descriptors()[5].handle = 5;
  sets.Give(slot);
  EXPECT_EQ(slot.descriptors()[5].handle.load(), 5u) << "readable until it is needed";
  // Others of its page come first.
  DescriptorSets::Slot again = sets.Take(1);
  uint32_t others = 1;
  for (; again.record != slot.record; ++others) again = sets.Take(1);
  EXPECT_EQ(others, kPageBytes / 128);
  const DescriptorSetPlace other = sets.Start(again, {context_, 0xD2, 6, 0});
  EXPECT_EQ(OffsetOfDescriptorSet(other), slot.offset);
  EXPECT_NE(other, place);
  EXPECT_EQ(again.descriptors()[5].handle.load(), 0u);
}

TEST_F(DestructionsTest, RecordsOfSetsHaveAShareOfTheBlock) {
  DescriptorSets& sets = block_->descriptor_sets();
  const uint64_t most = block_->size_bytes() / DescriptorSets::kShareOfBlock / kPageBytes;
  for (uint64_t i = 0; i < most; ++i) {
    ASSERT_NE(sets.Take(kDescriptorSetSizes - 1).record, nullptr);
  }
  EXPECT_EQ(sets.Take(kDescriptorSetSizes - 1).record, nullptr);
  EXPECT_EQ(block_->header()->descriptor_sets_left_out.load(), 1u);
}

}  // namespace
}  // namespace cairn
