// SPDX-License-Identifier: Apache-2.0
#include "reader/report/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/json_writer.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "format/snapshot/marker_type_name.h"
#include "reader/analysis/work_class.h"
#include "reader/report/arguments_text.h"
#include "reader/report/call_text.h"
#include "reader/report/describe.h"
#include "reader/report/json_diagnostics.h"
#include "reader/report/json_verdict.h"
#include "reader/report/reason_text.h"
#include "reader/report/signature.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

constexpr uint32_t kReportVersion = 1;

class JsonReporter {
 public:
  JsonReporter(const Snapshot& snapshot, const Findings& findings, std::string* out,
               const std::function<void()>& on_full, uint64_t most_bytes)
      : snapshot_(snapshot),
        findings_(findings),
        analysis_(findings.analysis),
        json_(out, JsonWriter::kManyLines, on_full),
        most_bytes_(most_bytes) {
    json_.LimitTexts();
    json_.LimitBytes(most_bytes);
  }

  void Write() {
    json_.BeginObject();
    json_.StringKey("format", "cairn-report");
    json_.NumberKey("version", kReportVersion);
    WriteFinding(snapshot_, findings_, &json_);
    WriteSignature(SignatureOf(snapshot_, findings_), &json_);
    WriteProcess();
    WriteIncidents();
    WriteDevices();
    WriteQueues();
    WritePipelines();
    WriteVerdicts();
    WriteExecutions();
    WriteScopeTrees();
    WriteAnnotations();
    WriteReportedEventIds();
    WriteSubmissions();
    WriteQueueMarkers();
    WriteThreads();
    WriteObjects();
    WriteRawMarkers();
    WriteRawMarkerVerdicts();
    WriteDiagnostics(snapshot_, findings_, &json_);
    json_.MakeRoomForTheEnd();
    json_.BeginArray("losses");
    for (const TextRef& loss : snapshot_.losses) json_.String(snapshot_.Text(loss));
    json_.MakeRoomForTheEnd();  // losses may be many
    if (json_.cut_count() != 0) {
      json_.String(
          fmt::format("{} texts are cut after {} bytes: together they would be longer than "
                      "{} bytes.",
                      json_.cut_count(), JsonWriter::kKeptTextBytes, JsonWriter::kMostTextBytes));
    }
    if (json_.left_out_count() != 0) {
      json_.String(
          fmt::format("{} values of arrays are left out: a report of this file has no more than "
                      "{} bytes.",
                      GroupedDigits(json_.left_out_count()), GroupedDigits(most_bytes_)));
    }
    json_.EndArray();
    json_.EndObject();
  }

 private:
  void TextKey(std::string_view key, TextRef text) { json_.StringKey(key, snapshot_.Text(text)); }
  // Times are in ns since 1970, which is beyond what readers keep of a number: text.
  void TimeKey(std::string_view key, uint64_t time_ns) {
    time_ns == 0 ? json_.NullKey(key) : json_.StringKey(key, TimeInWords(time_ns));
  }

  void WriteProcess();
  void WriteIncidents();
  void WriteDevices();
  void WriteSources(const Device& device);
  void WriteQueues();
  void WritePipelines();
  void WriteLateSuspect(const QueueVerdict& verdict);
  void WriteVerdicts();
  void WriteCandidate(const QueueVerdict& verdict, size_t number, const CandidateContext& context);
  void WriteExecutions();
  void WriteScopeTrees();
  void WriteScope(uint32_t index, const Recording& recording);
  void WriteCandidateContext(const CandidateContext& context);
  void WriteAnnotations();
  void WriteReportedEventIds();
  void WriteSubmissions();
  void WriteQueueMarkers();
  void WriteThreads();
  void WriteCall(const Thread& thread, const Call& call);
  void WriteObjects();
  void WriteRawMarkers();
  void WriteRawMarkerVerdicts();
  // Seconds since the program started; null where the snapshot does not say.
  void MonotonicKey(std::string_view key, uint64_t time_ns);
  void WriteScopeName(const Scope& scope);

  const Snapshot& snapshot_;
  const Findings& findings_;
  const Analysis& analysis_;  // of these
  JsonWriter json_;
  const uint64_t most_bytes_;
  std::string name_;
};

