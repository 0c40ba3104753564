// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "os/linux/paged_terminal.h"

namespace cairn {
namespace {

std::optional<TerminalSize>& Paged() {
  static std::optional<TerminalSize> paged;
  return paged;
}

}  // namespace

void NotePagedTerminal(const TerminalSize& size) {
  Paged() = size;
}

void ForgetPagedTerminal() {
  Paged().reset();
}

// The streams pass on bytes unchanged here. If one of them is closed, opens a substitute, on which
// the wrong direction fails: otherwise the next file would get its number, and printed text would
// go into that file.
void PrepareStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    const int direction = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", direction) < 0) return;
  }
}

bool OutputHasNoReader() {
  return errno == EPIPE;
}

bool IsTerminal(StandardStream stream) {
  return isatty(stream == StandardStream::kOutput ? STDOUT_FILENO : STDERR_FILENO) != 0;
}

bool TakesEscapes(StandardStream stream) {
  if (stream == StandardStream::kOutput && Paged().has_value()) return true;
  const char* const terminal = std::getenv("TERM");
  return IsTerminal(stream) && terminal != nullptr && std::string_view(terminal) != "dumb";
}

TerminalSize OutputSize() {
  if (Paged().has_value()) return *Paged();
  winsize size{};
  if (!IsTerminal(StandardStream::kOutput) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

}  // namespace cairn
