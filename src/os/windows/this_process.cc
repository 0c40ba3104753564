// SPDX-License-Identifier: Apache-2.0
#include "os/this_process.h"

#include <algorithm>

#include "os/library.h"
#include "os/windows/system.h"
// Behind it.
#include <shellapi.h>

namespace cairn {

ProcessId OwnProcessId() {
  return GetCurrentProcessId();
}

std::string OwnProgramPath() {
  return LibraryPathOf(GetModuleHandleW(nullptr));
}

std::string OwnCommandLine() {
  constexpr size_t kMostBytes = 4096;
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::string line;
  for (int i = 0; words != nullptr && i < count; ++i) line += Utf8(words[i]) + '\0';
  LocalFree(words);
  line.resize(std::min(line.size(), kMostBytes));
  return line;
}

// No process becomes two.
void CallInCopies(void (*)()) {}

}  // namespace cairn
