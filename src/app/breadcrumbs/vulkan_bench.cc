// SPDX-License-Identifier: Apache-2.0
//
// Measures the Vulkan backend: recording a pair of writes beside the bare API calls, and, on
// devices that are not a CPU, the GPU's time for the writes of each mode for every dispatch. Skips
// methods that the device lacks. Compare the modes of one device only: two devices of one process
// were seen at 166 and 545 ns for the same bare dispatch on an NVIDIA H200, whatever extensions
// they had enabled.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <vulkan/vulkan.h>

#include <cstdio>
#include <memory>
#include <string>

#include "app/breadcrumbs/testing/vulkan_test_device.h"
#include "app/breadcrumbs/vulkan_compute.h"
#include "app/breadcrumbs/vulkan_memory.h"
#include "embedded/fill.comp.spv.h"

namespace cairn {
namespace {

constexpr int kPairsPerCommandBuffer = 4096;
constexpr uint32_t kDispatches = 1000;
constexpr uint32_t kDispatchesPerPass = 20;

// A device with some extensions, and a backend on it.
class BenchDevice {
 public:
  Status Create(const std::vector<std::string>& extensions) {
    CAIRN_RETURN_IF_ERROR(device_.Create(extensions, /*validation=*/false));
    Result<VulkanTestRegion> region = VulkanTestRegion::Create(64, 64);
    if (!region.ok()) return region.status();
    region_ = std::move(*region);
    backend_ = CreateVulkanBackend(device_.params());
    CAIRN_RETURN_IF_ERROR(backend_->Initialize(region_.region, &description_));
    Result<VulkanDevice> opened = OpenVulkanDevice(device_.params());
    if (!opened.ok()) return opened.status();
    opened_ = std::make_unique<VulkanDevice>(std::move(*opened));
    Result<VulkanBuffer> buffer = VulkanBuffer::CreateHostVisible(*opened_, kPageBytes);
    if (!buffer.ok()) return buffer.status();
    buffer_ = std::move(*buffer);
    commands_ = device_.Begin(device_.main_family());
    return commands_ != VK_NULL_HANDLE ? Status()
                                       : Status(StatusCode::kUnsupported, "no command buffer");
  }

  bool has_markers() const { return opened_->vk.CmdWriteBufferMarkerAMD != nullptr; }
  bool on_cpu() const { return opened_->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }

  VulkanTestDevice& device() { return device_; }
  const VulkanFunctions& vk() const { return opened_->vk; }
  const VulkanDevice& opened() const { return *opened_; }
  Backend& backend() { return *backend_; }
  const BackendDescription& description() const { return description_; }
  VkCommandBuffer commands() const { return commands_; }
  VkBuffer buffer() const { return buffer_.buffer(); }

  BackendList List() const {
    BackendList list;
    list.native = commands_;
    list.slot = 1;
    return list;
  }

