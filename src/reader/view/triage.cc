// SPDX-License-Identifier: Apache-2.0
#include "reader/view/triage.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/byte_writer.h"
#include "base/text.h"
#include "format/file/file_reader.h"
#include "format/snapshot/snapshot_file.h"
#include "reader/analysis/findings.h"
#include "reader/report/answer_text.h"
#include "reader/report/redact.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

constexpr uint32_t kTriageVersion = 1;
constexpr size_t kMostUnreadable = 1000;
// Later times fit into no time_t of 32 bits, and no calendar.
constexpr uint64_t kLatestNs = uint64_t{4'000'000'000} * 1'000'000'000;

void IsoTimeKey(std::string_view key, uint64_t realtime_ns, JsonWriter* json) {
  realtime_ns == 0 ? json->NullKey(key) : json->StringKey(key, IsoTime(realtime_ns));
}

// Returns the time of a dump, which may be forged: later times than kLatestNs become 0.
uint64_t SeenNs(const Snapshot& snapshot) {
  uint64_t seen_ns = snapshot.process.snapshot_time_ns;
  if (!snapshot.incidents.empty() && snapshot.incidents.front().time_ns != 0) {
    seen_ns = snapshot.incidents.front().time_ns;
  }
  return seen_ns < kLatestNs ? seen_ns : 0;
}

// Reads no more than the process: its number and its times tell two crashes apart, and the checksums are in the index.
std::string ContentOf(const FileReader& reader) {
  ByteWriter content;
  for (size_t i = 0; i < reader.chunks().size(); ++i) {
    const ChunkInfo& chunk = reader.chunks()[i];
    content.WriteU32(chunk.type);
    content.WriteU32(chunk.raw_bytes);
    content.WriteU32(chunk.payload_crc);
    if (chunk.type != kProcessChunk) continue;
    const Result<std::vector<std::byte>> process = reader.Read(i);
    if (process.ok()) content.WriteU64(XXH3_64bits(process->data(), process->size()));
  }
  const XXH128_hash_t hash = XXH3_128bits(content.bytes().data(), content.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

void BeginLine(std::string_view file, JsonWriter* json) {
  json->BeginObject();
  json->StringKey("format", "cairn-triage-line");
  json->NumberKey("version", kTriageVersion);
  json->StringKey("file", file);
}

template <typename... Arguments>
void Append(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

void AddRow(std::string_view name, std::string_view value, std::string& text) {
  if (!value.empty()) Append(text, "      {:<10} {}\n", name, value);
}

// `GPU hang in Frame # > Lighting > DRAW_INSTANCED`
std::string Title(const Signature& signature) {
  std::string title = VisibleText(signature.kind);
  if (!signature.cause.empty()) title += fmt::format(" ({})", VisibleText(signature.cause));
  if (!signature.path.empty()) title += " in " + PathOf(signature);
  return title;
}

std::string DeviceOf(const Signature& signature) {
  std::string device = VisibleText(signature.device);
  if (!signature.driver.empty()) device += ", driver " + VisibleText(signature.driver);
  return device;
}

std::string SpanOfTime(uint64_t first_ns, uint64_t last_ns) {
  if (last_ns == 0) return "";
  if (first_ns == last_ns) return TimeInWords(first_ns);
  return fmt::format("{} to {}", TimeInWords(first_ns), TimeInWords(last_ns));
}

}  // namespace

std::string IsoTime(uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds),
                     realtime_ns / 1'000'000 % 1000);
}

std::string RedactedFileName(const std::string& file) {
  return RedactedName(std::string_view(file).substr(file.find_last_of("/\\") + 1)) + ".cairn";
}

Result<DumpSummary> SummariseDump(const std::string& file, DumpNames names) {
  Result<FileReader> reader = FileReader::Open(file, Check::kStructure);
  if (!reader.ok()) return reader.status();
  Result<Snapshot> read = ReadSnapshot(*reader);
  if (!read.ok()) {
    if (reader->losses().empty()) {
      return Status(StatusCode::kNotFound, "it holds no report; cairn info shows what it holds");
    }
    return Status(StatusCode::kCorrupt, reader->losses().front().reason);
  }
  const bool is_redacted = names == DumpNames::kRedacted;
  const Snapshot snapshot = is_redacted ? Redact(std::move(*read)) : std::move(*read);
  const Findings findings = AnalyseDump(snapshot);
  DumpSummary dump;
  dump.file = is_redacted ? RedactedFileName(file) : file;
  dump.size_bytes = reader->size_bytes();
  dump.seen_ns = SeenNs(snapshot);
  dump.program = snapshot.Text(snapshot.process.program);
  dump.version = snapshot.Text(snapshot.process.library_version);
  dump.certainty = findings.culprit.certainty;
  dump.sentence = AnswerLine(AnswerInWords(snapshot, findings));
  dump.loss_count = snapshot.losses.size();
  dump.content = ContentOf(*reader);
  dump.signature = SignatureOf(snapshot, findings);
  return dump;
}

std::string TriageLine(const DumpSummary& dump) {
  std::string line;
  JsonWriter json(&line, JsonWriter::kOneLine);
  BeginLine(dump.file, &json);
  json.NullKey("error");
  json.NumberKey("size", dump.size_bytes);
  IsoTimeKey("seen", dump.seen_ns, &json);
  json.StringKey("program", dump.program);
  json.StringKey("library_version", dump.version);
  json.StringKey("signature", dump.signature.id);
  json.StringKey("kind", dump.signature.kind);
  json.StringKey("cause", dump.signature.cause);
  json.StringKey("path", PathOf(dump.signature));
  json.StringKey("shaders", ShadersOf(dump.signature));
  json.StringKey("device", dump.signature.device);
  json.StringKey("driver", dump.signature.driver);
  json.StringKey("how_sure", CertaintyWord(dump.certainty));
  json.StringKey("certainty", OldCertaintyWord(dump.certainty));
  json.StringKey("sentence", dump.sentence);
  json.NumberKey("losses", dump.loss_count);
  json.EndObject();
  return line + "\n";
}

std::string TriageLine(std::string_view file, const Status& why_not) {
  std::string line;
  JsonWriter json(&line, JsonWriter::kOneLine);
  BeginLine(file, &json);
  json.StringKey("error", why_not.message());
  json.EndObject();
  return line + "\n";
}

void Triage::Add(const DumpSummary& dump) {
  ++dump_count_;
  TriageGroup& group = groups_[dump.signature.id];
  if (group.count++ == 0) group.signature = dump.signature;
  const bool is_example = group.count == 1 || dump.seen_ns > group.last_seen_ns ||
                          (dump.seen_ns == group.last_seen_ns && dump.file < group.example);
  if (dump.seen_ns != 0) {
    group.last_seen_ns = std::max(group.last_seen_ns, dump.seen_ns);
    group.first_seen_ns =
        group.first_seen_ns == 0 ? dump.seen_ns : std::min(group.first_seen_ns, dump.seen_ns);
  }
  if (!is_example) return;
  group.example = dump.file;
  group.sentence = dump.sentence;
}

void Triage::AddGroup(TriageGroup added) {
  dump_count_ += added.count;
  TriageGroup& group = groups_[added.signature.id];
  added.count += group.count;
  group = std::move(added);
}

void Triage::AddUnreadable(std::string_view file, const Status& why_not) {
  ++unreadable_count_;
  if (unreadable_.size() == kMostUnreadable) return;
  unreadable_.push_back({std::string(file), why_not.message()});
}

std::vector<const TriageGroup*> Triage::Sorted() const {
  std::vector<const TriageGroup*> sorted;
  for (const auto& [id, group] : groups_) sorted.push_back(&group);
  std::stable_sort(sorted.begin(), sorted.end(), [](const TriageGroup* a, const TriageGroup* b) {
    if (a->count != b->count) return a->count > b->count;
    return a->last_seen_ns > b->last_seen_ns;
  });
  return sorted;
}

std::string Triage::Text() const {
  std::string text = fmt::format("{}, {}", Counted(dump_count_, "dump", "dumps"),
                                 Counted(groups_.size(), "signature", "signatures"));
  if (unreadable_count_ != 0) {
    text +=
        fmt::format("; {} without a report", Counted(unreadable_count_, "file is", "files are"));
  }
  text += '\n';
  for (const TriageGroup* const group : Sorted()) {
    const Signature& signature = group->signature;
    Append(text, "\n{:>5} {}\n", GroupedDigits(group->count), Title(signature));
    AddRow("shaders", ShadersOf(signature), text);
    AddRow("device", DeviceOf(signature), text);
    AddRow("seen", SpanOfTime(group->first_seen_ns, group->last_seen_ns), text);
    AddRow("signature", signature.id, text);
    AddRow("example", VisibleText(group->example), text);
  }
  return text;
}

std::string Triage::Json() const {
  std::string text;
  JsonWriter json(&text);
  Write(&json);
  return text;
}

std::string Triage::ShortJson(uint64_t most_bytes) const {
  std::string text;
  JsonWriter json(&text, JsonWriter::kOneLine);
  json.LimitBytes(most_bytes);
  Write(&json);
  return text;
}

std::vector<std::string> Triage::GroupIds() const {
  std::vector<std::string> ids;
  for (const TriageGroup* const group : Sorted()) ids.push_back(group->signature.id);
  return ids;
}

void Triage::Write(JsonWriter* to) const {
  JsonWriter& json = *to;
  json.BeginObject();
  json.StringKey("format", "cairn-triage");
  json.NumberKey("version", kTriageVersion);
  json.NumberKey("dumps", dump_count_);
  json.BeginArray("groups");
  for (const TriageGroup* const group : Sorted()) {
    json.BeginObject();
    json.NumberKey("count", group->count);
    IsoTimeKey("first_seen", group->first_seen_ns, &json);
    IsoTimeKey("last_seen", group->last_seen_ns, &json);
    WriteSignature(group->signature, &json);
    json.BeginObject("example");
    json.StringKey("file", group->example);
    json.StringKey("sentence", group->sentence);
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
  json.NumberKey("unreadable_count", unreadable_count_);
  json.BeginArray("unreadable");
  for (const Unreadable& file : unreadable_) {
    json.BeginObject();
    json.StringKey("file", file.file);
    json.StringKey("reason", file.reason);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace cairn
