// SPDX-License-Identifier: Apache-2.0
//
// DeviceObjects: what the layer keeps of the objects of a device with breadcrumbs: queues and their
// submissions, synchronisation, shaders and pipelines, names, addresses; and what it asks when the device
// is lost. One file for each idea, with the intercepts of its calls at its end.
//
// Every intercept notes what there is to note within Quietly, and calls the next layer in any case with
// what the application gave.
//
// Threads: the members look after themselves.
#ifndef CAIRN_APP_VULKAN_DEVICE_OBJECTS_H_
#define CAIRN_APP_VULKAN_DEVICE_OBJECTS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "app/vulkan/address_binding.h"
#include "app/vulkan/addresses.h"
#include "app/vulkan/device.h"
#include "app/vulkan/device_loss.h"
#include "app/vulkan/faults.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/memory_budget.h"
#include "app/vulkan/memory_users.h"
#include "app/vulkan/object_names.h"
#include "app/vulkan/pipelines.h"
#include "app/vulkan/shaders.h"
#include "app/vulkan/sharded_map.h"
#include "app/vulkan/submissions.h"
#include "app/vulkan/synchronisation.h"

namespace cairn {

class DeviceObjects {
 public:
  explicit DeviceObjects(DeviceState& device);
  ~DeviceObjects();
  DeviceObjects(const DeviceObjects&) = delete;
  DeviceObjects& operator=(const DeviceObjects&) = delete;

  DeviceState& device() const { return device_; }

  // Returns the objects of a queue of this device. Throws std::out_of_range for any other queue.
  QueueObjects& QueueOf(VkQueue queue);
  std::span<const std::unique_ptr<QueueObjects>> queues() const { return queues_; }

  // Call it before the object is destroyed or freed: ends its entries in the object table, and
  // records the calling thread.
  void Forget(VkObjectType type, uint64_t handle) noexcept;

  // A frame has ended.
  void EndFrame();

 private:
  void OnLost(VkResult result, const char* function);

  DeviceState& device_;
  std::vector<std::unique_ptr<QueueObjects>> queues_;

 public:
  Synchronisation synchronisation;
  FrameCounter frames;
  Shaders shaders;
  Pipelines pipelines;
  ObjectNames names;
  MemoryUsers memory_users;
  ShardedMap<VkDescriptorPool> descriptor_pools;  // those that sets were allocated from
  Addresses addresses;
  AddressBinding address_binding;
  const PfnGetDeviceFaultReportsKhr next_fault_reports;  // null where the device has none
  Faults faults;
  MemoryBudget memory;
  DeviceLoss loss;
};

// Makes the objects after the device was created and its Context started, before the application
// has it. May throw std::bad_alloc: the device is then off.
std::unique_ptr<DeviceObjects> MakeDeviceObjects(DeviceState& device);

// Intercepts of single files; ObjectIntercepts joins them.
std::span<const Intercept> SubmissionIntercepts();
std::span<const Intercept> FenceIntercepts();
std::span<const Intercept> QueueLabelIntercepts();
std::span<const Intercept> ShaderIntercepts();
std::span<const Intercept> PipelineIntercepts();
std::span<const Intercept> ObjectNameIntercepts();
std::span<const Intercept> AddressIntercepts();
std::span<const Intercept> FaultIntercepts();
std::span<const Intercept> MemoryBudgetIntercepts();
std::span<const Intercept> MemoryUserIntercepts();
std::span<const Intercept> DescriptorIntercepts();
std::span<const Intercept> BufferBindIntercepts();
std::span<const Intercept> DeviceLossIntercepts();

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_DEVICE_OBJECTS_H_
