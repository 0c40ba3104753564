// SPDX-License-Identifier: Apache-2.0
//
// Objects of ours in arguments of every shape arrive as the real ones; everything else arrives as it
// was passed, and what the application owns is not changed.
#include "d3d12gen/unwrap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "app/d3d12/unwrap_special.h"
#include "d3d12gen/thin.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

// An object of ours whose real object is never called.
template <typename Thin>
class Fake final : public Thin {
 public:
  Fake() : Thin(&real_object_) {
    WrapperVtables::Register(this->chain(), this->interface_pointer());
  }
  template <typename Interface>
  Interface* real_as() {
    return reinterpret_cast<Interface*>(&real_object_);
  }

 private:
  const void* real_object_ = nullptr;
};

// A foreign object.
struct Foreign {
  const void* vtable = this;
};

class UnwrapTest : public testing::Test {
 protected:
  ID3D12Resource* Resource(int index = 0) { return &resources_[index]; }
  ID3D12Resource* RealResource(int index = 0) {
    return resources_[index].real_as<ID3D12Resource>();
  }
  ID3D12Resource* ForeignResource() { return reinterpret_cast<ID3D12Resource*>(&foreign_); }
  ID3D12RootSignature* RootSignature() { return &root_signature_; }
  ID3D12RootSignature* RealRootSignature() {
    return root_signature_.real_as<ID3D12RootSignature>();
  }

  Scratch scratch_;
  Foreign foreign_;
  Fake<ThinID3D12Resource> resources_[4];
  Fake<ThinID3D12RootSignature> root_signature_;
  Fake<ThinID3D12StateObject> collection_;
  Fake<ThinID3D12Heap> heap_;
  Fake<ThinID3D12QueryHeap> query_heap_;
  Fake<ThinID3D12VideoDecoderHeap> decoder_heap_;
};

// ---- Objects ----

TEST_F(UnwrapTest, ObjectsOfOursOnly) {
  EXPECT_EQ(Unwrap(Resource()), RealResource());
  EXPECT_EQ(Unwrap(ForeignResource()), ForeignResource());
  EXPECT_EQ(Unwrap(static_cast<ID3D12Resource*>(nullptr)), nullptr);
}

TEST_F(UnwrapTest, ThroughAnyInterfaceOfTheChain) {
  ID3D12Resource2* const newest = &resources_[0];
  EXPECT_EQ(Unwrap(newest), resources_[0].real_as<ID3D12Resource2>());
  ID3D12Pageable* const pageable = &resources_[0];
  EXPECT_EQ(Unwrap(pageable), resources_[0].real_as<ID3D12Pageable>());
  const IUnknown* const unknown = &heap_;
  EXPECT_EQ(Unwrap(unknown), heap_.real_as<const IUnknown>());
}

// A heap where a resource belongs is the application's mistake, and the implementation's to notice.
TEST_F(UnwrapTest, AnObjectOfAnotherKindIsPassedAsItIs) {
  auto* const wrong = reinterpret_cast<ID3D12Resource*>(static_cast<ID3D12Heap*>(&heap_));
  EXPECT_EQ(Unwrap(wrong), wrong);
}

TEST_F(UnwrapTest, ArraysOfObjectsOfSeveralKinds) {
  ID3D12Pageable* const objects[] = {&heap_, nullptr, &query_heap_, Resource(1),
                                     reinterpret_cast<ID3D12Pageable*>(&foreign_)};
  ID3D12Pageable* const* const real = UnwrapArray(scratch_, objects, 5);
  ASSERT_NE(real, objects);
  EXPECT_EQ(real[0], heap_.real_as<ID3D12Pageable>());
  EXPECT_EQ(real[1], nullptr);
  EXPECT_EQ(real[2], query_heap_.real_as<ID3D12Pageable>());
  EXPECT_EQ(real[3], resources_[1].real_as<ID3D12Pageable>());
  EXPECT_EQ(real[4], objects[4]);
  EXPECT_EQ(objects[0], static_cast<ID3D12Pageable*>(&heap_)) << "the application's array";
}

