// SPDX-License-Identifier: Apache-2.0
#include "reader/report/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/program_name.h"
#include "base/text.h"
#include "reader/analysis/work_class.h"
#include "reader/report/answer_text.h"
#include "reader/report/suspect_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

constexpr size_t kSuspectsShown = 4;
constexpr size_t kIncidentsShown = 8;

size_t LongestRun(std::string_view text, char wanted) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

std::string SuspectLines(const Snapshot& snapshot, const Findings& findings) {
  const std::vector<SuspectWork>& suspects = findings.culprit.suspects;
  if (suspects.size() < 2) return {};
  std::string lines = fmt::format("\n{}, the most likely first:\n\n", HeadingOfSuspects(findings));
  const size_t shown = std::min(suspects.size(), kSuspectsShown);
  for (size_t i = 0; i < shown; ++i) {
    std::string work, reason;
    AppendSuspectWork(snapshot, findings, suspects[i], work);
    AppendSuspectReason(snapshot, findings, suspects[i], true, reason);
    lines += fmt::format("{}. {}: {}\n", i + 1, CodeSpan(work), CodeSpan(reason));
  }
  if (shown < suspects.size()) lines += fmt::format("\n… {} more\n", suspects.size() - shown);
  return lines;
}

std::string IncidentLines(const Snapshot& snapshot) {
  if (snapshot.incidents.empty()) return {};
  std::string lines = "\nIncidents:\n\n";
  const size_t shown = std::min(snapshot.incidents.size(), kIncidentsShown);
  for (size_t i = 0; i < shown; ++i) {
    lines += fmt::format("- {}\n", CodeSpan(IncidentSentence(snapshot, snapshot.incidents[i])));
  }
  if (shown < snapshot.incidents.size()) {
    lines += fmt::format("- … {} more\n", snapshot.incidents.size() - shown);
  }
  return lines;
}

}  // namespace

std::string CodeSpan(std::string_view text) {
  if (text.empty()) return {};
  const std::string visible = VisibleText(text);
  const std::string marks(LongestRun(visible, '`') + 1, '`');
  const bool touches = visible.front() == '`' || visible.back() == '`' || visible.front() == ' ';
  const char* const space = touches ? " " : "";
  return marks + space + visible + space + marks;
}

std::string MarkdownReport(const Snapshot& snapshot, const Findings& findings,
                           std::string_view file) {
  const AnswerText answer = AnswerInWords(snapshot, findings);
  std::string text = fmt::format("### {}\n\n", CodeSpan(answer.headline));
  if (!answer.how_sure.empty()) text += fmt::format("- **how sure** {}\n", answer.how_sure);
  for (const AnswerRow& row : answer.rows) {
    text += fmt::format("- **{}** {}\n", row.label, CodeSpan(row.text));
  }
  text += SuspectLines(snapshot, findings);
  text += IncidentLines(snapshot);
  text += fmt::format("\nProgram: {}\n",
                      CodeSpan(NameOfProgram(snapshot.Text(snapshot.process.program))));
  if (!file.empty()) {
    text += fmt::format("\nThe rest: {}\n",
                        CodeSpan("cairn report " + ShellQuoted((file.starts_with('-') ? "./" : "") +
                                                               std::string(file))));
  }
  return text;
}

}  // namespace cairn
