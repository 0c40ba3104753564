// SPDX-License-Identifier: Apache-2.0
//
// Bindings of command lists.
#include "reader/replay/play_cost.h"
#include "reader/replay/root_signature.h"
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {
namespace {

// ---- Root arguments ----

class RootTest : public testing::Test {
 protected:
  RootTest() {
    list_ = script_.CreateList();
    views_ = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
    samplers_ = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER, 4);
    signature_ = script_.CreateRootSignature(script_.RootSignature());
    void* heaps[] = {ObjectPointer(views_), ObjectPointer(samplers_)};
    script_.Call(Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, list_, 2u, heaps);
  }
  void Set(uint64_t signature) {
    script_.Call(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, list_,
                 ObjectPointer(signature));
  }
  uint64_t Table(uint32_t index, D3D12_GPU_DESCRIPTOR_HANDLE start) {
    return script_.Call(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, list_,
                        index, start);
  }
  uint64_t Constants(uint32_t index, uint32_t count, uint32_t first) {
    const std::vector<uint32_t> values(count);
    return script_.Call(Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstants, list_,
                        index, count, static_cast<const void*>(values.data()), first);
  }
  uint64_t Dispatch() {
    return script_.Call(Method::ID3D12GraphicsCommandList_Dispatch, list_, 1u, 1u, 1u);
  }
  void Refused(uint64_t call, const std::string& gist) { ExpectRefused(&script_, call, gist); }

  HostileScript script_;
  uint64_t list_;
  uint64_t views_;
  uint64_t samplers_;
  uint64_t signature_;
};

TEST_F(RootTest, WhatFitsIsMade) {
  Set(signature_);
  Table(0, script_.Gpu(views_, 2));
  Table(3, script_.Gpu(samplers_, 3));
  Constants(1, 3, 1);
  script_.Call(Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstant, list_, 1u, 0u, 3u);
  const uint64_t buffer = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 4096);
  script_.Call(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, list_, 2u,
               script_.AddressOf(buffer));
  Dispatch();
  ExpectPlayed(&script_);
}

TEST_F(RootTest, NoRootSignature) {
  script_.Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootSignature, list_,
               ObjectPointer(signature_));  // for draws, not for dispatches
  Refused(Constants(1, 1, 0), "the command list has no root signature for it");
}

TEST_F(RootTest, ResetEndsTheRootSignature) {
  Set(signature_);
  script_.Close(list_);
  script_.Call(Method::ID3D12GraphicsCommandList_Reset, list_,
               ObjectPointer(script_.CreateAllocator()), nullptr);
  Refused(Constants(1, 1, 0), "the command list has no root signature for it");
}

TEST_F(RootTest, ParameterThatIsNone) {
  Set(signature_);
  Refused(Constants(4, 1, 0), "root parameter 4 of a root signature that has 4");
}

TEST_F(RootTest, ParameterOfAnotherKind) {
  Set(signature_);
  Refused(Constants(0, 1, 0), "root parameter 0 is a descriptor table, not constants");
}

TEST_F(RootTest, ViewOfAnotherKind) {
  Set(signature_);
  const uint64_t buffer = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 4096);
  Refused(script_.Call(Method::ID3D12GraphicsCommandList_SetComputeRootShaderResourceView, list_,
                       2u, script_.AddressOf(buffer)),
          "root parameter 2 is a constant buffer, not a shader resource");
}

TEST_F(RootTest, MoreConstantsThanThereAre) {
  Set(signature_);
  Refused(Constants(1, 4, 1), "4 root constants from 1 on, where there are 4");
}

TEST_F(RootTest, ConstantBehindTheLast) {
  Set(signature_);
  Refused(script_.Call(Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstant, list_, 1u, 0u,
                       4u),
          "1 root constants from 4 on, where there are 4");
}

TEST_F(RootTest, NullAddress) {
  Set(signature_);
  script_.Call(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, list_, 2u,
               uint64_t{0});
  Dispatch();
  ExpectPlayed(&script_);
}

TEST_F(RootTest, TableInAHeapOfAnotherType) {
  Set(signature_);
  Refused(Table(0, script_.Gpu(samplers_, 0)), "which holds descriptors of type 1, not 0");
}

TEST_F(RootTest, SamplersInAHeapOfAnotherType) {
  Set(signature_);
  Refused(Table(3, script_.Gpu(views_, 0)), "which holds descriptors of type 0, not 1");
}

