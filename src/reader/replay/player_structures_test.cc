// SPDX-License-Identifier: Apache-2.0
//
// Acceleration structures on a device of our own that needs more memory for them, and for their builds, than the one
// that was recorded: 256 bytes for each instance or geometry there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "d3d12abi/testing/fake_names.h"
#include "format/calls/structure_inputs.h"
#include "format/trace/address_map.h"
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
constexpr char kRecorded[] = "Recorded";

class StructureScript : public HostileScript {
 public:
  StructureScript() : HostileScript(kRecorded) {
    root_signature_ = CreateRootSignature(RootSignature());
    queue = CreateQueue();
    list = CreateList();
    inputs = CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, kBytes);
    structures = CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kBytes);
    scratch = CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kBytes);
    // What the made-up device says of the addresses shows where the buffers lie.
    for (const uint64_t buffer : {structures, scratch}) {
      UseConstants(AddressOf(buffer));
      Look();
    }
  }
  // Instances of the structure at `named`, a recorded address.
  uint64_t Build(uint64_t offset, uint32_t count = 1, uint64_t named = 0,
                 uint64_t scratch_offset = 0) {
    return BuildOf(WriteInstance(named), offset, count, scratch_offset);
  }
  uint64_t BuildOf(uint64_t instances, uint64_t offset, uint32_t count = 1,
                   uint64_t scratch_offset = 0) {
    const uint64_t call = Record(offset, 0, instances, count, 0, scratch_offset);
    Run();
    return call;
  }
  void Update(uint64_t offset, uint64_t from) {
    Record(offset, AddressOf(structures) + from, AddressOf(inputs), 1,
           D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_ALLOW_UPDATE |
               D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE,
           0);
    Run();
  }
  // Adds a build to the list.
  uint64_t Record(uint64_t offset, uint64_t source, uint64_t instances, uint32_t count,
                  uint32_t flags, uint64_t scratch_offset) {
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
    desc.DestAccelerationStructureData = AddressOf(structures) + offset;
    desc.SourceAccelerationStructureData = source;
    desc.Inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL;
    desc.Inputs.Flags = static_cast<D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAGS>(flags);
    desc.Inputs.NumDescs = count;
    desc.Inputs.InstanceDescs = instances;
    desc.ScratchAccelerationStructureData = AddressOf(scratch) + scratch_offset;
    return Call(Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure, list,
                &desc, 0u, nullptr);
  }
  // Of instances of nothing; `scratch_address` 0: it has none.
  void BuildAt(uint64_t address, uint32_t count, uint64_t scratch_address = 0) {
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
    desc.DestAccelerationStructureData = address;
    desc.Inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL;
    desc.Inputs.NumDescs = count;
    desc.Inputs.InstanceDescs = WriteInstance(0);
    desc.ScratchAccelerationStructureData = scratch_address;
    Call(Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure, list, &desc, 0u,
         nullptr);
    Run();
  }
  // One with which a recording begins: of an instance of nothing.
  void AddStructure(uint64_t buffer, uint64_t offset) {
    StructureBody body = {};
    body.step = static_cast<uint32_t>(StructureStep::kBuild);
    body.type = kTopLevel;
    body.count = 1;
    body.offset_bytes = offset;
    const std::vector<std::byte> instance(kInstanceDescBytes);
    trace.Add(RecordKind::kStructure, buffer,
              BodyBytes(body, BodyBytes(static_cast<uint32_t>(instance.size()),
                                        std::span<const std::byte>(instance))));
  }
  void UseConstants(uint64_t address) {
    Call(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, list,
         ObjectPointer(root_signature_));
    Call(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, list, 2u, address);
  }
  // With a root signature of one shader resource view.
  void UseStructure(uint64_t address) {
    const uint64_t signature = CreateRootSignature(Container({1, 1, 24, 0, 0, 0, 3, 0, 36, 0, 0}));
    Call(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, list, ObjectPointer(signature));
    Call(Method::ID3D12GraphicsCommandList_SetComputeRootShaderResourceView, list, 0u, address);
  }
  // Returns the recorded address of the instance.
  uint64_t WriteInstance(uint64_t named) {
    const uint64_t at = 64 * (instances_++ % 64);
    Write(inputs, at + kInstanceStructure, std::as_bytes(std::span(&named, 1)));
    return AddressOf(inputs) + at;
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
  void View(uint64_t heap, uint32_t index, uint64_t address) {
    D3D12_SHADER_RESOURCE_VIEW_DESC desc = {};
    desc.ViewDimension = D3D12_SRV_DIMENSION_RAYTRACING_ACCELERATION_STRUCTURE;
    desc.RaytracingAccelerationStructure.Location = address;
    Call(Method::ID3D12Device_CreateShaderResourceView, device, nullptr, &desc, Cpu(heap, index));
  }
  uint64_t CreateHeap(uint64_t bytes) {
    const D3D12_HEAP_DESC desc = {.SizeInBytes = bytes,
                                  .Properties = {.Type = D3D12_HEAP_TYPE_DEFAULT}};
    return Create(Method::ID3D12Device_CreateHeap, Chain::kID3D12Heap, &desc, __uuidof(ID3D12Heap));
  }
  // A buffer that may hold structures with which a recording begins; placed at an offset of a heap, if there is one.
  uint64_t CreateWritable(uint64_t bytes, uint64_t address, uint64_t heap = 0) {
    const D3D12_RESOURCE_DESC desc = BufferDesc(bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
    D3D12_HEAP_PROPERTIES properties = {};
    properties.Type = D3D12_HEAP_TYPE_DEFAULT;
    void* place = nullptr;
    const uint64_t call =
        heap == 0 ? Call(Method::ID3D12Device_CreateCommittedResource, device, &properties,
                         D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                         __uuidof(ID3D12Resource), &place)
                  : Call(Method::ID3D12Device_CreatePlacedResource, device, ObjectPointer(heap),
                         uint64_t{0}, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                         __uuidof(ID3D12Resource), &place);
    ResourceFacts facts = {};
    facts.gpu_address = address;
    facts.size_bytes = bytes;
    facts.heap_type = D3D12_HEAP_TYPE_DEFAULT;
    std::memcpy(facts.desc, &desc, sizeof(desc));
    const uint64_t object = next_++;
    trace.Resource(object, device, call, facts);
    return object;
  }
  // The list is closed, executed, and another one takes its place.
  void Run() {
    Close(list);
    Execute(queue, list);
    Look();
    list = CreateList();
  }

  // A call that changes nothing.
  uint64_t Mark() { return Call(Method::ID3D12Fence_Signal, fence_, uint64_t{looks.size()}); }
  // The list is closed, executed, and reset.
  void RunAgain(uint64_t allocator) {
    Close(list);
    Execute(queue, list);
    Reset(allocator);
  }
  void Reset(uint64_t allocator) {
    Call(Method::ID3D12GraphicsCommandList_Reset, list, ObjectPointer(allocator), nullptr);
  }
  void End(uint64_t object) { trace.Add(RecordKind::kObjectEnd, object, {}); }

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

  uint64_t fence_ = 0;
  uint64_t root_signature_ = 0;
  uint64_t instances_ = 0;
  uint64_t next_ = 500;
};

class PlayerStructuresTest : public testing::Test {
 protected:
  void TearDown() override {
    SetFakeSizes(0, 65536);
    SetFakeScratch(0);
  }
  void Play(PlayerOptions options = {}) {
    options.create_device = [](uint32_t) -> void* { return CreateNewerFakeDevice(); };
    if (!options.list_adapters) {
      options.list_adapters = [] { return std::vector<Adapter>{{"Another", 1, 0x1234, 0x5679}}; };
      options.adapter = "0";
    }
    uint64_t buffers[2] = {};
    size_t looked = 0;
    const int objects = FakeObjectCount();
    options.on_call = [&](uint64_t call) {
      alive_[call] = FakeObjectCount();
      if (call == hold_at_ || call == release_at_) HoldFakeSignals(call == hold_at_);
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
    structures_ = buffers[0];
    EXPECT_EQ(FakeObjectCount(), objects);
  }
  static bool IsOwn(uint64_t offset) { return offset >= kBytes; }
  // Returns what an instance of the structure that was made as the `index`th holds.
  uint32_t Named(size_t index) const {
    return static_cast<uint32_t>(structures_ + made_[index].address);
  }
  uint64_t structures() const { return TestScript::AddressOf(script_.structures); }

  StructureScript script_;
  Played played_;
  std::vector<FakeStructure> made_;  // at offsets in the program's buffers
  uint64_t structures_ = 0;          // where the program's buffer lies
  std::map<uint64_t, int> alive_;    // objects before each call
  uint64_t hold_at_ = 0;  // calls before which the GPU stops and goes on to tell that it is done
  uint64_t release_at_ = 0;
};

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

TEST_F(PlayerStructuresTest, ScratchMemoryThatIsTooSmallIsReplaced) {
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
TEST_F(PlayerStructuresTest, ScratchMemoryEndsWithItsList) {
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
TEST_F(PlayerStructuresTest, ScratchMemoryEndsWithEachReset) {
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

TEST_F(PlayerStructuresTest, AListThatIsNotResetKeepsItsScratchMemory) {
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

TEST_F(PlayerStructuresTest, ScratchMemoryLivesAsLongAsTheGpuUsesIt) {
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
TEST_F(PlayerStructuresTest, ScratchMemoryThatFitsEndsWithItsListToo) {
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

// The structure and the scratch memory of its build may lie in one buffer.
TEST_F(PlayerStructuresTest, StructuresAndScratchMemoryShareABuffer) {
  SetFakeScratch(256);
  script_.BuildAt(structures(), 1, structures() + 1024);
  script_.BuildAt(structures() + 2048, 1, structures() + 2048 + 256);
  Play();
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_EQ(played_.result.moved.structures, 0u);
  EXPECT_EQ(played_.result.moved.scratches, 0u);
}

TEST_F(PlayerStructuresTest, StructuresAndScratchMemoryDoNotMeet) {
  SetFakeScratch(256);
  script_.BuildAt(structures() + 512, 4, structures() + 1024);  // the structure moves
  script_.BuildAt(structures() + 3072, 1, structures() + 3072 - 128);
  script_.BuildAt(structures() + 3584, 1, structures() + 3072 + 128);  // in the structure before
  Play();
  EXPECT_EQ(played_.result.skipped, 0u);
  EXPECT_EQ(played_.result.moved.structures, 1u);
  EXPECT_EQ(played_.result.moved.scratches, 2u);
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

// A structure lives as long as one of the buffers that have its place in them.
TEST_F(PlayerStructuresTest, StructuresEndWithTheLastBufferOfTheirMemory) {
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
TEST_F(PlayerStructuresTest, RoomEndsWithTheSmallestBuffer) {
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
TEST_F(PlayerStructuresTest, ViewsOfAStructureThatEndedLeadToItsPlace) {
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
TEST_F(PlayerStructuresTest, APlaceInNoBufferThatIsFoundIsSkipped) {
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

TEST_F(PlayerStructuresTest, MemoryOfADeviceThatWasRemovedIsGivenBack) {
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
  Play(std::move(options));
  EXPECT_THAT(played_.status.message(), HasSubstr("asks for more work than a file of"));
}

// A search does not take a lack of memory for an answer.
TEST_F(PlayerStructuresTest, MemoryThatThereIsNotIsSkipped) {
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
