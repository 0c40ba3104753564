// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_device_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cairn {
namespace {

constexpr const char* kNoDevice =
    "no Vulkan device: the loader found none; install the package mesa-vulkan-drivers (a device on "
    "the CPU) or the driver of your GPU";

uint32_t InstanceVersion(VulkanGetInstanceProcAddr loader) {
  const auto enumerate = reinterpret_cast<PFN_vkEnumerateInstanceVersion>(
      loader(nullptr, "vkEnumerateInstanceVersion"));
  uint32_t version = VK_API_VERSION_1_0;
  if (enumerate != nullptr && enumerate(&version) != VK_SUCCESS) version = VK_API_VERSION_1_0;
  return std::min(version, VK_API_VERSION_1_3);
}

}  // namespace

std::vector<std::string> KnownVulkanExtensions() {
  return {VK_AMD_BUFFER_MARKER_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
          VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME};
}

VulkanInstance::~VulkanInstance() {
  if (instance_ == VK_NULL_HANDLE) return;
  Load<PFN_vkDestroyInstance>("vkDestroyInstance")(instance_, nullptr);
}

Status VulkanInstance::Create(const VulkanInstanceOptions& options) {
  Result<VulkanGetInstanceProcAddr> loader = LoadVulkanLoader();
  if (!loader.ok()) return loader.status();
  loader_ = *loader;
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "cairn";
  application.apiVersion = InstanceVersion(loader_);
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pNext = options.next;
  info.pApplicationInfo = &application;
  info.enabledLayerCount = static_cast<uint32_t>(options.layers.size());
  info.ppEnabledLayerNames = options.layers.data();
  info.enabledExtensionCount = static_cast<uint32_t>(options.extensions.size());
  info.ppEnabledExtensionNames = options.extensions.data();
  const auto create = Load<PFN_vkCreateInstance>("vkCreateInstance");
  if (create == nullptr) {
    return Status(StatusCode::kNotFound, "the Vulkan loader has no vkCreateInstance");
  }
  const VkResult result = create(&info, nullptr, &instance_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) return Status(StatusCode::kNotFound, kNoDevice);
  return VulkanStatus("vkCreateInstance", result);
}

Result<std::vector<VkPhysicalDevice>> VulkanInstance::PhysicalDevices() const {
  const auto enumerate = Load<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices");
  uint32_t count = 0;
  VkResult result = enumerate(instance_, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  if (result == VK_SUCCESS && count > 0) result = enumerate(instance_, &count, devices.data());
  if (result != VK_SUCCESS) {
    return Status(
        StatusCode::kNotFound,
        fmt::format("no Vulkan device: vkEnumeratePhysicalDevices returned {}; install the package "
                    "mesa-vulkan-drivers (a device on the CPU) or the driver of your GPU",
                    VulkanResultName(result)));
  }
  devices.resize(count);
  if (devices.empty()) return Status(StatusCode::kNotFound, kNoDevice);
  return devices;
}

VkPhysicalDeviceProperties VulkanInstance::Properties(VkPhysicalDevice physical_device) const {
  VkPhysicalDeviceProperties properties = {};
  Load<PFN_vkGetPhysicalDeviceProperties>("vkGetPhysicalDeviceProperties")(physical_device,
                                                                           &properties);
  return properties;
}

VulkanOwnDevice::~VulkanOwnDevice() {
  if (device_ == VK_NULL_HANDLE) return;
  // A wait that fails means a lost device, which may be destroyed all the same.
  static_cast<void>(instance_->Load<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle")(device_));
  instance_->Load<PFN_vkDestroyDevice>("vkDestroyDevice")(device_, nullptr);
}

Status VulkanOwnDevice::FindFamilies() {
  const auto get = instance_->Load<PFN_vkGetPhysicalDeviceQueueFamilyProperties>(
      "vkGetPhysicalDeviceQueueFamilyProperties");
  uint32_t count = 0;
  get(physical_device_, &count, nullptr);
  std::vector<VkQueueFamilyProperties> properties(count);
  get(physical_device_, &count, properties.data());
  for (const VkQueueFamilyProperties& family : properties) {
    families_.push_back({family.queueFlags, VK_NULL_HANDLE});
  }
  for (VkQueueFlags wanted : {VK_QUEUE_GRAPHICS_BIT, VK_QUEUE_COMPUTE_BIT}) {
    for (uint32_t i = 0; i < count; ++i) {
      if ((families_[i].flags & wanted) == 0) continue;
      main_family_ = i;
      return Status();
    }
  }
  return Status(StatusCode::kUnsupported, "no queue family takes graphics or compute");
}

Status VulkanOwnDevice::FindExtensions(const std::vector<std::string>& wanted) {
  const auto enumerate = instance_->Load<PFN_vkEnumerateDeviceExtensionProperties>(
      "vkEnumerateDeviceExtensionProperties");
  uint32_t count = 0;
  VkResult result = enumerate(physical_device_, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> available(count);
  if (result == VK_SUCCESS) result = enumerate(physical_device_, nullptr, &count, available.data());
  CAIRN_RETURN_IF_ERROR(VulkanStatus("vkEnumerateDeviceExtensionProperties", result));
  for (const std::string& name : wanted) {
    const bool found = std::any_of(available.begin(), available.end(), [&](const auto& extension) {
      return name == extension.extensionName;
    });
    if (found) enabled_extensions_.push_back(name);
  }
  return Status();
}

Status VulkanOwnDevice::Create(const VulkanInstance& instance, VkPhysicalDevice physical_device,
                               const std::vector<std::string>& wanted_extensions,
                               const void* next) {
  instance_ = &instance;
  physical_device_ = physical_device;
  CAIRN_RETURN_IF_ERROR(FindFamilies());
  CAIRN_RETURN_IF_ERROR(FindExtensions(wanted_extensions));
  const float priority = 1.0f;
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (uint32_t i = 0; i < families_.size(); ++i) {
    VkDeviceQueueCreateInfo& queue = queues.emplace_back();
    queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueFamilyIndex = i;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
  }
  std::vector<const char*> names;
  for (const std::string& name : enabled_extensions_) names.push_back(name.c_str());
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = next;
  info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = static_cast<uint32_t>(names.size());
  info.ppEnabledExtensionNames = names.data();
  const VkResult result = instance.Load<PFN_vkCreateDevice>("vkCreateDevice")(
      physical_device, &info, nullptr, &device_);
  CAIRN_RETURN_IF_ERROR(VulkanStatus("vkCreateDevice", result));
  const auto get_queue = instance.Load<PFN_vkGetDeviceQueue>("vkGetDeviceQueue");
  for (uint32_t i = 0; i < families_.size(); ++i) get_queue(device_, i, 0, &families_[i].queue);
  return Status();
}

VulkanBackendParams VulkanOwnDevice::params() const {
  VulkanBackendParams params;
  params.instance = instance_->instance();
  params.physical_device = physical_device_;
  params.device = device_;
  params.queue = families_[main_family_].queue;
  params.queue_family = main_family_;
  params.get_instance_proc_addr = instance_->loader();
  params.enabled_extensions = enabled_extensions_;
  return params;
}

}  // namespace cairn
