// SPDX-License-Identifier: Apache-2.0
//
// The answer of the analysis (Findings::culprit) in words, for every form of the report: a headline, how sure it is,
// and rows of facts. Everything is visible text. docs/reference/report.md, "The answer", describes the form.
#ifndef CAIRN_READER_REPORT_ANSWER_TEXT_H_
#define CAIRN_READER_REPORT_ANSWER_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "reader/analysis/findings.h"

namespace cairn {

struct AnswerRow {
  std::string_view label;  // one word: "where", "pipeline", "because"
  std::string text;        // without a full stop
};

struct AnswerText {
  std::string headline;  // `GPU hang in DRAW_INSTANCED #3 (3 vertices, 1 instance)`
  // "proven", "likely", "one of 4", "not proven", "unknown"; after a crash of the program "proven" of the call that it
  // crashed in, else "cause unknown". Empty where nothing failed on the GPU and nothing crashed.
  std::string how_sure;
  // Several rows may have one label, one behind the other.
  std::vector<AnswerRow> rows;
};

// `print_flags`: CAIRN_PRINT_SKIP_PIPELINE_INFO and ..._DEVICE_INFO leave out the rows "pipeline" and "device". Allocates a
// number of times that does not depend on the number of markers.
AnswerText AnswerInWords(const Snapshot& snapshot, const Findings& findings,
                         uint32_t print_flags = 0);

// One line of it: `GPU hang in DRAW_INSTANCED #3 (proven); where: Frame > Lighting · list 5 "Main"; because: ...`
std::string AnswerLine(const AnswerText& answer);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_ANSWER_TEXT_H_
