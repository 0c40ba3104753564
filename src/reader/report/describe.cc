// SPDX-License-Identifier: Apache-2.0
#include "reader/report/describe.h"

#include <fmt/format.h>

#include <iterator>

#include "cairn/marker_types.h"

#include "base/text.h"
#include "format/snapshot/marker_type_name.h"
#include "format/snapshot/object_kinds.h"
#include "reader/analysis/work_class.h"
#include "reader/report/arguments_text.h"
#include "reader/report/destruction_text.h"
#include "reader/report/object_words.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

void AppendQuoted(std::string_view name, std::string& out) {
  out += '"';
  AppendVisibleText(name, out);
  out += '"';
}

// `main (0123456789abcdef)`: many layers put the hash into the name already.
void AppendShader(std::string_view name, uint64_t hash, std::string& out) {
  AppendVisibleText(name, out);
  if (hash == 0) return;
  char digits[17];
  fmt::format_to_n(digits, sizeof(digits), "{:016x}", hash);
  const std::string_view text(digits, 16);
  if (name.find(text) != std::string_view::npos) return;
  if (!name.empty()) out += ' ';
  out += '(';
  out += text;
  out += ')';
}

constexpr size_t kPathScopesShown = 12;

constexpr uint32_t kStagesAsTheyRun[] = {kStageAmplification, kStageMesh,    kStageVertex,
                                         kStageHull,          kStageDomain,  kStageGeometry,
                                         kStagePixel,         kStageCompute, kStageRayTracing};
static_assert(std::size(kStagesAsTheyRun) == kStageCount);

bool HasSlots(BindPoint point) {
  return point != BindPoint::kDepthStencil && point != BindPoint::kIndexBuffer &&
         point != BindPoint::kIndirectArguments && point != BindPoint::kSource &&
         point != BindPoint::kDestination;
}

bool IsVulkan(const Snapshot& snapshot, uint32_t device) {
  return device != kNone && snapshot.devices[device].api == Api::kVulkan;
}

// The strongest capability of the queue's family.
std::string_view VulkanQueueWord(uint32_t type) {
  switch (type) {
    case 0: return "graphics";
    case 2: return "transfer";
    default: return QueueTypeWord(type);
  }
}

bool IsPipelineKind(uint32_t kind) {
  return kind == kD3D12PipelineStateKind || kind == kD3D12StateObjectKind ||
         kind == kVulkanPipelineKind;
}

constexpr size_t kMostLookedAt = size_t{1} << 26;  // of all objects together

// The pipeline that the object is, if work used it; kNone for any other.
uint32_t PipelineOfObject(const Snapshot& snapshot, const Object& object) {
  // Another pipeline may have had the handle of one that was destroyed.
  if (object.state != ObjectState::kAlive) return kNone;
  // A file that was made to be slow.
  if (snapshot.pipelines.size() * snapshot.objects.size() > kMostLookedAt) return kNone;
  for (uint32_t i = 0; i < snapshot.pipelines.size(); ++i) {
    const Pipeline& pipeline = snapshot.pipelines[i];
    if (pipeline.device == object.device && pipeline.native_handle == object.native_handle &&
        pipeline.native_handle != 0 && !pipeline.unregistered) {
      return i;
    }
  }
  return kNone;
}

// For a queue that waits for itself: appends the submission that waits, and the one that would
// signal.
void AppendOwnWait(const Snapshot& snapshot, const Wait& wait, std::string& out) {
  if (wait.signal == kNone) return;
  const uint64_t held = wait.held_submission;
  const uint64_t signals = snapshot.syncs[wait.signal].submission_number;
  if (held == 0 || signals == 0) return;
  if (held == signals) {
    fmt::format_to(std::back_inserter(out), ": submission {} would signal it itself", held);
  } else {
    fmt::format_to(std::back_inserter(out),
                   ": submission {} waits, and submission {} after it would signal", held, signals);
  }
}

}  // namespace

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
  } else {
    out += ' ';
    if (AppendPipelineDescription(snapshot, pipeline_index, out)) {
      // It has a number and its targets.
    } else if (kind.empty()) {
      out += std::to_string(pipeline_index + 1);
    } else {
      out.pop_back();
    }
  }
  std::string_view separator = " [ ";
  for (const uint32_t stage : kStagesAsTheyRun) {
    if (!HasShader(pipeline, stage)) continue;
    out += separator;
    out += ShaderStageWord(stage);
    out += ": ";
    AppendShader(snapshot.Text(pipeline.shader_names[stage]), pipeline.shader_hashes[stage], out);
    separator = " | ";
  }
  if (!kind.empty()) out += " ]";
}

