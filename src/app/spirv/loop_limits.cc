// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/loop_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "app/spirv/control_flow.h"
#include "app/spirv/dominance_repair.h"
#include "app/spirv/loop_report.h"
#include "app/spirv/module.h"
#include "app/spirv/validator.h"

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

const Instruction* Definition(const Function& function, uint32_t id) {
  for (const Block& block : function.blocks) {
    for (const Instruction& instruction : block.instructions) {
      if (instruction.result == id) return &instruction;
    }
  }
  return nullptr;
}

uint32_t TypeOf(const Module& module, const Function& function, uint32_t id) {
  if (const Instruction* global = module.Global(id)) return global->type;
  for (const Instruction& parameter : function.begin) {
    if (parameter.result == id) return parameter.type;
  }
  const Instruction* value = Definition(function, id);
  return value == nullptr ? 0 : value->type;
}

bool HasThirtyTwoBits(const Module& module, uint32_t id) {
  const Instruction* type = module.Global(id);
  return type != nullptr && (type->opcode == spv::OpTypeInt || type->opcode == spv::OpTypeFloat) &&
         type->operands()[0] == 32;
}

void AddPair(Instruction& phi, uint32_t value, uint32_t from) {
  for (uint32_t word : {value, from}) {
    phi.id_uses.push_back(static_cast<uint16_t>(phi.words.size()));
    phi.words.push_back(word);
  }
  phi.words[0] = static_cast<uint32_t>(phi.words.size() << spv::WordCountShift | spv::OpPhi);
}

// Limits one loop of one function.
class LoopLimiter {
 public:
  LoopLimiter(Module& module, Function& function, const BasicTypes& types, uint32_t header)
      : module_(module),
        function_(function),
        types_(types),
        header_label_(header),
        flow_(function) {}

  // Fills what is known of the loop without changing it: why it cannot be limited, and its exit.
  void Describe(const SourcePlaces& places, Loop* loop) {
    FindBlocks();
    const Block& header = function_.blocks[header_];
    const size_t merge = static_cast<size_t>(header.merge() - header.instructions.data());
    loop->place = places.PlaceOf(function_, std::span(header.instructions).first(merge));
    loop->cannot = cannot_;
    if (!cannot_.empty()) return;
    FindExit();
    if (!exit_) return;
    const Comparison comparison = *ComparisonOf(exit_->opcode);
    loop->exit =
        ExitCondition{places.NameOf(exit_->operands()[0]), places.NameOf(exit_->operands()[1]),
                      std::string(comparison.sign), comparison.is_float, comparison.is_signed};
  }

  // After Describe() found nothing against it. Returns "", or says why the function is not valid now.
  std::string Limit(uint32_t trips, uint64_t record, LoopReport& report) {
    const std::vector<bool> was_reachable = Reachable();
    const uint32_t count = CountTrips();
    const Left left = LeaveBehind(trips, count);
    if (function_.blocks[after_].merge() != nullptr &&
        function_.blocks[after_].merge()->opcode == spv::OpLoopMerge) {
      StandBefore();
    }
    Report(count, left, record, report);
    EndWhatIsReachableNow(was_reachable);
    return RepairDominance(module_, function_);
  }

 private:
  // Values at the block that goes back.
  struct Left {
    uint32_t cut;  // ids of values there
    uint32_t left;
    uint32_t right;
  };

  void FindBlocks() {
    header_ = flow_.BlockOf(header_label_);
    const Instruction& merge = *function_.blocks[header_].merge();
    after_ = flow_.BlockOf(merge.operands()[0]);
    if (!flow_.IsReachable(header_)) {
      cannot_ = "no way leads to it";
      return;
    }
    for (uint32_t predecessor : flow_.Predecessors(header_)) {
      if (!flow_.Dominates(header_, predecessor)) continue;
      if (back_ != ControlFlow::kNone) cannot_ = "two branches go back to its begin";
      back_ = predecessor;
      back_label_ = function_.blocks[predecessor].id();
    }
    if (after_ < header_) {
      cannot_ = "what follows it stands in front of it";
    } else if (back_ == ControlFlow::kNone) {
      cannot_ = "nothing goes back to its begin";
    } else if (cannot_.empty() && !GoesBackOrLeaves(function_.blocks[back_].end())) {
      cannot_ = "it goes back in a way that is not known";
    }
  }

