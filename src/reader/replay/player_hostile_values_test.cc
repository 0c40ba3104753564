// SPDX-License-Identifier: Apache-2.0
//
// Numbers, pointers and descriptors that mean nothing, or something else.
#include <initializer_list>
#include <limits>
#include <optional>

#include "d3d12abi/buffer_desc.h"
#include "reader/replay/replay_values.h"
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {
namespace {

using testing::HasSubstr;

class ValuesTest : public testing::Test {
 protected:
  void Refused(uint64_t call, const std::string& gist) { ExpectRefused(&script_, call, gist); }

  HostileScript script_;
};

// ---- Objects ----

TEST_F(ValuesTest, ListThatIsNull) {
  const uint64_t queue = script_.CreateQueue();
  Refused(script_.Execute(queue, kNoObject), "a command list is null");
}

TEST_F(ValuesTest, ObjectThatDoesNotExist) {
  const uint64_t queue = script_.CreateQueue();
  Refused(script_.Execute(queue, 77), "there is no object 77 here");
}

TEST_F(ValuesTest, ObjectThatCairnDoesNotKnow) {
  const uint64_t queue = script_.CreateQueue();
  script_.Execute(queue, kForeignObject);
  ExpectLeftOut(&script_, "it uses an object that Cairn does not know");
}

TEST_F(ValuesTest, ObjectThatCouldNotBeMade) {
  const uint64_t queue = script_.CreateQueue();
  script_.trace.Object(77, Chain::kID3D12GraphicsCommandList, script_.device, 5000);
  script_.Execute(queue, 77);
  ExpectLeftOut(&script_, "it uses an object whose creation this replay had to skip");
}

TEST_F(ValuesTest, ObjectOfAnotherDevice) {
  const uint64_t queue = script_.CreateQueue();
  constexpr uint64_t kOther = 90;
  std::vector<std::byte> body = BodyBytes(DeviceBody{0x1234, 0x5678, 4, D3D_FEATURE_LEVEL_11_0});
  body.resize(body.size() + 3 * sizeof(uint32_t));  // three empty texts
  script_.trace.Add(RecordKind::kDevice, kOther, body);
  script_.trace.Object(kOther, Chain::kID3D12Device, kOther);
  void* place = nullptr;
  const uint64_t call = script_.Call(Method::ID3D12Device_CreateFence, kOther, uint64_t{0},
                                     D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), &place);
  script_.trace.Object(91, Chain::kID3D12Fence, kOther, call);
  Refused(script_.Call(Method::ID3D12CommandQueue_Signal, queue, ObjectPointer(91), uint64_t{1}),
          "fence 91 is of another device");
}

// A device that says nothing of its adapter may be on any.
TEST_F(ValuesTest, DevicesOfSeveralAdaptersAreNoted) {
  const auto play = [](std::initializer_list<std::optional<uint64_t>> luids) {
    HostileScript script;
    uint64_t number = 90;
    for (const std::optional<uint64_t>& luid : luids) {
      std::vector<std::byte> body =
          BodyBytes(DeviceBody{0x1234, 0x5678, 4, D3D_FEATURE_LEVEL_11_0});
      body.resize(body.size() + 3 * sizeof(uint32_t));  // three empty texts
      const std::vector<std::byte> bytes = luid ? BodyBytes(*luid) : std::vector<std::byte>();
      body.insert(body.end(), bytes.begin(), bytes.end());
      script.trace.Add(RecordKind::kDevice, number, body);
      script.trace.Object(number, Chain::kID3D12Device, number);
      ++number;
    }
    return Play(&script).result.notes;
  };
  EXPECT_THAT(play({5, std::nullopt, 5}), testing::IsEmpty());
  EXPECT_THAT(play({5, std::nullopt, 6, 7}),
              testing::ElementsAre(
                  "the program had devices of several adapters: all are made on the default one"));
}

TEST_F(ValuesTest, AdapterThatIsNotHereIsNoted) {
  const std::string name = "Radeon\x1b";
  std::vector<std::byte> body = BodyBytes(DeviceBody{0x1234, 0x5678, 4, D3D_FEATURE_LEVEL_11_0},
                                          BodyBytes(static_cast<uint32_t>(name.size())));
  for (const char c : name) body.push_back(static_cast<std::byte>(c));
  body.resize(body.size() + 2 * sizeof(uint32_t));  // two empty texts
  HostileScript script;
  script.trace.Add(RecordKind::kDevice, 90, body);
  script.trace.Object(90, Chain::kID3D12Device, 90);
  TraceReader trace = script.trace.Open();
  std::vector<uint32_t> places;
  PlayerOptions options;
  options.create_device = [](uint32_t) -> void* { return CreateFakeDevice(); };
  options.list_adapters = [] { return std::vector<Adapter>{{"A", 1}, {"B", 2}}; };
  options.on_adapter = [&](uint32_t place) { places.push_back(place); };
  Result<std::unique_ptr<Player>> player = Player::Create(&trace, std::move(options));
  ASSERT_TRUE(player.ok());
  EXPECT_TRUE((*player)->Run().ok());
  EXPECT_THAT(places, testing::IsEmpty());
  EXPECT_THAT(
      (*player)->result().notes,
      testing::ElementsAre(
          "device 90 was recorded on adapter \"Radeon\\x1b\", which is not here: it is made "
          "on the default one; --adapter asks for another one"));
}

TEST_F(ValuesTest, NumberThatIsTaken) {
  const uint64_t fence = script_.CreateFence();
  void* place = nullptr;
  const uint64_t call = script_.Call(Method::ID3D12Device_CreateFence, script_.device, uint64_t{0},
                                     D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), &place);
  const uint64_t record = script_.trace.Object(fence, Chain::kID3D12Fence, script_.device, call);
  ExpectRefused(&script_, record, "fence 2: number 2 is taken already");
}