// The heaps have to be set when something is drawn, not before.
TEST_F(RootTest, TableInAHeapThatIsSetLater) {
  const uint64_t other = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  Set(signature_);
  Table(0, script_.Gpu(other, 0));
  void* heaps[] = {ObjectPointer(other)};
  script_.Call(Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, list_, 1u, heaps);
  Dispatch();
  ExpectPlayed(&script_);
}

// Programs may leave what no shader reads: that is told, and no loss.
TEST_F(RootTest, TableThatIsInNoHeap) {
  Set(signature_);
  const uint64_t call = Table(0, script_.Gpu(views_, 4));
  Table(0, script_.Gpu(views_, 0));
  Dispatch();
  const Played played = Play(&script_);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.skipped, 0u);
  EXPECT_THAT(
      played.result.notes,
      testing::ElementsAre(
          "call " + std::to_string(call) +
          ", ID3D12GraphicsCommandList::SetComputeRootDescriptorTable: descriptor 0x640000060 was "
          "in no heap; here the table is null"));
}

// libvkd3d reads the table for each dispatch.
TEST_F(RootTest, DispatchWithATableThatIsInNoHeap) {
  Set(signature_);
  Table(0, script_.Gpu(views_, 4));
  Dispatch();
  ExpectLeftOut(&script_,
                "root parameter 0 begins at descriptor 0x640000060, which was in no heap");
}

// The table may have been in a heap that is not here.
TEST_F(RootTest, TableThatMayBeInAHeapThatIsNotHere) {
  Set(signature_);
  const ObjectBody body{script_.device, 5000, static_cast<uint32_t>(Chain::kID3D12DescriptorHeap),
                        static_cast<uint32_t>(kDescriptorHeapFacts)};
  script_.trace.Add(RecordKind::kObject, 60, BodyBytes(body, BodyBytes(DescriptorHeapFacts{})));
  Table(0, script_.Gpu(views_, 4));
  ExpectLeftOut(&script_, "is in no heap that exists here");
}

TEST_F(RootTest, TableThatReachesBehindItsHeap) {
  Set(signature_);
  Table(0, script_.Gpu(views_, 3));
  Dispatch();
  ExpectLeftOut(&script_,
                "root parameter 0 has 2 descriptors, and begins at 3 in heap 100, which has 4");
}

// libvkd3d reads what an earlier root signature left.
TEST_F(RootTest, TableOfAnEarlierRootSignature) {
  Set(signature_);
  Table(0, script_.Gpu(views_, 0));
  Dispatch();
  Set(script_.CreateRootSignature(script_.RootSignature(/*descriptors=*/5)));
  Dispatch();
  ExpectLeftOut(&script_, "root parameter 0 has 5 descriptors, and begins at 0 in heap 100");
}

TEST_F(RootTest, ClearStateEndsTheRootSignature) {
  Set(signature_);
  script_.Call(Method::ID3D12GraphicsCommandList_ClearState, list_, nullptr);
  Refused(Constants(1, 1, 0), "the command list has no root signature for it");
}

// ---- What could not be bound ----

// Makes an object that this replay has not.
uint64_t Absent(HostileScript* script, Chain chain) {
  constexpr uint64_t kAbsent = 77;
  script->trace.Object(kAbsent, chain, script->device, 5000);
  return kAbsent;
}

void ExpectAllLeftOut(HostileScript* script, uint64_t count) {
  const Played played = Play(script);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.skipped, count);
  uint64_t told = 0;
  for (const LeftOut& kind : played.result.left_out) told += kind.count;
  EXPECT_EQ(told, count);
  EXPECT_EQ(FakeObjectCount(), 0);
}

TEST_F(RootTest, RootSignatureThatCouldNotBeMade) {
  Set(Absent(&script_, Chain::kID3D12RootSignature));
  Constants(9, 1, 0);
  Dispatch();
  Set(signature_);
  Constants(1, 1, 0);
  Dispatch();
  ExpectAllLeftOut(&script_, 3);
}

// The other binding point is as it was.
TEST_F(RootTest, RootSignatureForDrawsThatCouldNotBeMade) {
  Set(signature_);
  script_.Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootSignature, list_,
               ObjectPointer(Absent(&script_, Chain::kID3D12RootSignature)));
  Constants(1, 1, 0);
  Dispatch();
  ExpectAllLeftOut(&script_, 1);
}

