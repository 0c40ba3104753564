// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_TESTS_HELP_READING_H_
#define CAIRN_TESTS_HELP_READING_H_

#include <sstream>
#include <string>
#include <vector>

namespace cairn::testing {

// Returns the commands that `cairn help` lists, of all its groups.
inline std::vector<std::string> CommandsIn(const std::string& help) {
  std::vector<std::string> commands;
  const size_t start = help.find("\nFind a crash");
  if (start == std::string::npos) return commands;
  std::istringstream lines(help.substr(start, help.find("\nExamples:\n") - start));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ") && line[2] != ' ') {
      commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return commands;
}

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_HELP_READING_H_