TEST_F(ValuesTest, TwoObjectsOfOneCreation) {
  void* place = nullptr;
  const uint64_t call = script_.Call(Method::ID3D12Device_CreateFence, script_.device, uint64_t{0},
                                     D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), &place);
  script_.trace.Object(50, Chain::kID3D12Fence, script_.device, call);
  const uint64_t record = script_.trace.Object(51, Chain::kID3D12Fence, script_.device, call);
  ExpectRefused(&script_, record, "call " + std::to_string(call) + " made an object already");
}

TEST_F(ValuesTest, FactsOfSomethingElse) {
  const auto expect = [](bool heap, const std::string& gist) {
    HostileScript script;
    void* place = nullptr;
    const uint64_t call = script.Call(Method::ID3D12Device_CreateFence, script.device, uint64_t{0},
                                      D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), &place);
    const ObjectBody body{script.device, call, static_cast<uint32_t>(Chain::kID3D12Fence),
                          static_cast<uint32_t>(heap ? kDescriptorHeapFacts : kResourceFacts)};
    const uint64_t record =
        script.trace.Add(RecordKind::kObject, 50,
                         heap ? BodyBytes(body, BodyBytes(DescriptorHeapFacts{}))
                              : BodyBytes(body, BodyBytes(ResourceFacts{})));
    ExpectRefused(&script, record, gist);
  };
  expect(false, "facts of a resource for an object that is none");
  expect(true, "facts of a descriptor heap for an object that is none");
}

TEST_F(ValuesTest, FactsOfALargerHeap) {
  D3D12_DESCRIPTOR_HEAP_DESC desc = {};
  desc.NumDescriptors = 4;
  void* place = nullptr;
  const uint64_t call = script_.Call(Method::ID3D12Device_CreateDescriptorHeap, script_.device,
                                     &desc, __uuidof(ID3D12DescriptorHeap), &place);
  DescriptorHeapFacts facts = {};
  facts.cpu_start = 0x1000;
  facts.count = 5;
  facts.increment_bytes = 32;
  const uint64_t record = script_.trace.DescriptorHeap(50, script_.device, call, facts);
  ExpectRefused(&script_, record, "5 descriptors of 32 bytes for a heap of 4");
}

TEST_F(ValuesTest, BytesForNothing) {
  const uint64_t fence = script_.CreateFence();
  for (const uint64_t object : {uint64_t{77}, fence}) {
    for (const RecordKind kind : {RecordKind::kMemory, RecordKind::kContents}) {
      HostileScript script;
      script.CreateFence();
      const auto bytes = BodyBytes(uint32_t{0});
      const uint64_t record =
          kind == RecordKind::kMemory
              ? script.trace.Add(kind, object, BodyBytes(MemoryBody{}, bytes))
              : script.trace.Add(kind, object, BodyBytes(ContentsBody{}, bytes));
      ExpectRefused(&script, record, "there is no resource " + std::to_string(object) + " here");
    }
  }
}

