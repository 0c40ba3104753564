// SPDX-License-Identifier: Apache-2.0
//
// Views that do not fit their resources, and what command lists bind.
#include "replay/player_hostile_script.h"
#include "replay/root_signature.h"

namespace cairn {
namespace {

// ---- Views ----

void ExpectSrvRefused(const D3D12_RESOURCE_DESC& texture,
                      const D3D12_SHADER_RESOURCE_VIEW_DESC& view, const std::string& gist) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const uint64_t resource = script.CreateTexture(texture);
  ExpectRefused(&script,
                script.Call(Method::ID3D12Device_CreateShaderResourceView, script.device,
                            ObjectPointer(resource), &view, script.Cpu(heap, 0)),
                gist);
}

D3D12_SHADER_RESOURCE_VIEW_DESC Srv(D3D12_SRV_DIMENSION dimension) {
  D3D12_SHADER_RESOURCE_VIEW_DESC view = {};
  view.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  view.ViewDimension = dimension;
  view.Shader4ComponentMapping = D3D12_DEFAULT_SHADER_4_COMPONENT_MAPPING;
  return view;
}

TEST(ViewTest, MipsAndSlicesThatAreNone) {
  D3D12_SHADER_RESOURCE_VIEW_DESC view = Srv(D3D12_SRV_DIMENSION_TEXTURE2D);
  view.Texture2D.MostDetailedMip = 1;
  view.Texture2D.MipLevels = 2;
  ExpectSrvRefused(TextureDesc(16, 16, 2), view,
                   "a view of 2 mips from 1 and 1 slices from 0 on of resource 101, which has 2 "
                   "and 1");
  view.Texture2D.MipLevels = 0;
  ExpectSrvRefused(TextureDesc(16, 16, 2), view, "a view of 0 mips from 1");
  view.Texture2D.MostDetailedMip = 2;
  view.Texture2D.MipLevels = ~0u;
  ExpectSrvRefused(TextureDesc(16, 16, 2), view, "a view of -1 mips from 2");
  view = Srv(D3D12_SRV_DIMENSION_TEXTURE2DARRAY);
  view.Texture2DArray.MipLevels = 1;
  view.Texture2DArray.FirstArraySlice = 3;
  view.Texture2DArray.ArraySize = ~0u - 1;
  ExpectSrvRefused(TextureDesc(16, 16, 1, 4), view, "-2 slices from 3 on of resource 101");
  view = Srv(D3D12_SRV_DIMENSION_TEXTURECUBE);
  view.TextureCube.MipLevels = 1;
  ExpectSrvRefused(TextureDesc(16, 16, 1, 5), view, "6 slices from 0 on of resource 101");
  view = Srv(D3D12_SRV_DIMENSION_TEXTURECUBEARRAY);
  view.TextureCubeArray.MipLevels = 1;
  view.TextureCubeArray.NumCubes = 0x2AAAAAAB;  // times six: two
  ExpectSrvRefused(TextureDesc(16, 16, 1, 6), view, "slices from 0 on of resource 101");
}

TEST(ViewTest, DimensionThatTheResourceHasNot) {
  D3D12_SHADER_RESOURCE_VIEW_DESC view = Srv(D3D12_SRV_DIMENSION_TEXTURE3D);
  view.Texture3D.MipLevels = 1;
  ExpectSrvRefused(TextureDesc(16, 16), view, "resource 101 is of dimension 3, the view of 4");
  ExpectSrvRefused(TextureDesc(16, 16), Srv(D3D12_SRV_DIMENSION_BUFFER),
                   "resource 101 is of dimension 3, the view of 1");
  ExpectSrvRefused(TextureDesc(16, 16), Srv(static_cast<D3D12_SRV_DIMENSION>(77)),
                   "a view of dimension 77");
}

TEST(ViewTest, AllThatAreLeft) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const uint64_t texture = script.CreateTexture(TextureDesc(16, 16, 3, 4));
  D3D12_SHADER_RESOURCE_VIEW_DESC view = Srv(D3D12_SRV_DIMENSION_TEXTURE2DARRAY);
  view.Texture2DArray = {1, ~0u, 3, ~0u, 0, 0};
  script.Call(Method::ID3D12Device_CreateShaderResourceView, script.device, ObjectPointer(texture),
              &view, script.Cpu(heap, 0));
  ExpectPlayed(&script);
}

// What the GPU reads beyond is the fault that is looked for.
TEST(ViewTest, LargerThanTheBufferIsMade) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  D3D12_SHADER_RESOURCE_VIEW_DESC view = Srv(D3D12_SRV_DIMENSION_BUFFER);
  view.Buffer.NumElements = 1u << 28;
  script.Call(Method::ID3D12Device_CreateShaderResourceView, script.device, ObjectPointer(buffer),
              &view, script.Cpu(heap, 0));
  const D3D12_CONSTANT_BUFFER_VIEW_DESC constants = {script.AddressOf(buffer) + 4080, 65536};
  script.Call(Method::ID3D12Device_CreateConstantBufferView, script.device, &constants,
              script.Cpu(heap, 1));
  const D3D12_VERTEX_BUFFER_VIEW vertices = {script.AddressOf(buffer), 1u << 30, 16};
  const uint64_t list = script.CreateList();
  script.Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, list, 31u, 1u, &vertices);
  ExpectPlayed(&script);
}

