// SPDX-License-Identifier: Apache-2.0
//
// What the layer adds to a command while it is recorded. Bare: the function behind the layer, called
// straight; the command is a fill, which needs no pipeline. On a driver without VK_AMD_buffer_marker
// (lavapipe) most of `top` and `full` is the driver's own time for the writes: a fill with its barriers
// for each. `silent` is the layer alone, noted and not written.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "app/breadcrumbs/command_list.h"
#include "app/vulkan/testing/test_loader.h"

namespace cairn {
namespace {

constexpr int kCommandsPerBuffer = 2000;

enum class Way { kBare, kBareTop, kBareFull, kOff, kSilent, kTop, kFull };

// What the method of drivers without buffer markers records for one write at the top, and at the bottom:
// the targets are counted from these.
void WriteBare(const DeviceFunctions& vk, VkCommandBuffer commands, VkBuffer buffer, bool bottom) {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  if (bottom) {
    vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                          VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  }
  vk.CmdFillBuffer(commands, buffer, 128, 4, 1);
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT;
  vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                        VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier,
                        0, nullptr, 0, nullptr);
}

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
  const DeviceFunctions& vk = loader.state().vk;
  const bool bare = way == Way::kBare || way == Way::kBareTop || way == Way::kBareFull;
  const auto command = bare ? reinterpret_cast<PFN_vkCmdFillBuffer>(loader.Next("vkCmdFillBuffer"))
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
    if (way == Way::kBareTop || way == Way::kBareFull) {
      WriteBare(vk, commands, device.buffer, false);
    }
    command(commands, device.buffer, 0, 64, 7);
    if (way == Way::kBareFull) WriteBare(vk, commands, device.buffer, true);
    --left;
  }
  loader.End(commands);
  bench.SetItemsProcessed(bench.iterations());
}

void BM_Bare(benchmark::State& bench) {
  Record(bench, Way::kBare);
}
void BM_BareTop(benchmark::State& bench) {
  Record(bench, Way::kBareTop);
}
void BM_BareFull(benchmark::State& bench) {
  Record(bench, Way::kBareFull);
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
BENCHMARK(BM_Bare)->Threads(2);
BENCHMARK(BM_BareTop);
BENCHMARK(BM_BareFull);
BENCHMARK(BM_Off);
BENCHMARK(BM_Silent);
BENCHMARK(BM_Silent)->Threads(2);
BENCHMARK(BM_Top);
BENCHMARK(BM_Top)->Threads(2);
BENCHMARK(BM_Full);

// A barrier, noted without a write; with `flags`, where it was measured what barriers drain.
void RecordBarriers(benchmark::State& bench, bool bare, const WitnessFlags* flags) {
  Device& device = DeviceFor(Way::kTop);
  TestLoader& loader = device.loader;
  const VkCommandBuffer commands = loader.Allocate();
  CommandBufferOf(commands)->witnesses = flags;
  constexpr char kName[] = "vkCmdPipelineBarrier";
  const auto barrier = bare ? reinterpret_cast<PFN_vkCmdPipelineBarrier>(loader.Next(kName))
                            : loader.Get<PFN_vkCmdPipelineBarrier>(kName);
  const VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                  VK_ACCESS_MEMORY_WRITE_BIT,
                                  VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
  int left = 0;
  for (auto _ : bench) {
    if (left == 0) {
      bench.PauseTiming();
      loader.Begin(commands);
      CommandBufferOf(commands)->open->SetSilent(true);
      left = kCommandsPerBuffer;
      bench.ResumeTiming();
    }
    barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
            &memory, 0, nullptr, 0, nullptr);
    --left;
  }
  loader.End(commands);
}
void BM_BareBarrier(benchmark::State& bench) {
  RecordBarriers(bench, true, nullptr);
}
void BM_Barrier(benchmark::State& bench) {
  RecordBarriers(bench, false, nullptr);
}
void BM_WitnessBarrier(benchmark::State& bench) {
  WitnessFlags flags;
  flags.barriers.fill(kEventDrains);
  RecordBarriers(bench, false, &flags);
}
BENCHMARK(BM_BareBarrier);
BENCHMARK(BM_Barrier);
BENCHMARK(BM_WitnessBarrier);

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
