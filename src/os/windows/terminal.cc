// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.h"

#include "os/windows/system.h"

namespace cairn {
namespace {

HANDLE HandleOf(StandardStream stream) {
  return GetStdHandle(stream == StandardStream::kOutput ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
}

}  // namespace

bool IsTerminal(StandardStream stream) {
  DWORD mode = 0;
  return GetConsoleMode(HandleOf(stream), &mode) != 0;
}

bool TakesEscapes(StandardStream stream) {
  const HANDLE console = HandleOf(stream);
  DWORD mode = 0;
  return GetConsoleMode(console, &mode) != 0 &&
         SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

TerminalSize OutputSize() {
  CONSOLE_SCREEN_BUFFER_INFO info = {};
  if (GetConsoleScreenBufferInfo(HandleOf(StandardStream::kOutput), &info) == 0) return {};
  const SMALL_RECT& window = info.srWindow;
  return {static_cast<uint32_t>(window.Right - window.Left + 1),
          static_cast<uint32_t>(window.Bottom - window.Top + 1)};
}

}  // namespace cairn
