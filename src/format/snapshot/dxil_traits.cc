// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/dxil_traits.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "format/snapshot/bitcode_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {
namespace {

// The header of the program: kind and version, size in words; then "DXIL", its version, where the bitcode begins behind
// that, in bytes, and its size.
constexpr uint32_t kMagic = 0x4C495844;
constexpr size_t kMagicWord = 2;
constexpr size_t kHeaderWords = 6;

// LLVM 3.7, LLVMBitCodes.h.
constexpr uint32_t kModuleBlock = 8;
constexpr uint32_t kFunctionBlock = 12;
constexpr uint32_t kValueSymbols = 14;
constexpr uint64_t kDeclareBlocks = 1;
constexpr uint64_t kReturn = 10;
constexpr uint64_t kBranch = 11;
constexpr uint64_t kSwitch = 12;
constexpr uint64_t kUnreachable = 15;
constexpr uint64_t kAtomicReadWrite = 38;
constexpr uint64_t kCompareExchange = 46;
constexpr uint64_t kCompareExchangeOld = 37;
constexpr uint64_t kSymbolEntry = 1;
// Declared where a shader calls it.
constexpr std::string_view kAtomicCalls = "dx.op.atomic";

// The basic blocks of one function, and which leads to which.
class Flow {
 public:
  void Begin(uint64_t block_count) {
    block_count_ = block_count;
    current_ = 0;
    edges_.clear();
  }
  void Branch(uint64_t target) { edges_.emplace_back(current_, target); }
  void EndBlock() { ++current_; }

  // Blocks that nothing leads to are taken away until none is left that could be: the rest leads in circles.
  bool HasLoop() const {
    // A circle needs a way back, and has no more blocks than there are branches.
    bool leads_back = false;
    for (const auto& [from, to] : edges_) leads_back |= to <= from;
    if (!leads_back || current_ > block_count_) return false;
    std::vector<uint32_t> entries(current_, 0);
    std::vector<std::vector<size_t>> targets(current_);
    for (const auto& [from, to] : edges_) {
      if (to >= current_) continue;
      ++entries[to];
      targets[from].push_back(to);
    }
    std::vector<size_t> free;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (entries[i] == 0) free.push_back(i);
    }
    size_t left = entries.size();
    while (!free.empty()) {
      const size_t block = free.back();
      free.pop_back();
      --left;
      for (const size_t target : targets[block]) {
        if (--entries[target] == 0) free.push_back(target);
      }
    }
    return left != 0;
  }

 private:
  uint64_t block_count_ = 0;  // as the function says
  uint64_t current_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> edges_;
};

bool IsAtomicSymbol(const BitcodeRecord& record) {
  if (record.code != kSymbolEntry || record.operands.size() <= kAtomicCalls.size()) return false;
  for (size_t i = 0; i < kAtomicCalls.size(); ++i) {
    if (record.operands[i + 1] != static_cast<unsigned char>(kAtomicCalls[i])) return false;
  }
  return true;
}

class Traits {
 public:
  void Note(const BitcodeRecord& record) {
    if (record.block == kValueSymbols && IsAtomicSymbol(record)) traits_ |= kShaderAtomics;
    if (record.block == kFunctionBlock) NoteInstruction(record);
  }
  // Call it behind the last record.
  uint32_t Finish() {
    EndFunction();
    return traits_;
  }

 private:
  void NoteInstruction(const BitcodeRecord& record) {
    const std::span<const uint64_t> operands = record.operands;
    switch (record.code) {
      case kDeclareBlocks:
        EndFunction();
        flow_.Begin(operands.empty() ? 0 : operands[0]);
        break;
      case kBranch:  // where to; or, with a condition: where to, where to otherwise, the condition
        if (!operands.empty()) flow_.Branch(operands[0]);
        if (operands.size() > 1) flow_.Branch(operands[1]);
        flow_.EndBlock();
        break;
      case kSwitch:  // type, value, where to otherwise, then pairs of value and where to
        for (size_t i = 2; i < operands.size(); i += 2) flow_.Branch(operands[i]);
        flow_.EndBlock();
        break;
      case kReturn:
      case kUnreachable: flow_.EndBlock(); break;
      case kAtomicReadWrite:
      case kCompareExchange:
      case kCompareExchangeOld: traits_ |= kShaderAtomics; break;
      default: break;
    }
  }
  void EndFunction() {
    if (flow_.HasLoop()) traits_ |= kShaderLoops;
    flow_.Begin(0);
  }

  uint32_t traits_ = kShaderRead;
  Flow flow_;
};

}  // namespace

uint32_t TraitsOfDxil(std::span<const uint32_t> part) {
  if (part.size() < kHeaderWords || part[kMagicWord] != kMagic) return 0;
  const uint64_t offset = uint64_t{part[4]} + kMagicWord * sizeof(uint32_t);
  if (offset % sizeof(uint32_t) != 0 || offset / sizeof(uint32_t) > part.size()) return 0;
  const std::span<const uint32_t> rest = part.subspan(offset / sizeof(uint32_t));
  const size_t words = part[5] / sizeof(uint32_t);
  if (words > rest.size()) return 0;
  Traits traits;
  const bool is_read = ReadBitcode(
      rest.first(words),
      [](uint32_t block) {
        return block == kModuleBlock || block == kFunctionBlock || block == kValueSymbols;
      },
      [&traits](const BitcodeRecord& record) { traits.Note(record); });
  return is_read ? traits.Finish() : 0;
}

}  // namespace cairn
