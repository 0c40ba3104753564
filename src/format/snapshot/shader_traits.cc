// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/shader_traits.h"

#include <algorithm>
#include <cstddef>

#include "format/snapshot/dxil_traits.h"

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

// A container: "DXBC", 16 bytes of hash, version, size in bytes, the number of parts, and where each begins; a part: its
// name, its size in bytes, and what it holds.
constexpr uint32_t kContainer = 0x43425844;  // "DXBC"
constexpr size_t kPartCountWord = 7;
constexpr uint32_t kCode4 = 0x52444853;  // "SHDR"
constexpr uint32_t kCode5 = 0x58454853;  // "SHEX"
constexpr uint32_t kDxil = 0x4C495844;   // "DXIL"

// Tokens of shader models 4 and 5, d3d11TokenizedProgramFormat.hpp.
constexpr uint32_t kLoopToken = 48;
constexpr uint32_t kCustomData = 53;
constexpr uint32_t kAtomicAnd = 169;
constexpr uint32_t kAtomicLast = 189;

// `part`: version, number of words, instructions.
uint32_t TraitsOfTokens(std::span<const uint32_t> part) {
  constexpr size_t kFirst = 2;
  if (part.size() < kFirst || part[1] < kFirst || part[1] > part.size()) return 0;
  const std::span<const uint32_t> code = part.first(part[1]);
  uint32_t traits = kShaderRead;
  for (size_t at = kFirst; at < code.size();) {
    const uint32_t opcode = code[at] & 0x7FF;
    uint32_t words = code[at] >> 24 & 0x7F;
    if (opcode == kCustomData) words = at + 1 < code.size() ? code[at + 1] : 0;
    if (words == 0 || words > code.size() - at) return 0;
    if (opcode == kLoopToken) traits |= kShaderLoops;
    if (opcode >= kAtomicAnd && opcode <= kAtomicLast) traits |= kShaderAtomics;
    at += words;
  }
  return traits;
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

uint32_t TraitsOfDxbc(std::span<const uint32_t> container) {
  if (container.size() <= kPartCountWord || container[0] != kContainer) return 0;
  const size_t first = kPartCountWord + 1;
  const size_t count = std::min<size_t>(container[kPartCountWord], container.size() - first);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t offset = container[first + i];
    const size_t at = offset / sizeof(uint32_t);
    if (offset % sizeof(uint32_t) != 0 || at >= container.size() || container.size() - at < 2)
      continue;
    const std::span<const uint32_t> rest = container.subspan(at + 2);
    const size_t words = container[at + 1] / sizeof(uint32_t);
    if (words > rest.size()) return 0;
    const std::span<const uint32_t> part = rest.first(words);
    switch (container[at]) {
      case kCode4:
      case kCode5: return TraitsOfTokens(part);
      case kDxil: return TraitsOfDxil(part);
      default: break;
    }
  }
  return 0;
}

}  // namespace cairn
