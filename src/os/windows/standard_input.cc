// SPDX-License-Identifier: Apache-2.0
#include "os/standard_input.h"

#include <algorithm>

#include "os/windows/system.h"

namespace cairn {

size_t ReadStandardInput(std::span<std::byte> bytes) {
  constexpr size_t kMost = size_t{1} << 30;  // that a call takes
  const HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
  const auto most = static_cast<DWORD>(std::min(bytes.size(), kMost));
  const bool is_pipe = GetNamedPipeInfo(input, nullptr, nullptr, nullptr, nullptr) != 0;
  DWORD count = 0;
  do {
    // A pipe without a writer is an error here: the end. No bytes from a pipe are a write of none.
    if (ReadFile(input, bytes.data(), most, &count, nullptr) == 0) return 0;
  } while (count == 0 && is_pipe);
  return count;
}

}  // namespace cairn
