// SPDX-License-Identifier: Apache-2.0
//
// What the Vulkan loader asks for: version negotiation, and functions by name.
#include "icd/entry.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "icd/objects.h"

namespace cairn::icd {
namespace {

// 5: the loader lets the driver judge the application's version of Vulkan.
constexpr uint32_t kInterfaceVersion = 5;

const std::unordered_map<std::string_view, Entry>& AllEntries() {
  static const std::unordered_map<std::string_view, Entry> kAll = [] {
    std::unordered_map<std::string_view, Entry> all;
    for (const auto& entries :
         {InstanceEntries(), PhysicalDeviceEntries(), DeviceEntries(), MemoryEntries(),
          ImageEntries(), StubEntries(), CommandPoolEntries(), CommandEntries(), TransferEntries(),
          BarrierEntries(), LabelEntries(), StateCommandEntries(), QueueEntries(), SyncEntries(),
          FaultEntries(), MessengerEntries()}) {
      for (const Entry& entry : entries) all.emplace(entry.name, entry);
    }
    return all;
  }();
  return kAll;
}

PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance, const char* name) {
  return FindFunction(name);
}

PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device, const char* name) {
  const auto found = AllEntries().find(name);
  if (found == AllEntries().end()) return nullptr;
  const char* extension = found->second.extension;
  if (extension == nullptr) return found->second.function;
  bool enabled = Of(device)->extensions.contains(std::string_view(extension));
  // An extension of the instance; the device cannot know if it is enabled.
  if (std::string_view(extension) == VK_EXT_DEBUG_UTILS_EXTENSION_NAME) {
    enabled = Of(device)->instance->settings.Has(extension);
  }
  return enabled ? found->second.function : nullptr;
}

}  // namespace

PFN_vkVoidFunction FindFunction(const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetInstanceProcAddr") {
    return reinterpret_cast<PFN_vkVoidFunction>(GetInstanceProcAddr);
  }
  if (wanted == "vkGetDeviceProcAddr") {
    return reinterpret_cast<PFN_vkVoidFunction>(GetDeviceProcAddr);
  }
  const auto found = AllEntries().find(wanted);
  return found == AllEntries().end() ? nullptr : found->second.function;
}

}  // namespace cairn::icd

#if defined(_WIN32)
#define CAIRN_ICD_EXPORT extern "C" __declspec(dllexport)
#else
#define CAIRN_ICD_EXPORT extern "C" __attribute__((visibility("default")))
#endif

CAIRN_ICD_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* version) {
  *version = std::min(*version, cairn::icd::kInterfaceVersion);
  return VK_SUCCESS;
}

CAIRN_ICD_EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetInstanceProcAddr(VkInstance, const char* name) {
  return cairn::icd::FindFunction(name);
}

CAIRN_ICD_EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance, const char* name) {
  const auto entries = cairn::icd::PhysicalDeviceEntries();
  const bool known = std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
    return std::string_view(entry.name) == name;
  });
  return known ? cairn::icd::FindFunction(name) : nullptr;
}
