// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "os/clock.h"
#include "os/terminal.h"

namespace cairn::cli {
namespace {

constexpr uint64_t kBetweenLinesNs = 200'000'000;
constexpr uint64_t kBeforeTheFirstNs = 500'000'000;
constexpr char kClearLine[] = "\r\x1b[K";

void Print(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

TaskProgress::TaskProgress(std::string_view verb)
    : verb_(verb),
      terminal_(TakesEscapes(StandardStream::kError)),
      start_ns_(MonotonicNs()),
      last_ns_(start_ns_) {}

TaskProgress::~TaskProgress() {
  if (shown_) Print(kClearLine);
}

void TaskProgress::Restart() {
  if (shown_) Print(kClearLine);
  shown_ = false;
  start_ns_ = last_ns_ = MonotonicNs();
}

bool TaskProgress::Update(uint64_t done, uint64_t total) {
  if (interrupt_.came()) return false;
  if (!terminal_ || total == 0 || done == 0) return true;
  const uint64_t now = MonotonicNs();
  if (now - start_ns_ < kBeforeTheFirstNs || now - last_ns_ < kBetweenLinesNs) return true;
  last_ns_ = now;
  shown_ = true;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const double left = static_cast<double>(now - start_ns_) * 1e-9 * (1 - part) / part;
  const std::string line = fmt::format("{}cairn {}: {:.0f} %, {:.0f} s left", kClearLine, verb_,
                                       part * 100, std::ceil(left));
  Print(line);
  return true;
}

}  // namespace cairn::cli
