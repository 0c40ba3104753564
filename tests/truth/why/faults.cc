// SPDX-License-Identifier: Apache-2.0
#include "truth/why/faults.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace cairn::truth::why {
namespace {

enum Opcode : uint32_t { kOpSourceContinued = 2, kOpSource = 3, kOpString = 7 };

// The literal that ends an instruction; `first`: its first word.
std::string TextOf(const std::vector<uint32_t>& words, size_t at, size_t first) {
  const size_t count = words[at] >> 16;
  if (first >= count) return "";
  const auto* text = reinterpret_cast<const char*>(&words[at + first]);
  return std::string(text, strnlen(text, (count - first) * sizeof(uint32_t)));
}

// The sources by name of the file, as `glslang -g` leaves them.
std::vector<std::pair<std::string, std::string>> SourcesOf(Shader shader) {
  std::vector<uint32_t> words(shader.code.size() / sizeof(uint32_t));
  std::memcpy(words.data(), shader.code.data(), words.size() * sizeof(uint32_t));
  std::map<uint32_t, std::string> names;
  std::vector<std::pair<std::string, std::string>> sources;
  for (size_t at = 5; at < words.size() && words[at] >> 16 != 0; at += words[at] >> 16) {
    const uint32_t opcode = words[at] & 0xFFFF;
    if (opcode == kOpString) names[words[at + 1]] = TextOf(words, at, 2);
    if (opcode == kOpSource && words[at] >> 16 > 3)
      sources.emplace_back(names[words[at + 3]], TextOf(words, at, 4));
    if (opcode == kOpSourceContinued && !sources.empty())
      sources.back().second += TextOf(words, at, 1);
  }
  return sources;
}

}  // namespace

std::string CulpritLine(Shader shader) {
  for (const auto& [file, source] : SourcesOf(shader)) {
    std::string text = source;
    // glslang puts its own options in front.
    const std::string_view begin = "#line 1\n";
    if (const size_t front = text.find(begin); front != text.npos)
      text.erase(0, front + begin.size());
    const size_t mark = text.find("// culprit\n");
    if (mark == text.npos) continue;
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n') + 1;
    return file.substr(file.rfind('/') + 1) + ":" + std::to_string(line);
  }
  return "-";
}

const std::vector<Group>& Groups() {
  static const std::vector<Group> groups = {
      {"healthy", HealthyPrograms()}, {"loops", LoopFaults()},    {"other", OtherFaults()},
      {"lifetime", LifetimeFaults()}, {"memory", MemoryFaults()}, {"race", RaceFaults()},
  };
  return groups;
}

}  // namespace cairn::truth::why
