// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "cli/terminal.h"

namespace cairn::cli {

bool StdoutShowsColour() {
  const char* declined = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (declined == nullptr || *declined == 0) &&
         terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

uint32_t StdoutColumns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace cairn::cli
