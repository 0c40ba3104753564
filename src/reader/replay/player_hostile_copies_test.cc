// SPDX-License-Identifier: Apache-2.0
//
// Copies, queries and tiles that do not lie within what they name.
#include <functional>

#include "d3d12abi/testing/fake_names.h"
#include "reader/replay/replay_regions.h"
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {
namespace {

// A copy from a buffer of 64 KiB to subresource 0 of a texture of 16 x 16 texels with two mips.
struct TextureCopy {
  D3D12_TEXTURE_COPY_LOCATION to = {};
  D3D12_TEXTURE_COPY_LOCATION from = {};
  D3D12_BOX box = {0, 0, 0, 16, 16, 1};
  bool has_box = false;
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;
};

class TextureCopyTest : public testing::Test {
 protected:
  explicit TextureCopyTest(D3D12_RESOURCE_DESC desc = TextureDesc(16, 16, 2)) {
    list_ = script_.CreateList();
    buffer_ = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
    texture_ = script_.CreateTexture(desc);
    copy_.to.pResource = Resource(texture_);
    copy_.to.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
    copy_.from.pResource = Resource(buffer_);
    copy_.from.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
    copy_.from.PlacedFootprint.Footprint = {DXGI_FORMAT_R8G8B8A8_UNORM, 16, 16, 1, 256};
  }
  static ID3D12Resource* Resource(uint64_t object) {
    return static_cast<ID3D12Resource*>(ObjectPointer(object));
  }
  uint64_t Copy() {
    return script_.Call(Method::ID3D12GraphicsCommandList_CopyTextureRegion, list_, &copy_.to,
                        copy_.x, copy_.y, copy_.z, &copy_.from,
                        copy_.has_box ? &copy_.box : nullptr);
  }
  void Refused(const std::string& gist) { ExpectRefused(&script_, Copy(), gist); }

  HostileScript script_;
  uint64_t list_;
  uint64_t buffer_;
  uint64_t texture_;
  TextureCopy copy_;
};

TEST_F(TextureCopyTest, WhatFitsIsMade) {
  copy_.from.PlacedFootprint.Offset = 65536 - 15 * 256 - 64;  // to the last byte
  Copy();
  ExpectPlayed(&script_);
}

TEST_F(TextureCopyTest, FootprintBehindTheBuffer) {
  copy_.from.PlacedFootprint.Offset = 65536 - 15 * 256 - 63;
  Refused("the footprint at 61633 of resource 4 reaches behind its 65536 bytes");
}

TEST_F(TextureCopyTest, FootprintThatWrapsAround) {
  copy_.from.PlacedFootprint.Offset = ~uint64_t{0} - 100;
  Refused("of resource 4 reaches behind its 65536 bytes");
}

TEST_F(TextureCopyTest, FootprintOfTheLargestNumbers) {
  copy_.from.PlacedFootprint.Footprint = {DXGI_FORMAT_R8G8B8A8_UNORM, 1u << 29, ~0u, ~0u, ~0u};
  copy_.has_box = true;
  copy_.box = {0, 0, ~0u - 1, 16, 16, ~0u};
  Refused("of resource 4 reaches behind its 65536 bytes");
}

TEST_F(TextureCopyTest, RowsThatOverlap) {
  copy_.from.PlacedFootprint.Footprint.RowPitch = 63;
  Refused("rows of 16 texels in 63 bytes");
}

TEST_F(TextureCopyTest, TexelsOfAnotherSize) {
  copy_.from.PlacedFootprint.Footprint.Format = DXGI_FORMAT_R8_UNORM;
  Refused("blocks of 1 x 1 texels in 1 bytes are copied to those of 1 x 1 in 4");
}

TEST_F(TextureCopyTest, FormatThatNobodyKnows) {
  copy_.from.PlacedFootprint.Footprint.Format = static_cast<DXGI_FORMAT>(5000);
  Copy();
  ExpectLeftOut(&script_, "how format 5000 lies in memory is not known");
}

TEST_F(TextureCopyTest, SubresourceThatIsNone) {
  copy_.to.SubresourceIndex = 2;
  Refused("subresource 2 of resource 100, which has 2");
}

TEST_F(TextureCopyTest, SmallerMipThanTheSource) {
  copy_.to.SubresourceIndex = 1;
  Refused("16 x 16 x 1 texels at 0, 0, 0 of the destination, resource 100: it has 8 x 8 x 1");
}

TEST_F(TextureCopyTest, PlaceBehindTheEdge) {
  copy_.x = 1;
  Refused("16 x 16 x 1 texels at 1, 0, 0 of the destination");
}

TEST_F(TextureCopyTest, PlaceFarBehindTheEdge) {
  copy_.y = ~0u;
  Refused("at 0, 4294967295, 0 of the destination");
}

TEST_F(TextureCopyTest, SliceThatIsNone) {
  copy_.z = 1;
  Refused("at 0, 0, 1 of the destination");
}

TEST_F(TextureCopyTest, BoxBehindTheSource) {
  copy_.has_box = true;
  copy_.box.right = 17;
  Refused("17 x 16 x 1 texels at 0, 0, 0 of the source, resource 4: it has 16 x 16 x 1");
}

TEST_F(TextureCopyTest, EmptyBoxIsNoCopy) {
  copy_.has_box = true;
  copy_.box.right = 0;
  Copy();
  ExpectPlayed(&script_);
}

TEST_F(TextureCopyTest, BufferAsATexture) {
  copy_.from.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
  copy_.from.SubresourceIndex = 0;
  Refused("resource 4 is no texture");
}

TEST_F(TextureCopyTest, TextureAsABuffer) {
  copy_.to.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
  copy_.to.PlacedFootprint = copy_.from.PlacedFootprint;
  Refused("resource 100 is no buffer");
}

TEST_F(TextureCopyTest, BufferToBuffer) {
  copy_.to = copy_.from;
  Refused("a copy between two buffers");
}

TEST_F(TextureCopyTest, PlaceOfAnUnknownType) {
  copy_.from.Type = static_cast<D3D12_TEXTURE_COPY_TYPE>(7);
  Refused("a place of type 7 to copy");
}

TEST_F(TextureCopyTest, ResourceThatIsNull) {
  copy_.from.pResource = nullptr;
  Refused("pResource is null");
}

TEST_F(TextureCopyTest, SamplesToABuffer) {
  D3D12_RESOURCE_DESC desc = TextureDesc(16, 16);
  desc.SampleDesc.Count = 4;
  copy_.to.pResource = Resource(script_.CreateTexture(desc));
  Refused("1 samples are copied to 4");
}

// The last block of a small mip is whole.
class BlockCopyTest : public TextureCopyTest {
 protected:
  BlockCopyTest() : TextureCopyTest(TextureDesc(16, 16, 4, 1, DXGI_FORMAT_BC1_UNORM)) {
    copy_.from.PlacedFootprint.Footprint = {DXGI_FORMAT_BC1_UNORM, 4, 4, 1, 256};
    copy_.to.SubresourceIndex = 3;
  }
};

TEST_F(BlockCopyTest, OneBlockOfAMipOfTwoTexels) {
  Copy();
  ExpectPlayed(&script_);
}

TEST_F(BlockCopyTest, TwoBlocksOfAMipOfTwoTexels) {
  copy_.from.PlacedFootprint.Footprint.Width = 5;
  Refused("8 x 4 x 1 texels at 0, 0, 0 of the destination, resource 100: it has 2 x 2 x 1");
}

TEST_F(BlockCopyTest, TexelsAsLargeAsBlocks) {
  copy_.from.PlacedFootprint.Footprint.Format = DXGI_FORMAT_R32G32_UINT;
  Refused("blocks of 1 x 1 texels in 8 bytes are copied to those of 4 x 4 in 8");
}

// ---- Whole resources ----

void ExpectCopyRefused(const D3D12_RESOURCE_DESC& to, const D3D12_RESOURCE_DESC& from,
                       const std::string& gist) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t target = script.CreateTexture(to);
  const uint64_t source = script.CreateTexture(from);
  ExpectRefused(&script,
                script.Call(Method::ID3D12GraphicsCommandList_CopyResource, list,
                            ObjectPointer(target), ObjectPointer(source)),
                gist);
}

TEST(WholeCopyTest, ResourcesThatDiffer) {
  ExpectCopyRefused(TextureDesc(16, 16), TextureDesc(16, 17), "not of the same size");
  ExpectCopyRefused(TextureDesc(16, 16, 2), TextureDesc(16, 16), "not of the same size");
  ExpectCopyRefused(TextureDesc(16, 16, 1, 2), TextureDesc(16, 16), "not of the same size");
  ExpectCopyRefused(TextureDesc(16, 16), TextureDesc(16, 16, 1, 1, DXGI_FORMAT_R8_UNORM),
                    "texels of R8_UNORM are copied to R8G8B8A8_UNORM");
  ExpectCopyRefused(TextureDesc(16, 16, 1, 1, DXGI_FORMAT_D32_FLOAT),
                    TextureDesc(16, 16, 1, 1, DXGI_FORMAT_D24_UNORM_S8_UINT),
                    "texels of D24_UNORM_S8_UINT are copied to D32_FLOAT");
}

TEST(WholeCopyTest, FormatsOfOneFamily) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t to = script.CreateTexture(TextureDesc(16, 16));
  const uint64_t from =
      script.CreateTexture(TextureDesc(16, 16, 1, 1, DXGI_FORMAT_R8G8B8A8_TYPELESS));
  script.Call(Method::ID3D12GraphicsCommandList_CopyResource, list, ObjectPointer(to),
              ObjectPointer(from));
  ExpectPlayed(&script);
}

