// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/dominance_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace cairn::spirv {
namespace {

// How many instructions are computed again in a row, and in a function.
constexpr uint32_t kMostInARow = 64;
constexpr size_t kMostCopies = 65536;

// Where an instruction stands, or in front of which one.
struct Position {
  uint32_t block;
  size_t index;
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
  Repair(Module& module, Function& function, const ControlFlow& flow)
      : module_(module), function_(function), flow_(flow), added_(function.blocks.size()) {}

  std::vector<LostValue> Run() {
    FindValues();
    for (uint32_t b = 0; b < function_.blocks.size(); ++b) {
      if (!flow_.IsReachable(b)) continue;
      auto& instructions = function_.blocks[b].instructions;
      const size_t before_end = BeforeEnd(function_.blocks[b]);
      for (size_t i = 0; i < instructions.size(); ++i) {
        const bool is_phi = instructions[i].opcode == spv::OpPhi;
        for (uint16_t word : instructions[i].id_uses) {
          uint32_t& id = instructions[i].words[word];
          const auto value = values_.find(id);
          if (value == values_.end()) continue;
          // Pairs of a value and the block from which it comes.
          const uint32_t where = is_phi ? flow_.BlockOf(instructions[i].words[word + 1]) : b;
          if (where == ControlFlow::kNone || !flow_.IsReachable(where) ||
              flow_.Dominates(value->second.block, where)) {
            continue;
          }
          const Position at = is_phi ? Position{where, BeforeEnd(function_.blocks[where])}
                                     : Position{b, std::min(i, before_end)};
          if (const uint32_t found = Available(id, at, 0)) id = found;
        }
      }
    }
    if (lost_.empty()) Insert();
    return std::move(lost_);
  }

 private:
  struct Added {
    size_t index;  // in front of this instruction
    Instruction instruction;
  };
  // A value that was made available in a block.
  struct Made {
    size_t index;
    uint32_t id;
  };

  void FindValues() {
    for (uint32_t b = 0; b < function_.blocks.size(); ++b) {
      const auto& instructions = function_.blocks[b].instructions;
      for (size_t i = 0; i < instructions.size(); ++i) {
        if (instructions[i].result != 0) values_[instructions[i].result] = {b, i};
      }
    }
  }

  bool CanBeStored(uint32_t type) {
    const auto [found, is_new] = storable_.try_emplace(type, false);
    uint32_t steps = 4096;
    if (is_new) found->second = IsStorable(module_, type, &steps);
    return found->second;
  }

  const Instruction& At(Position at) const {
    return function_.blocks[at.block].instructions[at.index];
  }

  // The id that has the value of `id` at a place; 0: can't be had.
  uint32_t Available(uint32_t id, Position at, uint32_t depth) {
    const auto found = values_.find(id);
    if (found == values_.end()) return id;
    const Position from = found->second;
    if (flow_.Dominates(from.block, at.block) &&
        (from.block != at.block || from.index < at.index)) {
      return id;
    }
    const uint64_t key = uint64_t{id} << 32 | at.block;
    if (const auto made = made_.find(key); made != made_.end() && made->second.index <= at.index)
      return made->second.id;
    const Instruction& value = At(from);
    const uint32_t result =
        CanBeStored(value.type) ? Load(value, from, at) : Repeat(value, from, at, depth);
    if (result != 0) made_[key] = {at.index, result};
    return result;
  }

  uint32_t Load(const Instruction& value, Position from, Position at) {
    uint32_t& variable = variables_[value.result];
    if (variable == 0) {
      const uint32_t pointer =
          module_.Define(spv::OpTypePointer, 0, {spv::StorageClassFunction, value.type});
      const uint32_t zeros = module_.Define(spv::OpConstantNull, value.type, {});
      variable = module_.NewId();
      declarations_.push_back(
          Make(spv::OpVariable, pointer, variable, {spv::StorageClassFunction, zeros}, {1}));
      const size_t behind =
          value.opcode == spv::OpPhi ? function_.blocks[from.block].BehindPhis() : from.index + 1;
      added_[from.block].push_back(
          {behind, Make(spv::OpStore, 0, 0, {variable, value.result}, AllIds())});
    }
    const uint32_t loaded = module_.NewId();
    added_[at.block].push_back(
        {at.index, Make(spv::OpLoad, value.type, loaded, {variable}, AllIds())});
    return loaded;
  }

