// SPDX-License-Identifier: Apache-2.0
//
// The answer of a report for a bug tracker, as CommonMark. docs/reference/report.md, "For a bug tracker", describes the form.
#ifndef CAIRN_READER_REPORT_MARKDOWN_H_
#define CAIRN_READER_REPORT_MARKDOWN_H_

#include <string>
#include <string_view>

#include "reader/analysis/findings.h"

namespace cairn {

// Returns the text, made visible, as a code span, in which nothing is markup: its marks are longer than any of the text's.
std::string CodeSpan(std::string_view text);

// The answer, the first suspects if there are several, what happened, the program and the devices. Text of a dump
// stands in code spans: it cannot become markup, a link, a mention or HTML. Without the path and the arguments of
// the program, which may hold what does not belong into a tracker. `file` is the report's name for the last line; empty: without.
// A few KiB; no longer than names are.
std::string MarkdownReport(const Snapshot& snapshot, const Findings& findings,
                           std::string_view file);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_MARKDOWN_H_
