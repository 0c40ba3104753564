// SPDX-License-Identifier: Apache-2.0
//
// Finds who wrote the indirect arguments of the first suspect. Part of findings.h; docs/internals/analysis.md, "Who
// wrote its arguments", has the rules.
#ifndef CAIRN_READER_ANALYSIS_ARGUMENTS_ORIGIN_H_
#define CAIRN_READER_ANALYSIS_ARGUMENTS_ORIGIN_H_

#include <cstdint>

#include "reader/analysis/analysis.h"
#include "reader/analysis/culprit.h"

namespace cairn {

// A command that writes the buffer, or can.
struct ArgumentsWriter {
  uint32_t execution = kNone;  // into Analysis::executions
  uint32_t scope = kNone;      // into Analysis::scopes; kNone: nobody is known
  // The buffer is its destination, as of a copy, a fill, an update, and it has ended, or a barrier stands behind it.
  // False: it has the buffer bound for shaders to write, at `point`, `slot` and, of a descriptor set, `binding`; or it
  // may not have ended.
  bool is_certain = false;
  BindPoint point = BindPoint::kDestination;
  uint32_t slot = 0;
  uint32_t binding = kNone;
};

struct ArgumentsOrigin {
  uint32_t execution =
      kNone;  // of the first suspect; kNone: it has no indirect arguments in a buffer that is known
  uint32_t scope = kNone;   // of the first suspect
  uint32_t buffer = kNone;  // into Snapshot::objects
  ArgumentsWriter last;     // before the command, in its list or in an earlier submission
  ArgumentsWriter certain;  // the last that is certain, where `last` is not
  // Without a writer before it, also in earlier submissions: the first behind it in its list, which comes too late;
  // into Analysis::scopes.
  uint32_t late_writer = kNone;
  bool is_mapped = false;  // the program has the memory mapped: the CPU can write it
};

// Pure. Time is linear in the events of the lists of its device and in the descriptors of the sets that they bind; any
// snapshot whose indices are in range is safe.
ArgumentsOrigin FindArgumentsOrigin(const Snapshot& snapshot, const Analysis& analysis,
                                    const CulpritFinding& finding);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_ARGUMENTS_ORIGIN_H_
