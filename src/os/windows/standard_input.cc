// SPDX-License-Identifier: Apache-2.0
#include "os/standard_input.h"

#include <algorithm>

#include "os/windows/system.h"

namespace cairn {

size_t ReadStandardInput(std::span<std::byte> bytes) {
  constexpr size_t kMost = size_t{1} << 30;  // that a call takes
  DWORD count = 0;
  // A pipe without a writer is an error here: the end.
  if (ReadFile(GetStdHandle(STD_INPUT_HANDLE), bytes.data(),
               static_cast<DWORD>(std::min(bytes.size(), kMost)), &count, nullptr) == 0) {
    return 0;
  }
  return count;
}

}  // namespace cairn
