// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/describe.h"
#include "report/json_writer.h"
#include "report/words.h"
#include "snapshot/marker_type_name.h"

namespace cairn {
namespace {

constexpr uint32_t kReportVersion = 1;

class JsonReporter {
 public:
  JsonReporter(const Snapshot& snapshot, const Analysis& analysis, std::string* out)
      : snapshot_(snapshot), analysis_(analysis), json_(out) {}

  void Write() {
    json_.BeginObject();
    StringKey("format", "cairn-report");
    NumberKey("version", kReportVersion);
    WriteProcess();
    WriteIncidents();
    WriteDevices();
    WriteQueues();
    WritePipelines();
    WriteVerdicts();
    WriteExecutions();
    WriteScopeTrees();
    WriteRawMarkers();
    json_.Key("losses");
    json_.BeginArray();
    for (const TextRef& loss : snapshot_.losses) json_.String(snapshot_.Text(loss));
    json_.EndArray();
    json_.EndObject();
  }

 private:
  void StringKey(std::string_view key, std::string_view value) {
    json_.Key(key);
    json_.String(value);
  }
  void TextKey(std::string_view key, TextRef text) { StringKey(key, snapshot_.Text(text)); }
  void NumberKey(std::string_view key, uint64_t value) {
    json_.Key(key);
    json_.Number(value);
  }
  void HexKey(std::string_view key, uint64_t value) {
    json_.Key(key);
    json_.Hex(value);
  }
  void BoolKey(std::string_view key, bool value) {
    json_.Key(key);
    json_.Bool(value);
  }
  // null for kNone.
  void IndexKey(std::string_view key, uint32_t index) {
    json_.Key(key);
    if (index == kNone) {
      json_.Null();
    } else {
      json_.Number(index);
    }
  }
  // Times are in ns since 1970, which is beyond what readers keep of a number: text.
  void TimeKey(std::string_view key, uint64_t time_ns) {
    json_.Key(key);
    if (time_ns == 0) {
      json_.Null();
    } else {
      json_.String(TimeInWords(time_ns));
    }
  }

