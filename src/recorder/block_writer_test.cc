// SPDX-License-Identifier: Apache-2.0
#include "recorder/block_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace cairn {
namespace {

std::unique_ptr<BlockWriter> MakeBlock(uint64_t size_bytes = kMinBlockBytes) {
  Result<std::unique_ptr<BlockWriter>> block = BlockWriter::Create(size_bytes);
  EXPECT_TRUE(block.ok()) << block.status().message();
  return std::move(*block);
}

std::string NameOf(const BlockWriter& block, NameRef ref) {
  return std::string(block.Name(ref)->bytes, block.Name(ref)->length_bytes);
}

TEST(BlockWriter, LayoutIsPageAlignedAndDoesNotOverlap) {
  const auto block = MakeBlock();
  const BlockHeader& header = *block->header();
  EXPECT_EQ(header.magic, kBlockMagic);
  EXPECT_EQ(header.version, kBlockVersion);
  EXPECT_EQ(header.process_id, static_cast<uint64_t>(getpid()));
  EXPECT_EQ(header.contexts_offset, kPageBytes);
  EXPECT_GE(header.queues_offset, header.contexts_offset + kMaxContexts * sizeof(ContextRecord));
  EXPECT_GE(header.pipelines_offset, header.queues_offset + kMaxQueues * sizeof(QueueRecord));
  EXPECT_GE(header.submissions_offset,
            header.pipelines_offset + kMaxPipelines * sizeof(PipelineRecord));
  EXPECT_GE(header.first_free_page * kPageBytes,
            header.submissions_offset + kSubmissionRing * sizeof(SubmissionRecord));
  for (uint64_t offset : {header.contexts_offset, header.queues_offset, header.pipelines_offset,
                          header.submissions_offset}) {
    EXPECT_EQ(offset % kPageBytes, 0u);
  }
}

TEST(BlockWriter, RefusesSizesOutsideTheDocumentedRange) {
  EXPECT_EQ(BlockWriter::Create(kMinBlockBytes - 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(BlockWriter::Create(kMaxBlockBytes + 1).status().code(), StatusCode::kInvalidArgument);
}

TEST(BlockWriter, PagesAreDistinctAndUsedAgain) {
  const auto block = MakeBlock();
  std::set<uint32_t> pages;
  for (int i = 0; i < 100; ++i) pages.insert(block->AllocatePage());
  EXPECT_EQ(pages.size(), 100u);
  EXPECT_EQ(pages.count(0), 0u);
  for (uint32_t page : pages) block->FreePage(page);
  std::set<uint32_t> again;
  for (int i = 0; i < 100; ++i) again.insert(block->AllocatePage());
  EXPECT_EQ(pages, again);
}

TEST(BlockWriter, AFullBlockCountsWhatItRefuses) {
  const auto block = MakeBlock();
  uint32_t allocated = 0;
  while (block->AllocatePage() != 0) ++allocated;
  EXPECT_EQ(allocated, block->size_bytes() / kPageBytes - block->header()->first_free_page);
  EXPECT_EQ(block->header()->pages_refused.load(), 1u);
  EXPECT_EQ(block->AllocateRange(kPageBytes), 0u);
  EXPECT_EQ(block->AddName("no room"), 0u);
  EXPECT_EQ(block->header()->pages_refused.load(), 3u);
}

TEST(BlockWriter, ThreadsNeverShareAPage) {
  const auto block = MakeBlock();
  std::vector<std::thread> threads;
  std::atomic<int> shared{0};
  for (uint32_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&block, &shared, t] {
      for (uint32_t i = 0; i < 2000; ++i) {
        const uint32_t page = block->AllocatePage();
        auto* owner = reinterpret_cast<std::atomic<uint32_t>*>(block->Page(page));
        owner->store(t);
        std::this_thread::yield();
        if (owner->load() != t) ++shared;
        block->FreePage(page);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.load(), 0);
}

// Pages that one thread gives back are not lost to the others.
TEST(BlockWriter, PagesOfOtherThreadsAreTakenBeforeNewOnes) {
  const auto block = MakeBlock();
  std::set<uint32_t> given_back;
  std::thread other([&] {
    for (int i = 0; i < 10; ++i) given_back.insert(block->AllocatePage());
    for (uint32_t page : given_back) block->FreePage(page);
  });
  other.join();
  std::set<uint32_t> taken;
  for (int i = 0; i < 10; ++i) taken.insert(block->AllocatePage());
  EXPECT_EQ(taken, given_back);
}

TEST(BlockWriter, NamesAreCopiedAndCut) {
  const auto block = MakeBlock();
  EXPECT_EQ(NameOf(*block, block->AddName("Shadow")), "Shadow");
  EXPECT_EQ(block->AddName(""), 0u);
  const std::string longest(kMaxNameBytes + 10, 'x');
  EXPECT_EQ(NameOf(*block, block->AddName(longest)), longest.substr(0, kMaxNameBytes));
}

TEST(BlockWriter, AStaticNameIsCopiedOncePerAddress) {
  const auto block = MakeBlock();
  static const char kName[] = "Opaque";
  const NameRef first = block->StaticName(kName);
  EXPECT_EQ(block->StaticName(kName), first);
  EXPECT_EQ(NameOf(*block, first), "Opaque");
}

TEST(BlockWriter, AnAddressUsedForAnotherTextIsNotStatic) {
  const auto block = MakeBlock();
  char name[8] = "before";
  const NameRef before = block->StaticName(name);
  std::copy_n("after", 6, name);
  EXPECT_EQ(block->StaticName(name), 0u);
  EXPECT_EQ(NameOf(*block, before), "before");
  std::copy_n("before", 7, name);
  EXPECT_EQ(block->StaticName(name), before);
}

TEST(BlockWriter, TheSubmissionRingKeepsTheLatest) {
  const auto block = MakeBlock();
  const auto* ring = reinterpret_cast<const SubmissionRecord*>(block->data() +
                                                               block->header()->submissions_offset);
  for (uint64_t i = 1; i <= kSubmissionRing + 5; ++i) block->AddSubmission(1, 2, 3, 4, i, i, i);
  EXPECT_EQ(ring[0].serial.load(), kSubmissionRing + 1u);
  EXPECT_EQ(ring[0].recording_id, kSubmissionRing + 1u);
  EXPECT_EQ(ring[5].serial.load(), 6u);
  EXPECT_EQ(block->header()->submission_serial.load(), kSubmissionRing + 5u);
}

TEST(StaticNames, AFullTableRefusesAndStillFinds) {
  StaticNames names;
  std::vector<char> addresses(StaticNames::kCapacity);
  uint32_t accepted = 0;
  for (char& address : addresses) accepted += names.Set(&address, 7);
  EXPECT_EQ(accepted, StaticNames::kCapacity / 4 * 3);
  EXPECT_EQ(names.Find(&addresses.front()), 7u);
  EXPECT_EQ(names.Find(&addresses.back()), 0u);
}

}  // namespace
}  // namespace cairn
