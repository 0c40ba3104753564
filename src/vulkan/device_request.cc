// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "vulkan/device_creation.h"
#include "vulkan/layer_chain.h"

namespace cairn {
namespace {

std::vector<VkExtensionProperties> ExtensionsOf(const InstanceState& instance,
                                                VkPhysicalDevice physical_device) {
  std::vector<VkExtensionProperties> extensions;
  uint32_t count = 0;
  VkResult result = VK_INCOMPLETE;
  // Another layer may change its mind between the two calls.
  for (int attempt = 0; attempt < 3 && result == VK_INCOMPLETE; ++attempt) {
    result = instance.EnumerateDeviceExtensionProperties(physical_device, nullptr, &count, nullptr);
    if (result != VK_SUCCESS) return {};
    extensions.resize(count);
    result = instance.EnumerateDeviceExtensionProperties(physical_device, nullptr, &count,
                                                         extensions.data());
  }
  extensions.resize(result == VK_SUCCESS ? count : 0);
  return extensions;
}

}  // namespace

DeviceRequest::DeviceRequest(const VkDeviceCreateInfo& asked)
    : info_(asked),
      extensions_(asked.ppEnabledExtensionNames,
                  asked.ppEnabledExtensionNames + asked.enabledExtensionCount) {
  using Fault = VkPhysicalDeviceFaultFeaturesEXT;
  using Bindings = VkPhysicalDeviceAddressBindingReportFeaturesEXT;
  if (const auto* fault = FindInChain<Fault>(info_.pNext, fault_.sType); fault != nullptr) {
    fault_.deviceFault = fault->deviceFault;
    fault_.deviceFaultVendorBinary = fault->deviceFaultVendorBinary;
  }
  if (const auto* bindings = FindInChain<Bindings>(info_.pNext, bindings_.sType);
      bindings != nullptr) {
    bindings_.reportAddressBinding = bindings->reportAddressBinding;
  }
}

DeviceRequest::DeviceRequest(const InstanceState& instance, VkPhysicalDevice physical_device,
                             const VkDeviceCreateInfo& asked, MarkerMode mode)
    : DeviceRequest(asked) {
  const std::vector<VkExtensionProperties> present = ExtensionsOf(instance, physical_device);
  const auto has = [&present](std::string_view name) {
    return std::any_of(present.begin(), present.end(), [name](const VkExtensionProperties& one) {
      return name == one.extensionName;
    });
  };
  if (has(VK_AMD_BUFFER_MARKER_EXTENSION_NAME)) Add(VK_AMD_BUFFER_MARKER_EXTENSION_NAME);
  AddHostImport(instance, physical_device, has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME),
                has(VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME));
  // An application that sets checkpoints itself reads them itself, and expects its own.
  if (mode == MarkerMode::kFull && has(VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME) &&
      instance.GetPhysicalDeviceFeatures2 != nullptr &&
      !Enabled(VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME)) {
    Add(VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME);
    adds_checkpoints_ = true;
  }
  // Bindings are told through a messenger.
  AddFeatures(instance, physical_device, has(VK_EXT_DEVICE_FAULT_EXTENSION_NAME),
              has(VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME) &&
                  instance.Enabled(VK_EXT_DEBUG_UTILS_EXTENSION_NAME));
  if (has(kKhrDeviceFault)) AddKhrFault(instance, physical_device);
  info_.ppEnabledExtensionNames = extensions_.data();
  info_.enabledExtensionCount = static_cast<uint32_t>(extensions_.size());
}

bool DeviceRequest::Enabled(std::string_view extension) const {
  return std::find(extensions_.begin(), extensions_.end(), extension) != extensions_.end();
}

void DeviceRequest::Add(const char* extension) {
  if (Enabled(extension)) return;
  extensions_.push_back(extension);
  adds_anything_ = true;
}

