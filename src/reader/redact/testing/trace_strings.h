// SPDX-License-Identifier: Apache-2.0
//
// For tests: all bytes of a trace as they are behind the compression, and the strings in them.
#ifndef CAIRN_READER_REDACT_TESTING_TRACE_STRINGS_H_
#define CAIRN_READER_REDACT_TESTING_TRACE_STRINGS_H_

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/calls/recorded_device.h"
#include "format/pix/pix_event.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_state.h"
#include "format/trace/trace_tables.h"

namespace cairn {

inline constexpr size_t kLeastString = 4;

inline std::string AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string AsUtf16(std::string_view ascii) {
  std::string wide;
  for (const char c : ascii) wide.append({c, '\0'});
  return wide;
}

// The payloads of all chunks but TABL, which has the names of all methods, and behind them the facts in it.
inline std::string DecodedBytes(const TraceReader& trace) {
  const FileReader& file = trace.file();
  std::string bytes;
  for (size_t i = 0; i < file.chunks().size(); ++i) {
    if (file.chunks()[i].type == kTraceTableChunk) continue;
    const Result<std::vector<std::byte>> payload = file.Read(i);
    if (payload.ok()) bytes += AsText(*payload) + '\n';
  }
  const TraceFacts& facts = trace.facts();
  return bytes + facts.program + '\n' + facts.command_line + '\n' + facts.library_version;
}

inline bool Holds(std::string_view bytes, std::string_view text) {
  return bytes.find(text) != bytes.npos || bytes.find(AsUtf16(text)) != bytes.npos;
}

// Runs of printable characters, of one byte or of two.
inline std::set<std::string> RunsIn(std::string_view bytes, size_t least, size_t character_bytes) {
  std::set<std::string> runs;
  for (size_t phase = 0; phase < character_bytes; ++phase) {
    std::string run;
    for (size_t i = phase; i + character_bytes <= bytes.size(); i += character_bytes) {
      const bool is_text =
          bytes[i] >= 0x20 && bytes[i] < 0x7F && (character_bytes == 1 || bytes[i + 1] == '\0');
      if (is_text) run += bytes[i];
      if (!is_text && run.size() >= least) runs.insert(run);
      if (!is_text) run.clear();
    }
    if (run.size() >= least) runs.insert(run);
  }
  return runs;
}

// Adds the text, and its parts between spaces and slashes.
inline void AddWords(std::string_view text, std::set<std::string>* words) {
  if (text.size() >= kLeastString) words->insert(std::string(text));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" /\\\"=,", at), text.size());
    if (end - at >= kLeastString) words->insert(std::string(text.substr(at, end - at)));
    at = end + 1;
  }
}

// Returns the program's own texts, as readers of traces find them.
inline std::set<std::string> NamesIn(TraceReader& trace) {
  std::set<std::string> names;
  AddWords(trace.facts().program, &names);
  AddWords(trace.facts().command_line, &names);
  for (const TraceThread& thread : trace.threads()) AddWords(thread.name, &names);
  TraceState state(trace);
  TraceCursor cursor(trace);
  Record record;
  Arena arena;
  while (cursor.Next(&record)) {
    (void)state.Apply(record);
    if (record.kind == RecordKind::kDevice) {
      const Result<RecordedDevice> device = DecodeDevice(record);
      if (device.ok()) AddWords(device->application, &names);
    }
    const std::optional<Method> method = trace.MethodOf(record);
    if (record.kind != RecordKind::kCall || !method.has_value()) continue;
    const TracedObject* const object = state.Find(record.object);
    if (object != nullptr) AddWords(object->name, &names);
    const std::string_view name = Describe(*method).name;
    if (!name.ends_with("::BeginEvent") && !name.ends_with("::SetMarker")) continue;
    std::span<const std::byte> rest = record.body;
    const Result<uint32_t> metadata = DecodeBody<uint32_t>(&rest);
    const Result<std::span<const std::byte>> payload = DecodeBytes(&rest, &trace, &arena);
    if (!payload.ok() || payload->data() == nullptr) continue;
    const PixEvent event = DecodePixEvent(*metadata, *payload);
    AddWords(event.text, &names);
    AddWords(event.name, &names);
    for (const PixArgument& argument : event.arguments) AddWords(argument.text, &names);
  }
  return names;
}

}  // namespace cairn

#endif  // CAIRN_READER_REDACT_TESTING_TRACE_STRINGS_H_