TEST(ViewTest, TargetsOfOtherMips) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
  const uint64_t texture = script.CreateTexture(TextureDesc(16, 16, 2));
  D3D12_RENDER_TARGET_VIEW_DESC view = {};
  view.ViewDimension = D3D12_RTV_DIMENSION_TEXTURE2D;
  view.Texture2D.MipSlice = 2;
  ExpectRefused(&script,
                script.Call(Method::ID3D12Device_CreateRenderTargetView, script.device,
                            ObjectPointer(texture), &view, script.Cpu(heap, 0)),
                "a view of 1 mips from 2");
}

TEST(ViewTest, SlicesOfADepthTarget) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_DSV, 4);
  const uint64_t texture = script.CreateTexture(TextureDesc(16, 16, 1, 2, DXGI_FORMAT_D32_FLOAT));
  D3D12_DEPTH_STENCIL_VIEW_DESC view = {};
  view.ViewDimension = D3D12_DSV_DIMENSION_TEXTURE2DARRAY;
  view.Texture2DArray = {0, 1, 2};
  ExpectRefused(&script,
                script.Call(Method::ID3D12Device_CreateDepthStencilView, script.device,
                            ObjectPointer(texture), &view, script.Cpu(heap, 0)),
                "2 slices from 1 on of resource 101");
}

TEST(ViewTest, TargetThatIsABuffer) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  script.Call(Method::ID3D12Device_CreateRenderTargetView, script.device, ObjectPointer(buffer),
              nullptr, script.Cpu(heap, 0));
  ExpectLeftOut(&script, "its target is a buffer");
}

TEST(ViewTest, CounterThatIsATexture) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  const uint64_t texture = script.CreateTexture(TextureDesc(16, 16));
  D3D12_UNORDERED_ACCESS_VIEW_DESC view = {};
  view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  ExpectRefused(
      &script,
      script.Call(Method::ID3D12Device_CreateUnorderedAccessView, script.device,
                  ObjectPointer(buffer), ObjectPointer(texture), &view, script.Cpu(heap, 0)),
      "resource 101 is no buffer");
}

// ---- Clears ----

class ClearTest : public testing::Test {
 protected:
  ClearTest() {
    list_ = script_.CreateList();
    heap_ = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
    texture_ = script_.CreateTexture(TextureDesc(16, 8));
    script_.Call(Method::ID3D12Device_CreateRenderTargetView, script_.device,
                 ObjectPointer(texture_), nullptr, script_.Cpu(heap_, 1));
  }
  uint64_t Clear(uint32_t index, std::vector<D3D12_RECT> rects = {}) {
    const float colour[4] = {};
    return script_.Call(Method::ID3D12GraphicsCommandList_ClearRenderTargetView, list_,
                        script_.Cpu(heap_, index), colour, static_cast<UINT>(rects.size()),
                        rects.empty() ? nullptr : rects.data());
  }

  HostileScript script_;
  uint64_t list_;
  uint64_t heap_;
  uint64_t texture_;
};

TEST_F(ClearTest, RectanglesThatTouchTheTargetAreCut) {
  Clear(1);
  Clear(1, {{-5, -5, 1 << 30, 1 << 30}, {20, 0, 30, 8}});
  ExpectPlayed(&script_);
}

TEST_F(ClearTest, RectanglesThatDoNotTouchTheTarget) {
  Clear(1, {{16, 0, 30, 8}, {3, 3, 3, 3}});
  ExpectLeftOut(&script_, "all of its rectangles lie outside of the target");
}

TEST_F(ClearTest, DescriptorWithoutAView) {
  Clear(0);
  ExpectLeftOut(&script_, "its descriptor holds no view");
}