TEST_F(UnwrapTest, NullAndEmptyArraysStay) {
  ID3D12Pageable* const* const none = nullptr;
  EXPECT_EQ(UnwrapArray(scratch_, none, 7), nullptr);
  ID3D12Pageable* const one[] = {&heap_};
  EXPECT_EQ(UnwrapArray(scratch_, one, 0), one);
  const D3D12_RESOURCE_BARRIER* const no_barriers = nullptr;
  EXPECT_EQ(UnwrapArray(scratch_, no_barriers, 3), nullptr);
}

// ---- Unions ----

TEST_F(UnwrapTest, BarriersByType) {
  D3D12_RESOURCE_BARRIER barriers[4] = {};
  barriers[0].Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barriers[0].Flags = D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY;
  barriers[0].Transition = {Resource(0), 7, D3D12_RESOURCE_STATE_COPY_DEST,
                            D3D12_RESOURCE_STATE_PRESENT};
  barriers[1].Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
  barriers[1].Aliasing = {nullptr, Resource(1)};
  barriers[2].Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  barriers[2].UAV = {Resource(2)};
  barriers[3].Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  D3D12_RESOURCE_BARRIER before[4];
  std::memcpy(before, barriers, sizeof(barriers));

  const D3D12_RESOURCE_BARRIER* const real = UnwrapArray(scratch_, barriers, 4);
  EXPECT_EQ(real[0].Transition.pResource, RealResource(0));
  EXPECT_EQ(real[0].Transition.Subresource, 7u);
  EXPECT_EQ(real[0].Transition.StateBefore, D3D12_RESOURCE_STATE_COPY_DEST);
  EXPECT_EQ(real[0].Flags, D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY);
  EXPECT_EQ(real[1].Aliasing.pResourceBefore, nullptr);
  EXPECT_EQ(real[1].Aliasing.pResourceAfter, RealResource(1));
  EXPECT_EQ(real[2].UAV.pResource, RealResource(2));
  EXPECT_EQ(real[3].UAV.pResource, nullptr);
  EXPECT_EQ(std::memcmp(before, barriers, sizeof(barriers)), 0);
}

// Pointers of another member are no pointers there: they must not be followed.
TEST_F(UnwrapTest, AnUnknownTagIsCopiedUntouched) {
  D3D12_RESOURCE_BARRIER barrier;
  std::memset(&barrier, 0xA5, sizeof(barrier));
  const D3D12_RESOURCE_BARRIER* const real = UnwrapArray(scratch_, &barrier, 1);
  ASSERT_NE(real, &barrier);
  EXPECT_EQ(std::memcmp(real, &barrier, sizeof(barrier)), 0);
}

TEST_F(UnwrapTest, CopyLocationsOfBothTypes) {
  D3D12_TEXTURE_COPY_LOCATION location = {};
  location.pResource = Resource();
  location.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
  location.PlacedFootprint.Offset = 512;
  location.PlacedFootprint.Footprint.RowPitch = 256;
  const D3D12_TEXTURE_COPY_LOCATION* real = UnwrapArray(scratch_, &location, 1);
  EXPECT_EQ(real->pResource, RealResource());
  EXPECT_EQ(real->PlacedFootprint.Offset, 512u);
  EXPECT_EQ(real->PlacedFootprint.Footprint.RowPitch, 256u);
  location.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
  location.SubresourceIndex = 3;
  real = UnwrapArray(scratch_, &location, 1);
  EXPECT_EQ(real->SubresourceIndex, 3u);
  EXPECT_EQ(real->pResource, RealResource());
}

