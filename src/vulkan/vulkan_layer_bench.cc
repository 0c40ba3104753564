// SPDX-License-Identifier: Apache-2.0
//
// What the layer adds to a command while it is recorded. Bare: the function behind the layer, called
// straight; the command is a fill, which needs no pipeline. On a driver without VK_AMD_buffer_marker (lavapipe) most of `top` and `full` is the driver's own
// time for the writes: a fill with its barriers for each. `silent` is the layer alone, noted and not
// written.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "breadcrumbs/command_list.h"
#include "vulkan/test_loader.h"

namespace cairn {
namespace {

constexpr int kCommandsPerBuffer = 2000;

enum class Way { kBare, kOff, kSilent, kTop, kFull };

struct Device {
  TestLoader loader;
  VkBuffer buffer = VK_NULL_HANDLE;
};

Device& DeviceFor(Way way) {
  static std::mutex mutex;
  static std::unique_ptr<Device> devices[3];
  const std::lock_guard lock(mutex);
  auto& device = devices[way == Way::kOff ? 0 : way == Way::kFull ? 1 : 2];
  if (device != nullptr) return *device;
  device = std::make_unique<Device>();
  const MarkerMode mode = way == Way::kOff    ? MarkerMode::kOff
                          : way == Way::kFull ? MarkerMode::kFull
                                              : MarkerMode::kTop;
  if (const Status status = device->loader.Create(mode); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }
  device->buffer = device->loader.MakeBuffer();
  return *device;
}

// A thread records into a buffer of its own, begun anew from time to time.
void Record(benchmark::State& bench, Way way) {
  Device& device = DeviceFor(way);
  TestLoader& loader = device.loader;
  const VkCommandBuffer commands = loader.Allocate();
  const auto command = way == Way::kBare
                           ? reinterpret_cast<PFN_vkCmdFillBuffer>(loader.Next("vkCmdFillBuffer"))
                           : loader.Get<PFN_vkCmdFillBuffer>("vkCmdFillBuffer");
  int left = 0;
  for (auto _ : bench) {
    if (left == 0) {
      bench.PauseTiming();
      loader.Begin(commands);
      if (way == Way::kSilent) CommandBufferOf(commands)->open->SetSilent(true);
      left = kCommandsPerBuffer;
      bench.ResumeTiming();
    }
    command(commands, device.buffer, 0, 64, 7);
    --left;
  }
  loader.End(commands);
  bench.SetItemsProcessed(bench.iterations());
}

void BM_Bare(benchmark::State& bench) {
  Record(bench, Way::kBare);
}
void BM_Off(benchmark::State& bench) {
  Record(bench, Way::kOff);
}
void BM_Silent(benchmark::State& bench) {
  Record(bench, Way::kSilent);
}
void BM_Top(benchmark::State& bench) {
  Record(bench, Way::kTop);
}
void BM_Full(benchmark::State& bench) {
  Record(bench, Way::kFull);
}
BENCHMARK(BM_Bare);
BENCHMARK(BM_Off);
BENCHMARK(BM_Silent);
BENCHMARK(BM_Silent)->Threads(2);
BENCHMARK(BM_Top);
BENCHMARK(BM_Full);

// What one look-up of the state costs.
void BM_CommandBufferOf(benchmark::State& bench) {
  VkCommandBuffer commands = DeviceFor(Way::kTop).loader.Allocate();
  for (auto _ : bench) {
    benchmark::DoNotOptimize(commands);
    benchmark::DoNotOptimize(CommandBufferOf(commands));
  }
}
BENCHMARK(BM_CommandBufferOf);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
