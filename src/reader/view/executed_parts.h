// SPDX-License-Identifier: Apache-2.0
//
// Finds the parts of a call that buffers hold: the commands of an ExecuteIndirect, the instances of a top level
// that is built, the records of the shader tables of a DispatchRays. Their bytes are those that the program has
// written when a submission executes the call; where the GPU may have written them, only a playback knows them.
#ifndef CAIRN_READER_VIEW_EXECUTED_PARTS_H_
#define CAIRN_READER_VIEW_EXECUTED_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/trace/trace_reader.h"

namespace cairn::cli {

// Texts are visible (base/text.h).
struct ExecutedParts {
  // So many commands, instances, or records of each table are listed.
  static constexpr uint64_t kMostListed = 16;

  struct Part {
    std::string text;     // `hit group [2], export "Glass"`
    std::string unknown;  // the reason why the bytes are not known; "": they are
  };

  std::string kind;    // "command", "instance", "record"
  uint64_t count = 0;  // of a DispatchRays: of the tables, without the ray generation record
  bool count_is_limit = false;  // a count buffer whose bytes are not known may say less
  uint64_t executed_by = 0;     // call of ExecuteCommandLists, the first; 0: there is none
  std::string made_of;  // the arguments of the command signature, the exports of the state object
  std::vector<Part> parts;
};

// nullopt: the call has no such parts. `state_object`: that is bound at the call. Reads the trace four times at most.
// Errors: those of reading it.
Result<std::optional<ExecutedParts>> FindExecutedParts(TraceReader* trace, uint64_t call,
                                                       uint64_t state_object);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_EXECUTED_PARTS_H_
