// SPDX-License-Identifier: Apache-2.0
//
// From a trace to what a search leaves out, and back to what people and files see of what it found.
#ifndef CAIRN_READER_BISECT_BISECT_TREE_H_
#define CAIRN_READER_BISECT_BISECT_TREE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/trace/trace_reader.h"
#include "reader/bisect/bisect.h"

namespace cairn {

// Goes through the whole trace; what a damaged chunk held is not in the tree. `keep_on`, if it is not
// null, is asked now and then; false ends it with kInterrupted. Memory: 8 bytes for each call that is
// work, 24 for each list of each submission, 80 for each bundle that a list executes.
// Errors: kUnsupported: there are no submissions in the trace. kCorrupt with the number of a record.
Result<BisectTree> ReadBisectTree(TraceReader* trace,
                                  const std::function<bool(uint64_t record)>& keep_on = nullptr);

// Returns true if calls of the trace MayDraw() (call_roles.h), and if damage hides whether they do. Ends at the first of them.
// Errors: kInterrupted, as above.
Result<bool> TraceMayDraw(TraceReader* trace,
                          const std::function<bool(uint64_t record)>& keep_on = nullptr);

// The parts of a culprit that make it fail (call_parts.h).
struct PartsText {
  struct Part {
    uint64_t first = 0;
    uint64_t end = 0;  // behind the last
    std::string text;  // of the last: CommandInWords(), RayCall::InWords(); "" if it is not known
  };
  std::string word;  // "command"
  uint64_t count = 0;
  bool count_is_limit = false;
  std::vector<Part> guilty;
  bool needs_none = false;
  bool more = false;
  bool all_looked_at = false;
};

// The facts of a culprit for texts, with its position.
struct CulpritText {
  Suspect suspect;
  uint64_t frame = 0;
  uint64_t submission = 0;         // the ExecuteCommandLists call that brought it to the GPU
  uint32_t list_index = 0;         // in the submission
  std::string call;                // "Dispatch(ThreadGroupCountX = 1, ...)"; "" if it is not a call
  std::string queue;               // "command queue 3 "Graphics""
  std::string list;                // "" for submissions
  std::string pipeline;            // that was set, "" if none was
  std::vector<std::string> path;   // the events around it, outermost first
  std::optional<PartsText> parts;  // of a call that has some, once it was looked for them
};

// Returns the texts in the order of `culprits`. If several submissions executed a call, names the
// last one not after `place`. Errors: those of reading the trace.
Result<std::vector<CulpritText>> DescribeCulprits(TraceReader* trace,
                                                  const std::vector<Suspect>& culprits,
                                                  uint64_t place);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_BISECT_TREE_H_
