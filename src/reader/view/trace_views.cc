// SPDX-License-Identifier: Apache-2.0
#include "reader/view/trace_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/json_text.h"
#include "base/text.h"
#include "d3d12gen/interfaces.h"
#include "format/calls/value_decoder.h"

namespace cairn::cli {
namespace {

using Text = fmt::memory_buffer;
using Json = nlohmann::ordered_json;

// Devices come early, and what tracks mapped memory is noted when the first of it is mapped.
constexpr size_t kInfoSpans = 4;

template <typename... Arguments>
void Add(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

constexpr size_t kLongestText = 4096;  // of a device or a note
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

std::string ReadText(std::span<const std::byte>* rest) {
  const Result<uint32_t> size = DecodeBody<uint32_t>(rest);
  if (!size.ok() || *size > rest->size()) {
    *rest = {};
    return "";
  }
  const std::string_view text(reinterpret_cast<const char*>(rest->data()), *size);
  *rest = rest->subspan(*size);
  return VisibleText(Utf8Prefix(text, kLongestText));
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
    std::span<const std::byte> rest = record.body;
    if (record.kind == RecordKind::kDevice && facts.devices.size() < kMostNotes) {
      if (!DecodeBody<DeviceBody>(&rest).ok()) continue;
      DeviceInWords device{record.object, ReadText(&rest), {}, {}};
      device.driver = ReadText(&rest);
      device.application = ReadText(&rest);
      facts.devices.push_back(std::move(device));
    } else if (record.kind == RecordKind::kNote && facts.notes.size() < kMostNotes) {
      const Result<NoteBody> body = DecodeBody<NoteBody>(&rest);
      if (!body.ok() || body->text_bytes > rest.size()) continue;
      const std::string_view note(reinterpret_cast<const char*>(rest.data()), body->text_bytes);
      facts.notes.emplace_back(body->kind, VisibleText(Utf8Prefix(note, kLongestText)));
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

// "1 call", "2 calls".
std::string Counted(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", GroupedDigits(count), what, count == 1 ? "" : "s");
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

}  // namespace

std::string TraceInfoText(TraceReader& trace) {
  Text text;
  const TraceFacts& facts = trace.facts();
  Add(text, "\nTrace     {}{}\n",
      trace.finished() ? "finished" : "cut: the recording was interrupted",
      facts.trimmed ? ", made from another one" : "");
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

Json TraceInfoJson(TraceReader& trace) {
  const TraceFacts& facts = trace.facts();
  Json json = {{"finished", trace.finished()},
               {"trimmed", facts.trimmed},
               {"program", VisibleText(facts.program)},
               {"command_line", VisibleText(facts.command_line)},
               {"library_version", VisibleText(facts.library_version)},
               {"process_id", facts.process_id},
               {"start_realtime_ns", facts.start_realtime_ns},
               {"frames", trace.frame_count()},
               {"first_frame", trace.first_frame().value_or(0)},
               {"records", trace.record_count()}};
  if (const std::optional<TraceTotals>& totals = trace.totals(); totals.has_value()) {
    json["calls"] = totals->calls;
    json["objects"] = totals->objects;
    json["blobs"] = totals->blobs;
    json["blob_bytes"] = totals->blob_bytes;
    json["distinct_blob_bytes"] = totals->stored_blob_bytes;
  }
  const EarlyFacts early = FindEarlyFacts(trace);
  json["devices"] = Json::array();
  for (const DeviceInWords& device : early.devices) {
    json["devices"].push_back({{"object", device.object},
                               {"gpu", device.gpu},
                               {"driver", device.driver},
                               {"application", device.application}});
  }
  json["notes"] = Json::array();
  for (const auto& [kind, note] : early.notes) {
    json["notes"].push_back({{"kind", NoteKindName(kind)}, {"text", note}});
  }
  const size_t shown = std::min(trace.threads().size(), kThreadsShown);
  json["threads_left_out"] = trace.threads().size() - shown;
  json["threads"] = Json::array();
  for (const TraceThread& thread : trace.threads().first(shown)) {
    json["threads"].push_back({{"index", thread.index},
                               {"thread_id", thread.thread_id},
                               {"name", VisibleText(thread.name)},
                               {"unreturned_call", thread.unreturned_call}});
  }
  return json;
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

Json VerifyJson(const VerifyReport& report, uint64_t frames) {
  Json json = {{"format", "cairn-verify"},
               {"version", 1},
               {"clean", report.clean()},
               {"errors", report.errors},
               {"warnings", report.warnings},
               {"records", report.records},
               {"frames", frames},
               {"calls", report.calls},
               {"checked_calls", report.checked_calls},
               {"objects", report.objects},
               {"blobs", report.blobs}};
  json["counts"] = Json::object();
  for (size_t i = 0; i < kVerifyRuleCount; ++i) {
    if (report.counts[i] != 0) {
      json["counts"][VerifyRuleName(static_cast<VerifyRule>(i))] = report.counts[i];
    }
  }
  json["findings"] = Json::array();
  for (const Finding& finding : report.findings) {
    json["findings"].push_back({{"rule", VerifyRuleName(finding.rule)},
                                {"severity", SeverityName(finding.severity)},
                                {"record", finding.record},
                                {"text", finding.text}});
  }
  return json;
}

Result<ObjectList> ListObjects(TraceReader& trace, const ObjectQuery& query) {
  constexpr uint64_t kRecordsPerProgress = 4096;
  std::optional<uint64_t> at_ordinal;
  if (query.at_frame.has_value()) {
    const Result<uint64_t> ordinal = trace.OrdinalOf(*query.at_frame);
    if (!ordinal.ok()) return ordinal.status();
    at_ordinal = *ordinal;
  }
  ObjectList list;
  TraceState state(trace);
  TraceCursor cursor(trace);
  Record record;
  uint64_t records = 0;
  list.at_end = true;
  while (cursor.Next(&record)) {
    // What restores a state belongs to no frame: it is there when the first one begins.
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
  }
  CAIRN_RETURN_IF_ERROR(cursor.status());
  list.made = state.objects().size();
  list.alive = state.alive_count();
  const uint64_t first_frame = trace.first_frame().value_or(0);
  list.frame = first_frame + state.frame();
  for (const auto& [number, object] : state.objects()) {
    if (query.alive && object.ended != 0) continue;
    if (!ContainsIgnoringCase(KindName(object.chain), query.kind)) continue;
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

std::string FactsInWords(const TracedObject& object) {
  if (object.heap.has_value()) {
    return fmt::format("{}{}", Counted(object.heap->count, "descriptor"),
                       object.heap->gpu_start != 0 ? ", shader-visible" : "");
  }
  if (!object.resource.has_value()) return "";
  const ResourceFacts& facts = *object.resource;
  if (facts.is_image != 0) return "image of a swap chain";
  std::string words = HeapTypeName(facts.heap_type);
  if (facts.size_bytes != 0) {
    words += (words.empty() ? "" : ", ") + GroupedDigits(facts.size_bytes) + " bytes";
  }
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
    const std::string facts = FactsInWords(object);
    std::string name = object.name.empty() ? "" : "\"" + VisibleText(object.name) + "\"";
    if (!facts.empty()) name += (name.empty() ? "" : " ") + ("(" + facts + ")");
    const std::string line = fmt::format(
        "{:>8}  {:<28} {:>20} {:>20}  {}", object.number, KindName(object.chain),
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

Json ObjectJson(const TracedObject& object) {
  Json one = {{"object", object.number},           {"kind", KindName(object.chain)},
              {"name", VisibleText(object.name)},  {"device", object.device},
              {"creator", object.creator},         {"made", object.created},
              {"made_frame", object.created_frame}};
  if (object.ended != 0) {
    one["destroyed"] = object.ended;
    one["destroyed_frame"] = object.ended_frame;
  }
  if (object.resource.has_value()) {
    one["resource"] = {{"heap_type", object.resource->heap_type},
                       {"gpu_address", object.resource->gpu_address},
                       {"size_bytes", object.resource->size_bytes},
                       {"swap_chain_image", object.resource->is_image != 0}};
  }
  if (object.heap.has_value()) {
    one["descriptor_heap"] = {{"type", object.heap->type},
                              {"count", object.heap->count},
                              {"shader_visible", object.heap->gpu_start != 0}};
  }
  return one;
}

}  // namespace

// A document of all of them would take ten times the memory of the list.
bool WriteObjectsJson(const ObjectList& list, const std::function<bool(std::string_view)>& print) {
  constexpr size_t kPieceBytes = 64 << 10;
  const Json head = {{"format", "cairn-objects"}, {"version", 1},          {"made", list.made},
                     {"alive", list.alive},       {"at_end", list.at_end}, {"frame", list.frame}};
  std::string piece = head.dump(2);
  piece.resize(piece.rfind('\n'));  // the end comes later
  piece += ",\n  \"objects\": [";
  const char* separator = "\n    ";
  for (const TracedObject& object : list.objects) {
    piece += separator;
    separator = ",\n    ";
    piece += VisibleJson(ObjectJson(object).dump());
    if (piece.size() < kPieceBytes) continue;
    if (!print(piece)) return false;
    piece.clear();
  }
  piece += list.objects.empty() ? "]\n}\n" : "\n  ]\n}\n";
  return print(piece);
}

}  // namespace cairn::cli
