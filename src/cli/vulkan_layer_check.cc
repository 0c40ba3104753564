// SPDX-License-Identifier: Apache-2.0
#include "cli/vulkan_layer_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "app/breadcrumbs/vulkan_device_setup.h"
#include "cli/layer.h"
#include "format/settings/layer_settings.h"
#include "format/snapshot/snapshot_from_block.h"
#include "os/child.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/this_process.h"
#include "watcher/running_blocks.h"

namespace cairn::cli {
namespace {

Result<bool> LoaderListsLayer() {
  const Result<VulkanGetInstanceProcAddr> loader = LoadVulkanLoader();
  if (!loader.ok()) return loader.status();
  const auto enumerate = reinterpret_cast<PFN_vkEnumerateInstanceLayerProperties>(
      (*loader)(nullptr, "vkEnumerateInstanceLayerProperties"));
  uint32_t count = 0;
  if (enumerate == nullptr || enumerate(&count, nullptr) != VK_SUCCESS) return false;
  std::vector<VkLayerProperties> layers(count);
  if (enumerate(&count, layers.data()) < 0) return false;
  return std::any_of(layers.begin(), layers.end(), [](const VkLayerProperties& layer) {
    return std::string(layer.layerName) == kVulkanLayerName;
  });
}

std::string WhyNotListed() {
  for (const char* name : {"VK_LOADER_LAYERS_DISABLE", "VK_LOADER_LAYERS_ALLOW"}) {
    if (std::getenv(name) != nullptr) {
      return fmt::format("the Vulkan loader does not list it; {} is set: unset it", name);
    }
  }
  return "the Vulkan loader does not list it; it has to know VK_ADD_LAYER_PATH (1.3.239 does), and "
         "ignores it in programs with more rights than their user";
}

// The context that the layer has for the only device that lives.
LayerOnDevice ReadContext(std::string device_name) {
  LayerOnDevice found;
  found.device = std::move(device_name);
  const Result<SharedMemory> block = OpenLiveBlock(OwnProcessId());
  if (!block.ok()) {
    const bool is_off = *ReadSetting<&LayerSettings::breadcrumbs>(OwnVariable) == MarkerMode::kOff;
    found.problem = is_off ? fmt::format("{} is off", kVariableOf<&LayerSettings::breadcrumbs>)
                           : "the layer records nothing; its message on stderr says why";
    return found;
  }
  const Result<Snapshot> snapshot =
      SnapshotFromBlock({block->data(), block->size_bytes()}, RealtimeNs());
  if (!snapshot.ok()) {
    found.problem = snapshot.status().message();
    return found;
  }
  found.problem = "the layer has no breadcrumbs for this device";
  for (const Device& device : snapshot->devices) {
    if (device.api != Api::kVulkan || device.destroyed) continue;
    found.method = device.method;
    found.memory = device.memory;
    if (device.method != WriteMethod::kNone) found.problem.clear();
  }
  return found;
}

LayerOnDevice TryDevice(const VulkanInstance& instance, VkPhysicalDevice physical_device) {
  const std::string name = instance.Properties(physical_device).deviceName;
  VulkanOwnDevice device;
  const Status status = device.Create(instance, physical_device, {}, nullptr);
  if (status.ok()) return ReadContext(name);
  LayerOnDevice failed;
  failed.device = name;
  failed.problem = status.message();
  return failed;
}

}  // namespace

void MakeVulkanLayerKnown() {
  const Result<std::vector<std::string>> variables = VulkanLayerVariables();
  if (!variables.ok()) return;
  for (const std::string& variable : *variables) {
    const size_t equals = variable.find('=');
    const std::string name = variable.substr(0, equals);
    // Known, not enabled: the devices of the self-test are to be without it.
    if (name != "VK_INSTANCE_LAYERS") SetVariable(name, variable.substr(equals + 1));
  }
}

VulkanLayerCheck CheckVulkanLayer() {
  VulkanLayerCheck check;
  const Result<std::vector<std::string>> variables = VulkanLayerVariables();
  if (!variables.ok()) {
    check.reason = variables.status().message();
    return check;
  }
  if (variables->empty()) {
    check.reason = "a build with sanitizers; other programs cannot load its libraries";
    return check;
  }
  const Result<bool> listed = LoaderListsLayer();
  if (!listed.ok() || !*listed) {
    check.reason = listed.ok() ? WhyNotListed() : listed.status().message();
    return check;
  }
  check.state = SourceState::kFailed;
  VulkanInstance instance;
  if (const Status status = instance.Create({.layers = {kVulkanLayerName}}); !status.ok()) {
    check.reason = fmt::format("enabled: {}", status.message());
    return check;
  }
  const Result<std::vector<VkPhysicalDevice>> devices = instance.PhysicalDevices();
  if (!devices.ok()) {
    check.reason = devices.status().message();
    return check;
  }
  for (VkPhysicalDevice physical_device : *devices) {
    check.devices.push_back(TryDevice(instance, physical_device));
    if (check.devices.back().problem.empty()) check.state = SourceState::kPresent;
  }
  if (check.state != SourceState::kPresent) check.reason = "it has breadcrumbs on no device";
  return check;
}

}  // namespace cairn::cli