// A texel of one is a block of the other, in each mip.
TEST(WholeCopyTest, BlocksAndTexels) {
  for (const bool to_blocks : {false, true}) {
    HostileScript script;
    const uint64_t list = script.CreateList();
    const uint64_t blocks = script.CreateTexture(TextureDesc(64, 32, 3, 1, DXGI_FORMAT_BC1_UNORM));
    const uint64_t texels =
        script.CreateTexture(TextureDesc(16, 8, 3, 1, DXGI_FORMAT_R16G16B16A16_UINT));
    script.Call(Method::ID3D12GraphicsCommandList_CopyResource, list,
                ObjectPointer(to_blocks ? blocks : texels),
                ObjectPointer(to_blocks ? texels : blocks));
    ExpectPlayed(&script);
  }
  const D3D12_RESOURCE_DESC blocks = TextureDesc(64, 32, 1, 1, DXGI_FORMAT_BC1_UNORM);
  ExpectCopyRefused(blocks, TextureDesc(16, 9, 1, 1, DXGI_FORMAT_R16G16B16A16_UINT),
                    "texels of R16G16B16A16_UINT are copied to BC1_UNORM");
  ExpectCopyRefused(blocks, TextureDesc(16, 8, 1, 1, DXGI_FORMAT_R8G8B8A8_UINT),
                    "texels of R8G8B8A8_UINT are copied to BC1_UNORM");
  ExpectCopyRefused(blocks, TextureDesc(64, 32, 1, 1, DXGI_FORMAT_R16G16B16A16_UINT),
                    "texels of R16G16B16A16_UINT are copied to BC1_UNORM");
  // 3 x 3 blocks here, and 2 x 2 texels of the second mip there.
  ExpectCopyRefused(TextureDesc(20, 20, 2, 1, DXGI_FORMAT_BC1_UNORM),
                    TextureDesc(5, 5, 2, 1, DXGI_FORMAT_R16G16B16A16_UINT),
                    "texels of R16G16B16A16_UINT are copied to BC1_UNORM");
}

