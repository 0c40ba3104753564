// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/spirv_descriptors.h"

#include <algorithm>
#include <unordered_map>

namespace cairn {
namespace {

// SPIR-V Specification, 2.3 and 3.
constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;
constexpr uint32_t kOpFunction = 54;
constexpr uint32_t kOpDecorate = 71;
constexpr uint32_t kOpGroupDecorate = 74;
constexpr uint32_t kBinding = 33;
constexpr uint32_t kDescriptorSet = 34;

}  // namespace

std::optional<std::vector<ShaderDescriptor>> FindSpirvDescriptors(std::span<const uint32_t> code) {
  if (code.size() < kHeaderWords || code[0] != kMagic) return std::nullopt;
  struct Decorations {
    uint32_t set = kNone;
    uint32_t binding = kNone;
  };
  std::unordered_map<uint32_t, Decorations> by_id;
  bool at_functions = false;
  for (size_t at = kHeaderWords; at < code.size() && !at_functions;) {
    const uint32_t opcode = code[at] & 0xFFFF;
    const uint32_t words = code[at] >> 16;
    if (words == 0 || words > code.size() - at || opcode == kOpGroupDecorate) return std::nullopt;
    if (opcode == kOpDecorate && words >= 4) {
      if (code[at + 2] == kDescriptorSet) by_id[code[at + 1]].set = code[at + 3];
      if (code[at + 2] == kBinding) by_id[code[at + 1]].binding = code[at + 3];
    }
    // Annotations stand before all functions.
    at_functions = opcode == kOpFunction;
    at += words;
  }
  if (!at_functions) return std::nullopt;
  std::vector<ShaderDescriptor> found;
  for (const auto& [id, decorations] : by_id) {
    if (decorations.set == kNone || decorations.binding == kNone) continue;
    found.push_back({decorations.set, decorations.binding});
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace cairn
