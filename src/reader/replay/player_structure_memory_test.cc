// SPDX-License-Identifier: Apache-2.0
//
// The memory of structures that move and of the scratch memory of builds: how much, where it ends, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "d3d12abi/testing/fake_names.h"
#include "format/calls/structure_inputs.h"
#include "format/trace/address_map.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/testing/player_structures_fixture.h"

namespace cairn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

using PlayerStructureMemoryTest = PlayerStructuresTest;

TEST_F(PlayerStructureMemoryTest, ScratchMemoryThatIsTooSmallIsReplaced) {
  SetFakeScratch(1024);
  script_.Build(0, 1, 0, kBytes - 1024);
  script_.Build(0, 1, 0, kBytes - 512);
  script_.Build(256, 1, 0, kBytes - 1536);
  script_.Record(512, 0, script_.WriteInstance(0), 1, 0, kBytes - 2560);
  script_.Build(512, 1, 0, kBytes - 2048);
  Play();
  ASSERT_EQ(made_.size(), 4u);
  EXPECT_EQ(made_[0].scratch, kBytes - 1024);
  EXPECT_TRUE(IsOwn(made_[1].scratch)) << "the buffer ends";
  EXPECT_TRUE(IsOwn(made_[2].scratch)) << "it meets that of the first";
  EXPECT_TRUE(IsOwn(made_[3].scratch)) << "it meets that of the same list";
  EXPECT_EQ(made_[3].address, 512u);
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_EQ(played_.result.moved.scratches, 3u);
  EXPECT_THAT(played_.result.notes,
              ElementsAre("this device is another one than the recorded one, and has memory of "
                          "the replay's own for scratch memory of 3 builds"));
}

// Each recording of a list has its own, which ends with it.
TEST_F(PlayerStructureMemoryTest, ScratchMemoryEndsWithItsList) {
  SetFakeScratch(uint64_t{1} << 20);
  for (int i = 0; i < 40; ++i) {
    const uint64_t list = script_.list;
    script_.Build(0, 1, 0, static_cast<uint64_t>(i % 8) * 256);
    script_.trace.Add(RecordKind::kObjectEnd, list, {});
  }
  Play();
  EXPECT_EQ(played_.result.skipped, 0u) << "made-up devices have 16 MiB in all";
  EXPECT_EQ(played_.result.moved.scratches, 40u);
}

// All of it is needed for the list that is recorded anew.
TEST_F(PlayerStructureMemoryTest, ScratchMemoryEndsWithEachReset) {
  SetFakeScratch(uint64_t{1} << 20);
  const uint64_t allocator = script_.CreateAllocator();
  for (uint64_t i = 0; i < 40; ++i) {
    script_.Record(0, 0, script_.WriteInstance(0), 1, 0, i * 64);
    script_.RunAgain(allocator);
  }
  Play();
  EXPECT_EQ(played_.result.skipped, 0u) << "made-up devices have 16 MiB in all";
  EXPECT_EQ(played_.result.moved.scratches, 40u);
}

TEST_F(PlayerStructureMemoryTest, AListThatIsNotResetKeepsItsScratchMemory) {
  SetFakeScratch(uint64_t{1} << 20);
  const uint64_t first = script_.list;
  script_.Build(0);
  script_.End(first);  // the playback has what it asks the queue with
  script_.Record(0, 0, script_.WriteInstance(0), 1, 0, 0);
  const uint64_t allocator = script_.CreateAllocator();
  const uint64_t before = script_.Mark();
  script_.Reset(allocator);  // it is open
  const uint64_t behind = script_.Mark();
  script_.Run();
  Play();
  EXPECT_EQ(alive_[before], alive_[behind]);
  EXPECT_EQ(played_.result.moved.scratches, 2u);
}

TEST_F(PlayerStructureMemoryTest, ScratchMemoryLivesAsLongAsTheGpuUsesIt) {
  SetFakeScratch(uint64_t{1} << 20);
  uint64_t list = script_.list;
  script_.Build(0);
  script_.End(list);
  list = script_.list;
  script_.Build(0);
  hold_at_ = script_.Mark();
  script_.End(list);
  const uint64_t behind = script_.Mark();
  release_at_ = behind;
  script_.End(script_.list);
  list = script_.list = script_.CreateList();
  script_.Build(0);
  const uint64_t last = script_.Mark();
  script_.End(list);
  const uint64_t end = script_.Mark();
  Play();
  EXPECT_EQ(alive_[hold_at_], alive_[behind]);
  EXPECT_LT(alive_[end], alive_[last]);
  EXPECT_EQ(played_.result.skipped, 0u);
}

