// SPDX-License-Identifier: Apache-2.0
//
// What a program passes comes back as it was: every shape of argument, encoded and decoded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "d3d12gen/supplement.h"
#include "format/calls/call_builder.h"
#include "format/calls/value_decoder.h"
#include "format/calls/value_shape.h"

namespace cairn {
namespace {

using testing::ElementsAre;

bool IsZero(const void* memory, size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(memory);
  return std::all_of(bytes, bytes + size, [](std::byte byte) { return byte == std::byte{0}; });
}

TEST(ArenaTest, MemoryIsZeroAgainAfterReset) {
  constexpr size_t kSizes[] = {40, 60'000, 200'000, 100'000, 5 << 20, 300'000};
  Arena arena;
  for (int round = 0; round < 3; ++round) {
    for (const size_t size : kSizes) {
      void* const memory = arena.Allocate(size);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 16, 0u);
      EXPECT_TRUE(IsZero(memory, size)) << "round " << round << ", " << size << " bytes";
      std::memset(memory, 0xFF, size);
    }
    arena.Reset();
  }
}

TEST(ArenaTest, TheLimitCountsFromReset) {
  Arena arena(1 << 20);
  EXPECT_NE(arena.Allocate(1 << 19), nullptr);
  EXPECT_EQ(arena.Allocate((1 << 19) + 1), nullptr);
  EXPECT_NE(arena.Allocate(1 << 19), nullptr);
  EXPECT_EQ(arena.Allocate(1), nullptr);
  arena.Reset();
  EXPECT_NE(arena.Allocate(1 << 20), nullptr);
}

TEST(ArenaTest, MemoryBehindAMarkIsGivenBack) {
  Arena arena(1 << 20);
  void* const kept = arena.Allocate(40);
  std::memset(kept, 0xEE, 40);
  const Arena::Mark mark = arena.Here();
  for (const size_t size : {size_t{100}, size_t{200'000}, (size_t{1} << 20) - 48}) {
    void* const memory = arena.Allocate(size);
    ASSERT_NE(memory, nullptr) << size;
    EXPECT_TRUE(IsZero(memory, size)) << size;
    std::memset(memory, 0xFF, size);
    arena.Rewind(mark);
  }
  EXPECT_EQ(static_cast<const unsigned char*>(kept)[39], 0xEE);
}

class Blobs final : public BlobSource {
 public:
  void Add(const std::vector<CallBuilder::Blob>& blobs) {
    for (const CallBuilder::Blob& blob : blobs) bytes_[blob.number] = blob.body;
  }
  Result<std::span<const std::byte>> Blob(uint64_t number) override {
    const auto found = bytes_.find(number);
    if (found == bytes_.end()) return Status(StatusCode::kNotFound, "no such blob");
    return std::span<const std::byte>(found->second).subspan(sizeof(BlobBody));
  }
  size_t size() const { return bytes_.size(); }

 private:
  std::map<uint64_t, std::vector<std::byte>> bytes_;
};

class RoundTrip : public testing::Test {
 protected:
  template <typename... Arguments>
  void Call(Method method, const Arguments&... arguments) {
    const CallBuilder::Body body = builder_.Call(method, arguments...);
    ASSERT_TRUE(body.ok);
    blobs_.Add(body.blobs);
    options_.blobs = &blobs_;
    const Status status =
        DecodeArguments(Describe(method), body.bytes, options_, &arena_, &decoded_);
    ASSERT_TRUE(status.ok()) << status.message();
    body_ = body.bytes;
  }
  template <typename Returned, typename... Arguments>
  void Returns(Method method, const Returned& result, const Arguments&... arguments) {
    const CallBuilder::Body body = builder_.Result(method, 7, result, arguments...);
    ASSERT_TRUE(body.ok);
    blobs_.Add(body.blobs);
    options_.blobs = &blobs_;
    std::span<const std::byte> rest = body.bytes;
    ASSERT_EQ(DecodeBody<ResultBody>(&rest)->call, 7u);
    const Status status = DecodeResults(Describe(method), rest, options_, &arena_, &decoded_);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  template <typename T>
  T Argument(size_t index) const {
    return Load<T>(decoded_.arguments[index]);
  }

  CallBuilder builder_;
  Blobs blobs_;
  DecodeOptions options_;
  Arena arena_;
  DecodedCall decoded_;
  std::vector<std::byte> body_;
};

TEST_F(RoundTrip, Numbers) {
  Call(Method::ID3D12GraphicsCommandList_DrawIndexedInstanced, 36, 2, 5, -3, 1);
  EXPECT_EQ(body_.size(), 20u);
  EXPECT_EQ(Argument<UINT>(0), 36u);
  EXPECT_EQ(Argument<INT>(3), -3);
  EXPECT_EQ(Argument<UINT>(4), 1u);
}

TEST_F(RoundTrip, StructsWithObjectsInUnions) {
  std::array<D3D12_RESOURCE_BARRIER, 2> barriers = {};
  barriers[0].Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barriers[0].Transition.pResource = static_cast<ID3D12Resource*>(ObjectPointer(12));
  barriers[0].Transition.StateAfter = D3D12_RESOURCE_STATE_COPY_DEST;
  barriers[1].Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
  barriers[1].Aliasing.pResourceAfter = static_cast<ID3D12Resource*>(ObjectPointer(13));
  Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, 2, barriers.data());
  const auto* const back = Argument<const D3D12_RESOURCE_BARRIER*>(1);
  EXPECT_EQ(back[0].Transition.pResource, ObjectPointer(12));
  EXPECT_EQ(back[0].Transition.StateAfter, D3D12_RESOURCE_STATE_COPY_DEST);
  EXPECT_EQ(back[1].Aliasing.pResourceBefore, nullptr);
  EXPECT_EQ(back[1].Aliasing.pResourceAfter, ObjectPointer(13));
}

TEST_F(RoundTrip, ArraysOfObjectsAndNullPointers) {
  void* const heaps[2] = {ObjectPointer(3), ObjectPointer(4)};
  Call(Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, 2, heaps);
  const auto* const back = Argument<void* const*>(1);
  EXPECT_EQ(back[0], ObjectPointer(3));
  EXPECT_EQ(back[1], ObjectPointer(4));
  Call(Method::ID3D12GraphicsCommandList_IASetIndexBuffer, nullptr);
  EXPECT_EQ(Argument<void*>(0), nullptr);
}

TEST_F(RoundTrip, ArraysThatAreParameters) {
  const float colour[4] = {0.25f, 0.5f, 0.75f, 1};
  const D3D12_RECT rect = {1, 2, 3, 4};
  Call(Method::ID3D12GraphicsCommandList_ClearRenderTargetView, uint64_t{0x1234}, colour, 1, &rect);
  EXPECT_EQ(Argument<uint64_t>(0), 0x1234u);
  EXPECT_EQ(Argument<const float*>(1)[2], 0.75f);
  EXPECT_EQ(Argument<const D3D12_RECT*>(3)->bottom, 4);
  Call(Method::ID3D12GraphicsCommandList_OMSetBlendFactor, nullptr);
  EXPECT_EQ(Argument<const float*>(0), nullptr);
}

TEST_F(RoundTrip, RenderTargetsAsOneHandleToARange) {
  const uint64_t handles[3] = {10, 20, 30};
  Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, 3, handles, 0, nullptr);
  EXPECT_EQ(Argument<const uint64_t*>(1)[2], 30u);
  const size_t three = body_.size();
  Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, 3, handles, 1, nullptr);
  EXPECT_EQ(body_.size(), three - 2 * sizeof(uint64_t));
}

TEST_F(RoundTrip, CreationAndItsResult) {
  D3D12_COMMAND_QUEUE_DESC desc = {};
  desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
  void* queue = ObjectPointer(5);
  const IID iid = {0x0ec870a6, 0x5d7e, 0x4c22, {0x8c, 0xfc, 0x5b, 0xaa, 0xe0, 0x76, 0x16, 0xed}};
  Call(Method::ID3D12Device_CreateCommandQueue, &desc, iid, &queue);
  EXPECT_EQ(Argument<const D3D12_COMMAND_QUEUE_DESC*>(0)->Type, D3D12_COMMAND_LIST_TYPE_COMPUTE);
  EXPECT_EQ(std::memcmp(decoded_.arguments[1], &iid, sizeof(iid)), 0);
  // Room for what the method gives out, not what lay there.
  EXPECT_EQ(*Argument<void**>(2), nullptr);

  Returns(Method::ID3D12Device_CreateCommandQueue, 0, &desc, iid, &queue);
  EXPECT_EQ(Load<int32_t>(decoded_.result), 0);
  EXPECT_EQ(decoded_.arguments[0], nullptr);
  EXPECT_EQ(*Argument<void**>(2), ObjectPointer(5));

  // A failed creation leaves no object there.
  Returns(Method::ID3D12Device_CreateCommandQueue, int32_t{-2147024809}, &desc, iid, &queue);
  EXPECT_EQ(Load<int32_t>(decoded_.result), -2147024809);
  EXPECT_EQ(Argument<void**>(2), nullptr);
}

TEST_F(RoundTrip, BytesInBlobs) {
  std::vector<uint32_t> shader((kMaxBlobBytes + 100) / 4);
  for (size_t i = 0; i < shader.size(); ++i) shader[i] = static_cast<uint32_t>(i * 7);
  D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
  desc.pRootSignature = static_cast<ID3D12RootSignature*>(ObjectPointer(9));
  desc.CS = {shader.data(), shader.size() * 4};
  void* pipeline = nullptr;
  const IID iid = {};
  Call(Method::ID3D12Device_CreateComputePipelineState, &desc, iid, &pipeline);
  EXPECT_EQ(blobs_.size(), 2u);
  const auto* const back = Argument<const D3D12_COMPUTE_PIPELINE_STATE_DESC*>(0);
  EXPECT_EQ(back->pRootSignature, ObjectPointer(9));
  ASSERT_EQ(back->CS.BytecodeLength, shader.size() * 4);
  EXPECT_EQ(std::memcmp(back->CS.pShaderBytecode, shader.data(), shader.size() * 4), 0);
  EXPECT_EQ(back->CachedPSO.pCachedBlob, nullptr);
}

// A few bytes of a file may not name more blobs than their value needs.
TEST_F(RoundTrip, BytesInBlobsStandInAsFewAsPossible) {
  const std::vector<std::byte> blob_body(sizeof(BlobBody) + 3);
  blobs_.Add({{.number = 5, .body = blob_body}});
  const auto decode = [this](uint64_t size, uint32_t parts) {
    std::vector<std::byte> bytes(sizeof(kBytesInBlobs) + sizeof(size) + sizeof(parts));
    Store(bytes.data(), kBytesInBlobs);
    Store(bytes.data() + 4, size);
    Store(bytes.data() + 12, parts);
    for (uint32_t i = 0; i < parts; ++i) {
      bytes.resize(bytes.size() + sizeof(uint64_t));
      Store(bytes.data() + bytes.size() - sizeof(uint64_t), uint64_t{5});
    }
    std::span<const std::byte> rest = bytes;
    return DecodeBytes(&rest, &blobs_, &arena_);
  };
  EXPECT_EQ(decode(3, 1)->size(), 3u);
  EXPECT_EQ(decode(0, 0)->size(), 0u);
  for (const auto& [size, parts] : {std::pair<uint64_t, uint32_t>{0, 1},
                                    {0, 1'000},
                                    {3, 2},
                                    {6, 2},
                                    {3, 0},
                                    {kMaxBlobBytes + 1, 1},
                                    {~uint64_t{0}, 3}}) {
    EXPECT_EQ(decode(size, parts).status().message(), "so many bytes do not stand in so many parts")
        << size << " in " << parts;
  }
}

TEST_F(RoundTrip, LargeArraysWithObjectsInBlobs) {
  std::vector<D3D12_RESOURCE_BARRIER> barriers(1000);
  for (size_t i = 0; i < barriers.size(); ++i) {
    barriers[i].Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    barriers[i].UAV.pResource = static_cast<ID3D12Resource*>(ObjectPointer(i + 1));
  }
  Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, 1000, barriers.data());
  EXPECT_EQ(blobs_.size(), 1u);
  EXPECT_LT(body_.size(), 64u);
  EXPECT_EQ(Argument<const D3D12_RESOURCE_BARRIER*>(1)[999].UAV.pResource, ObjectPointer(1000));
}

TEST_F(RoundTrip, StringsInStructs) {
  const D3D12_INPUT_ELEMENT_DESC elements[2] = {
      {"POSITION", 0, DXGI_FORMAT_R32G32B32_FLOAT, 0, 0, {}, 0},
      {"TEXCOORD", 1, DXGI_FORMAT_R32G32_FLOAT, 0, 12, {}, 0}};
  D3D12_GRAPHICS_PIPELINE_STATE_DESC desc = {};
  desc.InputLayout = {elements, 2};
  desc.SampleMask = 0xFFFFFFFF;
  void* pipeline = nullptr;
  const IID iid = {};
  Call(Method::ID3D12Device_CreateGraphicsPipelineState, &desc, iid, &pipeline);
  const auto* const back = Argument<const D3D12_GRAPHICS_PIPELINE_STATE_DESC*>(0);
  EXPECT_STREQ(back->InputLayout.pInputElementDescs[1].SemanticName, "TEXCOORD");
  EXPECT_EQ(back->InputLayout.pInputElementDescs[1].AlignedByteOffset, 12u);
  EXPECT_EQ(back->SampleMask, 0xFFFFFFFFu);
}

TEST_F(RoundTrip, WideStringsOfOtherSizes) {
  const char32_t name[] = U"Dépth \U0001F600";
  builder_ = CallBuilder(1, 4);
  Call(Method::ID3D12Object_SetName, static_cast<const void*>(name));
  EXPECT_EQ(std::u16string(Argument<const char16_t*>(0)), u"Dépth \U0001F600");
  options_.wchar_bytes = 4;
  Call(Method::ID3D12Object_SetName, static_cast<const void*>(name));
  EXPECT_EQ(std::u32string(Argument<const char32_t*>(0)), name);
}

TEST_F(RoundTrip, PointersInsidePointers) {
  D3D12_RENDER_PASS_ENDING_ACCESS_RESOLVE_SUBRESOURCE_PARAMETERS parts[2] = {};
  parts[1].DstX = 77;
  D3D12_RENDER_PASS_RENDER_TARGET_DESC target = {};
  target.EndingAccess.Type = D3D12_RENDER_PASS_ENDING_ACCESS_TYPE_RESOLVE;
  target.EndingAccess.Resolve.pSrcResource = static_cast<ID3D12Resource*>(ObjectPointer(6));
  target.EndingAccess.Resolve.SubresourceCount = 2;
  target.EndingAccess.Resolve.pSubresourceParameters = parts;
  Call(Method::ID3D12GraphicsCommandList4_BeginRenderPass, 1, &target, nullptr, 0);
  const auto* back = Argument<const D3D12_RENDER_PASS_RENDER_TARGET_DESC*>(1);
  EXPECT_EQ(back->EndingAccess.Resolve.pSrcResource, ObjectPointer(6));
  EXPECT_EQ(back->EndingAccess.Resolve.pSubresourceParameters[1].DstX, 77u);
  // With another type the same bytes are no pointers.
  target.EndingAccess.Type = D3D12_RENDER_PASS_ENDING_ACCESS_TYPE_PRESERVE;
  Call(Method::ID3D12GraphicsCommandList4_BeginRenderPass, 1, &target, nullptr, 0);
  back = Argument<const D3D12_RENDER_PASS_RENDER_TARGET_DESC*>(1);
  EXPECT_EQ(back->EndingAccess.Resolve.pSrcResource, nullptr);
  EXPECT_EQ(back->EndingAccess.Resolve.pSubresourceParameters, nullptr);
}

TEST_F(RoundTrip, GeometryAsPointersToDescriptions) {
  D3D12_RAYTRACING_GEOMETRY_DESC geometry[2] = {};
  geometry[1].Type = D3D12_RAYTRACING_GEOMETRY_TYPE_TRIANGLES;
  geometry[1].Triangles.IndexBuffer = 0xABCDEF00;
  const D3D12_RAYTRACING_GEOMETRY_DESC* const pointers[2] = {&geometry[0], &geometry[1]};
  D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
  desc.Inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL;
  desc.Inputs.NumDescs = 2;
  desc.Inputs.DescsLayout = D3D12_ELEMENTS_LAYOUT_ARRAY_OF_POINTERS;
  desc.Inputs.ppGeometryDescs = pointers;
  const auto method = Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure;
  Call(method, &desc, 0, nullptr);
  using Desc = D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC;
  EXPECT_EQ(Argument<const Desc*>(0)->Inputs.ppGeometryDescs[1]->Triangles.IndexBuffer,
            0xABCDEF00u);
  desc.Inputs.DescsLayout = D3D12_ELEMENTS_LAYOUT_ARRAY;
  desc.Inputs.pGeometryDescs = geometry;
  Call(method, &desc, 0, nullptr);
  EXPECT_EQ(Argument<const Desc*>(0)->Inputs.pGeometryDescs[1].Triangles.IndexBuffer, 0xABCDEF00u);
  desc.Inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL;
  desc.Inputs.InstanceDescs = 0x123400;
  Call(method, &desc, 0, nullptr);
  EXPECT_EQ(Argument<const Desc*>(0)->Inputs.InstanceDescs, 0x123400u);
}

TEST_F(RoundTrip, PipelineStateStreams) {
  const uint32_t code[2] = {0x43425844, 1};
  struct alignas(void*) Stream {
    D3D12_PIPELINE_STATE_SUBOBJECT_TYPE root_type =
        D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_ROOT_SIGNATURE;
    void* root = ObjectPointer(21);
    D3D12_PIPELINE_STATE_SUBOBJECT_TYPE mask_type = D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_MASK;
    UINT mask = 3;
    D3D12_PIPELINE_STATE_SUBOBJECT_TYPE shader_type = D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_CS;
    D3D12_SHADER_BYTECODE shader = {};
  } stream;
  stream.shader = {code, sizeof(code)};
  const D3D12_PIPELINE_STATE_STREAM_DESC desc = {sizeof(stream), &stream};
  void* pipeline = nullptr;
  const IID iid = {};
  Call(Method::ID3D12Device2_CreatePipelineState, &desc, iid, &pipeline);
  const auto* back = Argument<const D3D12_PIPELINE_STATE_STREAM_DESC*>(0);
  ASSERT_EQ(back->SizeInBytes, sizeof(stream));
  const auto* parts = static_cast<const Stream*>(back->pPipelineStateSubobjectStream);
  EXPECT_EQ(parts->root, ObjectPointer(21));
  EXPECT_EQ(parts->mask, 3u);
  EXPECT_EQ(static_cast<const uint32_t*>(parts->shader.pShaderBytecode)[0], 0x43425844u);

  // Behind a type of the future nothing is known.
  Store(&stream.mask_type, uint32_t{999});
  Call(Method::ID3D12Device2_CreatePipelineState, &desc, iid, &pipeline);
  back = Argument<const D3D12_PIPELINE_STATE_STREAM_DESC*>(0);
  EXPECT_EQ(static_cast<const Stream*>(back->pPipelineStateSubobjectStream)->root,
            ObjectPointer(21));
  const auto decode = [&] {
    return DecodeArguments(Describe(Method::ID3D12Device2_CreatePipelineState), body_, options_,
                           &arena_, &decoded_)
        .code();
  };
  options_.refuse_unknown_parts = true;
  EXPECT_EQ(decode(), StatusCode::kUnsupported);

  // The call is refused as well if only this build knows the type: the shader's pointer was kept
  // unchanged.
  options_.refuse_unknown_parts = false;
  EXPECT_EQ(decode(), StatusCode::kOk);
  const uint32_t future = 999;
  const auto bytes = std::as_bytes(std::span(&future, 1));
  const auto type = std::search(body_.begin(), body_.end(), bytes.begin(), bytes.end());
  ASSERT_NE(type, body_.end());
  Store(&*type, D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_MASK);
  EXPECT_EQ(decode(), StatusCode::kUnsupported);
}

TEST_F(RoundTrip, StateObjectsWithAssociations) {
  const char16_t* const exports[1] = {u"RayGen"};
  D3D12_GLOBAL_ROOT_SIGNATURE root = {};
  root.pGlobalRootSignature = static_cast<ID3D12RootSignature*>(ObjectPointer(31));
  D3D12_STATE_SUBOBJECT parts[2] = {};
  D3D12_SUBOBJECT_TO_EXPORTS_ASSOCIATION association = {};
  association.pSubobjectToAssociate = &parts[0];
  association.NumExports = 1;
  // Names have 16 bits a character here, whatever the type of the headers.
  const void* const names = exports;
  Store(&association.pExports, names);
  parts[0] = {D3D12_STATE_SUBOBJECT_TYPE_GLOBAL_ROOT_SIGNATURE, &root};
  parts[1] = {D3D12_STATE_SUBOBJECT_TYPE_SUBOBJECT_TO_EXPORTS_ASSOCIATION, &association};
  const D3D12_STATE_OBJECT_DESC desc = {D3D12_STATE_OBJECT_TYPE_RAYTRACING_PIPELINE, 2, parts};
  void* object = nullptr;
  const IID iid = {};
  Call(Method::ID3D12Device5_CreateStateObject, &desc, iid, &object);
  const auto* const back = Argument<const D3D12_STATE_OBJECT_DESC*>(0);
  ASSERT_EQ(back->NumSubobjects, 2u);
  EXPECT_EQ(static_cast<const D3D12_GLOBAL_ROOT_SIGNATURE*>(back->pSubobjects[0].pDesc)
                ->pGlobalRootSignature,
            ObjectPointer(31));
  const auto* const about =
      static_cast<const D3D12_SUBOBJECT_TO_EXPORTS_ASSOCIATION*>(back->pSubobjects[1].pDesc);
  EXPECT_EQ(about->pSubobjectToAssociate, &back->pSubobjects[0]);
  const auto* const name = Load<const char16_t* const*>(&about->pExports)[0];
  EXPECT_EQ(std::u16string(name), u"RayGen");
}

TEST_F(RoundTrip, FeaturesWithPointers) {
  const D3D_FEATURE_LEVEL wanted[2] = {D3D_FEATURE_LEVEL_11_0, D3D_FEATURE_LEVEL_12_0};
  D3D12_FEATURE_DATA_FEATURE_LEVELS levels = {2, wanted, D3D_FEATURE_LEVEL_12_0};
  const auto method = Method::ID3D12Device_CheckFeatureSupport;
  Call(method, D3D12_FEATURE_FEATURE_LEVELS, &levels, sizeof(levels));
  const auto* back = Argument<const D3D12_FEATURE_DATA_FEATURE_LEVELS*>(1);
  ASSERT_NE(back->pFeatureLevelsRequested, wanted);
  EXPECT_EQ(back->pFeatureLevelsRequested[1], D3D_FEATURE_LEVEL_12_0);
  Returns(method, 0, D3D12_FEATURE_FEATURE_LEVELS, &levels, sizeof(levels));
  back = Argument<const D3D12_FEATURE_DATA_FEATURE_LEVELS*>(1);
  EXPECT_EQ(back->MaxSupportedFeatureLevel, D3D_FEATURE_LEVEL_12_0);
  EXPECT_EQ(back->pFeatureLevelsRequested, nullptr);
  // Data too short for their struct are zeroed.
  Call(method, D3D12_FEATURE_FEATURE_LEVELS, &levels, 8);
  EXPECT_EQ(*Argument<const uint64_t*>(1), 0u);
  D3D12_FEATURE_DATA_D3D12_OPTIONS flat = {};
  flat.ResourceHeapTier = D3D12_RESOURCE_HEAP_TIER_2;
  Call(method, D3D12_FEATURE_D3D12_OPTIONS, &flat, sizeof(flat));
  EXPECT_EQ(Argument<const D3D12_FEATURE_DATA_D3D12_OPTIONS*>(1)->ResourceHeapTier,
            D3D12_RESOURCE_HEAP_TIER_2);
}

TEST_F(RoundTrip, WhatOnlyTheCallerKnows) {
  const uint8_t pixels[32] = {1, 2, 3};
  builder_.SetCallerBytes(sizeof(pixels));
  Call(Method::ID3D12Resource_WriteToSubresource, 0, nullptr, pixels, 16, 32);
  EXPECT_EQ(Argument<const uint8_t*>(2)[2], 3);
  EXPECT_EQ(Argument<UINT>(3), 16u);
}

TEST_F(RoundTrip, ShaderIdentifiers) {
  uint8_t identifier[32] = {};
  identifier[31] = 9;
  Returns(Method::ID3D12StateObjectProperties_GetShaderIdentifier, identifier, u"RayGen");
  EXPECT_EQ(Load<const uint8_t*>(decoded_.result)[31], 9);
}

TEST_F(RoundTrip, StringsThatAMethodReturns) {
  builder_ = CallBuilder(1, 4);
  options_.wchar_bytes = 4;
  const char32_t name[] = U"main graph";
  Returns(Method::ID3D12WorkGraphProperties_GetProgramName, static_cast<const void*>(name), 1);
  const auto* const back = Load<const char32_t*>(decoded_.result);
  EXPECT_NE(back, name) << "not the pointer that was recorded";
  EXPECT_EQ(std::u32string(back), name);
  const void* const none = nullptr;
  Returns(Method::ID3D12WorkGraphProperties_GetProgramName, none, 1);
  EXPECT_EQ(Load<const char32_t*>(decoded_.result), nullptr);
  // ... and one inside of what it returns.
  const D3D12_NODE_ID node = {reinterpret_cast<const WCHAR*>(name), 6};
  Returns(Method::ID3D12WorkGraphProperties_GetNodeID, node, 1, 2);
  const auto* const node_back = static_cast<const D3D12_NODE_ID*>(decoded_.result);
  EXPECT_EQ(node_back->ArrayIndex, 6u);
  EXPECT_NE(static_cast<const void*>(node_back->Name), name);
  EXPECT_EQ(std::u32string(reinterpret_cast<const char32_t*>(node_back->Name)), name);
}

TEST_F(RoundTrip, RecordsOfWorkGraphs) {
  const uint32_t records[4] = {1, 2, 3, 4};
  D3D12_DISPATCH_GRAPH_DESC desc = {};
  desc.Mode = D3D12_DISPATCH_MODE_NODE_CPU_INPUT;
  desc.NodeCPUInput = {
      .EntrypointIndex = 3, .NumRecords = 2, .pRecords = records, .RecordStrideInBytes = 8};
  Call(Method::ID3D12GraphicsCommandList10_DispatchGraph, &desc);
  const D3D12_NODE_CPU_INPUT& node = Argument<const D3D12_DISPATCH_GRAPH_DESC*>(0)->NodeCPUInput;
  EXPECT_EQ(node.EntrypointIndex, 3u);
  ASSERT_NE(node.pRecords, nullptr);
  EXPECT_NE(node.pRecords, records);
  EXPECT_EQ(std::memcmp(node.pRecords, records, sizeof(records)), 0);

  const D3D12_NODE_CPU_INPUT inputs[2] = {{1, 1, &records[3], 4}, {2, 5, nullptr, 4}};
  desc = {};
  desc.Mode = D3D12_DISPATCH_MODE_MULTI_NODE_CPU_INPUT;
  desc.MultiNodeCPUInput = {2, inputs, sizeof(inputs[0])};
  Call(Method::ID3D12GraphicsCommandList10_DispatchGraph, &desc);
  const D3D12_MULTI_NODE_CPU_INPUT& nodes =
      Argument<const D3D12_DISPATCH_GRAPH_DESC*>(0)->MultiNodeCPUInput;
  ASSERT_EQ(nodes.NumNodeInputs, 2u);
  EXPECT_EQ(Load<uint32_t>(nodes.pNodeInputs[0].pRecords), 4u);
  EXPECT_EQ(nodes.pNodeInputs[1].NumRecords, 5u);
  EXPECT_EQ(nodes.pNodeInputs[1].pRecords, nullptr);

  // A trace that says more records than it has is no trace.
  const uint32_t one = 1;
  desc = {};
  desc.NodeCPUInput = {3, one, records, 16};
  Call(Method::ID3D12GraphicsCommandList10_DispatchGraph, &desc);
  const uint32_t pattern[2] = {3, one};
  const auto bytes = std::as_bytes(std::span(pattern));
  const auto found = std::search(body_.begin(), body_.end(), bytes.begin(), bytes.end());
  ASSERT_NE(found, body_.end());
  Store(&*(found + sizeof(uint32_t)), uint32_t{2});
  EXPECT_EQ(DecodeArguments(Describe(Method::ID3D12GraphicsCommandList10_DispatchGraph), body_,
                            options_, &arena_, &decoded_)
                .code(),
            StatusCode::kCorrupt);
}

TEST_F(RoundTrip, StateObjectsOfWorkGraphs) {
  // Names have 16 bits a character here, whatever the type of the headers.
  const auto named = [](auto* field, const char16_t* name) {
    const void* const text = name;
    Store(field, text);
  };
  D3D12_NODE_ID entry = {};
  named(&entry.Name, u"Entry");
  entry.ArrayIndex = 4;
  const UINT grid[3] = {7, 8, 9};
  D3D12_BROADCASTING_LAUNCH_OVERRIDES overrides = {};
  overrides.pDispatchGrid = grid;
  overrides.pNewName = &entry;
  D3D12_NODE node = {};
  named(&node.Shader.Shader, u"Broadcast");
  node.Shader.OverridesType = D3D12_NODE_OVERRIDES_TYPE_BROADCASTING_LAUNCH;
  node.Shader.pBroadcastingLaunchOverrides = &overrides;
  D3D12_WORK_GRAPH_DESC graph = {};
  named(&graph.ProgramName, u"Graph");
  graph.NumEntrypoints = 1;
  graph.pEntrypoints = &entry;
  graph.NumExplicitlyDefinedNodes = 1;
  graph.pExplicitlyDefinedNodes = &node;
  const D3D12_STATE_SUBOBJECT part = {D3D12_STATE_SUBOBJECT_TYPE_WORK_GRAPH, &graph};
  const D3D12_STATE_OBJECT_DESC desc = {D3D12_STATE_OBJECT_TYPE_EXECUTABLE, 1, &part};
  void* object = nullptr;
  Call(Method::ID3D12Device5_CreateStateObject, &desc, IID{}, &object);
  const auto* const back = static_cast<const D3D12_WORK_GRAPH_DESC*>(
      Argument<const D3D12_STATE_OBJECT_DESC*>(0)->pSubobjects[0].pDesc);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(std::u16string(Load<const char16_t*>(&back->ProgramName)), u"Graph");
  EXPECT_EQ(std::u16string(Load<const char16_t*>(&back->pEntrypoints[0].Name)), u"Entry");
  EXPECT_EQ(back->pEntrypoints[0].ArrayIndex, 4u);
  const D3D12_SHADER_NODE& shader = back->pExplicitlyDefinedNodes[0].Shader;
  EXPECT_EQ(std::u16string(Load<const char16_t*>(&shader.Shader)), u"Broadcast");
  EXPECT_EQ(shader.pBroadcastingLaunchOverrides->pDispatchGrid[2], 9u);
  EXPECT_EQ(shader.pBroadcastingLaunchOverrides->pNewName->ArrayIndex, 4u);
  EXPECT_EQ(shader.pBroadcastingLaunchOverrides->pMaxDispatchGrid, nullptr);
}

TEST_F(RoundTrip, StateObjectsWithGenericPrograms) {
  const char16_t* const exports[1] = {u"VSMain"};
  const UINT mask = 0x55;
  D3D12_STATE_SUBOBJECT parts[3] = {};
  const D3D12_STATE_SUBOBJECT elsewhere = {};
  const D3D12_STATE_SUBOBJECT* const used[2] = {&parts[1], &elsewhere};
  D3D12_GENERIC_PROGRAM_DESC program = {};
  const void* const name = u"Shadows";
  Store(&program.ProgramName, name);
  program.NumExports = 1;
  const void* const names = exports;
  Store(&program.pExports, names);
  program.NumSubobjects = 2;
  program.ppSubobjects = used;
  parts[0] = {D3D12_STATE_SUBOBJECT_TYPE_PRIMITIVE_TOPOLOGY, nullptr};
  parts[1] = {D3D12_STATE_SUBOBJECT_TYPE_SAMPLE_MASK, &mask};
  parts[2] = {D3D12_STATE_SUBOBJECT_TYPE_GENERIC_PROGRAM, &program};
  const D3D12_STATE_OBJECT_DESC desc = {D3D12_STATE_OBJECT_TYPE_EXECUTABLE, 3, parts};
  void* object = nullptr;
  Call(Method::ID3D12Device5_CreateStateObject, &desc, IID{}, &object);
  const auto* const object_back = Argument<const D3D12_STATE_OBJECT_DESC*>(0);
  EXPECT_EQ(*static_cast<const UINT*>(object_back->pSubobjects[1].pDesc), 0x55u);
  const auto* const back =
      static_cast<const D3D12_GENERIC_PROGRAM_DESC*>(object_back->pSubobjects[2].pDesc);
  EXPECT_EQ(std::u16string(Load<const char16_t*>(&back->ProgramName)), u"Shadows");
  ASSERT_EQ(back->NumExports, 1u);
  EXPECT_EQ(std::u16string(Load<const char16_t* const*>(&back->pExports)[0]), u"VSMain");
  ASSERT_EQ(back->NumSubobjects, 2u);
  EXPECT_EQ(back->ppSubobjects[0], &object_back->pSubobjects[1]);
  EXPECT_EQ(back->ppSubobjects[1], nullptr) << "one of another state object";
}

TEST_F(RoundTrip, MappedAddressesAreNumbers) {
  void* data = ObjectPointer(0x7f0000001000);
  Returns(Method::ID3D12Resource_Map, 0, 0, nullptr, &data);
  EXPECT_EQ(*Argument<void**>(2), data);
}

class Doubling final : public ValueVisitor {
 public:
  Status Object(Chain chain, uint64_t* place) override {
    chains.push_back(chain);
    *place *= 2;
    return {};
  }
  Status GpuAddress(uint64_t* place) override {
    *place += 1;
    return {};
  }
  Status CpuDescriptor(uint64_t* place) override {
    *place += 2;
    return {};
  }
  std::vector<Chain> chains;
};

TEST_F(RoundTrip, VisitorsReplaceWhatMeansNothingElsewhere) {
  Doubling visitor;
  options_.visitor = &visitor;
  D3D12_VERTEX_BUFFER_VIEW view = {0x1000, 64, 16};
  Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, 0, 1, &view);
  EXPECT_EQ(Argument<const D3D12_VERTEX_BUFFER_VIEW*>(2)->BufferLocation, 0x1001u);
  Call(Method::ID3D12Device_CreateRenderTargetView, ObjectPointer(4), nullptr, uint64_t{100});
  EXPECT_EQ(Argument<void*>(0), ObjectPointer(8));
  EXPECT_EQ(Argument<uint64_t>(2), 102u);
  EXPECT_THAT(visitor.chains, ElementsAre(Chain::kID3D12Resource));
}

TEST_F(RoundTrip, WhatContradictsItselfIsRefused) {
  D3D12_VIEWPORT viewports[2] = {};
  Call(Method::ID3D12GraphicsCommandList_RSSetViewports, 2, viewports);
  const MethodInfo& method = Describe(Method::ID3D12GraphicsCommandList_RSSetViewports);
  const auto decode = [&] {
    return DecodeArguments(method, body_, options_, &arena_, &decoded_).code();
  };
  Store(body_.data(), uint32_t{1});  // NumViewports
  EXPECT_EQ(decode(), StatusCode::kCorrupt);
  Store(body_.data(), uint32_t{2});
  EXPECT_EQ(decode(), StatusCode::kOk);
  Store(body_.data() + 4, uint32_t{0x10000000});  // the elements that follow
  EXPECT_EQ(decode(), StatusCode::kCorrupt);
  Store(body_.data() + 4, uint32_t{2});
  body_.push_back(std::byte{0});
  EXPECT_EQ(decode(), StatusCode::kCorrupt);
  body_.resize(body_.size() - 2);
  EXPECT_EQ(decode(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace cairn