// ---- Addresses ----

TEST_F(ValuesTest, AddressInNoBuffer) {
  const uint64_t list = script_.CreateList();
  const D3D12_INDEX_BUFFER_VIEW view = {0x1234, 64, DXGI_FORMAT_R16_UINT};
  script_.Call(Method::ID3D12GraphicsCommandList_IASetIndexBuffer, list, &view);
  ExpectLeftOut(&script_, "it uses an address that is in no buffer");
}

TEST_F(ValuesTest, VerticesInNoBufferAreNone) {
  const uint64_t list = script_.CreateList();
  const D3D12_VERTEX_BUFFER_VIEW view = {0x1234, 64, 16};
  script_.Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, list, 0u, 1u, &view);
  ExpectPlayed(&script_);
}

TEST_F(ValuesTest, BufferTooLargeToBeMadeLarger) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = std::numeric_limits<uint64_t>::max() - 8;
  void* place = nullptr;
  const uint64_t call = script_.Call(
      Method::ID3D12Device_CreateCommittedResource, script_.device, &heap, D3D12_HEAP_FLAG_NONE,
      &desc, D3D12_RESOURCE_STATE_COMMON, nullptr, __uuidof(ID3D12Resource), &place);
  PlayerOptions options;
  options.pad_resources_bytes = 16;
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  ASSERT_EQ(played.result.left_out.size(), 1u);
  EXPECT_EQ(played.result.left_out[0].first, call);
  EXPECT_THAT(played.result.left_out[0].what, HasSubstr("a buffer of 18446744073709551607 bytes"));
}

// ---- Descriptors ----

class DescriptorsTest : public ValuesTest {
 protected:
  DescriptorsTest() {
    targets_ = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
    depths_ = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_DSV, 4);
    list_ = script_.CreateList();
  }
  uint64_t SetTargets(uint32_t count, const D3D12_CPU_DESCRIPTOR_HANDLE* targets, BOOL is_range,
                      const D3D12_CPU_DESCRIPTOR_HANDLE* depth = nullptr) {
    return script_.Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, list_, count, targets,
                        is_range, depth);
  }

  uint64_t targets_;
  uint64_t depths_;
  uint64_t list_;
};

TEST_F(DescriptorsTest, NullForAView) {
  const uint64_t texture = script_.CreateTexture(TextureDesc(4, 4));
  Refused(script_.Call(Method::ID3D12Device_CreateRenderTargetView, script_.device,
                       ObjectPointer(texture), nullptr, D3D12_CPU_DESCRIPTOR_HANDLE{}),
          "a descriptor is null");
}

TEST_F(DescriptorsTest, InNoHeap) {
  const uint64_t texture = script_.CreateTexture(TextureDesc(4, 4));
  Refused(script_.Call(Method::ID3D12Device_CreateRenderTargetView, script_.device,
                       ObjectPointer(texture), nullptr, script_.Cpu(targets_, 4)),
          "is in no heap that exists here");
}

TEST_F(DescriptorsTest, InAHeapOfAnotherType) {
  const uint64_t texture = script_.CreateTexture(TextureDesc(4, 4));
  Refused(script_.Call(Method::ID3D12Device_CreateDepthStencilView, script_.device,
                       ObjectPointer(texture), nullptr, script_.Cpu(targets_, 0)),
          "holds descriptors of type 2, not 3");
}

TEST_F(DescriptorsTest, SamplerAmongViews) {
  const uint64_t views = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const D3D12_SAMPLER_DESC sampler = {};
  Refused(script_.Call(Method::ID3D12Device_CreateSampler, script_.device, &sampler,
                       script_.Cpu(views, 0)),
          "holds descriptors of type 0, not 1");
}

TEST_F(DescriptorsTest, CopyBehindTheHeap) {
  Refused(script_.Call(Method::ID3D12Device_CopyDescriptorsSimple, script_.device, 3u,
                       script_.Cpu(targets_, 0), script_.Cpu(targets_, 2),
                       D3D12_DESCRIPTOR_HEAP_TYPE_RTV),
          "3 descriptors from 2 on in heap 100, which has 4");
}

TEST_F(DescriptorsTest, CopyFromNowhere) {
  Refused(script_.Call(Method::ID3D12Device_CopyDescriptorsSimple, script_.device, 1u,
                       script_.Cpu(targets_, 0), D3D12_CPU_DESCRIPTOR_HANDLE{},
                       D3D12_DESCRIPTOR_HEAP_TYPE_RTV),
          "a descriptor is null");
}

