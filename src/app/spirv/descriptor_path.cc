// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/descriptor_path.h"

#include <algorithm>
#include <utility>

#include "app/spirv/decorations.h"

namespace cairn::spirv {
namespace {

// Chains on chains, as compilers leave them; what is longer is not followed.
constexpr uint32_t kMostChains = 16;
constexpr size_t kMostPathIndices = 64;

bool HasDescriptors(uint32_t storage_class) {
  return storage_class == spv::StorageClassStorageBuffer ||
         storage_class == spv::StorageClassUniform ||
         storage_class == spv::StorageClassUniformConstant;
}

}  // namespace

DescriptorPaths::DescriptorPaths(const Module& module, const Function& function,
                                 const ValueTypes& types)
    : module_(module), types_(types) {
  for (const Block& block : function.blocks) {
    for (const Instruction& instruction : block.instructions) {
      if (IsAccessChain(instruction.opcode)) chains_.emplace(instruction.result, &instruction);
    }
  }
}

// True for an integer of 32 bits.
bool DescriptorPaths::IsWord(uint32_t type, bool* is_signed) const {
  const Instruction* const integer = module_.Global(type);
  if (integer == nullptr || integer->opcode != spv::OpTypeInt || integer->operands()[0] != 32)
    return false;
  *is_signed = integer->operands()[1] != 0;
  return true;
}

std::optional<uint32_t> DescriptorPaths::ConstantOf(uint32_t id) const {
  const Instruction* const constant = module_.Global(id);
  bool is_signed = false;
  if (constant == nullptr || constant->opcode != spv::OpConstant ||
      !IsWord(constant->type, &is_signed)) {
    return std::nullopt;
  }
  return constant->operands()[0];
}

std::optional<IndexBound> DescriptorPaths::LengthOf(const Instruction& array) const {
  const uint32_t length = array.operands()[1];
  if (const std::optional<uint32_t> constant = ConstantOf(length))
    return IndexBound{IndexBound::From::kConstant, *constant};
  const Instruction* const special = module_.Global(length);
  bool is_signed = false;
  if (special == nullptr || !IsWord(special->type, &is_signed)) return std::nullopt;
  return IndexBound{IndexBound::From::kId, length};
}

void DescriptorPaths::Check(uint32_t at, const Instruction& array, IndexKind kind,
                            const IndexBound& bound, DescriptorPath* path) const {
  const std::optional<uint32_t> constant = ConstantOf(path->indices[at]);
  if (bound.from == IndexBound::From::kConstant && constant && *constant < bound.value) return;
  // No array has the length zero, but the rest of a buffer may.
  if (bound.from == IndexBound::From::kId && constant == 0u) return;
  bool is_signed = false;
  if (!IsWord(types_.TypeOf(path->indices[at]), &is_signed)) {
    path->cannot = "an index is no integer of 32 bits";
  } else if (array.opcode == spv::OpTypeArray && kind == IndexKind::kElement &&
             bound.from == IndexBound::From::kConstant && bound.value == 1) {
    // As C had it before it knew arrays without a length.
    path->cannot = "an array of one element may stand for more of them";
  } else if (path->checked.size() < kMostIndices) {
    path->checked.push_back({at, kind, is_signed, bound});
  }
}

// Goes from the variable's type along the indices. False for a path that no valid module has.
bool DescriptorPaths::Walk(DescriptorPath* path) const {
  uint32_t member = 0;  // the one of the block
  for (uint32_t i = 0; i < path->indices.size(); ++i) {
    const Instruction* const type = module_.Global(path->types.back());
    if (type == nullptr || type->result == 0 || type->type != 0) return false;
    const auto operands = type->operands();
    const IndexKind kind = i == 0 ? IndexKind::kDescriptor : IndexKind::kElement;
    switch (type->opcode) {
      case spv::OpTypeStruct: {
        const std::optional<uint32_t> index = ConstantOf(path->indices[i]);
        if (!index || *index >= operands.size()) return false;
        member = *index;
        path->types.push_back(operands[*index]);
        continue;
      }
      case spv::OpTypeArray: {
        const std::optional<IndexBound> length = LengthOf(*type);
        if (length) {
          Check(i, *type, kind, *length, path);
        } else {
          path->cannot = "the length of an array is no integer of 32 bits";
        }
        break;
      }
      case spv::OpTypeRuntimeArray:
        if (kind == IndexKind::kDescriptor) {
          path->cannot = "the shader does not say how many descriptors there are";
        } else {
          Check(i, *type, kind, {IndexBound::From::kLength, member}, path);
        }
        break;
      case spv::OpTypeMatrix:
      case spv::OpTypeVector:
        Check(i, *type, kind, {IndexBound::From::kConstant, operands[1]}, path);
        break;
      default: return false;
    }
    path->types.push_back(operands[0]);
  }
  return true;
}

std::optional<DescriptorPath> DescriptorPaths::Of(uint32_t pointer) const {
  DescriptorPath path;
  std::vector<const Instruction*> chains;  // the last one first
  uint32_t root = pointer;
  for (auto chain = chains_.find(root); chain != chains_.end(); chain = chains_.find(root)) {
    if (chains.size() == kMostChains) return std::nullopt;
    chains.push_back(chain->second);
    root = chain->second->operands()[0];
  }
  const Instruction* const variable = module_.Global(root);
  const Instruction* const type = types_.PointerType(root);
  if (chains.empty() || variable == nullptr || variable->opcode != spv::OpVariable ||
      type == nullptr || !HasDescriptors(type->operands()[0])) {
    return std::nullopt;
  }
  for (auto chain = chains.rbegin(); chain != chains.rend(); ++chain) {
    const auto indices = (*chain)->operands().subspan(1);
    path.indices.insert(path.indices.end(), indices.begin(), indices.end());
  }
  if (path.indices.size() > kMostPathIndices) return std::nullopt;
  path.variable = root;
  path.is_opaque = type->operands()[0] == spv::StorageClassUniformConstant;
  path.types = {type->operands()[1]};
  if (!Walk(&path) || (path.checked.empty() && path.cannot.empty())) return std::nullopt;
  if (!path.checked.empty()) path.partly = std::exchange(path.cannot, "");
  return path;
}

std::unordered_set<uint32_t> NonUniformIds(const Module& module) {
  std::unordered_set<uint32_t> ids;
  for (const Decorated& decorated : DecoratedWith(module, spv::DecorationNonUniform))
    ids.insert(decorated.id);
  return ids;
}

}  // namespace cairn::spirv