void AppendPipelineName(const Snapshot& snapshot, uint32_t pipeline_index, std::string& out) {
  const Pipeline& pipeline = snapshot.pipelines[pipeline_index];
  if (pipeline.name.empty()) return AppendPipeline(snapshot, pipeline_index, out);
  const std::string_view kind = PipelineKind(pipeline);
  out += kind;
  out += kind.empty() ? "pipeline " : " pipeline ";
  AppendQuoted(snapshot.Text(pipeline.name), out);
}

void AppendScope(const Snapshot& snapshot, const Scope& scope, ScopeDetail detail,
                 std::string& out) {
  const Event& event = snapshot.events[scope.event];
  const std::string_view name = snapshot.Text(event.name);
  if (event.type == CAIRN_MARKER_PASS && !name.empty()) {
    AppendVisibleText(name, out);
  } else {
    AppendMarkerType(event.type, out);
    if (scope.ordinal != 0) fmt::format_to(std::back_inserter(out), " #{}", scope.ordinal);
    const size_t before = out.size();
    out += ' ';
    AppendArguments(snapshot, scope.event, out);
    if (out.size() == before + 1) out.pop_back();
    if (!name.empty()) {
      out += ": ";
      AppendQuoted(name, out);
    }
  }
  if (detail == ScopeDetail::kShort) return;
  if ((event.flags & kEventNameTruncated) != 0) out += " (name cut)";
  if (detail != ScopeDetail::kName && event.detail != kNone &&
      snapshot.annotations[event.detail].event_id != 0) {
    out += ", EventID ";
    AppendEventId(snapshot.annotations[event.detail].event_id, out);
  }
  const uint32_t pipeline = event.type == CAIRN_MARKER_PASS ? kNone : PipelineOf(snapshot, scope);
  if (detail == ScopeDetail::kEventIdAndPipeline && pipeline != kNone) {
    out += ", ";
    AppendPipeline(snapshot, pipeline, out);
  }
  if (detail != ScopeDetail::kName && event.call != 0) {
    out += ", call ";
    out += GroupedDigits(event.call);
  }
  if (scope.left_open) out += ", left open";
}

void AppendCallOf(const Snapshot& snapshot, const Scope& scope, std::string& out) {
  const uint64_t call = snapshot.events[scope.event].call;
  if (call == 0) return;
  out += "call ";
  out += GroupedDigits(call);
  out += ": ";
}