TEST_F(UnwrapTest, BarrierGroupsWithArraysBehindThem) {
  D3D12_GLOBAL_BARRIER global = {};
  D3D12_TEXTURE_BARRIER textures[2] = {};
  textures[0].pResource = Resource(0);
  textures[1].pResource = Resource(1);
  textures[1].Flags = D3D12_TEXTURE_BARRIER_FLAG_DISCARD;
  D3D12_BUFFER_BARRIER buffer = {};
  buffer.pResource = Resource(2);
  buffer.Size = 99;
  D3D12_BARRIER_GROUP groups[4] = {};
  groups[0] = {.Type = D3D12_BARRIER_TYPE_GLOBAL, .NumBarriers = 1, .pGlobalBarriers = &global};
  groups[1] = {.Type = D3D12_BARRIER_TYPE_TEXTURE, .NumBarriers = 2, .pTextureBarriers = textures};
  groups[2] = {.Type = D3D12_BARRIER_TYPE_BUFFER, .NumBarriers = 1, .pBufferBarriers = &buffer};
  groups[3] = {.Type = D3D12_BARRIER_TYPE_BUFFER, .NumBarriers = 9, .pBufferBarriers = nullptr};

  const D3D12_BARRIER_GROUP* const real = UnwrapArray(scratch_, groups, 4);
  EXPECT_EQ(real[0].pGlobalBarriers, &global);
  ASSERT_NE(real[1].pTextureBarriers, textures);
  EXPECT_EQ(real[1].pTextureBarriers[0].pResource, RealResource(0));
  EXPECT_EQ(real[1].pTextureBarriers[1].pResource, RealResource(1));
  EXPECT_EQ(real[1].pTextureBarriers[1].Flags, D3D12_TEXTURE_BARRIER_FLAG_DISCARD);
  EXPECT_EQ(real[2].pBufferBarriers->pResource, RealResource(2));
  EXPECT_EQ(real[2].pBufferBarriers->Size, 99u);
  EXPECT_EQ(real[3].pBufferBarriers, nullptr);
  EXPECT_EQ(textures[0].pResource, Resource(0));
}

TEST_F(UnwrapTest, RenderPassesResolveOnlyIfTheirEndSaysSo) {
  D3D12_RENDER_PASS_RENDER_TARGET_DESC targets[2] = {};
  targets[0].EndingAccess.Type = D3D12_RENDER_PASS_ENDING_ACCESS_TYPE_RESOLVE;
  targets[0].EndingAccess.Resolve.pSrcResource = Resource(0);
  targets[0].EndingAccess.Resolve.pDstResource = Resource(1);
  targets[0].EndingAccess.Resolve.SubresourceCount = 5;
  targets[1].EndingAccess.Type = D3D12_RENDER_PASS_ENDING_ACCESS_TYPE_PRESERVE;
  std::memset(&targets[1].EndingAccess.Resolve, 0xA5, sizeof(targets[1].EndingAccess.Resolve));
  const D3D12_RENDER_PASS_RENDER_TARGET_DESC* const real = UnwrapArray(scratch_, targets, 2);
  EXPECT_EQ(real[0].EndingAccess.Resolve.pSrcResource, RealResource(0));
  EXPECT_EQ(real[0].EndingAccess.Resolve.pDstResource, RealResource(1));
  EXPECT_EQ(real[0].EndingAccess.Resolve.SubresourceCount, 5u);
  EXPECT_EQ(std::memcmp(&real[1], &targets[1], sizeof(targets[1])), 0);

  D3D12_RENDER_PASS_DEPTH_STENCIL_DESC depth = {};
  depth.DepthEndingAccess.Type = D3D12_RENDER_PASS_ENDING_ACCESS_TYPE_DISCARD;
  depth.StencilEndingAccess.Type = D3D12_RENDER_PASS_ENDING_ACCESS_TYPE_RESOLVE;
  depth.StencilEndingAccess.Resolve.pDstResource = Resource(3);
  EXPECT_EQ(UnwrapArray(scratch_, &depth, 1)->StencilEndingAccess.Resolve.pDstResource,
            RealResource(3));
}

// ---- Pipelines ----

TEST_F(UnwrapTest, PipelineDescriptions) {
  D3D12_GRAPHICS_PIPELINE_STATE_DESC graphics = {};
  graphics.pRootSignature = RootSignature();
  graphics.SampleMask = 0x1234;
  const D3D12_GRAPHICS_PIPELINE_STATE_DESC* const real = UnwrapArray(scratch_, &graphics, 1);
  EXPECT_EQ(real->pRootSignature, RealRootSignature());
  EXPECT_EQ(real->SampleMask, 0x1234u);
  D3D12_COMPUTE_PIPELINE_STATE_DESC compute = {};
  compute.pRootSignature = RootSignature();
  EXPECT_EQ(UnwrapArray(scratch_, &compute, 1)->pRootSignature, RealRootSignature());
  compute.pRootSignature = nullptr;
  EXPECT_EQ(UnwrapArray(scratch_, &compute, 1)->pRootSignature, nullptr);
}

