// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/robust_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "app/settings/log.h"
#include "app/vulkan/layer_chain.h"

namespace cairn {
namespace {

constexpr VkStructureType kFeatures2Type = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
constexpr VkStructureType kVulkan13Type = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
constexpr VkStructureType kImageType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES;
constexpr VkStructureType kRobustness2Type =
    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;

constexpr RobustFeatures kOfRobustness2 =
    kRobustBufferAccess2 | kRobustImageAccess2 | kNullDescriptor;

RobustFeatures SetIf(VkBool32 is_on, RobustFeature feature) {
  return is_on != VK_FALSE ? RobustFeatures{feature} : 0;
}

uint32_t VersionOf(const InstanceState& instance, VkPhysicalDevice physical_device) {
  VkPhysicalDeviceProperties properties = {};
  instance.GetPhysicalDeviceProperties(physical_device, &properties);
  return std::min(properties.apiVersion, instance.api_version);
}

bool HasRobustness2(const std::function<bool(std::string_view)>& has) {
  return has(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME) || has(kKhrRobustness2);
}

// The features that the device has.
RobustFeatures FeaturesOf(const InstanceState& instance, VkPhysicalDevice physical_device,
                          uint32_t version, const std::function<bool(std::string_view)>& has) {
  // Every device has this one; of others an instance of Vulkan 1.0 alone cannot be asked.
  if (instance.GetPhysicalDeviceFeatures2 == nullptr) return kRobustBufferAccess;
  VkPhysicalDeviceImageRobustnessFeatures image = {kImageType};
  VkPhysicalDeviceRobustness2FeaturesEXT robustness2 = {kRobustness2Type};
  VkPhysicalDeviceFeatures2 all = {kFeatures2Type};
  if (version >= VK_API_VERSION_1_3 || has(VK_EXT_IMAGE_ROBUSTNESS_EXTENSION_NAME)) {
    all.pNext = &image;
  }
  if (HasRobustness2(has)) {
    robustness2.pNext = all.pNext;
    all.pNext = &robustness2;
  }
  instance.GetPhysicalDeviceFeatures2(physical_device, &all);
  return SetIf(all.features.robustBufferAccess, kRobustBufferAccess) |
         SetIf(image.robustImageAccess, kRobustImageAccess) |
         SetIf(robustness2.robustBufferAccess2, kRobustBufferAccess2) |
         SetIf(robustness2.robustImageAccess2, kRobustImageAccess2) |
         SetIf(robustness2.nullDescriptor, kNullDescriptor);
}

// The program writes descriptors into its own memory: with robustBufferAccess they may take more of it.
bool DescriptorsWouldGrow(const InstanceState& instance, VkPhysicalDevice physical_device,
                          const void* chain) {
  const auto* const asked = FindInChain<VkPhysicalDeviceDescriptorBufferFeaturesEXT>(
      chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT);
  if (asked == nullptr || asked->descriptorBuffer == VK_FALSE) return false;
  if (instance.GetPhysicalDeviceProperties2 == nullptr) return true;
  VkPhysicalDeviceDescriptorBufferPropertiesEXT sizes = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &sizes, {}};
  instance.GetPhysicalDeviceProperties2(physical_device, &properties);
  return sizes.uniformBufferDescriptorSize != sizes.robustUniformBufferDescriptorSize ||
         sizes.storageBufferDescriptorSize != sizes.robustStorageBufferDescriptorSize ||
         sizes.uniformTexelBufferDescriptorSize != sizes.robustUniformTexelBufferDescriptorSize ||
         sizes.storageTexelBufferDescriptorSize != sizes.robustStorageTexelBufferDescriptorSize;
}

template <typename Features>
bool UpdatesBuffersAfterBind(const Features* features) {
  return features != nullptr &&
         (features->descriptorBindingUniformBufferUpdateAfterBind != VK_FALSE ||
          features->descriptorBindingStorageBufferUpdateAfterBind != VK_FALSE ||
          features->descriptorBindingUniformTexelBufferUpdateAfterBind != VK_FALSE ||
          features->descriptorBindingStorageTexelBufferUpdateAfterBind != VK_FALSE);
}

// Some devices have either robustBufferAccess or buffers that are written to a set after it was bound.
bool ExcludesUpdates(const InstanceState& instance, VkPhysicalDevice physical_device,
                     const void* chain) {
  const bool updates =
      UpdatesBuffersAfterBind(FindInChain<VkPhysicalDeviceVulkan12Features>(
          chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)) ||
      UpdatesBuffersAfterBind(FindInChain<VkPhysicalDeviceDescriptorIndexingFeatures>(
          chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES));
  if (!updates) return false;
  if (instance.GetPhysicalDeviceProperties2 == nullptr) return true;
  VkPhysicalDeviceDescriptorIndexingProperties indexing = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES};
  VkPhysicalDeviceProperties2 properties = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &indexing, {}};
  instance.GetPhysicalDeviceProperties2(physical_device, &properties);
  return indexing.robustBufferAccessUpdateAfterBind == VK_FALSE;
}

