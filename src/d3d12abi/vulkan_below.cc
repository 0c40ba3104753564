// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/vulkan_below.h"

#include "os/library.h"

namespace cairn {
namespace {

// IUnknown and ID3D12DXVKInteropDevice of a native vkd3d-proton: functions of the platform's convention, and the
// places in the table of those that are called here.
constexpr size_t kQueryInterface = 0;
constexpr size_t kRelease = 2;
constexpr size_t kGetVulkanHandles = 7;

struct Iid {
  uint32_t data1;
  uint16_t data2;
  uint16_t data3;
  uint8_t data4[8];
};
constexpr Iid kInteropDevice = {
    0x39da4e09, 0xbd1c, 0x4198, {0x9f, 0xae, 0x86, 0xbb, 0xe3, 0xbe, 0x41, 0xfd}};

template <typename Function>
Function MethodAt(void* object, size_t place) {
  return reinterpret_cast<Function>((*static_cast<void***>(object))[place]);
}

std::optional<VulkanBelow> AskVkd3dProton(void* device) {
  using QueryInterface = int32_t (*)(void*, const Iid&, void**);
  using Release = uint32_t (*)(void*);
  using GetVulkanHandles = int32_t (*)(void*, VkInstance*, VkPhysicalDevice*, VkDevice*);
  void* interop = nullptr;
  if (MethodAt<QueryInterface>(device, kQueryInterface)(device, kInteropDevice, &interop) < 0 ||
      interop == nullptr) {
    return std::nullopt;
  }
  VulkanBelow below;
  below.implementation = "vkd3d-proton";
  VkDevice vulkan_device = VK_NULL_HANDLE;
  const int32_t told = MethodAt<GetVulkanHandles>(interop, kGetVulkanHandles)(
      interop, &below.instance, &below.device, &vulkan_device);
  MethodAt<Release>(interop, kRelease)(interop);
  if (told < 0 || below.device == VK_NULL_HANDLE) return std::nullopt;
  return below;
}

// It trusts the pointer.
std::optional<VulkanBelow> AskLibvkd3d(void* device, const Library& vkd3d) {
  const auto device_of = vkd3d.Find<VkPhysicalDevice (*)(void*)>("vkd3d_get_vk_physical_device");
  const auto instance_below = vkd3d.Find<void* (*)(void*)>("vkd3d_instance_from_device");
  const auto instance_of = vkd3d.Find<VkInstance (*)(void*)>("vkd3d_instance_get_vk_instance");
  VulkanBelow below;
  below.implementation = "libvkd3d";
  if (device_of != nullptr) below.device = device_of(device);
  if (below.device == VK_NULL_HANDLE) return std::nullopt;
  if (instance_below != nullptr && instance_of != nullptr) {
    below.instance = instance_of(instance_below(device));
  }
  return below;
}

}  // namespace

std::optional<VulkanBelow> FindVulkanBelow(void* device) {
  const void* const method = **static_cast<void***>(device);
  const std::string library = LibraryNameOf(method);
  if (library.starts_with("libvkd3d-proton")) return AskVkd3dProton(device);
  if (!library.starts_with("libvkd3d.so")) return std::nullopt;
  return AskLibvkd3d(device, Library::FindLoaded(LibraryPathOf(method)));
}

std::vector<VkPhysicalDevice> PhysicalDevicesOf(VkInstance instance) {
  const Library vulkan = Library::FindLoaded(LibraryFile("vulkan", 1));
  const auto enumerate = vulkan.Find<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices");
  uint32_t count = 0;
  if (instance == VK_NULL_HANDLE || enumerate == nullptr ||
      enumerate(instance, &count, nullptr) != VK_SUCCESS) {
    return {};
  }
  std::vector<VkPhysicalDevice> devices(count);
  const VkResult result = enumerate(instance, &count, devices.data());
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return {};
  devices.resize(count);
  return devices;
}

}  // namespace cairn
