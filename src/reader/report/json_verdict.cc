// SPDX-License-Identifier: Apache-2.0
#include "reader/report/json_verdict.h"

#include <string>
#include <string_view>
#include <vector>

#include "reader/report/answer_text.h"
#include "reader/report/destruction_text.h"
#include "reader/report/json_columns.h"
#include "reader/report/next_steps.h"
#include "reader/report/suspect_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

void WriteSuspect(const Snapshot& snapshot, const Findings& findings, const SuspectWork& suspect,
                  std::string& text, JsonWriter& json) {
  json.BeginObject();
  json.IndexKey("queue", findings.analysis.verdicts[suspect.verdict].queue);
  json.NumberKey("execution", suspect.execution);
  json.IndexKey("scope", suspect.scope);
  json.IndexKey("after_marker", suspect.after_marker);
  json.StringKey("reason", SuspectReasonWord(suspect.reason));
  if (suspect.tied_count != 0) json.NumberKey("tied", suspect.tied_count);
  text.clear();
  AppendSuspectReason(snapshot, findings, suspect, true, text);
  json.StringKey("words", text);
  json.Key("binding");
  suspect.binding == kNone
      ? json.Null()
      : WriteBinding(snapshot, findings.analysis.bindings[suspect.binding], &json);
  json.EndObject();
}

