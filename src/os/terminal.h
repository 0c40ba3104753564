// SPDX-License-Identifier: Apache-2.0
//
// The objects that the standard streams are connected to, and their treatment of text.
#ifndef CAIRN_OS_TERMINAL_H_
#define CAIRN_OS_TERMINAL_H_

#include <cstdint>

namespace cairn {

// Makes the standard streams of the C library pass on all bytes unchanged, and a terminal take them
// for UTF-8, until the program ends. On Windows the streams would otherwise change the ends of
// lines, and terminals have an encoding of their own. Call it once, at the start of a program.
// Writers must flush both streams: they may be buffered.
void PrepareStandardStreams();

// Returns true if a write of the C library to stdout, which has just failed, failed because its
// reader is gone.
bool OutputHasNoReader();

enum class StandardStream : uint8_t { kOutput, kError };

bool IsTerminal(StandardStream stream);

// Returns true if the stream is a terminal that obeys escape sequences, for colours and the cursor
// (TERM=dumb: false).
bool TakesEscapes(StandardStream stream);

// Returns true if the user's locale has more letters than ASCII: as UTF-8 (LC_ALL, else LC_CTYPE, else LANG). Always
// true on Windows.
bool LocaleIsUtf8();

struct TerminalSize {
  uint32_t columns = 0;
  uint32_t rows = 0;
};
// Returns the current size; zeros if stdout is no terminal, or one that does not report it.
TerminalSize OutputSize();

}  // namespace cairn

#endif  // CAIRN_OS_TERMINAL_H_