TEST_F(DescriptorsTest, CopyOfAnotherType) {
  Refused(script_.Call(Method::ID3D12Device_CopyDescriptorsSimple, script_.device, 1u,
                       script_.Cpu(targets_, 0), script_.Cpu(depths_, 0),
                       D3D12_DESCRIPTOR_HEAP_TYPE_RTV),
          "holds descriptors of type 3, not 2");
}

// Copies as many descriptors as both have.
class RangesTest : public DescriptorsTest {
 protected:
  // Two ranges here, one of one descriptor there; then one of those is cleared.
  void CopyAndClear(uint32_t cleared) {
    const uint64_t texture = script_.CreateTexture(TextureDesc(4, 4));
    for (const uint32_t index : {2u, 3u}) {
      script_.Call(Method::ID3D12Device_CreateRenderTargetView, script_.device,
                   ObjectPointer(texture), nullptr, script_.Cpu(targets_, index));
    }
    const D3D12_CPU_DESCRIPTOR_HANDLE to[] = {script_.Cpu(targets_, 0), script_.Cpu(targets_, 1)};
    const UINT to_sizes[] = {1, 1};
    const D3D12_CPU_DESCRIPTOR_HANDLE from[] = {script_.Cpu(targets_, 2)};
    script_.Call(Method::ID3D12Device_CopyDescriptors, script_.device, 2u, to, to_sizes, 1u, from,
                 nullptr, D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
    const float colour[4] = {};
    script_.Call(Method::ID3D12GraphicsCommandList_ClearRenderTargetView, list_, to[cleared],
                 colour, 0u, nullptr);
  }
};

TEST_F(RangesTest, WhatBothHaveIsCopied) {
  CopyAndClear(0);
  ExpectPlayed(&script_);
}

TEST_F(RangesTest, WhatOneHasIsNot) {
  CopyAndClear(1);
  ExpectLeftOut(&script_, "its descriptor holds no view");
}

// The second range of the source is where the first of the destination goes on.
TEST_F(DescriptorsTest, MoreIsCopiedThanThereIsRoomFor) {
  const uint64_t texture = script_.CreateTexture(TextureDesc(4, 4));
  script_.Call(Method::ID3D12Device_CreateRenderTargetView, script_.device, ObjectPointer(texture),
               nullptr, script_.Cpu(targets_, 3));
  const D3D12_CPU_DESCRIPTOR_HANDLE to[] = {script_.Cpu(targets_, 0)};
  const UINT to_sizes[] = {2};
  const D3D12_CPU_DESCRIPTOR_HANDLE from[] = {script_.Cpu(targets_, 2), script_.Cpu(targets_, 3),
                                              script_.Cpu(targets_, 2)};
  script_.Call(Method::ID3D12Device_CopyDescriptors, script_.device, 1u, to, to_sizes, 3u, from,
               nullptr, D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  const float colour[4] = {};
  script_.Call(Method::ID3D12GraphicsCommandList_ClearRenderTargetView, list_,
               script_.Cpu(targets_, 1), colour, 0u, nullptr);
  ExpectPlayed(&script_);
}

TEST_F(DescriptorsTest, RangeBehindTheHeap) {
  const D3D12_CPU_DESCRIPTOR_HANDLE to[] = {script_.Cpu(targets_, 0)};
  const UINT sizes[] = {~0u};
  Refused(script_.Call(Method::ID3D12Device_CopyDescriptors, script_.device, 1u, to, sizes, 1u, to,
                       sizes, D3D12_DESCRIPTOR_HEAP_TYPE_RTV),
          "4294967295 descriptors from 0 on in heap 100, which has 4");
}

TEST_F(DescriptorsTest, RangesWithoutAStart) {
  const D3D12_CPU_DESCRIPTOR_HANDLE from[] = {script_.Cpu(targets_, 0)};
  Refused(script_.Call(Method::ID3D12Device_CopyDescriptors, script_.device, 1u, nullptr, nullptr,
                       1u, from, nullptr, D3D12_DESCRIPTOR_HEAP_TYPE_RTV),
          "pDestDescriptorRangeStarts is null");
}

TEST_F(DescriptorsTest, MoreTargetsThanThereMayBe) {
  const D3D12_CPU_DESCRIPTOR_HANDLE handles[9] = {script_.Cpu(targets_, 0)};
  Refused(SetTargets(9, handles, FALSE), "9 render targets");
}

TEST_F(DescriptorsTest, TargetsThatAreNowhere) {
  Refused(SetTargets(1, nullptr, FALSE), "1 render targets");
}

TEST_F(DescriptorsTest, RangeOfTargetsBehindTheHeap) {
  const D3D12_CPU_DESCRIPTOR_HANDLE first = script_.Cpu(targets_, 2);
  Refused(SetTargets(3, &first, TRUE), "3 descriptors from 2 on in heap 100, which has 4");
}

TEST_F(DescriptorsTest, DepthAsATarget) {
  const D3D12_CPU_DESCRIPTOR_HANDLE depth = script_.Cpu(depths_, 0);
  Refused(SetTargets(1, &depth, FALSE), "holds descriptors of type 3, not 2");
}

TEST_F(DescriptorsTest, TargetAsDepth) {
  const D3D12_CPU_DESCRIPTOR_HANDLE target = script_.Cpu(targets_, 0);
  Refused(SetTargets(0, nullptr, FALSE, &target), "holds descriptors of type 2, not 3");
}

TEST_F(DescriptorsTest, TargetsThatAreNone) {
  const D3D12_CPU_DESCRIPTOR_HANDLE none[2] = {};
  SetTargets(2, none, FALSE);
  ExpectPlayed(&script_);
}

// ---- Pointers ----

TEST_F(ValuesTest, DescriptionThatIsNull) {
  void* place = nullptr;
  Refused(script_.Call(Method::ID3D12Device_CreateCommandQueue, script_.device, nullptr,
                       __uuidof(ID3D12CommandQueue), &place),
          "pDesc is null");
}

TEST_F(ValuesTest, ArrayThatIsNull) {
  const uint64_t list = script_.CreateList();
  Refused(script_.Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, list, 1u, nullptr),
          "pBarriers is null");
}

TEST_F(ValuesTest, OptionalArrayThatIsNull) {
  const uint64_t list = script_.CreateList();
  script_.Call(Method::ID3D12GraphicsCommandList_SOSetTargets, list, 0u, 1u, nullptr);
  ExpectLeftOut(&script_, "pViews is null");
}

TEST_F(ValuesTest, BarrierOfNothing) {
  const uint64_t list = script_.CreateList();
  const D3D12_RESOURCE_BARRIER barrier = {};
  Refused(script_.Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, list, 1u, &barrier),
          "pResource is null");
}

