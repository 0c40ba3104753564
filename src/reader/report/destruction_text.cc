// SPDX-License-Identifier: Apache-2.0
#include "reader/report/destruction_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "format/snapshot/object_kinds.h"
#include "reader/report/describe.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

const Incident* FirstIncident(const Snapshot& snapshot) {
  for (const Incident& incident : snapshot.incidents) {
    if (incident.kind != IncidentKind::kRequested && incident.time_ns != 0) return &incident;
  }
  return nullptr;
}

std::string_view MomentOf(const Incident& incident) {
  switch (incident.kind) {
    case IncidentKind::kDeviceLost: return "the loss";
    case IncidentKind::kHang: return "the hang was noticed";
    case IncidentKind::kExited: return "the exit";
    default: return "the end";
  }
}

// `buffer "Particles"`, or what it was made as; `buffer 0x55d0` if neither is known.
void AppendThing(const Snapshot& snapshot, uint32_t kind, uint64_t handle, uint32_t object,
                 std::string& out) {
  if (object != kNone &&
      (!snapshot.objects[object].name.empty() || snapshot.objects[object].description != 0)) {
    AppendObject(snapshot, snapshot.objects[object], out);
    return;
  }
  out += ObjectKindWord(kind);
  fmt::format_to(std::back_inserter(out), " {:#x}", handle);
}

// Null for kind 0.
void WriteThing(std::string_view key, uint32_t kind, uint64_t handle, uint32_t object,
                JsonWriter* json) {
  if (kind == 0) return json->NullKey(key);
  json->BeginObject(key);
  json->StringKey("kind", ObjectKindWord(kind));
  json->HexKey("native_handle", handle);
  json->IndexKey("object", object);
  json->EndObject();
}

// "was destroyed"; memory is freed.
std::string_view EndOf(uint32_t kind) {
  return kind == kVulkanMemoryKind ? "freed" : "destroyed";
}

}  // namespace

std::optional<int64_t> BeforeIncidentNs(const Snapshot& snapshot, const Destruction& destruction) {
  const Process& process = snapshot.process;
  const Incident* const incident = FirstIncident(snapshot);
  if (incident == nullptr || process.start_monotonic_ns == 0) return std::nullopt;
  const uint64_t time_ns = incident->time_ns - process.start_time_ns + process.start_monotonic_ns;
  return static_cast<int64_t>(time_ns - destruction.time_ns);
}

uint32_t SubmissionBefore(const Snapshot& snapshot, const Destruction& destruction) {
  const auto after = std::upper_bound(
      snapshot.submissions.begin(), snapshot.submissions.end(), destruction.submission_serial,
      [](uint64_t serial, const Submission& submission) { return serial < submission.serial; });
  if (after == snapshot.submissions.begin()) return kNone;
  return static_cast<uint32_t>(std::prev(after) - snapshot.submissions.begin());
}

void AppendHowItEnded(const Snapshot& snapshot, uint32_t kind, uint32_t index, std::string& out) {
  if (index != kNone && snapshot.destructions[index].cause_kind != 0) {
    const Destruction& destruction = snapshot.destructions[index];
    out += ", whose ";
    AppendThing(snapshot, destruction.cause_kind, destruction.cause_handle,
                destruction.cause_object, out);
    out += " was ";
    out += EndOf(destruction.cause_kind);
    return;
  }
  out += ", ";
  out += EndOf(kind);
}

std::string MomentInWords(int64_t after_ns, std::string_view what) {
  return fmt::format("{} {} {}", DurationInWords(after_ns), after_ns < 0 ? "before" : "after",
                     what);
}

