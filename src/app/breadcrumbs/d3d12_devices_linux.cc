// SPDX-License-Identifier: Apache-2.0
//
// Through libvkd3d, which makes a device of any Vulkan device. Its headers declare Direct3D 12
// themselves, so that this file includes no other declaration of it.
// clang-format off
#include "app/breadcrumbs/d3d12_devices.h"

#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include "os/environment.h"
#include "os/library.h"

// Last, because it defines min and max as macros.
#include <vkd3d.h>
// clang-format on

namespace cairn {

namespace {

constexpr GUID kDeviceIid = {
    0x189819f1, 0x1db6, 0x4b57, {0xbe, 0x54, 0x18, 0x21, 0x33, 0x9b, 0x85, 0xf7}};

struct Functions {
  PFN_vkd3d_create_instance create_instance = nullptr;
  PFN_vkd3d_instance_decref instance_decref = nullptr;
  PFN_vkd3d_instance_get_vk_instance get_vk_instance = nullptr;
  PFN_vkd3d_create_device create_device = nullptr;
  PFN_vkEnumeratePhysicalDevices enumerate_physical_devices = nullptr;
  PFN_vkGetPhysicalDeviceProperties get_properties = nullptr;
};

Result<Library> Load(const char* name, const char* packages) {
  Result<Library> library = Library::Load(name);
  if (library.ok()) return library;
  return Status(StatusCode::kNotFound, fmt::format("Direct3D 12 is not available: {}; install {}",
                                                   library.status().message(), packages));
}

template <typename Function>
bool Find(const Library& library, const char* name, Function* function) {
  *function = library.Find<Function>(name);
  return *function != nullptr;
}

Result<Functions> LoadFunctions() {
  constexpr const char* kPackages = "libvkd3d1 libvkd3d-utils1";
  Functions functions;
  // Not used here, but Direct3D 12 programs are linked with it.
  const Result<Library> utils = Load("libvkd3d-utils.so.1", kPackages);
  if (!utils.ok()) return utils.status();
  const Result<Library> vkd3d = Load("libvkd3d.so.1", kPackages);
  if (!vkd3d.ok()) return vkd3d.status();
  const Result<Library> vulkan = Load("libvulkan.so.1", "libvulkan1");
  if (!vulkan.ok()) return vulkan.status();
  const bool complete =
      Find(*vkd3d, "vkd3d_create_instance", &functions.create_instance) &&
      Find(*vkd3d, "vkd3d_instance_decref", &functions.instance_decref) &&
      Find(*vkd3d, "vkd3d_instance_get_vk_instance", &functions.get_vk_instance) &&
      Find(*vkd3d, "vkd3d_create_device", &functions.create_device) &&
      Find(*vulkan, "vkEnumeratePhysicalDevices", &functions.enumerate_physical_devices) &&
      Find(*vulkan, "vkGetPhysicalDeviceProperties", &functions.get_properties);
  if (!complete) {
    return Status(StatusCode::kUnsupported,
                  "libvkd3d.so.1 or libvulkan.so.1 lacks functions of version 1.0; reinstall them");
  }
  return functions;
}

// Fences are polled here: no event is needed.
HRESULT IgnoreEvent(HANDLE) {
  return S_OK;
}

Result<vkd3d_instance*> CreateInstance(const Functions& functions) {
  vkd3d_instance_create_info info = {};
  info.type = VKD3D_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pfn_signal_event = IgnoreEvent;
  info.wchar_size = sizeof(wchar_t);
  vkd3d_instance* instance = nullptr;
  const HRESULT result = functions.create_instance(&info, &instance);
  if (FAILED(result)) {
    return Status(StatusCode::kNotFound,
                  fmt::format("vkd3d_create_instance failed with HRESULT 0x{:08X}; check with "
                              "`vulkaninfo` that a Vulkan driver is installed",
                              static_cast<uint32_t>(result)));
  }
  return instance;
}

D3D12CreatedDevice CreateDevice(const Functions& functions, vkd3d_instance* instance,
                                VkPhysicalDevice physical_device) {
  D3D12CreatedDevice created;
  VkPhysicalDeviceProperties properties = {};
  functions.get_properties(physical_device, &properties);
  created.name = properties.deviceName;

  vkd3d_device_create_info info = {};
  info.type = VKD3D_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.minimum_feature_level = D3D_FEATURE_LEVEL_11_0;
  info.instance = instance;
  info.vk_physical_device = physical_device;
  const HRESULT result = functions.create_device(&info, kDeviceIid, &created.device);
  if (FAILED(result)) {
    created.device = nullptr;
    created.status =
        Status(StatusCode::kUnsupported,
               fmt::format("libvkd3d refuses feature level 11_0 on {} with HRESULT 0x{:08X}; set "
                           "VKD3D_DEBUG=warn for its reasons",
                           created.name, static_cast<uint32_t>(result)));
  }
  return created;
}

}  // namespace

Result<std::vector<D3D12CreatedDevice>> CreateD3D12Devices() {
  // The self-test calls stubs on purpose; libvkd3d would print a line for each. Errors still show.
  SetMissingVariable("VKD3D_DEBUG", "err");
  Result<Functions> functions = LoadFunctions();
  if (!functions.ok()) return functions.status();
  Result<vkd3d_instance*> instance = CreateInstance(*functions);
  if (!instance.ok()) return instance.status();

  const VkInstance vulkan = functions->get_vk_instance(*instance);
  uint32_t count = 0;
  functions->enumerate_physical_devices(vulkan, &count, nullptr);
  std::vector<VkPhysicalDevice> physical_devices(count);
  functions->enumerate_physical_devices(vulkan, &count, physical_devices.data());
  std::vector<D3D12CreatedDevice> devices;
  for (const VkPhysicalDevice physical_device : physical_devices) {
    devices.push_back(CreateDevice(*functions, *instance, physical_device));
  }
  functions->instance_decref(*instance);  // The devices hold references of their own.
  if (devices.empty()) {
    return Status(StatusCode::kNotFound,
                  "libvkd3d is installed, but there is no Vulkan device for it; check with "
                  "`vulkaninfo` that a Vulkan driver is installed");
  }
  return devices;
}

}  // namespace cairn
