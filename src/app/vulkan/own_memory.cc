// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/own_memory.h"

namespace cairn {

bool IsOwnMemory(const VkMemoryAllocateInfo& info) {
  for (auto* next = static_cast<const VkBaseInStructure*>(info.pNext); next != nullptr;
       next = next->pNext) {
    switch (next->sType) {
      case VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO:
      case VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO:
      case VK_STRUCTURE_TYPE_MEMORY_OPAQUE_CAPTURE_ADDRESS_ALLOCATE_INFO:
      case VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT: break;
      case VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO:
        if (reinterpret_cast<const VkExportMemoryAllocateInfo*>(next)->handleTypes != 0) {
          return false;
        }
        break;
      default: return false;
    }
  }
  return true;
}

}  // namespace cairn
