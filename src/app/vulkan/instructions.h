// SPDX-License-Identifier: Apache-2.0
//
// VisitInstructions: walks the instructions of a SPIR-V module that nobody has checked.
#ifndef CAIRN_APP_VULKAN_INSTRUCTIONS_H_
#define CAIRN_APP_VULKAN_INSTRUCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace cairn {

// Calls visit(opcode, the instruction's words) in order until it returns false, or the words are no instructions. Any
// words are safe; those of another byte order are no module.
template <typename Visit>
void VisitInstructions(std::span<const uint32_t> words, Visit visit) {
  constexpr uint32_t kMagicNumber = 0x07230203;
  constexpr size_t kHeaderWords = 5;
  constexpr uint32_t kOpCodeMask = 0xffff;
  constexpr uint32_t kWordCountShift = 16;
  if (words.size() < kHeaderWords || words[0] != kMagicNumber) return;
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t length = words[at] >> kWordCountShift;
    if (length == 0 || length > words.size() - at) return;
    if (!visit(words[at] & kOpCodeMask, words.subspan(at, length))) return;
    at += length;
  }
}

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_INSTRUCTIONS_H_