TEST_F(ClearTest, CopyOfAView) {
  script_.Call(Method::ID3D12Device_CopyDescriptorsSimple, script_.device, 2u,
               script_.Cpu(heap_, 2), script_.Cpu(heap_, 0), D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  Clear(3);
  ExpectPlayed(&script_);
}

TEST_F(ClearTest, CopyInRangesOfOtherSizes) {
  const D3D12_CPU_DESCRIPTOR_HANDLE to[] = {script_.Cpu(heap_, 2), script_.Cpu(heap_, 3)};
  const D3D12_CPU_DESCRIPTOR_HANDLE from[] = {script_.Cpu(heap_, 0)};
  const UINT from_sizes[] = {2};
  script_.Call(Method::ID3D12Device_CopyDescriptors, script_.device, 2u, to, nullptr, 1u, from,
               from_sizes, D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  Clear(3);
  ExpectPlayed(&script_);
}

TEST_F(ClearTest, TargetThatHasEnded) {
  script_.trace.ObjectEnd(texture_);
  ExpectRefused(&script_, Clear(1),
                "descriptor 1 of heap 100 is a view of resource 101, which has ended");
}

TEST_F(ClearTest, TargetThatIsSetAndHasEnded) {
  script_.trace.ObjectEnd(texture_);
  const D3D12_CPU_DESCRIPTOR_HANDLE first = script_.Cpu(heap_, 0);
  ExpectRefused(&script_,
                script_.Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, list_, 2u,
                             &first, TRUE, nullptr),
                "descriptor 1 of heap 100 is a view of resource 101, which has ended");
}

TEST_F(ClearTest, ViewOfAnotherKind) {
  const uint64_t views = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 2);
  const uint64_t buffer = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  const D3D12_CONSTANT_BUFFER_VIEW_DESC constants = {script_.AddressOf(buffer), 256};
  script_.Call(Method::ID3D12Device_CreateShaderResourceView, script_.device, ObjectPointer(buffer),
               nullptr, script_.Cpu(views, 0));
  script_.Call(Method::ID3D12Device_CreateConstantBufferView, script_.device, &constants,
               script_.Cpu(views, 1));
  const UINT values[4] = {};
  ExpectRefused(&script_,
                script_.Call(Method::ID3D12GraphicsCommandList_ClearUnorderedAccessViewUint, list_,
                             script_.Gpu(views, 0), script_.Cpu(views, 1), ObjectPointer(buffer),
                             values, 0u, nullptr),
                "descriptor 0 of heap " + std::to_string(views) + " holds another kind of view");
}

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
  ExpectLeftOut(&script_, "this implementation takes no null address there");
}

TEST_F(RootTest, TableInAHeapOfAnotherType) {
  Set(signature_);
  Refused(Table(0, script_.Gpu(samplers_, 0)), "which holds descriptors of type 1, not 0");
}

TEST_F(RootTest, SamplersInAHeapOfAnotherType) {
  Set(signature_);
  Refused(Table(3, script_.Gpu(views_, 0)), "which holds descriptors of type 0, not 1");
}

TEST_F(RootTest, TableInAHeapThatIsNotSet) {
  const uint64_t other = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  Set(signature_);
  Refused(Table(0, script_.Gpu(other, 0)),
          "a table in heap " + std::to_string(other) + ", which the command list has not set");
}

TEST_F(RootTest, TableBehindItsHeap) {
  Set(signature_);
  Refused(Table(0, script_.Gpu(views_, 4)), "is in no heap that exists here");
}

TEST_F(RootTest, TableThatReachesBehindItsHeap) {
  Set(signature_);
  Table(0, script_.Gpu(views_, 3));
  Refused(Dispatch(),
          "root parameter 0 has 2 descriptors, and begins at 3 in heap 100, which has 4");
}

// libvkd3d reads what an earlier root signature left.
TEST_F(RootTest, TableOfAnEarlierRootSignature) {
  Set(signature_);
  Table(0, script_.Gpu(views_, 0));
  Dispatch();
  Set(script_.CreateRootSignature(script_.RootSignature(/*descriptors=*/5)));
  Refused(Dispatch(), "root parameter 0 has 5 descriptors, and begins at 0 in heap 100");
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

TEST_F(RootTest, CommandsOfAnotherParameter) {
  D3D12_INDIRECT_ARGUMENT_DESC arguments[2] = {};
  arguments[0].Type = D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT;
  arguments[0].Constant = {1, 2, 3};
  arguments[1].Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
  D3D12_COMMAND_SIGNATURE_DESC desc = {};
  desc.ByteStride = 24;
  desc.NumArgumentDescs = 2;
  desc.pArgumentDescs = arguments;
  void* place = nullptr;
  Refused(script_.Call(Method::ID3D12Device_CreateCommandSignature, script_.device, &desc,
                       ObjectPointer(signature_), __uuidof(ID3D12CommandSignature), &place),
          "3 root constants from 2 on, where there are 4");
}

// ---- Root signatures ----

void ExpectSignatureRefused(const std::vector<std::byte>& blob, const std::string& gist) {
  HostileScript script;
  uint64_t call = 0;
  script.CreateRootSignature(blob, &call);
  ExpectRefused(&script, call, gist);
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
  EXPECT_EQ(layout->parameters[0].descriptors, 9u);
  EXPECT_FALSE(layout->parameters[0].samplers);
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
  ExpectRefused(&script,
                script.Call(Method::ID3D12GraphicsCommandList_SOSetTargets, list, 0u, 1u, &view),
                "a stream output buffer without a counter");
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
  ExpectLeftOut(&script, "this implementation takes no null address there");
}

}  // namespace
}  // namespace cairn
