// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/block_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/recorder/memory_notes.h"

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
  for (uint64_t i = 1; i <= kSubmissionRing + 5; ++i)
    block->AddSubmission(1, 2, 3, 4, i, i, i, i, 0);
  EXPECT_EQ(ring[0].serial.load(), kSubmissionRing + 1u);
  EXPECT_EQ(ring[0].recording_id, kSubmissionRing + 1u);
  EXPECT_EQ(ring[5].serial.load(), 6u);
  EXPECT_EQ(block->header()->submission_serial.load(), kSubmissionRing + 5u);
}

TEST(BlockWriter, EndsAreNotedOnceForEachListOfAQueue) {
  const auto block = MakeBlock();
  const auto* ring = reinterpret_cast<const SubmissionRecord*>(block->data() +
                                                               block->header()->submissions_offset);
  constexpr uint32_t kQueue = 1, kOther = 2;
  for (const auto& [queue, number] : std::vector<std::pair<uint32_t, uint64_t>>{
           {kQueue, 1}, {kQueue, 2}, {kOther, 1}, {kQueue, 2}, {kQueue, 3}}) {
    block->AddSubmission(queue, 1, 3, 4, 5, number, 0, 7, 0b110);
  }
  block->NoteEnds(kQueue, 0, 1);
  const uint64_t first_ns = ring[0].ended_ns.load();
  EXPECT_GT(first_ns, 0u);
  EXPECT_EQ(ring[1].ended_ns.load(), 0u);
  block->NoteEnds(kQueue, 1, 2);
  EXPECT_EQ(ring[0].ended_ns.load(), first_ns);
  EXPECT_GE(ring[1].ended_ns.load(), first_ns);
  EXPECT_EQ(ring[2].ended_ns.load(), 0u) << "of another queue";
  EXPECT_EQ(ring[3].ended_ns.load(), ring[1].ended_ns.load()) << "submitted together";
  EXPECT_EQ(ring[4].ended_ns.load(), 0u);
  EXPECT_EQ(ring[4].pipelines, 0b110u);
}