void AppendEventId(uint64_t event_id, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{:#x}", event_id);
}

void AppendObject(const Snapshot& snapshot, const Object& object, std::string& out) {
  if (object.name.empty() && AppendDescription(object, out)) {
    fmt::format_to(std::back_inserter(out), " #{}", object.serial);
    return;
  }
  if (object.name.empty() && IsPipelineKind(object.kind)) {
    const uint32_t pipeline = PipelineOfObject(snapshot, object);
    if (pipeline != kNone) return AppendPipelineName(snapshot, pipeline, out);
  }
  out += ObjectKindWord(object.kind);
  out += ' ';
  if (object.name.empty()) {
    fmt::format_to(std::back_inserter(out), "{}", object.serial);
    return;
  }
  AppendQuoted(snapshot.Text(object.name), out);
  if (object.name_cut) out += " (name cut)";
}

void AppendBinding(const Snapshot& snapshot, const Binding& binding, std::string& out) {
  if (binding.point == BindPoint::kDescriptorSet) {
    return AppendDescriptorBinding(snapshot, binding, out);
  }
  const bool is_count = binding.point == BindPoint::kIndirectArguments && binding.slot == 1;
  out += is_count ? "count of indirect commands" : BindPointWord(binding.point);
  if (HasSlots(binding.point)) fmt::format_to(std::back_inserter(out), " {}", binding.slot);
  out += ": ";
  if (binding.state == BindingState::kReplaced) {
    out += "an object that was destroyed long before";
    return;
  }
  if (binding.object == kNone) {
    fmt::format_to(std::back_inserter(out), "address {:#x}, which belongs to no known object",
                   binding.address);
    return;
  }
  AppendObject(snapshot, snapshot.objects[binding.object], out);
  if (binding.offset != 0) fmt::format_to(std::back_inserter(out), " + {:#x}", binding.offset);
  if (binding.state != BindingState::kDestroyed) return;
  AppendHowItEnded(snapshot, snapshot.objects[binding.object].kind, binding.destruction, out);
  AppendDestroyedBy(snapshot, binding.destruction, MomentOfBinding(binding), out);
}

void AppendSync(const Snapshot& snapshot, const Sync& sync, std::string& out) {
  if (sync.object != kNone) {
    AppendObject(snapshot, snapshot.objects[sync.object], out);
  } else {
    const bool fence = (sync.flags & kSyncFence) != 0;
    fmt::format_to(std::back_inserter(out), "{} {:#x}", fence ? "fence" : "semaphore",
                   sync.native_handle);
  }
  if ((sync.flags & (kSyncBinary | kSyncFence)) == 0) {
    fmt::format_to(std::back_inserter(out), " to reach {}", sync.value);
  }
}

void AppendCycle(const Snapshot& snapshot, const WaitGraph& waits,
                 const std::vector<uint32_t>& cycle, std::string& out) {
  for (size_t i = 0; i < cycle.size(); ++i) {
    const Sync& sync = snapshot.syncs[waits.waits[cycle[i]].sync];
    if (i == 0) AppendQueue(snapshot, sync.queue, out);
    out += i == 0 ? " waits for " : ", which waits for ";
    const Wait& next = waits.waits[cycle[(i + 1) % cycle.size()]];
    if (i + 1 == cycle.size()) {
      out += cycle.size() == 1 ? "itself" : "the first one";
    } else {
      AppendQueue(snapshot, snapshot.syncs[next.sync].queue, out);
    }
    out += " (";
    AppendSync(snapshot, sync, out);
    out += ')';
  }
  if (cycle.size() == 1) AppendOwnWait(snapshot, waits.waits[cycle[0]], out);
}

void AppendDevice(const Snapshot& snapshot, uint32_t device_index, std::string& out) {
  const Device& device = snapshot.devices[device_index];
  AppendVisibleText(device.name.empty() ? ApiName(device.api) : snapshot.Text(device.name), out);
  if (device.driver.empty()) return;
  out += ", driver ";
  AppendVisibleText(snapshot.Text(device.driver), out);
}

std::string_view ListWord(const Snapshot& snapshot, uint32_t device) {
  return IsVulkan(snapshot, device) ? "command buffer" : "command list";
}

void AppendListPath(const Snapshot& snapshot, const Execution& execution, std::string& out) {
  const Recording& recording = snapshot.recordings[execution.recording];
  fmt::format_to(std::back_inserter(out), "frame {}: ", execution.frame);
  if (recording.name.empty()) {
    fmt::format_to(std::back_inserter(out), "{} {}", ListWord(snapshot, recording.device),
                   recording.recording_id);
  } else {
    AppendQuoted(snapshot.Text(recording.name), out);
  }
  AppendExecutionNotes(snapshot, execution, out);
}

void AppendScopePath(const Snapshot& snapshot, const Analysis& analysis, const Scope& scope,
                     std::string& out, ScopeDetail detail) {
  // Collect scopes from the inside out.
  const Scope* path[kPathScopesShown];
  size_t length = 0;
  const Scope* current = &scope;
  while (true) {
    path[length++] = current;
    if (current->parent == kNone || length == kPathScopesShown) break;
    current = &analysis.scopes[current->parent];
  }
  if (current->parent != kNone) out += " > …";
  while (length-- > 0) {
    out += " > ";
    AppendScope(snapshot, *path[length], detail, out);
  }
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
  out += IsVulkan(snapshot, queue.device) ? VulkanQueueWord(queue.type) : QueueTypeWord(queue.type);
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
