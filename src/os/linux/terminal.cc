// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
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

// By name: the locale need not be installed here, as in containers, and is the terminal's all the same.
bool LocaleIsUtf8() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == 0) continue;
    std::string locale(value);
    for (char& c : locale) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
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
