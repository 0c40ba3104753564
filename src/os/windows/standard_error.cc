// SPDX-License-Identifier: Apache-2.0
#include "os/standard_error.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "os/windows/system.h"

namespace cairn {
namespace {

// Programs with a window have no standard error; who debugs one reads this.
void TellDebugger(std::string_view text) {
  if (IsDebuggerPresent() == 0) return;
  std::array<char, 512> part;
  while (!text.empty()) {
    const size_t size = std::min(text.size(), part.size() - 1);
    std::memcpy(part.data(), text.data(), size);
    part[size] = '\0';
    OutputDebugStringA(part.data());
    text.remove_prefix(size);
  }
}

bool WriteAll(DWORD stream, std::string_view text) {
  const HANDLE handle = GetStdHandle(stream);
  while (!text.empty()) {
    DWORD written = 0;
    if (WriteFile(handle, text.data(), static_cast<DWORD>(text.size()), &written, nullptr) == 0 ||
        written == 0) {
      return false;
    }
    text.remove_prefix(written);
  }
  return true;
}

}  // namespace

void WriteStandardError(std::string_view text) {
  const DWORD error = GetLastError();
  TellDebugger(text);
  (void)WriteAll(STD_ERROR_HANDLE, text);
  SetLastError(error);
}

bool WriteStandardOutput(std::string_view text) {
  return WriteAll(STD_OUTPUT_HANDLE, text);
}

}  // namespace cairn