  void WriteProcess();
  void WriteIncidents();
  void WriteDevices();
  void WriteSources(const Device& device);
  void WriteQueues();
  void WritePipelines();
  void WriteVerdicts();
  void WriteCandidate(uint32_t scope, uint32_t execution);
  void WriteExecutions();
  void WriteScopeTrees();
  void WriteScope(uint32_t index, const Recording& recording);
  void WriteRawMarkers();
  void WriteScopeName(const Scope& scope);

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  JsonWriter json_;
  std::string name_;
};

void JsonReporter::WriteProcess() {
  const Process& process = snapshot_.process;
  json_.Key("process");
  json_.BeginObject();
  NumberKey("id", process.process_id);
  TextKey("program", process.program);
  TextKey("command_line", process.command_line);
  TextKey("library_version", process.library_version);
  TimeKey("started", process.start_time_ns);
  TimeKey("seen", process.snapshot_time_ns);
  json_.EndObject();
}

void JsonReporter::WriteIncidents() {
  json_.Key("incidents");
  json_.BeginArray();
  for (const Incident& incident : snapshot_.incidents) {
    json_.BeginObject();
    StringKey("kind", IncidentWord(incident.kind));
    json_.Key("value");
    json_.SignedNumber(incident.value);
    std::string_view name;
    if (incident.kind == IncidentKind::kSignal) name = SignalName(incident.value);
    if (incident.kind == IncidentKind::kDeviceLost) name = DeviceLostCodeName(incident.value);
    StringKey("name", name);
    TimeKey("time", incident.time_ns);
    IndexKey("queue", incident.queue);
    HexKey("address", incident.address);
    TextKey("detail", incident.detail);
    StringKey("sentence", IncidentSentence(snapshot_, incident));
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteDevices() {
  json_.Key("devices");
  json_.BeginArray();
  for (const Device& device : snapshot_.devices) {
    json_.BeginObject();
    TextKey("name", device.name);
    TextKey("driver", device.driver);
    TextKey("notes", device.notes);
    NumberKey("vendor_id", device.vendor_id);
    NumberKey("device_id", device.device_id);
    StringKey("api", ApiWord(device.api));
    StringKey("marker_mode", ModeWord(device.mode));
    StringKey("marker_mode_tells", ModeSentence(device.mode));
    StringKey("write_method", MethodName(device.method));
    StringKey("word_memory", MemoryWord(device.memory));
    StringKey("word_memory_tells", MemorySentence(device));
    NumberKey("mirror_period_us", device.mirror_period_us);
    NumberKey("frame", device.frame);
    NumberKey("lists_dropped", device.lists_dropped);
    BoolKey("destroyed", device.destroyed);
    BoolKey("device_lost", device.device_lost);
    json_.Key("device_lost_code");
    json_.SignedNumber(device.device_lost_code);
    WriteSources(device);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteSources(const Device& device) {
  json_.Key("sources");
  json_.BeginArray();
  for (uint32_t i = 0; i < device.source_count; ++i) {
    const Source& source = snapshot_.sources[device.first_source + i];
    json_.BeginObject();
    TextKey("name", source.name);
    StringKey("state", SourceStateWord(source.state));
    TextKey("reason", source.reason);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteQueues() {
  json_.Key("queues");
  json_.BeginArray();
  for (const Queue& queue : snapshot_.queues) {
    json_.BeginObject();
    IndexKey("device", queue.device);
    StringKey("type", QueueTypeWord(queue.type));
    TextKey("name", queue.name);
    HexKey("native_handle", queue.native_handle);
    NumberKey("submission_count", queue.submission_count);
    NumberKey("completed_submission", queue.completed_submission);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WritePipelines() {
  json_.Key("pipelines");
  json_.BeginArray();
  for (const Pipeline& pipeline : snapshot_.pipelines) {
    json_.BeginObject();
    IndexKey("device", pipeline.device);
    StringKey("kind", PipelineKind(pipeline));
    TextKey("name", pipeline.name);
    json_.Key("shaders");
    json_.BeginObject();
    for (uint32_t stage = 0; stage < kStageCount; ++stage) {
      if (pipeline.shader_names[stage].empty()) continue;
      TextKey(ShaderStageWord(stage), pipeline.shader_names[stage]);
    }
    json_.EndObject();
    HexKey("native_handle", pipeline.native_handle);
    BoolKey("unregistered", pipeline.unregistered);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteScopeName(const Scope& scope) {
  const Event& event = snapshot_.events[scope.event];
  name_.clear();
  AppendMarkerType(event.type, name_);
  StringKey("type", name_);
  NumberKey("ordinal", scope.ordinal);
  TextKey("name", event.name);
  IndexKey("pipeline", event.pipeline);
}

void JsonReporter::WriteCandidate(uint32_t scope_index, uint32_t execution) {
  const Scope& scope = analysis_.scopes[scope_index];
  json_.BeginObject();
  NumberKey("execution", execution);
  NumberKey("scope", scope_index);
  WriteScopeName(scope);
  json_.EndObject();
}

void JsonReporter::WriteVerdicts() {
  json_.Key("verdicts");
  json_.BeginArray();
  for (const QueueVerdict& verdict : analysis_.verdicts) {
    json_.BeginObject();
    IndexKey("device", verdict.device);
    IndexKey("queue", verdict.queue);
    BoolKey("exact", verdict.exact);
    StringKey("reason", verdict.reason);
    json_.Key("candidates");
    json_.BeginArray();
    for (size_t i = 0; i < verdict.candidates.size(); ++i) {
      WriteCandidate(verdict.candidates[i], verdict.candidate_executions[i]);
    }
    json_.EndArray();
    json_.Key("list_candidates");
    json_.BeginArray();
    for (uint32_t execution : verdict.list_candidates) json_.Number(execution);
    json_.EndArray();
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteExecutions() {
  json_.Key("executions");
  json_.BeginArray();
  for (const Execution& execution : analysis_.executions) {
    const Recording& recording = snapshot_.recordings[execution.recording];
    json_.BeginObject();
    StringKey("state", WorkStateWord(execution.state));
    IndexKey("device", recording.device);
    NumberKey("frame", recording.frame);
    IndexKey("queue", QueueOfExecution(snapshot_, execution));
    TextKey("name", recording.name);
    NumberKey("recording_id", recording.recording_id);
    NumberKey("run", execution.run);
    json_.Key("submission_number");
    if (execution.submission == kNone) {
      json_.Null();
    } else {
      json_.Number(snapshot_.submissions[execution.submission].number);
    }
    NumberKey("submission_index", recording.submission_index);
    HexKey("native_handle", recording.native_handle);
    BoolKey("open", recording.open);
    BoolKey("reusable", recording.reusable);
    NumberKey("event_count", recording.event_count);
    NumberKey("dropped_count", recording.dropped_count);
    NumberKey("reached", recording.reached);
    NumberKey("passed", recording.passed);
    NumberKey("first_scope", execution.first_scope);
    NumberKey("scope_count", execution.scope_count);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteScope(uint32_t index, const Recording& recording) {
  const Scope& scope = analysis_.scopes[index];
  json_.BeginObject();
  StringKey("state", WorkStateWord(scope.state));
  WriteScopeName(scope);
  NumberKey("depth", scope.depth);
  IndexKey("parent", scope.parent);
  NumberKey("begin", scope.event - recording.first_event + 1);
  json_.Key("end");
  if (scope.left_open) {
    json_.Null();
  } else {
    json_.Number(scope.end_sequence);
  }
  json_.EndObject();
}

// Flat, parents before children: a document that nested as deep as a hostile list would be refused by
// many readers.
void JsonReporter::WriteScopeTrees() {
  json_.Key("scopes");
  json_.BeginArray();
  // Executions may share scopes; each scope stands once.
  std::vector<uint32_t> recordings(analysis_.scopes.size(), kNone);
  for (const Execution& execution : analysis_.executions) {
    std::fill_n(recordings.begin() + execution.first_scope, execution.scope_count,
                execution.recording);
  }
  for (uint32_t i = 0; i < recordings.size(); ++i) {
    if (recordings[i] != kNone) WriteScope(i, snapshot_.recordings[recordings[i]]);
  }
  json_.EndArray();
}

void JsonReporter::WriteRawMarkers() {
  json_.Key("raw_markers");
  json_.BeginArray();
  for (const RawMarker& marker : snapshot_.raw_markers) {
    json_.BeginObject();
    IndexKey("device", marker.device);
    NumberKey("slot", marker.index);
    HexKey("value", marker.value);
    json_.EndObject();
  }
  json_.EndArray();
}

}  // namespace

std::string JsonReport(const Snapshot& snapshot, const Analysis& analysis) {
  std::string out;
  constexpr size_t kBytesPerScope = 192;
  out.reserve(65536 + analysis.scopes.size() * kBytesPerScope);
  JsonReporter(snapshot, analysis, &out).Write();
  out += '\n';
  return out;
}

}  // namespace cairn
