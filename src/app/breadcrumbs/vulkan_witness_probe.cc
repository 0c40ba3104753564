// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_witness_probe.h"

#include <optional>
#include <utility>
#include <vector>

#include "app/breadcrumbs/vulkan_barriers.h"
#include "app/breadcrumbs/vulkan_device_setup.h"
#include "app/breadcrumbs/vulkan_memory.h"
#include "app/breadcrumbs/vulkan_selftest.h"
#include "app/breadcrumbs/vulkan_witnesses.h"

namespace cairn {
namespace {

// Chooses the method as a context does.
Result<WriteMethod> ChooseMethod(const VulkanDevice& device) {
  Result<VulkanBuffer> words = VulkanBuffer::CreateHostVisible(device, kVulkanTestWordBytes);
  if (!words.ok()) return words.status();
  std::vector<SourceFinding> findings;
  Result<WriteMethod> method =
      ChooseWriteMethod(device, {words->buffer(), 0, words->mapped()}, &findings);
  if (method.status().code() == StatusCode::kDeviceLost) words->Abandon();
  return method;
}

Status Measure(const VulkanOwnDevice& own, WitnessListener* listener, DeviceWitnesses* device) {
  Result<VulkanDevice> opened = OpenVulkanDevice(own.params());
  if (!opened.ok()) return opened.status();
  const Result<WriteMethod> method = ChooseMethod(*opened);
  if (!method.ok()) return method.status();
  device->method = WitnessMethodOf(*method);
  if (device->method == WitnessMethod::kNone) {
    return Status(StatusCode::kUnsupported, "no word can be written");
  }
  constexpr VkQueueFlags kMeasured = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  for (uint32_t i = 0; i < own.families().size(); ++i) {
    const VulkanOwnDevice::Family& family = own.families()[i];
    if ((family.flags & kMeasured) == 0 || family.queue == VK_NULL_HANDLE ||
        device->families.size() == kMostWitnessFamilies) {
      continue;
    }
    opened->queue = family.queue;
    opened->queue_family = i;
    const Result<FamilyWitnesses> witnesses = MeasureWitnesses(*opened, *method, nullptr);
    if (!witnesses.ok()) return witnesses.status();
    device->families.push_back(*witnesses);
    listener->OnProgress();
  }
  return Status();
}

bool SawNothing(const DeviceWitnesses& device) {
  for (const FamilyWitnesses& family : device.families) {
    for (const WorkWitnesses& work : {family.dispatches, family.draws, family.copies}) {
      if (work.barrier > HoldingBarrier::kNoWork) return false;
    }
  }
  return true;
}

// False: the device may still be at work, and so nothing that it came from may go.
bool MeasureDevice(const VulkanInstance& instance, VkPhysicalDevice physical_device,
                   WitnessListener* listener, DeviceWitnesses* device) {
  VulkanOwnDevice own;
  Status status = own.Create(instance, physical_device, KnownVulkanExtensions(), nullptr);
  if (status.ok()) status = Measure(own, listener, device);
  if (status.ok()) {
    device->outcome = SawNothing(*device) ? WitnessOutcome::kUnseen : WitnessOutcome::kMeasured;
    return true;
  }
  device->families.clear();
  device->outcome =
      status.code() == StatusCode::kDeviceLost ? WitnessOutcome::kLost : WitnessOutcome::kRefused;
  if (device->outcome != WitnessOutcome::kLost) return true;
  own.Abandon();
  return false;
}

}  // namespace

Status MeasureAllWitnesses(uint64_t now_s, WitnessListener* listener) {
  VulkanInstance instance;
  CAIRN_RETURN_IF_ERROR(instance.Create({}));
  Result<std::vector<VkPhysicalDevice>> devices = instance.PhysicalDevices();
  if (!devices.ok()) return devices.status();
  const auto get_properties2 =
      instance.Load<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2");
  for (VkPhysicalDevice physical_device : *devices) {
    std::optional<WitnessKey> key = WitnessKeyOf(get_properties2, physical_device);
    if (!key.has_value() || !listener->Wants(*key)) continue;
    listener->OnBegin(*key);
    DeviceWitnesses device;
    device.key = std::move(*key);
    device.measured_s = now_s;
    if (!MeasureDevice(instance, physical_device, listener, &device)) instance.Abandon();
    listener->OnEnd(device);
    if (instance.instance() == VK_NULL_HANDLE) {
      return Status(StatusCode::kDeviceLost, "other devices are skipped: one was lost");
    }
  }
  return Status();
}

}  // namespace cairn
