// SPDX-License-Identifier: Apache-2.0
//
// Acceleration structures on a device of our own that needs more memory for them, and for their builds, than the one
// that was recorded: 256 bytes for each instance or geometry there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <span>
#include <vector>

#include "d3d12abi/testing/fake_names.h"
#include "format/calls/structure_inputs.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kBytes = 4096;  // of each buffer

class StructureScript : public HostileScript {
 public:
  StructureScript() {
    root_signature_ = CreateRootSignature(RootSignature());
    queue = CreateQueue();
    list = CreateList();
    inputs = CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, kBytes);
    structures = CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kBytes);
    scratch = CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kBytes);
    // What the made-up device says of the addresses shows where the buffers lie.
    for (const uint64_t buffer : {structures, scratch}) {
      Call(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, list,
           ObjectPointer(root_signature_));
      Call(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, list, 2u,
           AddressOf(buffer));
      Look();
    }
  }
  static D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS Instances(
      uint32_t count, uint64_t at = 0,
      uint32_t flags = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_NONE) {
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS built = {};
    built.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL;
    built.Flags = static_cast<D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAGS>(flags);
    built.NumDescs = count;
    built.InstanceDescs = at;
    return built;
  }
  // The program asks for the size of a structure, and is told this.
  void Ask(uint32_t count, uint64_t told_bytes, uint64_t told_scratch) {
    const auto asked = Instances(count);
    D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO info = {};
    const Method method = Method::ID3D12Device5_GetRaytracingAccelerationStructurePrebuildInfo;
    const uint64_t call = Call(method, device, &asked, &info);
    info = {told_bytes, told_scratch, told_scratch};
    Return(method, call, nullptr, &asked, &info);
  }
  // Instances of the structure at `named`, a recorded address.
  uint64_t Build(uint64_t offset, uint32_t count = 1, uint64_t named = 0,
                 uint64_t scratch_offset = 0) {
    const uint64_t at = 64 * (instances_++ % 64);
    Write(inputs, at + kInstanceStructure, std::as_bytes(std::span(&named, 1)));
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
    desc.DestAccelerationStructureData = AddressOf(structures) + offset;
    desc.Inputs = Instances(count, AddressOf(inputs) + at);
    desc.ScratchAccelerationStructureData = AddressOf(scratch) + scratch_offset;
    const uint64_t call =
        Call(Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure, list, &desc,
             0u, nullptr);
    Run();
    return call;
  }
  void Update(uint64_t offset, uint64_t from) {
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
    desc.DestAccelerationStructureData = AddressOf(structures) + offset;
    desc.SourceAccelerationStructureData = AddressOf(structures) + from;
    desc.Inputs = Instances(1, AddressOf(inputs),
                            D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_ALLOW_UPDATE |
                                D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE);
    desc.ScratchAccelerationStructureData = AddressOf(scratch);
    Call(Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure, list, &desc, 0u,
         nullptr);
    Run();
  }
  void Copy(uint64_t to, uint64_t from, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE mode) {
    Call(Method::ID3D12GraphicsCommandList4_CopyRaytracingAccelerationStructure, list,
         AddressOf(structures) + to, AddressOf(structures) + from, mode);
    Run();
  }
  void Barrier(uint64_t buffer) {
    D3D12_RESOURCE_BARRIER barrier = {};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    barrier.UAV.pResource = static_cast<ID3D12Resource*>(ObjectPointer(buffer));
    Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, list, 1u, &barrier);
  }
  void View(uint64_t heap, uint32_t index, uint64_t offset) {
    D3D12_SHADER_RESOURCE_VIEW_DESC desc = {};
    desc.ViewDimension = D3D12_SRV_DIMENSION_RAYTRACING_ACCELERATION_STRUCTURE;
    desc.RaytracingAccelerationStructure.Location = AddressOf(structures) + offset;
    Call(Method::ID3D12Device_CreateShaderResourceView, device, nullptr, &desc, Cpu(heap, index));
  }

  // Objects of long scripts get its number.
  void EndRootSignature() { trace.Add(RecordKind::kObjectEnd, root_signature_, {}); }

  uint64_t queue = 0;
  uint64_t list = 0;
  uint64_t inputs = 0;
  uint64_t structures = 0;
  uint64_t scratch = 0;
  // Calls behind which the device has seen the next address, or the next structure.
  std::vector<uint64_t> looks;

 private:
  void Look() {
    if (fence_ == 0) fence_ = CreateFence();
    looks.push_back(Call(Method::ID3D12Fence_Signal, fence_, uint64_t{looks.size() + 1}));
  }
  void Run() {
    Close(list);
    Execute(queue, list);
    Look();
    list = CreateList();
  }

  uint64_t fence_ = 0;
  uint64_t root_signature_ = 0;
  uint64_t instances_ = 0;
};