TEST(ResolveTest, SubresourcesThatDiffer) {
  D3D12_RESOURCE_DESC samples = TextureDesc(16, 16);
  samples.SampleDesc.Count = 4;
  const auto refused = [&](const D3D12_RESOURCE_DESC& to, uint32_t to_index,
                           const D3D12_RESOURCE_DESC& from, uint32_t from_index,
                           const std::string& gist) {
    HostileScript script;
    const uint64_t list = script.CreateList();
    const uint64_t target = script.CreateTexture(to);
    const uint64_t source = script.CreateTexture(from);
    ExpectRefused(&script,
                  script.Call(Method::ID3D12GraphicsCommandList_ResolveSubresource, list,
                              ObjectPointer(target), to_index, ObjectPointer(source), from_index,
                              DXGI_FORMAT_R8G8B8A8_UNORM),
                  gist);
  };
  refused(TextureDesc(16, 16), 1, samples, 0, "subresource 1 of resource 100, which has 1");
  refused(TextureDesc(16, 16), 0, samples, 1, "subresource 1 of resource 101, which has 1");
  refused(TextureDesc(8, 16), 0, samples, 0, "16 x 16 texels are resolved to 8 x 16");
  refused(TextureDesc(16, 16, 1, 1, DXGI_FORMAT_R8_UNORM), 0, samples, 0,
          "texels of 4 bytes are resolved to 1");
  refused(samples, 0, samples, 0, "resource 100, which is resolved into, has 4 samples");
}