// A sub-object as d3dx12.h declares it.
template <D3D12_PIPELINE_STATE_SUBOBJECT_TYPE kType, typename Content>
struct alignas(void*) Subobject {
  D3D12_PIPELINE_STATE_SUBOBJECT_TYPE type = kType;
  Content content = {};
};
using RootSignatureSubobject =
    Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_ROOT_SIGNATURE, ID3D12RootSignature*>;

struct FullStream {
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_FLAGS, D3D12_PIPELINE_STATE_FLAGS> flags;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_NODE_MASK, UINT> node_mask;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_INPUT_LAYOUT, D3D12_INPUT_LAYOUT_DESC> layout;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_IB_STRIP_CUT_VALUE,
            D3D12_INDEX_BUFFER_STRIP_CUT_VALUE>
      strip;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_PRIMITIVE_TOPOLOGY, D3D12_PRIMITIVE_TOPOLOGY_TYPE>
      topology;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_VS, D3D12_SHADER_BYTECODE> vs;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_GS, D3D12_SHADER_BYTECODE> gs;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_STREAM_OUTPUT, D3D12_STREAM_OUTPUT_DESC> output;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_HS, D3D12_SHADER_BYTECODE> hs;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_DS, D3D12_SHADER_BYTECODE> ds;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_PS, D3D12_SHADER_BYTECODE> ps;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_AS, D3D12_SHADER_BYTECODE> as;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_MS, D3D12_SHADER_BYTECODE> ms;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_CS, D3D12_SHADER_BYTECODE> cs;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_BLEND, D3D12_BLEND_DESC> blend;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_DEPTH_STENCIL, D3D12_DEPTH_STENCIL_DESC> depth;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_DEPTH_STENCIL1, D3D12_DEPTH_STENCIL_DESC1> depth1;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_DEPTH_STENCIL_FORMAT, DXGI_FORMAT> depth_format;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_RASTERIZER, D3D12_RASTERIZER_DESC> rasterizer;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_RENDER_TARGET_FORMATS, D3D12_RT_FORMAT_ARRAY>
      formats;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_DESC, DXGI_SAMPLE_DESC> sample;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_MASK, UINT> sample_mask;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_CACHED_PSO, D3D12_CACHED_PIPELINE_STATE> cached;
  Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_VIEW_INSTANCING, D3D12_VIEW_INSTANCING_DESC> views;
  RootSignatureSubobject root_signature;  // behind every other type: each was measured correctly
};

const FullStream* UnwrappedStream(Scratch& scratch, FullStream& stream, size_t size) {
  const D3D12_PIPELINE_STATE_STREAM_DESC desc = {size, &stream};
  const D3D12_PIPELINE_STATE_STREAM_DESC* const real = UnwrapArray(scratch, &desc, 1);
  EXPECT_EQ(real->SizeInBytes, size);
  return static_cast<const FullStream*>(real->pPipelineStateSubobjectStream);
}

TEST_F(UnwrapTest, PipelineStreamsWithEveryType) {
  FullStream stream;
  stream.root_signature.content = RootSignature();
  stream.sample_mask.content = 0x77;
  const FullStream* const real = UnwrappedStream(scratch_, stream, sizeof(stream));
  ASSERT_NE(real, &stream);
  EXPECT_EQ(real->root_signature.content, RealRootSignature());
  EXPECT_EQ(real->sample_mask.content, 0x77u);
  EXPECT_EQ(stream.root_signature.content, RootSignature());
}

TEST_F(UnwrapTest, APipelineStreamIsReadAsFarAsItsTypesAreKnown) {
  struct {
    RootSignatureSubobject first;
    Subobject<static_cast<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE>(1234), uint64_t> unknown;
    RootSignatureSubobject behind;
  } stream;
  stream.first.content = RootSignature();
  stream.behind.content = RootSignature();
  const D3D12_PIPELINE_STATE_STREAM_DESC desc = {sizeof(stream), &stream};
  const auto* const real = static_cast<const decltype(stream)*>(
      UnwrapArray(scratch_, &desc, 1)->pPipelineStateSubobjectStream);
  EXPECT_EQ(real->first.content, RealRootSignature());
  EXPECT_EQ(std::memcmp(&real->unknown, &stream.unknown, sizeof(stream.unknown)), 0);
  EXPECT_EQ(real->behind.content, RootSignature());
}

