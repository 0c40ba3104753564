// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/module_source.h"

#include <cstddef>
#include <unordered_map>

#include "app/vulkan/instructions.h"

namespace cairn {
namespace {

// Numbers of SPIR-V.
constexpr uint32_t kOpSource = 3;
constexpr uint32_t kOpName = 5;
constexpr uint32_t kOpMemberName = 6;
constexpr uint32_t kOpString = 7;
constexpr uint32_t kOpFunction = 54;
constexpr uint32_t kOpDecorate = 71;

// The zero-terminated text in these words; "" without its end.
std::string_view TextIn(std::span<const uint32_t> words) {
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  const size_t end = bytes.find('\0');
  return end == bytes.npos ? std::string_view() : bytes.substr(0, end);
}

std::string_view WithoutFolders(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == path.npos ? path : path.substr(slash + 1);
}

}  // namespace

std::string_view SourceFileOfModule(std::span<const uint32_t> words) {
  std::string_view file;
  std::unordered_map<uint32_t, std::string_view> strings;
  VisitInstructions(words, [&](uint32_t opcode, std::span<const uint32_t> instruction) {
    switch (opcode) {
      // Strings and sources stand before all of these.
      case kOpName:
      case kOpMemberName:
      case kOpDecorate:
      case kOpFunction: return false;
      case kOpString:
        if (instruction.size() > 2) strings[instruction[1]] = TextIn(instruction.subspan(2));
        return true;
      case kOpSource:
        if (instruction.size() > 3) {
          const auto found = strings.find(instruction[3]);
          if (found != strings.end()) file = WithoutFolders(found->second);
        }
        return file.empty();
      default: return true;
    }
  });
  return file;
}

}  // namespace cairn
