// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_backend.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "app/breadcrumbs/mirror_words.h"
#include "app/breadcrumbs/vulkan_functions.h"
#include "app/breadcrumbs/vulkan_memory.h"
#include "app/breadcrumbs/vulkan_selftest.h"
#include "app/breadcrumbs/vulkan_writes.h"

namespace cairn {
namespace {

constexpr uint32_t kMirrorPeriodUs = 500;
constexpr uint32_t kRunTablesPerBuffer = 256;

struct RunTable {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  std::byte* mapped = nullptr;
};

// Run tables of reusable lists, a few hundred to a buffer. Any thread.
class RunTablePool {
 public:
  Result<RunTable*> Take(const VulkanDevice& device) {
    std::lock_guard lock(mutex_);
    if (free_.empty()) CAIRN_RETURN_IF_ERROR(Grow(device));
    RunTable* table = free_.back();
    free_.pop_back();
    return table;
  }

  void GiveBack(RunTable* table) {
    std::lock_guard lock(mutex_);
    free_.push_back(table);
  }

 private:
  struct Slab {
    VulkanBuffer buffer;
    RunTable tables[kRunTablesPerBuffer];
  };

  Status Grow(const VulkanDevice& device) {
    Result<VulkanBuffer> buffer =
        VulkanBuffer::CreateHostVisible(device, kRunTablesPerBuffer * kRunTableBytes);
    if (!buffer.ok()) return buffer.status().WithContext("memory for reusable command lists");
    auto slab = std::make_unique<Slab>();
    slab->buffer = std::move(*buffer);
    for (uint32_t i = 0; i < kRunTablesPerBuffer; ++i) {
      const VkDeviceSize offset = i * kRunTableBytes;
      slab->tables[i] = {slab->buffer.buffer(), offset, slab->buffer.mapped() + offset};
      free_.push_back(&slab->tables[i]);
    }
    slabs_.push_back(std::move(slab));
    return Status();
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<RunTable*> free_;
};

class VulkanBackend final : public Backend {
 public:
  explicit VulkanBackend(const VulkanBackendParams& params) : params_(params) {}

  void Identify(BackendDescription* description) override {
    description->api = Api::kVulkan;
    Result<VulkanDevice> device = OpenVulkanDevice(params_);
    if (device.ok()) DescribeDevice(*device, description);
  }

  Status Initialize(const WordRegion& region, BackendDescription* description) override {
    Result<VulkanDevice> device = OpenVulkanDevice(params_);
    if (!device.ok()) return device.status();
    device_ = std::move(*device);
    region_ = region;
    CAIRN_RETURN_IF_ERROR(ChooseMethod(description));
    CAIRN_RETURN_IF_ERROR(ChooseMemory(description));
    DescribeLossSources(device_, &description->sources);
    if (params_.tell_method) description->sources.push_back(params_.tell_method(method_));
    description->api = Api::kVulkan;
    description->method = method_;
    DescribeDevice(device_, description);
    return Status();
  }

  Status BeginList(BackendList& list) override {
    if (!list.reusable) return Status();
    if (list.inside_render_pass) {
      return Status(StatusCode::kUnsupported,
                    "a reusable command list counts its executions with transfer commands and "
                    "cannot start inside a render pass");
    }
    Result<RunTable*> table = run_tables_.Take(device_);
    if (!table.ok()) return table.status();
    list.state = *table;
    InitializeRunTable((*table)->mapped);
    RecordRunStart(device_.vk, static_cast<VkCommandBuffer>(list.native), (*table)->buffer,
                   (*table)->offset, words_.buffer(), ProgressOffset(list.slot));
    return Status();
  }

  bool WriteProgress(BackendList& list, WordKind word, PipeLocation where,
                     uint32_t value) override {
    const auto commands = static_cast<VkCommandBuffer>(list.native);
    const VkDeviceSize offset =
        ProgressOffset(list.slot) + (word == WordKind::kReached ? offsetof(ProgressWords, reached)
                                                                : offsetof(ProgressWords, passed));
    if (method_ == WriteMethod::kVulkanBufferMarker) {
      RecordMarkerWrite(device_.vk, commands, where, words_.buffer(), offset, value);
      return true;
    }
    if (list.inside_render_pass) return false;
    if (list.queue_type == QueueType::kDirect || list.queue_type == QueueType::kCompute) {
      RecordFillWrite(device_.vk, commands, where, words_.buffer(), offset, value);
    } else {
      RecordUpdateWrite(device_.vk, commands, where, words_.buffer(), offset, &value,
                        sizeof(value));
    }
    return true;
  }

  Status WriteRaw(void* native, PipeLocation where, uint32_t index, uint64_t value) override {
    if (index >= region_.raw_marker_count) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("raw marker {} of {}", index, region_.raw_marker_count));
    }
    const auto commands = static_cast<VkCommandBuffer>(native);
    const VkDeviceSize offset = region_.raw_markers_offset + index * sizeof(value);
    if (method_ == WriteMethod::kVulkanFillBuffer) {
      RecordUpdateWrite(device_.vk, commands, where, words_.buffer(), offset, &value,
                        sizeof(value));
      return Status();
    }
    const uint32_t halves[] = {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
    RecordMarkerWrite(device_.vk, commands, where, words_.buffer(), offset, halves[0]);
    RecordMarkerWrite(device_.vk, commands, where, words_.buffer(), offset + sizeof(halves[0]),
                      halves[1]);
    return Status();
  }