TEST_F(UnwrapTest, APipelineStreamOfAnySizeIsReadWithinIt) {
  FullStream stream;
  stream.root_signature.content = RootSignature();
  for (size_t size = 1; size <= sizeof(stream); ++size) {
    // On the heap and of this size exactly: a sanitizer sees what is read behind it.
    const auto bytes = std::make_unique<std::byte[]>(size);
    std::memcpy(bytes.get(), &stream, size);
    const D3D12_PIPELINE_STATE_STREAM_DESC desc = {size, bytes.get()};
    const void* const real = UnwrapArray(scratch_, &desc, 1)->pPipelineStateSubobjectStream;
    EXPECT_EQ(std::memcmp(real, bytes.get(), size) != 0, size == sizeof(stream)) << size;
  }
  const D3D12_PIPELINE_STATE_STREAM_DESC empty = {0, &stream};
  EXPECT_EQ(UnwrapArray(scratch_, &empty, 1)->pPipelineStateSubobjectStream, &stream);
  const D3D12_PIPELINE_STATE_STREAM_DESC none = {64, nullptr};
  EXPECT_EQ(UnwrapArray(scratch_, &none, 1)->pPipelineStateSubobjectStream, nullptr);
}

// ---- State objects ----

TEST_F(UnwrapTest, StateObjectsAndTheirAssociations) {
  const D3D12_GLOBAL_ROOT_SIGNATURE global = {RootSignature()};
  const D3D12_LOCAL_ROOT_SIGNATURE local = {RootSignature()};
  const D3D12_EXISTING_COLLECTION_DESC existing = {.pExistingCollection = &collection_};
  const D3D12_NODE_MASK mask = {1};
  D3D12_STATE_SUBOBJECT elsewhere = {D3D12_STATE_SUBOBJECT_TYPE_NODE_MASK, &mask};
  D3D12_STATE_SUBOBJECT subobjects[7] = {};
  const D3D12_SUBOBJECT_TO_EXPORTS_ASSOCIATION inside = {&subobjects[1], 0, nullptr};
  const D3D12_SUBOBJECT_TO_EXPORTS_ASSOCIATION outside = {&elsewhere, 0, nullptr};
  subobjects[0] = {D3D12_STATE_SUBOBJECT_TYPE_SUBOBJECT_TO_EXPORTS_ASSOCIATION, &inside};
  subobjects[1] = {D3D12_STATE_SUBOBJECT_TYPE_LOCAL_ROOT_SIGNATURE, &local};
  subobjects[2] = {D3D12_STATE_SUBOBJECT_TYPE_GLOBAL_ROOT_SIGNATURE, &global};
  subobjects[3] = {D3D12_STATE_SUBOBJECT_TYPE_EXISTING_COLLECTION, &existing};
  subobjects[4] = {D3D12_STATE_SUBOBJECT_TYPE_SUBOBJECT_TO_EXPORTS_ASSOCIATION, &outside};
  subobjects[5] = {static_cast<D3D12_STATE_SUBOBJECT_TYPE>(77), &mask};
  subobjects[6] = {D3D12_STATE_SUBOBJECT_TYPE_GLOBAL_ROOT_SIGNATURE, nullptr};
  const D3D12_STATE_OBJECT_DESC desc = {D3D12_STATE_OBJECT_TYPE_RAYTRACING_PIPELINE, 7, subobjects};

  const D3D12_STATE_OBJECT_DESC* const real = UnwrapArray(scratch_, &desc, 1);
  EXPECT_EQ(real->Type, D3D12_STATE_OBJECT_TYPE_RAYTRACING_PIPELINE);
  ASSERT_EQ(real->NumSubobjects, 7u);
  const D3D12_STATE_SUBOBJECT* const copies = real->pSubobjects;
  ASSERT_NE(copies, subobjects);
  const auto association = [&](int index) {
    return static_cast<const D3D12_SUBOBJECT_TO_EXPORTS_ASSOCIATION*>(copies[index].pDesc)
        ->pSubobjectToAssociate;
  };
  EXPECT_EQ(association(0), &copies[1]) << "into the copy";
  EXPECT_EQ(static_cast<const D3D12_LOCAL_ROOT_SIGNATURE*>(copies[1].pDesc)->pLocalRootSignature,
            RealRootSignature());
  EXPECT_EQ(static_cast<const D3D12_GLOBAL_ROOT_SIGNATURE*>(copies[2].pDesc)->pGlobalRootSignature,
            RealRootSignature());
  EXPECT_EQ(
      static_cast<const D3D12_EXISTING_COLLECTION_DESC*>(copies[3].pDesc)->pExistingCollection,
      collection_.real_as<ID3D12StateObject>());
  EXPECT_EQ(association(4), &elsewhere);
  EXPECT_EQ(copies[5].pDesc, &mask) << "of an unknown type";
  EXPECT_EQ(copies[6].pDesc, nullptr);
  EXPECT_EQ(local.pLocalRootSignature, RootSignature());
  EXPECT_EQ(inside.pSubobjectToAssociate, &subobjects[1]);
}

