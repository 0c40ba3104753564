// SPDX-License-Identifier: Apache-2.0
//
// Work whose arguments the GPU writes: a dispatch decides which cells are drawn and what is filled, and two
// ExecuteIndirect with root constants do it. With --fault it leaves the arguments of one dispatch unwritten, so that
// what the memory held before, 0xFEFEFEFE, is where it stores and how many groups it has. With --increments a constant that
// counts the draws is among the arguments, and is their blue.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "d3d12_device.h"
#include "embedded/cell.ps.dxil.h"
#include "embedded/cell.vs.dxil.h"
#include "embedded/fill.cs.dxil.h"
#include "embedded/write_arguments.cs.dxil.h"

namespace {

constexpr uint32_t kSize = 128;
constexpr uint32_t kColumns = 8;
constexpr uint32_t kCells = kColumns * kColumns;
constexpr uint32_t kCommandWords = 5;  // of a draw and of a dispatch, with their root constants
constexpr uint32_t kCountWord = kCells * kCommandWords;
constexpr uint32_t kDispatchesWord = kCountWord + 4;
constexpr uint32_t kDispatches = 4;
constexpr uint32_t kArgumentWords = kDispatchesWord + kDispatches * kCommandWords;
constexpr uint32_t kUnwritten = 0xFEFEFEFE;
constexpr uint32_t kFaultyDispatch = 2;
constexpr uint32_t kGroupSize = 64;
// D3D12_INDIRECT_ARGUMENT_TYPE_INCREMENTING_CONSTANT, younger than the headers of Debian 12.
constexpr auto kIncrementingConstant = static_cast<D3D12_INDIRECT_ARGUMENT_TYPE>(11);

// Commands that set root constants and then draw or dispatch; with `counted` the constant behind these is the number of
// the command.
sample::ComPtr<ID3D12CommandSignature> CreateSignature(ID3D12Device* device,
                                                       const sample::Pipeline& pipeline,
                                                       uint32_t constant_count, bool counted,
                                                       D3D12_INDIRECT_ARGUMENT_TYPE work) {
  std::array<D3D12_INDIRECT_ARGUMENT_DESC, 3> arguments = {};
  uint32_t count = 0;
  arguments[count].Type = D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT;
  arguments[count++].Constant.Num32BitValuesToSet = constant_count;
  if (counted) {
    arguments[count].Type = kIncrementingConstant;
    arguments[count++].Constant.DestOffsetIn32BitValues = constant_count;
  }
  arguments[count++].Type = work;
  D3D12_COMMAND_SIGNATURE_DESC desc = {};
  desc.ByteStride = kCommandWords * sizeof(uint32_t);
  desc.NumArgumentDescs = count;
  desc.pArgumentDescs = arguments.data();
  sample::ComPtr<ID3D12CommandSignature> signature;
  const HRESULT result = device->CreateCommandSignature(
      &desc, pipeline.root_signature.get(), __uuidof(ID3D12CommandSignature), signature.Receive());
  if (result == E_NOTIMPL) sample::Lack("root constants among indirect arguments");
  if (result == E_INVALIDARG && counted) {
    sample::Lack("incrementing constants among indirect arguments");
  }
  sample::Check(result, "CreateCommandSignature");
  return signature;
}

struct Scene {
  Scene(sample::Gpu& gpu, bool increments)
      : write(sample::CreateComputePipeline(
            gpu, "Write arguments",
            {"WriteArgumentsCS", kWriteArgumentsCsDxil, sizeof(kWriteArgumentsCsDxil)}, 1,
            sample::Output::kRaw)),
        draw(sample::CreateGraphicsPipeline(gpu, "Cell",
                                            {"CellVS", kCellVsDxil, sizeof(kCellVsDxil)},
                                            {"CellPS", kCellPsDxil, sizeof(kCellPsDxil)}, 2)),
        fill(sample::CreateComputePipeline(
            gpu, "Fill", {"FillCS", kFillCsDxil, sizeof(kFillCsDxil)}, 2, sample::Output::kRaw)),
        draws(
            CreateSignature(gpu.device(), draw, 1, increments, D3D12_INDIRECT_ARGUMENT_TYPE_DRAW)),
        dispatches(
            CreateSignature(gpu.device(), fill, 2, false, D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH)),
        before(gpu.CreateUploadBuffer(kArgumentWords)),
        arguments(gpu.CreateGpuBuffer(kArgumentWords)),
        results(gpu.CreateBuffer(kDispatches * kGroupSize)),
        picture(gpu, kSize, kSize) {
    for (uint32_t i = 0; i < kArgumentWords; ++i) before.words[i] = kUnwritten;
    before.words[kCountWord] = 0;
    sample::SetName(arguments.resource.get(), "Arguments");
    sample::SetName(results.resource.get(), "Results");
  }
  sample::Pipeline write;
  sample::Pipeline draw;
  sample::Pipeline fill;
  sample::ComPtr<ID3D12CommandSignature> draws;
  sample::ComPtr<ID3D12CommandSignature> dispatches;
  sample::Buffer before;
  sample::Buffer arguments;
  sample::Buffer results;
  sample::Picture picture;
};

void WriteArguments(sample::List& list, const Scene& scene, uint32_t unwritten) {
  const sample::Scope pass(list, CAIRN_MARKER_PASS, "Write arguments");
  ID3D12Resource* const arguments = scene.arguments.resource.get();
  list->CopyResource(arguments, scene.before.resource.get());
  sample::Transition(list, arguments, D3D12_RESOURCE_STATE_COPY_DEST,
                     D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  list.SetPipeline(scene.write);
  list->SetComputeRoot32BitConstants(0, 1, &unwritten, 0);
  list->SetComputeRootUnorderedAccessView(1, arguments->GetGPUVirtualAddress());
  {
    const sample::Scope dispatch(list, CAIRN_MARKER_DISPATCH);
    list->Dispatch(1, 1, 1);
  }
  sample::Transition(list, arguments, D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                     D3D12_RESOURCE_STATE_INDIRECT_ARGUMENT);
}

void Record(sample::List& list, Scene& scene, uint32_t unwritten) {
  ID3D12Resource* const arguments = scene.arguments.resource.get();
  list.Begin();
  {
    const sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    WriteArguments(list, scene, unwritten);
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Draw what is visible");
      scene.picture.Begin(list);
      list.SetPipeline(scene.draw);
      const uint32_t constants[] = {0, 0};
      list->SetGraphicsRoot32BitConstants(0, 2, constants, 0);
      const sample::Scope work(list, CAIRN_MARKER_EXECUTE_INDIRECT);
      list->ExecuteIndirect(scene.draws.get(), kCells, arguments, 0, arguments,
                            kCountWord * sizeof(uint32_t));
    }
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Fill what was asked for");
      list.SetPipeline(scene.fill);
      list->SetComputeRootUnorderedAccessView(1, scene.results.resource->GetGPUVirtualAddress());
      const sample::Scope work(list, CAIRN_MARKER_EXECUTE_INDIRECT);
      list->ExecuteIndirect(scene.dispatches.get(), kDispatches, arguments,
                            kDispatchesWord * sizeof(uint32_t), nullptr, 0);
    }
    scene.picture.CopyToCpu(list);
  }
  list.End();
}

