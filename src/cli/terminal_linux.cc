// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cli/terminal.h"
#include "cli/verb.h"
#include "os/clock.h"

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

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP};

sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : kEndingSignals) sigaddset(&signals, number);
  return signals;
}

// What the handler knows; there is one screen at a time.
volatile sig_atomic_t waiting = 0;    // the signal is for Wait() to deal with
volatile sig_atomic_t signalled = 0;  // the number of the one that came
volatile sig_atomic_t cursor_hidden = 0;
std::array<struct sigaction, kEndingSignals.size()> actions_before;

// Calls nothing but what a handler may call.
void EndBySignal(int number) {
  if (waiting != 0) {
    signalled = number;
    return;
  }
  if (cursor_hidden != 0) {
    const ssize_t written = write(STDOUT_FILENO, kShowCursor.data(), kShowCursor.size());
    static_cast<void>(written);  // There is nobody left to be told.
  }
  if (number == SIGINT) _exit(0);  // As from Wait(): the user has seen enough.
  signal(number, SIG_DFL);
  raise(number);  // It ends the program when this returns.
}

// Those that somebody ignores (nohup) stay ignored.
void InstallHandlers() {
  struct sigaction action {};
  action.sa_handler = EndBySignal;
  action.sa_mask = EndingSignals();
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler != SIG_IGN) sigaction(kEndingSignals[i], &action, nullptr);
  }
}

void RemoveHandlers() {
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], &actions_before[i], nullptr);
  }
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
  cursor_hidden = terminal_ ? 1 : 0;
  InstallHandlers();
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
  pollfd fd = {pidfd, POLLIN, 0};
  const timespec timeout = {static_cast<time_t>(timeout_ns / 1'000'000'000),
                            static_cast<long>(timeout_ns % 1'000'000'000)};
  // Blocked but while ppoll() sleeps, so that none comes between the look at `signalled` and the sleep.
  const sigset_t signals = EndingSignals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  signalled = 0;
  waiting = 1;
  const int ready = ppoll(&fd, 1, &timeout, &before);
  waiting = 0;
  const int number = signalled;
  // One that came behind it finds that nobody waits.
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (number != 0) {
    Close();
    if (number == SIGINT) return Woken::kByUser;
    raise(number);
    return Woken::kByUser;  // somebody blocks it
  }
  return ready > 0 ? Woken::kByProcess : Woken::kByTime;
}

void LiveScreen::Close() {
  if (!open_) return;
  open_ = false;
  if (terminal_) PrintOutput("top", kShowCursor);
  cursor_hidden = 0;
  RemoveHandlers();
}

}  // namespace cairn::cli