TEST_F(RootTest, HeapThatCouldNotBeMade) {
  Set(signature_);
  void* heaps[] = {ObjectPointer(Absent(&script_, Chain::kID3D12DescriptorHeap))};
  script_.Call(Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, list_, 1u, heaps);
  Dispatch();
  heaps[0] = ObjectPointer(views_);
  script_.Call(Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, list_, 1u, heaps);
  Dispatch();
  ExpectAllLeftOut(&script_, 2);
}

TEST_F(RootTest, TableInAHeapThatCouldNotBeMade) {
  script_.trace.DescriptorHeap(77, script_.device, 5000, DescriptorHeapFacts{});
  Set(signature_);
  Table(0, script_.Gpu(77, 0));
  ExpectAllLeftOut(&script_, 1);
}

TEST_F(RootTest, PipelineThatCouldNotBeMade) {
  Set(signature_);
  script_.Call(Method::ID3D12GraphicsCommandList_SetPipelineState, list_,
               ObjectPointer(Absent(&script_, Chain::kID3D12PipelineState)));
  Constants(1, 1, 0);
  Dispatch();
  ExpectAllLeftOut(&script_, 2);
}

// A Reset with a pipeline that could not be made: commands that need no pipeline are played, work
// is skipped until the next pipeline.
TEST_F(RootTest, ListThatBeginsWithAPipelineThatCouldNotBeMade) {
  void* const pipeline = ObjectPointer(Absent(&script_, Chain::kID3D12PipelineState));
  const uint64_t queue = script_.CreateQueue();
  const uint64_t allocator = script_.CreateAllocator();
  const auto record = [&] {
    Set(signature_);
    Constants(1, 1, 0);
    Dispatch();
    script_.Close(list_);
    script_.Execute(queue, list_);
  };
  list_ = script_.Create(Method::ID3D12Device_CreateCommandList, Chain::kID3D12GraphicsCommandList,
                         0u, D3D12_COMMAND_LIST_TYPE_DIRECT, ObjectPointer(allocator), pipeline,
                         __uuidof(ID3D12GraphicsCommandList));
  record();
  script_.Call(Method::ID3D12GraphicsCommandList_Reset, list_, ObjectPointer(allocator), pipeline);
  record();
  script_.Call(Method::ID3D12GraphicsCommandList_Reset, list_, ObjectPointer(allocator), nullptr);
  record();
  uint64_t submissions = 0;
  PlayerOptions options;
  options.on_submission = [&](uint64_t) { ++submissions; };
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(submissions, 3u);
  EXPECT_EQ(played.result.skipped, 4u);
  std::vector<std::string> kinds;
  for (const LeftOut& kind : played.result.left_out) kinds.push_back(kind.what);
  EXPECT_THAT(kinds, testing::UnorderedElementsAre(
                         testing::HasSubstr("CreateCommandList: its pipeline, which could not"),
                         testing::HasSubstr("Reset: its pipeline, which could not be made here"),
                         testing::HasSubstr("Dispatch: its pipeline, root signature")));
}

TEST_F(RootTest, ResetThatCouldNotBeMade) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t allocator = script_.CreateAllocator();
  script_.Close(list_);
  script_.Call(Method::ID3D12GraphicsCommandList_Reset, list_,
               ObjectPointer(Absent(&script_, Chain::kID3D12CommandAllocator)), nullptr);
  Set(signature_);
  Constants(9, 1, 0);
  script_.Close(list_);
  script_.Execute(queue, list_);
  script_.Call(Method::ID3D12GraphicsCommandList_Reset, list_, ObjectPointer(allocator), nullptr);
  script_.Close(list_);
  script_.Execute(queue, list_);
  ExpectAllLeftOut(&script_, 5);
}

TEST_F(RootTest, ResetThatIsLeftOut) {
  const uint64_t queue = script_.CreateQueue();
  script_.Close(list_);
  PlayerOptions options;
  options.omissions.calls.insert(script_.Call(Method::ID3D12GraphicsCommandList_Reset, list_,
                                              ObjectPointer(script_.CreateAllocator()), nullptr));
  Constants(1, 1, 0);
  script_.Close(list_);
  script_.Execute(queue, list_);
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.skipped, 3u);
}

// The heap is held by the list that reads it.
TEST_F(RootTest, HeapThatEndsBeforeTheDraw) {
  Set(signature_);
  Table(0, script_.Gpu(views_, 0));
  script_.trace.ObjectEnd(views_);
  script_.trace.ObjectEnd(signature_);
  Dispatch();
  ExpectPlayed(&script_);
}

