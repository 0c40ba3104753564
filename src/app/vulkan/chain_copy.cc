// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/chain_copy.h"

#include <vulkan/vk_layer.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace cairn {
namespace {

// 0 for a type that the headers do not know.
size_t SizeOf(VkStructureType type) {
  switch (static_cast<uint32_t>(type)) {
#define CAIRN_CHAIN_STRUCTURE(kind, structure) \
  case kind:                                   \
    return sizeof(structure);
#include "vulkangen/chain_structures.inc"
#undef CAIRN_CHAIN_STRUCTURE
    case VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO: return sizeof(VkLayerDeviceCreateInfo);
    default: return 0;
  }
}

}  // namespace

std::optional<VkStructureType> ChainCopy::Copy(const void* chain, const void* last) {
  std::vector<std::unique_ptr<std::byte[]>> copies;
  const auto* original = static_cast<const VkBaseInStructure*>(chain);
  for (const void* copied = nullptr; original != nullptr && copied != last;) {
    const size_t size = SizeOf(original->sType);
    if (size == 0) return original->sType;
    copies.push_back(std::make_unique<std::byte[]>(size));
    std::memcpy(copies.back().get(), original, size);
    copied = original;
    original = original->pNext;
  }
  for (size_t i = 0; i + 1 < copies.size(); ++i) {
    reinterpret_cast<VkBaseOutStructure*>(copies[i].get())->pNext =
        reinterpret_cast<VkBaseOutStructure*>(copies[i + 1].get());
  }
  copies_ = std::move(copies);
  first_ = copies_.empty() ? chain : copies_.front().get();
  return std::nullopt;
}

}  // namespace cairn
