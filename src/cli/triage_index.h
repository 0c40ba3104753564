// SPDX-License-Identifier: Apache-2.0
//
// cairn triage --index: what was read once is not read again.
#ifndef CAIRN_CLI_TRIAGE_INDEX_H_
#define CAIRN_CLI_TRIAGE_INDEX_H_

#include <string>
#include <vector>

namespace cairn::cli {

struct TriageIndexOptions {
  std::string index;
  std::vector<std::string> merged;  // other indexes
  std::vector<std::string> paths;   // may be empty
  bool json = false;
  bool jsonl = false;
  bool tsv = false;
};

// Returns the exit code.
int RunTriageIndex(const TriageIndexOptions& options);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_TRIAGE_INDEX_H_
