// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/new_modes.h"

#include <algorithm>
#include <cstddef>
#include <spirv/unified1/spirv.hpp>

namespace cairn::spirv {
namespace {

constexpr size_t kHeaderWords = 5;
// SPV_KHR_maximal_reconvergence: invocations meet again where the structure of control flow says so. A limited loop
// keeps its structure.
constexpr uint32_t kMaximallyReconverges = 6023;

// Calls visit(opcode, instruction) for each instruction in front of the first function, up to one that is cut off.
template <typename Visit>
void ForEachGlobal(std::span<const uint32_t> words, Visit visit) {
  if (words.size() < kHeaderWords || words[0] != spv::MagicNumber) return;
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t opcode = words[at] & spv::OpCodeMask;
    const size_t length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at || opcode == spv::OpFunction) return;
    visit(opcode, words.subspan(at, length));
    at += length;
  }
}

bool IsNewMode(uint32_t opcode, std::span<const uint32_t> instruction) {
  return opcode == spv::OpExecutionMode && instruction.size() == 3 &&
         instruction[2] == kMaximallyReconverges;
}

}  // namespace

NewModes::NewModes(std::span<const uint32_t> module) : module_(module) {
  const uint32_t* copied = module.data();
  ForEachGlobal(module, [&](uint32_t opcode, std::span<const uint32_t> instruction) {
    if (!IsNewMode(opcode, instruction)) return;
    modes_.insert(modes_.end(), instruction.begin(), instruction.end());
    rest_.insert(rest_.end(), copied, instruction.data());
    copied = instruction.data() + instruction.size();
  });
  if (!modes_.empty()) rest_.insert(rest_.end(), copied, module.data() + module.size());
}

void NewModes::PutBack(std::vector<uint32_t>* words) const {
  if (modes_.empty()) return;
  size_t behind = kHeaderWords;
  ForEachGlobal(*words, [&](uint32_t opcode, std::span<const uint32_t> instruction) {
    if (opcode == spv::OpEntryPoint) {
      behind = static_cast<size_t>(instruction.data() + instruction.size() - words->data());
    }
  });
  words->insert(words->begin() + static_cast<ptrdiff_t>(behind), modes_.begin(), modes_.end());
}

}  // namespace cairn::spirv