class PlayerStructuresTest : public testing::Test {
 protected:
  void TearDown() override {
    SetFakeSizes(0, 65536);
    SetFakeScratch(0);
  }
  void Play(PlayerOptions options = {}) {
    options.create_device = [](uint32_t) -> void* { return CreateNewerFakeDevice(); };
    uint64_t buffers[2] = {};
    size_t looked = 0;
    const int objects = FakeObjectCount();
    options.on_call = [&](uint64_t call) {
      if (looked >= script_.looks.size() || call != script_.looks[looked]) return;
      if (looked < std::size(buffers)) {
        buffers[looked++] = LastFakeRootView();
        return;
      }
      FakeStructure made = LastFakeStructure();
      made.address -= buffers[0];
      made.scratch -= buffers[1];
      ++looked;
      made_.push_back(made);
    };
    played_ = cairn::Play(&script_, std::move(options));
    EXPECT_EQ(made_.size() + 2, script_.looks.size());
    structures_ = buffers[0];
    EXPECT_EQ(FakeObjectCount(), objects);
  }
  static bool IsOwn(uint64_t offset) { return offset >= kBytes; }
  // Returns what an instance of the structure that was made as the `index`th holds.
  uint32_t Named(size_t index) const {
    return static_cast<uint32_t>(structures_ + made_[index].address);
  }

  StructureScript script_;
  Played played_;
  std::vector<FakeStructure> made_;  // at offsets in the program's buffers
  uint64_t structures_ = 0;          // where the program's buffer lies
};

TEST_F(PlayerStructuresTest, NothingMovesWhereItFits) {
  SetFakeScratch(kBytes);
  script_.Ask(1, 256, kBytes);
  script_.Ask(2, 1 << 20, 1 << 20);
  script_.Build(kBytes - 256);
  script_.Build(kBytes - 256 - 128);
  script_.Build(0, 2, TestScript::AddressOf(script_.structures) + kBytes - 256);
  script_.Barrier(script_.structures);
  script_.Copy(256, 0, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE);
  const uint64_t barriers = FakeGlobalBarriers();
  Play();
  ASSERT_EQ(made_.size(), 4u);
  EXPECT_EQ(made_[0].address, kBytes - 256);
  EXPECT_EQ(made_[1].address, kBytes - 256 - 128) << "the program uses the memory again";
  EXPECT_EQ(made_[2].address, 0u);
  EXPECT_EQ(made_[2].scratch, 0u);
  EXPECT_EQ(made_[2].word, Named(0));
  EXPECT_EQ(made_[3].address, 256u);
  EXPECT_EQ(FakeGlobalBarriers(), barriers);
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_THAT(played_.result.notes, IsEmpty());
}

TEST_F(PlayerStructuresTest, ScratchMemoryThatIsTooSmallIsReplaced) {
  SetFakeScratch(1024);
  script_.Build(0, 1, 0, kBytes - 1024);
  script_.Build(0, 1, 0, kBytes - 512);
  script_.Build(256, 1, 0, kBytes - 256);
  script_.Build(512, 1, 0, kBytes - 512);
  script_.Update(512, 512);
  Play();
  ASSERT_EQ(made_.size(), 5u);
  EXPECT_EQ(made_[0].scratch, kBytes - 1024);
  EXPECT_TRUE(IsOwn(made_[1].scratch));
  EXPECT_EQ(made_[2].scratch, made_[1].scratch + 1024) << "the program may build both at once";
  EXPECT_EQ(made_[3].scratch, made_[1].scratch);
  EXPECT_EQ(made_[4].scratch, 0u);
  EXPECT_EQ(made_[3].address, 512u);
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_THAT(played_.result.notes,
              ElementsAre("2 scratch buffers of builds may have to be larger here than when "
                          "recorded: memory of the replay's holds what they held"));
}

// The program took as much as it was told for each of its builds.
TEST_F(PlayerStructuresTest, ScratchMemoryIsReplacedIfTheProgramWasToldLess) {
  SetFakeScratch(1024);
  script_.Ask(1, 256, 512);
  script_.Build(0, 1, 0, 0);
  script_.Build(256, 1, 0, 512);
  Play();
  ASSERT_EQ(made_.size(), 2u);
  EXPECT_TRUE(IsOwn(made_[0].scratch));
  EXPECT_EQ(made_[1].scratch, made_[0].scratch + 1024);
  EXPECT_EQ(made_[1].address, 256u) << "the structures are as large as they were";
}

TEST_F(PlayerStructuresTest, StructuresMoveAndTheirAddressesFollow) {
  constexpr auto kClone = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE;
  SetFakeSizes(256, 65536);
  const uint64_t address = TestScript::AddressOf(script_.structures);
  script_.Build(kBytes - 256);                           // 0: 512 bytes here
  script_.Build(0, 1, address + kBytes - 256);           // 1: of 0
  script_.Copy(kBytes - 512, kBytes - 256, kClone);      // 2: meets 0
  script_.Copy(1024, kBytes - 256, kClone);              // 3
  script_.Build(1024 + 256, 1, address + kBytes - 512);  // 4: of 2; 3 takes what it has
  script_.Update(1024 + 256, 1024 + 256);                // 5
  script_.Update(kBytes - 768, 1024 + 256);              // 6
  script_.Build(kBytes - 256, 9);                        // 7: more than 0 has
  Play();
  ASSERT_EQ(made_.size(), 8u);
  EXPECT_TRUE(IsOwn(made_[0].address));
  EXPECT_EQ(made_[1].address, 0u);
  EXPECT_EQ(made_[1].word, Named(0));
  EXPECT_TRUE(IsOwn(made_[2].address));
  EXPECT_EQ(made_[3].address, 1024u);
  EXPECT_TRUE(IsOwn(made_[4].address));
  EXPECT_EQ(made_[4].word, Named(2));
  EXPECT_EQ(made_[5].address, made_[4].address);
  EXPECT_TRUE(IsOwn(made_[6].address)) << "2 begins behind 256 bytes";
  EXPECT_TRUE(IsOwn(made_[7].address));
  EXPECT_NE(made_[7].address, made_[0].address);
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_THAT(played_.result.notes,
              ElementsAre("4 acceleration structures may need more memory here than when "
                          "recorded: memory of the replay's holds them"));
}