void JsonReporter::WriteProcess() {
  const Process& process = snapshot_.process;
  json_.BeginObject("process");
  json_.NumberKey("id", process.process_id);
  TextKey("program", process.program);
  TextKey("command_line", process.command_line);
  TextKey("library_version", process.library_version);
  TimeKey("started", process.start_time_ns);
  TimeKey("seen", process.snapshot_time_ns);
  json_.EndObject();
}

void JsonReporter::WriteIncidents() {
  json_.BeginArray("incidents");
  for (const Incident& incident : snapshot_.incidents) {
    json_.BeginObject();
    json_.StringKey("kind", IncidentWord(incident.kind));
    json_.SignedKey("value", incident.value);
    std::string_view name;
    if (incident.kind == IncidentKind::kSignal) name = SignalName(incident.value);
    if (incident.kind == IncidentKind::kDeviceLost) name = DeviceLostCodeName(incident.value);
    json_.StringKey("name", name);
    TimeKey("time", incident.time_ns);
    json_.IndexKey("queue", incident.queue);
    json_.HexKey("address", incident.address);
    TextKey("detail", incident.detail);
    json_.StringKey("sentence", IncidentSentence(snapshot_, incident));
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteDevices() {
  json_.BeginArray("devices");
  for (const Device& device : snapshot_.devices) {
    json_.BeginObject();
    TextKey("name", device.name);
    TextKey("driver", device.driver);
    TextKey("notes", device.notes);
    json_.NumberKey("vendor_id", device.vendor_id);
    json_.NumberKey("device_id", device.device_id);
    json_.StringKey("api", ApiWord(device.api));
    json_.StringKey("marker_mode", ModeWord(device.mode));
    json_.StringKey("marker_mode_tells", ModeSentence(device.mode));
    json_.StringKey("write_method", MethodName(device.method));
    json_.StringKey("word_memory", MemoryWord(device.memory));
    json_.StringKey("word_memory_tells", MemorySentence(device));
    TextKey("application", device.application);
    TextKey("annotation_driver", device.annotation_driver);
    json_.BoolKey("annotations_forced", device.annotations_forced);
    json_.NumberKey("mirror_period_us", device.mirror_period_us);
    json_.NumberKey("frame", device.frame);
    json_.NumberKey("lists_dropped", device.lists_dropped);
    json_.BoolKey("destroyed", device.destroyed);
    json_.BoolKey("device_lost", device.device_lost);
    json_.SignedKey("device_lost_code", device.device_lost_code);
    WriteSources(device);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteSources(const Device& device) {
  json_.BeginArray("sources");
  for (uint32_t i = 0; i < device.source_count; ++i) {
    const Source& source = snapshot_.sources[device.first_source + i];
    json_.BeginObject();
    TextKey("name", source.name);
    json_.StringKey("state", SourceStateWord(source.state));
    TextKey("reason", source.reason);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteQueues() {
  json_.BeginArray("queues");
  for (const Queue& queue : snapshot_.queues) {
    json_.BeginObject();
    json_.IndexKey("device", queue.device);
    json_.StringKey("type", QueueTypeWord(queue.type));
    TextKey("name", queue.name);
    json_.HexKey("native_handle", queue.native_handle);
    json_.NumberKey("submission_count", queue.submission_count);
    json_.NumberKey("completed_submission", queue.completed_submission);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WritePipelines() {
  json_.BeginArray("pipelines");
  for (const Pipeline& pipeline : snapshot_.pipelines) {
    json_.BeginObject();
    json_.IndexKey("device", pipeline.device);
    json_.StringKey("kind", PipelineKind(pipeline));
    TextKey("name", pipeline.name);
    json_.BeginObject("shaders");
    for (uint32_t stage = 0; stage < kStageCount; ++stage) {
      if (pipeline.shader_names[stage].empty()) continue;
      TextKey(ShaderStageWord(stage), pipeline.shader_names[stage]);
    }
    json_.EndObject();
    json_.BeginObject("shader_hashes");
    for (uint32_t stage = 0; stage < kStageCount; ++stage) {
      if (pipeline.shader_hashes[stage] == 0) continue;
      json_.StringKey(ShaderStageWord(stage),
                      fmt::format("{:016x}", pipeline.shader_hashes[stage]));
    }
    json_.EndObject();
    json_.HexKey("native_handle", pipeline.native_handle);
    json_.BoolKey("unregistered", pipeline.unregistered);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteScopeName(const Scope& scope) {
  const Event& event = snapshot_.events[scope.event];
  name_.clear();
  AppendMarkerType(event.type, name_);
  json_.StringKey("type", name_);
  json_.NumberKey("ordinal", scope.ordinal);
  TextKey("name", event.name);
  json_.IndexKey("pipeline", PipelineOf(snapshot_, scope));
  json_.IndexKey("annotation", event.detail);
  if (event.call != 0) json_.NumberKey("call", event.call);
  WriteArguments(snapshot_, scope.event, name_, &json_);
}

void JsonReporter::WriteCandidateContext(const CandidateContext& context) {
  json_.IndexKey("annotation_scope", context.annotation_scope);
  json_.BeginArray("bindings");
  for (uint32_t i = 0; i < context.binding_count; ++i) {
    WriteBinding(snapshot_, analysis_.bindings[context.first_binding + i], &json_);
  }
  json_.EndArray();
}

void JsonReporter::WriteCandidate(const QueueVerdict& verdict, size_t number,
                                  const CandidateContext& context) {
  const Scope& scope = analysis_.scopes[verdict.candidates[number]];
  json_.BeginObject();
  json_.NumberKey("execution", verdict.candidate_executions[number]);
  json_.NumberKey("scope", verdict.candidates[number]);
  WriteScopeName(scope);
  WriteCandidateContext(context);
  json_.EndObject();
}

void JsonReporter::WriteLateSuspect(const QueueVerdict& verdict) {
  if (verdict.late_suspect == kNone) return json_.NullKey("late_suspect");
  json_.BeginObject("late_suspect");
  json_.NumberKey("execution", verdict.late_suspect_execution);
  json_.NumberKey("scope", verdict.late_suspect);
  WriteScopeName(analysis_.scopes[verdict.late_suspect]);
  json_.EndObject();
}

void JsonReporter::WriteVerdicts() {
  json_.BeginArray("verdicts");
  for (const QueueVerdict& verdict : analysis_.verdicts) {
    json_.BeginObject();
    json_.IndexKey("device", verdict.device);
    json_.IndexKey("queue", verdict.queue);
    json_.BoolKey("unknown", verdict.unknown);
    json_.BoolKey("ends_unseen", verdict.ends_unseen);
    json_.BoolKey("exact", verdict.exact);
    name_.clear();
    AppendQueueReason(snapshot_, analysis_, verdict, name_);
    json_.StringKey("reason", name_);
    json_.BeginArray("candidates");
    auto context = verdict.contexts.begin();
    for (size_t i = 0; i < verdict.candidates.size(); ++i) {
      const bool explained = context != verdict.contexts.end() && context->candidate == i;
      WriteCandidate(verdict, i, explained ? *context++ : CandidateContext{});
    }
    json_.EndArray();
    WriteLateSuspect(verdict);
    json_.BeginArray("list_candidates");
    for (uint32_t execution : verdict.list_candidates) json_.Number(execution);
    json_.EndArray();
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteExecutions() {
  json_.BeginArray("executions");
  for (const Execution& execution : analysis_.executions) {
    const Recording& recording = snapshot_.recordings[execution.recording];
    json_.BeginObject();
    json_.StringKey("state", WorkStateWord(execution.state));
    json_.IndexKey("device", recording.device);
    json_.NumberKey("frame", execution.frame);
    json_.IndexKey("queue", QueueOfExecution(snapshot_, execution));
    TextKey("name", recording.name);
    json_.NumberKey("recording_id", recording.recording_id);
    json_.NumberKey("run", execution.run);
    execution.submission == kNone
        ? json_.NullKey("submission_number")
        : json_.NumberKey("submission_number", snapshot_.submissions[execution.submission].number);
    json_.NumberKey("submission_index", recording.submission_index);
    json_.HexKey("native_handle", recording.native_handle);
    json_.BoolKey("open", recording.open);
    json_.BoolKey("reusable", recording.reusable);
    json_.BoolKey("secondary", recording.secondary);
    json_.NumberKey("event_count", recording.event_count);
    json_.NumberKey("dropped_count", recording.dropped_count);
    json_.NumberKey("reached", recording.reached);
    json_.NumberKey("passed", recording.passed);
    json_.NumberKey("first_scope", execution.first_scope);
    json_.NumberKey("scope_count", execution.scope_count);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteScope(uint32_t index, const Recording& recording) {
  const Scope& scope = analysis_.scopes[index];
  json_.BeginObject();
  json_.StringKey("state", WorkStateWord(scope.state));
  WriteScopeName(scope);
  json_.NumberKey("depth", scope.depth);
  json_.IndexKey("parent", scope.parent);
  json_.NumberKey("begin", scope.event - recording.first_event + 1);
  scope.left_open ? json_.NullKey("end") : json_.NumberKey("end", scope.end_sequence);
  json_.EndObject();
}

// Flat, parents before children: a document that nested as deep as a hostile list would be refused by
// many readers.
void JsonReporter::WriteScopeTrees() {
  json_.BeginArray("scopes");
  // Executions may share scopes; each scope stands once.
  std::vector<uint32_t> recordings(analysis_.scopes.size(), kNone);
  for (const Execution& execution : analysis_.executions) {
    if (execution.scope_count == 0 || recordings[execution.first_scope] != kNone) continue;
    std::fill_n(recordings.begin() + execution.first_scope, execution.scope_count,
                execution.recording);
  }
  for (uint32_t i = 0; i < recordings.size(); ++i) {
    if (recordings[i] != kNone) WriteScope(i, snapshot_.recordings[recordings[i]]);
  }
  json_.EndArray();
}

void JsonReporter::MonotonicKey(std::string_view key, uint64_t time_ns) {
  const std::string time = MonotonicTimeInWords(snapshot_.process, time_ns);
  time.empty() ? json_.NullKey(key) : json_.StringKey(key, time);
}

void JsonReporter::WriteAnnotations() {
  json_.BeginArray("annotations");
  for (const Annotation& annotation : snapshot_.annotations) {
    json_.BeginObject();
    json_.HexKey("event_id", annotation.event_id);
    TextKey("name", annotation.name);
    annotation.has_colour ? json_.HexKey("colour", annotation.colour) : json_.NullKey("colour");
    json_.NumberKey("metadata", annotation.metadata);
    json_.NumberKey("size", annotation.size_bytes);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteReportedEventIds() {
  json_.BeginArray("reported_event_ids");
  for (size_t i = 0; i < snapshot_.reported_event_ids.size(); ++i) {
    const ReportedEventId& reported = snapshot_.reported_event_ids[i];
    json_.BeginObject();
    json_.IndexKey("device", reported.device);
    json_.HexKey("event_id", reported.event_id);
    json_.StringKey("state", EventIdStateWord(reported.state));
    json_.IndexKey("annotation", reported.annotation);
    json_.IndexKey("scope", analysis_.reported_scopes[i]);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteSubmissions() {
  json_.BeginArray("submissions");
  for (size_t i = 0; i < snapshot_.submissions.size(); ++i) {
    const Submission& submission = snapshot_.submissions[i];
    json_.BeginObject();
    json_.IndexKey("queue", submission.queue);
    json_.NumberKey("number", submission.number);
    json_.IndexKey("execution", findings_.submission_executions[i]);
    MonotonicKey("time", submission.time_ns);
    json_.EndObject();
  }
  json_.EndArray();
  json_.BeginArray("empty_submissions");
  for (const EmptySubmission& submission : findings_.empty_submissions) {
    json_.BeginObject();
    json_.IndexKey("queue", submission.queue);
    json_.NumberKey("number", submission.number);
    MonotonicKey("time", submission.time_ns);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteQueueMarkers() {
  json_.BeginArray("queue_markers");
  for (const QueueMarker& marker : snapshot_.queue_markers) {
    json_.BeginObject();
    json_.IndexKey("queue", marker.queue);
    json_.HexKey("native_handle", marker.native_handle);
    json_.StringKey("kind", QueueMarkerKindWord(marker.kind));
    json_.NumberKey("submissions_before", marker.submission);
    json_.IndexKey("annotation", marker.annotation);
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteCall(const Thread& thread, const Call& call) {
  json_.BeginObject();
  json_.NumberKey("number", call.number);
  TextKey("function", call.function);
  json_.HexKey("object", call.object);
  json_.BoolKey("returned", call.returned);
  json_.BeginArray("arguments");
  for (const CallArgument& argument : ArgumentsOf(snapshot_, thread, call)) {
    WriteArgument(snapshot_, argument, &json_);
  }
  json_.EndArray();
  json_.EndObject();
}

void JsonReporter::WriteThreads() {
  json_.BeginArray("threads");
  for (const Thread& thread : snapshot_.threads) {
    json_.BeginObject();
    json_.NumberKey("id", thread.thread_id);
    TextKey("name", thread.name);
    json_.BoolKey("ended", thread.ended);
    json_.BoolKey("crashed", thread.crashed);
    json_.BeginArray("calls");
    for (uint32_t i = 0; i < thread.call_count; ++i) {
      WriteCall(thread, snapshot_.calls[thread.first_call + i]);
    }
    json_.EndArray();
    json_.EndObject();
  }
  json_.EndArray();
}

// Free entries are there as well, so that indices stay what they are.
void JsonReporter::WriteObjects() {
  json_.BeginArray("objects");
  for (const Object& object : snapshot_.objects) {
    json_.BeginObject();
    json_.StringKey("state", ObjectStateWord(object.state));
    if (object.state != ObjectState::kFree) {
      json_.StringKey("kind", ObjectKindWord(object.kind));
      json_.NumberKey("kind_number", object.kind);
      json_.IndexKey("device", object.device);
      TextKey("name", object.name);
      json_.BoolKey("name_cut", object.name_cut);
      json_.HexKey("native_handle", object.native_handle);
      json_.NumberKey("serial", object.serial);
      MonotonicKey("created", object.created_ns);
      MonotonicKey("destroyed", object.destroyed_ns);
      json_.HexKey("gpu_address", object.gpu_address);
      json_.NumberKey("size", object.size_bytes);
      if (IsSemaphoreKind(object.kind)) {
        json_.HexKey("signalled", object.signalled);
        json_.HexKey("waited", object.waited);
        json_.HexKey("completed", object.completed);
      }
    }
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteRawMarkerVerdicts() {
  json_.BeginArray("raw_marker_verdicts");
  for (const RawMarkerVerdict& verdict : findings_.raw_markers) {
    json_.BeginObject();
    json_.IndexKey("queue", verdict.queue);
    json_.IndexKey("device", verdict.device);
    json_.BoolKey("consistent", verdict.consistent);
    json_.NumberKey("executions_left_out", verdict.executions_left_out);
    json_.BeginArray("markers");
    for (const RawMarkerCommand& marker : verdict.markers) {
      json_.BeginObject();
      json_.IndexKey("execution", marker.execution);
      json_.StringKey("pipe", marker.top ? "top" : "bottom");
      json_.NumberKey("slot", marker.slot);
      json_.HexKey("value", marker.value);
      json_.StringKey("arrival", RawArrivalWord(marker.arrival));
      json_.EndObject();
    }
    json_.EndArray();
    json_.BeginArray("works");
    for (const RawMarkerWork& work : verdict.works) {
      json_.BeginObject();
      json_.IndexKey("execution", work.execution);
      json_.IndexKey("scope", work.scope);
      json_.NumberKey("after_marker", work.after_marker);
      json_.StringKey("state", WorkStateWord(work.state));
      json_.BoolKey("likely", work.likely);
      json_.StringKey("reason", RawReasonInWords(work.reason));
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
  }
  json_.EndArray();
}

void JsonReporter::WriteRawMarkers() {
  json_.BeginArray("raw_markers");
  for (const RawMarker& marker : snapshot_.raw_markers) {
    json_.BeginObject();
    json_.IndexKey("device", marker.device);
    json_.NumberKey("slot", marker.index);
    json_.HexKey("value", marker.value);
    json_.EndObject();
  }
  json_.EndArray();
}

}  // namespace

bool WriteJsonReport(const Snapshot& snapshot, const Findings& findings,
                     const std::function<bool(std::string_view)>& print, uint64_t most_bytes) {
  std::string piece;
  bool going_on = true;
  const auto print_piece = [&] {
    going_on = going_on && print(piece);
    piece.clear();
  };
  JsonReporter(snapshot, findings, &piece, print_piece, most_bytes).Write();
  print_piece();
  return going_on;
}

std::string JsonReport(const Snapshot& snapshot, const Findings& findings) {
  std::string out;
  constexpr size_t kBytesPerScope = 192;
  out.reserve(65536 + findings.analysis.scopes.size() * kBytesPerScope);
  JsonReporter(snapshot, findings, &out, nullptr, kMostJsonReportBytes).Write();
  return out;
}

}  // namespace cairn
