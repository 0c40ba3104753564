// SPDX-License-Identifier: Apache-2.0
#include "reader/view/triage_page_data.h"

#include <algorithm>
#include <utility>

#include "base/json_writer.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

constexpr uint64_t kDayNs = uint64_t{86'400} * 1'000'000'000;
// Browsers hold it many times over.
constexpr uint64_t kMostGroupBytes = uint64_t{48} << 20;
constexpr uint64_t kMostBytes = uint64_t{96} << 20;

}  // namespace

uint32_t TriagePageData::Names::PlaceOf(const std::string& name) {
  const auto [at, is_new] = places_.try_emplace(name, static_cast<uint32_t>(all_.size()));
  if (is_new) all_.push_back(name);
  return at->second;
}

void TriagePageData::AddFile(File file, std::vector<File>* files) {
  const auto is_before = [](const File& a, const File& b) {
    return a.seen_ns != b.seen_ns ? a.seen_ns > b.seen_ns : a.name < b.name;
  };
  files->insert(std::upper_bound(files->begin(), files->end(), file, is_before), std::move(file));
  if (files->size() > kMostFiles) files->pop_back();
}

void TriagePageData::Add(const DumpSummary& dump, uint64_t number) {
  triage_.Add(dump);
  Detail& detail = details_[dump.signature.id];
  const int64_t day = dump.seen_ns == 0 ? -1 : static_cast<int64_t>(dump.seen_ns / kDayNs);
  ++detail.counts[{.day = day,
                   .program = programs_.PlaceOf(dump.program),
                   .version = versions_.PlaceOf(dump.version),
                   .certainty = dump.certainty}];
  AddFile({dump.file, dump.seen_ns, number}, &detail.files);
}

std::string TriagePageData::Json() const {
  std::string text;
  JsonWriter json(&text, JsonWriter::kOneLine);
  json.LimitBytes(kMostBytes);
  json.BeginObject();
  json.StringKey("format", "cairn-triage-page");
  json.NumberKey("version", 1);
  json.StringKey("place", place_);
  json.StringKey("made", IsoTime(made_ns_));
  json.BoolKey("served", is_served_);
  json.NumberKey("group_count", triage_.group_count());
  json.JsonKey("triage", triage_.ShortJson(kMostGroupBytes));
  json.StringsKey("programs", programs_.all());
  json.StringsKey("library_versions", versions_.all());
  json.BeginArray("details");
  for (const std::string& id : triage_.GroupIds()) {
    const Detail& detail = details_.at(id);
    json.BeginObject();
    json.BeginArray("counts");
    for (const auto& [cell, count] : detail.counts) {
      json.BeginArray();
      json.SignedNumber(cell.day);
      json.Number(cell.program);
      json.Number(cell.version);
      json.String(CertaintyWord(cell.certainty));
      json.Number(count);
      json.EndArray();
    }
    json.EndArray();
    json.BeginArray("files");
    for (const File& file : detail.files) {
      json.BeginObject();
      json.StringKey("file", file.name);
      file.seen_ns == 0 ? json.NullKey("seen") : json.StringKey("seen", IsoTime(file.seen_ns));
      json.NumberKey("number", file.number);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.NumberKey("left_out", json.left_out_count());
  json.EndObject();
  return text;
}

}  // namespace cairn