void Prepend(void* structure, VkDeviceCreateInfo* info) {
  auto* const base = static_cast<VkBaseOutStructure*>(structure);
  base->pNext = static_cast<VkBaseOutStructure*>(const_cast<void*>(info->pNext));
  info->pNext = structure;
}

}  // namespace

// The program's structures that have one of the features; null for those that it does not pass.
struct RobustRequest::Chained {
  explicit Chained(const void* chain)
      : features2(FindInChain<VkPhysicalDeviceFeatures2>(chain, kFeatures2Type)),
        vulkan13(FindInChain<VkPhysicalDeviceVulkan13Features>(chain, kVulkan13Type)),
        image(FindInChain<VkPhysicalDeviceImageRobustnessFeatures>(chain, kImageType)),
        robustness2(FindInChain<VkPhysicalDeviceRobustness2FeaturesEXT>(chain, kRobustness2Type)) {}

  RobustFeatures Enabled(const VkPhysicalDeviceFeatures* without_chain) const {
    const VkPhysicalDeviceFeatures* const all =
        features2 != nullptr ? &features2->features : without_chain;
    RobustFeatures features = 0;
    if (all != nullptr) features |= SetIf(all->robustBufferAccess, kRobustBufferAccess);
    if (vulkan13 != nullptr) features |= SetIf(vulkan13->robustImageAccess, kRobustImageAccess);
    if (image != nullptr) features |= SetIf(image->robustImageAccess, kRobustImageAccess);
    if (robustness2 != nullptr) {
      features |= SetIf(robustness2->robustBufferAccess2, kRobustBufferAccess2) |
                  SetIf(robustness2->robustImageAccess2, kRobustImageAccess2) |
                  SetIf(robustness2->nullDescriptor, kNullDescriptor);
    }
    return features;
  }
  // Those of `wanted` that take a change of one of these structures.
  RobustFeatures InThese(RobustFeatures wanted) const {
    RobustFeatures mine = 0;
    if (features2 != nullptr) mine |= kRobustBufferAccess;
    if (vulkan13 != nullptr || image != nullptr) mine |= kRobustImageAccess;
    if (robustness2 != nullptr) mine |= kOfRobustness2;
    return mine & wanted;
  }

  const VkPhysicalDeviceFeatures2* features2;
  const VkPhysicalDeviceVulkan13Features* vulkan13;
  const VkPhysicalDeviceImageRobustnessFeatures* image;
  const VkPhysicalDeviceRobustness2FeaturesEXT* robustness2;
};

// Copies the program's chain up to the last structure that has to change. False for one that cannot be copied.
bool RobustRequest::CopyChain(const VkDeviceCreateInfo& info, const Chained& chained,
                              RobustFeatures wanted) {
  const void* last = nullptr;
  for (auto* next = static_cast<const VkBaseInStructure*>(info.pNext); next != nullptr;
       next = next->pNext) {
    const void* const here = next;
    const bool changes = (here == chained.features2 && (wanted & kRobustBufferAccess) != 0) ||
                         ((here == chained.vulkan13 || here == chained.image) &&
                          (wanted & kRobustImageAccess) != 0) ||
                         (here == chained.robustness2 && (wanted & kOfRobustness2) != 0);
    if (changes) last = here;
  }
  if (last == nullptr) return true;
  const std::optional<VkStructureType> unknown = copy_.Copy(info.pNext, last);
  if (!unknown) return true;
  Log(LogLevel::kWarning,
      fmt::format("not all features of the experiment robust are enabled: the program makes its "
                  "device with a structure that this build of Cairn does not know "
                  "(VkStructureType {}), in front of its features",
                  static_cast<uint32_t>(*unknown)));
  return false;
}

