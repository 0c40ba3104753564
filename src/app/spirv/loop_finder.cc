// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/loop_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace cairn::spirv {
namespace {

struct Comparison {
  std::string_view sign;
  bool is_float;
  bool is_signed;
};

std::optional<Comparison> ComparisonOf(spv::Op opcode) {
  switch (opcode) {
    case spv::OpIEqual: return Comparison{"==", false, false};
    case spv::OpINotEqual: return Comparison{"!=", false, false};
    case spv::OpULessThan: return Comparison{"<", false, false};
    case spv::OpULessThanEqual: return Comparison{"<=", false, false};
    case spv::OpUGreaterThan: return Comparison{">", false, false};
    case spv::OpUGreaterThanEqual: return Comparison{">=", false, false};
    case spv::OpSLessThan: return Comparison{"<", false, true};
    case spv::OpSLessThanEqual: return Comparison{"<=", false, true};
    case spv::OpSGreaterThan: return Comparison{">", false, true};
    case spv::OpSGreaterThanEqual: return Comparison{">=", false, true};
    case spv::OpFOrdEqual:
    case spv::OpFUnordEqual: return Comparison{"==", true, true};
    case spv::OpFOrdNotEqual:
    case spv::OpFUnordNotEqual: return Comparison{"!=", true, true};
    case spv::OpFOrdLessThan:
    case spv::OpFUnordLessThan: return Comparison{"<", true, true};
    case spv::OpFOrdLessThanEqual:
    case spv::OpFUnordLessThanEqual: return Comparison{"<=", true, true};
    case spv::OpFOrdGreaterThan:
    case spv::OpFUnordGreaterThan: return Comparison{">", true, true};
    case spv::OpFOrdGreaterThanEqual:
    case spv::OpFUnordGreaterThanEqual: return Comparison{">=", true, true};
    default: return std::nullopt;
  }
}

bool HasThirtyTwoBits(const Module& module, uint32_t id) {
  const Instruction* type = module.Global(id);
  return type != nullptr && (type->opcode == spv::OpTypeInt || type->opcode == spv::OpTypeFloat) &&
         type->operands()[0] == 32;
}

class Finder {
 public:
  explicit Finder(const Module& module, const Function& function, const ControlFlow& flow)
      : module_(module), function_(function), flow_(flow) {
    for (const Instruction& parameter : function.begin) AddValue(parameter);
    for (const Block& block : function.blocks) {
      for (const Instruction& instruction : block.instructions) AddValue(instruction);
    }
  }

  FoundLoop Find(uint32_t header) const {
    FoundLoop found;
    found.header = header;
    const Instruction& merge = *function_.blocks[header].merge();
    found.after = flow_.BlockOf(merge.operands()[0]);
    found.cannot = FindEnds(&found);
    if (found.cannot.empty()) FindExit(&found);
    return found;
  }

 private:
  void AddValue(const Instruction& instruction) {
    if (instruction.result != 0) values_[instruction.result] = &instruction;
  }

  // Returns "", or says why the loop can't be limited.
  std::string FindEnds(FoundLoop* found) const {
    if (!flow_.IsReachable(found->header)) return "no way leads to it";
    for (uint32_t predecessor : flow_.Predecessors(found->header)) {
      if (!flow_.Dominates(found->header, predecessor)) continue;
      if (found->back != ControlFlow::kNone) return "two branches go back to its begin";
      found->back = predecessor;
    }
    if (found->after < found->header) return "what follows it stands in front of it";
    if (found->back == ControlFlow::kNone) return "nothing goes back to its begin";
    if (!GoesBackOrLeaves(*found)) return "it goes back in a way that is not known";
    // One more will be there.
    const size_t most = std::max(flow_.Predecessors(found->header).size(),
                                 flow_.Predecessors(found->after).size()) +
                        1;
    if (most > kMostPhiPairs) {
      return fmt::format(
          "{} branches lead to its begin or its end, and no OpPhi names more than {}", most,
          kMostPhiPairs);
    }
    return "";
  }

  // Branches to the header, and at most to what stands behind the loop besides.
  bool GoesBackOrLeaves(const FoundLoop& found) const {
    const Instruction& end = function_.blocks[found.back].end();
    const std::vector<uint32_t> targets = Targets(end);
    if (end.opcode == spv::OpBranch) return true;
    return end.opcode == spv::OpBranchConditional && targets[0] != targets[1] &&
           std::ranges::all_of(targets, [&](uint32_t target) {
             return target == function_.blocks[found.header].id() ||
                    target == function_.blocks[found.after].id();
           });
  }

  // A comparison of 32 bits whose result leaves the loop, made on every way to the block that goes back.
  void FindExit(FoundLoop* found) const {
    const auto& leaving = flow_.Predecessors(found->after);
    for (uint32_t predecessor : leaving) {
      if (found->exit = ExitBy(predecessor, *found); found->exit) return;
    }
    // Behind a branch to a block of its own, as Tint writes each condition: if (i < 3) {} else { break; }
    for (uint32_t predecessor : leaving) {
      const auto& before = flow_.Predecessors(predecessor);
      if (before.size() != 1) continue;
      if (found->exit = ExitBy(before.front(), *found); found->exit) return;
    }
  }

