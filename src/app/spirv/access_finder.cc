// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/access_finder.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "app/spirv/access_checks.h"

namespace cairn::spirv {
namespace {

// The types of the values of a function, and of the module.
class ValueTypes {
 public:
  ValueTypes(const Module& module, const Function& function) : module_(module) {
    const auto add = [this](const std::vector<Instruction>& instructions) {
      for (const Instruction& instruction : instructions) {
        if (instruction.result != 0 && instruction.type != 0)
          types_[instruction.result] = instruction.type;
      }
    };
    add(function.begin);
    for (const Block& block : function.blocks) add(block.instructions);
  }

  // The type of a pointer of addresses; null for other values.
  const Instruction* PointerType(uint32_t id) const {
    const auto local = types_.find(id);
    const Instruction* const global = local == types_.end() ? module_.Global(id) : nullptr;
    const uint32_t type = local != types_.end() ? local->second
                          : global != nullptr   ? global->type
                                                : 0;
    const Instruction* const pointer = module_.Global(type);
    return pointer != nullptr && pointer->opcode == spv::OpTypePointer &&
                   pointer->operands()[0] == spv::StorageClassPhysicalStorageBuffer
               ? pointer
               : nullptr;
  }

 private:
  const Module& module_;
  std::unordered_map<uint32_t, uint32_t> types_;
};

struct Pointer {
  uint16_t word;
  AccessKind kind;
};

bool IsAtomic(spv::Op opcode) {
  switch (opcode) {
    case spv::OpAtomicFlagTestAndSet:
    case spv::OpAtomicFlagClear:
    case spv::OpAtomicFAddEXT:
    case spv::OpAtomicFMinEXT:
    case spv::OpAtomicFMaxEXT: return true;
    default: return opcode >= spv::OpAtomicLoad && opcode <= spv::OpAtomicXor;
  }
}

// The words of an instruction through which it accesses memory.
std::vector<Pointer> PointersOf(const Instruction& instruction) {
  const auto first = static_cast<uint16_t>(1 + (instruction.type != 0) + (instruction.result != 0));
  if (IsAtomic(instruction.opcode)) return {{first, AccessKind::kAtomic}};
  switch (instruction.opcode) {
    case spv::OpLoad: return {{first, AccessKind::kLoad}};
    case spv::OpStore: return {{first, AccessKind::kStore}};
    case spv::OpCopyMemory:
    case spv::OpCopyMemorySized:
      return {{first, AccessKind::kStore}, {static_cast<uint16_t>(first + 1), AccessKind::kLoad}};
    default: return {};
  }
}

// Calls `call` for each access: the places of its block and its instruction, the pointer, and the pointer's type.
template <typename Call>
void ForEach(const Module& module, const Function& function, Call call) {
  const ValueTypes types(module, function);
  for (uint32_t b = 0; b < function.blocks.size(); ++b) {
    const std::vector<Instruction>& instructions = function.blocks[b].instructions;
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      for (const Pointer& pointer : PointersOf(instructions[i])) {
        if (pointer.word >= instructions[i].words.size())
          continue;  // of a module that is not valid
        const Instruction* const type = types.PointerType(instructions[i].words[pointer.word]);
        if (type != nullptr) call(b, i, pointer, *type);
      }
    }
  }
}

}  // namespace

uint32_t CountAccesses(const Module& module, const Function& function) {
  uint32_t count = 0;
  ForEach(module, function,
          [&](uint32_t, uint32_t, const Pointer&, const Instruction&) { ++count; });
  return count;
}

std::vector<FoundAccess> FindAccesses(const Module& module, const Function& function,
                                      PointeeSizes& sizes) {
  std::vector<FoundAccess> found;
  ForEach(module, function,
          [&](uint32_t block, uint32_t at, const Pointer& pointer, const Instruction& type) {
            FoundAccess access{block, at, pointer.word, type.result, pointer.kind, 0, ""};
            const std::optional<uint32_t> bytes = sizes.Of(type.operands()[1]);
            const spv::Op opcode = function.blocks[block].instructions[at].opcode;
            if (opcode == spv::OpCopyMemorySized || !bytes) {
              access.cannot = "the size of what it accesses is not known";
            } else if (*bytes > kSpareBytes) {
              access.cannot = "it accesses more at once than the memory that takes its place has";
            } else {
              access.bytes = *bytes;
            }
            found.push_back(std::move(access));
          });
  return found;
}

}  // namespace cairn::spirv
