// SPDX-License-Identifier: Apache-2.0
//
// Chains of structures, and the links of the loader in them.
#ifndef CAIRN_APP_VULKAN_LAYER_CHAIN_H_
#define CAIRN_APP_VULKAN_LAYER_CHAIN_H_

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan_core.h>

namespace cairn {

// The first structure of this type in a chain, or null.
template <typename T>
const T* FindInChain(const void* chain, VkStructureType type) {
  for (auto* next = static_cast<const VkBaseInStructure*>(chain); next != nullptr;
       next = next->pNext) {
    if (next->sType == type) return reinterpret_cast<const T*>(next);
  }
  return nullptr;
}

// The loader's structure of this function, which a layer writes to: that is how the interface passes the
// rest of the chain on. Info is VkLayerInstanceCreateInfo or VkLayerDeviceCreateInfo.
template <typename Info>
Info* FindLoaderInfo(const void* chain, VkStructureType type, VkLayerFunction function) {
  for (auto* info = FindInChain<Info>(chain, type); info != nullptr;
       info = FindInChain<Info>(info->pNext, type)) {
    if (info->function == function) return const_cast<Info*>(info);
  }
  return nullptr;
}

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_LAYER_CHAIN_H_
