// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <vulkan/vulkan_core.h>

#include <filesystem>

#include "reader/replay/device.h"

namespace cairn {

bool HasWindowsCalls(const std::string& library) {
  return library.find("libvkd3d-utils.so") != std::string::npos ||
         library.find("libvkd3d.so") != std::string::npos;
}

Result<D3D12Library> LoadD3D12(const std::string& library) {
  // Traces contain calls of stubs; libvkd3d would print a line for each. Errors still show.
  setenv("VKD3D_DEBUG", "err", /*overwrite=*/0);
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const next = library == kDefaultD3D12Library
                                 ? "; install libvkd3d-utils1, or name another library"
                                 : "; name a library that exports D3D12CreateDevice";
    const char* const reason = dlerror();
    return Status(StatusCode::kNotFound,
                  fmt::format("Direct3D 12 is not available: {}{}",
                              reason == nullptr ? library : std::string(reason), next));
  }
  D3D12Library result;
  result.create_device = dlsym(handle, "D3D12CreateDeviceVKD3D");
  result.takes_api_version = result.create_device != nullptr;
  if (result.create_device == nullptr) result.create_device = dlsym(handle, "D3D12CreateDevice");
  // libvkd3d-utils was built with wchar_t for WCHAR, and tells libvkd3d so; others have that of Windows.
  result.wchar_bytes = result.takes_api_version ? sizeof(wchar_t) : sizeof(char16_t);
  result.serialize_root_signature = dlsym(handle, "D3D12SerializeRootSignature");
  if (result.create_device == nullptr) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("{} exports no D3D12CreateDevice; name a library that does", library));
  }
  return result;
}

namespace {

// The file that holds this code, links followed; "" if it is not known.
std::string FileOf(const void* code) {
  Dl_info info = {};
  if (code == nullptr || dladdr(code, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(info.dli_fname, error);
  return error ? std::string(info.dli_fname) : path.string();
}

template <typename Function>
Function FindIn(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

void AskVulkan(VkPhysicalDevice device, void* vulkan, DeviceFacts* facts) {
  const auto properties_of =
      FindIn<PFN_vkGetPhysicalDeviceProperties>(vulkan, "vkGetPhysicalDeviceProperties");
  if (properties_of == nullptr) return;
  VkPhysicalDeviceProperties properties = {};
  properties_of(device, &properties);
  facts->name = fmt::format("{}, {:04x}:{:04x}", static_cast<const char*>(properties.deviceName),
                            properties.vendorID, properties.deviceID);
  facts->driver = fmt::format("version {:#x}", properties.driverVersion);
  const auto more_of =
      FindIn<PFN_vkGetPhysicalDeviceProperties2>(vulkan, "vkGetPhysicalDeviceProperties2");
  if (more_of == nullptr || properties.apiVersion < VK_API_VERSION_1_2) return;
  // Zeros where the driver does not know it.
  VkPhysicalDeviceDriverProperties driver = {};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  VkPhysicalDeviceProperties2 both = {};
  both.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  both.pNext = &driver;
  more_of(device, &both);
  if (driver.driverName[0] == '\0') return;
  facts->driver =
      fmt::format("{} {}, version {:#x}", static_cast<const char*>(driver.driverName),
                  static_cast<const char*>(driver.driverInfo), properties.driverVersion);
}

}  // namespace

DeviceFacts DescribeDevice(const D3D12Library& library, void* device) {
  DeviceFacts facts;
  const std::string file = FileOf(library.create_device);
  facts.library = std::filesystem::path(file).filename();
  facts.library_paths = file;
  // libvkd3d trusts the pointer: only for its own objects, which are known by their code.
  const void* const method = **static_cast<void***>(device);
  const std::string implementation = FileOf(method);
  if (!implementation.empty() && implementation != file) {
    facts.library_paths += (file.empty() ? "" : ", ") + implementation;
  }
  if (!std::filesystem::path(implementation).filename().string().starts_with("libvkd3d.so")) {
    return facts;
  }
  void* const vkd3d = dlopen(implementation.c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* const vulkan = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto physical_device_of =
      FindIn<VkPhysicalDevice (*)(void*)>(vkd3d, "vkd3d_get_vk_physical_device");
  if (physical_device_of != nullptr) AskVulkan(physical_device_of(device), vulkan, &facts);
  if (vulkan != nullptr) dlclose(vulkan);
  if (vkd3d != nullptr) dlclose(vkd3d);
  return facts;
}

}  // namespace cairn
