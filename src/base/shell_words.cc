// SPDX-License-Identifier: Apache-2.0
#include "base/shell_words.h"

#include <algorithm>
#include <optional>

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

namespace {

// Returns the number of a digit as ShellQuoted writes it, or -1.
int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Takes the rest of $'a\x0ab', behind its first apostrophe; nothing if it has no end.
std::optional<std::string> TakeBytes(std::string_view* line) {
  std::string bytes;
  for (size_t at = 0; at < line->size(); ++at) {
    const char c = (*line)[at];
    if (c == '\'') {
      line->remove_prefix(at + 1);
      return bytes;
    }
    if (c != '\\') {
      bytes += c;
      continue;
    }
    const std::string_view escape = line->substr(at + 1, 3);
    const bool is_byte = escape.size() == 3 && escape[0] == 'x' && HexDigit(escape[1]) >= 0 &&
                         HexDigit(escape[2]) >= 0;
    if (is_byte) {
      bytes += static_cast<char>(HexDigit(escape[1]) * 16 + HexDigit(escape[2]));
      at += 3;
    } else if (!escape.empty()) {
      bytes += escape[0];  // \\, and \' of earlier versions
      ++at;
    }
  }
  return std::nullopt;
}

}  // namespace

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
    if (c == '$' && line.starts_with('\'')) {
      std::string_view rest = line.substr(1);
      if (const std::optional<std::string> bytes = TakeBytes(&rest)) {
        word() += *bytes;
        line = rest;
        continue;
      }
    }
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
