// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/access_finder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/spirv/access_checks.h"
#include "app/spirv/value_types.h"

namespace cairn::spirv {
namespace {

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

// Calls `call` for each access: the places of its block and its instruction, the pointer, the pointer's type, and the
// path of one by descriptor.
template <typename Call>
void ForEach(const Module& module, const Function& function, const ValueTypes& types, Call call) {
  const DescriptorPaths paths(module, function, types);
  for (uint32_t b = 0; b < function.blocks.size(); ++b) {
    const std::vector<Instruction>& instructions = function.blocks[b].instructions;
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      for (const Pointer& pointer : PointersOf(instructions[i])) {
        if (pointer.word >= instructions[i].words.size())
          continue;  // of a module that is not valid
        const uint32_t id = instructions[i].words[pointer.word];
        const Instruction* const type = types.PointerType(id);
        if (type == nullptr) continue;
        if (type->operands()[0] == spv::StorageClassPhysicalStorageBuffer) {
          call(b, i, pointer, *type, std::nullopt);
        } else if (std::optional<DescriptorPath> path = paths.Of(id)) {
          call(b, i, pointer, *type, std::move(path));
        }
      }
    }
  }
}

void DescribeByAddress(const Instruction& instruction, const Instruction& type, PointeeSizes& sizes,
                       FoundAccess* access) {
  const std::optional<uint32_t> bytes = sizes.Of(type.operands()[1]);
  if (instruction.opcode == spv::OpCopyMemorySized || !bytes) {
    access->cannot = "the size of what it accesses is not known";
  } else if (*bytes > kSpareBytes) {
    access->cannot = "it accesses more at once than the memory that takes its place has";
  } else {
    access->bytes = *bytes;
  }
}

void DescribeByDescriptor(const Module& module, const Instruction& instruction,
                          const ValueTypes& types, FoundAccess* access) {
  access->cannot = access->path->cannot;
  if (instruction.opcode == spv::OpCopyMemory || instruction.opcode == spv::OpCopyMemorySized)
    access->cannot = "it copies memory";
  const auto add = [&](uint32_t id) {
    const LocalValue local = {id, types.TypeOf(id)};
    if (module.Global(id) != nullptr) return;
    if (std::ranges::find(access->locals, id, &LocalValue::id) != access->locals.end()) return;
    if (types.PointerType(id) != nullptr) access->cannot = "it takes a pointer";
    access->locals.push_back(local);
  };
  for (uint32_t id : access->path->indices) add(id);
  for (uint16_t word : instruction.id_uses) {
    const bool is_type = instruction.type != 0 && word == 1;
    if (!is_type && word != access->word) add(instruction.words[word]);
  }
}

}  // namespace

uint32_t CountAccesses(const Module& module, const Function& function) {
  uint32_t count = 0;
  ForEach(module, function, ValueTypes(module, function), [&](auto&&...) { ++count; });
  return count;
}

std::vector<FoundAccess> FindAccesses(const Module& module, const Function& function,
                                      PointeeSizes& sizes) {
  std::vector<FoundAccess> found;
  const ValueTypes types(module, function);
  ForEach(module, function, types,
          [&](uint32_t block, uint32_t at, const Pointer& pointer, const Instruction& type,
              std::optional<DescriptorPath> path) {
            const Instruction& instruction = function.blocks[block].instructions[at];
            FoundAccess access{.block = block,
                               .instruction = at,
                               .word = pointer.word,
                               .pointer_type = type.result,
                               .kind = pointer.kind};
            if (path) {
              access.path = std::move(path);
              DescribeByDescriptor(module, instruction, types, &access);
            } else {
              DescribeByAddress(instruction, type, sizes, &access);
            }
            found.push_back(std::move(access));
          });
  return found;
}

}  // namespace cairn::spirv
