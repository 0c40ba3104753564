// SPDX-License-Identifier: Apache-2.0
// Any records must be verified, and give a state: calls with any arguments, objects with any facts. The
// input is records: u8 kind, u8 + u8 method, u8 object, u8 thread and flags, u8 size, body.
#include <cstdint>
#include <cstdlib>

#include "format/trace/record_chunk.h"
#include "format/trace/testing/test_trace.h"
#include "format/trace/trace_state.h"
#include "format/trace/verify.h"

namespace cairn {
namespace {

constexpr size_t kMostRecords = 300;

void Require(bool condition) {
  if (!condition) std::abort();
}

void AddRecords(std::span<const std::byte> input, TestTrace* test) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(input[i]); };
  for (size_t count = 0; input.size() >= 6 && count < kMostRecords; ++count) {
    const auto kind = static_cast<RecordKind>(1 + at(0) % kLastRecordKind);
    const auto method = static_cast<uint16_t>((at(1) | at(2) << 8) % (kMethodCount + 1));
    const uint64_t object = at(3);
    test->thread = at(4) % 4;
    const size_t size = std::min<size_t>(at(5), input.size() - 6);
    std::span<const std::byte> body = input.subspan(6, size);
    std::vector<std::byte> whole;
    if (kind == RecordKind::kResult && !body.empty()) {
      // The first byte says how long ago the call was.
      const uint64_t distance = 1 + static_cast<uint64_t>(body[0]) % 8;
      const uint64_t call = test->number + 1 > distance ? test->number + 1 - distance : 0;
      whole = BodyBytes(ResultBody{call}, body.subspan(1));
      body = whole;
    } else if (kind == RecordKind::kBlob) {
      whole = BodyBytes(BlobBody{static_cast<uint32_t>(size), 0}, body);
      body = whole;
    }
    test->Add(kind, object, body, method);
    input = input.subspan(6 + size);
  }
}

void Run(std::span<const std::byte> input) {
  TestTrace test(Compression::kNone);
  AddRecords(input, &test);
  TraceReader trace = test.Open();
  const Result<VerifyReport> report = VerifyTrace(&trace, {});
  Require(report.ok());
  for (const Finding& finding : report->findings) Require(!finding.text.empty());

  TraceState state(trace);
  TraceCursor cursor(trace);
  Record record;
  uint64_t made = 0;
  uint64_t ended = 0;
  while (cursor.Next(&record)) {
    const bool good = state.Apply(record).ok();
    made += good && record.kind == RecordKind::kObject;
    ended += good && record.kind == RecordKind::kObjectEnd;
    uint64_t address = record.object;
    if (record.body.size() >= sizeof(address)) {
      std::memcpy(&address, record.body.data(), sizeof(address));
    }
    state.GpuAddress(address);
    state.CpuDescriptor(address);
    state.GpuDescriptor(address);
    state.Object(record.object);
  }
  Require(state.objects().size() == made);
  Require(state.alive_count() == made - ended);
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::Run(std::as_bytes(std::span(data, size)));
  return 0;
}