  // The comparison that this block branches by.
  std::optional<FoundExit> ExitBy(uint32_t block, const FoundLoop& found) const {
    const Instruction& end = function_.blocks[block].end();
    if (end.opcode != spv::OpBranchConditional || !flow_.Dominates(block, found.back)) return {};
    const Instruction* condition = ValueOf(end.operands()[0]);
    if (condition == nullptr) return {};
    if (const Instruction* behind = BehindMask(*condition, function_.blocks[block])) {
      condition = behind;
    }
    const std::optional<Comparison> comparison = ComparisonOf(condition->opcode);
    if (!comparison) return {};
    const auto operands = condition->operands();
    const uint32_t types[] = {TypeOf(operands[0]), TypeOf(operands[1])};
    if (!HasThirtyTwoBits(module_, types[0]) || !HasThirtyTwoBits(module_, types[1])) return {};
    return FoundExit{{operands[0], types[0]},
                     {operands[1], types[1]},
                     comparison->sign,
                     comparison->is_float,
                     comparison->is_signed};
  }

  const Instruction* ValueOf(uint32_t id) const {
    const auto value = values_.find(id);
    return value == values_.end() ? nullptr : value->second;
  }

  bool IsConstant(uint32_t id, uint32_t bits) const {
    const Instruction* global = module_.Global(id);
    if (global == nullptr || !HasThirtyTwoBits(module_, global->type)) return false;
    if (global->opcode == spv::OpConstantNull) return bits == 0;
    return global->opcode == spv::OpConstant && global->operands()[0] == bits;
  }

  // Implementations of Direct3D compare into a register, with all bits set or none, and branch by the register: returns
  // the comparison behind `condition`, a test of such a register in `block`; null if there is none.
  const Instruction* BehindMask(const Instruction& condition, const Block& block) const {
    if (condition.opcode != spv::OpINotEqual && condition.opcode != spv::OpIEqual) return nullptr;
    if (!IsConstant(condition.operands()[1], 0)) return nullptr;
    const Instruction* value = ValueOf(condition.operands()[0]);
    constexpr int kMostSteps = 16;
    for (int step = 0; value != nullptr && step < kMostSteps; ++step) {
      if (value->opcode == spv::OpBitcast || value->opcode == spv::OpNot) {
        value = ValueOf(value->operands()[0]);
      } else if (value->opcode == spv::OpLoad) {
        value = StoredBefore(*value, block);
      } else if (value->opcode == spv::OpSelect) {
        const auto operands = value->operands();
        const bool is_mask = IsConstant(operands[1], UINT32_MAX) && IsConstant(operands[2], 0);
        return is_mask ? ValueOf(operands[0]) : nullptr;
      } else {
        return nullptr;
      }
    }
    return nullptr;
  }

  // The value that the block stored last in front of this load, at the same place; null if it stored none.
  const Instruction* StoredBefore(const Instruction& load, const Block& block) const {
    const Instruction* stored = nullptr;
    for (const Instruction& instruction : block.instructions) {
      if (&instruction == &load) return stored;
      if (instruction.opcode == spv::OpFunctionCall) stored = nullptr;  // it may write there
      if (instruction.opcode == spv::OpStore &&
          IsSamePlace(instruction.operands()[0], load.operands()[0])) {
        stored = ValueOf(instruction.operands()[1]);
      }
    }
    return nullptr;  // it stands elsewhere
  }

  bool IsSamePlace(uint32_t pointer, uint32_t other) const {
    if (pointer == other) return true;
    const Instruction* chain = ValueOf(pointer);
    const Instruction* of_other = ValueOf(other);
    return chain != nullptr && of_other != nullptr && chain->opcode == of_other->opcode &&
           IsAccessChain(chain->opcode) &&
           std::ranges::equal(chain->operands(), of_other->operands());
  }

  uint32_t TypeOf(uint32_t id) const {
    if (const Instruction* global = module_.Global(id)) return global->type;
    const auto value = values_.find(id);
    return value == values_.end() ? 0 : value->second->type;
  }

  const Module& module_;
  const Function& function_;
  const ControlFlow& flow_;
  std::unordered_map<uint32_t, const Instruction*> values_;
};

bool BeginsLoop(const Block& block) {
  const Instruction* merge = block.merge();
  return merge != nullptr && merge->opcode == spv::OpLoopMerge;
}

}  // namespace

std::vector<FoundLoop> FindLoops(const Module& module, const Function& function,
                                 const ControlFlow& flow) {
  std::vector<FoundLoop> loops;
  if (std::ranges::none_of(function.blocks, &BeginsLoop)) return loops;
  const Finder finder(module, function, flow);
  for (uint32_t b = 0; b < function.blocks.size(); ++b) {
    if (BeginsLoop(function.blocks[b])) loops.push_back(finder.Find(b));
  }
  return loops;
}

}  // namespace cairn::spirv
