// SPDX-License-Identifier: Apache-2.0
#include "os/standard_error.h"

#include "os/windows/system.h"

namespace cairn {

void WriteStandardError(std::string_view text) {
  const DWORD error = GetLastError();
  const HANDLE stream = GetStdHandle(STD_ERROR_HANDLE);
  while (!text.empty()) {
    DWORD written = 0;
    if (WriteFile(stream, text.data(), static_cast<DWORD>(text.size()), &written, nullptr) == 0 ||
        written == 0) {
      break;
    }
    text.remove_prefix(written);
  }
  SetLastError(error);
}

}  // namespace cairn
