// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_selftest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "app/breadcrumbs/vulkan_driver_facts.h"
#include "app/breadcrumbs/vulkan_writes.h"

namespace cairn {
namespace {

constexpr size_t kWordCount = kVulkanTestWordBytes / sizeof(uint32_t);
using Words = std::array<uint32_t, kWordCount>;

uint32_t LoadWord(const std::byte* memory) {
  return reinterpret_cast<const std::atomic<uint32_t>*>(memory)->load(std::memory_order_acquire);
}

void StoreWord(std::byte* memory, uint32_t value) {
  reinterpret_cast<std::atomic<uint32_t>*>(memory)->store(value, std::memory_order_release);
}

Words ReadWords(const std::byte* mapped) {
  Words words = {};
  for (size_t i = 0; i < kWordCount; ++i) words[i] = LoadWord(mapped + i * sizeof(uint32_t));
  return words;
}

void WriteWords(std::byte* mapped, const Words& words) {
  for (size_t i = 0; i < kWordCount; ++i) StoreWord(mapped + i * sizeof(uint32_t), words[i]);
}

constexpr char kHidesLosses[] =
    "with the feature of VK_EXT_device_fault this driver hides device losses, and lets work finish "
    "that faulted";

bool HidesLosses(const VulkanDevice& device, std::string_view extension) {
  return extension == VK_EXT_DEVICE_FAULT_EXTENSION_NAME && device.Enabled(extension) &&
         std::none_of(device.left_out.begin(), device.left_out.end(),
                      [extension](const LeftOutExtension& one) { return one.name == extension; }) &&
         DeviceFaultHidesLosses(device.driver_id);
}

const char* MethodName(WriteMethod method) {
  return method == WriteMethod::kVulkanBufferMarker ? VK_AMD_BUFFER_MARKER_EXTENSION_NAME
                                                    : "vkCmdFillBuffer";
}

void RecordWrite(const VulkanFunctions& vk, WriteMethod method, VkCommandBuffer commands,
                 PipeLocation where, VkBuffer buffer, VkDeviceSize offset, uint32_t value) {
  if (method == WriteMethod::kVulkanBufferMarker) {
    RecordMarkerWrite(vk, commands, where, buffer, offset, value);
  } else {
    RecordFillWrite(vk, commands, where, buffer, offset, value);
  }
}

Status SelfTestError(const char* call, VkResult result) {
  return VulkanStatus(call, result).WithContext("self-test");
}

// A pool, its command buffer and a fence. Destroyed by Destroy() only: after a timeout they are left
// to the device.
class OneShot {
 public:
  explicit OneShot(const VulkanDevice& device) : device_(device), vk_(device.vk) {}

  Status Begin() {
    VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool_info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    pool_info.queueFamilyIndex = device_.queue_family;
    VkResult result = vk_.CreateCommandPool(device_.device, &pool_info, nullptr, &pool_);
    if (result != VK_SUCCESS) return SelfTestError("vkCreateCommandPool", result);
    VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    result = vk_.AllocateCommandBuffers(device_.device, &info, &commands_);
    if (result != VK_SUCCESS) return SelfTestError("vkAllocateCommandBuffers", result);
    const VkFenceCreateInfo fence_info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    result = vk_.CreateFence(device_.device, &fence_info, nullptr, &fence_);
    if (result != VK_SUCCESS) return SelfTestError("vkCreateFence", result);
    VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    result = vk_.BeginCommandBuffer(commands_, &begin);
    return result == VK_SUCCESS ? Status() : SelfTestError("vkBeginCommandBuffer", result);
  }

  Status SubmitAndWait(const std::function<void()>& meanwhile, uint64_t timeout_ns) {
    VkResult result = vk_.EndCommandBuffer(commands_);
    if (result != VK_SUCCESS) return SelfTestError("vkEndCommandBuffer", result);
    VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands_;
    result = vk_.QueueSubmit(device_.queue, 1, &submit, fence_);
    if (result != VK_SUCCESS) return SelfTestError("vkQueueSubmit", result);
    if (meanwhile) meanwhile();
    result = vk_.WaitForFences(device_.device, 1, &fence_, VK_TRUE, timeout_ns);
    if (result == VK_TIMEOUT) {
      return Status(StatusCode::kDeviceLost,
                    fmt::format("self-test: the queue did not finish a few writes within {} ms; is "
                                "other work in front of them?",
                                timeout_ns / 1'000'000));
    }
    return result == VK_SUCCESS ? Status() : SelfTestError("vkWaitForFences", result);
  }

  void Destroy() {
    vk_.DestroyFence(device_.device, fence_, nullptr);
    vk_.DestroyCommandPool(device_.device, pool_, nullptr);
  }

  VkCommandBuffer commands() const { return commands_; }