// An allocator takes the same memory in each frame, at other offsets.
TEST_F(PlayerStructureMemoryTest, ScratchMemoryThatFitsEndsWithItsListToo) {
  SetFakeScratch(1024);
  const uint64_t allocator = script_.CreateAllocator();
  for (uint64_t i = 0; i < 4; ++i) {
    script_.Record(0, 0, script_.WriteInstance(0), 1, 0, i * 256);
    script_.RunAgain(allocator);
  }
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t list = script_.list;
    script_.Build(0, 1, 0, i * 256 + 128);
    script_.End(list);
  }
  Play();
  EXPECT_EQ(played_.result.moved.scratches, 0u);
}

// The structure and the scratch memory of its build may lie in one buffer.
TEST_F(PlayerStructureMemoryTest, StructuresAndScratchMemoryShareABuffer) {
  SetFakeScratch(256);
  script_.BuildAt(structures(), 1, structures() + 1024);
  script_.BuildAt(structures() + 2048, 1, structures() + 2048 + 256);
  Play();
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_EQ(played_.result.moved.structures, 0u);
  EXPECT_EQ(played_.result.moved.scratches, 0u);
}

TEST_F(PlayerStructureMemoryTest, StructuresAndScratchMemoryDoNotMeet) {
  SetFakeScratch(256);
  script_.BuildAt(structures() + 512, 4, structures() + 1024);  // the structure moves
  script_.BuildAt(structures() + 3072, 1, structures() + 3072 - 128);
  script_.BuildAt(structures() + 3584, 1, structures() + 3072 + 128);  // in the structure before
  Play();
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_EQ(played_.result.moved.structures, 1u);
  EXPECT_EQ(played_.result.moved.scratches, 2u);
}

// A structure lives as long as one of the buffers that have its place in them.
TEST_F(PlayerStructureMemoryTest, StructuresEndWithTheLastBufferOfTheirMemory) {
  const uint64_t heap = script_.CreateHeap(65536);
  constexpr uint64_t kAddress = 0x5000'0000;
  const uint64_t large = script_.CreateWritable(65536, kAddress, heap);
  const uint64_t small = script_.CreateWritable(256, kAddress, heap);
  script_.BuildAt(kAddress, 300);  // 0: 75 KiB
  script_.End(small);
  script_.Build(0, 1, kAddress);  // 1
  const uint64_t other = script_.CreateWritable(512, kAddress, heap);
  script_.End(large);
  script_.Build(256, 1, kAddress);  // 2
  script_.End(other);
  script_.CreateWritable(65536, kAddress, heap);
  script_.Build(512, 1, kAddress);  // 3
  Play();
  ASSERT_EQ(made_.size(), 4u);
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_EQ(played_.result.moved.structures, 1u);
  EXPECT_EQ(made_[1].word, Named(0));
  EXPECT_EQ(made_[2].word, Named(0));
  EXPECT_NE(made_[3].word, Named(0));
}

// Behind a buffer may be something else, also if a larger one has the same memory.
TEST_F(PlayerStructureMemoryTest, RoomEndsWithTheSmallestBuffer) {
  const uint64_t heap = script_.CreateHeap(65536);
  constexpr uint64_t kAddress = 0x5000'0000;
  script_.CreateWritable(65536, kAddress, heap);
  script_.CreateWritable(2048, kAddress, heap);
  SetFakeScratch(4096);
  script_.BuildAt(kAddress, 8, kAddress + 32768);
  script_.BuildAt(kAddress, 9, kAddress + 32768);
  Play();
  ASSERT_EQ(made_.size(), 2u);
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_NE(made_[1].address, made_[0].address) << "the second needs 2304 bytes";
  EXPECT_EQ(played_.result.moved.structures, 1u);
  EXPECT_EQ(played_.result.moved.scratches, 0u);
}

// A view that leads to memory of the replay's that has gone would be read by the GPU.
TEST_F(PlayerStructureMemoryTest, ViewsOfAStructureThatEndedLeadToItsPlace) {
  const uint64_t heap = script_.CreateHeap(65536);
  const uint64_t views = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  constexpr uint64_t kAddress = 0x5000'0000;
  uint64_t buffer = script_.CreateWritable(512, kAddress, heap);
  script_.View(views, 1, kAddress);
  script_.BuildAt(kAddress, 3);  // 0: moves
  script_.End(buffer);
  buffer = script_.CreateWritable(512, kAddress, heap);
  script_.BuildAt(kAddress, 2);  // 1: fits
  const uint64_t made = FakeStructureViews();
  Play();
  ASSERT_EQ(made_.size(), 2u);
  EXPECT_NE(made_[0].address, made_[1].address);
  EXPECT_EQ(FakeStructureViews() - made, 3u);
  EXPECT_EQ(LastFakeStructureView(), structures_ + made_[1].address);
}

