// SPDX-License-Identifier: Apache-2.0
//
// A test program that is started again by its tests, to be the process that they look at:
//
//   const TestRole exits("exits", [](const TestWords& words) { return std::stoi(words.at(0)); });
//   ...
//   request.arguments = ArgumentsOfRole("exits", {"7"});
//
// The program's main is in test_role.cc.
#ifndef CAIRN_OS_TESTING_TEST_ROLE_H_
#define CAIRN_OS_TESTING_TEST_ROLE_H_

#include <string>
#include <vector>

#include "os/process.h"

namespace cairn {

using TestWords = std::vector<std::string>;

struct TestRole {
  // `body` gets the words behind the role's name, and returns the exit code.
  TestRole(const char* name, int (*body)(const TestWords& words));
};

std::vector<std::string> ArgumentsOfRole(const std::string& name, const TestWords& words = {});

// Starts this program in that role; fails the test if that fails.
ProcessHandle StartRole(const std::string& name, const TestWords& words = {});
// Waits until the process has ended, a minute at most.
ProcessEnd EndOf(const ProcessHandle& process);

// For roles: does nothing until the process is killed.
[[noreturn]] void SleepForEver();

}  // namespace cairn

#endif  // CAIRN_OS_TESTING_TEST_ROLE_H_
