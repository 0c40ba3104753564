// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "d3d12abi/adapters.h"
#include "d3d12abi/vulkan_below.h"
#include "os/environment.h"
#include "os/library.h"

namespace cairn {
namespace {

constexpr char kSelected[] = "VKD3D_VULKAN_DEVICE";

// The value that the user set, while another stands in its place.
struct Replaced {
  std::optional<std::string> of_user;
};
std::optional<Replaced> replaced;

}  // namespace

Result<std::vector<Adapter>> ListAdapters() {
  const Result<Library> vulkan = Library::Load(LibraryFile("vulkan", 1));
  if (!vulkan.ok()) return vulkan.status();
  const auto create = vulkan->Find<PFN_vkCreateInstance>("vkCreateInstance");
  const auto properties_of =
      vulkan->Find<PFN_vkGetPhysicalDeviceProperties>("vkGetPhysicalDeviceProperties");
  if (create == nullptr || properties_of == nullptr) {
    return Status(StatusCode::kUnsupported, "the library of Vulkan lacks functions");
  }
  VkInstanceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  // Never destroyed: the drivers stay loaded until the implementation's own instance needs them, which costs as much as
  // the rest of a short playback.
  static VkInstance instance = VK_NULL_HANDLE;
  const VkResult result =
      instance == VK_NULL_HANDLE ? create(&info, nullptr, &instance) : VK_SUCCESS;
  if (result != VK_SUCCESS) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("vkCreateInstance gave {}", static_cast<int>(result)));
  }
  std::vector<Adapter> adapters;
  for (const VkPhysicalDevice device : PhysicalDevicesOf(instance)) {
    VkPhysicalDeviceProperties properties = {};
    properties_of(device, &properties);
    adapters.push_back({.name = static_cast<const char*>(properties.deviceName),
                        .vendor_id = properties.vendorID,
                        .device_id = properties.deviceID,
                        .of_vulkan = true});
  }
  return adapters;
}

std::optional<uint32_t> AdapterPlaceOf(void* device, uint64_t) {
  const std::optional<VulkanBelow> below = FindVulkanBelow(device);
  if (!below) return std::nullopt;
  const std::vector<VkPhysicalDevice> devices = PhysicalDevicesOf(below->instance);
  const auto found = std::find(devices.begin(), devices.end(), below->device);
  if (found == devices.end()) return std::nullopt;
  return static_cast<uint32_t>(found - devices.begin());
}

Result<void*> SelectAdapter(uint32_t place) {
  const std::string wanted = std::to_string(place);
  const char* const now = OwnVariable(kSelected);
  if (now != nullptr && now == wanted) return static_cast<void*>(nullptr);
  if (!replaced) {
    replaced.emplace();
    if (now != nullptr) replaced->of_user = now;
  }
  SetVariable(kSelected, wanted);
  return static_cast<void*>(nullptr);
}

void EndAdapterSelection() {
  if (!replaced) return;
  if (replaced->of_user) {
    SetVariable(kSelected, *replaced->of_user);
  } else {
    ClearVariable(kSelected);
  }
  replaced.reset();
}

bool EnvironmentSelectsAdapter() {
  return OwnVariable(kSelected) != nullptr || OwnVariable("VKD3D_FILTER_DEVICE_NAME") != nullptr;
}

}  // namespace cairn
