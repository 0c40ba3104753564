// SPDX-License-Identifier: Apache-2.0
//
// Structures that move, and what leads to them.
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

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A program that is told too little memory, or takes too little, may be what is looked for.
TEST_F(PlayerStructuresTest, NothingMovesOnTheRecordedDevice) {
  SetFakeSizes(kBytes, 65536);
  SetFakeScratch(2 * kBytes);
  script_.Build(0, 1, structures());
  script_.Build(kBytes - 256, 1, 0, kBytes - 256);
  script_.Barrier(script_.structures);
  script_.Copy(256, 0, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE);
  const Adapter another = {"Another", 1, 0x1234, 0x5679};
  const Adapter recorded = {kRecorded, 2, 0x1234, 0x5678};
  // The fourth one has the recorded adapter with another driver; of the last two one has its facts of Vulkan, unlike
  // the trace, and of the other one no device is known to be.
  const std::vector<std::vector<Adapter>> machines = {{recorded},
                                                      {another, recorded},
                                                      {},
                                                      {{"Recorded (LLVM 19)", 1, 0x1234, 0x5678}},
                                                      {{"Another", 1}},
                                                      {{"Another", 1, 0x1234, 0x5679, true}},
                                                      {another}};
  for (size_t i = 0; i < machines.size(); ++i) {
    const std::vector<Adapter>& machine = machines[i];
    const uint64_t barriers = FakeGlobalBarriers();
    PlayerOptions options;
    if (i >= 3 && i <= 5) options.adapter = "0";
    options.list_adapters = [&] { return machine; };
    made_.clear();
    Play(std::move(options));
    ASSERT_EQ(made_.size(), 3u);
    EXPECT_EQ(made_[0].address, 0u);
    EXPECT_EQ(made_[0].scratch, 0u);
    EXPECT_EQ(made_[1].address, kBytes - 256);
    EXPECT_EQ(made_[1].scratch, kBytes - 256);
    EXPECT_EQ(made_[2].address, 256u);
    EXPECT_EQ(FakeGlobalBarriers(), barriers);
    EXPECT_EQ(played_.result.skipped, 0u);
    EXPECT_THAT(played_.result.notes, IsEmpty());
  }
}

TEST_F(PlayerStructuresTest, NothingMovesWhereItFits) {
  SetFakeScratch(1024);
  script_.Build(kBytes - 256);
  script_.Build(0, 2, structures() + kBytes - 256, 1024);
  script_.Copy(1024, 0, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE);
  script_.Barrier(script_.structures);
  Play();
  ASSERT_EQ(made_.size(), 3u);
  EXPECT_EQ(made_[0].address, kBytes - 256);
  EXPECT_EQ(made_[1].address, 0u);
  EXPECT_EQ(made_[1].scratch, 1024u);
  EXPECT_EQ(made_[1].word, Named(0));
  EXPECT_EQ(made_[2].address, 1024u);
  EXPECT_EQ(played_.result.moved.structures + played_.result.moved.scratches, 0u);
  EXPECT_THAT(played_.result.notes, IsEmpty());
}

TEST_F(PlayerStructuresTest, StructuresMoveAndTheirAddressesFollow) {
  constexpr auto kClone = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE;
  SetFakeSizes(256, 65536);
  script_.Build(kBytes - 256);                       // 0: 512 bytes here
  script_.Build(0, 1, structures() + kBytes - 256);  // 1: of 0
  script_.Barrier(script_.structures);
  script_.Copy(kBytes - 256, 0, kClone);                      // 2: as large as 0
  script_.Copy(1024, kBytes - 256, kClone);                   // 3
  script_.Build(1024 + 256, 1, structures() + kBytes - 256);  // 4: of 2; 3 takes what it has
  script_.Update(1024 + 256, 1024 + 256);                     // 5
  script_.Update(1024 - 256, 1024 + 256);                     // 6
  script_.Build(kBytes - 256, 9);                             // 7: more than 0 has
  const uint64_t barriers = FakeGlobalBarriers();
  Play();
  ASSERT_EQ(made_.size(), 8u);
  EXPECT_TRUE(IsOwn(made_[0].address));
  EXPECT_EQ(made_[1].address, 0u);
  EXPECT_EQ(made_[1].word, Named(0));
  EXPECT_EQ(made_[2].address, made_[0].address);
  EXPECT_EQ(made_[3].address, 1024u);
  EXPECT_TRUE(IsOwn(made_[4].address));
  EXPECT_EQ(made_[4].word, Named(2));
  EXPECT_EQ(made_[5].address, made_[4].address);
  EXPECT_TRUE(IsOwn(made_[6].address)) << "3 begins behind 256 bytes";
  EXPECT_TRUE(IsOwn(made_[7].address));
  EXPECT_NE(made_[7].address, made_[0].address);
  EXPECT_EQ(FakeGlobalBarriers(), barriers + 1) << "the program's is of its own buffer";
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_EQ(played_.result.moved.structures, 3u);
  EXPECT_THAT(played_.result.notes,
              ElementsAre("this device is another one than the recorded one, and has memory of "
                          "the replay's own for 3 acceleration structures"));
}

