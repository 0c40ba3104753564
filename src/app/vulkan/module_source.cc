// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/module_source.h"

#include <cstddef>
#include <unordered_map>

namespace cairn {
namespace {

// Numbers of SPIR-V.
constexpr uint32_t kMagicNumber = 0x07230203;
constexpr size_t kHeaderWords = 5;
constexpr uint32_t kOpCodeMask = 0xffff;
constexpr uint32_t kWordCountShift = 16;
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
  if (words.size() < kHeaderWords || words[0] != kMagicNumber) return {};
  std::unordered_map<uint32_t, std::string_view> strings;
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t length = words[at] >> kWordCountShift;
    const uint32_t opcode = words[at] & kOpCodeMask;
    if (length == 0 || length > words.size() - at) break;
    // Strings and sources stand before all of these.
    if (opcode == kOpName || opcode == kOpMemberName || opcode == kOpDecorate ||
        opcode == kOpFunction) {
      break;
    }
    if (opcode == kOpString && length > 2) {
      strings[words[at + 1]] = TextIn(words.subspan(at + 2, length - 2));
    }
    if (opcode == kOpSource && length > 3) {
      const auto file = strings.find(words[at + 3]);
      if (file != strings.end() && !file->second.empty()) return WithoutFolders(file->second);
    }
    at += length;
  }
  return {};
}

}  // namespace cairn
