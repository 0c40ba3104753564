// SPDX-License-Identifier: Apache-2.0
#include "format/experiment/robust_features.h"

namespace cairn {

std::vector<std::string_view> NamesOf(RobustFeatures features) {
  struct Name {
    RobustFeature feature;
    std::string_view name;
  };
  constexpr Name kNames[] = {{kRobustBufferAccess, "robustBufferAccess"},
                             {kRobustBufferAccess2, "robustBufferAccess2"},
                             {kRobustImageAccess, "robustImageAccess"},
                             {kRobustImageAccess2, "robustImageAccess2"},
                             {kNullDescriptor, "nullDescriptor"}};
  std::vector<std::string_view> names;
  for (const Name& one : kNames) {
    if ((features & one.feature) != 0) names.push_back(one.name);
  }
  return names;
}

}  // namespace cairn
