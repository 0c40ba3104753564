// SPDX-License-Identifier: Apache-2.0
//
// The instance, and the messengers that it makes or is created with.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "icd/entry.h"
#include "icd/objects.h"
#include "icd/requests.h"

namespace cairn::icd {
namespace {

constexpr VkExtensionProperties kInstanceExtensions[] = {
    {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_DEBUG_UTILS_SPEC_VERSION},
    {VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME,
     VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_SPEC_VERSION},
    {VK_KHR_EXTERNAL_MEMORY_CAPABILITIES_EXTENSION_NAME,
     VK_KHR_EXTERNAL_MEMORY_CAPABILITIES_SPEC_VERSION}};

// CAIRN_ICD; a word that means nothing is a mistake in a test, which must not pass for that reason.
Settings ReadSettings() {
  Settings settings;
  std::string error;
  const char* text = std::getenv("CAIRN_ICD");
  if (text != nullptr && !ParseSettings(text, &settings, &error)) {
    std::fprintf(stderr, "cairn test driver: %s\n", error.c_str());
    std::abort();
  }
  return settings;
}

void AddMessenger(Instance* instance, const VkDebugUtilsMessengerCreateInfoEXT& info) {
  auto messenger = std::make_unique<Messenger>();
  messenger->info = info;
  instance->messengers.push_back(std::move(messenger));
}

VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks*,
                                   VkInstance* output) {
  NoteRequest(*info);
  auto instance = std::make_unique<Instance>();
  instance->settings = ReadSettings();
  instance->physical_device.instance = instance.get();
  if (const VkApplicationInfo* application = info->pApplicationInfo; application != nullptr) {
    if (application->pApplicationName != nullptr) {
      instance->application_name = application->pApplicationName;
    }
    if (application->pEngineName != nullptr) instance->engine_name = application->pEngineName;
    instance->application_version = application->applicationVersion;
  }
  if (!instance->settings.Has(VK_EXT_DEBUG_UTILS_EXTENSION_NAME)) {
    for (uint32_t i = 0; i < info->enabledExtensionCount; ++i) {
      if (std::strcmp(info->ppEnabledExtensionNames[i], VK_EXT_DEBUG_UTILS_EXTENSION_NAME) == 0) {
        return VK_ERROR_EXTENSION_NOT_PRESENT;
      }
    }
  }
  *output = To<VkInstance>(instance.release());
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyInstance(VkInstance instance, const VkAllocationCallbacks*) {
  delete From<Instance>(instance);
}

VkResult VKAPI_CALL EnumerateInstanceExtensionProperties(const char*, uint32_t* count,
                                                         VkExtensionProperties* output) {
  const Settings settings = ReadSettings();
  std::vector<VkExtensionProperties> extensions;
  for (const VkExtensionProperties& extension : kInstanceExtensions) {
    if (settings.Has(extension.extensionName)) extensions.push_back(extension);
  }
  return Enumerate(extensions, count, output);
}

VkResult VKAPI_CALL EnumerateInstanceVersion(uint32_t* version) {
  *version = VK_API_VERSION_1_3;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL EnumeratePhysicalDevices(VkInstance instance, uint32_t* count,
                                             VkPhysicalDevice* output) {
  const VkPhysicalDevice devices[] = {
      To<VkPhysicalDevice>(&From<Instance>(instance)->physical_device)};
  return Enumerate(devices, count, output);
}

VkResult VKAPI_CALL EnumeratePhysicalDeviceGroups(VkInstance instance, uint32_t* count,
                                                  VkPhysicalDeviceGroupProperties* output) {
  VkPhysicalDeviceGroupProperties groups[1] = {
      {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES}};
  groups[0].physicalDeviceCount = 1;
  groups[0].physicalDevices[0] = To<VkPhysicalDevice>(&From<Instance>(instance)->physical_device);
  return Enumerate(groups, count, output);
}

VkResult VKAPI_CALL CreateDebugUtilsMessengerEXT(VkInstance instance,
                                                 const VkDebugUtilsMessengerCreateInfoEXT* info,
                                                 const VkAllocationCallbacks*,
                                                 VkDebugUtilsMessengerEXT* output) {
  Instance* owner = From<Instance>(instance);
  std::lock_guard lock(owner->mutex);
  AddMessenger(owner, *info);
  *output = To<VkDebugUtilsMessengerEXT>(owner->messengers.back().get());
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyDebugUtilsMessengerEXT(VkInstance instance,
                                              VkDebugUtilsMessengerEXT messenger,
                                              const VkAllocationCallbacks*) {
  Instance* owner = From<Instance>(instance);
  std::lock_guard lock(owner->mutex);
  std::erase_if(owner->messengers, [&](const std::unique_ptr<Messenger>& candidate) {
    return candidate.get() == From<Messenger>(messenger);
  });
}

// The loader hands messages of the application to its messengers itself, and passes them on.
void VKAPI_CALL SubmitDebugUtilsMessageEXT(VkInstance, VkDebugUtilsMessageSeverityFlagBitsEXT,
                                           VkDebugUtilsMessageTypeFlagsEXT,
                                           const VkDebugUtilsMessengerCallbackDataEXT*) {}

const Entry kEntries[] = {
    CAIRN_ICD_ENTRY(CreateInstance),
    CAIRN_ICD_ENTRY(DestroyInstance),
    CAIRN_ICD_ENTRY(EnumerateInstanceExtensionProperties),
    CAIRN_ICD_ENTRY(EnumerateInstanceVersion),
    CAIRN_ICD_ENTRY(EnumeratePhysicalDevices),
    CAIRN_ICD_ENTRY(EnumeratePhysicalDeviceGroups),
};

}  // namespace

std::span<const Entry> InstanceEntries() {
  return kEntries;
}

std::span<const Entry> MessengerEntries() {
  static const Entry kMessengerEntries[] = {
      CAIRN_ICD_EXTENSION(CreateDebugUtilsMessengerEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
      CAIRN_ICD_EXTENSION(DestroyDebugUtilsMessengerEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
      CAIRN_ICD_EXTENSION(SubmitDebugUtilsMessageEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
  };
  return kMessengerEntries;
}

void TellBinding(const Device& device, VkObjectType type, uint64_t object, VkDeviceAddress address,
                 VkDeviceSize size_bytes, bool bound, bool internal) {
  if (!device.reports_bindings) return;
  VkDeviceAddressBindingCallbackDataEXT binding = {
      VK_STRUCTURE_TYPE_DEVICE_ADDRESS_BINDING_CALLBACK_DATA_EXT};
  binding.flags = internal ? VK_DEVICE_ADDRESS_BINDING_INTERNAL_OBJECT_BIT_EXT : 0;
  binding.baseAddress = address;
  binding.size = size_bytes;
  binding.bindingType =
      bound ? VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT : VK_DEVICE_ADDRESS_BINDING_TYPE_UNBIND_EXT;
  VkDebugUtilsObjectNameInfoEXT name = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  name.objectType = type;
  name.objectHandle = object;
  VkDebugUtilsMessengerCallbackDataEXT data = {
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT};
  data.pNext = &binding;
  data.pMessageIdName = "cairn test driver";
  data.pMessage = bound ? "bound" : "unbound";
  data.objectCount = object == 0 ? 0 : 1;
  data.pObjects = &name;
  std::vector<VkDebugUtilsMessengerCreateInfoEXT> listeners;
  {
    std::lock_guard lock(device.instance->mutex);
    for (const auto& messenger : device.instance->messengers) listeners.push_back(messenger->info);
  }
  constexpr auto kType = VK_DEBUG_UTILS_MESSAGE_TYPE_DEVICE_ADDRESS_BINDING_BIT_EXT;
  constexpr auto kSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT;
  for (const VkDebugUtilsMessengerCreateInfoEXT& listener : listeners) {
    if ((listener.messageType & kType) == 0 || (listener.messageSeverity & kSeverity) == 0) {
      continue;
    }
    listener.pfnUserCallback(kSeverity, kType, &data, listener.pUserData);
  }
}

void TellScriptedBindings(Device* device) {
  std::vector<Directive> directives;
  {
    std::lock_guard lock(device->mutex);
    directives.swap(device->bindings_to_tell);
  }
  for (const Directive& directive : directives) {
    TellBinding(*device, VK_OBJECT_TYPE_UNKNOWN, 0, directive.address, directive.size_bytes,
                directive.kind == DirectiveKind::kBind, true);
  }
}

}  // namespace cairn::icd
