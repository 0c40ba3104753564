// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "app/breadcrumbs/vulkan_driver_facts.h"
#include "app/vulkan/device_creation.h"
#include "app/vulkan/experiment_counts.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/recorded_experiment.h"
#include "app/vulkan/run_experiment.h"

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

// 0 where the driver does not say, or the program's version of Vulkan does not let it be asked.
VkDriverId DriverIdOf(const InstanceState& instance, VkPhysicalDevice physical_device,
                      bool has_driver_properties) {
  VkPhysicalDeviceProperties properties = {};
  instance.GetPhysicalDeviceProperties(physical_device, &properties);
  if (instance.GetPhysicalDeviceProperties2 == nullptr ||
      (!has_driver_properties && properties.apiVersion < VK_API_VERSION_1_2)) {
    return {};
  }
  VkPhysicalDeviceDriverProperties driver = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceProperties2 properties2 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &driver, {}};
  instance.GetPhysicalDeviceProperties2(physical_device, &properties2);
  return driver.driverID;
}

// Returns why the feature stays off unless the application enables it; "" if it does not stay off.
std::string WhyNoDeviceFault(DeviceFaultUse use, VkDriverId driver) {
  switch (use) {
    case DeviceFaultUse::kOn: return "";
    case DeviceFaultUse::kOff:
      return "left off by " + FormatSetting<&LayerSettings::device_fault>(use);
    case DeviceFaultUse::kAuto: break;
  }
  if (DeviceFaultIsHarmless(driver)) return "";
  return std::string("left off: ") +
         (DeviceFaultHidesLosses(driver)
              ? "with this feature NVIDIA's driver hides device losses and lets work finish that "
                "faulted"
              : "nobody has shown that this feature does no harm with this driver") +
         "; " + FormatSetting<&LayerSettings::device_fault>(DeviceFaultUse::kOn) + " enables it";
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
  if (const RecordedExperiment* const run = RecordedExperiment::Active(); run != nullptr) {
    const std::string why_not = loops_.Add(instance, physical_device, has, &info_, &extensions_);
    if (!why_not.empty()) run->board.SetWhyNone(why_not);
    if (loops_.added()) adds_anything_ = true;
  }
  if (const Experiment* const run = RunExperimentOfProcess(); run != nullptr && FillOf(*run)) {
    fill_queue_.Add(instance, physical_device, &info_);
    if (fill_queue_.queue()) adds_anything_ = true;
  }
  if (const Experiment* const run = RunExperimentOfProcess();
      run != nullptr && run->change == Change::kRobust) {
    robust_.Add(instance, physical_device, has, &info_, &extensions_);
    if (robust_.devices().enabled != 0) adds_anything_ = true;
  }
  // An application that sets checkpoints itself reads them itself, and expects its own.
  if (WritesAllEnds(mode) && has(VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME) &&
      instance.GetPhysicalDeviceFeatures2 != nullptr &&
      !Enabled(VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME)) {
    Add(VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME);
    adds_checkpoints_ = true;
  }
  if (instance.GetPhysicalDeviceFeatures2 != nullptr) {
    if (has(VK_EXT_DEVICE_FAULT_EXTENSION_NAME)) {
      const VkDriverId driver =
          DriverIdOf(instance, physical_device, has(VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME));
      AddDeviceFault(instance, physical_device, WhyNoDeviceFault(instance.device_fault, driver));
    }
    // The effects of VK_KHR_device_fault are unknown on every driver.
    if (has(kKhrDeviceFault)) {
      AddKhrFault(instance, physical_device, WhyNoDeviceFault(instance.device_fault, {}));
    }
    // The driver reports bindings through a messenger.
    if (has(VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME) &&
        instance.Enabled(VK_EXT_DEBUG_UTILS_EXTENSION_NAME)) {
      AddAddressBindings(instance, physical_device);
    }
  }
  // A question to the physical device, which needs no device that enables it.
  has_memory_budget_ = has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
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

bool DeviceRequest::Chained(VkStructureType type) const {
  return FindInChain<VkBaseInStructure>(info_.pNext, type) != nullptr;
}

void DeviceRequest::LeaveOut(const char* extension, std::string reason) {
  left_out_.push_back({extension, std::move(reason)});
}

// Adds the import of host memory. The extensions that it requires are part of the core from 1.1 on.
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

void DeviceRequest::AddAddressBindings(const InstanceState& instance,
                                       VkPhysicalDevice physical_device) {
  VkPhysicalDeviceAddressBindingReportFeaturesEXT present = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT};
  // A structure that the application passes itself holds, whatever it says. So below.
  if (Chained(present.sType)) return;
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &present, {}};
  instance.GetPhysicalDeviceFeatures2(physical_device, &features);
  if (present.reportAddressBinding == VK_FALSE) return;
  Add(VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME);
  bindings_.reportAddressBinding = VK_TRUE;
  bindings_.pNext = const_cast<void*>(std::exchange(info_.pNext, &bindings_));
  adds_anything_ = true;
}