// How large a compacted copy is here, nobody knows before: no larger than its source.
TEST_F(PlayerStructuresTest, CompactedCopiesHaveRoomForTheirSources) {
  constexpr auto kCompact = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_COMPACT;
  script_.Build(0, 4);
  script_.Copy(1024, 0, kCompact);
  script_.Copy(1024 + 512, 0, kCompact);
  Play();
  ASSERT_EQ(made_.size(), 3u);
  EXPECT_EQ(made_[1].address, 1024u);
  EXPECT_TRUE(IsOwn(made_[2].address));
}

// The copies of the descriptors lead to where the structure lies, and nothing else changes.
TEST_F(PlayerStructuresTest, ViewsThatWereMadeBeforeAreMadeAgain) {
  SetFakeSizes(256, 65536);
  const uint64_t heap = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  script_.View(heap, 1, structures() + kBytes - 256);
  script_.Call(Method::ID3D12Device_CopyDescriptorsSimple, script_.device, 1u,
               StructureScript::Cpu(heap, 3), StructureScript::Cpu(heap, 1),
               D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  script_.View(heap, 2, structures());
  script_.Build(0);
  script_.Build(kBytes - 256);
  script_.Build(kBytes - 256);
  const uint64_t views = FakeStructureViews();
  (void)TakeFakeStructureViews();
  Play();
  ASSERT_EQ(made_.size(), 3u);
  EXPECT_TRUE(IsOwn(made_[1].address));
  EXPECT_EQ(FakeStructureViews() - views, 2u + 2u);
  const std::map<uint64_t, uint64_t> made = TakeFakeStructureViews();
  const uint64_t own = structures_ + made_[1].address;
  ASSERT_EQ(made.size(), 3u);
  const uint64_t first = made.begin()->first;
  constexpr uint64_t kNext = 32;  // the made-up device's increment
  EXPECT_EQ(made, (std::map<uint64_t, uint64_t>{
                      {first, own}, {first + kNext, structures_}, {first + 2 * kNext, own}}));
}

TEST_F(PlayerStructuresTest, RootArgumentsLeadToWhereStructuresLie) {
  SetFakeSizes(256, 65536);
  script_.Build(kBytes - 256);
  script_.UseStructure(structures() + kBytes - 256);
  Play();
  ASSERT_EQ(made_.size(), 1u);
  EXPECT_TRUE(IsOwn(made_[0].address));
  EXPECT_EQ(LastFakeRootView(), structures_ + made_[0].address);
  EXPECT_EQ(played_.result.skipped, 0u);
}

// The list dispatches rays behind the build.
TEST_F(PlayerStructuresTest, RootArgumentsThatAreSetBeforeAreSetAgain) {
  SetFakeSizes(256, 65536);
  script_.UseStructure(structures() + kBytes - 256);
  script_.Build(kBytes - 256);
  Play();
  ASSERT_EQ(made_.size(), 1u);
  EXPECT_TRUE(IsOwn(made_[0].address));
  EXPECT_EQ(LastFakeRootView(), structures_ + made_[0].address);
  EXPECT_EQ(played_.result.notes.size(), 1u);
}

TEST_F(PlayerStructuresTest, ListsThatAreExecutedAfterAStructureMovedAreCounted) {
  script_.Build(kBytes - 256);
  const uint64_t waits = script_.list;
  script_.UseStructure(structures() + kBytes - 256);
  script_.list = script_.CreateList();
  script_.Build(kBytes - 256, 2);
  script_.list = waits;
  script_.Run();
  Play();
  ASSERT_GE(made_.size(), 2u);
  EXPECT_TRUE(IsOwn(made_[1].address));
  ASSERT_EQ(played_.result.notes.size(), 2u);
  EXPECT_THAT(played_.result.notes[1],
              HasSubstr("1 command list had, when executed, an address of an acceleration "
                        "structure that had moved"));
}

TEST_F(PlayerStructuresTest, SizesAreThoseOfTheStructuresWhereTheyLie) {
  SetFakeSizes(256, 65536);
  script_.Build(kBytes - 256);
  script_.CreateWritable(256, 0x5000'0000);
  const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC desc = {
      0x5000'0000, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_COMPACTED_SIZE};
  const D3D12_GPU_VIRTUAL_ADDRESS sources[] = {structures() + kBytes - 256};
  script_.Call(Method::ID3D12GraphicsCommandList4_EmitRaytracingAccelerationStructurePostbuildInfo,
               script_.list, &desc, 1u, sources);
  Play();
  ASSERT_EQ(made_.size(), 1u);
  EXPECT_TRUE(IsOwn(made_[0].address));
  EXPECT_EQ(LastFakeStructureQuestion(), structures_ + made_[0].address);
  EXPECT_EQ(played_.result.skipped, 0u);
}

// Buffers that share memory have its addresses as well.
TEST_F(PlayerStructuresTest, OtherUsesOfItsAddressStay) {
  SetFakeSizes(256, 65536);
  script_.Build(kBytes - 512);  // 0
  script_.Build(kBytes - 256);  // 1: moves
  const uint64_t instance = script_.WriteInstance(structures() + kBytes - 512);
  script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, script_.list,
               ObjectPointer(script_.structures), kBytes - 256, ObjectPointer(script_.inputs),
               instance - TestScript::AddressOf(script_.inputs), uint64_t{64});
  script_.BuildOf(structures() + kBytes - 256, 0);  // 2: of an instance there
  script_.UseConstants(structures() + kBytes - 256);
  Play();
  ASSERT_EQ(made_.size(), 3u);
  EXPECT_TRUE(IsOwn(made_[1].address));
  EXPECT_EQ(made_[2].word, Named(0));
  EXPECT_EQ(LastFakeRootView(), structures_ + kBytes - 256);
  EXPECT_EQ(played_.result.skipped, 0u);
}

// What they hold is of an unknown size here.
TEST_F(PlayerStructuresTest, NothingOfUnknownSizeTakesThePlaceOfOneThatMoved) {
  constexpr auto kDeserialize = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_DESERIALIZE;
  SetFakeSizes(256, 65536);
  script_.Build(kBytes - 256);
  script_.Copy(0, 1024, kDeserialize);
  script_.Copy(kBytes - 256, 1024, kDeserialize);
  script_.Copy(kBytes - 256, 2048, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE);
  Play();
  ASSERT_GE(made_.size(), 2u);
  EXPECT_TRUE(IsOwn(made_[0].address));
  EXPECT_EQ(made_[1].address, 0u);
  EXPECT_EQ(played_.result.skipped, 2u);
  ASSERT_FALSE(played_.result.left_out.empty());
  EXPECT_THAT(played_.result.left_out[0].what, HasSubstr("nobody knows how much it needs itself"));
}

// The size of what was there before says nothing.
TEST_F(PlayerStructuresTest, OneOfUnknownSizeIsOfUnknownSizeToItsCopies) {
  SetFakeSizes(256, 65536);
  script_.Build(0);
  script_.Build(kBytes - 256);
  script_.Copy(0, 1024, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_DESERIALIZE);
  script_.Copy(kBytes - 256, 0, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE);
  Play();
  EXPECT_EQ(played_.result.skipped, 1u);
}

// The structure before it is smaller on the recorded device.
TEST_F(PlayerStructuresTest, NothingOfUnknownSizeLiesWithinAnother) {
  SetFakeSizes(256, 65536);
  script_.Build(0);
  script_.Copy(256, 1024, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_DESERIALIZE);
  script_.Build(256 + 128);
  Play();
  ASSERT_EQ(made_.size(), 3u);
  EXPECT_TRUE(IsOwn(made_[2].address));
  EXPECT_EQ(played_.result.skipped, 1u);
  ASSERT_FALSE(played_.result.left_out.empty());
  EXPECT_THAT(played_.result.left_out[0].what,
              HasSubstr("its place is in the memory that another acceleration structure needs"));
}

// Lists that were recorded before anything had moved order what moved later.
TEST_F(PlayerStructuresTest, BarriersOfListsOrderWhatMovesLater) {
  SetFakeSizes(256, 65536);
  const uint64_t waits = script_.list;
  script_.Barrier(script_.structures);
  script_.list = script_.CreateList();
  script_.Build(kBytes - 256);
  script_.list = waits;
  script_.Run();
  const uint64_t barriers = FakeGlobalBarriers();
  Play();
  EXPECT_EQ(played_.result.moved.structures, 1u);
  EXPECT_EQ(FakeGlobalBarriers(), barriers + 1);
}

// Recorded addresses of two devices may be the same.
TEST_F(PlayerStructuresTest, EachDeviceHasItsOwn) {
  SetFakeSizes(256, 65536);
  const uint64_t address = structures();
  script_.Build(kBytes - 256);
  script_.AddDevice(kRecorded);
  script_.queue = script_.CreateQueue();
  script_.list = script_.CreateList();
  script_.inputs = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, kBytes);
  script_.scratch = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kBytes);
  script_.CreateWritable(kBytes, address);
  script_.Build(kBytes - 256);
  Play();
  ASSERT_EQ(made_.size(), 2u);
  EXPECT_TRUE(IsOwn(made_[0].address));
  EXPECT_TRUE(IsOwn(made_[1].address)) << "the memory is of another device";
  EXPECT_NE(made_[1].address, made_[0].address);
  EXPECT_EQ(played_.result.moved.structures, 2u);
  EXPECT_EQ(played_.result.skipped, 0u);
}

