// SPDX-License-Identifier: Apache-2.0
#include "watcher/kernel_lines.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

#include "os/kernel_log.h"

namespace cairn {
namespace {

// Words in lower case. A line with a word of each list is about a fault of a GPU.
constexpr std::string_view kDrivers[] = {"nvrm",   "amdgpu",  "radeon",   "i915",       "[drm",
                                         "xe 0",   "nouveau", "panfrost", "panthor",    "msm_",
                                         "adreno", "v3d",     "etnaviv",  "devcoredump"};
constexpr std::string_view kTroubles[] = {"xid",    "timeout", "timed out",   "timedout",   "hang",
                                          "hung",   "reset",   "fault",       "wedged",     "lost",
                                          "killed", "error",   "off the bus", "devcoredump"};
constexpr std::string_view kFaults[] = {"fault", "exception"};
// The text before the number of a process.
constexpr std::string_view kProcessWords[] = {"pid=", "pid='", "pid ", "pid:", "pid: ", "["};

std::string InLowerCase(std::string_view line) {
  std::string lower(line);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool HasOneOf(std::string_view line, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [line](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  });
}

// Returns true and stores the number if `text` begins with one; "[" needs a "]" behind it.
bool NumberAt(std::string_view text, bool in_brackets, int64_t* number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *number);
  if (error != std::errc()) return false;
  return in_brackets ? rest != end && *rest == ']' : true;
}

}  // namespace

KernelLineAbout WhatKernelLineIsAbout(std::string_view line, int64_t process_id) {
  const std::string lower = InLowerCase(line);
  if (!HasOneOf(lower, kDrivers) || !HasOneOf(lower, kTroubles)) return KernelLineAbout::kNothing;
  bool names_another = false;
  for (const std::string_view word : kProcessWords) {
    for (size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
      int64_t number = 0;
      const std::string_view behind = std::string_view(lower).substr(at + word.size());
      if (!NumberAt(behind, word == "[", &number)) continue;
      if (number == process_id) return KernelLineAbout::kThisProcess;
      names_another = true;
    }
  }
  return names_another ? KernelLineAbout::kNothing : KernelLineAbout::kGpu;
}

bool KernelLineTellsFault(std::string_view line) {
  return HasOneOf(InLowerCase(line), kFaults);
}

void AddKernelLog(int64_t process_id, Snapshot* snapshot) {
  const Process& process = snapshot->process;
  KernelLog log;
  log.first_line = static_cast<uint32_t>(snapshot->kernel_lines.size());
  // The tolerance for the error of the kernel's clock.
  const uint64_t tolerance_ns = 1'000'000'000 + process.start_monotonic_ns / 10'000;
  const Result<std::vector<KernelLogLine>> lines = ReadKernelLog(
      process.start_monotonic_ns - std::min(process.start_monotonic_ns, tolerance_ns));
  if (!lines.ok()) {
    log.why_not = snapshot->AddText(lines.status().message());
    snapshot->kernel_logs.push_back(log);
    return;
  }
  std::vector<KernelLine> kept;
  for (const KernelLogLine& line : *lines) {
    const KernelLineAbout about = WhatKernelLineIsAbout(line.text, process_id);
    if (about == KernelLineAbout::kNothing) continue;
    kept.push_back({.time_ns = line.time_ns,
                    .names_process = about == KernelLineAbout::kThisProcess,
                    .tells_fault = KernelLineTellsFault(line.text),
                    .text = snapshot->AddText(line.text)});
  }
  if (kept.size() > kMostKernelLines) kept.erase(kept.begin(), kept.end() - kMostKernelLines);
  log.line_count = static_cast<uint32_t>(kept.size());
  snapshot->kernel_lines.insert(snapshot->kernel_lines.end(), kept.begin(), kept.end());
  snapshot->kernel_logs.push_back(log);
}

}  // namespace cairn
