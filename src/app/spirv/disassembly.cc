// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/disassembly.h"

#include <spirv-tools/libspirv.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>

namespace cairn::spirv {
namespace {

std::string TextOf(const Module& module) {
  const std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6), &spvContextDestroy);
  if (context == nullptr) return "";
  const std::vector<uint32_t> words = module.Words();
  spv_text printed = nullptr;
  const spv_result_t result = spvBinaryToText(
      context.get(), words.data(), words.size(),
      SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES, &printed,
      nullptr);
  std::string text;
  if (result == SPV_SUCCESS) text.assign(printed->str, printed->length);
  spvTextDestroy(printed);
  return text;
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

size_t InstructionsOf(const Function& function) {
  size_t count = function.begin.size() + function.end.size();
  for (const Block& block : function.blocks) {
    count += block.before.size() + 1 + block.instructions.size();
  }
  return count;
}

bool Contains(const std::vector<Instruction>& instructions, const Instruction* one) {
  return !std::less<>()(one, instructions.data()) &&
         std::less<>()(one, instructions.data() + instructions.size());
}

}  // namespace

Disassembly::Disassembly(const Module& module) : module_(module), text_(TextOf(module)) {
  size_t count = 0;
  for (const Function& function : module.functions) {
    first_lines_.push_back(count);
    count += InstructionsOf(function);
  }
  // Strings, which may hold line breaks, stand in front of all functions: lines are counted from the end.
  std::vector<std::string_view> lines = LinesOf(text_);
  if (lines.size() < count) return;
  lines_.assign(lines.end() - static_cast<ptrdiff_t>(count), lines.end());
  size_t blanks = std::string_view::npos;
  for (const std::string_view line : lines_) blanks = std::min(blanks, line.find_first_not_of(' '));
  for (std::string_view& line : lines_) line.remove_prefix(std::min(blanks, line.size()));
}

std::optional<size_t> Disassembly::LineOf(const Function& function,
                                          const Instruction& instruction) const {
  if (lines_.empty()) return std::nullopt;
  size_t line = first_lines_[static_cast<size_t>(&function - module_.functions.data())];
  line += function.begin.size();
  for (const Block& block : function.blocks) {
    line += block.before.size() + 1;
    if (Contains(block.instructions, &instruction)) {
      return line + static_cast<size_t>(&instruction - block.instructions.data());
    }
    line += block.instructions.size();
  }
  return std::nullopt;
}

}  // namespace cairn::spirv
