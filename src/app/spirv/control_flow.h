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

  size_t size() const { return dominated_.size(); }  // blocks
  // kNone for no block of the function.
  uint32_t BlockOf(uint32_t label) const;
  const std::vector<uint32_t>& Predecessors(uint32_t block) const { return predecessors_[block]; }
  bool IsReachable(uint32_t block) const { return dominated_[block].begin != kNone; }
  // True if every way from the function's begin to `block` leads through `dominator`; a block dominates itself. Nothing
  // dominates, and nothing is dominated by, what cannot be reached. Constant time.
  bool Dominates(uint32_t dominator, uint32_t block) const;

  // Blocks that can be reached have numbers such that those which one block dominates have its own and the next ones.
  struct Range {
    uint32_t begin = kNone;  // the number of the block itself
    uint32_t end = kNone;
  };
  const Range& Dominated(uint32_t block) const { return dominated_[block]; }

 private:
  // Blocks in the order in which a search in depth finds them, and for each the place in it of where it was found from.
  struct Search {
    std::vector<uint32_t> blocks;
    std::vector<uint32_t> parents;
    std::vector<uint32_t> places;  // by block; kNone: not found
  };
  static Search SearchInDepth(const std::vector<std::vector<uint32_t>>& successors);
  std::vector<uint32_t> Dominators(const Search& search) const;

  std::unordered_map<uint32_t, uint32_t> by_label_;
  std::vector<std::vector<uint32_t>> predecessors_;
  std::vector<Range> dominated_;
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_CONTROL_FLOW_H_