  // Branches to the header, and at most to what stands behind the loop besides.
  bool GoesBackOrLeaves(const Instruction& end) const {
    const std::vector<uint32_t> targets = Targets(end);
    if (end.opcode == spv::OpBranch) return true;
    return end.opcode == spv::OpBranchConditional && targets[0] != targets[1] &&
           std::ranges::all_of(targets, [&](uint32_t target) {
             return target == header_label_ || target == function_.blocks[after_].id();
           });
  }

  // A comparison of 32 bits whose result leaves the loop, made on every way to the block that goes back.
  void FindExit() {
    for (uint32_t predecessor : flow_.Predecessors(after_)) {
      const Instruction& end = function_.blocks[predecessor].end();
      if (end.opcode != spv::OpBranchConditional || !flow_.Dominates(predecessor, back_)) continue;
      const Instruction* condition = Definition(function_, end.operands()[0]);
      if (condition == nullptr || !ComparisonOf(condition->opcode)) continue;
      const auto operands = condition->operands();
      if (!HasThirtyTwoBits(module_, TypeOf(module_, function_, operands[0])) ||
          !HasThirtyTwoBits(module_, TypeOf(module_, function_, operands[1]))) {
        continue;
      }
      exit_ = *condition;
      return;
    }
  }

  std::vector<bool> Reachable() const {
    std::vector<bool> reachable(function_.blocks.size());
    for (uint32_t b = 0; b < reachable.size(); ++b) reachable[b] = flow_.IsReachable(b);
    return reachable;
  }

  uint32_t Word(uint32_t value) {
    return module_.Define(spv::OpConstant, types_.uint_type, {value});
  }

  // At the header: 0 from outside, one more from the block that goes back. Returns the trips that have begun, with this.
  uint32_t CountTrips() {
    const uint32_t before = module_.NewId();
    const uint32_t trips = module_.NewId();
    Instruction phi = Make(spv::OpPhi, types_.uint_type, before, {}, AllIds());
    for (uint32_t predecessor : flow_.Predecessors(header_)) {
      AddPair(phi, predecessor == back_ ? trips : Word(0), function_.blocks[predecessor].id());
    }
    Instruction add = Make(spv::OpIAdd, types_.uint_type, trips, {before, Word(1)}, AllIds());
    Block& header = function_.blocks[header_];
    header.instructions.insert(
        header.instructions.begin() + static_cast<ptrdiff_t>(header.BehindPhis()), std::move(add));
    header.instructions.insert(header.instructions.begin(), std::move(phi));
    return trips;
  }