TEST_F(UnwrapTest, AStateObjectWithoutSubobjects) {
  const D3D12_STATE_OBJECT_DESC none = {D3D12_STATE_OBJECT_TYPE_COLLECTION, 5, nullptr};
  EXPECT_EQ(UnwrapArray(scratch_, &none, 1)->pSubobjects, nullptr);
  EXPECT_EQ(UnwrapArray(scratch_, &none, 1)->NumSubobjects, 5u);
}

// ---- Video ----

TEST_F(UnwrapTest, VideoDecodeArguments) {
  ID3D12Resource* textures[3] = {Resource(0), nullptr, Resource(2)};
  ID3D12VideoDecoderHeap* heaps[3] = {&decoder_heap_, nullptr, &decoder_heap_};
  D3D12_VIDEO_DECODE_INPUT_STREAM_ARGUMENTS input = {};
  input.ReferenceFrames.NumTexture2Ds = 3;
  input.ReferenceFrames.ppTexture2Ds = textures;
  input.ReferenceFrames.ppHeaps = heaps;
  input.CompressedBitstream.pBuffer = Resource(1);
  input.pHeap = &decoder_heap_;
  const D3D12_VIDEO_DECODE_INPUT_STREAM_ARGUMENTS* const real = UnwrapArray(scratch_, &input, 1);
  ID3D12VideoDecoderHeap* const real_heap = decoder_heap_.real_as<ID3D12VideoDecoderHeap>();
  EXPECT_EQ(real->ReferenceFrames.ppTexture2Ds[0], RealResource(0));
  EXPECT_EQ(real->ReferenceFrames.ppTexture2Ds[1], nullptr);
  EXPECT_EQ(real->ReferenceFrames.ppTexture2Ds[2], RealResource(2));
  EXPECT_EQ(real->ReferenceFrames.ppHeaps[2], real_heap);
  EXPECT_EQ(real->CompressedBitstream.pBuffer, RealResource(1));
  EXPECT_EQ(real->pHeap, real_heap);
  EXPECT_EQ(textures[0], Resource(0));

  D3D12_VIDEO_DECODE_OUTPUT_STREAM_ARGUMENTS1 output = {};
  output.pOutputTexture2D = Resource(0);
  output.ConversionArguments.pReferenceTexture2D = Resource(1);
  output.Histograms[D3D12_VIDEO_DECODE_MAX_HISTOGRAM_COMPONENTS - 1].pBuffer = Resource(2);
  const D3D12_VIDEO_DECODE_OUTPUT_STREAM_ARGUMENTS1* const out = UnwrapArray(scratch_, &output, 1);
  EXPECT_EQ(out->pOutputTexture2D, RealResource(0));
  EXPECT_EQ(out->ConversionArguments.pReferenceTexture2D, RealResource(1));
  EXPECT_EQ(out->Histograms[D3D12_VIDEO_DECODE_MAX_HISTOGRAM_COMPONENTS - 1].pBuffer,
            RealResource(2));
}

