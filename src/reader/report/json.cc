// SPDX-License-Identifier: Apache-2.0
#include "reader/report/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "format/snapshot/marker_type_name.h"
#include "reader/analysis/work_class.h"
#include "reader/report/arguments_text.h"
#include "reader/report/call_text.h"
#include "reader/report/describe.h"
#include "reader/report/json_columns.h"
#include "reader/report/json_diagnostics.h"
#include "reader/report/json_verdict.h"
#include "reader/report/reason_text.h"
#include "reader/report/signature.h"
#include "reader/report/user_data_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

constexpr uint32_t kReportVersion = 1;

class JsonReporter {
 public:
  JsonReporter(const Snapshot& snapshot, const Findings& findings, std::string* out,
               const std::function<void()>& on_full, const JsonOptions& options)
      : snapshot_(snapshot),
        findings_(findings),
        analysis_(findings.analysis),
        json_(out, JsonWriter::kManyLines, on_full),
        rows_(snapshot, &json_),
        options_(options) {
    json_.LimitTexts();
    json_.LimitBytes(options.most_bytes);
  }

  void Write() {
    json_.BeginObject();
    json_.StringKey("format", "cairn-report");
    json_.NumberKey("version", kReportVersion);
    WriteFinding(findings_, options_.file, rows_);
    WriteSignature(SignatureOf(snapshot_, findings_), &json_);
    json_.BeginObject("process");
    rows_.Columns(snapshot_.process, json_column::kProcess);
    json_.EndObject();
    rows_.Array("incidents", snapshot_.incidents, json_column::kIncident);
    WriteDevices();
    rows_.Array("queues", snapshot_.queues, json_column::kQueue);
    rows_.Array("pipelines", snapshot_.pipelines, json_column::kPipeline);
    WriteVerdicts();
    WriteExecutions();
    WriteScopeTrees();
    rows_.Array("annotations", snapshot_.annotations, json_column::kAnnotation);
    rows_.Array("reported_event_ids", snapshot_.reported_event_ids, json_column::kReportedEventId,
                [this](const ReportedEventId&, size_t index) {
                  json_.IndexKey("scope", analysis_.reported_scopes[index]);
                });
    WriteSubmissions();
    rows_.Array("queue_markers", snapshot_.queue_markers, json_column::kQueueMarker);
    WriteThreads();
    WriteObjects();
    rows_.Array("raw_markers", snapshot_.raw_markers, json_column::kRawMarker);
    WriteRawMarkerVerdicts();
    WriteDiagnostics(findings_, rows_);
    rows_.Array(
        "user_data", snapshot_.user_data, json_column::kUserData,
        [this](const UserData& data, size_t) { WriteUserDataValue(snapshot_, data, &json_); });
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
          fmt::format("{} values of arrays are not printed: a report of this file has no more than "
                      "{} bytes.",
                      GroupedDigits(json_.left_out_count()), GroupedDigits(options_.most_bytes)));
    }
    json_.EndArray();
    json_.EndObject();
  }

 private:
  void WriteDevices();
  void WriteLateSuspect(const QueueVerdict& verdict);
  void WriteVerdicts();
  void WriteCandidate(const QueueVerdict& verdict, size_t number, const CandidateContext& context);
  void WriteExecutions();
  void WriteScopeTrees();
  void WriteScope(uint32_t index, const Recording& recording);
  void WriteCandidateContext(const CandidateContext& context);
  void WriteSubmissions();
  void WriteThreads();
  void WriteObjects();
  void WriteRawMarkerVerdicts();
  void WriteScopeName(const Scope& scope);

  const Snapshot& snapshot_;
  const Findings& findings_;
  const Analysis& analysis_;  // of these
  JsonWriter json_;
  const JsonRows rows_;  // into json_
  const JsonOptions options_;
  std::string name_;
};

