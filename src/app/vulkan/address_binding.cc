// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/address_binding.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <vector>

#include "app/vulkan/device_objects.h"
#include "app/vulkan/layer_chain.h"

namespace cairn {
namespace {

std::mutex listeners_mutex;

// Listeners in the order of their creation; never destroyed, as drivers may call until the process
// ends.
std::vector<const DeviceState*>& Listeners() {
  static auto* const listeners = new std::vector<const DeviceState*>;
  return *listeners;
}

// Layers below get what the loader gave the instance: the calls go where the instance's go.
template <typename Function>
Function InstanceFunction(const DeviceState& device, const char* name) {
  return reinterpret_cast<Function>(device.instance->Next(name));
}

VkBool32 VKAPI_CALL OnMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                              VkDebugUtilsMessageTypeFlagsEXT,
                              const VkDebugUtilsMessengerCallbackDataEXT* message,
                              void* user_data) {
  if (message != nullptr) {
    Quietly([&] { static_cast<AddressBinding*>(user_data)->OnMessage(*message); });
  }
  return VK_FALSE;
}

std::span<const VkDebugUtilsObjectNameInfoEXT> ObjectsOf(
    const VkDebugUtilsMessengerCallbackDataEXT& message) {
  if (message.pObjects == nullptr) return {};
  return {message.pObjects, message.objectCount};
}

}  // namespace

AddressBinding::AddressBinding(const DeviceState& device, ObjectNames& names)
    : device_(device), names_(names) {
  if (!device.reports_address_bindings || device.instance == nullptr) return;
  const auto create = InstanceFunction<PFN_vkCreateDebugUtilsMessengerEXT>(
      device, "vkCreateDebugUtilsMessengerEXT");
  if (create == nullptr) return;
  {
    const std::lock_guard lock(listeners_mutex);
    Listeners().push_back(&device);
  }
  VkDebugUtilsMessengerCreateInfoEXT info = {};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_DEVICE_ADDRESS_BINDING_BIT_EXT;
  info.pfnUserCallback = cairn::OnMessage;
  info.pUserData = this;
  if (create(device.instance->handle, &info, nullptr, &messenger_) != VK_SUCCESS) {
    messenger_ = VK_NULL_HANDLE;
  }
}

AddressBinding::~AddressBinding() {
  if (messenger_ != VK_NULL_HANDLE) {
    const auto destroy = InstanceFunction<PFN_vkDestroyDebugUtilsMessengerEXT>(
        device_, "vkDestroyDebugUtilsMessengerEXT");
    if (destroy != nullptr) destroy(device_.instance->handle, messenger_, nullptr);
  }
  const std::lock_guard lock(listeners_mutex);
  std::erase(Listeners(), &device_);
}

bool AddressBinding::IsAbout(const VkDebugUtilsMessengerCallbackDataEXT& message) const {
  for (const VkDebugUtilsObjectNameInfoEXT& object : ObjectsOf(message)) {
    if (object.objectType == VK_OBJECT_TYPE_DEVICE) {
      return object.objectHandle == HandleValue(device_.handle);
    }
  }
  const std::lock_guard lock(listeners_mutex);
  const auto youngest = std::find_if(
      Listeners().rbegin(), Listeners().rend(),
      [this](const DeviceState* listener) { return listener->instance == device_.instance; });
  return youngest != Listeners().rend() && *youngest == &device_;
}

void AddressBinding::OnMessage(const VkDebugUtilsMessengerCallbackDataEXT& message) {
  const auto* const binding = FindInChain<VkDeviceAddressBindingCallbackDataEXT>(
      message.pNext, VK_STRUCTURE_TYPE_DEVICE_ADDRESS_BINDING_CALLBACK_DATA_EXT);
  if (binding == nullptr || !IsAbout(message)) return;
  ObjectNames::Object object;
  for (const VkDebugUtilsObjectNameInfoEXT& named : ObjectsOf(message)) {
    if (named.objectType == VK_OBJECT_TYPE_DEVICE) continue;
    object = {named.objectType, named.objectHandle};
    break;
  }
  if (binding->bindingType == VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT) {
    names_.Bind(object, binding->baseAddress, binding->size);
  } else if (binding->bindingType == VK_DEVICE_ADDRESS_BINDING_TYPE_UNBIND_EXT) {
    names_.Unbind(object, binding->baseAddress, binding->size);
  }
}

}  // namespace cairn
