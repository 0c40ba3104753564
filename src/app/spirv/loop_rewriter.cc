// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/loop_rewriter.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace cairn::spirv {
namespace {

void AddPair(Instruction& phi, uint32_t value, uint32_t from) {
  AddIds(phi, {value, from});
}

}  // namespace

LoopRewriter::LoopRewriter(Module& module, Function& function, const ControlFlow& flow,
                           const BasicTypes& types, LoopReport& report)
    : module_(module), function_(function), flow_(flow), types_(types), report_(report) {
  predecessors_.reserve(function.blocks.size());
  for (uint32_t b = 0; b < function.blocks.size(); ++b)
    predecessors_.push_back(flow.Predecessors(b));
}

void LoopRewriter::Limit(const FoundLoop& loop, uint32_t trips, uint64_t record) {
  const uint32_t count = CountTrips(loop);
  const Left left = LeaveBehind(loop, trips, count);
  const Instruction* merge = function_.blocks[loop.after].merge();
  const bool begins_loop = merge != nullptr && merge->opcode == spv::OpLoopMerge;
  Report(begins_loop ? StandBefore(loop) : loop.after, loop.back, count, left, record);
}

uint32_t LoopRewriter::Word(uint32_t value) {
  return module_.Define(spv::OpConstant, types_.uint_type, {value});
}

// At the header: 0 from outside, one more from the block that goes back. Returns the trips that have begun, with this.
uint32_t LoopRewriter::CountTrips(const FoundLoop& loop) {
  const uint32_t before = module_.NewId();
  const uint32_t trips = module_.NewId();
  Instruction phi = Make(spv::OpPhi, types_.uint_type, before, {}, AllIds());
  for (uint32_t predecessor : predecessors_[loop.header]) {
    AddPair(phi, predecessor == loop.back ? trips : Word(0), function_.blocks[predecessor].id());
  }
  Instruction add = Make(spv::OpIAdd, types_.uint_type, trips, {before, Word(1)}, AllIds());
  Block& header = function_.blocks[loop.header];
  header.instructions.insert(
      header.instructions.begin() + static_cast<ptrdiff_t>(header.BehindPhis()), std::move(add));
  header.instructions.insert(header.instructions.begin(), std::move(phi));
  return trips;
}

// At the block that goes back: a branch behind the loop once the trips are used up.
LoopRewriter::Left LoopRewriter::LeaveBehind(const FoundLoop& loop, uint32_t trips,
                                             uint32_t count) {
  Block& back = function_.blocks[loop.back];
  std::vector<Instruction> added;
  const auto value = [&](spv::Op opcode, uint32_t type, std::vector<uint32_t> operands) {
    const uint32_t id = module_.NewId();
    added.push_back(Make(opcode, type, id, std::move(operands), AllIds()));
    return id;
  };
  const auto bits = [&](const FoundExit::Side& side) {
    return side.type == types_.uint_type ? side.id
                                         : value(spv::OpBitcast, types_.uint_type, {side.id});
  };
  Left left{0, Word(0), Word(0)};
  if (loop.exit) {
    left.left = bits(loop.exit->left);
    left.right = bits(loop.exit->right);
  }
  const uint32_t over = value(spv::OpUGreaterThanEqual, types_.bool_type, {count, Word(trips)});
  const uint32_t behind = function_.blocks[loop.after].id();
  const uint32_t header_label = function_.blocks[loop.header].id();
  Instruction& end = back.end();
  if (end.opcode == spv::OpBranch) {
    left.cut = over;
    end = Make(spv::OpBranchConditional, 0, 0, {over, behind, header_label}, AllIds());
    AddEdgeToPhis(loop);
  } else {
    const bool goes_back_if_true = end.operands()[1] == header_label;
    const uint32_t condition = end.operands()[0];
    const uint32_t opposite =
        value(spv::OpLogicalNot, types_.bool_type, {goes_back_if_true ? over : condition});
    left.cut = value(spv::OpLogicalAnd, types_.bool_type,
                     {goes_back_if_true ? condition : opposite, over});
    end.words[end.id_uses[0]] =
        goes_back_if_true ? value(spv::OpLogicalAnd, types_.bool_type, {condition, opposite})
                          : value(spv::OpLogicalOr, types_.bool_type, {condition, over});
  }
  const Instruction* merge = back.merge();
  const size_t at = merge != nullptr ? static_cast<size_t>(merge - back.instructions.data())
                                     : back.instructions.size() - 1;
  back.instructions.insert(back.instructions.begin() + static_cast<ptrdiff_t>(at),
                           std::make_move_iterator(added.begin()),
                           std::make_move_iterator(added.end()));
  return left;
}

// Gives values behind the loop zeros for the case that the limit ended it, where their type has zeros.
void LoopRewriter::AddEdgeToPhis(const FoundLoop& loop) {
  predecessors_[loop.after].push_back(loop.back);
  for (Instruction& phi : function_.blocks[loop.after].instructions) {
    if (phi.opcode != spv::OpPhi) continue;
    const spv::Op type = module_.Global(phi.type)->opcode;
    // No zeros of arrays and structures: there may be images in them.
    const bool has_zeros = type == spv::OpTypeBool || type == spv::OpTypeInt ||
                           type == spv::OpTypeFloat || type == spv::OpTypeVector ||
                           type == spv::OpTypeMatrix;
    AddPair(phi, module_.Define(has_zeros ? spv::OpConstantNull : spv::OpUndef, phi.type, {}),
            function_.blocks[loop.back].id());
  }
}

