// SPDX-License-Identifier: Apache-2.0
//
// The files without a report that `cairn triage` names on stderr.
#ifndef CAIRN_CLI_TRIAGE_WARNINGS_H_
#define CAIRN_CLI_TRIAGE_WARNINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace cairn::cli {

// The first 20 warnings, and how many others there are.
class TriageWarnings {
 public:
  void Add(const std::string& file, const Status& status);
  void Print(uint64_t unreadable_count) const;

 private:
  std::vector<std::string> warnings_;
};

}  // namespace cairn::cli

#endif  // CAIRN_CLI_TRIAGE_WARNINGS_H_
