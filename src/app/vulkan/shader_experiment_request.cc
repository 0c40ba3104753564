// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/shader_experiment_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/vulkan/layer_chain.h"

namespace cairn {
namespace {

constexpr VkStructureType kVulkan12Type = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
constexpr VkStructureType kCoreType =
    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
constexpr VkStructureType kExtType =
    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES_EXT;

uint32_t VersionOf(const InstanceState& instance, VkPhysicalDevice physical_device) {
  VkPhysicalDeviceProperties properties = {};
  instance.GetPhysicalDeviceProperties(physical_device, &properties);
  return std::min(properties.apiVersion, instance.api_version);
}

// Asks for the features of all and for bufferDeviceAddress, by that structure of an extension or the core.
template <typename Addresses>
VkBool32 AskFor(VkStructureType type, const InstanceState& instance,
                VkPhysicalDevice physical_device, VkPhysicalDeviceFeatures* all) {
  Addresses addresses = {type};
  VkPhysicalDeviceFeatures2 features = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &addresses, {}};
  instance.GetPhysicalDeviceFeatures2(physical_device, &features);
  *all = features.features;
  return addresses.bufferDeviceAddress;
}

// Null where the program asks for nothing.
const VkPhysicalDeviceFeatures* FeaturesOf(const VkDeviceCreateInfo& info,
                                           const VkPhysicalDeviceFeatures2* chained) {
  return chained != nullptr ? &chained->features : info.pEnabledFeatures;
}

}  // namespace

std::string ShaderExperimentRequest::CopyChain(const void* chain, const void* addresses,
                                               const void* features) {
  const void* last = nullptr;
  for (auto* next = static_cast<const VkBaseInStructure*>(chain); next != nullptr;
       next = next->pNext) {
    if (next == addresses || next == features) last = next;
  }
  if (last == nullptr) return "";
  const std::optional<VkStructureType> unknown = copy_.Copy(chain, last);
  if (!unknown) return "";
  return fmt::format(
      "the program makes its device with a structure that this build of Cairn does not know "
      "(VkStructureType {}), in front of its features",
      static_cast<uint32_t>(*unknown));
}

void ShaderExperimentRequest::EnableAddresses(Carrier carrier, bool is_chained,
                                              VkDeviceCreateInfo* info) {
  if (!is_chained) {
    if (carrier == Carrier::kExt) {
      addresses_ext_.bufferDeviceAddress = VK_TRUE;
      addresses_ext_.pNext = const_cast<void*>(info->pNext);
      info->pNext = &addresses_ext_;
    } else {
      addresses_.bufferDeviceAddress = VK_TRUE;
      addresses_.pNext = const_cast<void*>(info->pNext);
      info->pNext = &addresses_;
    }
    return;
  }
  // Null where the program's own says VK_TRUE, and is not copied.
  if (carrier == Carrier::kVulkan12) {
    auto* const copy = copy_.Find<VkPhysicalDeviceVulkan12Features>(kVulkan12Type);
    if (copy != nullptr) copy->bufferDeviceAddress = VK_TRUE;
  } else if (carrier == Carrier::kCore) {
    auto* const copy = copy_.Find<VkPhysicalDeviceBufferDeviceAddressFeatures>(kCoreType);
    if (copy != nullptr) copy->bufferDeviceAddress = VK_TRUE;
  } else {
    auto* const copy = copy_.Find<VkPhysicalDeviceBufferDeviceAddressFeaturesEXT>(kExtType);
    if (copy != nullptr) copy->bufferDeviceAddress = VK_TRUE;
  }
}

void ShaderExperimentRequest::EnableStores(VkDeviceCreateInfo* info) {
  if (vertex_stores_ == VK_FALSE && fragment_stores_ == VK_FALSE) return;
  auto* const copy =
      copy_.Find<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  VkPhysicalDeviceFeatures& features = copy != nullptr ? copy->features : features_;
  if (copy == nullptr) {
    if (info->pEnabledFeatures != nullptr) features_ = *info->pEnabledFeatures;
    info->pEnabledFeatures = &features_;
  }
  features.vertexPipelineStoresAndAtomics |= vertex_stores_;
  features.fragmentStoresAndAtomics |= fragment_stores_;
}

