// SPDX-License-Identifier: Apache-2.0
#include "cli/stderr_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/text_columns.h"
#include "cli/verb.h"
#include "format/file/file_reader.h"
#include "format/snapshot/snapshot_file.h"
#include "reader/analysis/findings.h"
#include "reader/report/text.h"

namespace cairn::cli {
namespace {

constexpr size_t kMostTold = 4;

// Returns the answer, or nothing if there is no report in the file or nothing is wrong in it.
std::string VerdictOf(const Result<FileReader>& reader, const std::string& path) {
  if (!reader.ok()) return {};
  const Result<Snapshot> snapshot = ReadSnapshot(*reader);
  if (!snapshot.ok()) return {};
  const Findings findings = AnalyseDump(*snapshot);
  if (findings.culprit.kind == FindingKind::kNothingWrong) return {};
  return TextVerdict(*snapshot, findings, {.width = TextColumns(), .file = path});
}

}  // namespace

void TellUnwritten(std::span<const std::byte> file) {
  PrintOnError(VerdictOf(FileReader::FromBytes(file), ""));
}

void TellWritten(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (std::find(files.begin(), files.end(), path) == files.end()) files.push_back(path);
  }
  for (size_t i = 0; i < std::min(files.size(), kMostTold); ++i) {
    const std::string verdict = VerdictOf(FileReader::Open(files[i]), files[i]);
    if (verdict.empty()) continue;
    const std::string name = files.size() == 1 ? "" : VisibleText(files[i]) + ":\n";
    PrintOnError('\n' + name + verdict);
  }
  if (files.size() > kMostTold) {
    PrintOnError(fmt::format("\n… {} more files\n", files.size() - kMostTold));
  }
}

}  // namespace cairn::cli
