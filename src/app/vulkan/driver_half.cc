// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/driver_half.h"

#include <algorithm>
#include <array>

#include "app/breadcrumbs/vulkan_writes.h"
#include "app/vulkan/exact.h"

namespace cairn {
namespace {

// The driver half of the process: each call names its device in its arguments.
class LayerAsDriver final : public DriverHalf {
 public:
  CAIRN_LINUX_CALL const char* WhyNot(const DriverBuffer& buffer,
                                      WriteMethod method) const override {
    const auto& device = *static_cast<const DriverHalfDevice*>(buffer.device);
    if (method == WriteMethod::kDriverFillBuffer) return "";
    if (method != WriteMethod::kDriverBufferMarker) return "no method of the Vulkan layer";
    return device.writes().CmdWriteBufferMarkerAMD != nullptr
               ? ""
               : "the Vulkan device does not have it";
  }

  CAIRN_LINUX_CALL DriverWrite Write(const DriverList& list, const DriverBuffer& buffer,
                                     WriteMethod method, PipeLocation where, uint64_t offset_bytes,
                                     uint32_t value) override {
    const auto handle = static_cast<VkCommandBuffer>(list.commands);
    const DrivenCommands* const commands = DrivenCommandsOf(handle);
    if (commands == nullptr || commands->recording != list.recording ||
        commands->device != buffer.device) {
      return DriverWrite::kRefused;
    }
    const VulkanFunctions& vk = commands->device->writes();
    // A handle that does not depend on the platform: Vulkan's are pointers or numbers.
    const auto words = (VkBuffer)(buffer.buffer);  // NOLINT
    if (method == WriteMethod::kDriverBufferMarker) {
      RecordMarkerWrite(vk, handle, where, words, offset_bytes, value);
      return DriverWrite::kRecorded;
    }
    if (commands->InsideRenderPass()) return DriverWrite::kInsideRenderPass;
    if (commands->only_transfers) {
      RecordUpdateWrite(vk, handle, where, words, offset_bytes, &value, sizeof(value));
    } else {
      RecordFillWrite(vk, handle, where, words, offset_bytes, value);
    }
    return DriverWrite::kRecorded;
  }

  CAIRN_LINUX_CALL uint8_t Drains(const DriverList& list, WriteMethod method) const override {
    const DrivenCommands* const commands =
        DrivenCommandsOf(static_cast<VkCommandBuffer>(list.commands));
    if (commands == nullptr || commands->recording != list.recording) return 0;
    return commands->device->barriers().ServeFor(method) ? commands->drains : uint8_t{0};
  }
  CAIRN_LINUX_CALL bool Serialises(const void* device) const override {
    return Half(device).device().instance->mode == MarkerMode::kExact;
  }
  CAIRN_LINUX_CALL bool Serial(const DriverList& list) const override {
    const auto handle = static_cast<VkCommandBuffer>(list.commands);
    const DrivenCommands* const commands = DrivenCommandsOf(handle);
    return commands != nullptr && commands->recording == list.recording && IsSerial(handle);
  }

  CAIRN_LINUX_CALL bool NoteWords(const void* device, const std::byte* words) override {
    return Half(device).NoteWords(words);
  }
  CAIRN_LINUX_CALL void ForgetWords(const void* device, const std::byte* words) override {
    Half(device).ForgetWords(words);
  }

 private:
  CAIRN_LINUX_CALL void DescribeWitnesses(const void* device, WriteMethod method,
                                          DriverFinding* finding) const override {
    *finding = DriverFindingOf(Half(device).barriers().Describe(method));
  }
  CAIRN_LINUX_CALL void DescribeLoss(const void* device, DriverFinding* finding) const override {
    *finding = DriverFindingOf(Half(device).LossSource());
  }
  // Returns the object that was passed to DeviceSeenScope::Note.
  static DriverHalfDevice& Half(const void* device) {
    return *const_cast<DriverHalfDevice*>(static_cast<const DriverHalfDevice*>(device));
  }
};

}  // namespace

DriverHalfDevice::DriverHalfDevice(DeviceState& device)
    : device_(device), barriers_(*device.instance, device.physical_device) {
  writes_.CmdFillBuffer = device.vk.CmdFillBuffer;
  writes_.CmdUpdateBuffer = device.vk.CmdUpdateBuffer;
  writes_.CmdPipelineBarrier = device.vk.CmdPipelineBarrier;
  if (device.Enabled(VK_AMD_BUFFER_MARKER_EXTENSION_NAME)) {
    writes_.CmdWriteBufferMarkerAMD = device.vk.CmdWriteBufferMarkerAMD;
  }
  FindImport();
}

void DriverHalfDevice::FindImport() {
  if (!device_.Enabled(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) ||
      device_.vk.GetMemoryHostPointerPropertiesEXT == nullptr) {
    why_no_import_ = "the Vulkan device has no VK_EXT_external_memory_host";
    return;
  }
  const InstanceState& instance = *device_.instance;
  const auto get_memory_properties = reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(
      instance.Next("vkGetPhysicalDeviceMemoryProperties"));
  if (instance.GetPhysicalDeviceProperties2 == nullptr || get_memory_properties == nullptr) {
    why_no_import_ = "the Vulkan instance does not tell the alignment of imported memory";
    return;
  }
  get_memory_properties(device_.physical_device, &memory_properties_);
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT import = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &import, {}};
  instance.GetPhysicalDeviceProperties2(device_.physical_device, &properties);
  import_alignment_ = import.minImportedHostPointerAlignment;
  if (import_alignment_ == 0) why_no_import_ = "the Vulkan device names no alignment of imports";
}

bool CreatingDrivenDevice() {
  return DeviceCreationScope::Active();
}

std::unique_ptr<DriverHalfDevice> MakeDriverHalf(DeviceState& device) {
  // Calls may come after static destructors.
  static auto* const driver = new LayerAsDriver;
  auto half = std::make_unique<DriverHalfDevice>(device);
  SetDriverHalf(driver);
  DeviceCreationScope::Note();
  return half;
}

std::span<const Intercept> DrivenIntercepts() {
  static const auto* const all = [] {
    auto* const joined = new std::vector<Intercept>;
    for (const std::span<const Intercept> part :
         {DrivenMemoryIntercepts(), DrivenCommandIntercepts(), DrivenLossIntercepts()}) {
      joined->insert(joined->end(), part.begin(), part.end());
    }
    return joined;
  }();
  return *all;
}

}  // namespace cairn
