// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/control_flow.h"

#include <algorithm>

namespace cairn::spirv {

std::vector<uint32_t> Targets(const Instruction& end) {
  const auto operands = end.operands();
  switch (end.opcode) {
    case spv::OpBranch: return {operands[0]};
    case spv::OpBranchConditional: return {operands[1], operands[2]};
    case spv::OpSwitch: {
      // The first id is the selector.
      std::vector<uint32_t> targets;
      for (size_t i = 1; i < end.id_uses.size(); ++i) targets.push_back(end.words[end.id_uses[i]]);
      return targets;
    }
    default: return {};
  }
}

ControlFlow::ControlFlow(const Function& function) {
  const size_t count = function.blocks.size();
  for (uint32_t i = 0; i < count; ++i) by_label_[function.blocks[i].id()] = i;
  predecessors_.resize(count);
  order_.assign(count, kNone);
  dominator_.assign(count, kNone);
  std::vector<std::vector<uint32_t>> successors(count);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t label : Targets(function.blocks[i].end())) {
      const uint32_t target = BlockOf(label);
      if (target == kNone || std::ranges::find(successors[i], target) != successors[i].end())
        continue;
      successors[i].push_back(target);
      predecessors_[target].push_back(i);
    }
  }
  if (count == 0) return;
  Number(successors);
  FindDominators();
}

uint32_t ControlFlow::BlockOf(uint32_t label) const {
  const auto found = by_label_.find(label);
  return found == by_label_.end() ? kNone : found->second;
}

// Depth first, without recursion: a module may have 100,000 blocks in a row.
void ControlFlow::Number(const std::vector<std::vector<uint32_t>>& successors) {
  std::vector<std::pair<uint32_t, size_t>> path{{0, 0}};
  std::vector<bool> seen(successors.size());
  seen[0] = true;
  while (!path.empty()) {
    auto& [block, next] = path.back();
    if (next == successors[block].size()) {
      by_order_.push_back(block);
      path.pop_back();
      continue;
    }
    const uint32_t successor = successors[block][next++];
    if (seen[successor]) continue;
    seen[successor] = true;
    path.emplace_back(successor, 0);
  }
  std::ranges::reverse(by_order_);
  for (uint32_t i = 0; i < by_order_.size(); ++i) order_[by_order_[i]] = i;
}

// Cooper, Harvey and Kennedy: "A Simple, Fast Dominance Algorithm".
void ControlFlow::FindDominators() {
  dominator_[by_order_[0]] = by_order_[0];
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 1; i < by_order_.size(); ++i) {
      uint32_t common = kNone;
      for (uint32_t predecessor : predecessors_[by_order_[i]]) {
        if (!IsReachable(predecessor) || dominator_[predecessor] == kNone) continue;
        uint32_t other = predecessor;
        if (common == kNone) common = other;
        while (common != other) {
          while (order_[common] > order_[other]) common = dominator_[common];
          while (order_[other] > order_[common]) other = dominator_[other];
        }
      }
      if (dominator_[by_order_[i]] == common) continue;
      dominator_[by_order_[i]] = common;
      changed = true;
    }
  }
}

bool ControlFlow::Dominates(uint32_t dominator, uint32_t block) const {
  if (!IsReachable(dominator) || !IsReachable(block)) return false;
  while (order_[block] > order_[dominator]) block = dominator_[block];
  return block == dominator;
}

}  // namespace cairn::spirv
