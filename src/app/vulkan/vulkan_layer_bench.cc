// SPDX-License-Identifier: Apache-2.0
//
// Measures the layer's cost for a command while it is recorded. Bare: the function behind the
// layer, called straight; the command is a fill, which needs no pipeline. On a driver without
// VK_AMD_buffer_marker (lavapipe) most of `top` and `full` is the driver's own time for the writes:
// a fill with its barriers for each. `silent` is the layer alone, noted and not written.
#include <benchmark/benchmark.h>

#include <array>
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

// Records the commands of the method for drivers without buffer markers, for one write at the top
// or at the bottom: the targets are counted from these.
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

// Calls record(commands, N) again and again, N counting down; each time that it starts anew the buffer is begun anew,
// and on_begin(commands) is called.
template <typename OnBegin, typename RecordOne>
void RecordAgain(benchmark::State& bench, TestLoader& loader, const OnBegin& on_begin,
                 const RecordOne& record) {
  const VkCommandBuffer commands = loader.Allocate();
  int left = 0;
  for (auto _ : bench) {
    if (left == 0) {
      bench.PauseTiming();
      loader.Begin(commands);
      on_begin(commands);
      left = kCommandsPerBuffer;
      bench.ResumeTiming();
    }
    record(commands, left);
    --left;
  }
  loader.End(commands);
}

constexpr auto kNothing = [](VkCommandBuffer) {};

// A thread records into a buffer of its own.
void Record(benchmark::State& bench, Way way) {
  Device& device = DeviceFor(way);
  TestLoader& loader = device.loader;
  const DeviceFunctions& vk = loader.state().vk;
  const bool bare = way == Way::kBare || way == Way::kBareTop || way == Way::kBareFull;
  const auto command = bare ? reinterpret_cast<PFN_vkCmdFillBuffer>(loader.Next("vkCmdFillBuffer"))
                            : loader.vk().CmdFillBuffer;
  const auto on_begin = [&](VkCommandBuffer commands) {
    if (way == Way::kSilent) CommandBufferOf(commands)->open->SetSilent(true);
  };
  RecordAgain(bench, loader, on_begin, [&](VkCommandBuffer commands, int) {
    if (way == Way::kBareTop || way == Way::kBareFull) {
      WriteBare(vk, commands, device.buffer, false);
    }
    command(commands, device.buffer, 0, 64, 7);
    if (way == Way::kBareFull) WriteBare(vk, commands, device.buffer, true);
  });
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
  TestLoader& loader = DeviceFor(Way::kTop).loader;
  constexpr char kName[] = "vkCmdPipelineBarrier";
  const auto barrier = bare ? reinterpret_cast<PFN_vkCmdPipelineBarrier>(loader.Next(kName))
                            : loader.Get<PFN_vkCmdPipelineBarrier>(kName);
  const VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                  VK_ACCESS_MEMORY_WRITE_BIT,
                                  VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
  const auto on_begin = [&](VkCommandBuffer commands) {
    CommandBufferOf(commands)->witnesses = flags;
    CommandBufferOf(commands)->open->SetSilent(true);
  };
  RecordAgain(bench, loader, on_begin, [&](VkCommandBuffer commands, int) {
    barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
            &memory, 0, nullptr, 0, nullptr);
  });
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

// A set with four storage buffers, and what binds it. `off` is the driver alone.
struct Sets {
  explicit Sets(Device& device) : loader(device.loader), buffer(device.buffer) {
    const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4,
                                                  VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.bindingCount = 1;
    info.pBindings = &binding;
    loader.vk().CreateDescriptorSetLayout(loader.device(), &info, nullptr, &layout);
    VkPipelineLayoutCreateInfo pipeline_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    pipeline_info.setLayoutCount = 1;
    pipeline_info.pSetLayouts = &layout;
    loader.vk().CreatePipelineLayout(loader.device(), &pipeline_info, nullptr, &pipeline_layout);
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 8};
    VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool_info.maxSets = 2;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    loader.vk().CreateDescriptorPool(loader.device(), &pool_info, nullptr, &pool);
    Allocate();
  }
  void Allocate() {
    const VkDescriptorSetLayout layouts[] = {layout, layout};
    VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    info.descriptorPool = pool;
    info.descriptorSetCount = 2;
    info.pSetLayouts = layouts;
    loader.vk().AllocateDescriptorSets(loader.device(), &info, sets);
  }

  TestLoader& loader;
  VkBuffer buffer;
  VkDescriptorSetLayout layout = VK_NULL_HANDLE;
  VkPipelineLayout pipeline_layout = VK_NULL_HANDLE;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  VkDescriptorSet sets[2] = {};
};

// The device keeps it, like the buffers.
Sets& SetsFor(Way way) {
  static std::unique_ptr<Sets> sets[2];
  auto& of_way = sets[way == Way::kOff ? 0 : 1];
  if (of_way == nullptr) of_way = std::make_unique<Sets>(DeviceFor(way));
  return *of_way;
}

