// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/marker_type_name.h"

#include <array>

#include "cairn/marker_types.h"

namespace cairn {
namespace {

struct TypeName {
  uint32_t type;
  std::string_view name;
};
constexpr TypeName kTypeNames[] = {
#define CAIRN_TYPE_NAME(name, value) {value, #name},
    CAIRN_MARKER_TYPES(CAIRN_TYPE_NAME)
#undef CAIRN_TYPE_NAME
};

constexpr auto kNamesByType = [] {
  std::array<std::string_view, CAIRN_MARKER_TYPE_LIMIT> names;
  for (const TypeName& entry : kTypeNames) names[entry.type] = entry.name;
  return names;
}();

}  // namespace

std::string_view MarkerTypeName(uint32_t type) {
  return type < kNamesByType.size() ? kNamesByType[type] : std::string_view();
}

}  // namespace cairn