void CheckResults(const Scene& scene, bool increments) {
  constexpr uint32_t kCell = kSize / kColumns;
  for (uint32_t cell = 0; cell < kCells; ++cell) {
    const uint32_t pixel = scene.picture.Pixel(cell % kColumns * kCell + kCell / 2,
                                               cell / kColumns * kCell + kCell / 2);
    const uint32_t draw = cell - (cell + 2) / 3;
    const uint32_t visible = 0xff00ff00 | cell | (increments ? draw << 16 : 0);
    const uint32_t expected = cell % 3 == 0 ? 0xff000000 : visible;
    if (pixel != expected) sample::Fail(fmt::format("cell {} is wrong: {:#x}", cell, pixel));
  }
  for (uint32_t i = 0; i < scene.results.word_count; ++i) {
    if (scene.results.words[i] != (i / kGroupSize + 1) * 1000 + i % kGroupSize) {
      sample::Fail(fmt::format("word {} is wrong: {:#x}", i, scene.results.words[i]));
    }
  }
}

void Run(const sample::Options& options, bool fault, bool increments, const std::string& path) {
  sample::Gpu gpu("sample-indirect-d3d12", options, D3D_SHADER_MODEL_6_0);
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  Scene scene(gpu, increments);
  sample::List list(gpu, queue, "Main");
  Record(list, scene, fault ? kFaultyDispatch : kUnwritten);
  queue.Execute({&list});
  queue.WaitOrReportLoss(20);
  if (fault) {
    fmt::print(
        "sample-indirect-d3d12: this device ignored the arguments that the dispatch did not "
        "write\n");
    return;
  }
  CheckResults(scene, increments);
  if (const std::string error = path.empty() ? "" : scene.picture.WritePng(path); !error.empty()) {
    sample::Fail(error);
  }
  fmt::print(
      "sample-indirect-d3d12: draws and dispatches of the GPU's own arguments are correct\n");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Draws and dispatches what a dispatch before has asked for.");
  sample::Options options;
  sample::AddOptions(line, &options);
  bool fault = false;
  bool increments = false;
  std::string path;
  line.Flag("--fault", &fault, "leave the arguments of one dispatch unwritten");
  line.Flag("--increments", &increments, "count the draws in a constant among the arguments");
  line.Text("--output", &path, "a PNG to write");
  line.Read(argc, argv);
  Run(options, fault, increments, path);
  return 0;
}
