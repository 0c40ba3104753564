// SPDX-License-Identifier: Apache-2.0
//
// Looks like a hang: the third dispatch of the second pass takes longer than the watchdog waits. It
// ends by itself, so nothing needs a reboot.
#include <fmt/format.h>

#include "vulkan_slow_work.h"

namespace {

constexpr uint32_t kWords = 1024;

void Run(const sample::Options& options, double seconds) {
  sample::Device device("sample-hang-vulkan", options);
  const sample::SlowWork slow = sample::CreateSlowWork(device, "Integrate", seconds);
  const sample::Buffer buffer = device.CreateBuffer(kWords);
  const sample::Pipeline fill = sample::CreateFillPipeline(device, buffer);

  const sample::List list = device.BeginList(device.graphics(), "Main");
  {
    sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    {
      sample::Scope pass(list, CAIRN_MARKER_PASS, "Prepare");
      sample::DispatchFill(list, "Clear", fill, {0, 0, kWords});
      sample::DispatchFill(list, "Upload", fill, {1, 0, kWords});
    }
    {
      sample::Scope pass(list, CAIRN_MARKER_PASS, "Simulate");
      sample::DispatchFill(list, "Forces", fill, {2, 0, kWords});
      sample::DispatchFill(list, "Collisions", fill, {3, 0, kWords});
      sample::Dispatch(list, "Integrate", slow.pipeline, &slow.constants, sizeof(slow.constants),
                       slow.group_count);
    }
    {
      sample::Scope pass(list, CAIRN_MARKER_PASS, "Resolve");
      sample::DispatchFill(list, "Resolve", fill, {4, 0, kWords});
    }
  }
  device.EndList(list);
  fmt::print("sample-hang-vulkan: dispatch \"Integrate\" runs for about {} s\n", seconds);
  std::fflush(stdout);
  device.WaitOrReportLoss(device.Submit(device.graphics(), {list}), seconds * 4 + 30);
  if (!sample::Filled(buffer, {4, 0, kWords})) sample::Fail("the last dispatch is wrong");
  fmt::print("sample-hang-vulkan: it is over, and everything after it was done\n");
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
