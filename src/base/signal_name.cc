// SPDX-License-Identifier: Apache-2.0
#include "base/signal_name.h"

#include <fmt/format.h>

namespace cairn {

std::string SignalInWords(int64_t number) {
  if (IsTermination(number)) {
    return fmt::format("TerminateProcess({})", static_cast<int32_t>(number));
  }
  std::string words = IsExceptionCode(number) ? fmt::format("exception {:#x}", number)
                                              : fmt::format("signal {}", number);
  const std::string_view name = SignalName(number);
  if (!name.empty()) words += fmt::format(" ({})", name);
  return words;
}

}  // namespace cairn
