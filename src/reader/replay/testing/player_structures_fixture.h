// SPDX-License-Identifier: Apache-2.0
//
// Acceleration structures on a device of our own that needs more memory for them, and for their builds, than the one
// that was recorded: 256 bytes for each instance or geometry there.
#ifndef CAIRN_READER_REPLAY_TESTING_PLAYER_STRUCTURES_FIXTURE_H_
#define CAIRN_READER_REPLAY_TESTING_PLAYER_STRUCTURES_FIXTURE_H_

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <vector>

#include "d3d12abi/testing/fake_names.h"
#include "format/calls/structure_inputs.h"
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {

inline constexpr uint64_t kBytes = 4096;  // of each buffer
inline constexpr char kRecorded[] = "Recorded";

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

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_TESTING_PLAYER_STRUCTURES_FIXTURE_H_
