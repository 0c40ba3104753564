// SPDX-License-Identifier: Apache-2.0
//
// What `cairn report` says about a file, for tests that compare it.
#ifndef CAIRN_TESTS_REPORT_READING_H_
#define CAIRN_TESTS_REPORT_READING_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::testing {

// The tree: the lines of the text report from the first "<Frame" to the next empty line. With a
// message instead if there is no report.
std::string ReportTree(const std::string& file, bool all = false);

struct ReportedIncident {
  std::string kind;
  int64_t value = 0;
  std::string queue;  // name, "" if none
  std::string detail;
  bool operator==(const ReportedIncident&) const = default;
};
void PrintTo(const ReportedIncident& incident, std::ostream* out);
std::vector<ReportedIncident> ReportedIncidents(const std::string& file);

// From the JSON report: of each execution the words that the GPU wrote.
struct ReportedProgress {
  std::string name;
  std::string state;
  uint32_t reached = 0;
  uint32_t passed = 0;
};
struct ReportedWork {
  std::vector<ReportedProgress> executions;
  std::vector<std::string> scope_states;
  std::vector<std::string> candidates;  // "TYPE name"
  std::vector<std::string> losses;
  std::vector<std::string> word_memories;  // of each device
  bool valid = false;
};
ReportedWork ReadReportedWork(const std::string& file);

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_REPORT_READING_H_
