// SPDX-License-Identifier: Apache-2.0
//
// Looks like a hang: the third dispatch of the second pass takes longer than the watchdog waits. It
// ends by itself, so nothing needs a reboot.
#include <fmt/format.h>

#include "d3d12_work.h"

namespace {

constexpr uint32_t kWords = 1024;

void Run(const sample::Options& options, double seconds) {
  sample::Gpu gpu("sample-hang-d3d12", options);
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  const sample::SlowWork slow(gpu, queue, "Integrate", seconds);
  const sample::Buffer buffer = gpu.CreateBuffer(kWords);
  const sample::Pipeline fill = sample::CreateFillPipeline(gpu);

  sample::List list(gpu, queue, "Main");
  list.Begin();
  {
    const sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Prepare");
      sample::DispatchFill(list, "Clear", fill, buffer, {0, 0, kWords});
      sample::DispatchFill(list, "Upload", fill, buffer, {1, 0, kWords});
    }
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Simulate");
      sample::DispatchFill(list, "Forces", fill, buffer, {2, 0, kWords});
      sample::DispatchFill(list, "Collisions", fill, buffer, {3, 0, kWords});
      slow.Bind(list);
      const sample::Scope dispatch(list, CAIRN_MARKER_DISPATCH, "Integrate");
      slow.Dispatch(list);
    }
    list.Barrier();
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Resolve");
      sample::DispatchFill(list, "Resolve", fill, buffer, {4, 0, kWords});
    }
  }
  list.End();
  fmt::print("sample-hang-d3d12: dispatch \"Integrate\" runs for about {} s\n", seconds);
  std::fflush(stdout);
  queue.Execute({&list});
  queue.WaitOrReportLoss(seconds * 4 + 30);
  if (!sample::Filled(buffer, {4, 0, kWords})) sample::Fail("the last dispatch is wrong");
  fmt::print("sample-hang-d3d12: it is over, and everything after it was done\n");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Submits a dispatch that outlasts the watchdog, and ends.");
  sample::Options options;
  sample::AddOptions(line, &options);
  double seconds = 15;
  line.Number("--seconds", &seconds, 0.1, 600.0, "how long the dispatch takes, about");
  line.Read(argc, argv);
  Run(options, seconds);
  return 0;
}
