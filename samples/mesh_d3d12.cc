// SPDX-License-Identifier: Apache-2.0
//
// Triangles that nobody stored: an amplification shader asks for groups of a mesh shader, which make them. With --fault
// the step of the mesh shader's loop is 0, and it never ends.
#include <fmt/format.h>

#include "d3d12_device.h"
#include "embedded/cells.as.dxil.h"
#include "embedded/cells.ms.dxil.h"
#include "embedded/cells.ps.dxil.h"

namespace {

constexpr uint32_t kSize = 128;
constexpr uint32_t kColumns = 8;
constexpr uint32_t kLast = 16;
constexpr uint32_t kGreen = kLast * (kLast - 1) / 2;
// llvmpipe ends each loop after 65,535 trips: a hang there takes many groups.
constexpr uint32_t kRowsOfFault = 60000;

// A part of what ID3D12Device2::CreatePipelineState takes.
template <D3D12_PIPELINE_STATE_SUBOBJECT_TYPE kType, typename T>
struct alignas(void*) Part {
  D3D12_PIPELINE_STATE_SUBOBJECT_TYPE type = kType;
  T value = {};
};

struct MeshPipelineDesc {
  Part<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_ROOT_SIGNATURE, ID3D12RootSignature*> root_signature;
  Part<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_AS, D3D12_SHADER_BYTECODE> amplification;
  Part<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_MS, D3D12_SHADER_BYTECODE> mesh;
  Part<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_PS, D3D12_SHADER_BYTECODE> pixel;
  Part<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_RASTERIZER, D3D12_RASTERIZER_DESC> rasterizer;
  Part<D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_RENDER_TARGET_FORMATS, D3D12_RT_FORMAT_ARRAY> targets;
};

void NeedMeshShaders(ID3D12Device* device) {
  D3D12_FEATURE_DATA_D3D12_OPTIONS7 options = {};
  if (FAILED(
          device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS7, &options, sizeof(options))) ||
      options.MeshShaderTier < D3D12_MESH_SHADER_TIER_1) {
    sample::Lack("mesh shaders");
  }
}

sample::Pipeline CreateMeshPipeline(sample::Gpu& gpu) {
  const auto device = sample::Newer<ID3D12Device2>(gpu.device());
  sample::Pipeline pipeline;
  pipeline.root_signature = sample::CreateRootSignature(gpu.device(), 2, nullptr);
  MeshPipelineDesc desc;
  desc.root_signature.value = pipeline.root_signature.get();
  desc.amplification.value = {kCellsAsDxil, sizeof(kCellsAsDxil)};
  desc.mesh.value = {kCellsMsDxil, sizeof(kCellsMsDxil)};
  desc.pixel.value = {kCellsPsDxil, sizeof(kCellsPsDxil)};
  desc.rasterizer.value.FillMode = D3D12_FILL_MODE_SOLID;
  desc.rasterizer.value.CullMode = D3D12_CULL_MODE_NONE;
  desc.rasterizer.value.DepthClipEnable = TRUE;
  desc.targets.value.NumRenderTargets = 1;
  desc.targets.value.RTFormats[0] = DXGI_FORMAT_R8G8B8A8_UNORM;
  const D3D12_PIPELINE_STATE_STREAM_DESC stream = {sizeof(desc), &desc};
  sample::Check(
      device->CreatePipelineState(&stream, __uuidof(ID3D12PipelineState), pipeline.state.Receive()),
      "CreatePipelineState");
  pipeline.told = gpu.telling().Name(pipeline.state.get(), "Cells", {.pixel = "CellsPS"});
  return pipeline;
}

void Record(sample::List& list, const sample::Pipeline& pipeline, sample::Picture& picture,
            bool fault) {
  const uint32_t constants[] = {kLast, fault ? 0u : 1u};
  const auto mesh_list = sample::Newer<ID3D12GraphicsCommandList6>(list.d3d12());
  list.Begin();
  {
    const sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Cells");
      picture.Begin(list);
      list.SetPipeline(pipeline);
      list->SetGraphicsRoot32BitConstants(0, 2, constants, 0);
      const sample::Scope work(list, CAIRN_MARKER_DISPATCH_MESH);
      mesh_list->DispatchMesh(fault ? kRowsOfFault : kColumns, 1, 1);
    }
    picture.CopyToCpu(list);
  }
  list.End();
}

void CheckPicture(const sample::Picture& picture) {
  constexpr uint32_t kCell = kSize / kColumns;
  for (uint32_t cell = 0; cell < kColumns * kColumns; ++cell) {
    const uint32_t left = cell % kColumns * kCell;
    const uint32_t top = cell / kColumns * kCell;
    const uint32_t pixel = picture.Pixel(left + kCell / 2, top + kCell / 2);
    if (pixel != (0xffff0000 | kGreen << 8 | cell) || picture.Pixel(left, top) != 0xff000000) {
      sample::Fail(fmt::format("cell {} is wrong: {:#x}", cell, pixel));
    }
  }
}

void Run(const sample::Options& options, bool fault, const std::string& path) {
  sample::Gpu gpu("sample-mesh-d3d12", options, D3D_SHADER_MODEL_6_0);
  NeedMeshShaders(gpu.device());
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  sample::Picture picture(gpu, kSize, kSize);
  const sample::Pipeline pipeline = CreateMeshPipeline(gpu);
  sample::List list(gpu, queue, "Main");
  Record(list, pipeline, picture, fault);
  queue.Execute({&list});
  queue.WaitOrReportLoss(fault ? 600 : 20);
  if (fault) {
    fmt::print("sample-mesh-d3d12: this device ends loops that have no end\n");
    return;
  }
  CheckPicture(picture);
  if (const std::string error = path.empty() ? "" : picture.WritePng(path); !error.empty()) {
    sample::Fail(error);
  }
  fmt::print("sample-mesh-d3d12: {} triangles of a mesh shader are correct\n", kColumns * kColumns);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Draws triangles that a mesh shader makes.");
  sample::Options options;
  sample::AddOptions(line, &options);
  bool fault = false;
  std::string path;
  line.Flag("--fault", &fault, "let the mesh shader loop for ever");
  line.Text("--output", &path, "a PNG to write");
  line.Read(argc, argv);
  Run(options, fault, path);
  return 0;
}
