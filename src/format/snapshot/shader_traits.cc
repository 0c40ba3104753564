// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/shader_traits.h"

#include <cstddef>

namespace cairn {
namespace {

// SPIR-V Specification, 2.3 and 3.
constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;
constexpr uint32_t kOpLoopMerge = 246;
constexpr uint32_t kOpAtomicLoad = 227;
constexpr uint32_t kOpAtomicXor = 242;
constexpr uint32_t kOpAtomicFMin = 5614;
constexpr uint32_t kOpAtomicFMax = 5615;
constexpr uint32_t kOpAtomicFAdd = 6035;

bool IsAtomic(uint32_t opcode) {
  return (opcode >= kOpAtomicLoad && opcode <= kOpAtomicXor) || opcode == kOpAtomicFMin ||
         opcode == kOpAtomicFMax || opcode == kOpAtomicFAdd;
}

}  // namespace

uint32_t TraitsOfSpirv(std::span<const uint32_t> code) {
  if (code.size() < kHeaderWords || code[0] != kMagic) return 0;
  uint32_t traits = kShaderRead;
  for (size_t at = kHeaderWords; at < code.size();) {
    const uint32_t opcode = code[at] & 0xFFFF;
    const uint32_t words = code[at] >> 16;
    if (words == 0 || words > code.size() - at) return 0;
    if (opcode == kOpLoopMerge) traits |= kShaderLoops;
    if (IsAtomic(opcode)) traits |= kShaderAtomics;
    at += words;
  }
  return traits;
}

}  // namespace cairn
