// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/dominance_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "app/spirv/control_flow.h"

namespace cairn::spirv {
namespace {

// Where an instruction stands.
struct Position {
  uint32_t block;
  size_t index;
};

// One operand whose value does not stand before it.
struct BrokenUse {
  Position user;
  size_t word;
  Position value;
};

// Branches, and what must stand directly in front of them, come last.
size_t BeforeEnd(const Block& block) {
  const Instruction* merge = block.merge();
  return merge != nullptr ? static_cast<size_t>(merge - block.instructions.data())
                          : block.instructions.size() - 1;
}

// `steps` bounds how many members are looked at: structures of structures may have more than anybody counts.
bool IsStorable(const Module& module, uint32_t id, uint32_t* steps) {
  const Instruction* type = module.Global(id);
  if (type == nullptr || *steps == 0) return false;
  --*steps;
  switch (type->opcode) {
    case spv::OpTypeBool:
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
    case spv::OpTypeVector:
    case spv::OpTypeMatrix: return true;
    case spv::OpTypeArray: return IsStorable(module, type->operands()[0], steps);
    case spv::OpTypeStruct:
      return std::ranges::all_of(
          type->operands(), [&](uint32_t member) { return IsStorable(module, member, steps); });
    default: return false;
  }
}

// True for instructions that give the same result wherever they stand, if their operands can be had.
bool CanBeRepeated(const Instruction& instruction) {
  switch (instruction.opcode) {
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
    case spv::OpCopyObject:
    case spv::OpImageTexelPointer: return true;
    default: return false;
  }
}

class Repair {
 public:
  Repair(Module& module, Function& function) : module_(module), function_(function) {}

  std::string Run() {
    // A repeated instruction may use what has to be repaired next; a chain of those is as long as they stand in a row.
    for (uint32_t rounds = 0; rounds < 64; ++rounds) {
      const std::optional<BrokenUse> broken = Find();
      if (!broken) return "";
      if (std::string why = Mend(*broken); !why.empty()) return why;
    }
    return "too many values stand behind the added branch";
  }

 private:
  // Each round mends all uses of one value.
  std::optional<BrokenUse> Find() {
    const ControlFlow flow(function_);
    std::unordered_map<uint32_t, Position> values;
    for (uint32_t b = 0; b < function_.blocks.size(); ++b) {
      const auto& instructions = function_.blocks[b].instructions;
      for (size_t i = 0; i < instructions.size(); ++i) {
        if (instructions[i].result != 0) values[instructions[i].result] = {b, i};
      }
    }
    for (uint32_t b = 0; b < function_.blocks.size(); ++b) {
      if (!flow.IsReachable(b)) continue;
      const auto& instructions = function_.blocks[b].instructions;
      for (size_t i = 0; i < instructions.size(); ++i) {
        const Instruction& user = instructions[i];
        for (uint16_t word : user.id_uses) {
          const auto value = values.find(user.words[word]);
          if (value == values.end()) continue;
          uint32_t where = b;
          if (user.opcode == spv::OpPhi) {
            // Pairs of a value and the block from which it comes.
            where = flow.BlockOf(user.words[word + 1]);
            if (where == ControlFlow::kNone || !flow.IsReachable(where)) continue;
          }
          if (!flow.Dominates(value->second.block, where))
            return BrokenUse{{b, i}, word, value->second};
        }
      }
    }
    return std::nullopt;
  }

  std::string Mend(const BrokenUse& broken) {
    const Instruction value = function_.blocks[broken.value.block].instructions[broken.value.index];
    uint32_t steps = 4096;
    if (IsStorable(module_, value.type, &steps)) {
      PutIntoVariable(value, broken.value);
      return "";
    }
    if (!CanBeRepeated(value) && !LoadsHandle(value)) {
      return fmt::format(
          "value {} is of a kind that no variable holds, and is used behind the loop",
          value.result);
    }
    Repeat(value, broken);
    return "";
  }