// All of the source is placed somewhere in the target, or a part of it.
class ResolveRegionTest : public testing::Test {
 protected:
  ResolveRegionTest() {
    source_.number = 100;
    source_.desc = TextureDesc(16, 16);
    source_.desc.SampleDesc.Count = 4;
    target_.number = 101;
    target_.desc = TextureDesc(32, 24);
  }
  static Status Resolve(const ReplayObject& to, const ReplayObject& from,
                        const ResolveRegion& region) {
    return CheckResolve({to, 0}, {from, 0}, &region);
  }

  ReplayObject source_;
  ReplayObject target_;
};

TEST_F(ResolveRegionTest, WhatFits) {
  const D3D12_RECT rect = {4, 4, 16, 16};
  EXPECT_TRUE(Resolve(target_, source_, {{16, 8, 0}}).ok());
  EXPECT_TRUE(Resolve(target_, source_, {{20, 12, 0}, &rect, D3D12_RESOLVE_MODE_MAX}).ok());
  EXPECT_TRUE(Resolve(source_, source_, {{}, nullptr, D3D12_RESOLVE_MODE_DECOMPRESS}).ok());
}

TEST_F(ResolveRegionTest, WhatDoesNot) {
  const auto refused = [](const Status& status, const std::string& gist) {
    EXPECT_EQ(status.code(), StatusCode::kCorrupt);
    EXPECT_THAT(status.message(), testing::HasSubstr(gist));
  };
  refused(Resolve(target_, source_, {{16, 9, 0}}),
          "16 x 16 x 1 texels at 16, 9, 0 of the destination, resource 101");
  const D3D12_RECT rect = {4, 4, 17, 16};
  refused(Resolve(target_, source_, {{}, &rect}), "13 x 12 x 1 texels at 4, 4, 0 of the source");
  refused(Resolve(target_, source_, {{}, nullptr, D3D12_RESOLVE_MODE_DECOMPRESS}),
          "4 samples are decompressed to 1");
  refused(Resolve(source_, source_, {{}}), "resource 100, which is resolved into, has 4 samples");
}

TEST_F(ResolveRegionTest, OfAModeThatIsNewer) {
  const Status status =
      Resolve(target_, source_, {{}, nullptr, static_cast<D3D12_RESOLVE_MODE>(6)});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(), "resolves of mode 6 are not known");
}

// Maps of sampler feedback, and what they are decoded to and encoded from.
class FeedbackTest : public testing::Test {
 protected:
  static constexpr auto kMinMip = static_cast<DXGI_FORMAT>(189);
  static constexpr auto kMipRegionUsed = static_cast<DXGI_FORMAT>(190);
  static constexpr auto kDecode = D3D12_RESOLVE_MODE_DECODE_SAMPLER_FEEDBACK;
  static constexpr auto kEncode = D3D12_RESOLVE_MODE_ENCODE_SAMPLER_FEEDBACK;
  static constexpr uint32_t kAll = 0xFFFFFFFF;