// The GPU copied the address when the structure still lay in its buffer.
TEST_F(PlayerStructuresTest, CopiesOfAddressesFollow) {
  const uint64_t copies = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kBytes);
  script_.Build(kBytes - 512);  // 0
  script_.WriteInstance(structures() + kBytes - 512);
  script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, script_.list,
               ObjectPointer(copies), uint64_t{0}, ObjectPointer(script_.inputs), uint64_t{0},
               kBytes);
  const uint64_t copied = TestScript::AddressOf(copies) + 64;
  script_.BuildOf(copied, 0);      // 1
  script_.Build(kBytes - 512, 3);  // 2: moves
  script_.BuildOf(copied, 256);    // 3
  script_.Build(kBytes - 512, 8);  // 4: moves again
  script_.BuildOf(copied, 512);    // 5
  Play();
  ASSERT_EQ(made_.size(), 6u);
  EXPECT_EQ(made_[1].word, Named(0));
  EXPECT_TRUE(IsOwn(made_[2].address));
  EXPECT_EQ(made_[3].word, Named(2));
  EXPECT_NE(made_[4].address, made_[2].address);
  EXPECT_EQ(made_[5].word, Named(4));
}

// What a late recording begins with moves like what it builds later.
TEST_F(PlayerStructuresTest, StructuresOfALateStartMove) {
  SetFakeSizes(256, 65536);
  constexpr uint64_t kAddress = 0x5000'0000;
  const uint64_t buffer = script_.CreateWritable(kBytes, kAddress);
  const uint64_t heap = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  script_.View(heap, 1, kAddress + kBytes - 256);
  script_.AddStructure(buffer, kBytes - 256);
  script_.Build(0, 1, kAddress + kBytes - 256);
  script_.View(heap, 2, kAddress + kBytes - 256);
  const uint64_t views = FakeStructureViews();
  Play();
  ASSERT_EQ(made_.size(), 1u);
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_EQ(played_.result.moved.structures, 1u);
  EXPECT_EQ(FakeStructureViews() - views, 3u) << "the first one is made again";
  EXPECT_EQ(made_[0].word, static_cast<uint32_t>(LastFakeStructureView()));
}

// A recording may not know where a buffer was.
TEST_F(PlayerStructuresTest, StructuresOfALateStartFitIntoBuffersWithoutAddress) {
  SetFakeSizes(256, 65536);
  const uint64_t buffer = script_.CreateWritable(kBytes, 0);
  script_.AddStructure(buffer, kBytes - 256);
  Play();
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_EQ(played_.result.moved.structures, 1u);
}

}  // namespace
}  // namespace cairn
