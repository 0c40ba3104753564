// SPDX-License-Identifier: Apache-2.0
#include "os/this_process.h"

#include <algorithm>

#include "os/library.h"
#include "os/linux_half.h"
#include "os/windows/system.h"
// Included after windows.h.
#include <shellapi.h>

namespace cairn {
namespace {

std::vector<std::string> AllWords() {
  int count = 0;
  wchar_t** const wide = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> words;
  for (int i = 0; wide != nullptr && i < count; ++i) words.push_back(Utf8(wide[i]));
  LocalFree(wide);
  return words;
}

}  // namespace

ProcessId OwnProcessId() {
  if (const LinuxHalf* const half = FindLinuxHalf()) {
    return static_cast<ProcessId>(half->ProcessId());
  }
  return GetCurrentProcessId();
}

std::string OwnProgramPath() {
  return LibraryPathOf(GetModuleHandleW(nullptr));
}

std::string OwnCommandLine() {
  constexpr size_t kMostBytes = 4096;
  std::string line;
  for (const std::string& word : AllWords()) line += word + '\0';
  line.resize(std::min(line.size(), kMostBytes));
  return line;
}

std::vector<std::string> CommandLineWords(int, char**) {
  std::vector<std::string> words = AllWords();
  if (!words.empty()) words.erase(words.begin());
  return words;
}

// Processes cannot be copied on Windows.
void CallInCopies(void (*)()) {}

}  // namespace cairn