  FeedbackTest() {
    min_mip_.number = 100;
    min_mip_.desc = TextureDesc(64, 64, 7, 2, kMinMip);
    used_.number = 101;
    used_.desc = TextureDesc(64, 64, 7, 2, kMipRegionUsed);
    regions_.number = 102;  // 4 x 4 texels are one
    regions_.desc = TextureDesc(16, 16, 1, 2, DXGI_FORMAT_R8_UINT);
    region_mips_.number = 103;
    region_mips_.desc = TextureDesc(16, 16, 7, 2, DXGI_FORMAT_R8_UINT);
    buffer_.number = 104;
    buffer_.desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    buffer_.desc.Width = 256;
  }
  static Status Resolve(const ReplayObject& to, uint32_t to_subresource, const ReplayObject& from,
                        uint32_t from_subresource, D3D12_RESOLVE_MODE mode,
                        const D3D12_RECT* rect = nullptr) {
    const ResolveRegion region = {{}, rect, mode};
    return CheckResolve({to, to_subresource}, {from, from_subresource}, &region);
  }

  ReplayObject min_mip_, used_, regions_, region_mips_, buffer_;
};

TEST_F(FeedbackTest, WhatFits) {
  const D3D12_RECT rect = {1, 1, 5, 5};
  EXPECT_TRUE(Resolve(regions_, kAll, min_mip_, kAll, kDecode).ok());
  EXPECT_TRUE(Resolve(regions_, 1, min_mip_, kAll, kDecode).ok());
  EXPECT_TRUE(Resolve(min_mip_, kAll, regions_, kAll, kEncode, &rect).ok());
  EXPECT_TRUE(Resolve(region_mips_, kAll, used_, kAll, kDecode).ok());
  EXPECT_TRUE(Resolve(used_, 8, region_mips_, 0, kEncode).ok());
  EXPECT_TRUE(Resolve(used_, 0, region_mips_, 0, kEncode, &rect).ok());
  min_mip_.desc.DepthOrArraySize = 1;
  EXPECT_TRUE(Resolve(buffer_, 0, min_mip_, kAll, kDecode).ok());
  EXPECT_TRUE(Resolve(min_mip_, kAll, buffer_, kAll, kEncode).ok());
}

TEST_F(FeedbackTest, WhatDoesNot) {
  const auto refused = [](const Status& status, const std::string& gist) {
    EXPECT_EQ(status.code(), StatusCode::kCorrupt);
    EXPECT_EQ(status.message(), gist);
  };
  const std::string other =
      " has not the slices and mips of the map of sampler feedback, resource ";
  refused(Resolve(min_mip_, kAll, regions_, kAll, kDecode),
          "resource 102 is no map of sampler feedback");
  refused(Resolve(regions_, kAll, min_mip_, kAll, kEncode),
          "resource 102 is no map of sampler feedback");
  refused(Resolve(region_mips_, kAll, min_mip_, kAll, kDecode), "resource 103" + other + "100");
  refused(Resolve(used_, kAll, regions_, kAll, kEncode), "resource 102" + other + "101");
  refused(Resolve(buffer_, 0, min_mip_, kAll, kDecode), "resource 104" + other + "100");
  regions_.desc.DepthOrArraySize = 1;
  refused(Resolve(regions_, kAll, min_mip_, kAll, kDecode), "resource 102" + other + "100");
  min_mip_.desc.DepthOrArraySize = 1;
  refused(Resolve(regions_, 1, min_mip_, kAll, kDecode),
          "subresource 1 of resource 102, which has 1");
  refused(Resolve(min_mip_, 7, regions_, 0, kEncode), "subresource 7 of resource 100, which has 7");
  refused(Resolve(buffer_, 1, min_mip_, kAll, kDecode), "subresource 1 of resource 104");
  refused(Resolve(used_, 14, region_mips_, 0, kEncode),
          "subresource 14 of resource 101, which has 14");
}

TEST_F(FeedbackTest, OfNothing) {
  for (const D3D12_RECT& rect : {D3D12_RECT{5, 5, 5, 8}, D3D12_RECT{-1, 0, 4, 4}}) {
    EXPECT_EQ(Resolve(used_, 0, region_mips_, 0, kEncode, &rect).code(),
              StatusCode::kInvalidArgument);
  }
}