void AppendDestroyedBy(const Snapshot& snapshot, uint32_t index, std::string_view moment,
                       std::string& out) {
  const auto append = [&out]<typename... Arguments>(fmt::format_string<Arguments...> format,
                                                    Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
  };
  if (index == kNone) {
    if (!moment.empty()) append(" {}", moment);
    return;
  }
  const Destruction& destruction = snapshot.destructions[index];
  out += " by thread ";
  if (!destruction.thread_name.empty()) {
    out += '"';
    AppendVisibleText(snapshot.Text(destruction.thread_name), out);
    out += "\" ";
  }
  append("({}) in frame {}", destruction.thread_id, destruction.frame);
  const uint32_t submission = SubmissionBefore(snapshot, destruction);
  if (submission != kNone) {
    append(", after submission {} of queue {}", snapshot.submissions[submission].number,
           snapshot.submissions[submission].queue);
  }
  const std::optional<int64_t> before = BeforeIncidentNs(snapshot, destruction);
  if (!moment.empty()) {
    append(", {}", moment);
  } else if (before) {
    // Hostile times may be the least number, whose negative is none.
    const auto after = static_cast<int64_t>(0 - static_cast<uint64_t>(*before));
    append(", {}", MomentInWords(after, MomentOf(*FirstIncident(snapshot))));
  }
}

std::string MomentOfBinding(const Binding& binding) {
  if (binding.destroyed_after_ns == 0) return {};
  return MomentInWords(binding.destroyed_after_ns,
                       binding.since_submission ? "the submission" : "this report");
}

void AppendDescriptorBinding(const Snapshot& snapshot, const Binding& binding, std::string& out) {
  const auto append = [&out]<typename... Arguments>(fmt::format_string<Arguments...> format,
                                                    Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
  };
  const DescriptorSet& set = snapshot.descriptor_sets[binding.descriptor_set];
  append("descriptor set {}", binding.slot);
  if ((set.in_buffers || set.pushed) && binding.descriptor == kNone) {
    out += set.pushed ? ": pushed descriptors, which are not looked into"
                      : ": in a descriptor buffer, which is not looked into";
    return;
  }
  if (binding.descriptor == kNone) {
    append(
        ": {} descriptor{}, in arrays that may be partially bound or are large, {} not looked into",
        GroupedDigits(set.unseen_count), Plural(set.unseen_count, "", "s"),
        Plural(set.unseen_count, "is", "are"));
    return;
  }
  const Descriptor& descriptor = snapshot.descriptors[binding.descriptor];
  append(" binding {}", descriptor.binding);
  if (descriptor.element != 0) append("[{}]", descriptor.element);
  out += ": ";
  const Destruction& destruction = snapshot.destructions[binding.destruction];
  AppendThing(snapshot, descriptor.kind, descriptor.native_handle, destruction.object, out);
  if (destruction.owner_kind != 0) {
    out += " of ";
    AppendThing(snapshot, destruction.owner_kind, destruction.owner_handle,
                destruction.owner_object, out);
  }
  AppendHowItEnded(snapshot, descriptor.kind, binding.destruction, out);
  AppendDestroyedBy(snapshot, binding.destruction, MomentOfBinding(binding), out);
}

void WriteDestruction(const Snapshot& snapshot, std::string_view key, uint32_t index,
                      JsonWriter* json) {
  if (index == kNone) return json->NullKey(key);
  const Destruction& destruction = snapshot.destructions[index];
  json->BeginObject(key);
  json->StringKey("kind", ObjectKindWord(destruction.kind));
  json->HexKey("native_handle", destruction.native_handle);
  json->IndexKey("object", destruction.object);
  WriteThing("cause", destruction.cause_kind, destruction.cause_handle, destruction.cause_object,
             json);
  WriteThing("owner", destruction.owner_kind, destruction.owner_handle, destruction.owner_object,
             json);
  json->NumberKey("thread", destruction.thread_id);
  std::string name;
  AppendVisibleText(snapshot.Text(destruction.thread_name), name);
  json->StringKey("thread_name", name);
  const std::string time = MonotonicTimeInWords(snapshot.process, destruction.time_ns);
  time.empty() ? json->NullKey("time") : json->StringKey("time", time);
  const auto before = BeforeIncidentNs(snapshot, destruction);
  before ? json->SignedKey("before_incident_ns", *before) : json->NullKey("before_incident_ns");
  json->NumberKey("frame", destruction.frame);
  const uint32_t submission = SubmissionBefore(snapshot, destruction);
  if (submission == kNone) {
    json->NullKey("queue");
    json->NullKey("submission");
  } else {
    json->IndexKey("queue", snapshot.submissions[submission].queue);
    json->NumberKey("submission", snapshot.submissions[submission].number);
  }
  json->EndObject();
}

}  // namespace cairn
