// SPDX-License-Identifier: Apache-2.0
//
// A verb of this program as a process of its own: one that plays may die with the driver.
#ifndef CAIRN_READER_SERVE_VERB_PROCESS_H_
#define CAIRN_READER_SERVE_VERB_PROCESS_H_

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace cairn {

struct VerbResult {
  int exit_code = 0;
  std::string output;
  std::string errors;  // what it says of its progress as well
};

// Runs a verb. `words` are those behind "cairn". Keeps its output in files of `folder`, which no
// other call may use. Calls `look` now and then with its output on stderr; kills the verb if that
// returns false.
// Errors: kInternal: it died; kIo: it could not be started, or printed more than `most_bytes`.
Result<VerbResult> RunVerb(const std::vector<std::string>& words,
                           const std::filesystem::path& folder, size_t most_bytes,
                           const std::function<bool(const std::string& errors)>& look);

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_VERB_PROCESS_H_
