// SPDX-License-Identifier: Apache-2.0
//
// VK_EXT_device_address_binding_report: the driver says when an object gets GPU addresses and when it
// loses them, to messengers of the instance. The layer has one of its own for each device that reports;
// the application's messengers are left alone.
//
// A message does not name its device. If several devices of one instance report, it is for the
// device among the message's objects, else for the youngest.
//
// Threads: any.
#ifndef CAIRN_APP_VULKAN_ADDRESS_BINDING_H_
#define CAIRN_APP_VULKAN_ADDRESS_BINDING_H_

#include <vulkan/vulkan_core.h>

#include "app/vulkan/device.h"
#include "app/vulkan/object_names.h"

namespace cairn {

class AddressBinding {
 public:
  // Listens if the device reports and the instance has messengers. Both arguments outlive it. May throw
  // std::bad_alloc.
  AddressBinding(const DeviceState& device, ObjectNames& names);
  ~AddressBinding();
  AddressBinding(const AddressBinding&) = delete;
  AddressBinding& operator=(const AddressBinding&) = delete;

  bool listens() const { return messenger_ != VK_NULL_HANDLE; }

  // Notes what a message says; for the callback, and for tests.
  void OnMessage(const VkDebugUtilsMessengerCallbackDataEXT& message);

 private:
  bool IsAbout(const VkDebugUtilsMessengerCallbackDataEXT& message) const;

  const DeviceState& device_;
  ObjectNames& names_;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_ADDRESS_BINDING_H_
