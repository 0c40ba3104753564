// SPDX-License-Identifier: Apache-2.0
//
// What the standard streams are connected to.
#ifndef CAIRN_OS_TERMINAL_H_
#define CAIRN_OS_TERMINAL_H_

#include <cstdint>

namespace cairn {

enum class StandardStream : uint8_t { kOutput, kError };

bool IsTerminal(StandardStream stream);

// Whether it is a terminal that obeys escape sequences, for colours and the cursor (TERM=dumb: not).
bool TakesEscapes(StandardStream stream);

struct TerminalSize {
  uint32_t columns = 0;
  uint32_t rows = 0;
};
// As it is now; zeros if stdout is no terminal, or one that does not know.
TerminalSize OutputSize();

}  // namespace cairn

#endif  // CAIRN_OS_TERMINAL_H_