// What it stands on is part of the core from 1.1 on.
void DeviceRequest::AddHostImport(const InstanceState& instance, VkPhysicalDevice physical_device,
                                  bool has_host_import, bool has_external_memory) {
  if (!has_host_import) return;
  if (instance.api_version < VK_API_VERSION_1_1 &&
      !instance.Enabled(VK_KHR_EXTERNAL_MEMORY_CAPABILITIES_EXTENSION_NAME)) {
    return;
  }
  VkPhysicalDeviceProperties properties = {};
  instance.GetPhysicalDeviceProperties(physical_device, &properties);
  if (std::min(properties.apiVersion, instance.api_version) < VK_API_VERSION_1_1) {
    if (!has_external_memory) return;
    Add(VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME);
  }
  Add(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
}

void DeviceRequest::AddFeatures(const InstanceState& instance, VkPhysicalDevice physical_device,
                                bool has_device_fault, bool has_address_bindings) {
  if (instance.GetPhysicalDeviceFeatures2 == nullptr) return;
  VkPhysicalDeviceFaultFeaturesEXT fault = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT};
  VkPhysicalDeviceAddressBindingReportFeaturesEXT bindings = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT};
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  // A structure that the application passes itself holds, whatever it says.
  if (has_device_fault && FindInChain<VkBaseInStructure>(info_.pNext, fault.sType) == nullptr) {
    fault.pNext = std::exchange(features.pNext, &fault);
  }
  if (has_address_bindings &&
      FindInChain<VkBaseInStructure>(info_.pNext, bindings.sType) == nullptr) {
    bindings.pNext = std::exchange(features.pNext, &bindings);
  }
  if (features.pNext == nullptr) return;
  instance.GetPhysicalDeviceFeatures2(physical_device, &features);
  if (fault.deviceFault != VK_FALSE) {
    Add(VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
    fault_.deviceFault = VK_TRUE;
    fault_.deviceFaultVendorBinary = fault.deviceFaultVendorBinary;
    fault_.pNext = const_cast<void*>(std::exchange(info_.pNext, &fault_));
    adds_anything_ = true;
  }
  if (bindings.reportAddressBinding != VK_FALSE) {
    Add(VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME);
    bindings_.reportAddressBinding = VK_TRUE;
    bindings_.pNext = const_cast<void*>(std::exchange(info_.pNext, &bindings_));
    adds_anything_ = true;
  }
}

// An application that enables it gets each report once, so that the layer must not ask.
void DeviceRequest::AddKhrFault(const InstanceState& instance, VkPhysicalDevice physical_device) {
  if (instance.GetPhysicalDeviceFeatures2 == nullptr || Enabled(kKhrDeviceFault) ||
      FindInChain<VkBaseInStructure>(info_.pNext, kKhrFaultFeaturesType) != nullptr) {
    return;
  }
  KhrFaultFeatures fault = {kKhrFaultFeaturesType};
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &fault};
  instance.GetPhysicalDeviceFeatures2(physical_device, &features);
  if (fault.deviceFault == VK_FALSE) return;
  Add(kKhrDeviceFault);
  khr_fault_.deviceFault = VK_TRUE;
  khr_fault_.deviceFaultVendorBinary = fault.deviceFaultVendorBinary;
  khr_fault_.deviceFaultReportMasked = fault.deviceFaultReportMasked;
  khr_fault_.pNext = const_cast<void*>(std::exchange(info_.pNext, &khr_fault_));
}

void DeviceRequest::Note(DeviceState* device) const {
  device->enabled_extensions.assign(extensions_.begin(), extensions_.end());
  device->has_device_fault =
      Enabled(VK_EXT_DEVICE_FAULT_EXTENSION_NAME) && fault_.deviceFault != VK_FALSE;
  device->has_device_fault_vendor_binary =
      device->has_device_fault && fault_.deviceFaultVendorBinary != VK_FALSE;
  device->owns_checkpoints = adds_checkpoints_;
  device->owns_khr_device_fault = khr_fault_.deviceFault != VK_FALSE;
  device->reports_address_bindings = Enabled(VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME) &&
                                     bindings_.reportAddressBinding != VK_FALSE;
}

}  // namespace cairn
