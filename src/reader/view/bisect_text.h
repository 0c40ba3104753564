// SPDX-License-Identifier: Apache-2.0
//
// The texts of `cairn bisect`, apart from the program for its test.
#ifndef CAIRN_READER_VIEW_BISECT_TEXT_H_
#define CAIRN_READER_VIEW_BISECT_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/bisect/bisect.h"
#include "reader/bisect/bisect_tree.h"
#include "reader/replay/device.h"

namespace cairn::cli {

struct BisectTold {
  std::string path;
  BisectAnswer answer;
  std::vector<CulpritText> culprits;  // if answer.found
  DeviceFacts device;                 // on which all was played
  uint64_t hang_timeout_ns = 0;
  // The plays of the whole trace in this search: their number, their time together, the slowest
  // submission, the calls that could not be played as recorded, and why the device refused them.
  uint64_t whole_plays = 0;
  uint64_t whole_plays_ns = 0;
  uint64_t slowest_submission = 0;
  uint64_t slowest_ns = 0;
  std::string left_out;
  std::string refused;
  std::vector<std::string> recorded;  // what the report of the recording says that happened
  std::string minimal_path;           // "" if there is none
  uint64_t duration_ns = 0;
  std::string
      why_json;  // the cause (docs/formats/why.schema.json); "" if it was not looked for, or not found out
};

// Returns the culprit, its position, and the minimal trace. Ends with a line break.
std::string AnswerAsText(const BisectTold& told);
// docs/formats/bisect.schema.json.
std::string AnswerAsJson(const BisectTold& told);

// Returns the reason why no culprit was found, without a full stop; empty if one was. `words` name
// the parts of what was searched.
std::string NoCulpritInWords(const BisectAnswer& answer, const BisectWords& words);

// For programs: "hang", "" if it is not known; "clean".
const char* FailureWord(FailureKind kind);
const char* WithoutWord(ProbeOutcome without);

// "[######......] 12 of about 25 probes, 40 s left: the 40 calls of the failing list"
std::string ProgressLine(const BisectProgress& progress, uint64_t average_ms);

// Returns a sentence for each incident of the program that was recorded.
std::vector<std::string> RecordedIncidents(const Snapshot& snapshot);

// Gives culprits whose list has no events of its own the path of the breadcrumb that has their
// call.
void AddBreadcrumbPaths(const Snapshot& snapshot, std::vector<CulpritText>* culprits);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_BISECT_TEXT_H_
