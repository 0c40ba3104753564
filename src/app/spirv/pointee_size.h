// SPDX-License-Identifier: Apache-2.0
//
// The bytes that an access through a pointer touches.
#ifndef CAIRN_APP_SPIRV_POINTEE_SIZE_H_
#define CAIRN_APP_SPIRV_POINTEE_SIZE_H_

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "app/spirv/decorations.h"
#include "app/spirv/module.h"

namespace cairn::spirv {

// The sizes of types with an explicit layout. Cost: linear in the module's types, together.
class PointeeSizes {
 public:
  // `module` outlives this, and its types stay.
  explicit PointeeSizes(const Module& module);

  // From the first byte of a value to the one behind its last; nothing for a type of which there is no value in memory,
  // or of 2^32 bytes and more. A matrix outside of a structure has no layout: the least that it takes.
  std::optional<uint32_t> Of(uint32_t type);

 private:
  struct Member {
    uint32_t offset = 0;
    uint32_t matrix_stride = 0;
    bool row_major = false;
  };
  Member& MemberOf(const Decorated& decorated);
  std::optional<uint64_t> Compute(const Instruction& type, const Member& member);
  std::optional<uint64_t> OfMatrix(const Instruction& type, const Member& member);
  std::optional<uint64_t> OfStructure(const Instruction& type);
  std::optional<uint64_t> Cached(uint32_t type, const Member& member);

  const Module& module_;
  std::unordered_map<uint32_t, uint32_t> array_strides_;  // by type
  std::unordered_map<uint64_t, Member> members_;          // by structure and index
  std::unordered_map<uint32_t, std::optional<uint64_t>> sizes_;
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_POINTEE_SIZE_H_