TEST_F(PlayerStructuresTest, ToldSizesMoveAllThatIsBuilt) {
  constexpr auto kClone = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_CLONE;
  constexpr auto kCompact = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_COMPACT;
  script_.Ask(1, 255, 0);
  const uint64_t heap = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  script_.View(heap, 1, 512);
  script_.Build(0);
  script_.Build(512, 1, TestScript::AddressOf(script_.structures));
  script_.Copy(1024, 512, kCompact);
  script_.Copy(2048, 1024, kClone);
  script_.Barrier(script_.structures);
  script_.Build(0, 1, TestScript::AddressOf(script_.structures) + 1024);
  const uint64_t barriers = FakeGlobalBarriers();
  Play();
  ASSERT_EQ(made_.size(), 5u);
  EXPECT_TRUE(IsOwn(made_[0].address));
  EXPECT_EQ(made_[1].address, made_[0].address + 256);
  EXPECT_EQ(made_[1].word, Named(0));
  EXPECT_EQ(made_[2].address, made_[1].address + 256);
  EXPECT_EQ(made_[2].word, Named(0));
  EXPECT_EQ(made_[3].address, made_[2].address + 256);
  EXPECT_EQ(made_[4].address, made_[0].address);
  EXPECT_EQ(made_[4].word, Named(2));
  EXPECT_EQ(LastFakeStructureView(), structures_ + made_[1].address);
  EXPECT_EQ(FakeGlobalBarriers(), barriers + 1) << "the program's is of its own buffer";
  EXPECT_EQ(played_.result.skipped, 0u);
}

// Smaller compacted copies are no larger than what they are made of.
TEST_F(PlayerStructuresTest, CompactedCopiesMoveIfSizesDiffer) {
  script_.Ask(1, 512, 0);
  script_.Build(0);
  script_.Copy(1024, 0, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_COMPACT);
  Play();
  ASSERT_EQ(made_.size(), 2u);
  EXPECT_EQ(made_[0].address, 0u);
  EXPECT_TRUE(IsOwn(made_[1].address));
}

// The copies of the descriptors lead to where the structure lies, and nothing else changes.
TEST_F(PlayerStructuresTest, ViewsThatWereMadeBeforeAreMadeAgain) {
  SetFakeSizes(256, 65536);
  const uint64_t heap = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  script_.View(heap, 1, kBytes - 256);
  script_.Call(Method::ID3D12Device_CopyDescriptorsSimple, script_.device, 1u,
               StructureScript::Cpu(heap, 3), StructureScript::Cpu(heap, 1),
               D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  script_.View(heap, 2, 0);
  script_.Build(0);
  script_.Build(kBytes - 256);
  script_.Build(kBytes - 256);
  const uint64_t views = FakeStructureViews();
  Play();
  ASSERT_EQ(made_.size(), 3u);
  EXPECT_TRUE(IsOwn(made_[1].address));
  EXPECT_EQ(LastFakeStructureView(), structures_ + made_[1].address);
  EXPECT_EQ(FakeStructureViews() - views, 2u + 2u);
}

TEST_F(PlayerStructuresTest, MemoryIsBounded) {
  const uint64_t call = script_.Build(0, ~0u);  // 1 TiB
  PlayerOptions options;
  options.most_cost_ns = PlayCost::MostNs(1 << 20);
  Play(std::move(options));
  EXPECT_TRUE(played_.status.ok()) << played_.status.message();
  EXPECT_THAT(played_.result.left_out,
              ElementsAre(AllOf(Field(&LeftOut::first, call),
                                Field(&LeftOut::what, HasSubstr("it needs 1099511627520 bytes")))));
}

TEST_F(PlayerStructuresTest, MemoryThatCostsTooMuchEndsThePlayback) {
  script_.Build(0, 1 << 23);  // 2 GiB
  PlayerOptions options;
  options.most_cost_ns = PlayCost::MostNs(1 << 20);
  script_.looks.pop_back();
  Play(std::move(options));
  EXPECT_THAT(played_.status.message(), HasSubstr("asks for more work than a file of"));
}

// Structures of the buffer's memory end with it.
TEST_F(PlayerStructuresTest, MemoryEndsWithTheBuffer) {
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