TEST_F(UnwrapTest, VideoProcessStreamsWithFrames) {
  ID3D12Resource* past[1] = {Resource(1)};
  ID3D12Resource* future[2] = {Resource(2), Resource(3)};
  D3D12_VIDEO_PROCESS_INPUT_STREAM_ARGUMENTS streams[2] = {};
  D3D12_VIDEO_PROCESS_INPUT_STREAM& second_eye = streams[1].InputStream[1];
  second_eye.pTexture2D = Resource(0);
  second_eye.ReferenceSet.NumPastFrames = 1;
  second_eye.ReferenceSet.ppPastFrames = past;
  second_eye.ReferenceSet.NumFutureFrames = 2;
  second_eye.ReferenceSet.ppFutureFrames = future;
  const D3D12_VIDEO_PROCESS_INPUT_STREAM_ARGUMENTS* const real = UnwrapArray(scratch_, streams, 2);
  EXPECT_EQ(real[0].InputStream[0].pTexture2D, nullptr);
  EXPECT_EQ(real[1].InputStream[1].pTexture2D, RealResource(0));
  EXPECT_EQ(real[1].InputStream[1].ReferenceSet.ppPastFrames[0], RealResource(1));
  EXPECT_EQ(real[1].InputStream[1].ReferenceSet.ppFutureFrames[1], RealResource(3));
  EXPECT_EQ(future[1], Resource(3));
}

TEST_F(UnwrapTest, VideoEncodeArguments) {
  ID3D12Resource* references[1] = {Resource(1)};
  D3D12_VIDEO_ENCODER_ENCODEFRAME_INPUT_ARGUMENTS input = {};
  input.pInputFrame = Resource(0);
  input.PictureControlDesc.ReferenceFrames.NumTexture2Ds = 1;
  input.PictureControlDesc.ReferenceFrames.ppTexture2Ds = references;
  const D3D12_VIDEO_ENCODER_ENCODEFRAME_INPUT_ARGUMENTS* const real =
      UnwrapArray(scratch_, &input, 1);
  EXPECT_EQ(real->pInputFrame, RealResource(0));
  EXPECT_EQ(real->PictureControlDesc.ReferenceFrames.ppTexture2Ds[0], RealResource(1));

  D3D12_VIDEO_ENCODER_ENCODEFRAME_OUTPUT_ARGUMENTS output = {};
  output.Bitstream.pBuffer = Resource(0);
  output.ReconstructedPicture.pReconstructedPicture = Resource(1);
  output.EncoderOutputMetadata.pBuffer = Resource(2);
  const D3D12_VIDEO_ENCODER_ENCODEFRAME_OUTPUT_ARGUMENTS* const out =
      UnwrapArray(scratch_, &output, 1);
  EXPECT_EQ(out->Bitstream.pBuffer, RealResource(0));
  EXPECT_EQ(out->ReconstructedPicture.pReconstructedPicture, RealResource(1));
  EXPECT_EQ(out->EncoderOutputMetadata.pBuffer, RealResource(2));
}

// ---- Memory ----

TEST_F(UnwrapTest, MoreThanTheStackHolds) {
  std::vector<D3D12_RESOURCE_BARRIER> barriers(1000);
  for (D3D12_RESOURCE_BARRIER& barrier : barriers) {
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    barrier.UAV.pResource = Resource(2);
  }
  const D3D12_RESOURCE_BARRIER* const first = UnwrapArray(scratch_, barriers.data(), 1000);
  const D3D12_RESOURCE_BARRIER* const second = UnwrapArray(scratch_, barriers.data(), 1000);
  ASSERT_NE(first, second);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(first[i].UAV.pResource, RealResource(2));
    ASSERT_EQ(second[i].UAV.pResource, RealResource(2));
  }
}

TEST_F(UnwrapTest, ScratchMemoryIsAlignedAndDoesNotOverlap) {
  std::byte* last = nullptr;
  for (int i = 0; i < 300; ++i) {
    auto* const bytes = static_cast<std::byte*>(scratch_.AllocateBytes(static_cast<size_t>(i) + 1));
    ASSERT_NE(bytes, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 16, 0u);
    std::memset(bytes, i & 0xFF, static_cast<size_t>(i) + 1);
    if (last != nullptr) {
      EXPECT_EQ(static_cast<int>(last[0]), (i - 1) & 0xFF);
    }
    last = bytes;
  }
}

TEST_F(UnwrapTest, AnImpossibleCountIsPassedAsItIs) {
  EXPECT_EQ(scratch_.Allocate<D3D12_RESOURCE_BARRIER>(UINT64_MAX), nullptr);
  ID3D12Pageable* const one[] = {&heap_};
  EXPECT_EQ(UnwrapArray(scratch_, one, UINT64_MAX), one);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