// A texture copied to its own format needs no layout.
TEST(UnknownFormatTest, TexelsAreCopiedToThemselves) {
  constexpr auto kUnknown = static_cast<DXGI_FORMAT>(5000);
  HostileScript script;
  const uint64_t list = script.CreateList();
  D3D12_TEXTURE_COPY_LOCATION to = {};
  D3D12_TEXTURE_COPY_LOCATION from = {};
  to.pResource = static_cast<ID3D12Resource*>(
      ObjectPointer(script.CreateTexture(TextureDesc(16, 16, 1, 1, kUnknown))));
  from.pResource = static_cast<ID3D12Resource*>(
      ObjectPointer(script.CreateTexture(TextureDesc(8, 8, 1, 1, kUnknown))));
  const auto copy = [&](uint32_t x) {
    return script.Call(Method::ID3D12GraphicsCommandList_CopyTextureRegion, list, &to, x, 0u, 0u,
                       &from, nullptr);
  };
  copy(8);
  ExpectRefused(&script, copy(9), "8 x 8 x 1 texels at 9, 0, 0 of the destination");
}

TEST(UnknownFormatTest, TexelsOfAnotherFormat) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  D3D12_TEXTURE_COPY_LOCATION to = {};
  D3D12_TEXTURE_COPY_LOCATION from = {};
  to.pResource =
      static_cast<ID3D12Resource*>(ObjectPointer(script.CreateTexture(TextureDesc(16, 16))));
  from.pResource = static_cast<ID3D12Resource*>(ObjectPointer(
      script.CreateTexture(TextureDesc(16, 16, 1, 1, static_cast<DXGI_FORMAT>(5000)))));
  script.Call(Method::ID3D12GraphicsCommandList_CopyTextureRegion, list, &to, 0u, 0u, 0u, &from,
              nullptr);
  ExpectLeftOut(&script, "how format 5000 lies in memory is not known");
}

TEST(DiscardTest, SubresourcesThatAreNone) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t texture = script.CreateTexture(TextureDesc(16, 16, 2, 3));
  D3D12_DISCARD_REGION region = {0, nullptr, 4, 2};
  script.Call(Method::ID3D12GraphicsCommandList_DiscardResource, list, ObjectPointer(texture),
              &region);
  region.NumSubresources = 3;
  ExpectRefused(&script,
                script.Call(Method::ID3D12GraphicsCommandList_DiscardResource, list,
                            ObjectPointer(texture), &region),
                "3 subresources from 4 on, where there are 6");
}

TEST(BarrierTest, SubresourceThatIsNone) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Transition.pResource =
      static_cast<ID3D12Resource*>(ObjectPointer(script.CreateTexture(TextureDesc(16, 16, 2, 3))));
  barrier.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
  script.Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, list, 1u, &barrier);
  barrier.Transition.Subresource = 6;
  ExpectRefused(&script,
                script.Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, list, 1u, &barrier),
                "subresource 6 of resource 100, which has 6");
}

// ---- Queries ----

TEST(QueryTest, IndexBehindTheHeap) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t heap = script.CreateQueries(D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 4);
  script.Call(Method::ID3D12GraphicsCommandList_EndQuery, list, ObjectPointer(heap),
              D3D12_QUERY_TYPE_TIMESTAMP, 3u);
  ExpectRefused(&script,
                script.Call(Method::ID3D12GraphicsCommandList_EndQuery, list, ObjectPointer(heap),
                            D3D12_QUERY_TYPE_TIMESTAMP, 4u),
                "1 queries from 4 on, where there are 4");
}

TEST(QueryTest, HeapOfAnotherType) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t heap = script.CreateQueries(D3D12_QUERY_HEAP_TYPE_PIPELINE_STATISTICS, 4);
  ExpectRefused(&script,
                script.Call(Method::ID3D12GraphicsCommandList_BeginQuery, list, ObjectPointer(heap),
                            D3D12_QUERY_TYPE_OCCLUSION, 0u),
                "a query of type 0 in heap " + std::to_string(heap) + ", of type 2");
}

