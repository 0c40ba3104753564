// SPDX-License-Identifier: Apache-2.0
#include "os/testing/test_role.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

#include "os/clock.h"
#include "os/wait_set.h"

namespace cairn {
namespace {

constexpr char kRoleOption[] = "--role";

using Roles = std::map<std::string, int (*)(const TestWords& words)>;
Roles& AllRoles() {
  static Roles roles;
  return roles;
}

// Returns the words unchanged, in whatever characters this system's main() receives.
std::vector<std::string> OwnWords() {
  std::vector<std::string> words;
  std::string line = OwnCommandLine();
  for (size_t end = 0; (end = line.find('\0')) != line.npos; line.erase(0, end + 1)) {
    words.push_back(line.substr(0, end));
  }
  return words;
}

}  // namespace

TestRole::TestRole(const char* name, int (*body)(const TestWords& words)) {
  AllRoles()[name] = body;
}

std::vector<std::string> ArgumentsOfRole(const std::string& name, const TestWords& words) {
  std::vector<std::string> arguments = {OwnProgramPath(), kRoleOption, name};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return arguments;
}

ProcessHandle StartRole(const std::string& name, const TestWords& words) {
  SpawnRequest request;
  request.arguments = ArgumentsOfRole(name, words);
  Result<ProcessHandle> process = SpawnProgram(request);
  EXPECT_TRUE(process.ok()) << process.status().message();
  return process.ok() ? std::move(*process) : ProcessHandle();
}

ProcessEnd EndOf(const ProcessHandle& process) {
  constexpr uint64_t kMinuteNs = 60'000'000'000;
  WaitSet set;
  EXPECT_TRUE(set.Open().ok());
  EXPECT_TRUE(set.Add(process.handle, 1).ok());
  const auto happened = set.Wait(MonotonicNs() + kMinuteNs);
  EXPECT_TRUE(happened.ok() && happened->front() == 1) << "it has not ended";
  return CollectEnd(process);
}

void SleepForEver() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace cairn

int main(int argc, char** argv) {
  const std::vector<std::string> words = cairn::OwnWords();
  if (words.size() >= 3 && words[1] == cairn::kRoleOption) {
    const auto found = cairn::AllRoles().find(words[2]);
    if (found == cairn::AllRoles().end()) return 98;
    return found->second(cairn::TestWords(words.begin() + 3, words.end()));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
