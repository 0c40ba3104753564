// SPDX-License-Identifier: Apache-2.0
#include "app/d3d11/resource_descriptions.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

template <typename Desc>
ObjectDescription DescriptionOf(const Desc& desc) {
  return UnpackDescription(FactsOf(&desc).description);
}

TEST(ResourceDescriptions, BuffersHaveTheirSizeAndWhatTheyAreBoundAs) {
  D3D11_BUFFER_DESC desc = {};
  desc.ByteWidth = 65536;
  desc.BindFlags = D3D11_BIND_VERTEX_BUFFER | D3D11_BIND_INDEX_BUFFER;
  EXPECT_EQ(FactsOf(&desc).size_bytes, 65536u);
  EXPECT_EQ(DescriptionOf(desc), (ObjectDescription{.shape = ObjectShape::kBuffer,
                                                    .uses = kUsedAsVertices | kUsedAsIndices}));
  desc.BindFlags = D3D11_BIND_UNORDERED_ACCESS;
  desc.MiscFlags = D3D11_RESOURCE_MISC_DRAWINDIRECT_ARGS;
  EXPECT_EQ(DescriptionOf(desc).uses, kUsedAsStorage | kUsedAsArguments);
  desc.MiscFlags = 0;
  desc.BindFlags = D3D11_BIND_CONSTANT_BUFFER;
  EXPECT_EQ(DescriptionOf(desc).uses, kUsedAsConstants);
  desc.BindFlags = 0;
  desc.Usage = D3D11_USAGE_STAGING;
  desc.CPUAccessFlags = D3D11_CPU_ACCESS_READ | D3D11_CPU_ACCESS_WRITE;
  EXPECT_EQ(DescriptionOf(desc).uses, kUsedAsReadback);
  desc.CPUAccessFlags = D3D11_CPU_ACCESS_WRITE;
  EXPECT_EQ(DescriptionOf(desc).uses, kUsedAsUpload);
}

TEST(ResourceDescriptions, TexturesHaveTheirShapeAndFormat) {
  D3D11_TEXTURE1D_DESC line = {};
  line.Width = 256;
  line.ArraySize = 3;
  line.Format = DXGI_FORMAT_R8_UNORM;
  EXPECT_EQ(DescriptionOf(line), (ObjectDescription{.shape = ObjectShape::kTexture1D,
                                                    .format = DXGI_FORMAT_R8_UNORM,
                                                    .width = 256,
                                                    .height = 1,
                                                    .layers = 3}));
  D3D11_TEXTURE2D_DESC1 picture = {};
  picture.Width = 1920;
  picture.Height = 1080;
  picture.ArraySize = 1;
  picture.Format = DXGI_FORMAT_R16G16B16A16_FLOAT;
  picture.BindFlags = D3D11_BIND_RENDER_TARGET | D3D11_BIND_SHADER_RESOURCE;
  EXPECT_EQ(DescriptionOf(picture), (ObjectDescription{.shape = ObjectShape::kTexture2D,
                                                       .uses = kUsedAsTarget,
                                                       .format = DXGI_FORMAT_R16G16B16A16_FLOAT,
                                                       .width = 1920,
                                                       .height = 1080,
                                                       .layers = 1}));
  D3D11_TEXTURE2D_DESC depth = {};
  depth.Width = depth.Height = 512;
  depth.ArraySize = 4;
  depth.Format = DXGI_FORMAT_D32_FLOAT;
  depth.BindFlags = D3D11_BIND_DEPTH_STENCIL;
  EXPECT_EQ(DescriptionOf(depth).uses, kUsedAsDepth);
  EXPECT_EQ(DescriptionOf(depth).layers, 4u);
  D3D11_TEXTURE3D_DESC fog = {};
  fog.Width = 160;
  fog.Height = 90;
  fog.Depth = 64;
  fog.BindFlags = D3D11_BIND_UNORDERED_ACCESS;
  EXPECT_EQ(DescriptionOf(fog), (ObjectDescription{.shape = ObjectShape::kTexture3D,
                                                   .uses = kUsedAsStorage,
                                                   .width = 160,
                                                   .height = 90,
                                                   .layers = 64}));
}

TEST(ResourceDescriptions, WithoutADescriptionNothingIsKnown) {
  EXPECT_EQ(FactsOf(static_cast<const D3D11_TEXTURE2D_DESC*>(nullptr)).description, 0u);
  EXPECT_EQ(FactsOf(static_cast<const D3D11_BUFFER_DESC*>(nullptr)).description, 0u);
}

}  // namespace
}  // namespace cairn