  // At the block that goes back: a branch behind the loop once the trips are used up.
  Left LeaveBehind(uint32_t trips, uint32_t count) {
    Block& back = function_.blocks[back_];
    std::vector<Instruction> added;
    const auto value = [&](spv::Op opcode, uint32_t type, std::vector<uint32_t> operands) {
      const uint32_t id = module_.NewId();
      added.push_back(Make(opcode, type, id, std::move(operands), AllIds()));
      return id;
    };
    const auto bits = [&](uint32_t id) {
      const uint32_t type = TypeOf(module_, function_, id);
      return type == types_.uint_type ? id : value(spv::OpBitcast, types_.uint_type, {id});
    };
    Left left{0, Word(0), Word(0)};
    if (exit_) {
      left.left = bits(exit_->operands()[0]);
      left.right = bits(exit_->operands()[1]);
    }
    const uint32_t over = value(spv::OpUGreaterThanEqual, types_.bool_type, {count, Word(trips)});
    const uint32_t behind = function_.blocks[after_].id();
    Instruction& end = back.end();
    if (end.opcode == spv::OpBranch) {
      left.cut = over;
      end = Make(spv::OpBranchConditional, 0, 0, {over, behind, header_label_}, AllIds());
      AddEdgeToPhis();
    } else {
      const bool goes_back_if_true = end.operands()[1] == header_label_;
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
  void AddEdgeToPhis() {
    for (Instruction& phi : function_.blocks[after_].instructions) {
      if (phi.opcode != spv::OpPhi) continue;
      const spv::Op type = module_.Global(phi.type)->opcode;
      // No zeros of arrays and structures: there may be images in them.
      const bool has_zeros = type == spv::OpTypeBool || type == spv::OpTypeInt ||
                             type == spv::OpTypeFloat || type == spv::OpTypeVector ||
                             type == spv::OpTypeMatrix;
      AddPair(phi, module_.Define(has_zeros ? spv::OpConstantNull : spv::OpUndef, phi.type, {}),
              function_.blocks[back_].id());
    }
  }

  // The block behind the loop begins another one: a block between them takes the branches of this one.
  void StandBefore() {
    const uint32_t old_label = function_.blocks[after_].id();
    Block between;
    between.label = Make(spv::OpLabel, 0, module_.NewId(), {}, AllIds());
    const ControlFlow flow(function_);
    std::vector<uint32_t> moved;  // labels of blocks of this loop
    for (uint32_t predecessor : flow.Predecessors(after_)) {
      if (flow.IsReachable(predecessor) && flow.Dominates(after_, predecessor)) continue;
      Block& block = function_.blocks[predecessor];
      moved.push_back(block.id());
      for (size_t i = 0; i < block.end().id_uses.size(); ++i) {
        uint32_t& word = block.end().words[block.end().id_uses[i]];
        if (word == old_label) word = between.id();
      }
    }
    Block& header = function_.blocks[header_];
    header.merge()->words[header.merge()->id_uses[0]] = between.id();
    for (Instruction& phi : function_.blocks[after_].instructions) {
      if (phi.opcode != spv::OpPhi) continue;
      Instruction here = Make(spv::OpPhi, phi.type, module_.NewId(), {}, AllIds());
      Instruction there = Make(spv::OpPhi, phi.type, phi.result, {}, AllIds());
      const auto operands = phi.operands();
      for (size_t i = 0; i + 1 < operands.size(); i += 2) {
        const bool is_moved = std::ranges::find(moved, operands[i + 1]) != moved.end();
        AddPair(is_moved ? here : there, operands[i], operands[i + 1]);
      }
      AddPair(there, here.result, between.id());
      phi = std::move(there);
      between.instructions.push_back(std::move(here));
    }
    between.instructions.push_back(Make(spv::OpBranch, 0, 0, {old_label}, AllIds()));
    function_.blocks.insert(function_.blocks.begin() + after_, std::move(between));
    // From here on `after_` is the new block, and blocks behind it have moved by one.
    stands_before_ = true;
  }

  // Behind the loop: says that it was left, and how.
  void Report(uint32_t count, const Left& left, uint64_t record, LoopReport& report) {
    const ControlFlow flow(function_);
    const uint32_t back = flow.BlockOf(back_label_);
    Block& after = function_.blocks[after_];
    std::vector<Instruction> phis;
    const auto from_back = [&](uint32_t type, uint32_t value, uint32_t otherwise) {
      Instruction phi = Make(spv::OpPhi, type, module_.NewId(), {}, AllIds());
      for (uint32_t predecessor : flow.Predecessors(after_)) {
        AddPair(phi, predecessor == back ? value : otherwise, function_.blocks[predecessor].id());
      }
      phis.push_back(std::move(phi));
      return phis.back().result;
    };
    const uint32_t no = module_.Define(spv::OpConstantFalse, types_.bool_type, {});
    const uint32_t cut = from_back(types_.bool_type, left.cut, no);
    const uint32_t left_value = from_back(types_.uint_type, left.left, Word(0));
    const uint32_t right_value = from_back(types_.uint_type, left.right, Word(0));
    after.instructions.insert(
        after.instructions.begin() + static_cast<ptrdiff_t>(after.BehindPhis()),
        report.CallFor(record, cut, count, left_value, right_value));
    after.instructions.insert(after.instructions.begin(), std::make_move_iterator(phis.begin()),
                              std::make_move_iterator(phis.end()));
  }

  // Behind an endless loop a compiler says that no way leads there. Now one does.
  void EndWhatIsReachableNow(const std::vector<bool>& was_reachable) {
    const ControlFlow flow(function_);
    const Instruction& definition = function_.definition();
    const bool has_value = definition.type != types_.void_type;
    for (uint32_t b = 0; b < function_.blocks.size(); ++b) {
      Instruction& end = function_.blocks[b].end();
      if (end.opcode != spv::OpUnreachable || !flow.IsReachable(b)) continue;
      const uint32_t before = stands_before_ && b > after_ ? b - 1 : b;
      if (before < was_reachable.size() && was_reachable[before]) continue;
      end = has_value ? Make(spv::OpReturnValue, 0, 0,
                             {module_.Define(spv::OpUndef, definition.type, {})}, AllIds())
                      : Make(spv::OpReturn, 0, 0, {}, AllIds());
    }
  }

  Module& module_;
  Function& function_;
  const BasicTypes& types_;
  const uint32_t header_label_;
  const ControlFlow flow_;  // of the function as it was
  uint32_t header_ = ControlFlow::kNone;
  uint32_t back_ = ControlFlow::kNone;
  uint32_t after_ = ControlFlow::kNone;
  std::string cannot_;
  std::optional<Instruction> exit_;
  uint32_t back_label_ = 0;
  bool stands_before_ = false;
};

// Labels of the headers, in the order of the module.
struct Header {
  size_t function;
  uint32_t label;
};
std::vector<Header> HeadersOf(const Module& module) {
  std::vector<Header> headers;
  for (size_t f = 0; f < module.functions.size(); ++f) {
    for (const Block& block : module.functions[f].blocks) {
      const Instruction* merge = block.merge();
      if (merge != nullptr && merge->opcode == spv::OpLoopMerge) headers.push_back({f, block.id()});
    }
  }
  return headers;
}

Status CheckAddressing(const Module& module) {
  for (const Instruction& global : module.globals) {
    if (global.opcode != spv::OpMemoryModel) continue;
    const uint32_t model = global.operands()[0];
    if (model == spv::AddressingModelLogical ||
        model == spv::AddressingModelPhysicalStorageBuffer64)
      return {};
    return Status(StatusCode::kUnsupported, fmt::format("its addressing model is {}", model));
  }
  return Status(StatusCode::kUnsupported, "it has no addressing model");
}

}  // namespace

uint32_t CountLoops(std::span<const uint32_t> words) {
  constexpr size_t kHeaderWords = 5;
  if (words.size() < kHeaderWords || words[0] != spv::MagicNumber) return 0;
  uint32_t loops = 0;
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t length = words[at] >> spv::WordCountShift;
    if (length == 0) return 0;
    loops += (words[at] & spv::OpCodeMask) == spv::OpLoopMerge;
    at += length;
  }
  return loops;
}