  uint32_t Repeat(const Instruction& value, Position from, Position at, uint32_t depth) {
    if (!CanBeRepeated(value) && !LoadsHandle(value)) {
      Lose(value, from,
           fmt::format("value {} is of a kind that no variable holds, and is used behind the loop",
                       value.result));
      return 0;
    }
    if (depth == kMostInARow || ++copies_ > kMostCopies) {
      Lose(value, from, "too many values stand behind the added branch");
      return 0;
    }
    Instruction copy = value;
    for (uint16_t word : copy.id_uses) {
      copy.words[word] = Available(copy.words[word], at, depth + 1);
      if (copy.words[word] == 0) return 0;
    }
    copy.words[2] = copy.result = module_.NewId();
    const uint32_t id = copy.result;
    added_[at.block].push_back({at.index, std::move(copy)});
    return id;
  }

  void Lose(const Instruction& value, Position from, std::string why) {
    if (is_lost_.insert(value.result).second) lost_.push_back({from.block, std::move(why)});
  }

  // True for a load of an image or a sampler from a descriptor, which no shader changes.
  bool LoadsHandle(const Instruction& value) const {
    if (value.opcode != spv::OpLoad) return false;
    uint32_t from = value.operands()[0];
    for (uint32_t i = 0; i < kMostInARow; ++i) {
      const auto chain = values_.find(from);
      if (chain == values_.end()) break;
      const Instruction& instruction = At(chain->second);
      if (instruction.opcode != spv::OpAccessChain &&
          instruction.opcode != spv::OpInBoundsAccessChain) {
        return false;
      }
      from = instruction.operands()[0];
    }
    const Instruction* variable = module_.Global(from);
    return variable != nullptr && variable->opcode == spv::OpVariable &&
           variable->operands()[0] == spv::StorageClassUniformConstant;
  }

  void Insert() {
    for (Instruction& declaration : declarations_)
      added_.front().push_back({0, std::move(declaration)});
    // The validator takes debug instructions in front of the first label for instructions in front of the variables.
    if (!declarations_.empty()) function_.blocks.front().before.clear();
    for (size_t b = 0; b < added_.size(); ++b) {
      if (added_[b].empty()) continue;
      std::ranges::stable_sort(added_[b], {}, &Added::index);
      auto& instructions = function_.blocks[b].instructions;
      std::vector<Instruction> merged;
      merged.reserve(instructions.size() + added_[b].size());
      auto next = added_[b].begin();
      for (size_t i = 0; i < instructions.size(); ++i) {
        for (; next != added_[b].end() && next->index == i; ++next)
          merged.push_back(std::move(next->instruction));
        merged.push_back(std::move(instructions[i]));
      }
      instructions = std::move(merged);
    }
  }

  Module& module_;
  Function& function_;
  const ControlFlow& flow_;
  std::unordered_map<uint32_t, Position> values_;     // by id
  std::unordered_map<uint64_t, Made> made_;           // by id and block
  std::unordered_map<uint32_t, uint32_t> variables_;  // by the id of the value
  std::unordered_map<uint32_t, bool> storable_;       // by type
  std::vector<Instruction> declarations_;
  std::vector<std::vector<Added>> added_;  // by block
  std::unordered_set<uint32_t> is_lost_;
  std::vector<LostValue> lost_;
  size_t copies_ = 0;
};

}  // namespace

std::vector<LostValue> RepairDominance(Module& module, Function& function,
                                       const ControlFlow& flow) {
  return Repair(module, function, flow).Run();
}

}  // namespace cairn::spirv
