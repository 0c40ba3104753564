// SPDX-License-Identifier: Apache-2.0
#include "cli/bisect_parts.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cli/verb.h"
#include "os/terminal.h"
#include "reader/view/bisect_text.h"

namespace cairn::cli {

ProbeProgress ProgressOf(bool lines, bool quiet) {
  if (lines) return ProbeProgress::kLines;
  return quiet ? ProbeProgress::kNone : ProbeProgress::kLine;
}

ProbeLine::ProbeLine(ProbeProgress progress)
    : progress_(progress == ProbeProgress::kLine && !TakesEscapes(StandardStream::kError)
                    ? ProbeProgress::kNone
                    : progress) {}

void ProbeLine::Write(const std::string& text) const {
  if (progress_ == ProbeProgress::kNone) return;
  std::fputs(
      progress_ == ProbeProgress::kLine ? ("\r\x1b[K" + text).c_str() : (text + '\n').c_str(),
      stderr);
  std::fflush(stderr);
}

void ProbeLine::Show(const BisectProgress& progress, uint64_t average_ms) {
  Write(ProgressLine(progress, average_ms));
}

void ProbeLine::ShowWait(const std::string& what) const {
  Write(what);
}

void ProbeLine::Clear() const {
  if (progress_ == ProbeProgress::kLine) std::fputs("\r\x1b[K", stderr);
}

GpuCheck MakeGpuCheck(uint64_t recovery_ns, TaskProgress* signals, ProbeLine* line) {
  return GpuCheck(
      recovery_ns, [signals] { return signals->Update(0, 0); },
      [line](const std::string& what) { line->ShowWait(what); });
}

std::string WithEnding(const std::string& path, const char* ending) {
  constexpr std::string_view kEnding = ".cairn";
  const std::string stem =
      path.ends_with(kEnding) ? path.substr(0, path.size() - kEnding.size()) : path;
  return stem + ending;
}

std::string DriverVariables() {
  std::string text;
  for (const char* name :
       {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "VK_LOADER_DRIVERS_SELECT",
        "VK_LOADER_DRIVERS_DISABLE", "MESA_VK_DEVICE_SELECT", "DRI_PRIME", "CUDA_VISIBLE_DEVICES",
        "VKD3D_VULKAN_DEVICE", "VKD3D_FILTER_DEVICE_NAME", "VKD3D_CONFIG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

void TellOfJournal(std::string_view verb, const BisectJournal& journal, const std::string& path,
                   bool quiet) {
  if (!journal.put_aside().empty()) {
    PrintWarning(verb,
                 fmt::format("starts over: {} belongs to another search, and is now {} (where it "
                             "holds, --journal {} resumes it): {}",
                             path, journal.old_path(), journal.old_path(), journal.put_aside()));
  }
  if (journal.remembered() == 0 || quiet) return;
  PrintWarning(verb, fmt::format("resumes after {} probe{} of an earlier search; --restart "
                                 "starts over",
                                 journal.remembered(), journal.remembered() == 1 ? "" : "s"));
}

}  // namespace cairn::cli
