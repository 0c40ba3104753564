// SPDX-License-Identifier: Apache-2.0
#include "reader/view/triage_row.h"

#include <fmt/format.h>

#include <iterator>

#include "base/text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

// Visible text holds no tab and no line feed.
void AddText(std::string_view text, std::string& row) {
  for (const char c : VisibleText(text)) {
    if (c == '\\') row += c;
    row += c;
  }
  row += '\t';
}

}  // namespace

std::string TriageRow(const DumpSummary& dump, std::string_view machine) {
  std::string row = "\\N";
  if (dump.seen_ns != 0) {
    row = IsoTime(dump.seen_ns);
    row[row.find('T')] = ' ';
    row.pop_back();  // the Z, which ClickHouse does not read
  }
  row += '\t';
  const Signature& signature = dump.signature;
  for (const std::string_view text :
       {machine, std::string_view(dump.program), std::string_view(dump.version),
        std::string_view(signature.id), std::string_view(signature.kind),
        std::string_view(signature.cause)}) {
    AddText(text, row);
  }
  AddText(PathOf(signature), row);
  AddText(ShadersOf(signature), row);
  AddText(signature.device, row);
  AddText(signature.driver, row);
  AddText(CertaintyWord(dump.certainty), row);
  fmt::format_to(std::back_inserter(row), "{}\t{}\t", dump.loss_count, dump.size_bytes);
  AddText(dump.file, row);
  row += dump.content;
  return row + '\n';
}

}  // namespace cairn
