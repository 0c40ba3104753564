// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/pointee_size.h"

#include <algorithm>

namespace cairn::spirv {
namespace {

// Far beyond every memory: sums and products of such numbers stay below 2^64.
constexpr uint64_t kMost = uint64_t{1} << 32;

std::optional<uint64_t> Bounded(uint64_t bytes) {
  return bytes < kMost ? std::optional(bytes) : std::nullopt;
}

}  // namespace

PointeeSizes::PointeeSizes(const Module& module) : module_(module) {
  for (const Decorated& array : DecoratedWith(module, spv::DecorationArrayStride))
    array_strides_[array.id] = array.value;
  for (const Decorated& member : DecoratedWith(module, spv::DecorationOffset))
    MemberOf(member).offset = member.value;
  for (const Decorated& member : DecoratedWith(module, spv::DecorationMatrixStride))
    MemberOf(member).matrix_stride = member.value;
  for (const Decorated& member : DecoratedWith(module, spv::DecorationRowMajor))
    MemberOf(member).row_major = true;
}

PointeeSizes::Member& PointeeSizes::MemberOf(const Decorated& decorated) {
  return members_[MemberKey(decorated.id, decorated.member.value_or(0))];
}

std::optional<uint32_t> PointeeSizes::Of(uint32_t type) {
  const std::optional<uint64_t> bytes = Cached(type, {});
  if (!bytes || *bytes == 0) return std::nullopt;
  return static_cast<uint32_t>(*bytes);
}

// Types do not nest deeper than module_bounds.h says.
std::optional<uint64_t> PointeeSizes::Cached(uint32_t type, const Member& member) {
  const Instruction* const definition = module_.Global(type);
  if (definition == nullptr) return std::nullopt;
  if (member.matrix_stride != 0) return Compute(*definition, member);
  if (const auto known = sizes_.find(type); known != sizes_.end()) return known->second;
  const std::optional<uint64_t> bytes = Compute(*definition, member);
  sizes_[type] = bytes;
  return bytes;
}

std::optional<uint64_t> PointeeSizes::Compute(const Instruction& type, const Member& member) {
  const auto operands = type.operands();
  switch (type.opcode) {
    case spv::OpTypeInt:
    case spv::OpTypeFloat: return operands[0] / 8;
    case spv::OpTypePointer:
      return operands[0] == spv::StorageClassPhysicalStorageBuffer ? std::optional<uint64_t>(8)
                                                                   : std::nullopt;
    case spv::OpTypeVector: {
      const auto component = Cached(operands[0], {});
      return component ? Bounded(*component * operands[1]) : std::nullopt;
    }
    case spv::OpTypeMatrix: return OfMatrix(type, member);
    case spv::OpTypeArray: {
      const Instruction* const length = module_.Global(operands[1]);
      const auto element = Cached(operands[0], member);
      const auto stride = array_strides_.find(type.result);
      // The length of a specialised array is not known before the pipeline is made.
      if (length == nullptr || length->opcode != spv::OpConstant || !element ||
          stride == array_strides_.end() || length->operands()[0] == 0) {
        return std::nullopt;
      }
      return Bounded(uint64_t{length->operands()[0] - 1} * stride->second + *element);
    }
    case spv::OpTypeStruct: return OfStructure(type);
    default: return std::nullopt;
  }
}

std::optional<uint64_t> PointeeSizes::OfMatrix(const Instruction& type, const Member& member) {
  const uint32_t columns = type.operands()[1];
  const Instruction* const column = module_.Global(type.operands()[0]);
  if (column == nullptr) return std::nullopt;
  const uint32_t rows = column->operands()[1];
  const auto component = Cached(column->operands()[0], {});
  if (!component) return std::nullopt;
  const uint32_t vectors = member.row_major ? rows : columns;
  const uint64_t vector_bytes = *component * (member.row_major ? columns : rows);
  const uint64_t stride = member.matrix_stride != 0 ? member.matrix_stride : vector_bytes;
  return Bounded((vectors - 1) * stride + vector_bytes);
}

std::optional<uint64_t> PointeeSizes::OfStructure(const Instruction& type) {
  uint64_t bytes = 0;
  const auto operands = type.operands();
  for (uint32_t i = 0; i < operands.size(); ++i) {
    const auto found = members_.find(MemberKey(type.result, i));
    const Member member = found != members_.end() ? found->second : Member();
    const auto size = Cached(operands[i], member);
    if (!size) return std::nullopt;
    bytes = std::max(bytes, member.offset + *size);
  }
  return Bounded(bytes);
}

}  // namespace cairn::spirv
