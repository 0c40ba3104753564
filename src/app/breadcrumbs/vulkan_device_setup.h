// SPDX-License-Identifier: Apache-2.0
//
// An instance and devices of Cairn's own, for the probe, the tests and the benchmarks. The library
// itself never creates a device.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_DEVICE_SETUP_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_DEVICE_SETUP_H_

#include <string>
#include <vector>

#include "app/breadcrumbs/vulkan_backend.h"
#include "app/breadcrumbs/vulkan_functions.h"
#include "app/breadcrumbs/vulkan_loader.h"
#include "base/status.h"

namespace cairn {

// The device extensions that Cairn has a use for, and that do no harm on any driver.
std::vector<std::string> KnownVulkanExtensions();

// Layers, extensions and structures that VulkanInstance::Create adds to the bare instance.
struct VulkanInstanceOptions {
  std::vector<const char*> layers;
  std::vector<const char*> extensions;
  const void* next = nullptr;  // chained to VkInstanceCreateInfo
};

// Destroys the instance with itself.
class VulkanInstance {
 public:
  VulkanInstance() = default;
  VulkanInstance(const VulkanInstance&) = delete;
  VulkanInstance& operator=(const VulkanInstance&) = delete;
  ~VulkanInstance();

  // kNotFound if there is no loader or no driver.
  Status Create(const VulkanInstanceOptions& options);

  // kNotFound if there is none.
  Result<std::vector<VkPhysicalDevice>> PhysicalDevices() const;
  VkPhysicalDeviceProperties Properties(VkPhysicalDevice physical_device) const;

  VkInstance instance() const { return instance_; }
  VulkanGetInstanceProcAddr loader() const { return loader_; }

  // The function of this name, typed by the caller; null if the instance does not have it.
  template <typename Function>
  Function Load(const char* name) const {
    return reinterpret_cast<Function>(loader_(instance_, name));
  }

  // Leaves the instance alive: a device that hangs cannot be destroyed, nor what it came from.
  void Abandon() { instance_ = VK_NULL_HANDLE; }

 private:
  VkInstance instance_ = VK_NULL_HANDLE;
  VulkanGetInstanceProcAddr loader_ = nullptr;
};

// A device with one queue of every family. Destroys it with itself, after waiting for it.
class VulkanOwnDevice {
 public:
  struct Family {
    VkQueueFlags flags = 0;
    VkQueue queue = VK_NULL_HANDLE;
  };

  VulkanOwnDevice() = default;
  VulkanOwnDevice(const VulkanOwnDevice&) = delete;
  VulkanOwnDevice& operator=(const VulkanOwnDevice&) = delete;
  ~VulkanOwnDevice();

  // Enables those of `wanted_extensions` that the device has; `next` is chained to
  // VkDeviceCreateInfo, for features. `instance` must outlive the device.
  Status Create(const VulkanInstance& instance, VkPhysicalDevice physical_device,
                const std::vector<std::string>& wanted_extensions, const void* next);

  // For CreateVulkanBackend and OpenVulkanDevice, with the first family that takes graphics, or else
  // compute.
  VulkanBackendParams params() const;

  VkDevice device() const { return device_; }
  VkPhysicalDevice physical_device() const { return physical_device_; }
  const std::vector<Family>& families() const { return families_; }
  uint32_t main_family() const { return main_family_; }
  const std::vector<std::string>& enabled_extensions() const { return enabled_extensions_; }

  void Abandon() { device_ = VK_NULL_HANDLE; }

 private:
  Status FindFamilies();
  Status FindExtensions(const std::vector<std::string>& wanted);

  const VulkanInstance* instance_ = nullptr;
  VkPhysicalDevice physical_device_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  std::vector<Family> families_;
  uint32_t main_family_ = 0;
  std::vector<std::string> enabled_extensions_;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_DEVICE_SETUP_H_
