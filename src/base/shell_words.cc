// SPDX-License-Identifier: Apache-2.0
#include "base/shell_words.h"

#include <algorithm>

#include "base/text.h"

namespace cairn {

std::string ShellQuotedLine(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += ShellQuoted(word);
  }
  return line;
}

std::vector<std::string> WordsOfArguments(std::string_view arguments) {
  std::vector<std::string> words;
  while (!arguments.empty()) {
    words.emplace_back(arguments.substr(0, arguments.find('\0')));
    arguments.remove_prefix(std::min(arguments.size(), words.back().size() + 1));
  }
  return words;
}

std::vector<std::string> WordsOfShellLine(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  const auto word = [&]() -> std::string& {
    if (!in_word) words.emplace_back();
    in_word = true;
    return words.back();
  };
  while (!line.empty()) {
    const char c = line.front();
    line.remove_prefix(1);
    if (c == ' ') {
      in_word = false;
    } else if (c == '\'' && line.find('\'') != std::string_view::npos) {
      const size_t end = line.find('\'');
      word() += line.substr(0, end);
      line.remove_prefix(end + 1);
    } else if (c == '\\' && line.starts_with('\'')) {
      word() += '\'';
      line.remove_prefix(1);
    } else {
      word() += c;
    }
  }
  return words;
}

}  // namespace cairn