// Each call binds another set than the one before, or the same.
void BindSets(benchmark::State& bench, Way way, bool changes) {
  Sets& sets = SetsFor(way);
  const auto bind = sets.loader.vk().CmdBindDescriptorSets;
  RecordAgain(bench, sets.loader, kNothing, [&](VkCommandBuffer commands, int left) {
    bind(commands, VK_PIPELINE_BIND_POINT_COMPUTE, sets.pipeline_layout, 0, 1,
         &sets.sets[changes ? left & 1 : 0], 0, nullptr);
  });
}
void BM_BindSetOff(benchmark::State& bench) {
  BindSets(bench, Way::kOff, true);
}
void BM_BindSetTop(benchmark::State& bench) {
  BindSets(bench, Way::kTop, true);
}
void BM_BindSameSetTop(benchmark::State& bench) {
  BindSets(bench, Way::kTop, false);
}
BENCHMARK(BM_BindSetOff);
BENCHMARK(BM_BindSetTop);
BENCHMARK(BM_BindSameSetTop);

// Each call binds another vertex buffer than the one before, or the same.
void BindVertexBuffers(benchmark::State& bench, Way way, bool changes) {
  Device& device = DeviceFor(way);
  TestLoader& loader = device.loader;
  static std::array<VkBuffer, 2> seconds{};
  VkBuffer& second = seconds[way == Way::kOff ? 0 : 1];
  if (second == VK_NULL_HANDLE) second = loader.MakeBuffer();
  const VkBuffer buffers[] = {device.buffer, second};
  const auto bind = loader.vk().CmdBindVertexBuffers;
  const VkDeviceSize offset = 0;
  RecordAgain(bench, loader, kNothing, [&](VkCommandBuffer commands, int left) {
    bind(commands, 0, 1, &buffers[changes ? left & 1 : 0], &offset);
  });
}
void BM_BindVertexBufferOff(benchmark::State& bench) {
  BindVertexBuffers(bench, Way::kOff, true);
}
void BM_BindVertexBufferTop(benchmark::State& bench) {
  BindVertexBuffers(bench, Way::kTop, true);
}
void BM_BindSameVertexBufferTop(benchmark::State& bench) {
  BindVertexBuffers(bench, Way::kTop, false);
}
BENCHMARK(BM_BindVertexBufferOff);
BENCHMARK(BM_BindVertexBufferTop);
BENCHMARK(BM_BindSameVertexBufferTop);

void UpdateSets(benchmark::State& bench, Way way) {
  Sets& sets = SetsFor(way);
  const auto update = sets.loader.vk().UpdateDescriptorSets;
  const VkDescriptorBufferInfo info = {sets.buffer, 0, VK_WHOLE_SIZE};
  const VkDescriptorBufferInfo infos[] = {info, info, info, info};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = sets.sets[0];
  write.descriptorCount = 4;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = infos;
  for (auto _ : bench) update(sets.loader.device(), 1, &write, 0, nullptr);
}
void BM_UpdateFourDescriptorsOff(benchmark::State& bench) {
  UpdateSets(bench, Way::kOff);
}
void BM_UpdateFourDescriptorsTop(benchmark::State& bench) {
  UpdateSets(bench, Way::kTop);
}
BENCHMARK(BM_UpdateFourDescriptorsOff);
BENCHMARK(BM_UpdateFourDescriptorsTop);

// Two sets, as programs do that make them anew for each frame.
void ResetAndAllocate(benchmark::State& bench, Way way) {
  Sets& sets = SetsFor(way);
  const auto reset = sets.loader.vk().ResetDescriptorPool;
  for (auto _ : bench) {
    reset(sets.loader.device(), sets.pool, 0);
    sets.Allocate();
  }
}
void BM_AllocateTwoSetsOff(benchmark::State& bench) {
  ResetAndAllocate(bench, Way::kOff);
}
void BM_AllocateTwoSetsTop(benchmark::State& bench) {
  ResetAndAllocate(bench, Way::kTop);
}
BENCHMARK(BM_AllocateTwoSetsOff);
BENCHMARK(BM_AllocateTwoSetsTop);

void MakeBuffers(benchmark::State& bench, Way way) {
  TestLoader& loader = DeviceFor(way).loader;
  const auto create = loader.vk().CreateBuffer;
  const auto destroy = loader.vk().DestroyBuffer;
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = 256;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  for (auto _ : bench) {
    VkBuffer buffer = VK_NULL_HANDLE;
    create(loader.device(), &info, nullptr, &buffer);
    destroy(loader.device(), buffer, nullptr);
  }
}
void BM_MakeAndDestroyBufferOff(benchmark::State& bench) {
  MakeBuffers(bench, Way::kOff);
}
void BM_MakeAndDestroyBufferTop(benchmark::State& bench) {
  MakeBuffers(bench, Way::kTop);
}
BENCHMARK(BM_MakeAndDestroyBufferOff);
BENCHMARK(BM_MakeAndDestroyBufferTop);

// Measures one look-up of the state.
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