 private:
  VulkanTestDevice device_;
  VulkanTestRegion region_;
  BackendDescription description_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<VulkanDevice> opened_;
  VulkanBuffer buffer_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

// Times `record`, which records one pair, in command buffers of a size that programs have.
template <typename Record>
void MeasureRecording(benchmark::State& state, BenchDevice& bench, Record record) {
  int recorded = 0;
  bench.device().Restart(bench.commands());
  for (auto _ : state) {
    record();
    if (++recorded < kPairsPerCommandBuffer) continue;
    state.PauseTiming();
    recorded = 0;
    bench.device().End(bench.commands());
    bench.device().Restart(bench.commands());
    state.ResumeTiming();
  }
  bench.device().End(bench.commands());
}

void BareFillPair(benchmark::State& state, BenchDevice* bench) {
  uint32_t value = 0;
  MeasureRecording(state, *bench, [&] {
    bench->vk().CmdFillBuffer(bench->commands(), bench->buffer(), 0, 4, ++value);
    bench->vk().CmdFillBuffer(bench->commands(), bench->buffer(), 4, 4, value);
  });
}

void BareMarkerPair(benchmark::State& state, BenchDevice* bench) {
  uint32_t value = 0;
  MeasureRecording(state, *bench, [&] {
    bench->vk().CmdWriteBufferMarkerAMD(bench->commands(), VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                        bench->buffer(), 0, ++value);
    bench->vk().CmdWriteBufferMarkerAMD(bench->commands(), VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                        bench->buffer(), 4, value);
  });
}

void BackendPair(benchmark::State& state, BenchDevice* bench) {
  BackendList list = bench->List();
  uint32_t value = 0;
  MeasureRecording(state, *bench, [&] {
    bench->backend().WriteProgress(list, WordKind::kReached, PipeLocation::kTop, ++value);
    bench->backend().WriteProgress(list, WordKind::kPassed, PipeLocation::kBottom, value);
  });
}

void BackendRawPair(benchmark::State& state, BenchDevice* bench) {
  uint64_t value = 0;
  MeasureRecording(state, *bench, [&] {
    const Status top = bench->backend().WriteRaw(bench->commands(), PipeLocation::kTop, 0, ++value);
    const Status bottom =
        bench->backend().WriteRaw(bench->commands(), PipeLocation::kBottom, 1, value);
    if (!top.ok() || !bottom.ok()) state.SkipWithError("no raw markers");
  });
}

// fill.comp on a buffer of its own: small dispatches that do not depend on one another.
class SmallDispatch {
 public:
  explicit SmallDispatch(BenchDevice& bench) : device_(bench.device().device()) {}

  ~SmallDispatch() {
    vkDestroyQueryPool(device_, queries_, nullptr);
    compute_.Destroy(vk_, device_);
    vkDestroyBuffer(device_, buffer_, nullptr);
    vkFreeMemory(device_, memory_, nullptr);
  }

  bool Create(const VulkanDevice& opened) { return CreateBuffer(opened) && CreatePipeline(); }

  void Bind(VkCommandBuffer commands) const {
    vkCmdResetQueryPool(commands, queries_, 0, 2);
    compute_.Bind(vk_, commands);
  }

  void Dispatch(VkCommandBuffer commands, uint32_t index) const {
    const uint32_t constants[] = {index, index * 64, 64};
    vkCmdPushConstants(commands, compute_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       sizeof(constants), constants);
    vkCmdDispatch(commands, 1, 1, 1);
  }

  void Timestamp(VkCommandBuffer commands, uint32_t query) const {
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, query);
  }

