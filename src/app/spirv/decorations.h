// SPDX-License-Identifier: Apache-2.0
//
// DecoratedWith: the targets of decorations in a module, by themselves or through groups of decorations.
#ifndef CAIRN_APP_SPIRV_DECORATIONS_H_
#define CAIRN_APP_SPIRV_DECORATIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "app/spirv/module.h"

namespace cairn::spirv {

struct Decorated {
  uint32_t id = 0;
  std::optional<uint32_t> member;  // of the structure `id`
  uint32_t value = 0;              // the decoration's first operand; 0 if it has none
};

// Returns the ids and members with this decoration, in the module's order. A group's decoration counts for each of its
// targets. Cost: linear in the module.
std::vector<Decorated> DecoratedWith(const Module& module, spv::Decoration decoration);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_DECORATIONS_H_
