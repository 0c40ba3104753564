// SPDX-License-Identifier: Apache-2.0
//
// Running tests/icd's program on the test driver, and what the report about it says, in the program's
// own words: work is named by the innermost label around it.
#ifndef CAIRN_TESTS_VULKAN_ICD_REPORT_H_
#define CAIRN_TESTS_VULKAN_ICD_REPORT_H_

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "harness.h"

namespace cairn::testing {

struct IcdRun {
  std::string scenario;
  bool explicit_cairn = false;  // libcairn called by the program; otherwise the layer
  std::string mode = "full";    // CAIRN_BREADCRUMBS
  std::string icd;              // CAIRN_ICD
  // CAIRN_DEVICE_FAULT. On: by itself the layer enables the feature on drivers that it knows.
  std::string device_fault = "on";
  std::string hang_timeout_s = "0.3";
  std::string witnesses = "off";  // CAIRN_WITNESSES
};

struct IcdReport {
  Json json;  // null if there is no valid report
  CommandResult result;

  // Labels of the candidates, in order, without barriers.
  std::vector<std::string> candidates;
  // Labels of work that finished and may be the culprit all the same.
  std::vector<std::string> late_suspects;
  // The state of each label in the last execution of each list that has it.
  std::map<std::string, std::string> states;
  // Incidents: "hang", "device lost", "signal", ...
  std::vector<std::string> incidents;
};

// Runs `icd_program SCENARIO` under `cairn run` in `folder`, and reads a.cairn.
IcdReport RunOnTestDriver(const IcdRun& run, const TemporaryFolder& folder);

// Returns the same as text.
std::string IcdTextReport(const TemporaryFolder& folder);

// Runs scenarios in a folder of its own.
class IcdTest : public ::testing::Test {
 protected:
  // Expects that there is a report.
  IcdReport RunReported(const IcdRun& run);
  // Returns the text that a test prints when it fails.
  std::string Text() const { return IcdTextReport(folder_); }

  TemporaryFolder folder_;
};

// Returns "STATE: REASON" of this source of the first device; "" if there is none.
std::string SourceOf(const IcdReport& report, const std::string& source);

// Returns the arguments of a run; the environment is set beside `folder`.
std::vector<std::string> IcdArguments(const IcdRun& run);
Command::Options IcdOptions(const IcdRun& run, const TemporaryFolder& folder);
// Reads a.cairn after a run that somebody else did.
IcdReport ReadIcdReport(const TemporaryFolder& folder);

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_VULKAN_ICD_REPORT_H_
