// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/device_objects.h"

#include <stdexcept>

#include "app/breadcrumbs/context.h"
#include "app/vulkan/checkpoints.h"
#include "app/vulkan/host_memory.h"
#include "app/vulkan/set_contents.h"

namespace cairn {
namespace {

template <typename Function>
Function NextFunction(const DeviceState& device, const char* name) {
  if (!device.Enabled(kKhrDeviceFault) || device.next_get == nullptr) return nullptr;
  return reinterpret_cast<Function>(device.next_get(device.handle, name));
}

Faults::Functions FaultFunctions(const DeviceState& device, PfnGetDeviceFaultReportsKhr reports) {
  Faults::Functions functions;
  if (device.has_device_fault) functions.get_info = device.vk.GetDeviceFaultInfoEXT;
  functions.has_vendor_binary = device.has_device_fault_vendor_binary;
  if (device.owns_khr_device_fault) {
    functions.get_reports = reports;
    functions.get_debug_info =
        NextFunction<PfnGetDeviceFaultDebugInfoKhr>(device, "vkGetDeviceFaultDebugInfoKHR");
  }
  return functions;
}

std::vector<std::unique_ptr<QueueObjects>> QueuesOf(const DeviceState& device) {
  std::vector<std::unique_ptr<QueueObjects>> queues;
  for (const std::unique_ptr<QueueState>& queue : device.queues) {
    queues.push_back(std::make_unique<QueueObjects>(device.block, *queue));
    // Without room in the table its submissions are not noted; everything else works.
    static_cast<void>(device.context->RegisterQueue(queue->handle, queue->type, nullptr).ok());
    queues.back()->record = device.context->QueueIndex(queue->handle);
  }
  return queues;
}

}  // namespace

DeviceObjects::DeviceObjects(DeviceState& device)
    : device_(device),
      queues_(QueuesOf(device)),
      synchronisation(*device.context, *device.block),
      shaders(*device.block),
      pipelines(device),
      names(*device.block, device.context->index()),
      memory_users(*device.block, device.context->index(), names),
      addresses(device, names),
      address_binding(device, names),
      next_fault_reports(
          NextFunction<PfnGetDeviceFaultReportsKhr>(device, "vkGetDeviceFaultReportsKHR")),
      faults(*device.block, device.context->index(), device.handle,
             FaultFunctions(device, next_fault_reports)),
      memory(device, *device.block, device.context->index()),
      loss([this](VkResult result, const char* function) { OnLost(result, function); },
           [this](VkResult result, const char* function) {
             memory.NoteFailure(result, function, 0);
           }) {}

DeviceObjects::~DeviceObjects() {
  ForgetDescriptorPools(device_, descriptor_pools);
}

QueueObjects& DeviceObjects::QueueOf(VkQueue queue) {
  for (const std::unique_ptr<QueueObjects>& known : queues_) {
    if (known->state.handle == queue) return *known;
  }
  throw std::out_of_range("a queue of another device");
}

void DeviceObjects::Forget(VkObjectType type, uint64_t handle) noexcept {
  const auto ranges =
      address_binding.listens() ? ObjectNames::Ranges::kStay : ObjectNames::Ranges::kEnd;
  Quietly([&] { memory_users.End({type, handle}, ranges); });
  Quietly([&] { names.Forget({type, handle}, ranges); });
}

void DeviceObjects::EndFrame() {
  device_.context->BeginLayerFrame();
  faults.Poll();
}

void DeviceObjects::OnLost(VkResult result, const char* function) {
  Quietly([&] {
    if (!device_.has_checkpoints) return;
    std::vector<CheckpointQueue> asked;
    for (const std::unique_ptr<QueueObjects>& queue : queues_) {
      asked.push_back({queue->state.handle, queue->record});
    }
    ReadCheckpoints(device_.vk, asked, *device_.block, device_.context->index());
  });
  Quietly([&] { faults.OnDeviceLost(); });
  Quietly([&] { memory.OnDeviceLost(); });
  static_cast<void>(device_.context->ReportDeviceLost(result, function).ok());
}

std::unique_ptr<DeviceObjects> MakeDeviceObjects(DeviceState& device) {
  return std::make_unique<DeviceObjects>(device);
}

std::span<const Intercept> ObjectIntercepts() {
  static const std::vector<Intercept> joined = [] {
    std::vector<Intercept> all;
    for (const auto part :
         {SubmissionIntercepts(), FenceIntercepts(), QueueLabelIntercepts(), ShaderIntercepts(),
          PipelineIntercepts(), ObjectNameIntercepts(), AddressIntercepts(), FaultIntercepts(),
          DeviceLossIntercepts(), MemoryBudgetIntercepts(), MemoryUserIntercepts(),
          DescriptorIntercepts(), BufferBindIntercepts(), HostMemoryIntercepts()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return joined;
}

std::span<const Intercept> ObjectInstanceIntercepts() {
  return {};
}

}  // namespace cairn