TEST_F(RootTest, HeapThatIsNull) {
  void* heaps[] = {ObjectPointer(views_), nullptr};
  Refused(script_.Call(Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, list_, 2u, heaps),
          "a descriptor heap is null");
}

// Tried, and not made: the program was told so, or the recording lies.
TEST(CommandSignatureTest, CommandsOfAnotherParameter) {
  D3D12_INDIRECT_ARGUMENT_DESC arguments[2] = {};
  arguments[0].Type = D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT;
  arguments[0].Constant = {1, 2, 3};
  arguments[1].Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
  D3D12_COMMAND_SIGNATURE_DESC desc = {};
  desc.ByteStride = 24;
  desc.NumArgumentDescs = 2;
  desc.pArgumentDescs = arguments;
  const Method method = Method::ID3D12Device_CreateCommandSignature;
  void* place = nullptr;
  const auto play = [&](HRESULT recorded, uint64_t* call) {
    HostileScript script;
    void* const signature = ObjectPointer(script.CreateRootSignature(script.RootSignature()));
    *call = script.Call(method, script.device, &desc, signature, __uuidof(ID3D12CommandSignature),
                        &place);
    script.Return(method, *call, recorded, &desc, signature, __uuidof(ID3D12CommandSignature),
                  &place);
    return Play(&script);
  };
  uint64_t call = 0;
  const Played tried = play(E_INVALIDARG, &call);
  EXPECT_TRUE(tried.status.ok()) << tried.status.message();
  EXPECT_EQ(tried.result.skipped, 0u);
  const Played made = play(S_OK, &call);
  EXPECT_TRUE(made.status.ok()) << made.status.message();
  ASSERT_EQ(made.result.left_out.size(), 1u);
  EXPECT_EQ(made.result.left_out[0].first, call);
  EXPECT_THAT(made.result.left_out[0].what,
              testing::HasSubstr("3 root constants from 2 on, where there are 4"));
}

// ---- Root signatures ----

Played PlaySignature(const std::vector<std::byte>& blob, HRESULT recorded, uint64_t* call) {
  HostileScript script;
  const Method method = Method::ID3D12Device_CreateRootSignature;
  void* place = nullptr;
  *call = script.Call(method, script.device, 0u, static_cast<const void*>(blob.data()),
                      SIZE_T{blob.size()}, __uuidof(ID3D12RootSignature), &place);
  if (SUCCEEDED(recorded)) {
    script.trace.Object(90, Chain::kID3D12RootSignature, script.device, *call);
    place = ObjectPointer(90);
  }
  script.Return(method, *call, recorded, 0u, static_cast<const void*>(blob.data()),
                SIZE_T{blob.size()}, __uuidof(ID3D12RootSignature), &place);
  return Play(&script);
}

// No implementation receives the blob. A program that got an error in the recording goes on.
void ExpectSignatureRefused(const std::vector<std::byte>& blob, const std::string& gist) {
  uint64_t call = 0;
  const Played tried = PlaySignature(blob, E_INVALIDARG, &call);
  EXPECT_TRUE(tried.status.ok()) << tried.status.message();
  EXPECT_EQ(tried.result.skipped, 0u);
  const Played made = PlaySignature(blob, S_OK, &call);
  EXPECT_TRUE(made.status.ok()) << made.status.message();
  ASSERT_EQ(made.result.left_out.size(), 1u);
  EXPECT_EQ(made.result.left_out[0].first, call);
  EXPECT_THAT(made.result.left_out[0].what, testing::HasSubstr(gist));
}

TEST(RootSignatureTest, WhatIsNone) {
  ExpectSignatureRefused(std::vector<std::byte>(64), "the root signature is in no container");
  ExpectSignatureRefused(std::vector<std::byte>(5), "the root signature is in no container");
  ExpectSignatureRefused(HostileScript::Container({1}), "the root signature ends too early");
  ExpectSignatureRefused(HostileScript::Container({1, 65, 24, 0, 0, 0}),
                         "a root signature with 65 parameters");
  ExpectSignatureRefused(HostileScript::Container({1, 1, 20, 0, 0, 0}),
                         "the root signature ends too early");
  ExpectSignatureRefused(HostileScript::Container({1, 1, 24, 0, 0, 0, 5, 0, 0}),
                         "a root parameter of type 5");
}

