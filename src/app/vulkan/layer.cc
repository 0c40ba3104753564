// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/layer.h"

#include <algorithm>

#include "app/vulkan/handle_map.h"
#include "app/vulkan/instance.h"

namespace cairn {
namespace {

constinit HandleMap<VkInstance, InstanceState> instances;
// Instances by the address that the loader writes to the start of an instance and of its physical
// devices.
constinit HandleMap<const void*, InstanceState> instances_by_key;

const void* KeyOf(const void* dispatchable) {
  return dispatchable == nullptr ? nullptr : *static_cast<const void* const*>(dispatchable);
}

}  // namespace

bool InstanceState::Enabled(std::string_view extension) const {
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

bool RememberInstance(InstanceState& state) {
  return instances.Set(state.handle, &state) && instances_by_key.Set(KeyOf(state.handle), &state);
}

void ForgetInstance(const InstanceState& state) {
  instances_by_key.Erase(KeyOf(state.handle));
  instances.Erase(state.handle);
}

InstanceState* InstanceOf(VkInstance instance) {
  return instances.Find(instance);
}

InstanceState* InstanceOf(VkPhysicalDevice physical_device) {
  return instances_by_key.Find(KeyOf(physical_device));
}

}  // namespace cairn