void JsonReporter::WriteDevices() {
  rows_.Array(
      "devices", snapshot_.devices, json_column::kDevice, [this](const Device& device, size_t) {
        const auto sources =
            std::span(snapshot_.sources).subspan(device.first_source, device.source_count);
        const std::vector<uint32_t>& limiting = findings_.limiting_sources;
        rows_.Array("sources", sources, json_column::kSource, [&](const Source&, size_t index) {
          json_.BoolKey("limits_answer", std::binary_search(limiting.begin(), limiting.end(),
                                                            device.first_source + index));
        });
      });
}

void JsonReporter::WriteScopeName(const Scope& scope) {
  const Event& event = snapshot_.events[scope.event];
  name_.clear();
  AppendMarkerType(event.type, name_);
  json_.StringKey("type", name_);
  json_.NumberKey("ordinal", scope.ordinal);
  rows_.TextKey("name", event.name);
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
    rows_.TextKey("name", recording.name);
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

void JsonReporter::WriteSubmissions() {
  json_.BeginArray("submissions");
  auto end = snapshot_.submission_ends.begin();
  for (size_t i = 0; i < snapshot_.submissions.size(); ++i) {
    const Submission& submission = snapshot_.submissions[i];
    json_.BeginObject();
    json_.IndexKey("queue", submission.queue);
    json_.NumberKey("number", submission.number);
    json_.IndexKey("execution", findings_.submission_executions[i]);
    rows_.MonotonicKey("time", submission.time_ns);
    while (end != snapshot_.submission_ends.end() && end->serial < submission.serial) ++end;
    const bool known = end != snapshot_.submission_ends.end() && end->serial == submission.serial;
    rows_.MonotonicKey("ended", known ? end->ended_ns : 0);
    json_.EndObject();
  }
  json_.EndArray();
  rows_.Array("empty_submissions", findings_.empty_submissions, json_column::kEmptySubmission);
}

void JsonReporter::WriteThreads() {
  rows_.Array(
      "threads", snapshot_.threads, json_column::kThread, [this](const Thread& thread, size_t) {
        const auto calls = std::span(snapshot_.calls).subspan(thread.first_call, thread.call_count);
        rows_.Array("calls", calls, json_column::kCall, [&](const Call& call, size_t) {
          json_.BeginArray("arguments");
          for (const CallArgument& argument : ArgumentsOf(snapshot_, thread, call)) {
            WriteArgument(snapshot_, argument, &json_);
          }
          json_.EndArray();
        });
      });
}

// Free entries are there as well, so that indices stay what they are.
void JsonReporter::WriteObjects() {
  rows_.Array("objects", snapshot_.objects, json_column::kObjectState,
              [this](const Object& object, size_t) {
                if (object.state == ObjectState::kFree) return;
                rows_.Columns(object, json_column::kObject);
                if (IsSemaphoreKind(object.kind)) rows_.Columns(object, json_column::kSemaphore);
              });
}

void JsonReporter::WriteRawMarkerVerdicts() {
  rows_.Array("raw_marker_verdicts", findings_.raw_markers, json_column::kRawMarkerVerdict,
              [this](const RawMarkerVerdict& verdict, size_t) {
                rows_.Array("markers", verdict.markers, json_column::kRawMarkerCommand);
                rows_.Array("works", verdict.works, json_column::kRawMarkerWork);
              });
}

}  // namespace

bool WriteJsonReport(const Snapshot& snapshot, const Findings& findings,
                     const std::function<bool(std::string_view)>& print,
                     const JsonOptions& options) {
  std::string piece;
  bool going_on = true;
  const auto print_piece = [&] {
    going_on = going_on && print(piece);
    piece.clear();
  };
  JsonReporter(snapshot, findings, &piece, print_piece, options).Write();
  print_piece();
  return going_on;
}

std::string JsonReport(const Snapshot& snapshot, const Findings& findings,
                       const JsonOptions& options) {
  std::string out;
  constexpr size_t kBytesPerScope = 192;
  out.reserve(65536 + findings.analysis.scopes.size() * kBytesPerScope);
  JsonReporter(snapshot, findings, &out, nullptr, options).Write();
  return out;
}

}  // namespace cairn
