// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/pipeline_stages.h"

#include <gtest/gtest.h>

#include <thread>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

// The head of a container: its hash begins with this byte.
struct Code {
  explicit Code(uint8_t first) : bytes{'D', 'X', 'B', 'C', first, 0, 0, 0, 0, 0, 0, 0x42} {}
  D3D12_SHADER_BYTECODE shader() const { return {bytes, sizeof(bytes)}; }
  uint64_t hash() const { return uint64_t{bytes[4]} << 56 | 0x42; }

  const uint8_t bytes[12];
};

// A sub-object as d3dx12.h declares it.
template <D3D12_PIPELINE_STATE_SUBOBJECT_TYPE kType, typename Content>
struct alignas(void*) Subobject {
  D3D12_PIPELINE_STATE_SUBOBJECT_TYPE type = kType;
  Content content = {};
};
using MeshShader = Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_MS, D3D12_SHADER_BYTECODE>;
using PixelShader = Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_PS, D3D12_SHADER_BYTECODE>;

// Returns the code that the layer below sees while the implementation makes the pipeline.
template <typename Desc>
PipelineCode SeenWith(const Desc& desc) {
  PipelineCode seen{};
  void* pipeline = nullptr;
  const HRESULT result = CreateWithStages(&desc, &pipeline, [&seen](void**) {
    for (uint32_t stage = 0; stage < kStageCount; ++stage) {
      seen[stage] = PipelineCodeScope::CodeOf(static_cast<ShaderStage>(stage));
    }
    std::thread([] { EXPECT_EQ(PipelineCodeScope::CodeOf(kStagePixel), 0u); }).join();
    return E_FAIL;
  });
  EXPECT_EQ(result, E_FAIL);
  EXPECT_EQ(PipelineCodeScope::CodeOf(kStagePixel), 0u);
  return seen;
}

TEST(PipelineStages, TheLayerBelowKnowsTheCodeOfEachStage) {
  const Code vertex(1), pixel(2), compute(3);
  D3D12_GRAPHICS_PIPELINE_STATE_DESC graphics = {};
  graphics.VS = vertex.shader();
  graphics.PS = pixel.shader();
  PipelineCode expected{};
  expected[kStageVertex] = vertex.hash();
  expected[kStagePixel] = pixel.hash();
  EXPECT_EQ(SeenWith(graphics), expected);
  D3D12_COMPUTE_PIPELINE_STATE_DESC of_compute = {};
  of_compute.CS = compute.shader();
  expected = {};
  expected[kStageCompute] = compute.hash();
  EXPECT_EQ(SeenWith(of_compute), expected);
  // Bytes that are no container have no hash.
  of_compute.CS = {"garbage that is no shader", 25};
  EXPECT_EQ(SeenWith(of_compute), PipelineCode{});
}

TEST(PipelineStages, StreamsAreReadAsFarAsTheirTypesAreKnown) {
  const Code mesh(4), pixel(5);
  struct {
    Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_MASK, UINT> mask;
    MeshShader mesh;
    Subobject<static_cast<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE>(1234), uint64_t> unknown;
    PixelShader pixel;
  } stream;
  stream.mesh.content = mesh.shader();
  stream.pixel.content = pixel.shader();
  D3D12_PIPELINE_STATE_STREAM_DESC desc = {sizeof(stream), &stream};
  PipelineCode expected{};
  expected[kStageMesh] = mesh.hash();
  EXPECT_EQ(SeenWith(desc), expected);
  // The end lies within the shader.
  desc.SizeInBytes = sizeof(stream.mask) + sizeof(stream.mesh) - 1;
  EXPECT_EQ(SeenWith(desc), PipelineCode{});
  desc.pPipelineStateSubobjectStream = nullptr;
  EXPECT_EQ(SeenWith(desc), PipelineCode{});
}

TEST(PipelineStages, TheTargetsOfAPipelineAreItsDescription) {
  D3D12_GRAPHICS_PIPELINE_STATE_DESC graphics = {};
  graphics.NumRenderTargets = 2;
  graphics.RTVFormats[0] = DXGI_FORMAT_R16G16B16A16_FLOAT;
  graphics.RTVFormats[1] = DXGI_FORMAT_R8G8B8A8_UNORM;
  graphics.DSVFormat = DXGI_FORMAT_D32_FLOAT;
  const PipelineDescription expected = {.tells_targets = true,
                                        .target_count = 2,
                                        .first_target_format = DXGI_FORMAT_R16G16B16A16_FLOAT,
                                        .depth_format = DXGI_FORMAT_D32_FLOAT};
  EXPECT_EQ(DescriptionOf(&graphics), expected);
  EXPECT_EQ(UnpackPipelineDescription(PackDescription(expected)), expected);
  graphics.NumRenderTargets = 4711;  // a program's mistake: no more than eight are read
  EXPECT_EQ(DescriptionOf(&graphics).first_target_format,
            static_cast<uint32_t>(DXGI_FORMAT_R16G16B16A16_FLOAT));
  EXPECT_EQ(DescriptionOf(static_cast<const D3D12_COMPUTE_PIPELINE_STATE_DESC*>(nullptr)),
            PipelineDescription{});

  struct {
    Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_RENDER_TARGET_FORMATS, D3D12_RT_FORMAT_ARRAY>
        targets;
    Subobject<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_DEPTH_STENCIL_FORMAT, DXGI_FORMAT> depth;
  } stream;
  stream.targets.content.NumRenderTargets = 2;
  stream.targets.content.RTFormats[1] = DXGI_FORMAT_R16G16B16A16_FLOAT;  // the first is not there
  stream.depth.content = DXGI_FORMAT_D32_FLOAT;
  D3D12_PIPELINE_STATE_STREAM_DESC desc = {sizeof(stream), &stream};
  EXPECT_EQ(DescriptionOf(&desc), expected);
  desc.SizeInBytes = sizeof(stream.targets) - 1;
  EXPECT_EQ(DescriptionOf(&desc), PipelineDescription{});
}

TEST(PipelineStages, ScopesNest) {
  PipelineCode outer{}, inner{};
  outer[kStagePixel] = 1;
  inner[kStagePixel] = 2;
  const PipelineCodeScope around(outer);
  {
    const PipelineCodeScope within(inner);
    EXPECT_EQ(PipelineCodeScope::CodeOf(kStagePixel), 2u);
  }
  EXPECT_EQ(PipelineCodeScope::CodeOf(kStagePixel), 1u);
  EXPECT_EQ(PipelineCodeScope::CodeOf(kStageVertex), 0u);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