Result<LimitedModule> LimitLoops(std::span<const uint32_t> words, const LoopLimits& limits) {
  if (Status valid = Validate(words); !valid.ok()) {
    return Status(StatusCode::kUnsupported, "the module is not valid: " + valid.message());
  }
  Result<Module> read = Module::Read(words);
  if (!read.ok()) return read.status();
  CAIRN_RETURN_IF_ERROR(CheckAddressing(*read));
  LimitedModule limited;
  const std::vector<Header> headers = HeadersOf(*read);
  if (headers.empty()) {
    limited.words.assign(words.begin(), words.end());
    return limited;
  }
  // Names are read from the module as it was.
  const Module original = *read;
  const SourcePlaces places(original);
  Module& module = *read;
  const BasicTypes types(module);
  LoopReport report(module, types);
  for (uint32_t i = 0; i < headers.size(); ++i) {
    // Worked on beside it, in case that the loop turns out to be none that can be limited.
    Function function = module.functions[headers[i].function];
    LoopLimiter limiter(module, function, types, headers[i].label);
    Loop& loop = limited.loops.emplace_back();
    loop.function = function.id();
    limiter.Describe(places, &loop);
    if (!loop.cannot.empty() || (limits.only && *limits.only != i)) continue;
    loop.cannot = limiter.Limit(limits.trips, limits.records + sizeof(LoopRecord) * i, report);
    if (!loop.cannot.empty()) continue;
    module.functions[headers[i].function] = std::move(function);
    ++limited.limited;
  }
  if (limited.limited == 0) {
    limited.words.assign(words.begin(), words.end());
    return limited;
  }
  report.AddFunction();
  limited.invocations = report.invocations();
  limited.words = module.Words();
  if (Status valid = Validate(limited.words); !valid.ok()) {
    return Status(StatusCode::kUnsupported, "the changed module is not valid: " + valid.message());
  }
  return limited;
}

}  // namespace cairn::spirv