void RobustRequest::EnableBufferAccess(const Chained& chained, VkDeviceCreateInfo* info) {
  if (chained.features2 != nullptr) {
    copy_.Find<VkPhysicalDeviceFeatures2>(kFeatures2Type)->features.robustBufferAccess = VK_TRUE;
    return;
  }
  if (info->pEnabledFeatures != nullptr) features_ = *info->pEnabledFeatures;
  features_.robustBufferAccess = VK_TRUE;
  info->pEnabledFeatures = &features_;
}

void RobustRequest::EnableImageAccess(const Chained& chained, VkDeviceCreateInfo* info) {
  if (chained.vulkan13 != nullptr) {
    copy_.Find<VkPhysicalDeviceVulkan13Features>(kVulkan13Type)->robustImageAccess = VK_TRUE;
  } else if (chained.image != nullptr) {
    copy_.Find<VkPhysicalDeviceImageRobustnessFeatures>(kImageType)->robustImageAccess = VK_TRUE;
  } else {
    image_.robustImageAccess = VK_TRUE;
    Prepend(&image_, info);
  }
}

void RobustRequest::EnableRobustness2(const Chained& chained, RobustFeatures wanted,
                                      VkDeviceCreateInfo* info) {
  auto* const features = chained.robustness2 != nullptr
                             ? copy_.Find<VkPhysicalDeviceRobustness2FeaturesEXT>(kRobustness2Type)
                             : &robustness2_;
  if ((wanted & kRobustBufferAccess2) != 0) features->robustBufferAccess2 = VK_TRUE;
  if ((wanted & kRobustImageAccess2) != 0) features->robustImageAccess2 = VK_TRUE;
  if ((wanted & kNullDescriptor) != 0) features->nullDescriptor = VK_TRUE;
  if (features == &robustness2_) Prepend(&robustness2_, info);
}

void RobustRequest::Add(const InstanceState& instance, VkPhysicalDevice physical_device,
                        const std::function<bool(std::string_view)>& has, VkDeviceCreateInfo* info,
                        std::vector<const char*>* extensions) {
  const uint32_t version = VersionOf(instance, physical_device);
  const Chained chained(info->pNext);
  const RobustFeatures present = FeaturesOf(instance, physical_device, version, has);
  devices_.own = chained.Enabled(info->pEnabledFeatures);
  // A feature that the device could not be asked for is not missing, but left off.
  const bool is_asked = instance.GetPhysicalDeviceFeatures2 != nullptr;
  const RobustFeatures possible = is_asked ? present : kAllRobustFeatures;
  devices_.missing = kAllRobustFeatures & ~(possible | devices_.own);
  RobustFeatures wanted = present & ~devices_.own;
  if (DescriptorsWouldGrow(instance, physical_device, info->pNext) ||
      ExcludesUpdates(instance, physical_device, info->pNext)) {
    wanted &= ~kRobustBufferAccess;
  }
  if (!CopyChain(*info, chained, wanted)) wanted &= ~chained.InThese(wanted);
  // The one requires the other.
  if (((wanted | devices_.own) & kRobustBufferAccess) == 0) wanted &= ~kRobustBufferAccess2;
  devices_.left = possible & ~(devices_.own | wanted);
  devices_.enabled = wanted;
  if (copy_.begin() != nullptr) info->pNext = copy_.begin();
  const auto add = [extensions](const char* name) {
    const auto is_it = [name](std::string_view one) { return one == name; };
    if (std::none_of(extensions->begin(), extensions->end(), is_it)) extensions->push_back(name);
  };
  const auto is_enabled = [extensions](std::string_view name) {
    return std::find(extensions->begin(), extensions->end(), name) != extensions->end();
  };
  if ((wanted & kRobustBufferAccess) != 0) EnableBufferAccess(chained, info);
  if ((wanted & kRobustImageAccess) != 0) {
    EnableImageAccess(chained, info);
    if (version < VK_API_VERSION_1_3) add(VK_EXT_IMAGE_ROBUSTNESS_EXTENSION_NAME);
  }
  if ((wanted & kOfRobustness2) != 0) {
    EnableRobustness2(chained, wanted, info);
    if (!is_enabled(kKhrRobustness2)) {
      add(has(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME) ? VK_EXT_ROBUSTNESS_2_EXTENSION_NAME
                                                  : kKhrRobustness2);
    }
  }
}

}  // namespace cairn