TEST(QueryTest, ResultsStayInTheirBuffer) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t heap = script.CreateQueries(D3D12_QUERY_HEAP_TYPE_PIPELINE_STATISTICS, 4);
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_READBACK, 4096);
  const auto resolve = [&](uint32_t first, uint32_t count, uint64_t offset) {
    return script.Call(Method::ID3D12GraphicsCommandList_ResolveQueryData, list,
                       ObjectPointer(heap), D3D12_QUERY_TYPE_PIPELINE_STATISTICS, first, count,
                       ObjectPointer(buffer), offset);
  };
  resolve(0, 4, 4096 - 4 * 88);
  ExpectRefused(&script, resolve(0, 4, 4096 - 4 * 88 + 8),
                "352 bytes at 3752 of resource " + std::to_string(buffer) + ", which has 4096");
}

TEST(QueryTest, ResultsOfMoreThanThereAre) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t heap = script.CreateQueries(D3D12_QUERY_HEAP_TYPE_OCCLUSION, 4);
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_READBACK, 4096);
  ExpectRefused(
      &script,
      script.Call(Method::ID3D12GraphicsCommandList_ResolveQueryData, list, ObjectPointer(heap),
                  D3D12_QUERY_TYPE_OCCLUSION, 1u, ~0u, ObjectPointer(buffer), uint64_t{0}),
      "4294967295 queries from 1 on, where there are 4");
}

TEST(PredicationTest, BehindTheBuffer) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  ExpectRefused(&script,
                script.Call(Method::ID3D12GraphicsCommandList_SetPredication, list,
                            ObjectPointer(buffer), uint64_t{4096}, D3D12_PREDICATION_OP_EQUAL_ZERO),
                "8 bytes at 4096 of resource 4, which has 4096");
}

// ---- Tiles ----

// Tiles of 128 x 128 texels: 2 x 2 of them in each of two slices.
class TilesTest : public testing::Test {
 protected:
  TilesTest() {
    queue_ = script_.CreateQueue();
    list_ = script_.CreateList();
    buffer_ = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 8 * 65536);
    texture_ = script_.CreateTexture(TextureDesc(256, 256, 1, 2), /*reserved=*/true);
    D3D12_HEAP_DESC heap = {};
    heap.SizeInBytes = 4 * 65536;
    heap.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
    heap_ = script_.Create(Method::ID3D12Device_CreateHeap, Chain::kID3D12Heap, &heap,
                           __uuidof(ID3D12Heap));
    size_.NumTiles = 2;
  }
  uint64_t Copy(uint64_t offset_bytes = 0) {
    return script_.Call(Method::ID3D12GraphicsCommandList_CopyTiles, list_, ObjectPointer(texture_),
                        &at_, &size_, ObjectPointer(buffer_), offset_bytes,
                        D3D12_TILE_COPY_FLAG_NONE);
  }
  uint64_t Map(D3D12_TILE_RANGE_FLAGS flags, uint32_t offset, uint32_t count, uint64_t heap) {
    return script_.Call(Method::ID3D12CommandQueue_UpdateTileMappings, queue_,
                        ObjectPointer(texture_), 1u, &at_, &size_, ObjectPointer(heap), 1u, &flags,
                        &offset, &count, D3D12_TILE_MAPPING_FLAG_NONE);
  }

  HostileScript script_;
  uint64_t queue_;
  uint64_t list_;
  uint64_t buffer_;
  uint64_t texture_;
  uint64_t heap_;
  D3D12_TILED_RESOURCE_COORDINATE at_ = {};
  D3D12_TILE_REGION_SIZE size_ = {};
};

TEST_F(TilesTest, WhatFitsIsMade) {
  at_ = {0, 1, 0, 1};
  Copy(6 * 65536);
  Map(D3D12_TILE_RANGE_FLAG_NONE, 2, 2, heap_);
  Map(D3D12_TILE_RANGE_FLAG_NULL, 0, 2, 0);
  ExpectPlayed(&script_);
}