TEST(BlockWriter, CallsWithoutMemoryAreNoted) {
  const auto block = MakeBlock(kMinLayerBlockBytes);
  const uint32_t context = block->AddContext();
  MemoryNotes notes(*block, context);
  const MemoryRecord& record = block->memory()[context];
  EXPECT_EQ(record.state.load(), kEntryFree);
  const MemoryHeapRecord heaps[] = {{1000, 900, 800, kHeapDeviceLocal | kHeapTellsUse, 0}};
  notes.NoteFailure(-2, std::string(100, 'f'), 500, heaps);
  MemoryNotes(*block, context).NoteFailure(-1, "vkCreateFence", 0, {});  // of the other half
  ASSERT_EQ(record.state.load(), kEntryPublished);
  EXPECT_EQ(record.result, -1);
  EXPECT_EQ(record.failed_count, 2u);
  EXPECT_EQ(record.wanted_bytes, 0u);
  EXPECT_STREQ(record.function, "vkCreateFence");
  ASSERT_EQ(record.heap_count, 1u);
  EXPECT_EQ(record.heaps[0].used_bytes, 900u);
  EXPECT_EQ(record.writer.load(), 0u);
  // A writer that died while it wrote does not hold up others.
  block->memory()[context].writer = 1;
  notes.NoteHeaps(heaps);
  EXPECT_EQ(record.failed_count, 2u);
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

TEST(BlockWriter, TablesOfTheLayerDoNotOverlap) {
  const auto block = MakeBlock(kMinLayerBlockBytes);
  const BlockHeader& header = *block->header();
  EXPECT_GE(header.objects_offset,
            header.submissions_offset + kSubmissionRing * sizeof(SubmissionRecord));
  EXPECT_GE(header.threads_offset, header.objects_offset + kMaxObjects * sizeof(ObjectRecord));
  EXPECT_GE(header.functions_offset, header.threads_offset + kMaxThreads * sizeof(ThreadRecord));
  EXPECT_GE(header.arenas_offset, header.functions_offset + sizeof(FunctionTable));
  EXPECT_GE(header.driver_reports_offset, header.arenas_offset + kMaxArenas * sizeof(ArenaRecord));
  EXPECT_GE(header.first_free_page * kPageBytes,
            header.driver_reports_offset + kMaxContexts * sizeof(DriverReport));
  const auto small = MakeBlock(kMinLayerBlockBytes - kPageBytes);
  EXPECT_EQ(small->header()->objects_offset, 0u);
  EXPECT_EQ(small->arenas(), nullptr);
  EXPECT_EQ(small->driver_reports(), nullptr);
}

TEST(BlockWriter, RangesOfEndedContextsAreUsedAgainAndZeroed) {
  const auto block = MakeBlock();
  std::vector<uint64_t> offsets;
  for (uint32_t i = 0; i < kMaxContexts; ++i) {
    const uint32_t context = block->AddContext();
    EXPECT_EQ(context, i);
    block->contexts()[context].device_name = block->AddName("device " + std::to_string(i));
    block->contexts()[context].state = 2;
    offsets.push_back(block->AllocateRange(2 * kPageBytes));
    std::memset(block->data() + offsets.back(), 0xAB, 2 * kPageBytes);
    block->RetireContext(context, {{{offsets.back(), 2 * kPageBytes}}, {}});
  }
  const uint64_t next_page = block->header()->next_page;
  // The oldest two: their ranges lie side by side and become one.
  EXPECT_EQ(block->AddContext(), 0u);
  EXPECT_EQ(block->AddContext(), 1u);
  EXPECT_EQ(block->contexts()[0].state.load(), 0u);
  EXPECT_EQ(block->contexts()[0].device_name, 0u);
  const uint64_t range = block->AllocateRange(4 * kPageBytes);
  EXPECT_EQ(range, offsets[0]);
  for (uint64_t i = 0; i < 4 * kPageBytes; ++i) ASSERT_EQ(block->data()[range + i], std::byte{0});
  EXPECT_EQ(block->header()->next_page, next_page);
  EXPECT_EQ(NameOf(*block, block->contexts()[2].device_name), "device 2");
}

TEST(BlockWriter, QueuesAndPipelinesOfEndedContextsAreUsedAgainOldestFirst) {
  const auto block = MakeBlock();
  const uint32_t alive = block->AddQueue();
  for (uint32_t i = 1; i < kMaxQueues; ++i) EXPECT_EQ(block->AddQueue(), i);
  EXPECT_EQ(block->AddQueue(), BlockWriter::kTableFull);
  block->queues()[9].name = block->AddName("ended");
  block->queues()[9].state = 1;
  block->RetireQueue(9);
  block->RetireQueue(4);
  EXPECT_EQ(block->AddQueue(), 9u);
  EXPECT_EQ(block->queues()[9].state.load(), 0u);
  EXPECT_EQ(block->queues()[9].name, 0u);
  EXPECT_EQ(block->AddQueue(), 4u);
  EXPECT_EQ(block->AddQueue(), BlockWriter::kTableFull);
  EXPECT_EQ(alive, 0u);

  for (uint32_t i = 0; i < kMaxPipelines - 1; ++i) ASSERT_EQ(block->AddPipeline(), i);
  EXPECT_EQ(block->AddPipeline(), BlockWriter::kTableFull);
  block->RetirePipeline(100);
  block->RetirePipeline(7);
  EXPECT_EQ(block->AddPipeline(), 100u);
  EXPECT_EQ(block->AddPipeline(), 7u);
}

TEST(BlockWriter, NamesGivenBackServeAgain) {
  const auto block = MakeBlock();
  const NameRef first = block->AddName("vertex shader 1");
  block->FreeName(first);
  const NameRef second = block->AddName("vertex shader 2");
  EXPECT_EQ(second, first);
  EXPECT_EQ(NameOf(*block, second), "vertex shader 2");
  block->FreeName(0);
  // Names of every length, one after the other: no page more than the first round takes.
  const auto round = [&block] {
    for (uint32_t length = 1; length <= kMaxNameBytes; length += 13) {
      block->FreeName(block->AddName(std::string(length, 'x')));
    }
  };
  round();
  const uint64_t next_page = block->header()->next_page;
  for (int i = 0; i < 10; ++i) round();
  EXPECT_EQ(block->header()->next_page, next_page);
}

TEST(BlockWriter, FunctionsAreRegisteredOnce) {
  const auto block = MakeBlock(kMinLayerBlockBytes);
  const char* const methods[] = {"ID3D12Device::CreateFence", "ID3D12Fence::Signal"};
  const char* const entries[] = {"D3D12CreateDevice"};
  EXPECT_EQ(block->RegisterFunctions(methods), 0u);
  EXPECT_EQ(block->RegisterFunctions(entries), 2u);
  EXPECT_EQ(block->RegisterFunctions(methods), 0u);
  EXPECT_EQ(block->RegisterFunctions(entries), 2u);
  EXPECT_EQ(block->functions()->count.load(), 3u);
  EXPECT_EQ(NameOf(*block, block->functions()->names[1]), "ID3D12Fence::Signal");
  const std::vector<const char*> too_many(kMaxFunctions, "x");
  EXPECT_EQ(block->RegisterFunctions(too_many), BlockWriter::kTableFull);
  EXPECT_EQ(MakeBlock()->RegisterFunctions(methods), BlockWriter::kTableFull);
}

TEST(BlockWriter, EndedContextsMakeRoomForNewOnesTheOldestFirst) {
  const auto block = MakeBlock();
  const uint64_t half = (block->size_bytes() - block->header()->first_free_page * kPageBytes) / 2;
  const uint32_t first = block->AddContext();
  const uint32_t second = block->AddContext();
  const uint32_t alive = block->AddContext();
  for (const uint32_t context : {first, second, alive}) block->contexts()[context].state = 1;
  const uint64_t of_first = block->AllocateContextRange(half - kPageBytes);
  const uint64_t of_second = block->AllocateContextRange(half - kPageBytes);
  ASSERT_NE(of_first, 0u);
  ASSERT_NE(of_second, 0u);
  EXPECT_EQ(block->AllocateContextRange(half - kPageBytes), 0u) << "nobody has ended";
  EXPECT_EQ(block->header()->pages_refused.load(), 1u);
  for (const uint32_t context : {first, second}) block->contexts()[context].state = 2;
  block->RetireContext(first, {{{of_first, half - kPageBytes}}, {}});
  block->RetireContext(second, {{{of_second, half - kPageBytes}}, {}});
  EXPECT_EQ(block->AllocateContextRange(half - kPageBytes), of_first);
  EXPECT_EQ(block->contexts()[first].state.load(), 0u) << "nobody may look for its memory";
  EXPECT_EQ(block->contexts()[second].state.load(), 2u) << "still there for a report";
  EXPECT_EQ(block->contexts()[alive].state.load(), 1u);
  EXPECT_EQ(block->header()->pages_refused.load(), 1u);
}

TEST(BlockWriter, NobodyIsForgottenForARequestThatFitsNowhere) {
  const auto block = MakeBlock();
  const uint64_t third = (block->size_bytes() / kPageBytes - block->header()->first_free_page) / 3;
  const uint64_t bytes = third * kPageBytes;
  uint32_t contexts[3];
  uint64_t offsets[3];
  for (int i = 0; i < 3; ++i) {
    contexts[i] = block->AddContext();
    offsets[i] = block->AllocateContextRange(bytes);
    ASSERT_NE(offsets[i], 0u);
    block->contexts()[contexts[i]].state = 2;
  }
  // The one in the middle is alive: what the others have does not lie side by side.
  for (const int i : {0, 2}) block->RetireContext(contexts[i], {{{offsets[i], bytes}}, {}});
  EXPECT_EQ(block->AllocateContextRange(block->size_bytes()), 0u);
  EXPECT_EQ(block->AllocateContextRange(bytes + kPageBytes), 0u);
  EXPECT_EQ(block->header()->pages_refused.load(), 2u);
  for (const uint32_t context : contexts) {
    EXPECT_EQ(block->contexts()[context].state.load(), 2u) << context;
  }
  block->RetireContext(contexts[1], {{{offsets[1], bytes}}, {}});
  EXPECT_EQ(block->AllocateContextRange(bytes + kPageBytes), offsets[0]) << "two are enough";
  EXPECT_EQ(block->contexts()[contexts[0]].state.load(), 0u);
}

TEST(BlockWriter, TheVendorBinaryOfAnEntryUsedAgainIsGivenBack) {
  const auto block = MakeBlock(kMinLayerBlockBytes);
  const uint32_t context = block->AddContext();
  const uint64_t binary = block->AllocateRange(3 * kPageBytes);
  FaultRecord& fault = block->faults()[context];
  fault.vendor_binary_offset = binary;
  fault.vendor_binary_room = 3 * kPageBytes;
  fault.vendor_binary_bytes = 5;
  fault.address_count = 2;
  fault.state = 1;
  block->RetireContext(context, {});
  for (uint32_t i = 1; i < kMaxContexts; ++i) EXPECT_EQ(block->AddContext(), i);
  EXPECT_EQ(fault.state.load(), 1u) << "still there for a report";
  EXPECT_EQ(block->AddContext(), context);
  EXPECT_EQ(fault.state.load(), 0u);
  EXPECT_EQ(fault.vendor_binary_offset, 0u);
  EXPECT_EQ(fault.address_count, 0u);
  EXPECT_EQ(block->AllocateRange(3 * kPageBytes), binary);
}

TEST(BlockWriter, KeepsTheCodeOfAShaderOnceForAHash) {
  const auto writer = MakeBlock(kDefaultBlockBytes);
  BlockWriter& block = *writer;
  const std::vector<std::byte> code(5000, std::byte{7});
  block.AddShader(ShaderCode::kSpirV, 42, code);
  block.AddShader(ShaderCode::kSpirV, 42, {});
  block.AddShader(ShaderCode::kSpirV, 0, code);  // 0 is no hash
  ASSERT_EQ(block.header()->shader_count.load(), 1u);
  const ShaderRecord& shader = block.shaders()[0];
  EXPECT_EQ(shader.state.load(), 1u);
  EXPECT_EQ(shader.hash, 42u);
  ASSERT_EQ(shader.size_bytes, code.size());
  EXPECT_EQ(std::memcmp(block.data() + shader.offset, code.data(), code.size()), 0);
}

TEST(BlockWriter, ShadersTakeAQuarterOfTheBlockAndNoMore) {
  const auto writer = MakeBlock(kMinLayerBlockBytes);
  BlockWriter& block = *writer;
  const std::vector<std::byte> code(size_t{10} << 20);
  block.AddShader(ShaderCode::kSpirV, 1, code);
  block.AddShader(ShaderCode::kSpirV, 2, code);
  ASSERT_EQ(block.header()->shader_count.load(), 2u);
  EXPECT_NE(block.shaders()[0].offset, 0u);
  EXPECT_EQ(block.shaders()[1].offset, 0u);
  EXPECT_EQ(block.shaders()[1].size_bytes, code.size());
  EXPECT_EQ(block.header()->shaders_dropped.load(), 1u);
}

TEST(BlockWriter, TheRingOfSynchronisationOverwritesTheOldest) {
  const auto writer = MakeBlock(kDefaultBlockBytes);
  BlockWriter& block = *writer;
  for (uint64_t i = 1; i <= kSyncRing + 3; ++i) {
    block.AddSync({.kind = SyncKind::kSignal,
                   .flags = kSyncBinary,
                   .context = 1,
                   .queue = 2,
                   .submission_number = i,
                   .native_handle = 0x77,
                   .value = i + 1,
                   .time_ns = i + 2});
  }
  const auto* ring =
      reinterpret_cast<const SyncRecord*>(block.data() + block.header()->syncs_offset);
  EXPECT_EQ(ring[0].serial.load(), kSyncRing + 1);
  EXPECT_EQ(ring[3].serial.load(), 4u);
  EXPECT_EQ(ring[2].submission_number, kSyncRing + 3);
  EXPECT_EQ(ring[2].value, kSyncRing + 4);
  EXPECT_EQ(ring[2].queue, 2u);
  EXPECT_EQ(ring[2].flags, kSyncBinary);
}

}  // namespace
}  // namespace cairn
