// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/descriptor_layouts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "app/vulkan/layer_chain.h"

namespace cairn {
namespace {

struct Wanted {
  uint32_t number;
  uint32_t count;
  bool may_be_stale;
  auto operator<=>(const Wanted&) const = default;
};

std::vector<Wanted> WantedBindings(const VkDescriptorSetLayoutCreateInfo& info) {
  constexpr VkDescriptorBindingFlags kStale = VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT |
                                              VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
  const auto* const flags = FindInChain<VkDescriptorSetLayoutBindingFlagsCreateInfo>(
      info.pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO);
  const bool has_flags = flags != nullptr && flags->bindingCount == info.bindingCount;
  std::vector<Wanted> wanted;
  for (uint32_t i = 0; i < info.bindingCount; ++i) {
    const VkDescriptorSetLayoutBinding& binding = info.pBindings[i];
    // An inline block counts bytes and holds no handle.
    const bool inlined = binding.descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
    wanted.push_back({binding.binding, inlined ? 0 : binding.descriptorCount,
                      has_flags && (flags->pBindingFlags[i] & kStale) != 0});
  }
  std::sort(wanted.begin(), wanted.end());
  return wanted;
}

}  // namespace

DescriptorWalk::DescriptorWalk(const DescriptorLayout& layout, uint32_t binding, uint32_t element)
    : layout_(layout), element_(element) {
  const std::vector<DescriptorLayout::Binding>& bindings = layout.bindings;
  // Most layouts number their bindings without gaps.
  at_ = binding < bindings.size() && bindings[binding].number == binding
            ? binding
            : static_cast<size_t>(std::lower_bound(bindings.begin(), bindings.end(), binding,
                                                   [](const auto& known, uint32_t wanted) {
                                                     return known.number < wanted;
                                                   }) -
                                  bindings.begin());
  if (!AtEnd() && this->binding().number != binding) at_ = bindings.size();
  SkipToElement();
}

DescriptorLayout* InternDescriptorLayout(const VkDescriptorSetLayoutCreateInfo& info) {
  constexpr uint32_t kLargestNumber = 0xFFFF;  // DescriptorRecord::binding
  static std::mutex mutex;
  static auto& layouts = *new std::map<std::vector<Wanted>, std::unique_ptr<DescriptorLayout>>;
  std::vector<Wanted> wanted = WantedBindings(info);
  const std::lock_guard lock(mutex);
  std::unique_ptr<DescriptorLayout>& layout = layouts[wanted];
  if (layout != nullptr) return layout.get();
  auto made = std::make_unique<DescriptorLayout>();
  for (const Wanted& binding : wanted) {
    const bool kept = !binding.may_be_stale && binding.number <= kLargestNumber &&
                      binding.count <= kMaxSetDescriptors - made->kept_count;
    made->bindings.push_back({binding.number, binding.count, made->kept_count, kept});
    (kept ? made->kept_count : made->unseen_count) += binding.count;
  }
  layout = std::move(made);
  return layout.get();
}

}  // namespace cairn
