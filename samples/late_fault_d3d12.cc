// SPDX-License-Identifier: Apache-2.0
//
// A fault whose cause is not where it shows: a dispatch writes an index that is far too large, and does
// nothing wrong by that; a dispatch of a later submission stores at that index, outside of its buffer. On
// lavapipe that kills the process. Breadcrumbs name the one; without the other it would be as innocent:
// `cairn bisect` names both.
#include <fmt/format.h>

#include <algorithm>

#include "d3d12_work.h"
#include "d3d12abi/aggregates.h"
#include "embedded/fault.cs.dxbc.h"

namespace {

constexpr uint32_t kWords = 1024;

// fault.cs finds the index and the value that it stores in memory that the GPU wrote.
sample::ComPtr<ID3D12RootSignature> CreateRootSignature(ID3D12Device* device) {
  D3D12_DESCRIPTOR_RANGE range = {};
  range.RangeType = D3D12_DESCRIPTOR_RANGE_TYPE_UAV;
  range.NumDescriptors = 1;
  D3D12_ROOT_PARAMETER parameters[2] = {};
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_CBV;
  parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE;
  parameters[1].DescriptorTable.NumDescriptorRanges = 1;
  parameters[1].DescriptorTable.pDescriptorRanges = &range;
  D3D12_ROOT_SIGNATURE_DESC desc = {};
  desc.NumParameters = 2;
  desc.pParameters = parameters;
  return sample::CreateRootSignature(device, desc);
}

sample::Pipeline CreateScatterPipeline(sample::Gpu& gpu) {
  return sample::CreateComputePipeline(gpu, "Scatter",
                                       {"ScatterCS", kFaultCsDxbc, sizeof(kFaultCsDxbc)},
                                       CreateRootSignature(gpu.device()));
}

struct Scene {
  sample::Pipeline fill;
  sample::Pipeline scatter;
  sample::Buffer particles;
  sample::Buffer indices;
  sample::ComPtr<ID3D12DescriptorHeap> views;
};

void Scatter(sample::List& list, const Scene& scene) {
  ID3D12DescriptorHeap* const heap = scene.views.get();
  list->SetDescriptorHeaps(1, &heap);
  list.SetPipeline(scene.scatter);
  list->SetComputeRootConstantBufferView(0, scene.indices.resource->GetGPUVirtualAddress());
  list->SetComputeRootDescriptorTable(1, cairn::GetGpuStart(heap));
  {
    const sample::Scope dispatch(list, CAIRN_MARKER_DISPATCH, "Scatter");
    list->Dispatch(1, 1, 1);
  }
  list.Barrier();
}

// One frame: a submission that emits, and one that scatters to where it was told.
void Frame(sample::Gpu& gpu, sample::Queue& queue, const Scene& scene, uint32_t index) {
  sample::List simulation(gpu, queue, "Simulation");
  simulation.Begin();
  {
    const sample::Scope pass(simulation, CAIRN_MARKER_PASS, "Simulate");
    sample::DispatchFill(simulation, "Clear", scene.fill, scene.particles, {0, 0, kWords});
    sample::DispatchFill(simulation, "Emit", scene.fill, scene.indices, {index, 0, 1});
    sample::DispatchFill(simulation, "Forces", scene.fill, scene.particles, {2, 0, kWords});
  }
  simulation.End();
  sample::List drawing(gpu, queue, "Particles");
  drawing.Begin();
  {
    const sample::Scope pass(drawing, CAIRN_MARKER_PASS, "Particles");
    sample::DispatchFill(drawing, "Sort", scene.fill, scene.particles, {3, 0, kWords});
    Scatter(drawing, scene);
    sample::DispatchFill(drawing, "Resolve", scene.fill, scene.particles, {4, 0, kWords});
  }
  drawing.End();
  queue.Execute({&simulation});
  queue.Execute({&drawing});
  queue.WaitOrReportLoss(10);
}

// A buffer that only the GPU writes from here on: in a capture, what it writes into mapped memory looks like what the
// program writes there, and "Scatter" would fail alone. Zeros, because an implementation may leave in it what was
// there before, and without "Emit" the index would be that.
sample::Buffer CreateZeros(sample::Gpu& gpu) {
  sample::Buffer buffer = gpu.CreateBuffer(kWords);
  std::fill_n(buffer.words, kWords, 0u);
  buffer.resource->Unmap(0, nullptr);
  buffer.words = nullptr;
  return buffer;
}

void Run(const sample::Options& options, uint32_t index) {
  sample::Gpu gpu("sample-late-fault-d3d12", options);
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  Scene scene;
  scene.fill = sample::CreateFillPipeline(gpu);
  scene.scatter = CreateScatterPipeline(gpu);
  scene.particles = gpu.CreateBuffer(kWords);
  scene.indices = CreateZeros(gpu);
  scene.views = sample::CreateTooLargeView(gpu, scene.particles);
  for (const uint32_t good : {0u, 1u, 2u}) Frame(gpu, queue, scene, good);
  fmt::print(
      "sample-late-fault-d3d12: dispatch \"Emit\" says word {} of {}, \"Scatter\" stores there\n",
      index, kWords);
  std::fflush(stdout);
  Frame(gpu, queue, scene, index);
  fmt::print("sample-late-fault-d3d12: this device ignored the store\n");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line(
      "Writes an index in one submission, and stores there, far outside, in the next.");
  sample::Options options;
  sample::AddOptions(line, &options);
  uint32_t index = sample::kClaimedWords - 1;
  line.Number("--index", &index, 0u, sample::kClaimedWords - 1, "where to store, in 32-bit words");
  line.Read(argc, argv);
  Run(options, index);
  return 0;
}
