// SPDX-License-Identifier: Apache-2.0
//
// Creation and destruction of devices.
#ifndef CAIRN_APP_VULKAN_DEVICE_CREATION_H_
#define CAIRN_APP_VULKAN_DEVICE_CREATION_H_

#include <vulkan/vulkan_core.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/vulkan/device.h"
#include "app/vulkan/faults_khr.h"
#include "app/vulkan/fill_queue.h"
#include "app/vulkan/robust_request.h"
#include "app/vulkan/shader_experiment_request.h"

namespace cairn {

// May throw std::bad_alloc.
std::vector<VkQueueFamilyProperties> QueueFamiliesOf(const InstanceState& instance,
                                                     VkPhysicalDevice physical_device);

// For the look-ups of device.h. False without memory.
bool RememberDevice(DeviceState& state);
bool RememberQueues(DeviceState& state);
// Both.
void ForgetDevice(const DeviceState& state);

// The arguments of vkCreateDevice: a copy of the application's, and the layer's additions. The
// application's arrays and structures are not written to. Valid while the application's are.
class DeviceRequest {
 public:
  // Copies the arguments and adds the extensions and features that the physical device has and the
  // application does not request.
  DeviceRequest(const InstanceState& instance, VkPhysicalDevice physical_device,
                const VkDeviceCreateInfo& asked, MarkerMode mode);
  // `asked`: the application's arguments.
  explicit DeviceRequest(const VkDeviceCreateInfo& asked);
  DeviceRequest(const DeviceRequest&) = delete;
  DeviceRequest& operator=(const DeviceRequest&) = delete;

  const VkDeviceCreateInfo& info() const { return info_; }
  bool adds_anything() const { return adds_anything_; }
  // Stores the enabled extensions. Call it before the device is made.
  void Note(DeviceState* device) const;
  // Counts what an experiment changes by the request alone. Call it once the device is made.
  void CountChanges() const;

 private:
  bool Enabled(std::string_view extension) const;
  bool Chained(VkStructureType type) const;  // by the application
  void Add(const char* extension);
  void LeaveOut(const char* extension, std::string reason);
  void AddHostImport(const InstanceState& instance, VkPhysicalDevice physical_device,
                     bool has_host_import, bool has_external_memory);
  void AddAddressBindings(const InstanceState& instance, VkPhysicalDevice physical_device);
  // These two as far as `why_not`, a clause, is empty.
  void AddDeviceFault(const InstanceState& instance, VkPhysicalDevice physical_device,
                      const std::string& why_not);
  void AddKhrFault(const InstanceState& instance, VkPhysicalDevice physical_device,
                   const std::string& why_not);

  VkDeviceCreateInfo info_;
  std::vector<const char*> extensions_;
  bool adds_anything_ = false;
  bool adds_checkpoints_ = false;
  bool has_memory_budget_ = false;
  std::vector<LeftOutExtension> left_out_;
  VkPhysicalDeviceFaultFeaturesEXT fault_ = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT};
  ShaderExperimentRequest loops_;
  FillQueueRequest fill_queue_;
  RobustRequest robust_;
  KhrFaultFeatures khr_fault_ = {kKhrFaultFeaturesType};
  VkPhysicalDeviceAddressBindingReportFeaturesEXT bindings_ = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT};
};

// Intercepts.
VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physicalDevice,
                                            const VkDeviceCreateInfo* pCreateInfo,
                                            const VkAllocationCallbacks* pAllocator,
                                            VkDevice* pDevice);
VKAPI_ATTR void VKAPI_CALL DestroyDevice(VkDevice device, const VkAllocationCallbacks* pAllocator);

// Starts the breadcrumbs of a new device, or its part of the driver half. If that fails, logs the
// reason, and the kind becomes kOff.
void StartDevice(DeviceState& state);
// Call it before the device is destroyed.
void EndDevice(DeviceState& state);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_DEVICE_CREATION_H_
