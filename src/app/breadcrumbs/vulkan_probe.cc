// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_probe.h"

#include <fmt/format.h>

#include <utility>

#include "app/breadcrumbs/vulkan_barriers.h"
#include "app/breadcrumbs/vulkan_device_setup.h"
#include "app/breadcrumbs/vulkan_selftest.h"
#include "os/shared_memory.h"

namespace cairn {
namespace {

// A multiple of every import alignment seen.
constexpr size_t kTestMemoryBytes = 64 << 10;

std::string ApiVersionText(uint32_t version) {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                     VK_API_VERSION_PATCH(version));
}

// The device may still be at work on what it was given, and waiting for it may never end: what it uses
// stays until the process ends.
void LeaveToTheDevice(VulkanOwnDevice* device, SharedMemory* memory) {
  device->Abandon();
  new SharedMemory(std::move(*memory));
}

Status TestDevice(const VulkanInstance& instance, VkPhysicalDevice physical_device,
                  VulkanProbe* probe) {
  Result<SharedMemory> written = SharedMemory::Create("cairn-selftest", kTestMemoryBytes);
  if (!written.ok()) return written.status();
  Result<SharedMemory> observed = written->MapAgainForReading();
  if (!observed.ok()) return observed.status();
  VulkanOwnDevice device;
  CAIRN_RETURN_IF_ERROR(device.Create(instance, physical_device, KnownVulkanExtensions(), nullptr));
  VulkanBackendParams params = device.params();
  params.reads_losses = true;  // As the layer does: only the device's abilities matter.
  Result<VulkanDevice> opened = OpenVulkanDevice(params);
  if (!opened.ok()) return opened.status();
  probe->driver_name = opened->driver_name;
  probe->notes = VulkanDeviceNotes(*opened);
  Result<VulkanSelfTestReport> report =
      SelfTestVulkanDevice(*opened, {written->data(), observed->data(), kTestMemoryBytes});
  Status status = report.status();
  if (status.ok() && report->method != WriteMethod::kNone) {
    status = MeasureWitnesses(*opened, report->method, &report->findings).status();
  }
  if (status.code() == StatusCode::kDeviceLost) LeaveToTheDevice(&device, &*written);
  CAIRN_RETURN_IF_ERROR(status);
  probe->method = report->method;
  probe->memory = report->memory;
  probe->findings = std::move(report->findings);
  // The library would say that the application did not enable what the device does not even have.
  for (SourceFinding& finding : probe->findings) {
    if (finding.state == SourceState::kAbsent && finding.name.starts_with("VK_")) {
      finding.reason = "the device does not offer it";
    }
  }
  return Status();
}

}  // namespace

Result<std::vector<VulkanProbe>> ProbeVulkanDevices() {
  VulkanInstance instance;
  CAIRN_RETURN_IF_ERROR(instance.Create({}));
  Result<std::vector<VkPhysicalDevice>> devices = instance.PhysicalDevices();
  if (!devices.ok()) return devices.status();
  std::vector<VulkanProbe> probes;
  bool instance_in_use = false;
  for (VkPhysicalDevice physical_device : *devices) {
    VulkanProbe& probe = probes.emplace_back();
    const VkPhysicalDeviceProperties properties = instance.Properties(physical_device);
    probe.device_name = properties.deviceName;
    probe.api_version = ApiVersionText(properties.apiVersion);
    probe.vendor_id = properties.vendorID;
    probe.device_id = properties.deviceID;
    probe.status = TestDevice(instance, physical_device, &probe);
    if (probe.status.code() == StatusCode::kDeviceLost) instance_in_use = true;
  }
  if (instance_in_use) instance.Abandon();
  return probes;
}

}  // namespace cairn
