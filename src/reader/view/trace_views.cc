// SPDX-License-Identifier: Apache-2.0
#include "reader/view/trace_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "d3d12gen/interfaces.h"
#include "format/calls/object_text.h"
#include "format/calls/recorded_device.h"
#include "format/calls/value_decoder.h"
#include "format/trace/trace_tables.h"
#include "reader/view/creation_parts.h"

namespace cairn::cli {
namespace {

using Text = fmt::memory_buffer;

// Devices come early, and what tracks mapped memory is noted when the first of it is mapped.
constexpr size_t kInfoSpans = 4;

template <typename... Arguments>
void Add(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

constexpr size_t kLongestFact = 4096;  // of a device or a note
constexpr size_t kThreadsShown = 10'000;

struct DeviceInWords {
  uint64_t object = 0;
  std::string gpu;
  std::string driver;
  std::string application;
};

struct EarlyFacts {
  std::vector<DeviceInWords> devices;
  std::vector<std::pair<uint32_t, std::string>> notes;  // NoteKind, text
};

std::string VisibleFact(std::string_view text) {
  return VisibleText(Utf8Prefix(text, kLongestFact));
}

EarlyFacts FindEarlyFacts(TraceReader& trace) {
  constexpr size_t kMostNotes = 100;
  EarlyFacts facts;
  const std::span<const TraceSpan> spans = trace.spans();
  if (spans.empty()) return facts;
  const uint64_t last = spans[std::min(spans.size(), kInfoSpans) - 1].last_number;
  TraceCursor cursor(trace);
  Record record;
  while (cursor.Next(&record) && record.number <= last) {
    if (record.kind == RecordKind::kDevice && facts.devices.size() < kMostNotes) {
      const Result<RecordedDevice> device = DecodeDevice(record);
      if (!device.ok()) continue;
      facts.devices.push_back({record.object, VisibleFact(device->gpu), VisibleFact(device->driver),
                               VisibleFact(device->application)});
    } else if (record.kind == RecordKind::kNote && facts.notes.size() < kMostNotes) {
      std::span<const std::byte> rest = record.body;
      const Result<NoteBody> body = DecodeBody<NoteBody>(&rest);
      if (!body.ok() || body->text_bytes > rest.size()) continue;
      const std::string_view note(reinterpret_cast<const char*>(rest.data()), body->text_bytes);
      facts.notes.emplace_back(body->kind, VisibleFact(note));
    }
  }
  return facts;
}

const char* NoteKindName(uint32_t kind) {
  switch (static_cast<NoteKind>(kind)) {
    case NoteKind::kTracking: return "tracking";
    case NoteKind::kUnsupported: return "unsupported";
    case NoteKind::kIncomplete: return "incomplete";
  }
  return "other";
}

std::string KindName(Chain chain) {
  return chain == Chain::kNone ? "unknown" : Describe(chain).first->name;
}

const char* HeapTypeName(uint32_t type) {
  switch (type) {
    case 1: return "default";
    case 2: return "upload";
    case 3: return "readback";
    case 4: return "custom";
    case 5: return "GPU upload";
    default: return "";
  }
}

bool ContainsIgnoringCase(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return part.empty() ||
         std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

std::string RedactionInWords(const TraceRedaction& redaction) {
  if (!redaction.any()) return "";
  std::string text =
      redaction.shaders ? "names and shaders are hashes; it cannot be played" : "names are hashes";
  if (redaction.contents) text += "; contents of resources are zeros";
  return text;
}

}  // namespace

std::string TraceInfoText(TraceReader& trace) {
  Text text;
  const TraceFacts& facts = trace.facts();
  Add(text, "\nTrace     {}{}\n",
      trace.finished() ? "finished" : "cut: the recording was interrupted",
      facts.trimmed ? ", made from another one" : "");
  if (const std::string redacted = RedactionInWords(trace.table().redaction); !redacted.empty()) {
    Add(text, "Redacted  {}\n", redacted);
  }
  Add(text, "Recorded  {} (PID {})\n", VisibleText(facts.program), facts.process_id);
  const EarlyFacts early = FindEarlyFacts(trace);
  for (const DeviceInWords& device : early.devices) {
    Add(text, "Device    {}{}{}\n", device.gpu.empty() ? "unknown" : device.gpu,
        device.driver.empty() ? "" : ", ", device.driver);
  }
  for (const auto& [kind, note] : early.notes)
    Add(text, "Note      {}: {}\n", NoteKindName(kind), note);
  for (const TraceThread& thread : trace.threads()) {
    if (thread.unreturned_call == 0) continue;
    Add(text, "Thread    {} \"{}\" is still in call {}\n", thread.index, VisibleText(thread.name),
        GroupedDigits(thread.unreturned_call));
  }
  Add(text, "\n");
  const auto count = [&](const char* name, uint64_t number) {
    Add(text, "  {:<14} {:>16}\n", name, GroupedDigits(number));
  };
  count("frames", trace.frame_count());
  if (trace.first_frame().value_or(0) != 0) count("first frame", *trace.first_frame());
  count("records", trace.record_count());
  if (const std::optional<TraceTotals>& totals = trace.totals(); totals.has_value()) {
    count("calls", totals->calls);
    count("objects", totals->objects);
    count("blobs", totals->blobs);
    count("blob bytes", totals->blob_bytes);
    count("distinct bytes", totals->stored_blob_bytes);
  }
  count("threads", trace.threads().size());
  return fmt::to_string(text);
}

void WriteTraceInfo(TraceReader& trace, JsonWriter* json) {
  const TraceFacts& facts = trace.facts();
  json->BeginObject();
  json->BoolKey("finished", trace.finished());
  json->BoolKey("trimmed", facts.trimmed);
  const TraceRedaction& redaction = trace.table().redaction;
  if (redaction.any()) {
    json->BeginObject("redacted");
    json->BoolKey("names", redaction.names);
    json->BoolKey("shaders", redaction.shaders);
    json->BoolKey("contents", redaction.contents);
    json->EndObject();
  }
  json->StringKey("program", VisibleText(facts.program));
  json->StringKey("command_line", VisibleText(facts.command_line));
  json->StringKey("library_version", VisibleText(facts.library_version));
  json->NumberKey("process_id", facts.process_id);
  json->NumberKey("start_realtime_ns", facts.start_realtime_ns);
  json->NumberKey("frames", trace.frame_count());
  json->NumberKey("first_frame", trace.first_frame().value_or(0));
  json->NumberKey("records", trace.record_count());
  if (const std::optional<TraceTotals>& totals = trace.totals(); totals.has_value()) {
    json->NumberKey("calls", totals->calls);
    json->NumberKey("objects", totals->objects);
    json->NumberKey("blobs", totals->blobs);
    json->NumberKey("blob_bytes", totals->blob_bytes);
    json->NumberKey("distinct_blob_bytes", totals->stored_blob_bytes);
  }
  const EarlyFacts early = FindEarlyFacts(trace);
  json->BeginArray("devices");
  for (const DeviceInWords& device : early.devices) {
    json->BeginObject();
    json->NumberKey("object", device.object);
    json->StringKey("gpu", device.gpu);
    json->StringKey("driver", device.driver);
    json->StringKey("application", device.application);
    json->EndObject();
  }
  json->EndArray();
  json->BeginArray("notes");
  for (const auto& [kind, note] : early.notes) {
    json->BeginObject();
    json->StringKey("kind", NoteKindName(kind));
    json->StringKey("text", note);
    json->EndObject();
  }
  json->EndArray();
  const size_t shown = std::min(trace.threads().size(), kThreadsShown);
  json->NumberKey("threads_left_out", trace.threads().size() - shown);
  json->BeginArray("threads");
  for (const TraceThread& thread : trace.threads().first(shown)) {
    json->BeginObject();
    json->NumberKey("index", thread.index);
    json->NumberKey("thread_id", thread.thread_id);
    json->StringKey("name", VisibleText(thread.name));
    json->NumberKey("unreturned_call", thread.unreturned_call);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

std::string VerifyText(const std::string& path, const VerifyReport& report, uint64_t frames) {
  Text text;
  Add(text, "{}: {} in {}, {} ({} checked), {}, {}\n", VisibleText(path),
      Counted(report.records, "record"), Counted(frames, "frame"), Counted(report.calls, "call"),
      GroupedDigits(report.checked_calls), Counted(report.objects, "object"),
      Counted(report.blobs, "blob"));
  std::array<uint64_t, kVerifyRuleCount> shown = {};
  for (const Finding& finding : report.findings) {
    ++shown[static_cast<size_t>(finding.rule)];
    Add(text, "{:<7}  {:<10}  {:>12}  {}\n", SeverityName(finding.severity),
        VerifyRuleName(finding.rule), finding.record == 0 ? "" : GroupedDigits(finding.record),
        finding.text);
  }
  for (size_t i = 0; i < kVerifyRuleCount; ++i) {
    if (report.counts[i] <= shown[i]) continue;
    Add(text, "and {} more of the rule {}\n", GroupedDigits(report.counts[i] - shown[i]),
        VerifyRuleName(static_cast<VerifyRule>(i)));
  }
  Add(text, "{}, {}\n", Counted(report.errors, "error"), Counted(report.warnings, "warning"));
  return fmt::to_string(text);
}

std::string VerifyJson(const VerifyReport& report, uint64_t frames) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-verify");
  json.NumberKey("version", 1);
  json.BoolKey("clean", report.clean());
  json.NumberKey("errors", report.errors);
  json.NumberKey("warnings", report.warnings);
  json.NumberKey("records", report.records);
  json.NumberKey("frames", frames);
  json.NumberKey("calls", report.calls);
  json.NumberKey("checked_calls", report.checked_calls);
  json.NumberKey("objects", report.objects);
  json.NumberKey("blobs", report.blobs);
  json.BeginObject("counts");
  for (size_t i = 0; i < kVerifyRuleCount; ++i) {
    if (report.counts[i] == 0) continue;
    json.NumberKey(VerifyRuleName(static_cast<VerifyRule>(i)), report.counts[i]);
  }
  json.EndObject();
  json.BeginArray("findings");
  for (const Finding& finding : report.findings) {
    json.BeginObject();
    json.StringKey("rule", VerifyRuleName(finding.rule));
    json.StringKey("severity", SeverityName(finding.severity));
    json.NumberKey("record", finding.record);
    json.StringKey("text", finding.text);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

Result<ObjectList> ListObjects(TraceReader& trace, const ObjectQuery& query) {
  std::optional<uint64_t> at_ordinal;
  if (query.at_frame.has_value()) {
    const Result<uint64_t> ordinal = trace.OrdinalOf(*query.at_frame);
    if (!ordinal.ok()) return ordinal.status();
    at_ordinal = *ordinal;
  }
  ObjectList list;
  TraceState state(trace);
  CreationParts parts(&trace);
  TraceCursor cursor(trace);
  Record record;
  uint64_t records = 0;
  list.at_end = true;
  while (cursor.Next(&record)) {
    // Records that restore a state belong to no frame: the state exists when the first frame
    // begins.
    const bool is_in_frame = (record.flags & kRecordRestores) == 0;
    if ((query.at_number.has_value() && record.number >= *query.at_number) ||
        (at_ordinal.has_value() && is_in_frame && cursor.frame() >= *at_ordinal)) {
      list.at_end = false;
      break;
    }
    if (records++ % kRecordsPerProgress == 0 && query.progress != nullptr &&
        !query.progress(records - 1, trace.record_count())) {
      list.interrupted = true;
      break;
    }
    list.contradictions += !state.Apply(record).ok();
    parts.Look(record);
    if (record.kind == RecordKind::kObject) {
      if (const auto import = ImportOf(record)) list.imports[record.object] = *import;
    }
    if (record.kind != RecordKind::kDevice) continue;
    const Result<RecordedDevice> device = DecodeDevice(record);
    if (!device.ok()) continue;
    const std::string text = AdapterText(*device);
    if (text.empty() && device->gpu.empty()) continue;
    list.adapters[record.object] = {VisibleFact(device->gpu), device->adapter_luid,
                                    device->adapter_place, text};
  }
  CAIRN_RETURN_IF_ERROR(cursor.status());
  list.parts = parts.Take();
  list.made = state.objects().size();
  list.alive = state.alive_count();
  const uint64_t first_frame = trace.first_frame().value_or(0);
  list.frame = first_frame + state.frame();
  for (const auto& [number, object] : state.objects()) {
    if (query.alive && object.ended != 0) continue;
    if (!ContainsIgnoringCase(KindName(object.chain), query.kind) &&
        !ContainsIgnoringCase(ObjectKindText(object.chain), query.kind)) {
      continue;
    }
    if (!ContainsIgnoringCase(object.name, query.name)) continue;
    TracedObject& listed = list.objects.emplace_back(object);
    listed.created_frame += first_frame;
    listed.ended_frame += first_frame;
  }
  std::sort(list.objects.begin(), list.objects.end(),
            [](const TracedObject& a, const TracedObject& b) { return a.number < b.number; });
  return list;
}

namespace {

// Where an object comes from, of a heap with its size.
std::string OpenedText(Chain chain, const ImportFacts& import) {
  const std::string words = ImportText(import);
  return chain == Chain::kID3D12Heap ? words + ", " + GroupedDigits(import.value) + " bytes"
                                     : words;
}

std::string FactsInWords(const ObjectList& list, const TracedObject& object) {
  const auto adapter = list.adapters.find(object.number);
  if (object.chain == Chain::kID3D12Device && adapter != list.adapters.end()) {
    const ObjectList::Adapter& facts = adapter->second;
    return facts.gpu + (facts.gpu.empty() || facts.text.empty() ? "" : ", ") + facts.text;
  }
  if (const SignatureParts* const parts = list.parts.SignatureOf(object.number)) {
    return InWords(*parts);
  }
  if (const StateObjectParts* const parts = list.parts.StateObjectOf(object.number)) {
    return InWords(*parts);
  }
  if (object.heap.has_value()) {
    return fmt::format("{}{}", Counted(object.heap->count, "descriptor"),
                       object.heap->gpu_start != 0 ? ", shader-visible" : "");
  }
  const auto import = list.imports.find(object.number);
  const std::string opened =
      import == list.imports.end() ? "" : OpenedText(object.chain, import->second);
  if (!object.resource.has_value()) return opened;
  const ResourceFacts& facts = *object.resource;
  if (facts.is_image != 0) return "image of a swap chain";
  std::string words = HeapTypeName(facts.heap_type);
  if (facts.size_bytes != 0) {
    words += (words.empty() ? "" : ", ") + GroupedDigits(facts.size_bytes) + " bytes";
  }
  if (!opened.empty()) words += (words.empty() ? "" : ", ") + opened;
  return words;
}

}  // namespace

std::string ObjectsText(const ObjectList& list) {
  Text text;
  Add(text, "{:>8}  {:<28} {:>20} {:>20}  {}\n", "object", "kind", "made", "destroyed", "name");
  for (const TracedObject& object : list.objects) {
    const auto place = [](uint64_t frame, uint64_t record) {
      return fmt::format("frame {}, {}", GroupedDigits(frame), GroupedDigits(record));
    };
    const std::string facts = FactsInWords(list, object);
    std::string name = object.name.empty() ? "" : "\"" + VisibleText(object.name) + "\"";
    if (!facts.empty()) name += (name.empty() ? "" : " ") + ("(" + facts + ")");
    const std::string line = fmt::format(
        "{:>8}  {:<28} {:>20} {:>20}  {}", object.number, ObjectKindText(object.chain),
        place(object.created_frame, object.creator != 0 ? object.creator : object.created),
        object.ended == 0 ? "" : place(object.ended_frame, object.ended), name);
    Add(text, "{}\n", std::string_view(line).substr(0, line.find_last_not_of(' ') + 1));
  }
  Add(text, "{} made, {} alive {}\n", Counted(list.made, "object"), GroupedDigits(list.alive),
      list.at_end ? "when the recording ended"
                  : fmt::format("at that place, in frame {}", GroupedDigits(list.frame)));
  return fmt::to_string(text);
}

namespace {

void WriteParts(const SignatureParts& parts, JsonWriter* json) {
  json->BeginObject("command_signature");
  json->NumberKey("stride_bytes", parts.stride_bytes);
  json->NumberKey("argument_count", parts.argument_count);
  json->BeginArray("arguments");
  for (const std::string& argument : parts.arguments) json->String(argument);
  json->EndArray();
  json->EndObject();
}

void WriteParts(const StateObjectParts& parts, JsonWriter* json) {
  json->BeginObject("state_object");
  json->StringKey("kind", parts.kind);
  if (parts.grows != kNoObject) json->NumberKey("adds_to", parts.grows);
  json->NumberKey("export_count", parts.export_count);
  json->BeginArray("exports");
  for (const StateObjectParts::Export& each : parts.exports) {
    json->BeginObject();
    json->StringKey("kind", each.kind);
    if (!each.name.empty()) json->StringKey("name", each.name);
    json->StringKey("text", each.text);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteObject(const ObjectList& list, const TracedObject& object, JsonWriter* json) {
  json->BeginObject();
  json->NumberKey("object", object.number);
  json->StringKey("object_text", ObjectText(object.chain, object.number, object.name));
  json->StringKey("kind", KindName(object.chain));
  json->StringKey("name", VisibleText(object.name));
  json->NumberKey("device", object.device);
  json->NumberKey("creator", object.creator);
  json->NumberKey("made", object.created);
  json->NumberKey("made_frame", object.created_frame);
  if (object.ended != 0) {
    json->NumberKey("destroyed", object.ended);
    json->NumberKey("destroyed_frame", object.ended_frame);
  }
  const auto adapter = list.adapters.find(object.number);
  if (adapter != list.adapters.end()) {
    const ObjectList::Adapter& facts = adapter->second;
    if (!facts.gpu.empty()) json->StringKey("gpu_name", facts.gpu);
    if (facts.place) json->NumberKey("adapter", *facts.place);
    if (facts.luid) json->StringKey("adapter_luid", LuidText(*facts.luid));
  }
  const auto import = list.imports.find(object.number);
  if (import != list.imports.end()) {
    json->StringKey("opened", OpenedText(object.chain, import->second));
    if (import->second.original != 0) json->NumberKey("opened_object", import->second.original);
  }
  if (object.resource.has_value()) {
    json->BeginObject("resource");
    json->NumberKey("heap_type", object.resource->heap_type);
    json->NumberKey("gpu_address", object.resource->gpu_address);
    json->NumberKey("size_bytes", object.resource->size_bytes);
    json->BoolKey("swap_chain_image", object.resource->is_image != 0);
    json->EndObject();
  }
  if (object.heap.has_value()) {
    json->BeginObject("descriptor_heap");
    json->NumberKey("type", object.heap->type);
    json->NumberKey("count", object.heap->count);
    json->BoolKey("shader_visible", object.heap->gpu_start != 0);
    json->EndObject();
  }
  if (const SignatureParts* const parts = list.parts.SignatureOf(object.number)) {
    WriteParts(*parts, json);
  }
  if (const StateObjectParts* const parts = list.parts.StateObjectOf(object.number)) {
    WriteParts(*parts, json);
  }
  json->EndObject();
}

}  // namespace

bool WriteObjectsJson(const ObjectList& list, const std::function<bool(std::string_view)>& print) {
  std::string piece;
  bool going_on = true;
  const auto print_piece = [&] {
    going_on = going_on && print(piece);
    piece.clear();
  };
  constexpr int kObjectALine = 2;
  JsonWriter json(&piece, kObjectALine, print_piece);
  json.BeginObject();
  json.StringKey("format", "cairn-objects");
  json.NumberKey("version", 1);
  json.NumberKey("made", list.made);
  json.NumberKey("alive", list.alive);
  json.BoolKey("at_end", list.at_end);
  json.NumberKey("frame", list.frame);
  json.BeginArray("objects");
  for (const TracedObject& object : list.objects) {
    if (!going_on) return false;
    WriteObject(list, object, &json);
  }
  json.EndArray();
  json.EndObject();
  print_piece();
  return going_on;
}

}  // namespace cairn::cli
