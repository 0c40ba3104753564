// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/value_types.h"

namespace cairn::spirv {

ValueTypes::ValueTypes(const Module& module, const Function& function) : module_(module) {
  const auto add = [this](const std::vector<Instruction>& instructions) {
    for (const Instruction& instruction : instructions) {
      if (instruction.result != 0 && instruction.type != 0)
        types_[instruction.result] = instruction.type;
    }
  };
  add(function.begin);
  for (const Block& block : function.blocks) add(block.instructions);
}

uint32_t ValueTypes::TypeOf(uint32_t id) const {
  if (const auto local = types_.find(id); local != types_.end()) return local->second;
  const Instruction* const global = module_.Global(id);
  return global != nullptr ? global->type : 0;
}

const Instruction* ValueTypes::PointerType(uint32_t id) const {
  const Instruction* const pointer = module_.Global(TypeOf(id));
  return pointer != nullptr && pointer->opcode == spv::OpTypePointer ? pointer : nullptr;
}

}  // namespace cairn::spirv