// The block behind the loop begins another one: a block between them takes the branches of this one. Returns it.
uint32_t LoopRewriter::StandBefore(const FoundLoop& loop) {
  const uint32_t old_label = function_.blocks[loop.after].id();
  const auto between_index = static_cast<uint32_t>(function_.blocks.size());
  Block between;
  between.label = Make(spv::OpLabel, 0, module_.NewId(), {}, AllIds());
  std::vector<uint32_t> moved, stay;  // labels of blocks of this loop, and of the next one
  std::vector<uint32_t> moved_blocks, other_blocks;
  for (uint32_t predecessor : predecessors_[loop.after]) {
    Block& block = function_.blocks[predecessor];
    if (predecessor >= flow_.size() || flow_.Dominates(loop.after, predecessor)) {
      other_blocks.push_back(predecessor);
      stay.push_back(block.id());
      continue;
    }
    moved_blocks.push_back(predecessor);
    for (uint16_t at : block.end().id_uses) {
      uint32_t& word = block.end().words[at];
      if (word == old_label) word = between.id();
    }
  }
  Block& header = function_.blocks[loop.header];
  header.merge()->words[header.merge()->id_uses[0]] = between.id();
  for (Instruction& phi : function_.blocks[loop.after].instructions) {
    if (phi.opcode != spv::OpPhi) continue;
    Instruction here = Make(spv::OpPhi, phi.type, module_.NewId(), {}, AllIds());
    Instruction there = Make(spv::OpPhi, phi.type, phi.result, {}, AllIds());
    const auto operands = phi.operands();
    for (size_t i = 0; i + 1 < operands.size(); i += 2) {
      const bool stays = std::ranges::find(stay, operands[i + 1]) != stay.end();
      AddPair(stays ? there : here, operands[i], operands[i + 1]);
    }
    AddPair(there, here.result, between.id());
    phi = std::move(there);
    between.instructions.push_back(std::move(here));
  }
  between.instructions.push_back(Make(spv::OpBranch, 0, 0, {old_label}, AllIds()));
  other_blocks.push_back(between_index);
  predecessors_[loop.after] = std::move(other_blocks);
  predecessors_.push_back(std::move(moved_blocks));
  between_.push_back({loop.after, between_index});
  function_.blocks.push_back(std::move(between));
  return between_index;
}

// Behind the loop: says that it was left, and how.
void LoopRewriter::Report(uint32_t after, uint32_t back, uint32_t count, const Left& left,
                          uint64_t record) {
  std::vector<Instruction> phis;
  const auto from_back = [&](uint32_t type, uint32_t value, uint32_t otherwise) {
    Instruction phi = Make(spv::OpPhi, type, module_.NewId(), {}, AllIds());
    for (uint32_t predecessor : predecessors_[after]) {
      AddPair(phi, predecessor == back ? value : otherwise, function_.blocks[predecessor].id());
    }
    phis.push_back(std::move(phi));
    return phis.back().result;
  };
  const uint32_t no = module_.Define(spv::OpConstantFalse, types_.bool_type, {});
  const uint32_t cut = from_back(types_.bool_type, left.cut, no);
  const uint32_t left_value = from_back(types_.uint_type, left.left, Word(0));
  const uint32_t right_value = from_back(types_.uint_type, left.right, Word(0));
  Block& block = function_.blocks[after];
  block.instructions.insert(block.instructions.begin() + static_cast<ptrdiff_t>(block.BehindPhis()),
                            report_.CallFor(record, cut, count, left_value, right_value));
  block.instructions.insert(block.instructions.begin(), std::make_move_iterator(phis.begin()),
                            std::make_move_iterator(phis.end()));
}

std::vector<LostValue> LoopRewriter::Finish() {
  const ControlFlow flow(function_);
  EndWhatIsReachableNow(flow);
  std::vector<LostValue> lost = RepairDominance(module_, function_, flow);
  if (lost.empty()) MoveBetween();
  return lost;
}

// Behind an endless loop a compiler says that no way leads there. Now one does.
void LoopRewriter::EndWhatIsReachableNow(const ControlFlow& flow) {
  const Instruction& definition = function_.definition();
  const bool has_value = definition.type != types_.void_type;
  for (uint32_t b = 0; b < flow_.size(); ++b) {
    Instruction& end = function_.blocks[b].end();
    if (end.opcode != spv::OpUnreachable || flow_.IsReachable(b) || !flow.IsReachable(b)) continue;
    end = has_value ? Make(spv::OpReturnValue, 0, 0,
                           {module_.Define(spv::OpUndef, definition.type, {})}, AllIds())
                    : Make(spv::OpReturn, 0, 0, {}, AllIds());
  }
}

// Blocks that were added go in front of those that they lead to.
void LoopRewriter::MoveBetween() {
  if (between_.empty()) return;
  std::ranges::stable_sort(between_, {}, &Between::before);
  std::vector<Block> blocks;
  blocks.reserve(function_.blocks.size());
  auto next = between_.begin();
  for (uint32_t b = 0; b < flow_.size(); ++b) {
    for (; next != between_.end() && next->before == b; ++next)
      blocks.push_back(std::move(function_.blocks[next->block]));
    blocks.push_back(std::move(function_.blocks[b]));
  }
  function_.blocks = std::move(blocks);
}

}  // namespace cairn::spirv
