// SPDX-License-Identifier: Apache-2.0
// Any chunks must give records and losses or an error. Records that were read are found again by
// number and by frame, and are read back after they are written again.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "format/trace/record_chunk.h"
#include "format/trace/testing/test_trace.h"
#include "format/trace/testing/trace_fuzz_input.h"
#include "format/trace/trace_filter.h"
#include "format/trace/verify.h"

namespace cairn {
namespace {

constexpr size_t kMostRecords = 2000;

void Require(bool condition) {
  if (!condition) std::abort();
}

void Seek(TraceReader& trace, const std::vector<KeptRecord>& records) {
  TraceCursor cursor(trace);
  Record record;
  for (size_t i = 0; i < records.size(); i += 1 + records.size() / 8) {
    Require(cursor.SeekNumber(records[i].record.number).ok());
    Require(cursor.Next(&record) && record.number == records[i].record.number);
    Require(cursor.frame() == records[i].frame);
    if (!cursor.SeekFrame(records[i].frame).ok()) continue;
    Require(cursor.Next(&record) && record.number <= records[i].record.number);
  }
}

void WriteAgain(TraceReader& trace, const std::vector<KeptRecord>& records) {
  MemoryFile file;
  Result<FileWriter> writer =
      FileWriter::CreateOn(std::make_unique<MemorySink>(file), Compression::kNone);
  Result<CopiedTrace> copied = CopyTrace(&trace, nullptr, {}, &*writer);
  // Records that no writer would write are refused.
  if (!copied.ok()) return;
  Require(writer->Finish().ok());
  Result<TraceReader> again = TraceReader::FromBytes(file.bytes);
  Require(again.ok());
  std::vector<KeptRecord> copies = ReadAll(*again);
  size_t at = 0;
  for (const KeptRecord& copy : copies) {
    while (at < records.size() && records[at].record.number != copy.record.number) ++at;
    Require(at < records.size());
    Require(copy.record.kind == records[at].record.kind && copy.body == records[at].body);
    Require(copy.record.object == records[at].record.object);
    Require(copy.record.thread == records[at].record.thread);
  }
}

void Run(std::span<const std::byte> input) {
  const std::vector<std::byte> file = FileFromFuzzInput(input);
  Result<TraceReader> trace = TraceReader::FromBytes(file);
  if (!trace.ok()) {
    Require(!trace.status().message().empty());
    return;
  }
  if (trace->record_count() > kMostRecords) return;
  const std::vector<KeptRecord> records = ReadAll(*trace);
  uint64_t last = 0;
  for (const KeptRecord& kept : records) {
    Require(kept.record.number > last);
    last = kept.record.number;
    trace->MethodOf(kept.record);
    // A name may be anything, but a number beyond the table has one, too.
    trace->MethodName(kept.record);
  }
  Seek(*trace, records);
  WriteAgain(*trace, records);
  const Result<VerifyReport> report = VerifyTrace(&*trace, {});
  Require(!report.ok() || report->records == records.size());
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::Run(std::as_bytes(std::span(data, size)));
  return 0;
}
