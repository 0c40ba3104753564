// SPDX-License-Identifier: Apache-2.0
#include "cli/triage_warnings.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/mistaken_word.h"
#include "cli/written_output.h"

namespace cairn::cli {
namespace {

constexpr uint64_t kMostWarnings = 20;

}  // namespace

void TriageWarnings::Add(const std::string& file, const Status& status) {
  if (warnings_.size() == kMostWarnings) return;
  const std::string mistaken = MistakenForFile("triage", file, NeededFile::kAny);
  warnings_.push_back(mistaken.empty() ? status.WithFile(file).message() : mistaken);
}

void TriageWarnings::Print(uint64_t unreadable_count) const {
  for (const std::string& warning : warnings_) PrintWarning("triage", warning);
  if (unreadable_count <= kMostWarnings) return;
  PrintWarning("triage", fmt::format("{} more files without a report; --json lists them",
                                     GroupedDigits(unreadable_count - kMostWarnings)));
}

}  // namespace cairn::cli
