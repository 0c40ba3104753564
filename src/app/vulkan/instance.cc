// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/instance.h"

#include <vulkan/vk_layer.h>

#include <atomic>
#include <memory>
#include <new>

#include "app/recorder/watcher_link.h"
#include "app/settings/log.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/negotiate.h"
#include "app/vulkan/recorded_experiment.h"
#include "app/vulkan/settings.h"
#include "os/environment.h"
#include "os/library.h"

namespace cairn {
namespace {

constexpr char kProperties2[] = VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME;
constexpr char kExternalMemory[] = VK_KHR_EXTERNAL_MEMORY_CAPABILITIES_EXTENSION_NAME;

// Limited loops take addresses of buffers, which older programs cannot ask for: vkd3d is one.
constexpr uint32_t kShaderExperimentVersion = VK_API_VERSION_1_2;

std::atomic<bool> needs_watcher{false};

void ReadSettings(const VkInstanceCreateInfo& info, InstanceState* state) {
  std::vector<std::string> complaints;
  const LayerSettings settings = ReadVulkanSettings(info.pNext, OwnVariable, &complaints);
  state->mode = *settings.breadcrumbs;
  state->device_fault = *settings.device_fault;
  LogEach(complaints);
  if (needs_watcher.load() && !WatcherSocket().ok()) state->mode = MarkerMode::kOff;
}

std::string ApplicationName(const VkApplicationInfo* info) {
  if (info == nullptr) return "";
  std::string name = info->pApplicationName == nullptr ? "" : info->pApplicationName;
  const std::string engine = info->pEngineName == nullptr ? "" : info->pEngineName;
  if (engine.empty() || engine == name) return name;
  return name.empty() ? engine : name + " (" + engine + ")";
}

// Loaders before 1.3.204 call a null function where a layer, and not the program, has enabled
// VK_KHR_get_physical_device_properties2. `link`: one of the layers' chain, which ends at the loader.
bool TakesQueriesOfLayers(const VkLayerInstanceLink* link) {
  while (link->pNext != nullptr) link = link->pNext;
  const auto end = reinterpret_cast<const void*>(link->pfnNextGetInstanceProcAddr);
  const Library loader = Library::FindLoaded(LibraryPathOf(end));
  // The latter is of Vulkan 1.3.
  return loader.Find<PFN_vkVoidFunction>("vkCreateInstance") == nullptr ||
         loader.Find<PFN_vkVoidFunction>("vkGetPhysicalDeviceToolProperties") != nullptr;
}

// Returns the application's extensions and those that the layer needs: messages, for the reports of
// address bindings, and queries of extensions' features.
std::vector<const char*> ExtensionsWithOurs(const VkInstanceCreateInfo& info, uint32_t api_version,
                                            const VkLayerInstanceLink* link) {
  std::vector<const char*> extensions(info.ppEnabledExtensionNames,
                                      info.ppEnabledExtensionNames + info.enabledExtensionCount);
  const auto add = [&](const char* name) {
    for (const char* known : extensions) {
      if (std::string_view(known) == name) return;
    }
    extensions.push_back(name);
  };
  add(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  if (api_version < VK_API_VERSION_1_1 && TakesQueriesOfLayers(link)) {
    add(kProperties2);
    add(kExternalMemory);
  }
  return extensions;
}

template <typename Function>
void Load(const InstanceState& state, const char* name, Function* function) {
  if (*function == nullptr) {
    *function = reinterpret_cast<Function>(state.next_get(state.handle, name));
  }
}

// All that the layer asks of the instance's chain when the instance has been made.
constexpr const char* kAskedLater[] = {
    "vkCmdBeginDebugUtilsLabelEXT",         "vkCmdEndDebugUtilsLabelEXT",
    "vkCmdInsertDebugUtilsLabelEXT",        "vkCreateDebugUtilsMessengerEXT",
    "vkDestroyDebugUtilsMessengerEXT",      "vkGetPhysicalDeviceMemoryProperties",
    "vkGetPhysicalDeviceMemoryProperties2", "vkGetPhysicalDeviceMemoryProperties2KHR",
    "vkGetPhysicalDeviceProperties",        "vkGetPhysicalDeviceProperties2",
    "vkGetPhysicalDeviceProperties2KHR",    "vkGetPhysicalDeviceQueueFamilyProperties",
    "vkQueueBeginDebugUtilsLabelEXT",       "vkQueueEndDebugUtilsLabelEXT",
    "vkQueueInsertDebugUtilsLabelEXT",      "vkSetDebugUtilsObjectNameEXT",
};

void LoadFunctions(InstanceState& state) {
  state.KeepNext();
  Load(state, "vkDestroyInstance", &state.DestroyInstance);
  Load(state, "vkEnumerateDeviceExtensionProperties", &state.EnumerateDeviceExtensionProperties);
  Load(state, "vkGetPhysicalDeviceProperties", &state.GetPhysicalDeviceProperties);
  Load(state, "vkGetPhysicalDeviceQueueFamilyProperties",
       &state.GetPhysicalDeviceQueueFamilyProperties);
  // The core's functions exist for instances of that version only.
  if (state.api_version >= VK_API_VERSION_1_1) {
    Load(state, "vkGetPhysicalDeviceFeatures2", &state.GetPhysicalDeviceFeatures2);
    Load(state, "vkGetPhysicalDeviceProperties2", &state.GetPhysicalDeviceProperties2);
  }
  // The loader may know no core but that of the program's version.
  if (state.Enabled(kProperties2)) {
    Load(state, "vkGetPhysicalDeviceFeatures2KHR", &state.GetPhysicalDeviceFeatures2);
    Load(state, "vkGetPhysicalDeviceProperties2KHR", &state.GetPhysicalDeviceProperties2);
  }
  if (state.api_version >= VK_API_VERSION_1_3) {
    Load(state, "vkGetPhysicalDeviceToolProperties", &state.GetPhysicalDeviceToolProperties);
  }
  Load(state, "vkGetPhysicalDeviceToolPropertiesEXT", &state.GetPhysicalDeviceToolProperties);
}

// A chain that is one link shorter each time it is called: what the loader's structure held before is
// needed again for another attempt. `loaders` is what stood where the handle goes: the end of the chain
// finds the loader's own instance by it.
VkResult CallNext(PFN_vkCreateInstance next, VkLayerInstanceCreateInfo* link,
                  VkLayerInstanceLink* ours, const VkInstanceCreateInfo& info,
                  const VkAllocationCallbacks* allocator, VkInstance loaders,
                  VkInstance* instance) {
  link->u.pLayerInfo = ours->pNext;
  *instance = loaders;
  return next(&info, allocator, instance);
}

VkResult CreateNext(PFN_vkCreateInstance next, VkLayerInstanceCreateInfo* link,
                    VkLayerInstanceLink* ours, const VkInstanceCreateInfo& info,
                    const VkAllocationCallbacks* allocator, VkInstance loaders,
                    InstanceState* state) {
  VkResult result = VK_ERROR_UNKNOWN;
  const uint32_t asked_version = state->api_version;
  if (state->mode != MarkerMode::kOff) {
    VkInstanceCreateInfo more = info;
    VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
    if (info.pApplicationInfo != nullptr) application = *info.pApplicationInfo;
    if (asked_version < kShaderExperimentVersion && RecordedExperiment::Active() != nullptr) {
      application.apiVersion = kShaderExperimentVersion;
      more.pApplicationInfo = &application;
      state->api_version = kShaderExperimentVersion;
    }
    std::vector<const char*> extensions = ExtensionsWithOurs(info, asked_version, ours);
    more.ppEnabledExtensionNames = extensions.data();
    more.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    state->extensions.assign(extensions.begin(), extensions.end());
    result = CallNext(next, link, ours, more, allocator, loaders, &state->handle);
  }
  if (result != VK_SUCCESS) {
    state->api_version = asked_version;
    state->extensions.assign(info.ppEnabledExtensionNames,
                             info.ppEnabledExtensionNames + info.enabledExtensionCount);
    result = CallNext(next, link, ours, info, allocator, loaders, &state->handle);
  }
  return result;
}

VkResult MakeInstance(const VkInstanceCreateInfo& info, const VkAllocationCallbacks* allocator,
                      VkInstance* instance) {
  auto* const link = FindLoaderInfo<VkLayerInstanceCreateInfo>(
      info.pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO, VK_LAYER_LINK_INFO);
  if (link == nullptr || link->u.pLayerInfo == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  VkLayerInstanceLink* const ours = LastOfOurs(link->u.pLayerInfo);
  ForgetName();
  const auto next = reinterpret_cast<PFN_vkCreateInstance>(
      ours->pfnNextGetInstanceProcAddr(VK_NULL_HANDLE, "vkCreateInstance"));
  if (next == nullptr) return VK_ERROR_INITIALIZATION_FAILED;

  auto state = std::make_unique<InstanceState>();
  state->next_get = ours->pfnNextGetInstanceProcAddr;
  state->next_get_physical_device = ours->pfnNextGetPhysicalDeviceProcAddr;
  ReadSettings(info, state.get());
  state->application = ApplicationName(info.pApplicationInfo);
  if (info.pApplicationInfo != nullptr && info.pApplicationInfo->apiVersion != 0) {
    state->api_version = info.pApplicationInfo->apiVersion;
  }
  const VkResult result = CreateNext(next, link, ours, info, allocator, *instance, state.get());
  if (result != VK_SUCCESS) return result;
  *instance = state->handle;
  LoadFunctions(*state);
  // Connect to the watcher now if the process must: some processes enter a sandbox before they make
  // a device. An error is reported when there is a block to hand over.
  if (state->mode != MarkerMode::kOff) (void)WatcherSocket().ok();
  if (!RememberInstance(*state)) {
    state->DestroyInstance(state->handle, allocator);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  static_cast<void>(state.release());  // DestroyInstance
  return VK_SUCCESS;
}

}  // namespace

void WorkOnlyWithWatcher() {
  needs_watcher.store(true);
}

void WorkAlsoWithoutWatcher() {
  needs_watcher.store(false);
}

void InstanceState::KeepNext() {
  kept_.clear();
  for (const std::string_view name : kAskedLater) {
    // Whatever a look-up answers: a loader may know what it cannot call.
    if (name.ends_with("2") && api_version < VK_API_VERSION_1_1) continue;
    if (name.ends_with("2KHR") && !Enabled(kProperties2)) continue;
    kept_.emplace_back(name, next_get(handle, name.data()));
  }
}

PFN_vkVoidFunction InstanceState::Next(std::string_view name) const {
  for (const auto& [known, function] : kept_) {
    if (known == name) return function;
  }
  return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo* pCreateInfo,
                                              const VkAllocationCallbacks* pAllocator,
                                              VkInstance* pInstance) {
  try {
    return MakeInstance(*pCreateInfo, pAllocator, pInstance);
  } catch (const std::bad_alloc&) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
}

VKAPI_ATTR void VKAPI_CALL DestroyInstance(VkInstance instance,
                                           const VkAllocationCallbacks* pAllocator) {
  InstanceState* const state = InstanceOf(instance);
  if (state == nullptr) return;  // vkDestroyInstance(NULL) does nothing
  const PFN_vkDestroyInstance next = state->DestroyInstance;
  ForgetInstance(*state);
  delete state;
  next(instance, pAllocator);
}

}  // namespace cairn
