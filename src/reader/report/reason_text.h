// SPDX-License-Identifier: Apache-2.0
//
// The reasons of the analysis in sentences, for every form of the report. They name no scope, list
// or shader, so that a redacted report can print them; "marker event 7" is a sequence number.
#ifndef CAIRN_READER_REPORT_REASON_TEXT_H_
#define CAIRN_READER_REPORT_REASON_TEXT_H_

#include <string>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"

namespace cairn {

// Appends where the GPU was, the conclusion, and its limits: `The GPU reached marker event 7 and
// completed up to marker event 5 of command list 1 (frame 3, submission 1). Each of 2 commands may have been running.`
void AppendQueueReason(const Snapshot& snapshot, const Analysis& analysis,
                       const QueueVerdict& verdict, std::string& out);

// Appends where the checkpoint lies, and what the words say of that: `It is marker event 5 of command list
// 1. The words say the same.`
void AppendCheckpointReason(const Snapshot& snapshot, const CheckpointVerdict& verdict,
                            std::string& out);

// `not started: the front end had not written the top-of-pipe marker 5 before it`, a clause.
std::string RawReasonInWords(const RawReason& reason);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_REASON_TEXT_H_
