// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/work_class.h"

#include "cairn/marker_types.h"

#include "format/block/marker_kinds.h"

namespace cairn {

WorkClass ClassOfType(uint32_t type) {
  if (RunsShaders(type)) return WorkClass::kPipeline;
  if (IsTransfer(type)) return WorkClass::kTransfer;
  return RunsNothing(type) ? WorkClass::kNoWork : WorkClass::kOther;
}

WorkClass ClassOfScope(const Snapshot& snapshot, const Scope& scope) {
  const uint32_t type = snapshot.events[scope.event].type;
  if (type == CAIRN_MARKER_PASS && !scope.has_children) return WorkClass::kOther;
  return ClassOfType(type);
}

}  // namespace cairn
