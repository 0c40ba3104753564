// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.h"

#include <fcntl.h>
#include <io.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "os/windows/system.h"

namespace cairn {
namespace {

HANDLE HandleOf(StandardStream stream) {
  return GetStdHandle(stream == StandardStream::kOutput ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
}

// The terminal outlives this program, and the next one may expect it as it was.
UINT encoding_before = 0;
void RestoreEncoding() {
  SetConsoleOutputCP(encoding_before);
}

}  // namespace

void PrepareStandardStreams() {
  for (std::FILE* const stream : {stdin, stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);
  // Else a console gets one byte after the other, and sees no character in the parts of one.
  constexpr size_t kBufferBytes = 1 << 16;
  for (std::FILE* const stream : {stdout, stderr}) {
    std::setvbuf(stream, nullptr, _IOFBF, kBufferBytes);
  }
  if (!IsTerminal(StandardStream::kOutput) && !IsTerminal(StandardStream::kError)) return;
  encoding_before = GetConsoleOutputCP();
  if (encoding_before != 0 && encoding_before != CP_UTF8 && SetConsoleOutputCP(CP_UTF8) != 0) {
    std::atexit(RestoreEncoding);
  }
}

// The C library knows one of these errors, and calls the others an invalid argument.
bool OutputHasNoReader() {
  switch (_doserrno) {
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
    case ERROR_PIPE_NOT_CONNECTED: return true;
    default: return errno == EPIPE;
  }
}

bool IsTerminal(StandardStream stream) {
  DWORD mode = 0;
  return GetConsoleMode(HandleOf(stream), &mode) != 0;
}

bool TakesEscapes(StandardStream stream) {
  // The variable need not be set here, but is obeyed.
  const char* const terminal = std::getenv("TERM");
  if (terminal != nullptr && std::string_view(terminal) == "dumb") return false;
  const HANDLE console = HandleOf(stream);
  DWORD mode = 0;
  return GetConsoleMode(console, &mode) != 0 &&
         SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

// PrepareStandardStreams sees to that.
bool LocaleIsUtf8() {
  return true;
}

TerminalSize OutputSize() {
  CONSOLE_SCREEN_BUFFER_INFO info = {};
  if (GetConsoleScreenBufferInfo(HandleOf(StandardStream::kOutput), &info) == 0) return {};
  const SMALL_RECT& window = info.srWindow;
  return {static_cast<uint32_t>(window.Right - window.Left + 1),
          static_cast<uint32_t>(window.Bottom - window.Top + 1)};
}

}  // namespace cairn
