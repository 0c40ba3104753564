// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/module_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "app/spirv/loop_limits.h"

namespace cairn::spirv {
namespace {

Status TooMuch(std::string_view what, uint64_t count, std::string_view unit, uint64_t most) {
  return Status(StatusCode::kUnsupported,
                fmt::format("the module is too large: {} {} {}, and {} is the most", what, count,
                            unit, most));
}

struct Type {
  uint32_t depth;
  uint64_t members;
};

bool IsType(spv::Op opcode) {
  return opcode >= spv::OpTypeVoid && opcode <= spv::OpTypeFunction;
}

// Values of a structure of structures are walked member by member: a few types may have 2^255 of those.
Status CheckTypes(const Module& module) {
  std::unordered_map<uint32_t, Type> types;
  uint64_t members = 0;
  const auto count_value = [&](const Instruction& instruction) {
    const auto type = instruction.type == 0 ? types.end() : types.find(instruction.type);
    if (type != types.end()) members = std::min(members + type->second.members, kMostMembers + 1);
  };
  for (const Instruction& global : module.globals) {
    count_value(global);
    if (!IsType(global.opcode)) continue;
    Type type{1, 1};
    for (uint16_t word : global.id_uses) {
      const auto member = types.find(global.words[word]);
      if (member == types.end()) continue;
      type.depth = std::max(type.depth, member->second.depth + 1);
      type.members = std::min(type.members + member->second.members, kMostMembers + 1);
    }
    if (type.depth > kMostTypeDepth)
      return TooMuch("a type has", type.depth, "types within each other", kMostTypeDepth);
    types[global.result] = type;
  }
  for (const Function& function : module.functions) {
    for (const Instruction& parameter : function.begin) count_value(parameter);
    for (const Block& block : function.blocks) {
      for (const Instruction& instruction : block.instructions) count_value(instruction);
    }
  }
  if (members > kMostMembers)
    return TooMuch("its values have more than", kMostMembers, "members", kMostMembers);
  return {};
}

// Adds the depths of all blocks to `sum`.
Status CheckNesting(const Function& function, const ControlFlow& flow, uint64_t* sum) {
  // A block stands within what begins with a block that dominates it, up to where that ends. By the numbers of blocks.
  std::vector<int64_t> change(function.blocks.size() + 1);
  for (uint32_t b = 0; b < function.blocks.size(); ++b) {
    const Instruction* merge = function.blocks[b].merge();
    if (merge == nullptr || !flow.IsReachable(b)) continue;
    const ControlFlow::Range inside = flow.Dominated(b);
    ++change[inside.begin];
    --change[inside.end];
    const uint32_t after = flow.BlockOf(merge->operands()[0]);
    if (after == ControlFlow::kNone || !flow.Dominates(b, after)) continue;
    --change[flow.Dominated(after).begin];
    ++change[flow.Dominated(after).end];
  }
  int64_t depth = 0;
  for (int64_t step : change) {
    depth += step;
    if (depth > kMostNesting) {
      return TooMuch("it has", static_cast<uint64_t>(depth), "loops and branches within each other",
                     kMostNesting);
    }
    *sum += static_cast<uint64_t>(std::max(depth, int64_t{0}));
  }
  return {};
}

// Adds the steps that a search of dominators takes which goes up from each branch.
void AddSteps(const ControlFlow& flow, uint64_t* sum) {
  std::vector<int64_t> depths(flow.size() +
                              1);  // in the tree of dominators, by the numbers of blocks
  for (uint32_t b = 0; b < flow.size(); ++b) {
    if (!flow.IsReachable(b)) continue;
    ++depths[flow.Dominated(b).begin];
    --depths[flow.Dominated(b).end];
  }
  for (size_t i = 1; i < depths.size(); ++i) depths[i] += depths[i - 1];
  for (uint32_t b = 0; b < flow.size(); ++b) {
    if (!flow.IsReachable(b)) continue;
    for (uint32_t from : flow.Predecessors(b)) {
      if (!flow.IsReachable(from)) continue;
      const int64_t steps =
          depths[flow.Dominated(from).begin] - depths[flow.Dominated(b).begin] + 1;
      *sum += static_cast<uint64_t>(std::max(steps, int64_t{0}));
    }
  }
}

}  // namespace

Status CheckSize(std::span<const uint32_t> words) {
  if (words.size() > kMostWords) return TooMuch("it has", words.size(), "words", kMostWords);
  const uint32_t loops = CountLoops(words);
  if (loops > kMostLoops) return TooMuch("it has", loops, "loops", kMostLoops);
  return {};
}

Status CheckShape(const Module& module, const std::vector<ControlFlow>& flows) {
  CAIRN_RETURN_IF_ERROR(CheckTypes(module));
  uint64_t nested = 0;
  uint64_t steps = 0;
  for (size_t f = 0; f < flows.size(); ++f) {
    const size_t blocks = module.functions[f].blocks.size();
    if (blocks > kMostBlocks) return TooMuch("a function has", blocks, "blocks", kMostBlocks);
    CAIRN_RETURN_IF_ERROR(CheckNesting(module.functions[f], flows[f], &nested));
    AddSteps(flows[f], &steps);
  }
  if (steps > kMostSteps)
    return TooMuch("its branches lead over", steps, "steps between blocks", kMostSteps);
  if (nested > kMostNestedBlocks) {
    return TooMuch("its loops and branches have, all together,", nested, "blocks",
                   kMostNestedBlocks);
  }
  return {};
}

Status CheckBindings(size_t variables) {
  if (variables > kMostBindings)
    return TooMuch("it uses", variables, "variables of bindings", kMostBindings);
  return {};
}

}  // namespace cairn::spirv
