// SPDX-License-Identifier: Apache-2.0
//
// The report as text: the answer with next steps and suspects, what happened, why that is concluded of each queue, the fault,
// who waits for whom, checkpoints of the driver, EventIDs that a driver reported, the tree of frames, lists and
// scopes, submissions, last calls, fences, objects, raw markers, the process, the devices, losses. docs/reference/report.md
// describes the form.
#ifndef CAIRN_READER_REPORT_TEXT_H_
#define CAIRN_READER_REPORT_TEXT_H_

#include <cstdint>
#include <string>

#include "cairn/breadcrumbs.h"

#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"

namespace cairn {

struct TextOptions {
  // CAIRN_PRINT_...; SKIP_DEVICE_INFO together with EXTENDED_DEVICE_INFO counts as EXTENDED.
  uint32_t print_flags = 0;
  // Columns; 0: no limit. Sentences are wrapped, lines of the tree are cut.
  uint32_t width = 0;
  bool whole_rows = false;  // only sentences have to fit
  bool colour = false;      // ANSI colours: only for a terminal
  // The file as its reader named it, for the next steps; empty: none are told.
  std::string file;
};

// UTF-8, with a line feed after each line. Names are shown so that they cannot act on a terminal.
// `findings` are those of `snapshot`; of one device (Findings::device) the report shows only that
// one. The number of allocations does not depend on the number of markers. Cost: bench TextReport.
std::string TextReport(const Snapshot& snapshot, const Findings& findings,
                       const TextOptions& options);

// The beginning of it: the answer with next steps and suspects.
std::string TextVerdict(const Snapshot& snapshot, const Findings& findings,
                        const TextOptions& options);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_TEXT_H_