  uint64_t Ticks() const {
    uint64_t ticks[2] = {};
    vkGetQueryPoolResults(device_, queries_, 0, 2, sizeof(ticks), ticks, sizeof(ticks[0]),
                          VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    return ticks[1] - ticks[0];
  }

 private:
  bool CreateBuffer(const VulkanDevice& opened) {
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = kDispatches * 64 * sizeof(uint32_t);
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    if (vkCreateBuffer(device_, &info, nullptr, &buffer_) != VK_SUCCESS) return false;
    VkMemoryRequirements needs = {};
    vkGetBufferMemoryRequirements(device_, buffer_, &needs);
    VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocation.allocationSize = needs.size;
    for (uint32_t i = 0; i < opened.memory_properties.memoryTypeCount; ++i) {
      const VkMemoryPropertyFlags flags = opened.memory_properties.memoryTypes[i].propertyFlags;
      const bool local = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
      if (local && (needs.memoryTypeBits >> i & 1) != 0) allocation.memoryTypeIndex = i;
    }
    return vkAllocateMemory(device_, &allocation, nullptr, &memory_) == VK_SUCCESS &&
           vkBindBufferMemory(device_, buffer_, memory_, 0) == VK_SUCCESS;
  }

  bool CreatePipeline() {
    LoadDeviceFunctions(device_, vkGetDeviceProcAddr, &vk_);
    if (!compute_
             .Create(vk_, device_, kFillCompSpv, sizeof(kFillCompSpv), buffer_,
                     3 * sizeof(uint32_t))
             .ok()) {
      return false;
    }
    VkQueryPoolCreateInfo queries = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
    queries.queryCount = 2;
    return vkCreateQueryPool(device_, &queries, nullptr, &queries_) == VK_SUCCESS;
  }

  VkDevice device_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  DeviceFunctions vk_;
  VulkanCompute compute_;
  VkQueryPool queries_ = VK_NULL_HANDLE;
};

enum class Writes { kNone, kTop, kPass, kFull };

void RecordFrame(BenchDevice& bench, const SmallDispatch& work, Writes writes) {
  BackendList list = bench.List();
  Backend& backend = bench.backend();
  work.Bind(bench.commands());
  work.Timestamp(bench.commands(), 0);
  for (uint32_t i = 0; i < kDispatches; ++i) {
    if (writes != Writes::kNone) {
      backend.WriteProgress(list, WordKind::kReached, PipeLocation::kTop, i);
    }
    work.Dispatch(bench.commands(), i);
    const bool pass_ends = i % kDispatchesPerPass == kDispatchesPerPass - 1;
    if (writes == Writes::kFull || (writes == Writes::kPass && pass_ends)) {
      backend.WriteProgress(list, WordKind::kPassed, PipeLocation::kBottom, i);
    }
  }
  work.Timestamp(bench.commands(), 1);
}

// GPU time of one dispatch, from timestamps around a thousand of them.
void GpuDispatch(benchmark::State& state, BenchDevice* bench, Writes writes) {
  SmallDispatch work(*bench);
  if (!work.Create(bench->opened())) {
    state.SkipWithError("the dispatch could not be set up");
    return;
  }
  const uint32_t family = bench->device().main_family();
  const double tick_ns = bench->opened().properties.limits.timestampPeriod;
  for (auto _ : state) {
    bench->device().Restart(bench->commands());
    RecordFrame(*bench, work, writes);
    bench->device().End(bench->commands());
    if (bench->device().Submit(family, bench->commands()) != VK_SUCCESS ||
        bench->device().Wait(family) != VK_SUCCESS) {
      state.SkipWithError("the device did not finish");
      return;
    }
    state.SetIterationTime(static_cast<double>(work.Ticks()) * tick_ns * 1e-9 / kDispatches);
  }
}

void RegisterGpu(const std::string& prefix, BenchDevice* bench) {
  if (bench->on_cpu()) return;
  const std::pair<const char*, Writes> modes[] = {{"none", Writes::kNone},
                                                  {"top", Writes::kTop},
                                                  {"pass", Writes::kPass},
                                                  {"full", Writes::kFull}};
  for (const auto& [name, writes] : modes) {
    benchmark::RegisterBenchmark(fmt::format("VulkanGpuDispatch/{}/{}", prefix, name).c_str(),
                                 GpuDispatch, bench, writes)
        ->UseManualTime()
        ->Iterations(50);
  }
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  BenchDevice fills;
  BenchDevice markers;
  Status status = fills.Create({VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME});
  if (status.ok()) {
    status = markers.Create(
        {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, VK_AMD_BUFFER_MARKER_EXTENSION_NAME});
  }
  if (!status.ok()) {
    fmt::print(stderr, "vulkan_bench: {}\n", status.message());
    return 1;
  }
  benchmark::AddCustomContext("vulkan_device", markers.description().device_name);
  benchmark::AddCustomContext("vulkan_driver", markers.description().driver_name);
  benchmark::RegisterBenchmark("VulkanRecordPair/fill/bare", BareFillPair, &fills);
  benchmark::RegisterBenchmark("VulkanRecordPair/fill/backend", BackendPair, &fills);
  benchmark::RegisterBenchmark("VulkanRecordPair/fill/raw", BackendRawPair, &fills);
  RegisterGpu("fill", &fills);
  if (markers.has_markers()) {
    benchmark::RegisterBenchmark("VulkanRecordPair/marker/bare", BareMarkerPair, &markers);
    benchmark::RegisterBenchmark("VulkanRecordPair/marker/backend", BackendPair, &markers);
    benchmark::RegisterBenchmark("VulkanRecordPair/marker/raw", BackendRawPair, &markers);
    RegisterGpu("marker", &markers);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  return cairn::Main(argc, argv);
}
