// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/descriptor_rewriter.h"

#include <iterator>
#include <utility>

namespace cairn::spirv {
namespace {

uint32_t Mapped(const std::unordered_map<uint32_t, uint32_t>& ids, uint32_t id) {
  const auto found = ids.find(id);
  return found != ids.end() ? found->second : id;
}

bool IsPointer(const Module& module, uint32_t type) {
  const Instruction* const definition = module.Global(type);
  return definition != nullptr && definition->opcode == spv::OpTypePointer;
}

}  // namespace

DescriptorRewriter::DescriptorRewriter(Module& module, const BasicTypes& types, IndexGuard& guard,
                                       bool only_counts)
    : module_(module),
      types_(types),
      guard_(guard),
      only_counts_(only_counts),
      program_non_uniform_(NonUniformIds(module)) {}

uint32_t DescriptorRewriter::AsWord(Code& code, uint32_t id, bool is_signed) {
  return is_signed ? code.Value(spv::OpBitcast, types_.uint_type, {id}) : id;
}

uint32_t DescriptorRewriter::Chain(Code& code, uint32_t type, const DescriptorPath& path,
                                   std::vector<uint32_t> indices, bool is_non_uniform) {
  std::vector<uint32_t> operands = {path.variable};
  operands.insert(operands.end(), indices.begin(), indices.end());
  const uint32_t chain = code.Value(spv::OpAccessChain, type, std::move(operands));
  if (is_non_uniform) non_uniform_.push_back(chain);
  return chain;
}

uint32_t DescriptorRewriter::BoundOf(Code& code, const DescriptorPath& path,
                                     const CheckedIndex& index, const Ids& ids,
                                     bool is_non_uniform) {
  const uint32_t value = index.bound.value;
  if (index.bound.from == IndexBound::From::kConstant) return code.Word(value);
  if (index.bound.from == IndexBound::From::kId)
    return AsWord(code, value, module_.Global(value)->type != types_.uint_type);
  // The block: the variable, or one of an array of them. A length is asked of one that is there.
  const bool is_block = module_.Global(path.types[0])->opcode == spv::OpTypeStruct;
  uint32_t block = path.variable;
  if (!is_block) {
    uint32_t descriptor = Mapped(ids, path.indices[0]);
    const CheckedIndex& first = path.checked.front();
    if (first.at == 0) {
      const uint32_t word = AsWord(code, descriptor, first.is_signed);
      const uint32_t bound = BoundOf(code, path, first, ids, is_non_uniform);
      const uint32_t inside = code.Value(spv::OpULessThan, types_.bool_type, {word, bound});
      descriptor = code.Value(spv::OpSelect, types_.uint_type, {inside, word, code.Word(0)});
    }
    const uint32_t storage_class =
        module_.Global(module_.Global(path.variable)->type)->operands()[0];
    const uint32_t pointer = module_.Define(spv::OpTypePointer, 0, {storage_class, path.types[1]});
    block = Chain(code, pointer, path, {descriptor}, is_non_uniform);
  }
  return code.Value(spv::OpArrayLength, types_.uint_type, {block, value}, {1});
}

std::vector<IndexGuard::Bounded> DescriptorRewriter::Bounds(Code& code, const DescriptorPath& path,
                                                            const Ids& ids, bool is_non_uniform) {
  std::vector<IndexGuard::Bounded> bounds;
  for (const CheckedIndex& index : path.checked) {
    const uint32_t word = AsWord(code, Mapped(ids, path.indices[index.at]), index.is_signed);
    bounds.push_back({word, BoundOf(code, path, index, ids, is_non_uniform)});
  }
  return bounds;
}

void DescriptorRewriter::RewriteOpaque(Code& code, const FoundAccess& access, uint64_t record,
                                       Instruction* instruction) {
  const DescriptorPath& path = *access.path;
  uint32_t& pointer = instruction->words[access.word];
  const bool is_non_uniform = program_non_uniform_.contains(pointer);
  const std::vector<IndexGuard::Bounded> bounds = Bounds(code, path, {}, is_non_uniform);
  const uint32_t inside = guard_.Call(code, bounds, record);
  if (only_counts_) return;
  std::vector<uint32_t> indices = path.indices;
  for (size_t i = 0; i < bounds.size(); ++i) {
    uint32_t& index = indices[path.checked[i].at];
    index = code.Value(spv::OpSelect, types_.uint_type, {inside, bounds[i].index, code.Word(0)});
    if (is_non_uniform) non_uniform_.push_back(index);
  }
  pointer = Chain(code, access.pointer_type, path, std::move(indices), is_non_uniform);
}

uint32_t DescriptorRewriter::AddAccess(const FoundAccess& access, uint64_t record,
                                       const Instruction& instruction, uint32_t return_type) {
  const DescriptorPath& path = *access.path;
  const bool is_non_uniform = program_non_uniform_.contains(instruction.words[access.word]);
  std::vector<uint32_t> parameters;
  for (const LocalValue& local : access.locals) parameters.push_back(local.type);
  enum { kBegin, kAccess, kEnd, kBlocks };
  const uint32_t id = module_.NewId();
  NewFunction function(module_, types_, id, return_type, std::move(parameters), kBlocks);
  Ids ids;
  for (size_t i = 0; i < access.locals.size(); ++i) {
    ids[access.locals[i].id] = function.parameter(i);
    if (is_non_uniform) non_uniform_.push_back(function.parameter(i));
  }
  {
    Code code = function.In(kBegin);
    const uint32_t inside = guard_.Call(code, Bounds(code, path, ids, is_non_uniform), record);
    if (only_counts_) {
      code.Do(spv::OpBranch, {function.label(kAccess)});
    } else {
      code.Select(inside, function.label(kAccess), function.label(kEnd));
    }
  }
  const bool returns = return_type != types_.void_type;
  uint32_t result = 0;
  {
    Code code = function.In(kAccess);
    std::vector<uint32_t> indices;
    for (uint32_t index : path.indices) indices.push_back(Mapped(ids, index));
    const uint32_t pointer =
        Chain(code, access.pointer_type, path, std::move(indices), is_non_uniform);
    Instruction own = instruction;
    for (uint16_t word : own.id_uses) own.words[word] = Mapped(ids, own.words[word]);
    own.words[access.word] = pointer;
    if (own.result != 0) {
      result = module_.NewId();
      own.result = result;
      own.words[2] = result;
      if (is_non_uniform) non_uniform_.push_back(result);
    }
    code.Add(std::move(own));
    if (returns && return_type != instruction.type)
      result = code.Value(spv::OpBitcast, return_type, {result});
    code.Do(spv::OpBranch, {function.label(kEnd)});
  }
  {
    Code code = function.In(kEnd);
    if (returns && !only_counts_) {
      const uint32_t zeros = module_.Define(spv::OpConstantNull, return_type, {});
      result = code.Value(spv::OpPhi, return_type,
                          {result, function.label(kAccess), zeros, function.label(kBegin)});
    }
    if (returns) {
      code.Do(spv::OpReturnValue, {result});
    } else {
      code.Do(spv::OpReturn, {});
    }
  }
  functions_.push_back(function.Take());
  return id;
}

void DescriptorRewriter::Rewrite(Code& code, const FoundAccess& access, uint64_t record,
                                 Instruction* instruction) {
  if (access.path->is_opaque) {
    RewriteOpaque(code, access, record, instruction);
    return;
  }
  const uint32_t type = instruction->type;
  const uint32_t own_result = instruction->result;
  // An address that is loaded: there is no null to return in its place.
  const bool is_pointer = type != 0 && IsPointer(module_, type);
  const uint32_t return_type = type == 0 ? types_.void_type : is_pointer ? types_.uint2 : type;
  std::vector<uint32_t> operands = {AddAccess(access, record, *instruction, return_type)};
  for (const LocalValue& local : access.locals) operands.push_back(local.id);
  if (is_pointer) {
    const uint32_t address = code.Value(spv::OpFunctionCall, types_.uint2, std::move(operands));
    *instruction = Make(spv::OpBitcast, type, own_result, {address}, AllIds());
  } else {
    *instruction =
        Make(spv::OpFunctionCall, return_type, own_result != 0 ? own_result : module_.NewId(),
             std::move(operands), AllIds());
  }
}

void DescriptorRewriter::Finish() {
  std::move(functions_.begin(), functions_.end(), std::back_inserter(module_.functions));
  functions_.clear();
  if (!non_uniform_.empty()) module_.DecorateAll(non_uniform_, spv::DecorationNonUniform);
}

}  // namespace cairn::spirv