TEST(RootSignatureTest, ItMayEndAnywhere) {
  const std::vector<std::byte> whole = HostileScript::RootSignature();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseRootSignature(std::span(whole).first(size)).ok()) << size;
  }
}

TEST(RootSignatureTest, NewerThanAllThatAreKnown) {
  HostileScript script;
  script.CreateRootSignature(HostileScript::Container({9, 0, 24, 0, 0, 0}));
  ExpectLeftOut(&script, "root signatures of version 9 are not known");
}

// The runtime data of a library of shaders with one sub-object for each of `kinds`, all of the same bytes.
std::vector<std::byte> LibraryWith(const std::vector<std::byte>& signature,
                                   const std::vector<uint32_t>& kinds, uint32_t stride = 16) {
  constexpr size_t kPartOffset = 44;  // of what the container holds
  std::vector<uint32_t> raw((signature.size() - kPartOffset) / sizeof(uint32_t));
  std::memcpy(raw.data(), signature.data() + kPartOffset, raw.size() * sizeof(uint32_t));
  const auto raw_bytes = static_cast<uint32_t>(raw.size() * sizeof(uint32_t));
  const auto count = static_cast<uint32_t>(kinds.size());
  std::vector<uint32_t> data = {0x10, 2, 16, 16 + 8 + raw_bytes, 5, raw_bytes};
  data.insert(data.end(), raw.begin(), raw.end());
  data.insert(data.end(), {6, 8 + count * 16, count, stride});
  for (const uint32_t kind : kinds) data.insert(data.end(), {kind, 0, 0, raw_bytes});
  std::vector<std::byte> container = HostileScript::Container(data);
  constexpr uint32_t kName = 0x54414452;  // "RDAT"
  std::memcpy(container.data() + 36, &kName, sizeof(kName));
  return container;
}

TEST(RootSignatureTest, DeclaredByALibrary) {
  constexpr uint32_t kGlobal = 1;
  constexpr uint32_t kLocal = 2;
  const std::vector<std::byte> signature = HostileScript::RootSignature(/*descriptors=*/3);
  const std::vector<std::byte> library = LibraryWith(signature, {kLocal, kGlobal});
  const Result<RootSignatureLayout> layout = ParseRootSignature(library);
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  ASSERT_EQ(layout->parameters.size(), 4u);
  EXPECT_EQ(layout->parameters[0].descriptors, 3u);
  EXPECT_EQ(layout->parameters[1].constants, 4u);
  HostileScript script;
  script.CreateRootSignature(library);
  ExpectPlayed(&script);

  ExpectSignatureRefused(LibraryWith(signature, {kLocal}), "declares no global root signature");
  ExpectSignatureRefused(LibraryWith(signature, {kGlobal, kGlobal}),
                         "declares several global root signatures");
  ExpectSignatureRefused(LibraryWith(signature, {kGlobal}, /*stride=*/0), "ends too early");
  for (size_t size = 0; size < library.size(); ++size) {
    EXPECT_FALSE(ParseRootSignature(std::span(library).first(size)).ok()) << size << " bytes";
  }
}

TEST(RootSignatureTest, RangesOfVersionOneDotOne) {
  // A table with three ranges: two descriptors, one more at 8, and one without an end behind it.
  const Result<RootSignatureLayout> layout = ParseRootSignature(HostileScript::Container({
      2, 1,          24, 0, 0, 0,           // one parameter
      0, 0,          36,                    // a table, at 36
      3, 44,                                // three ranges, at 44
      0, 2,          0,  0, 0, 0xFFFFFFFF,  //
      1, 1,          0,  0, 0, 8,           //
      0, 0xFFFFFFFF, 0,  1, 0, 0xFFFFFFFF,
  }));
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  ASSERT_EQ(layout->parameters.size(), 1u);
  EXPECT_EQ(layout->parameters[0].descriptors, 10u);
  EXPECT_FALSE(layout->parameters[0].samplers);
}

// The range's begin must be valid: its end is counted from there.
TEST(RootSignatureTest, RangeWithoutAnEndThatBeginsFarBehind) {
  const Result<RootSignatureLayout> layout = ParseRootSignature(HostileScript::Container({
      1,
      1,
      24,
      0,
      0,
      0,  // one parameter
      0,
      0,
      36,  // a table, at 36
      1,
      44,  // one range, at 44
      0,
      0xFFFFFFFF,
      0,
      0,
      0xFFFFFFFE,
  }));
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  EXPECT_EQ(layout->parameters[0].descriptors, 0xFFFFFFFFu);
}

