// SPDX-License-Identifier: Apache-2.0
// Any records must give a trace that opens, says that it was redacted, and whose calls can be read and
// hold no name but hashes. The input is that of trace_verify_fuzz, behind a byte that says what to redact.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "format/calls/encoded_values.h"
#include "format/trace/testing/record_fuzz_input.h"
#include "format/trace/trace_tables.h"
#include "reader/redact/trace_redaction.h"
#include "reader/redact/value_roles.h"

namespace cairn {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// A text with its size in front.
bool IsHashOrNothing(std::span<const std::byte> text, Shape shape) {
  const size_t character_bytes = shape == Shape::kWideString ? 2 : 1;
  const std::span<const std::byte> units = text.subspan(sizeof(uint32_t));
  constexpr std::string_view kStart = "name-";
  if (units.empty()) return true;
  if (units.size() != (kStart.size() + 16) * character_bytes) return false;
  for (size_t i = 0; i < kStart.size(); ++i) {
    if (units[i * character_bytes] != static_cast<std::byte>(kStart[i])) return false;
  }
  return true;
}

void RequireNoName(TraceReader& trace, const Record& record, Method method, Arena* arena) {
  const bool is_result = record.kind == RecordKind::kResult;
  const CallBody kind = is_result ? CallBody::kResults : CallBody::kArguments;
  const std::span<const std::byte> body =
      is_result ? record.body.subspan(sizeof(ResultBody)) : record.body;
  DecodeOptions options;
  options.blobs = &trace;
  std::vector<EncodedValue> values;
  arena->Reset();
  Require(FindEncodedValues(Describe(method), body, kind, options, arena, &values).ok());
  for (const EncodedValue& value : values) {
    if (value.shape == Shape::kBytes) continue;
    if (RoleOfText(Describe(method), value, kind) != ValueRole::kName) continue;
    Require(IsHashOrNothing(body.subspan(value.offset, value.size_bytes), value.shape));
  }
}

void Run(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto what = static_cast<uint8_t>(input[0]);
  TestTrace test(Compression::kNone);
  AddFuzzedRecords(input.subspan(1), &test);
  Result<TraceReader> trace = test.TryOpen();
  if (!trace.ok()) return;
  MemoryFile file;
  Result<FileWriter> writer =
      FileWriter::CreateOn(std::make_unique<MemorySink>(file), Compression::kNone);
  const Result<RedactedTrace> redacted =
      RedactTrace(&*trace, {.shaders = (what & 1) != 0, .contents = (what & 2) != 0}, &*writer);
  Require(redacted.ok());
  Require(redacted->copied.totals.records + redacted->unread <= trace->record_count());
  Require(writer->Finish().ok());
  Result<TraceReader> copy = TraceReader::FromBytes(file.bytes);
  Require(copy.ok() && copy->table().redaction.names);
  Arena arena(uint64_t{512} << 20);  // more than redaction has
  TraceCursor cursor(*copy);
  Record record;
  while (cursor.Next(&record)) {
    if (record.kind != RecordKind::kCall && record.kind != RecordKind::kResult) continue;
    const std::optional<Method> method = copy->MethodOf(record);
    Require(method.has_value());
    RequireNoName(*copy, record, *method, &arena);
  }
  Require(cursor.status().ok());
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::Run(std::as_bytes(std::span(data, size)));
  return 0;
}
