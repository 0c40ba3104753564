// SPDX-License-Identifier: Apache-2.0
//
// devices.exe [vulkan] [d3d12] [d3d11]: opens a device of each (without arguments: of all), and prints a line
// for it. Exits with 1 if one cannot be had.
#include <d3d11.h>
#include <d3d12.h>
#include <dxgi1_4.h>
#include <windows.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <cstdio>
#include <cwchar>

namespace {

// 12_2 by its number: headers of mingw-w64 do not know it.
constexpr D3D_FEATURE_LEVEL kLevels[] = {D3D_FEATURE_LEVEL(0xc200), D3D_FEATURE_LEVEL_12_1,
                                         D3D_FEATURE_LEVEL_12_0, D3D_FEATURE_LEVEL_11_1,
                                         D3D_FEATURE_LEVEL_11_0};

// DXVK's devices have this interface, and no others.
constexpr GUID kDxvkDevice = {
    0xe2ef5fa5, 0xdc21, 0x4af7, {0x90, 0xc4, 0xf6, 0x7e, 0xf6, 0xa0, 0x93, 0x23}};

bool Fail(const char* api, const char* what, long code) {
  printf("%s: no device: %s gives %#lx\n", api, what, static_cast<unsigned long>(code));
  return false;
}

// Levels are 0xb000, 0xb100, ... for 11_0, 11_1.
void PrintLevel(const char* api, const wchar_t* adapter, D3D_FEATURE_LEVEL level,
                const char* rest) {
  printf("%s: %ls, feature level %d_%d%s\n", api, adapter, level >> 12, (level >> 8) & 15, rest);
}

bool ShowVulkan() {
  const HMODULE library = LoadLibraryW(L"vulkan-1.dll");
  if (library == nullptr) return Fail("Vulkan", "LoadLibrary(vulkan-1)", GetLastError());
  const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(
      reinterpret_cast<void*>(GetProcAddress(library, "vkGetInstanceProcAddr")));
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(get(nullptr, "vkCreateInstance"));
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  VkInstance instance = nullptr;
  const VkResult created = create(&info, nullptr, &instance);
  if (created != VK_SUCCESS) return Fail("Vulkan", "vkCreateInstance", created);
  const auto enumerate =
      reinterpret_cast<PFN_vkEnumeratePhysicalDevices>(get(instance, "vkEnumeratePhysicalDevices"));
  const auto properties_of = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(
      get(instance, "vkGetPhysicalDeviceProperties"));
  VkPhysicalDevice device = nullptr;
  uint32_t count = 1;
  const VkResult found = enumerate(instance, &count, &device);
  if (found < 0 || count == 0) return Fail("Vulkan", "vkEnumeratePhysicalDevices", found);
  VkPhysicalDeviceProperties properties = {};
  properties_of(device, &properties);
  printf("Vulkan: %s, %u.%u.%u\n", properties.deviceName,
         VK_API_VERSION_MAJOR(properties.apiVersion), VK_API_VERSION_MINOR(properties.apiVersion),
         VK_API_VERSION_PATCH(properties.apiVersion));
  return true;
}

bool ShowD3d12() {
  IDXGIFactory1* factory = nullptr;
  HRESULT result = CreateDXGIFactory1(IID_PPV_ARGS(&factory));
  if (FAILED(result)) return Fail("Direct3D 12", "CreateDXGIFactory1", result);
  IDXGIAdapter1* adapter = nullptr;
  result = factory->EnumAdapters1(0, &adapter);
  if (FAILED(result)) return Fail("Direct3D 12", "EnumAdapters1", result);
  DXGI_ADAPTER_DESC1 adapter_says = {};
  adapter->GetDesc1(&adapter_says);
  ID3D12Device* device = nullptr;
  result = D3D12CreateDevice(adapter, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device));
  if (FAILED(result)) return Fail("Direct3D 12", "D3D12CreateDevice", result);
  D3D12_FEATURE_DATA_FEATURE_LEVELS levels = {ARRAYSIZE(kLevels), kLevels, D3D_FEATURE_LEVEL_11_0};
  result = device->CheckFeatureSupport(D3D12_FEATURE_FEATURE_LEVELS, &levels, sizeof(levels));
  if (FAILED(result)) return Fail("Direct3D 12", "CheckFeatureSupport", result);
  PrintLevel("Direct3D 12", adapter_says.Description, levels.MaxSupportedFeatureLevel, "");
  return true;
}

bool ShowD3d11() {
  ID3D11Device* device = nullptr;
  D3D_FEATURE_LEVEL level = {};
  HRESULT result =
      D3D11CreateDevice(nullptr, D3D_DRIVER_TYPE_HARDWARE, nullptr, 0, &kLevels[1],
                        ARRAYSIZE(kLevels) - 1, D3D11_SDK_VERSION, &device, &level, nullptr);
  if (FAILED(result)) return Fail("Direct3D 11", "D3D11CreateDevice", result);
  IDXGIDevice* dxgi_device = nullptr;
  IDXGIAdapter* adapter = nullptr;
  result = device->QueryInterface(IID_PPV_ARGS(&dxgi_device));
  if (SUCCEEDED(result)) result = dxgi_device->GetAdapter(&adapter);
  if (FAILED(result)) return Fail("Direct3D 11", "IDXGIDevice::GetAdapter", result);
  DXGI_ADAPTER_DESC adapter_says = {};
  adapter->GetDesc(&adapter_says);
  IUnknown* of_dxvk = nullptr;
  const bool is_dxvk =
      SUCCEEDED(device->QueryInterface(kDxvkDevice, reinterpret_cast<void**>(&of_dxvk)));
  PrintLevel("Direct3D 11", adapter_says.Description, level, is_dxvk ? ", DXVK" : ", not DXVK");
  return true;
}

}  // namespace

int wmain(int argc, wchar_t** argv) {
  const auto asked_for = [argc, argv](const wchar_t* api) {
    for (int i = 1; i < argc; ++i) {
      if (wcscmp(argv[i], api) == 0) return true;
    }
    return argc == 1;
  };
  bool all = true;
  if (asked_for(L"vulkan")) all = ShowVulkan() && all;
  if (asked_for(L"d3d12")) all = ShowD3d12() && all;
  if (asked_for(L"d3d11")) all = ShowD3d11() && all;
  fflush(stdout);
  // Without the drivers' farewell, which is not what was asked.
  TerminateProcess(GetCurrentProcess(), all ? 0 : 1);
  return 1;
}
