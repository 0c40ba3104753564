// SPDX-License-Identifier: Apache-2.0
//
// One dispatch stores far outside of its buffer, through a view that claims more elements than the
// buffer has. On lavapipe that is a SIGSEGV in a thread of the driver; on a GPU a page fault, or
// nothing where views are checked.
#include <fmt/format.h>

#include "d3d12_work.h"
#include "d3d12abi/aggregates.h"
#include "embedded/fault.cs.dxbc.h"

namespace {

constexpr uint32_t kWords = 1024;

struct FaultConstants {
  uint32_t index;
  uint32_t value;
};

void Scatter(sample::List& list, const char* name, const sample::Pipeline& pipeline,
             ID3D12DescriptorHeap* views, const FaultConstants& constants) {
  list->SetDescriptorHeaps(1, &views);
  list.SetPipeline(pipeline);
  list->SetComputeRoot32BitConstants(0, 2, &constants, 0);
  list->SetComputeRootDescriptorTable(1, cairn::GetGpuStart(views));
  {
    const sample::Scope dispatch(list, CAIRN_MARKER_DISPATCH, name);
    list->Dispatch(1, 1, 1);
  }
  list.Barrier();
}

void Run(const sample::Options& options, uint32_t index) {
  sample::Gpu gpu("sample-fault-d3d12", options);
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  const sample::Buffer buffer = gpu.CreateBuffer(kWords);
  const sample::Pipeline fill = sample::CreateFillPipeline(gpu);
  const sample::Pipeline scatter = sample::CreateComputePipeline(
      gpu, "Scatter", {"ScatterCS", kFaultCsDxbc, sizeof(kFaultCsDxbc)}, 2, sample::Output::kTyped);
  const auto views = sample::CreateTooLargeView(gpu, buffer);

  sample::List list(gpu, queue, "Main");
  list.Begin();
  {
    const sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Prepare");
      sample::DispatchFill(list, "Clear", fill, buffer, {0, 0, kWords});
    }
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Particles");
      Scatter(list, "Scatter to a buffer", scatter, views.get(), {0, 7});
      Scatter(list, "Scatter to nowhere", scatter, views.get(), {index, 7});
    }
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Resolve");
      sample::DispatchFill(list, "Resolve", fill, buffer, {1, 0, kWords});
    }
  }
  list.End();
  fmt::print("sample-fault-d3d12: dispatch \"Scatter to nowhere\" stores at word {} of {}\n", index,
             kWords);
  std::fflush(stdout);
  queue.Execute({&list});
  queue.WaitOrReportLoss(10);
  fmt::print("sample-fault-d3d12: this device ignored the store\n");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Dispatches a store far outside of its buffer.");
  sample::Options options;
  sample::AddOptions(line, &options);
  uint32_t index = sample::kClaimedWords - 1;
  line.Number("--index", &index, 0u, sample::kClaimedWords - 1, "where to store, in 32-bit words");
  line.Read(argc, argv);
  Run(options, index);
  return 0;
}
