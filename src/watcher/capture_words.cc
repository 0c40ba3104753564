// SPDX-License-Identifier: Apache-2.0
#include "watcher/capture_words.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cairn {
namespace {

std::string SizeInWords(uint64_t bytes) {
  if (bytes < 10 * 1024) return Counted(bytes, "byte");
  if (bytes < 10 * 1024 * 1024) return fmt::format("{} KiB", GroupedDigits(bytes / 1024));
  return fmt::format("{} MiB", GroupedDigits(bytes / (1024 * 1024)));
}

}  // namespace

std::string CaptureInWords(const std::string& program, const std::string& quoted_path,
                           const Result<CaptureSummary>& summary) {
  if (!summary.ok()) {
    return fmt::format("cairn: {} was not captured: {}", program, summary.status().message());
  }
  if (!summary->started) {
    return fmt::format("cairn: {} ended before the capture started: {} holds no calls", program,
                       quoted_path);
  }
  std::string words = fmt::format(
      "cairn: {} captured: {}, {}, {}: cairn info {}", program, Counted(summary->calls, "call"),
      Counted(summary->frames, "frame"), SizeInWords(summary->file_bytes), quoted_path);
  for (const std::string& loss : summary->losses) words += fmt::format(" ({})", loss);
  return words;
}

}  // namespace cairn