// ---- Allocators ----

class AllocatorTest : public testing::Test {
 protected:
  AllocatorTest() {
    queue_ = script_.CreateQueue();
    allocator_ = script_.CreateAllocator();
    list_ = script_.CreateList(allocator_);
    script_.Close(list_);
  }
  HostileScript script_;
  uint64_t queue_;
  uint64_t allocator_;
  uint64_t list_;
};

TEST_F(AllocatorTest, ListWhoseAllocatorWasReset) {
  script_.Execute(queue_, list_);
  script_.Call(Method::ID3D12CommandAllocator_Reset, allocator_);
  ExpectRefused(&script_, script_.Execute(queue_, list_),
                "command list 4 was recorded in allocator 3, which was reset since");
}

TEST_F(AllocatorTest, WorkAfterTheReset) {
  script_.Call(Method::ID3D12CommandAllocator_Reset, allocator_);
  ExpectRefused(&script_,
                script_.Call(Method::ID3D12GraphicsCommandList_Dispatch, list_, 1u, 1u, 1u),
                "command list 4 was recorded in allocator 3, which was reset since");
}

TEST_F(AllocatorTest, ListWhoseAllocatorHasEnded) {
  script_.trace.ObjectEnd(allocator_);
  ExpectRefused(&script_, script_.Execute(queue_, list_),
                "command list 4 was recorded in allocator 3, which has ended since");
}

TEST_F(AllocatorTest, ListThatWasRecordedAgain) {
  script_.Call(Method::ID3D12CommandAllocator_Reset, allocator_);
  script_.Call(Method::ID3D12GraphicsCommandList_Reset, list_, ObjectPointer(allocator_), nullptr);
  script_.Close(list_);
  script_.Execute(queue_, list_);
  ExpectPlayed(&script_);
}

TEST(BufferViewTest, StreamOutputWithoutACounter) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  const D3D12_STREAM_OUTPUT_BUFFER_VIEW view = {script.AddressOf(buffer), 4096, 0};
  script.Call(Method::ID3D12GraphicsCommandList_SOSetTargets, list, 0u, 1u, &view);
  ExpectLeftOut(&script, "takes no stream output buffer without a counter");
}

TEST(BufferViewTest, SlotsThatAreNone) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const D3D12_VERTEX_BUFFER_VIEW views[2] = {};
  ExpectRefused(
      &script,
      script.Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, list, 31u, 2u, views),
      "2 slots from 31 on, where there are 32");
}

TEST(BufferViewTest, IndexBufferWithoutAnAddress) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  D3D12_INDEX_BUFFER_VIEW view = {};
  view.Format = DXGI_FORMAT_R16_UINT;
  script.Call(Method::ID3D12GraphicsCommandList_IASetIndexBuffer, list, &view);
  ExpectPlayed(&script);
}

// ---- Work that a few bytes ask for ----

// A list of a thousand commands, submitted a hundred times.
TEST(PlayedCostTest, AListIsNotExecutedAsOftenAsAFileLikes) {
  TestScript script;
  const uint64_t list = script.CreateList(script.CreateAllocator());
  for (int i = 0; i < 1000; ++i) {
    script.Call(Method::ID3D12GraphicsCommandList_OMSetStencilRef, list, 1u);
  }
  script.Close(list);
  const uint64_t queue = script.CreateQueue();
  for (int i = 0; i < 100; ++i) script.Execute(queue, list);
  const Played all = Play(&script);
  EXPECT_TRUE(all.status.ok()) << all.status.message();
  EXPECT_EQ(all.result.skipped, 0u);
  PlayerOptions options;
  // The records, and half of the executions.
  options.most_cost_ns = 1'200 * PlayCost::kRecordNs + 50'000 * PlayCost::kCommandNs;
  const Played played = Play(&script, options);
  EXPECT_EQ(played.status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(played.status.message(),
              testing::HasSubstr("the trace asks for more work than a file of "));
  EXPECT_THAT(played.status.message(), testing::HasSubstr("--no-limit plays all of it"));
  EXPECT_EQ(played.failure, PlayerFailure::kNone);
  EXPECT_LT(played.result.calls, all.result.calls);
}

}  // namespace
}  // namespace cairn
