// SPDX-License-Identifier: Apache-2.0
//
// For tests of `cairn run -- wine PROGRAM.exe` on Linux.
#ifndef CAIRN_TESTS_WINE_H_
#define CAIRN_TESTS_WINE_H_

#include <filesystem>
#include <string>

#include "harness.h"

namespace cairn::testing {

// A program of `cmake --preset windows`.
inline std::string WindowsProgram(const std::string& name) {
  const std::filesystem::path build =
      std::filesystem::path(Program("")).parent_path().parent_path();
  return (build / "windows/tests/windows" / name).string();
}

// The Vulkan driver of losing_driver/.
inline std::string LosingDriver() {
  return (std::filesystem::path(Program("")).parent_path().parent_path() /
          "tests/losing_driver/losing_icd.json")
      .string();
}

// Returns why such a test is skipped; "": it is not.
inline const std::string& WhyNoWine() {
  static const std::string why = [] {
    const CommandResult version = RunCommand({"wine", "--version"}, {});
    if (!version.output.starts_with("wine-1")) return std::string("there is no Wine 10");
    if (std::filesystem::exists(WindowsProgram("dies.exe"))) return std::string();
    return std::string("the programs of Windows are not built");
  }();
  return why;
}

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_WINE_H_
