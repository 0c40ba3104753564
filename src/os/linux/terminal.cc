// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace cairn {

// They do so by themselves.
void PrepareStandardStreams() {}

bool OutputHasNoReader() {
  return errno == EPIPE;
}

bool IsTerminal(StandardStream stream) {
  return isatty(stream == StandardStream::kOutput ? STDOUT_FILENO : STDERR_FILENO) != 0;
}

bool TakesEscapes(StandardStream stream) {
  const char* const terminal = std::getenv("TERM");
  return IsTerminal(stream) && terminal != nullptr && std::string_view(terminal) != "dumb";
}

TerminalSize OutputSize() {
  winsize size{};
  if (!IsTerminal(StandardStream::kOutput) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

}  // namespace cairn
