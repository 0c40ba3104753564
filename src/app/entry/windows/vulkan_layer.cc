// SPDX-License-Identifier: Apache-2.0
//
// VkLayer_cairn.dll, which Vulkan's loader loads. The layer itself is in cairn-d3d.dll: the one that is in the process
// already, wherever that came from, or the one beside this file. So whatever brings Cairn in, there is one of it.
#include <vulkan/vk_layer.h>

extern "C" {

__declspec(dllimport) VkResult cairnNegotiateVulkanLayer(VkNegotiateLayerInterface* negotiation);

__declspec(dllexport) VKAPI_ATTR VkResult VKAPI_CALL
    vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* pVersionStruct) {
  return cairnNegotiateVulkanLayer(pVersionStruct);
}
}
