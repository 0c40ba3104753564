// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_liveness.h"

#include <memory>
#include <vector>

#include "app/breadcrumbs/vulkan_busy_work.h"
#include "app/breadcrumbs/vulkan_device_setup.h"
#include "app/breadcrumbs/vulkan_selftest.h"

namespace cairn {
namespace {

// Groups, and pixels in each direction: enough to reach every part of a GPU. The part of one that hangs may leave the
// others at work.
constexpr uint32_t kSize = 1024;

// Returns an error if the device does not take such work, or was lost with it.
Status TryWork(const VulkanDevice& device, BusyKind kind) {
  Result<std::unique_ptr<VulkanBusyWork>> work = VulkanBusyWork::Create(device, kind, kSize);
  if (!work.ok()) return work.status();
  Status status = RunOnce(
      device, [&](VkCommandBuffer commands) { (*work)->Record(commands, 1); }, nullptr, UINT64_MAX);
  if (status.code() == StatusCode::kDeviceLost) (*work)->Abandon();
  return status;
}

// Ok if it did something.
Status TryDevice(const VulkanInstance& instance, VkPhysicalDevice physical_device,
                 LivenessWork work) {
  VulkanOwnDevice own;
  CAIRN_RETURN_IF_ERROR(own.Create(instance, physical_device, {}, nullptr));
  const Result<VulkanDevice> opened = OpenVulkanDevice(own.params());
  if (!opened.ok()) return opened.status();
  Status status(StatusCode::kUnsupported, "the device takes neither dispatches nor draws");
  for (const BusyKind kind : {BusyKind::kDispatch, BusyKind::kDraw}) {
    if (kind == BusyKind::kDraw && work == LivenessWork::kDispatches) break;
    const Status tried = TryWork(*opened, kind);
    if (tried.code() == StatusCode::kDeviceLost) {
      own.Abandon();
      return tried;
    }
    if (tried.ok()) status = Status();
  }
  return status;
}

}  // namespace

Result<uint32_t> TryVulkanDevices(LivenessWork work) {
  VulkanInstance instance;
  CAIRN_RETURN_IF_ERROR(instance.Create({}));
  const Result<std::vector<VkPhysicalDevice>> devices = instance.PhysicalDevices();
  if (!devices.ok()) return devices.status();
  uint32_t count = 0;
  for (VkPhysicalDevice physical_device : *devices) {
    const Status status = TryDevice(instance, physical_device, work);
    if (status.ok()) ++count;
    if (status.code() != StatusCode::kDeviceLost) continue;
    instance.Abandon();
    return status;
  }
  return count;
}

}  // namespace cairn
