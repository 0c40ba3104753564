// SPDX-License-Identifier: Apache-2.0
#include "cli/reading_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "format/file/file_cost.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/own_limits.h"

namespace cairn::cli {
namespace {

constexpr char kLift[] = "CAIRN_NO_LIMITS=1 in the environment lifts this bound";

// The budgets of all files so far, added up.
uint64_t g_bytes = 0;

#ifndef CAIRN_SANITIZED
uint64_t g_ms = 0;

uint64_t Sum(uint64_t a, uint64_t b) {
  return a + std::min(b, UINT64_MAX - a);
}
#endif

}  // namespace

void LimitReading([[maybe_unused]] std::string_view verb, [[maybe_unused]] const std::string& path,
                  [[maybe_unused]] TimeLimit time) {
#ifndef CAIRN_SANITIZED
  const char* const lifted = OwnVariable("CAIRN_NO_LIMITS");
  if (lifted != nullptr && std::string_view(lifted) == "1") return;
  const uint64_t size = FactsAt(FilePath(path)).size_bytes;
  constexpr uint64_t kMostBytes = uint64_t{1} << 46;  // no system has more
  g_bytes = std::min(kMostBytes, Sum(g_bytes, FileBudget(size, kProcessMemoryBytes)));
  g_ms = Sum(g_ms, FileBudget(size, kProcessorMs));
  (void)LimitOwnMemory(g_bytes);
  if (time == TimeLimit::kNone) return;
  const uint64_t seconds = g_ms / 1000;
  (void)LimitOwnProcessorTime(
      seconds,
      fmt::format("cairn {}: {}: stopped after {} seconds of processor time, the limit for a "
                  "file of its size; {}\n",
                  verb, VisibleText(path), seconds, kLift));
#endif
}

std::string WhyNoMemory() {
  if (g_bytes == 0) return "no memory";
  return fmt::format("it takes more than {} MiB of memory, the limit for files of this size; {}",
                     GroupedDigits(g_bytes >> 20), kLift);
}

}  // namespace cairn::cli
