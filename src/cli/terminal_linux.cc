// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace cairn::cli {
namespace {

constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";
constexpr std::string_view kClear = "\x1b[2J";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearToLineEnd = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

winsize StdoutSize() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

bool StdoutTakesEscapes() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

bool StdoutShowsColour() {
  const char* declined = std::getenv("NO_COLOR");
  return (declined == nullptr || *declined == 0) && StdoutTakesEscapes();
}

uint32_t StdoutColumns() {
  return StdoutSize().ws_col;
}

uint32_t StdoutRows() {
  return StdoutSize().ws_row;
}

LiveScreen::LiveScreen() : terminal_(StdoutTakesEscapes()), open_(true) {
  const sigset_t signals = EndingSignals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signals_ = signalfd(-1, &signals, SFD_CLOEXEC);
  if (terminal_) PrintOutput("top", std::string(kHideCursor) + std::string(kClear));
}

bool LiveScreen::Show(std::string_view text) {
  if (!terminal_) return PrintOutput("top", std::string(text) + "\n");
  // The last row stays empty: a newline there would scroll.
  const uint32_t rows = StdoutRows();
  std::string screen(kHome);
  for (uint32_t row = 1; !text.empty() && (rows == 0 || row < rows); ++row) {
    const size_t end = text.find('\n');
    screen += text.substr(0, end);
    screen += kClearToLineEnd;
    screen += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  screen += kClearBelow;
  return PrintOutput("top", screen);
}

LiveScreen::Woken LiveScreen::Wait(int pidfd, uint64_t timeout_ns) {
  pollfd fds[] = {{signals_, POLLIN, 0}, {pidfd, POLLIN, 0}};
  const timespec timeout = {static_cast<time_t>(timeout_ns / 1'000'000'000),
                            static_cast<long>(timeout_ns % 1'000'000'000)};
  if (ppoll(fds, 2, &timeout, nullptr) <= 0) return Woken::kByTime;
  signalfd_siginfo info{};
  if ((fds[0].revents & POLLIN) != 0 && read(signals_, &info, sizeof(info)) == sizeof(info)) {
    Close();
    if (info.ssi_signo == SIGINT) return Woken::kByUser;
    raise(static_cast<int>(info.ssi_signo));
    return Woken::kByUser;  // somebody ignores it
  }
  return fds[1].revents != 0 ? Woken::kByProcess : Woken::kByTime;
}

void LiveScreen::Close() {
  if (!open_) return;
  open_ = false;
  if (terminal_) PrintOutput("top", kShowCursor);
  if (signals_ >= 0) close(signals_);
  signals_ = -1;
  const sigset_t signals = EndingSignals();
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace cairn::cli
