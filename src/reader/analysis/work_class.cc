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

uint32_t PipelineOf(const Snapshot& snapshot, const Scope& scope) {
  const Event& event = snapshot.events[scope.event];
  if (event.type == CAIRN_MARKER_PASS) return event.pipeline;
  const WorkClass work = ClassOfType(event.type);
  return work == WorkClass::kTransfer || work == WorkClass::kNoWork ? kNone : event.pipeline;
}

}  // namespace cairn
