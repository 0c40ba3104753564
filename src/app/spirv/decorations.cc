// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/decorations.h"

#include <span>
#include <unordered_map>

namespace cairn::spirv {

std::vector<Decorated> DecoratedWith(const Module& module, spv::Decoration decoration) {
  std::vector<Decorated> found;
  // A group has its decorations in front of those who use it.
  std::unordered_map<uint32_t, uint32_t> values;
  const auto add = [&](std::span<const uint32_t> operands, size_t at) {
    if (operands[at] != decoration) return;
    Decorated decorated = {.id = operands[0]};
    if (at == 2) decorated.member = operands[1];
    if (at + 1 < operands.size()) decorated.value = operands[at + 1];
    if (at == 1) values[decorated.id] = decorated.value;
    found.push_back(decorated);
  };
  for (const Instruction& global : module.globals) {
    const auto operands = global.operands();
    switch (global.opcode) {
      case spv::OpDecorate: add(operands, 1); break;
      case spv::OpMemberDecorate: add(operands, 2); break;
      case spv::OpGroupDecorate:
        if (const auto group = values.find(operands[0]); group != values.end()) {
          for (const uint32_t target : operands.subspan(1))
            found.push_back({target, std::nullopt, group->second});
        }
        break;
      case spv::OpGroupMemberDecorate:
        if (const auto group = values.find(operands[0]); group != values.end()) {
          for (size_t i = 1; i + 1 < operands.size(); i += 2)
            found.push_back({operands[i], operands[i + 1], group->second});
        }
        break;
      default: break;
    }
  }
  return found;
}

}  // namespace cairn::spirv
