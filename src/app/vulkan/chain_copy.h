// SPDX-License-Identifier: Apache-2.0
//
// A copy of the beginning of a chain that a program passes, so that a structure in it can be changed.
#ifndef CAIRN_APP_VULKAN_CHAIN_COPY_H_
#define CAIRN_APP_VULKAN_CHAIN_COPY_H_

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace cairn {

class ChainCopy {
 public:
  // Copies the structures of `chain`, that of a VkDeviceCreateInfo or of a VkPipelineShaderStageCreateInfo, up to `last`
  // in it; those behind stay the program's.
  // Returns the type of a structure whose size is not known, and then there is no copy. May throw std::bad_alloc.
  std::optional<VkStructureType> Copy(const void* chain, const void* last);
  // The copy; valid as long as this.
  const void* begin() const { return first_; }

  // The first structure of this type among the copies; null for none.
  template <typename T>
  T* Find(VkStructureType type) const {
    for (const auto& copy : copies_) {
      auto* const base = reinterpret_cast<VkBaseOutStructure*>(copy.get());
      if (base->sType == type) return reinterpret_cast<T*>(base);
    }
    return nullptr;
  }

 private:
  std::vector<std::unique_ptr<std::byte[]>> copies_;
  const void* first_ = nullptr;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_CHAIN_COPY_H_
