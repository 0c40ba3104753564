// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/control_flow.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

namespace {

// Finds the ancestor of the smallest semidominator, over links that shorten themselves.
class Forest {
 public:
  explicit Forest(size_t count) : semi(count), labels_(count), ancestors_(count, kNone) {
    std::iota(semi.begin(), semi.end(), 0);
    std::iota(labels_.begin(), labels_.end(), 0);
  }
  std::vector<uint32_t> semi;

  void Link(uint32_t parent, uint32_t child) { ancestors_[child] = parent; }
  uint32_t Smallest(uint32_t at) {
    if (ancestors_[at] == kNone) return at;
    path_.clear();
    for (uint32_t i = at; ancestors_[ancestors_[i]] != kNone; i = ancestors_[i]) path_.push_back(i);
    for (; !path_.empty(); path_.pop_back()) {
      const uint32_t i = path_.back();
      const uint32_t ancestor = ancestors_[i];
      if (semi[labels_[ancestor]] < semi[labels_[i]]) labels_[i] = labels_[ancestor];
      ancestors_[i] = ancestors_[ancestor];
    }
    return labels_[at];
  }

 private:
  static constexpr uint32_t kNone = ControlFlow::kNone;
  std::vector<uint32_t> labels_;
  std::vector<uint32_t> ancestors_;
  std::vector<uint32_t> path_;
};

}  // namespace

ControlFlow::ControlFlow(const Function& function) {
  const size_t count = function.blocks.size();
  for (uint32_t i = 0; i < count; ++i) by_label_[function.blocks[i].id()] = i;
  predecessors_.resize(count);
  dominated_.resize(count);
  if (count == 0) return;
  std::vector<std::vector<uint32_t>> successors(count);
  // A switch may name one block thousands of times.
  std::vector<uint32_t> last_from(count, kNone);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t label : Targets(function.blocks[i].end())) {
      const uint32_t target = BlockOf(label);
      if (target == kNone || std::exchange(last_from[target], i) == i) continue;
      successors[i].push_back(target);
      predecessors_[target].push_back(i);
    }
  }
  const Search search = SearchInDepth(successors);
  const std::vector<uint32_t> dominators = Dominators(search);
  // A block is found behind its dominator: sizes are summed up from the last one, numbers are given from the first.
  std::vector<uint32_t> sizes(search.blocks.size(), 1);
  for (size_t i = sizes.size() - 1; i > 0; --i) sizes[dominators[i]] += sizes[i];
  std::vector<uint32_t> next(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const uint32_t number =
        i == 0 ? 0 : std::exchange(next[dominators[i]], next[dominators[i]] + sizes[i]);
    next[i] = number + 1;
    dominated_[search.blocks[i]] = {number, number + sizes[i]};
  }
}

uint32_t ControlFlow::BlockOf(uint32_t label) const {
  const auto found = by_label_.find(label);
  return found == by_label_.end() ? kNone : found->second;
}

// Without recursion: a module may have 100,000 blocks in a row.
ControlFlow::Search ControlFlow::SearchInDepth(
    const std::vector<std::vector<uint32_t>>& successors) {
  Search search;
  search.places.assign(successors.size(), kNone);
  std::vector<std::pair<uint32_t, size_t>> path;
  const auto enter = [&](uint32_t block, uint32_t parent) {
    search.places[block] = static_cast<uint32_t>(search.blocks.size());
    search.blocks.push_back(block);
    search.parents.push_back(parent);
    path.emplace_back(block, 0);
  };
  enter(0, 0);
  while (!path.empty()) {
    auto& [block, next] = path.back();
    if (next == successors[block].size()) {
      path.pop_back();
      continue;
    }
    const uint32_t successor = successors[block][next++];
    if (search.places[successor] == kNone) enter(successor, search.places[block]);
  }
  return search;
}

// Lengauer and Tarjan: "A Fast Algorithm for Finding Dominators in a Flowgraph", the simple version. No order of blocks
// makes it quadratic. By places in the search; the first block has itself.
std::vector<uint32_t> ControlFlow::Dominators(const Search& search) const {
  const size_t count = search.blocks.size();
  Forest forest(count);
  std::vector<uint32_t>& semi = forest.semi;
  std::vector<uint32_t> dominators(count, 0);
  // Lists of those with one semidominator.
  std::vector<uint32_t> first(count, kNone);
  std::vector<uint32_t> next(count, kNone);
  for (auto i = static_cast<uint32_t>(count - 1); i > 0; --i) {
    for (uint32_t predecessor : predecessors_[search.blocks[i]]) {
      if (search.places[predecessor] == kNone) continue;
      semi[i] = std::min(semi[i], semi[forest.Smallest(search.places[predecessor])]);
    }
    next[i] = std::exchange(first[semi[i]], i);
    const uint32_t parent = search.parents[i];
    forest.Link(parent, i);
    for (uint32_t of = std::exchange(first[parent], kNone); of != kNone; of = next[of]) {
      const uint32_t smallest = forest.Smallest(of);
      dominators[of] = semi[smallest] < semi[of] ? smallest : parent;
    }
  }
  for (size_t i = 1; i < count; ++i) {
    if (dominators[i] != semi[i]) dominators[i] = dominators[dominators[i]];
  }
  return dominators;
}

bool ControlFlow::Dominates(uint32_t dominator, uint32_t block) const {
  const Range& range = dominated_[dominator];
  const uint32_t number = dominated_[block].begin;
  return range.begin != kNone && number != kNone && range.begin <= number && number < range.end;
}

}  // namespace cairn::spirv
