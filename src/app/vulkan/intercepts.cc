// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <unordered_map>

#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

// A table by name, made once: it is asked for every function of every device.
class InterceptTable {
 public:
  InterceptTable(std::initializer_list<std::span<const Intercept>> parts) {
    for (const std::span<const Intercept> part : parts) {
      for (const Intercept& intercept : part)
        functions_.emplace(intercept.name, intercept.function);
    }
  }
  PFN_vkVoidFunction Find(std::string_view name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, PFN_vkVoidFunction> functions_;
};

}  // namespace

// Never destroyed: programs may call Vulkan while their static objects end.

PFN_vkVoidFunction FindBreadcrumbsIntercept(std::string_view name) {
  static const auto& table = *new InterceptTable(
      {CommandPoolIntercepts(), CommandBufferIntercepts(), WorkIntercepts(), SecondaryIntercepts(),
       RenderPassIntercepts(), LabelIntercepts(), ObjectIntercepts()});
  return table.Find(name);
}

PFN_vkVoidFunction FindDrivenIntercept(std::string_view name) {
  static const auto& table = *new InterceptTable({DrivenIntercepts()});
  return table.Find(name);
}

PFN_vkVoidFunction FindDrivenWorkIntercept(std::string_view name) {
  static const auto& table = *new InterceptTable({DrivenWorkIntercepts()});
  return table.Find(name);
}

PFN_vkVoidFunction FindInstanceIntercept(std::string_view name) {
  static const auto& table = *new InterceptTable({ObjectInstanceIntercepts()});
  return table.Find(name);
}

}  // namespace cairn
