// SPDX-License-Identifier: Apache-2.0
//
// Kills itself in the middle of a frame: the first submission has finished, the second is at work in
// its second dispatch. Nothing in the process gets a chance to write a report; the watcher does.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "sudden_end.h"
#include "vulkan_slow_work.h"

namespace {

constexpr uint32_t kWords = 1024;
constexpr uint32_t kSlot = 3;
constexpr uint64_t kReached = 0x600d;

sample::List RecordFirst(sample::Device& device, const sample::Pipeline& fill) {
  const sample::List list = device.BeginList(device.graphics(), "Shadows");
  {
    sample::Scope pass(list, CAIRN_MARKER_PASS, "Cascades");
    for (uint32_t i = 0; i < 4; ++i) sample::DispatchFill(list, nullptr, fill, {i, 0, kWords});
  }
  device.EndList(list);
  return list;
}

// If the sample reports by libcairn, a raw marker is written once the second dispatch's own
// breadcrumb has been.
sample::List RecordSecond(sample::Device& device, const sample::Pipeline& fill,
                          const sample::SlowWork& slow) {
  const sample::List list = device.BeginList(device.graphics(), "Main");
  {
    sample::Scope pass(list, CAIRN_MARKER_PASS, "Lighting");
    sample::DispatchFill(list, "Tiles", fill, {4, 0, kWords});
    sample::BindForDispatch(list, slow.pipeline, &slow.constants, sizeof(slow.constants));
    {
      sample::Scope dispatch(list, CAIRN_MARKER_DISPATCH, "Global illumination");
      device.telling().WriteMarker(list.commands, kSlot, kReached);
      vkCmdDispatch(list.commands, slow.group_count, 1, 1);
    }
    sample::BarrierAfterDispatch(list);
    sample::DispatchFill(list, "Tone mapping", fill, {5, 0, kWords});
  }
  device.EndList(list);
  return list;
}

// True once the GPU has written the raw marker; false if that takes more than ten seconds.
bool WaitUntilReached(const sample::Device& device) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    if (device.telling().MarkerArrived(kSlot, kReached)) return true;
    std::this_thread::yield();
  }
  return false;
}

void Run(const sample::Options& options, double seconds) {
  sample::Device device("sample-killed-vulkan", options);
  const sample::SlowWork slow = sample::CreateSlowWork(device, "Global illumination", seconds);
  const sample::Buffer buffer = device.CreateBuffer(kWords);
  const sample::Pipeline fill = sample::CreateFillPipeline(device, buffer);
  const sample::List first = RecordFirst(device, fill);
  const sample::List second = RecordSecond(device, fill, slow);
  const VkFence first_done = device.Submit(device.graphics(), {first});
  const VkFence second_done = device.Submit(device.graphics(), {second});
  device.WaitOrReportLoss(first_done, 20);
  if (!WaitUntilReached(device)) sample::Fail("the second submission was not reached in 10 s");
  if (device.Wait(second_done, 0)) {
    sample::Fail("the second submission finished before the kill; use more --seconds");
  }
  fmt::print("sample-killed-vulkan: killed in the middle of \"Global illumination\"\n");
  std::fflush(stdout);
  sample::EndSuddenly();
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Kills itself while the GPU is at work on its second submission.");
  sample::Options options;
  sample::AddOptions(line, &options);
  double seconds = 5;
  line.Number("--seconds", &seconds, 0.1, 600.0, "how long the GPU is at work, about");
  line.Read(argc, argv);
  Run(options, seconds);
  return 0;
}