void DeviceRequest::AddDeviceFault(const InstanceState& instance, VkPhysicalDevice physical_device,
                                   const std::string& why_not) {
  VkPhysicalDeviceFaultFeaturesEXT present = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT};
  if (Chained(present.sType)) {
    if (fault_.deviceFault == VK_FALSE) {
      LeaveOut(VK_EXT_DEVICE_FAULT_EXTENSION_NAME, "the application leaves the feature off");
    }
    return;
  }
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &present, {}};
  instance.GetPhysicalDeviceFeatures2(physical_device, &features);
  if (present.deviceFault == VK_FALSE) return;
  if (!why_not.empty()) return LeaveOut(VK_EXT_DEVICE_FAULT_EXTENSION_NAME, why_not);
  Add(VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
  fault_.deviceFault = VK_TRUE;
  // On request only: RADV then writes the dumps of RADV_DEBUG=hang elsewhere.
  if (instance.device_fault == DeviceFaultUse::kOn) {
    fault_.deviceFaultVendorBinary = present.deviceFaultVendorBinary;
  }
  fault_.pNext = const_cast<void*>(std::exchange(info_.pNext, &fault_));
  adds_anything_ = true;
}

// An application that enables it gets each report once, so that the layer must not ask.
void DeviceRequest::AddKhrFault(const InstanceState& instance, VkPhysicalDevice physical_device,
                                const std::string& why_not) {
  if (Enabled(kKhrDeviceFault) || Chained(kKhrFaultFeaturesType)) return;
  KhrFaultFeatures fault = {kKhrFaultFeaturesType};
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &fault};
  instance.GetPhysicalDeviceFeatures2(physical_device, &features);
  if (fault.deviceFault == VK_FALSE) return;
  if (!why_not.empty()) return LeaveOut(kKhrDeviceFault, why_not);
  Add(kKhrDeviceFault);
  khr_fault_.deviceFault = VK_TRUE;
  khr_fault_.deviceFaultVendorBinary = fault.deviceFaultVendorBinary;
  khr_fault_.deviceFaultReportMasked = fault.deviceFaultReportMasked;
  khr_fault_.pNext = const_cast<void*>(std::exchange(info_.pNext, &khr_fault_));
}

void DeviceRequest::CountChanges() const {
  NoteRobustDevice(robust_.devices());
}

void DeviceRequest::Note(DeviceState* device) const {
  device->enabled_extensions.assign(extensions_.begin(), extensions_.end());
  device->has_device_fault =
      Enabled(VK_EXT_DEVICE_FAULT_EXTENSION_NAME) && fault_.deviceFault != VK_FALSE;
  device->has_device_fault_vendor_binary =
      device->has_device_fault && fault_.deviceFaultVendorBinary != VK_FALSE;
  device->left_out = left_out_;
  device->has_shader_experiment_request = loops_.added();
  device->fill_queue = fill_queue_.queue();
  device->has_memory_budget = has_memory_budget_;
  device->owns_checkpoints = adds_checkpoints_;
  device->owns_khr_device_fault = khr_fault_.deviceFault != VK_FALSE;
  device->reports_address_bindings = Enabled(VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME) &&
                                     bindings_.reportAddressBinding != VK_FALSE;
}

}  // namespace cairn
