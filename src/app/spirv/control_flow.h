// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a function: who branches to whom, and who stands before whom on every way.
#ifndef CAIRN_APP_SPIRV_CONTROL_FLOW_H_
#define CAIRN_APP_SPIRV_CONTROL_FLOW_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "app/spirv/module.h"

namespace cairn::spirv {

// Labels that the last instruction of a block branches to, in its order.
std::vector<uint32_t> Targets(const Instruction& end);

// A view of a function as it was when this was made. Blocks are named by their index in Function::blocks.
class ControlFlow {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit ControlFlow(const Function& function);

  // kNone for no block of the function.
  uint32_t BlockOf(uint32_t label) const;
  const std::vector<uint32_t>& Predecessors(uint32_t block) const { return predecessors_[block]; }
  bool IsReachable(uint32_t block) const { return order_[block] != kNone; }
  // True if every way from the function's begin to `block` leads through `dominator`; a block dominates itself. Nothing
  // dominates, and nothing is dominated by, what cannot be reached.
  bool Dominates(uint32_t dominator, uint32_t block) const;

 private:
  void Number(const std::vector<std::vector<uint32_t>>& successors);
  void FindDominators();

  std::unordered_map<uint32_t, uint32_t> by_label_;
  std::vector<std::vector<uint32_t>> predecessors_;
  std::vector<uint32_t> order_;      // reverse postorder; kNone: not reachable
  std::vector<uint32_t> by_order_;   // blocks
  std::vector<uint32_t> dominator_;  // immediate
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_CONTROL_FLOW_H_