TEST_F(ValuesTest, ShaderThatIsNull) {
  D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
  desc.CS.BytecodeLength = 4;
  void* place = nullptr;
  Refused(script_.Call(Method::ID3D12Device_CreateComputePipelineState, script_.device, &desc,
                       __uuidof(ID3D12PipelineState), &place),
          "a shader is null");
}

TEST_F(ValuesTest, PipelineWithoutItsParts) {
  const auto refused = [](const D3D12_GRAPHICS_PIPELINE_STATE_DESC& desc, const std::string& gist) {
    HostileScript script;
    void* place = nullptr;
    ExpectRefused(&script,
                  script.Call(Method::ID3D12Device_CreateGraphicsPipelineState, script.device,
                              &desc, __uuidof(ID3D12PipelineState), &place),
                  gist);
  };
  D3D12_GRAPHICS_PIPELINE_STATE_DESC desc = {};
  desc.InputLayout.NumElements = 1;
  refused(desc, "pInputElementDescs is null");
  const D3D12_INPUT_ELEMENT_DESC element = {};
  desc.InputLayout.pInputElementDescs = &element;
  refused(desc, "SemanticName is null");
  desc = {};
  desc.StreamOutput.NumEntries = 1;
  refused(desc, "pSODeclaration is null");
  desc = {};
  desc.StreamOutput.NumStrides = 1;
  refused(desc, "pBufferStrides is null");
  desc = {};
  desc.PS.BytecodeLength = 1;
  refused(desc, "a shader is null");
}

TEST_F(ValuesTest, CommandsThatAreNull) {
  D3D12_COMMAND_SIGNATURE_DESC desc = {};
  desc.NumArgumentDescs = 1;
  void* place = nullptr;
  Refused(script_.Call(Method::ID3D12Device_CreateCommandSignature, script_.device, &desc, nullptr,
                       __uuidof(ID3D12CommandSignature), &place),
          "pArgumentDescs is null");
}

