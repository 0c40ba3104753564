// SPDX-License-Identifier: Apache-2.0
//
// Kills itself in the middle of a frame: the first submission has finished, the second is at work in
// its second dispatch. Nothing in the process gets a chance to write a report; the watcher does.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "d3d12_work.h"
#include "sudden_end.h"

namespace {

constexpr uint32_t kWords = 1024;
constexpr uint32_t kSlot = 3;
constexpr uint64_t kReached = 0x600d;

void RecordFirst(sample::List& list, const sample::Pipeline& fill, const sample::Buffer& buffer) {
  list.Begin();
  {
    const sample::Scope pass(list, CAIRN_MARKER_PASS, "Cascades");
    for (uint32_t i = 0; i < 4; ++i) {
      sample::DispatchFill(list, nullptr, fill, buffer, {i, 0, kWords});
    }
  }
  list.End();
}

// The raw marker is written once the second dispatch's own breadcrumb has been.
void RecordSecond(const sample::Gpu& gpu, sample::List& list, const sample::Pipeline& fill,
                  const sample::Buffer& buffer, const sample::SlowWork& slow) {
  list.Begin();
  {
    const sample::Scope pass(list, CAIRN_MARKER_PASS, "Lighting");
    sample::DispatchFill(list, "Tiles", fill, buffer, {4, 0, kWords});
    slow.Bind(list);
    {
      const sample::Scope dispatch(list, CAIRN_MARKER_DISPATCH, "Global illumination");
      gpu.telling().WriteMarker(list.d3d12(), kSlot, kReached);
      slow.Dispatch(list);
    }
    list.Barrier();
    sample::DispatchFill(list, "Tone mapping", fill, buffer, {5, 0, kWords});
  }
  list.End();
}

// True once the GPU is at work in the second dispatch; false if that takes more than ten seconds.
bool WaitUntilReached(const sample::Gpu& gpu, const sample::SlowWork& slow) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    if (slow.Started() && gpu.telling().MarkerArrived(kSlot, kReached)) return true;
    std::this_thread::yield();
  }
  return false;
}

void Run(sample::Options options, double seconds) {
  options.raw_marker_count = kSlot + 1;
  sample::Gpu gpu("sample-killed-d3d12", options);
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  const sample::SlowWork slow(gpu, queue, "Global illumination", seconds);
  const sample::Buffer buffer = gpu.CreateBuffer(kWords);
  const sample::Pipeline fill = sample::CreateFillPipeline(gpu);
  sample::List first(gpu, queue, "Shadows");
  sample::List second(gpu, queue, "Main");
  RecordFirst(first, fill, buffer);
  RecordSecond(gpu, second, fill, buffer, slow);
  queue.Execute({&first});
  queue.WaitOrReportLoss(20);
  slow.ForgetResults();
  queue.Execute({&second});
  if (!WaitUntilReached(gpu, slow)) sample::Fail("the second submission was not reached in 10 s");
  if (queue.Finished()) {
    sample::Fail("the second submission finished before the kill; use more --seconds");
  }
  fmt::print("sample-killed-d3d12: killed in the middle of \"Global illumination\"\n");
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