// The replay looks at so many buffers and no more: who knows where the place's own ends.
TEST_F(PlayerStructureMemoryTest, APlaceInNoBufferThatIsFoundIsSkipped) {
  const uint64_t heap = script_.CreateHeap(65536);
  constexpr uint64_t kAddress = 0x5000'0000;
  const uint64_t buffer = script_.CreateWritable(4096, kAddress, heap);
  for (int i = 0; i < AddressMap::kMostLooked; ++i) script_.CreateWritable(256, kAddress, heap);
  script_.AddStructure(buffer, 1024);
  Play();
  EXPECT_EQ(played_.result.skipped, 1u);
  ASSERT_FALSE(played_.result.left_out.empty());
  EXPECT_THAT(played_.result.left_out[0].what, HasSubstr("in no buffer that the replay finds"));
}

TEST_F(PlayerStructureMemoryTest, MemoryOfADeviceThatWasRemovedIsGivenBack) {
  SetFakeSizes(256, 65536);
  const uint64_t removed = script_.list;
  script_.UseStructure(structures() + kBytes - 256);
  script_.list = script_.CreateList();
  script_.Build(kBytes - 256);
  script_.Call(Method::ID3D12Device5_RemoveDevice, script_.device);
  script_.list = removed;
  script_.Build(kBytes - 256, 4);
  Play();
  EXPECT_TRUE(played_.status.ok()) << played_.status.message();
  EXPECT_EQ(played_.result.moved.structures, 1u);
}

TEST_F(PlayerStructureMemoryTest, MemoryIsBounded) {
  const uint64_t call = script_.Build(0, ~0u);  // 1 TiB
  PlayerOptions options;
  options.most_cost_ns = PlayCost::MostNs(1 << 20);
  Play(std::move(options));
  EXPECT_TRUE(played_.status.ok()) << played_.status.message();
  EXPECT_THAT(played_.result.left_out,
              ElementsAre(AllOf(Field(&LeftOut::first, call),
                                Field(&LeftOut::what, HasSubstr("it needs 1099511627520 bytes")))));
}

TEST_F(PlayerStructureMemoryTest, MemoryThatCostsTooMuchEndsThePlayback) {
  script_.Build(0, 1 << 23);  // 2 GiB
  PlayerOptions options;
  options.most_cost_ns = PlayCost::MostNs(1 << 20);
  Play(std::move(options));
  EXPECT_THAT(played_.status.message(), HasSubstr("asks for more work than a file of"));
}

// A search does not take a lack of memory for an answer.
TEST_F(PlayerStructureMemoryTest, MemoryThatThereIsNotIsSkipped) {
  SetFakeScratch(2 * kBytes);
  const uint64_t call = script_.Build(0, 1 << 17);  // 32 MiB
  Play();
  EXPECT_EQ(played_.result.moved.scratches, 0u) << "the build was not made";
  EXPECT_THAT(played_.result.left_out,
              ElementsAre(AllOf(Field(&LeftOut::first, call),
                                Field(&LeftOut::what, HasSubstr("there are no 33554432 bytes")))));
  PlayerOptions options;
  options.end_at_refusal = true;
  Play(std::move(options));
  EXPECT_EQ(played_.failure, PlayerFailure::kUnclear);
  EXPECT_EQ(played_.failed_call, call);
}

// Structures of the buffer's memory end with it.
TEST_F(PlayerStructureMemoryTest, MemoryEndsWithTheBuffer) {
  SetFakeSizes(kBytes, 65536);
  SetFakeScratch(kBytes + 1);
  script_.EndRootSignature();
  for (int i = 0; i < 150; ++i) {
    script_.structures = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kBytes);
    script_.scratch = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kBytes);
    script_.Build(0);
    for (const uint64_t buffer : {script_.structures, script_.scratch}) {
      script_.trace.Add(RecordKind::kObjectEnd, buffer, {});
    }
    // The playback gives ended objects back by the thousand.
    for (int k = 0; k < 60; ++k) {
      script_.trace.Add(RecordKind::kObjectEnd, script_.CreateAllocator(), {});
    }
  }
  Play();
  EXPECT_EQ(played_.result.skipped, 0u) << "made-up devices have 16 MiB in all";
  EXPECT_EQ(made_.size(), 150u);
}

}  // namespace
}  // namespace cairn
