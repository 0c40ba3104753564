// SPDX-License-Identifier: Apache-2.0
#include "report/describe.h"

#include <fmt/format.h>

#include <iterator>

#include "cairn/marker_types.h"

#include "base/text.h"
#include "report/words.h"
#include "snapshot/marker_type_name.h"

namespace cairn {
namespace {

void AppendQuoted(std::string_view name, std::string& out) {
  out += '"';
  AppendVisibleText(name, out);
  out += '"';
}

}  // namespace

std::string_view StateMark(WorkState state) {
  switch (state) {
    case WorkState::kNotStarted: return "[ ]";
    case WorkState::kInFlight: return "[>]";
    case WorkState::kCompleted: return "[X]";
  }
  return "[?]";
}

void AppendMarkerType(uint32_t type, std::string& out) {
  const std::string_view name = MarkerTypeName(type);
  if (name.empty()) {
    fmt::format_to(std::back_inserter(out), "MARKER_TYPE {}", type);
  } else {
    out += name;
  }
}

void AppendPipeline(const Snapshot& snapshot, uint32_t pipeline_index, std::string& out) {
  const Pipeline& pipeline = snapshot.pipelines[pipeline_index];
  const std::string_view kind = PipelineKind(pipeline);
  out += kind;
  out += kind.empty() ? "pipeline" : " pipeline";
  if (!pipeline.name.empty()) {
    out += ' ';
    AppendQuoted(snapshot.Text(pipeline.name), out);
  } else if (kind.empty()) {
    fmt::format_to(std::back_inserter(out), " {}", pipeline_index + 1);
  }
  std::string_view separator = " [ ";
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    if (pipeline.shader_names[stage].empty()) continue;
    out += separator;
    out += ShaderStageWord(stage);
    out += ": ";
    AppendVisibleText(snapshot.Text(pipeline.shader_names[stage]), out);
    separator = " | ";
  }
  if (!kind.empty()) out += " ]";
}

void AppendScope(const Snapshot& snapshot, const Scope& scope, bool with_pipeline,
                 std::string& out) {
  const Event& event = snapshot.events[scope.event];
  const std::string_view name = snapshot.Text(event.name);
  if (event.type == CAIRN_MARKER_PASS && !name.empty()) {
    AppendVisibleText(name, out);
  } else {
    AppendMarkerType(event.type, out);
    if (scope.ordinal != 0) fmt::format_to(std::back_inserter(out), " {}", scope.ordinal);
    if (!name.empty()) {
      out += ": ";
      AppendQuoted(name, out);
    }
  }
  if ((event.flags & kEventNameTruncated) != 0) out += " (name cut)";
  if (with_pipeline && event.type != CAIRN_MARKER_PASS && event.pipeline != kNone) {
    out += ", ";
    AppendPipeline(snapshot, event.pipeline, out);
  }
  if (scope.left_open) out += ", left open";
}

void AppendQueue(const Snapshot& snapshot, uint32_t queue_index, std::string& out) {
  if (queue_index == kNone) {
    out += "lists without a queue";
    return;
  }
  const Queue& queue = snapshot.queues[queue_index];
  fmt::format_to(std::back_inserter(out), "queue {}", queue_index);
  if (!queue.name.empty()) {
    out += ' ';
    AppendQuoted(snapshot.Text(queue.name), out);
  }
  out += " (";
  out += QueueTypeWord(queue.type);
  out += ')';
}

void AppendExecutionNotes(const Snapshot& snapshot, const Execution& execution, std::string& out) {
  const Recording& recording = snapshot.recordings[execution.recording];
  if (recording.reusable || recording.submit_count > 1) {
    fmt::format_to(std::back_inserter(out), ", execution {}", execution.run);
  }
  if (recording.open) out += ", still being recorded";
  if (recording.dropped_count != 0) {
    fmt::format_to(std::back_inserter(out), ", {} markers dropped", recording.dropped_count);
  }
}

}  // namespace cairn
