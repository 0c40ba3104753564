// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <cstdlib>
#include <string>

#include "cli/verb.h"
#include "os/terminal.h"

namespace cairn::cli {
namespace {

constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";
constexpr std::string_view kClear = "\x1b[2J";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearToLineEnd = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

}  // namespace

bool StdoutShowsColour() {
  const char* declined = std::getenv("NO_COLOR");
  return (declined == nullptr || *declined == 0) && TakesEscapes(StandardStream::kOutput);
}

LiveScreen::LiveScreen()
    : terminal_(TakesEscapes(StandardStream::kOutput)),
      interrupts_(terminal_ ? kShowCursor : std::string_view()) {
  if (terminal_) PrintOutput("top", std::string(kHideCursor) + std::string(kClear));
}

bool LiveScreen::Show(std::string_view text) {
  if (!terminal_) return PrintOutput("top", std::string(text) + "\n");
  // The last row stays empty: a newline there would scroll.
  const uint32_t rows = OutputSize().rows;
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

LiveScreen::Woken LiveScreen::Wait(const ProcessHandle& process, uint64_t timeout_ns) {
  const Woken woken = interrupts_.Wait(process, timeout_ns);
  if (woken == Woken::kByUser || woken == Woken::kByRequest) Close();
  if (woken == Woken::kByRequest) interrupts_.Obey();
  return woken;
}

void LiveScreen::Close() {
  if (!open_) return;
  open_ = false;
  if (terminal_) PrintOutput("top", kShowCursor);
  interrupts_.Close();
}

}  // namespace cairn::cli
