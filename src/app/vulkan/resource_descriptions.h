// SPDX-License-Identifier: Apache-2.0
//
// Describes how a buffer or an image was made, for reports of those without a name.
#ifndef CAIRN_APP_VULKAN_RESOURCE_DESCRIPTIONS_H_
#define CAIRN_APP_VULKAN_RESOURCE_DESCRIPTIONS_H_

#include <vulkan/vulkan_core.h>

#include "app/vulkan/layer_chain.h"
#include "format/block/object_description.h"

namespace cairn {

inline ObjectDescription DescriptionOf(const VkBufferCreateInfo& info) {
  VkBufferUsageFlags usage = info.usage;
#ifdef VK_KHR_maintenance5
  if (const auto* const wide = FindInChain<VkBufferUsageFlags2CreateInfoKHR>(
          info.pNext, VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO_KHR)) {
    usage = static_cast<VkBufferUsageFlags>(wide->usage);
  }
#endif
  ObjectDescription description;
  description.shape = ObjectShape::kBuffer;
  const auto is = [usage, &description](VkBufferUsageFlags bits, uint32_t use) {
    if ((usage & bits) != 0) description.uses |= use;
  };
  is(VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, kUsedAsVertices);
  is(VK_BUFFER_USAGE_INDEX_BUFFER_BIT, kUsedAsIndices);
  is(VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT,
     kUsedAsConstants);
  is(VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, kUsedAsArguments);
  is(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT, kUsedAsStorage);
  return description;
}

inline ObjectDescription DescriptionOf(const VkImageCreateInfo& info) {
  ObjectDescription description;
  switch (info.imageType) {
    case VK_IMAGE_TYPE_1D: description.shape = ObjectShape::kTexture1D; break;
    case VK_IMAGE_TYPE_3D: description.shape = ObjectShape::kTexture3D; break;
    default: description.shape = ObjectShape::kTexture2D; break;
  }
  description.vulkan_format = true;
  description.format = static_cast<uint32_t>(info.format);
  description.width = info.extent.width;
  description.height = info.extent.height;
  description.layers = info.imageType == VK_IMAGE_TYPE_3D ? info.extent.depth : info.arrayLayers;
  const auto is = [&](VkImageUsageFlags bit, uint32_t use) {
    if ((info.usage & bit) != 0) description.uses |= use;
  };
  is(VK_IMAGE_USAGE_STORAGE_BIT, kUsedAsStorage);
  is(VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, kUsedAsTarget);
  is(VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, kUsedAsDepth);
  return description;
}

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_RESOURCE_DESCRIPTIONS_H_
