// SPDX-License-Identifier: Apache-2.0
#include "base/program_name.h"

#include <algorithm>

namespace cairn {
namespace {

// "wine", "wine64", "wine64-preloader", "wine-stable", ...
bool IsWine(std::string_view path) {
  return NameOfProgram(path).starts_with("wine");
}

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view TakeArgument(std::string_view* rest) {
  const size_t end = rest->find('\0');
  const std::string_view argument = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  return argument;
}

}  // namespace

bool IsWindowsProgram(std::string_view path) {
  constexpr std::string_view kEnd = ".exe";
  if (path.size() < kEnd.size()) return false;
  const std::string_view end = path.substr(path.size() - kEnd.size());
  return std::equal(end.begin(), end.end(), kEnd.begin(),
                    [](char a, char b) { return Lower(a) == b; });
}

std::string_view NameOfProgram(std::string_view path) {
  const size_t cut = IsWindowsProgram(path) ? path.find_last_of("/\\") : path.rfind('/');
  return path.substr(cut + 1);  // none: the whole
}

std::string_view ProgramOfCommandLine(std::string_view command_line) {
  std::string_view rest = command_line;
  const std::string_view first = TakeArgument(&rest);
  if (IsWindowsProgram(first) || !IsWine(first)) return first;
  while (!rest.empty()) {
    const std::string_view argument = TakeArgument(&rest);
    if (IsWindowsProgram(argument)) return argument;
  }
  return first;
}

std::string ProgramOfArguments(const std::vector<std::string>& arguments) {
  std::string command_line;
  for (const std::string& argument : arguments) {
    command_line += argument;
    command_line += '\0';
  }
  return std::string(ProgramOfCommandLine(command_line));
}

}  // namespace cairn
