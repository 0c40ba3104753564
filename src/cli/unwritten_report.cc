// SPDX-License-Identifier: Apache-2.0
#include "cli/unwritten_report.h"

#include <fmt/format.h>

#include <cstdio>

#include "format/file/file_reader.h"
#include "format/snapshot/snapshot_file.h"
#include "reader/analysis/findings.h"
#include "reader/report/text.h"

namespace cairn::cli {

void TellUnwritten(std::span<const std::byte> file) {
  constexpr uint32_t kColumns = 100;  // stderr has no width of its own
  const Result<FileReader> reader = FileReader::FromBytes(file);
  if (!reader.ok()) return;
  const Result<Snapshot> snapshot = ReadSnapshot(*reader);
  if (!snapshot.ok()) return;
  fmt::print(stderr, "{}", TextVerdict(*snapshot, AnalyseDump(*snapshot), {.width = kColumns}));
}

}  // namespace cairn::cli