// The player writes contents on a queue of its own.
TEST_F(TilesTest, ContentsComeAfterTheMappings) {
  Map(D3D12_TILE_RANGE_FLAG_NONE, 2, 2, heap_);
  const std::vector<std::byte> bytes(4);
  script_.trace.Add(RecordKind::kContents, buffer_,
                    BodyBytes(ContentsBody{0, D3D12_RESOURCE_STATE_COMMON, 0, 0, bytes.size()},
                              BodyBytes(static_cast<uint32_t>(bytes.size()), bytes)));
  const uint64_t before = FakeOvertakenMappings();
  ExpectPlayed(&script_);
  EXPECT_EQ(FakeOvertakenMappings(), before);
}

TEST_F(TilesTest, BehindTheResource) {
  at_ = {1, 1, 0, 1};
  ExpectRefused(&script_, Copy(),
                "2 tiles at 1, 1, 0 of subresource 1 of resource 100, which has 8");
}

TEST_F(TilesTest, PlaceBehindTheEdge) {
  at_.X = 2;
  ExpectRefused(&script_, Copy(), "2 tiles at 2, 0, 0 of subresource 0");
}

TEST_F(TilesTest, BoxBehindTheEdge) {
  at_.X = 1;
  size_ = {2, TRUE, 2, 1, 1};
  ExpectRefused(&script_, Copy(), "2 tiles at 1, 0, 0 of subresource 0");
}

TEST_F(TilesTest, SubresourceThatIsNone) {
  at_.Subresource = 2;
  ExpectRefused(&script_, Copy(), "subresource 2 of resource 100, which has 2");
}

TEST_F(TilesTest, BehindTheBuffer) {
  ExpectRefused(&script_, Copy(7 * 65536),
                "131072 bytes at 458752 of resource 5, which has 524288");
}

TEST_F(TilesTest, BehindTheHeap) {
  ExpectRefused(&script_, Map(D3D12_TILE_RANGE_FLAG_NONE, 3, 2, heap_),
                "2 tiles from 3 on of a heap that has 4");
}

TEST_F(TilesTest, WithoutAHeap) {
  ExpectRefused(&script_, Map(D3D12_TILE_RANGE_FLAG_NONE, 0, 2, 0),
                "2 tiles from 0 on of a heap that has 0");
}

// Maps the tiles that both sides have: the device aborts for others.
TEST_F(TilesTest, AsManyTilesAsBothSidesHave) {
  Map(D3D12_TILE_RANGE_FLAG_NONE, 0, 1, heap_);
  Map(D3D12_TILE_RANGE_FLAG_NONE, 0, 3, heap_);
  const D3D12_TILED_RESOURCE_COORDINATE places[] = {{0, 0, 0, 0}, {0, 1, 0, 0}};
  const D3D12_TILE_REGION_SIZE sizes[] = {{1, FALSE, 0, 0, 0}, {2, FALSE, 0, 0, 0}};
  const UINT offsets[] = {0, 1, 0};
  const UINT counts[] = {1, 1, 2};
  for (const UINT ranges : {1u, 2u, 3u}) {
    script_.Call(Method::ID3D12CommandQueue_UpdateTileMappings, queue_, ObjectPointer(texture_), 2u,
                 places, sizes, ObjectPointer(heap_), ranges, nullptr, offsets, counts,
                 D3D12_TILE_MAPPING_FLAG_NONE);
  }
  ExpectPlayed(&script_);
}

TEST_F(TilesTest, BoxWithMoreTilesThanTheRanges) {
  size_ = {2, TRUE, 2, 1, 1};
  Map(D3D12_TILE_RANGE_FLAG_NONE, 0, 1, heap_);
  ExpectLeftOut(&script_, "its ranges of the heap have 1 tiles, its regions more");
}

TEST_F(TilesTest, MappingsOfAnotherPlace) {
  const D3D12_TILED_RESOURCE_COORDINATE to = {1, 1, 0, 1};
  ExpectRefused(
      &script_,
      script_.Call(Method::ID3D12CommandQueue_CopyTileMappings, queue_, ObjectPointer(texture_),
                   &to, ObjectPointer(texture_), &at_, &size_, D3D12_TILE_MAPPING_FLAG_NONE),
      "2 tiles at 1, 1, 0 of subresource 1");
}

}  // namespace
}  // namespace cairn