// The first screen of the report: what the text begins with.
void WriteAnswer(const AnswerText& answer, JsonWriter& json) {
  json.StringKey("sentence", AnswerLine(answer));
  json.BeginObject("answer");
  json.StringKey("headline", answer.headline);
  json.StringKey("how_sure_in_words", answer.how_sure);
  json.StringKey("how_sure", answer.how_sure);  // deprecated
  json.BeginArray("rows");
  for (const AnswerRow& row : answer.rows) {
    json.BeginObject();
    json.StringKey("label", row.label);
    json.StringKey("text", row.text);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void WriteDurations(const Findings& findings, std::string& text, const JsonRows& rows) {
  JsonWriter& json = rows.json();
  if (findings.duration.execution == kNone) {
    json.NullKey("duration");
  } else {
    json.BeginObject("duration");
    rows.Columns(findings.duration, json_column::kUsualDuration);
    text.clear();
    AppendUsualDuration(findings.duration, text);
    json.StringKey("words", text);
    json.EndObject();
  }
  if (findings.label_duration.scope == kNone) return json.NullKey("label_duration");
  json.BeginObject("label_duration");
  rows.Columns(findings.label_duration, json_column::kLabelDuration);
  text.clear();
  AppendLabelDuration(rows.snapshot(), findings, text);
  json.StringKey("words", text);
  json.EndObject();
}

// Who wrote the indirect arguments of the first suspect.
void WriteArgumentsOrigin(const Findings& findings, std::string& text, const JsonRows& rows) {
  const ArgumentsOrigin& origin = findings.arguments;
  JsonWriter& json = rows.json();
  if (origin.scope == kNone) return json.NullKey("arguments");
  json.BeginObject("arguments");
  json.NumberKey("buffer", origin.buffer);
  json.BeginArray("writers");
  for (const ArgumentsWriter& writer : {origin.last, origin.certain}) {
    if (writer.scope == kNone) continue;
    json.BeginObject();
    rows.Columns(writer, json_column::kArgumentsWriter);
    json.EndObject();
  }
  json.EndArray();
  json.IndexKey("late_writer", origin.late_writer);
  json.BoolKey("mapped", origin.is_mapped);
  text.clear();
  AppendArgumentsOrigin(rows.snapshot(), findings, text);
  json.StringKey("words", text);
  json.EndObject();
}

void WriteSteps(const char* key, const std::vector<NextStep>& steps, JsonWriter& json) {
  json.BeginArray(key);
  for (const NextStep& step : steps) {
    json.BeginObject();
    json.StringKey("command", step.command);
    json.StringKey("effect", step.effect);
    json.EndObject();
  }
  json.EndArray();
}

// The thread that crashed and the call that it was in, with the tables of its list.
void WriteCrash(const CulpritFinding& finding, const JsonRows& rows) {
  const UnreturnedCall& crash = finding.crash;
  JsonWriter& json = rows.json();
  if (crash.thread == kNone) return json.NullKey("crash");
  json.BeginObject("crash");
  json.NumberKey("thread", crash.thread);
  if (crash.call == kNone) {
    json.NullKey("call");
  } else {
    json.NumberKey("call", rows.snapshot().calls[crash.call].number);
  }
  rows.Array("descriptor_tables", finding.crash_tables.tables, json_column::kBoundTable);
  json.EndObject();
}

}  // namespace

void WriteFinding(const Findings& findings, std::string_view file, const JsonRows& rows) {
  const Snapshot& snapshot = rows.snapshot();
  JsonWriter* const json = &rows.json();
  const CulpritFinding& finding = findings.culprit;
  const std::vector<QueueVerdict>& verdicts = findings.analysis.verdicts;
  std::string text;
  json->BeginObject("verdict");
  json->StringKey("kind", FindingKindWord(finding.kind));
  json->BoolKey("may_be_fault", finding.may_be_fault);
  json->StringKey("how_sure", CertaintyWord(finding.certainty));
  json->StringKey("certainty", OldCertaintyWord(finding.certainty));
  json->NumberKey("tied", finding.tied);
  WriteAnswer(AnswerInWords(snapshot, findings), *json);
  using Steps = std::vector<NextStep>;
  WriteSteps("next", file.empty() ? Steps() : NextSteps(snapshot, findings, file), *json);
  WriteSteps("send", file.empty() ? Steps() : StepsToSend(snapshot, findings, file), *json);
  if (finding.slow.verdict == kNone) {
    json->NullKey("progress");
  } else {
    json->BeginObject("progress");
    json->IndexKey("queue", verdicts[finding.slow.verdict].queue);
    rows.Columns(finding.slow, json_column::kSlowProgress);
    json->EndObject();
  }
  WriteDurations(findings, text, rows);
  WriteArgumentsOrigin(findings, text, rows);
  json->IndexKey("incident", finding.incident);
  json->IndexKey("cycle", finding.cycle);
  json->IndexKey("wait", finding.wait);
  WriteCrash(finding, rows);
  json->BeginArray("suspects");
  for (const SuspectWork& suspect : finding.suspects) {
    WriteSuspect(snapshot, findings, suspect, text, *json);
  }
  json->EndArray();
  for (const std::string_view key :
       {"last_completed", "last_finished"}) {  // the second: deprecated
    json->BeginArray(key);
    for (const CompletedWork& last : finding.last_completed) {
      json->BeginObject();
      json->IndexKey("queue", verdicts[last.verdict].queue);
      json->NumberKey("execution", last.execution);
      json->IndexKey("scope", last.scope);
      json->EndObject();
    }
    json->EndArray();
  }
  json->EndObject();
}

void WriteBinding(const Snapshot& snapshot, const Binding& binding, JsonWriter* json) {
  json->BeginObject();
  json->StringKey("point", BindPointWord(binding.point));
  json->NumberKey("slot", binding.slot);
  binding.is_address ? json->HexKey("address", binding.address) : json->NullKey("address");
  json->IndexKey("object", binding.object);
  json->NumberKey("offset", binding.offset);
  json->StringKey("state", BindingStateWord(binding.state));
  binding.state == BindingState::kDestroyed
      ? json->SignedKey("destroyed_after_ns", binding.destroyed_after_ns)
      : json->NullKey("destroyed_after_ns");
  json->BoolKey("since_submission", binding.since_submission);
  WriteDestruction(snapshot, "destruction", binding.destruction, json);
  if (binding.point == BindPoint::kDescriptorSet) {
    const DescriptorSet& set = snapshot.descriptor_sets[binding.descriptor_set];
    const Descriptor* const descriptor =
        binding.descriptor == kNone ? nullptr : &snapshot.descriptors[binding.descriptor];
    json->HexKey("set_handle", set.native_handle);
    json->NumberKey("unseen", set.unseen_count);
    json->BoolKey("in_buffers", set.in_buffers);
    json->BoolKey("pushed", set.pushed);
    descriptor == nullptr ? json->NullKey("binding")
                          : json->NumberKey("binding", descriptor->binding);
    descriptor == nullptr ? json->NullKey("element")
                          : json->NumberKey("element", descriptor->element);
  }
  json->EndObject();
}

}  // namespace cairn
