// SPDX-License-Identifier: Apache-2.0
//
// A program that has a library in it before it runs.
#ifndef CAIRN_TESTS_WINDOWS_LAYERED_STARTED_H_
#define CAIRN_TESTS_WINDOWS_LAYERED_STARTED_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::testing {

struct StartedResult {
  uint32_t exit_code = ~uint32_t{0};
  std::string output;
};

// Runs the command to its end, a minute at most, with these variables ("NAME=value"), and with `library` in it from
// before its first instruction.
StartedResult RunWithLibrary(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment,
                             const std::string& library);

// Wine takes its own library where a program has one beside it, unless it was told so for this program.
void PreferNeighbours(const std::string& program, const std::vector<std::string>& libraries);

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_WINDOWS_LAYERED_STARTED_H_