  bool Serialises() const override { return params_.is_serial != nullptr; }
  bool Serial(const BackendList& list) const override {
    return Serialises() && params_.is_serial(list.native);
  }

  void ReleaseList(BackendList& list) override {
    if (list.state != nullptr) run_tables_.GiveBack(static_cast<RunTable*>(list.state));
    list.state = nullptr;
  }

  void ClearWords(uint32_t slot) override {
    if (mirrored_) ClearProgressWords(words_.mapped() + region_.progress_offset, slot);
  }

  void Mirror() override {
    if (mirrored_) MirrorWords(region_, words_.mapped());
  }

 private:
  static void DescribeDevice(const VulkanDevice& device, BackendDescription* description) {
    description->device_name = device.properties.deviceName;
    description->driver_name = device.driver_name;
    description->device_notes = VulkanDeviceNotes(device);
    description->vendor_id = device.properties.vendorID;
    description->device_id = device.properties.deviceID;
  }

  VkDeviceSize ProgressOffset(uint32_t slot) const {
    return region_.progress_offset + VkDeviceSize{slot} * sizeof(ProgressWords);
  }

  // The words' own memory is made before any import is tried, because NVIDIA's driver fails later
  // allocations once it has refused an import.
  Status ChooseMethod(BackendDescription* description) {
    Result<VulkanBuffer> own = VulkanBuffer::CreateHostVisible(device_, region_.size_bytes);
    if (!own.ok()) return own.status().WithContext("memory for progress words");
    words_ = std::move(*own);
    const VulkanTestWords words = {words_.buffer(), 0, words_.mapped()};
    Result<WriteMethod> method = ChooseWriteMethod(device_, words, &description->sources);
    Status status = method.status();
    if (status.ok() && *method == WriteMethod::kNone) {
      status =
          Status(StatusCode::kUnsupported,
                 fmt::format("neither {} nor vkCmdFillBuffer writes words on {}; run `cairn "
                             "selftest` for what was read back",
                             VK_AMD_BUFFER_MARKER_EXTENSION_NAME, device_.properties.deviceName));
    }
    if (status.ok()) {
      method_ = *method;
      status = TestRunCounter(device_, words, &description->sources);
    }
    if (status.code() == StatusCode::kDeviceLost) words_.Abandon();
    return status;
  }

  Status ChooseMemory(BackendDescription* description) {
    SourceFinding finding;
    CAIRN_RETURN_IF_ERROR(TryImport(&finding));
    mirrored_ = finding.state != SourceState::kPresent;
    description->sources.push_back(std::move(finding));
    description->memory = mirrored_ ? WordMemory::kMirrored : WordMemory::kImported;
    if (!mirrored_) return Status();
    description->mirror_period_us = kMirrorPeriodUs;
    description->sources.push_back(
        {"host-visible coherent memory", SourceState::kPresent,
         fmt::format("mirrored into the block every {} us", kMirrorPeriodUs)});
    // The mirror copies our memory from here on: start with the block's content.
    std::memcpy(words_.mapped(), region_.base, region_.size_bytes);
    return Status();
  }

  // Replaces words_ by an import of the block's pages if the GPU's writes arrive there.
  Status TryImport(SourceFinding* finding) {
    finding->name = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    Result<VulkanBuffer> import =
        VulkanBuffer::ImportHost(device_, region_.base, region_.size_bytes);
    if (!import.ok()) {
      finding->state = device_.Enabled(finding->name) ? SourceState::kFailed : SourceState::kAbsent;
      finding->reason = import.status().message();
      return Status();
    }
    std::byte saved[kVulkanTestWordBytes];
    std::memcpy(saved, region_.base, sizeof(saved));
    std::vector<SourceFinding> details;
    Result<VulkanMethodState> state =
        TestWriteMethod(device_, method_, {import->buffer(), 0, region_.base}, &details);
    if (!state.ok()) {
      if (state.status().code() == StatusCode::kDeviceLost) import->Abandon();
      return state.status();
    }
    std::memcpy(region_.base, saved, sizeof(saved));
    if (state->works()) {
      finding->state = SourceState::kPresent;
      finding->reason = "the GPU writes into the block itself";
      words_ = std::move(*import);
      return Status();
    }
    const SourceFinding& worst =
        state->top == SourceState::kPresent ? details.back() : details.front();
    finding->state = worst.state;
    finding->reason = fmt::format("imported, but {}: {}", worst.name, worst.reason);
    return Status();
  }

  const VulkanBackendParams params_;
  VulkanDevice device_;
  WordRegion region_;
  WriteMethod method_ = WriteMethod::kNone;
  bool mirrored_ = false;
  VulkanBuffer words_;
  RunTablePool run_tables_;
};

}  // namespace

std::unique_ptr<Backend> CreateVulkanBackend(const VulkanBackendParams& params) {
  return std::make_unique<VulkanBackend>(params);
}

}  // namespace cairn