std::string ShaderExperimentRequest::Add(const InstanceState& instance,
                                         VkPhysicalDevice physical_device,
                                         const std::function<bool(std::string_view)>& has,
                                         VkDeviceCreateInfo* info,
                                         std::vector<const char*>* extensions) {
  const auto is_enabled = [extensions](std::string_view name) {
    return std::find(extensions->begin(), extensions->end(), name) != extensions->end();
  };
  const uint32_t version = VersionOf(instance, physical_device);
  if (instance.GetPhysicalDeviceFeatures2 == nullptr || version < VK_API_VERSION_1_1) {
    return "the Vulkan device has version 1.0 alone, whose shaders have no addresses of buffers";
  }
  if (!is_enabled(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
    return "the Vulkan device imports no memory of the CPU (VK_EXT_external_memory_host)";
  }
  // The two extensions exclude each other.
  const bool is_ext = is_enabled(VK_EXT_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME);
  const bool needs_extension = !is_ext && version < VK_API_VERSION_1_2;
  if (needs_extension && !has(VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME)) {
    return "the Vulkan device has no VK_KHR_buffer_device_address";
  }
  VkPhysicalDeviceFeatures present = {};
  const VkBool32 has_addresses = is_ext ? AskFor<VkPhysicalDeviceBufferDeviceAddressFeaturesEXT>(
                                              kExtType, instance, physical_device, &present)
                                        : AskFor<VkPhysicalDeviceBufferDeviceAddressFeatures>(
                                              kCoreType, instance, physical_device, &present);
  if (has_addresses == VK_FALSE) return "the Vulkan device has no feature bufferDeviceAddress";

  const auto* const vulkan12 =
      FindInChain<VkPhysicalDeviceVulkan12Features>(info->pNext, kVulkan12Type);
  const auto* const core =
      FindInChain<VkPhysicalDeviceBufferDeviceAddressFeatures>(info->pNext, kCoreType);
  const auto* const ext =
      FindInChain<VkPhysicalDeviceBufferDeviceAddressFeaturesEXT>(info->pNext, kExtType);
  const Carrier carrier = is_ext                ? Carrier::kExt
                          : vulkan12 != nullptr ? Carrier::kVulkan12
                                                : Carrier::kCore;
  const void* chained = ext;
  VkBool32 is_on = ext != nullptr ? ext->bufferDeviceAddress : VK_FALSE;
  if (carrier == Carrier::kVulkan12) {
    chained = vulkan12;
    is_on = vulkan12->bufferDeviceAddress;
  } else if (carrier == Carrier::kCore) {
    chained = core;
    is_on = core != nullptr ? core->bufferDeviceAddress : VK_FALSE;
  }

  const auto* const features2 = FindInChain<VkPhysicalDeviceFeatures2>(
      info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  const VkPhysicalDeviceFeatures* const asked = FeaturesOf(*info, features2);
  const auto lacks = [&](VkBool32 VkPhysicalDeviceFeatures::*feature) -> VkBool32 {
    const bool is_asked = asked != nullptr && asked->*feature != VK_FALSE;
    return present.*feature != VK_FALSE && !is_asked ? VK_TRUE : VK_FALSE;
  };
  vertex_stores_ = lacks(&VkPhysicalDeviceFeatures::vertexPipelineStoresAndAtomics);
  fragment_stores_ = lacks(&VkPhysicalDeviceFeatures::fragmentStoresAndAtomics);
  const bool stores_change = vertex_stores_ != VK_FALSE || fragment_stores_ != VK_FALSE;
  std::string why_not = CopyChain(info->pNext, is_on == VK_FALSE ? chained : nullptr,
                                  stores_change ? features2 : nullptr);
  if (!why_not.empty()) return why_not;
  if (copy_.begin() != nullptr) info->pNext = copy_.begin();
  EnableAddresses(carrier, chained != nullptr, info);
  EnableStores(info);
  if (needs_extension && !is_enabled(VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME)) {
    extensions->push_back(VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME);
  }
  added_ = true;
  return "";
}

}  // namespace cairn