 private:
  const VulkanDevice& device_;
  const VulkanFunctions& vk_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
};

constexpr uint32_t kOldValue = 0x0badf00d;

// Two writes to one word, to see their order, one to its neighbour, and two words left alone.
Result<SourceFinding> TestLocation(const VulkanDevice& device, WriteMethod method,
                                   PipeLocation where, const VulkanTestWords& words) {
  const uint32_t value = where == PipeLocation::kTop ? 0x5eed0001 : 0x5eed0101;
  WriteWords(words.mapped, {kOldValue, kOldValue, kOldValue, kOldValue});
  CAIRN_RETURN_IF_ERROR(RunOnce(device, [&](VkCommandBuffer commands) {
    RecordWrite(device.vk, method, commands, where, words.buffer, words.offset, value);
    RecordWrite(device.vk, method, commands, where, words.buffer, words.offset, value + 1);
    RecordWrite(device.vk, method, commands, where, words.buffer, words.offset + 4, value + 2);
  }));
  const Words expected = {value + 1, value + 2, kOldValue, kOldValue};
  const Words untouched = {kOldValue, kOldValue, kOldValue, kOldValue};
  const Words found = ReadWords(words.mapped);
  SourceFinding finding;
  finding.name = fmt::format("{}, {} of pipe", MethodName(method),
                             where == PipeLocation::kTop ? "top" : "bottom");
  if (found == expected) {
    finding.state = SourceState::kPresent;
    finding.reason = "values read back";
  } else if (found == untouched) {
    finding.state = SourceState::kSilent;
    finding.reason = "the commands were executed and nothing was written";
  } else {
    finding.state = SourceState::kFailed;
    finding.reason = fmt::format(
        "read {:#010x} {:#010x} {:#010x} {:#010x} instead of {:#010x} "
        "{:#010x} {:#010x} {:#010x}",
        found[0], found[1], found[2], found[3], expected[0], expected[1], expected[2], expected[3]);
  }
  return finding;
}

SourceFinding TestDeviceLocal(const VulkanDevice& device) {
  uint32_t local_count = 0;
  for (uint32_t i = 0; i < device.memory_properties.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = device.memory_properties.memoryTypes[i].propertyFlags;
    if ((flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0) ++local_count;
  }
  return {"device-local memory", SourceState::kAbsent,
          fmt::format("{} memory types; lost with the device and the process, never used for words",
                      local_count)};
}

// Imports the shared pages and has the GPU write into them; the other mapping has to show it.
Result<SourceFinding> TestImport(const VulkanDevice& device, WriteMethod method,
                                 const SharedTestMemory& shared) {
  SourceFinding finding;
  finding.name = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
  Result<VulkanBuffer> imported =
      VulkanBuffer::ImportHost(device, shared.written, shared.size_bytes);
  if (!imported.ok()) {
    finding.state = device.Enabled(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)
                        ? SourceState::kFailed
                        : SourceState::kAbsent;
    finding.reason = imported.status().message();
    return finding;
  }
  constexpr uint32_t kValue = 0x5eed0201;
  StoreWord(shared.written, kOldValue);
  const Status status = RunOnce(device, [&](VkCommandBuffer commands) {
    RecordWrite(device.vk, method, commands, PipeLocation::kBottom, imported->buffer(), 0, kValue);
  });
  if (status.code() == StatusCode::kDeviceLost) imported->Abandon();
  CAIRN_RETURN_IF_ERROR(status);
  const uint32_t found = LoadWord(shared.observed);
  if (found == kValue) {
    finding.state = SourceState::kPresent;
    finding.reason = "shared memory is written by the GPU and survives the process";
  } else if (found == kOldValue) {
    finding.state = SourceState::kSilent;
    finding.reason = "shared memory was imported, but what the GPU writes does not arrive there";
  } else {
    finding.state = SourceState::kFailed;
    finding.reason =
        fmt::format("read {:#010x} through a second mapping instead of {:#010x}", found, kValue);
  }
  return finding;
}

Result<VulkanSelfTestReport> TestDevice(const VulkanDevice& device, const SharedTestMemory& shared,
                                        const VulkanBuffer& buffer) {
  VulkanSelfTestReport report;
  const VulkanTestWords words = {buffer.buffer(), 0, buffer.mapped()};
  Result<WriteMethod> method = ChooseWriteMethod(device, words, &report.findings);
  if (!method.ok()) return method.status();
  report.method = *method;
  if (*method != WriteMethod::kNone) {
    CAIRN_RETURN_IF_ERROR(TestRunCounter(device, words, &report.findings));
    Result<SourceFinding> import = TestImport(device, *method, shared);
    if (!import.ok()) return import.status();
    report.memory =
        import->state == SourceState::kPresent ? WordMemory::kImported : WordMemory::kMirrored;
    report.findings.push_back(std::move(*import));
    report.findings.push_back({"host-visible coherent memory", SourceState::kPresent,
                               "read back; dies with the process, so it is mirrored into shared "
                               "memory"});
  }
  report.findings.push_back(TestDeviceLocal(device));
  DescribeLossSources(device, &report.findings);
  return report;
}

}  // namespace

Status RunOnce(const VulkanDevice& device, const std::function<void(VkCommandBuffer)>& record,
               const std::function<void()>& meanwhile, uint64_t timeout_ns) {
  OneShot once(device);
  Status status = once.Begin();
  if (status.ok()) {
    record(once.commands());
    status = once.SubmitAndWait(meanwhile, timeout_ns);
  }
  if (status.code() != StatusCode::kDeviceLost) once.Destroy();
  return status;
}

Result<VulkanMethodState> TestWriteMethod(const VulkanDevice& device, WriteMethod method,
                                          const VulkanTestWords& words,
                                          std::vector<SourceFinding>* findings) {
  VulkanMethodState state;
  if (method == WriteMethod::kVulkanBufferMarker && device.vk.CmdWriteBufferMarkerAMD == nullptr) {
    findings->push_back({MethodName(method), SourceState::kAbsent,
                         device.Enabled(VK_AMD_BUFFER_MARKER_EXTENSION_NAME)
                             ? "enabled, but the driver does not know vkCmdWriteBufferMarkerAMD"
                             : NotEnabledReason(device, VK_AMD_BUFFER_MARKER_EXTENSION_NAME)});
    return state;
  }
  const std::pair<PipeLocation, SourceState*> locations[] = {
      {PipeLocation::kTop, &state.top}, {PipeLocation::kBottom, &state.bottom}};
  for (const auto& [where, result] : locations) {
    Result<SourceFinding> finding = TestLocation(device, method, where, words);
    if (!finding.ok()) return finding.status();
    *result = finding->state;
    findings->push_back(std::move(*finding));
  }
  return state;
}

Result<WriteMethod> ChooseWriteMethod(const VulkanDevice& device, const VulkanTestWords& words,
                                      std::vector<SourceFinding>* findings) {
  WriteMethod best = WriteMethod::kNone;
  for (WriteMethod method : {WriteMethod::kVulkanBufferMarker, WriteMethod::kVulkanFillBuffer}) {
    Result<VulkanMethodState> state = TestWriteMethod(device, method, words, findings);
    if (!state.ok()) return state.status();
    if (state->works() && best == WriteMethod::kNone) best = method;
  }
  return best;
}

Status TestRunCounter(const VulkanDevice& device, const VulkanTestWords& words,
                      std::vector<SourceFinding>* findings) {
  Result<VulkanBuffer> table = VulkanBuffer::CreateHostVisible(device, kRunTableBytes);
  if (!table.ok()) return table.status();
  InitializeRunTable(table->mapped());
  WriteWords(words.mapped, {kOldValue, kOldValue, kOldValue, kOldValue});
  for (int execution = 0; execution < 2; ++execution) {
    const Status status = RunOnce(device, [&](VkCommandBuffer commands) {
      RecordRunStart(device.vk, commands, table->buffer(), 0, words.buffer, words.offset);
    });
    if (status.code() == StatusCode::kDeviceLost) table->Abandon();
    CAIRN_RETURN_IF_ERROR(status);
  }
  const Words expected = {0, 0, 2, kOldValue};
  const Words found = ReadWords(words.mapped);
  SourceFinding finding = {"executions of reusable lists", SourceState::kPresent,
                           "counted by the GPU, values read back"};
  if (found != expected) {
    finding.state = SourceState::kFailed;
    finding.reason = fmt::format("after two executions: reached {:#x}, passed {:#x}, runs {}",
                                 found[0], found[1], found[2]);
  }
  findings->push_back(std::move(finding));
  return Status();
}

void DescribeLossSources(const VulkanDevice& device, std::vector<SourceFinding>* findings) {
  for (const char* name :
       {VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME, VK_EXT_DEVICE_FAULT_EXTENSION_NAME}) {
    const bool left_out =
        std::any_of(device.left_out.begin(), device.left_out.end(),
                    [name](const LeftOutExtension& extension) { return extension.name == name; });
    SourceFinding finding = {name, SourceState::kAbsent, NotEnabledReason(device, name)};
    if (device.Enabled(name) && !left_out) {
      finding.state = device.reads_losses ? SourceState::kPresent : SourceState::kAbsent;
      finding.reason = device.reads_losses
                           ? "asked for after a device loss"
                           : "enabled, but read by Cairn's Vulkan layer only (`cairn run`)";
      if (HidesLosses(device, name)) finding.reason += std::string("; ") + kHidesLosses;
    }
    findings->push_back(std::move(finding));
  }
}

Result<VulkanSelfTestReport> SelfTestVulkanDevice(const VulkanDevice& device,
                                                  const SharedTestMemory& shared) {
  Result<VulkanBuffer> buffer = VulkanBuffer::CreateHostVisible(device, kPageBytes);
  if (!buffer.ok()) return buffer.status();
  Result<VulkanSelfTestReport> report = TestDevice(device, shared, *buffer);
  if (report.status().code() == StatusCode::kDeviceLost) buffer->Abandon();
  return report;
}

std::string VulkanDeviceNotes(const VulkanDevice& device) {
  return HidesLosses(device, VK_EXT_DEVICE_FAULT_EXTENSION_NAME)
             ? std::string(kHidesLosses) +
                   ": the dispatch before the one in flight may be the culprit"
             : std::string();
}

}  // namespace cairn
