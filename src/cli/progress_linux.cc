// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/progress.h"
#include "os/clock.h"

namespace cairn::cli {
namespace {

constexpr uint64_t kBetweenLinesNs = 200'000'000;
constexpr uint64_t kBeforeTheFirstNs = 500'000'000;
constexpr char kClearLine[] = "\r\x1b[K";

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kEndingSignals.size()> actions_before;
volatile sig_atomic_t signalled = 0;

void NoteSignal(int) {
  signalled = 1;
}

}  // namespace

bool CanTakeBackLines() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

TaskProgress::TaskProgress(std::string_view verb)
    : verb_(verb), terminal_(CanTakeBackLines()), start_ns_(MonotonicNs()), last_ns_(start_ns_) {
  signalled = 0;
  struct sigaction action {};
  action.sa_handler = NoteSignal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], nullptr, &actions_before[i]);
    // Those that somebody ignores (nohup) stay ignored.
    if (actions_before[i].sa_handler != SIG_IGN) sigaction(kEndingSignals[i], &action, nullptr);
  }
}

TaskProgress::~TaskProgress() {
  if (shown_) std::fputs(kClearLine, stderr);
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], &actions_before[i], nullptr);
  }
}

void TaskProgress::Restart() {
  if (shown_) std::fputs(kClearLine, stderr);
  shown_ = false;
  start_ns_ = last_ns_ = MonotonicNs();
}

bool TaskProgress::Update(uint64_t done, uint64_t total) {
  if (signalled != 0) return false;
  if (!terminal_ || total == 0 || done == 0) return true;
  const uint64_t now = MonotonicNs();
  if (now - start_ns_ < kBeforeTheFirstNs || now - last_ns_ < kBetweenLinesNs) return true;
  last_ns_ = now;
  shown_ = true;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const double left = static_cast<double>(now - start_ns_) * 1e-9 * (1 - part) / part;
  const std::string line = fmt::format("{}cairn {}: {:.0f} %, {:.0f} s left", kClearLine, verb_,
                                       part * 100, std::ceil(left));
  std::fputs(line.c_str(), stderr);
  return true;
}

}  // namespace cairn::cli