// ---- Memory that begins as zeros ----

// Unwritten memory is zero in the recording: buffers with memory of their own, and heaps.
class ZeroTest : public ValuesTest {
 protected:
  void ExpectZeros(uint64_t buffer) {
    const std::vector<std::byte> zeros(4096);
    script_.ReadBack(buffer, 0, zeros);
    PlayerOptions options;
    options.validate = true;
    const Played played = Play(&script_, options);
    EXPECT_TRUE(played.status.ok()) << played.status.message();
    EXPECT_EQ(played.result.compared_readbacks, 1u);
  }
  static D3D12_HEAP_PROPERTIES Custom(D3D12_CPU_PAGE_PROPERTY page) {
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = D3D12_HEAP_TYPE_CUSTOM;
    heap.CPUPageProperty = page;
    heap.MemoryPoolPreference = D3D12_MEMORY_POOL_L0;
    return heap;
  }
  static D3D12_RESOURCE_DESC Buffer() {
    const D3D12_RESOURCE_DESC desc = BufferDesc(4096);
    return desc;
  }
  uint64_t Heap(const D3D12_HEAP_PROPERTIES& properties) {
    D3D12_HEAP_DESC desc = {};
    desc.SizeInBytes = 65536;
    desc.Properties = properties;
    return script_.Create(Method::ID3D12Device_CreateHeap, Chain::kID3D12Heap, &desc,
                          __uuidof(ID3D12Heap));
  }
  uint64_t Place(uint64_t heap, uint64_t number) {
    const D3D12_RESOURCE_DESC desc = Buffer();
    void* place = nullptr;
    const uint64_t call =
        script_.Call(Method::ID3D12Device_CreatePlacedResource, script_.device, ObjectPointer(heap),
                     uint64_t{4096}, &desc, D3D12_RESOURCE_STATE_GENERIC_READ, nullptr,
                     __uuidof(ID3D12Resource), &place);
    script_.trace.Resource(number, script_.device, call, ResourceFacts{});
    return number;
  }
};

TEST_F(ZeroTest, UploadBuffer) {
  ExpectZeros(script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 4096));
}

constexpr auto kGpuUpload = static_cast<D3D12_HEAP_TYPE>(5);  // newer than the headers

TEST_F(ZeroTest, BufferThatTheCpuWritesInMemoryOfTheGpu) {
  ExpectZeros(script_.CreateBuffer(kGpuUpload, 4096));
}

TEST_F(ZeroTest, BufferThatIsPlacedInMemoryOfTheGpuThatTheCpuWrites) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = kGpuUpload;
  ExpectZeros(Place(Heap(heap), 60));
}

TEST_F(ZeroTest, BufferInACustomHeap) {
  const D3D12_HEAP_PROPERTIES heap = Custom(D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE);
  const D3D12_RESOURCE_DESC desc = Buffer();
  void* place = nullptr;
  const uint64_t call = script_.Call(
      Method::ID3D12Device_CreateCommittedResource, script_.device, &heap, D3D12_HEAP_FLAG_NONE,
      &desc, D3D12_RESOURCE_STATE_COMMON, nullptr, __uuidof(ID3D12Resource), &place);
  script_.trace.Resource(60, script_.device, call, ResourceFacts{});
  ExpectZeros(60);
}

TEST_F(ZeroTest, BufferThatIsPlacedInAnUploadHeap) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_UPLOAD;
  ExpectZeros(Place(Heap(heap), 60));
}

TEST_F(ZeroTest, BufferThatIsPlacedInACustomHeap) {
  ExpectZeros(Place(Heap(Custom(D3D12_CPU_PAGE_PROPERTY_WRITE_BACK)), 60));
}

// A buffer in the same place has what the one before left there.
TEST_F(ZeroTest, PlacingClearsNothing) {
  D3D12_HEAP_PROPERTIES properties = {};
  properties.Type = D3D12_HEAP_TYPE_UPLOAD;
  const uint64_t heap = Heap(properties);
  const std::vector<std::byte> bytes(4096, std::byte{7});
  script_.Write(Place(heap, 60), 0, bytes);
  script_.ReadBack(Place(heap, 61), 0, bytes);
  PlayerOptions options;
  options.validate = true;
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.compared_readbacks, 1u);
}

}  // namespace
}  // namespace cairn
