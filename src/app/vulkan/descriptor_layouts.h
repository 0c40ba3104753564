// SPDX-License-Identifier: Apache-2.0
//
// DescriptorLayout: where a descriptor of a set lies in the set's record of the block, and whether it has a
// place there. Descriptors that a program may leave stale (partially bound, of a variable count) have none:
// that something destroyed is among them says nothing. Nor have those beyond kMaxSetDescriptors.
//
// Layouts with the same bindings are one object, which is never freed: sets outlive the VkDescriptorSetLayout
// that they were made with.
//
// Threads: any.
#ifndef CAIRN_APP_VULKAN_DESCRIPTOR_LAYOUTS_H_
#define CAIRN_APP_VULKAN_DESCRIPTOR_LAYOUTS_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <vector>

#include "format/block/descriptor_sets.h"

namespace cairn {

struct DescriptorLayout {
  struct Binding {
    uint32_t number = 0;
    uint32_t count = 0;
    uint32_t first = 0;  // place of its first descriptor
    bool kept = false;
  };
  std::vector<Binding> bindings;  // by number
  uint32_t kept_count = 0;
  uint32_t unseen_count = 0;
};

// Walks over the descriptors of a write: an array goes on in the next binding.
class DescriptorWalk {
 public:
  DescriptorWalk(const DescriptorLayout& layout, uint32_t binding, uint32_t element);
  // Returns true behind the last binding.
  bool AtEnd() const { return at_ == layout_.bindings.size(); }
  const DescriptorLayout::Binding& binding() const { return layout_.bindings[at_]; }
  bool kept() const { return binding().kept; }
  uint32_t place() const { return binding().first + element_; }
  void Next() {
    ++element_;
    SkipToElement();
  }

 private:
  void SkipToElement() {
    while (!AtEnd() && element_ >= binding().count) {
      element_ -= binding().count;
      ++at_;
    }
  }

  const DescriptorLayout& layout_;
  size_t at_ = 0;
  uint32_t element_;
};

// The one with these bindings. May throw std::bad_alloc.
DescriptorLayout* InternDescriptorLayout(const VkDescriptorSetLayoutCreateInfo& info);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_DESCRIPTOR_LAYOUTS_H_