  // True for a load of an image or a sampler from a descriptor, which no shader changes.
  bool LoadsHandle(const Instruction& value) const {
    if (value.opcode != spv::OpLoad) return false;
    uint32_t from = value.operands()[0];
    for (const Block& block : function_.blocks) {
      for (const Instruction& chain : block.instructions) {
        if (chain.result == from &&
            (chain.opcode == spv::OpAccessChain || chain.opcode == spv::OpInBoundsAccessChain)) {
          from = chain.operands()[0];
        }
      }
    }
    const Instruction* variable = module_.Global(from);
    return variable != nullptr && variable->opcode == spv::OpVariable &&
           variable->operands()[0] == spv::StorageClassUniformConstant;
  }

  // The block, and the index in it, where a value of this use has to stand at the latest.
  Position LatestFor(const BrokenUse& broken) const {
    const Instruction& user = function_.blocks[broken.user.block].instructions[broken.user.index];
    if (user.opcode == spv::OpPhi) {
      const uint32_t label = user.words[broken.word + 1];
      for (uint32_t b = 0; b < function_.blocks.size(); ++b) {
        if (function_.blocks[b].id() == label) return {b, BeforeEnd(function_.blocks[b])};
      }
    }
    return {broken.user.block,
            std::min(broken.user.index, BeforeEnd(function_.blocks[broken.user.block]))};
  }

  void Insert(Position at, Instruction instruction) {
    auto& instructions = function_.blocks[at.block].instructions;
    instructions.insert(instructions.begin() + static_cast<ptrdiff_t>(at.index),
                        std::move(instruction));
  }

  void Repeat(Instruction value, const BrokenUse& broken) {
    const Position at = LatestFor(broken);
    const uint32_t id = module_.NewId();
    // The operand first: what is inserted moves it.
    function_.blocks[broken.user.block].instructions[broken.user.index].words[broken.word] = id;
    value.words[2] = value.result = id;
    Insert(at, std::move(value));
  }

  // All uses but those in its own block behind it load the variable.
  void PutIntoVariable(const Instruction& value, Position at) {
    const uint32_t pointer =
        module_.Define(spv::OpTypePointer, 0, {spv::StorageClassFunction, value.type});
    const uint32_t zeros = module_.Define(spv::OpConstantNull, value.type, {});
    const uint32_t variable = module_.NewId();
    const ControlFlow flow(function_);
    for (uint32_t b = 0; b < function_.blocks.size(); ++b) {
      auto& instructions = function_.blocks[b].instructions;
      for (size_t i = 0; i < instructions.size(); ++i) {
        for (size_t u = 0; u < instructions[i].id_uses.size(); ++u) {
          const uint16_t word = instructions[i].id_uses[u];
          if (instructions[i].words[word] != value.result) continue;
          const bool is_phi = instructions[i].opcode == spv::OpPhi;
          const uint32_t where = is_phi ? flow.BlockOf(instructions[i].words[word + 1]) : b;
          if (where == ControlFlow::kNone || !flow.IsReachable(where)) continue;
          if (flow.Dominates(at.block, where)) continue;
          const Position load = LatestFor({{b, i}, word, at});
          const uint32_t loaded = module_.NewId();
          instructions[i].words[word] = loaded;
          Insert(load, Make(spv::OpLoad, value.type, loaded, {variable}, AllIds()));
          if (load.block == b) ++i;
          if (load.block == at.block && load.index <= at.index) ++at.index;
        }
      }
    }
    Position behind = at;
    ++behind.index;
    const Block& block = function_.blocks[at.block];
    if (value.opcode == spv::OpPhi) behind.index = block.BehindPhis();
    Insert(behind, Make(spv::OpStore, 0, 0, {variable, value.result}, AllIds()));
    // The validator takes debug instructions in front of the first label for instructions in front of the variable.
    function_.blocks.front().before.clear();
    Insert({0, 0},
           Make(spv::OpVariable, pointer, variable, {spv::StorageClassFunction, zeros}, {1}));
  }

  Module& module_;
  Function& function_;
};

}  // namespace

std::string RepairDominance(Module& module, Function& function) {
  return Repair(module, function).Run();
}

}  // namespace cairn::spirv
