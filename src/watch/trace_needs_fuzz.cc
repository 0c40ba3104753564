// SPDX-License-Identifier: Apache-2.0
// Of any records it must be found out what they need: lists with any calls, descriptors of any heap. The
// input is u8 how many records are restored, then records: u8 kind, u8 + u8 method, u8 object, u8 size,
// body.
#include <cstdint>
#include <cstdlib>

#include "trace/record_chunk.h"
#include "trace/test_trace.h"
#include "watch/start_losses.h"
#include "watch/unneeded_contents.h"
#include "watch/unused_objects.h"

namespace cairn {
namespace {

constexpr size_t kMostRecords = 120;

void Require(bool condition) {
  if (!condition) std::abort();
}

void AddRecords(std::span<const std::byte> input, TestTrace* test) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(input[i]); };
  if (input.empty()) return;
  const size_t restored = at(0);
  input = input.subspan(1);
  for (size_t count = 0; input.size() >= 5 && count < kMostRecords; ++count) {
    const auto kind = static_cast<RecordKind>(1 + at(0) % kLastRecordKind);
    const auto method = static_cast<uint16_t>((at(1) | at(2) << 8) % (kMethodCount + 1));
    const uint64_t object = at(3);
    const size_t size = std::min<size_t>(at(4), input.size() - 5);
    std::span<const std::byte> body = input.subspan(5, size);
    std::vector<std::byte> whole;
    if (kind == RecordKind::kBlob) {
      whole = BodyBytes(BlobBody{static_cast<uint32_t>(size), 0}, body);
      body = whole;
    }
    test->Add(kind, object, body, method, count < restored ? kRecordRestores : 0);
    input = input.subspan(5 + size);
  }
}

// The records that a filter keeps; what it makes of contents can be read.
size_t CountKept(TraceReader* trace, RecordFilter* filter) {
  filter->Start();
  size_t kept = 0;
  TraceCursor cursor(*trace);
  Record record;
  while (cursor.Next(&record)) {
    if (record.kind == RecordKind::kBlob || !filter->Keep(&record, cursor.frame())) continue;
    ++kept;
    Require(record.body.size() < 1u << 20);
  }
  return kept;
}

void Run(std::span<const std::byte> input) {
  TestTrace test(Compression::kNone);
  AddRecords(input, &test);
  TraceReader trace = test.Open();
  Result<UnusedObjects> unused = UnusedObjects::Find(&trace);
  Require(unused.ok());
  Result<UnneededContents> unneeded = UnneededContents::Find(&trace);
  Require(unneeded.ok());
  RecordFilters both({&*unused, &*unneeded});
  const size_t kept = CountKept(&trace, &both);
  Require(kept <= CountKept(&trace, &*unneeded));
  Require(kept == CountKept(&trace, &both));
  Result<UnusedObjects> in_all = UnusedObjects::FindInAll(&trace, &both);
  Require(in_all.ok());
  CountKept(&trace, &*in_all);

  StartLosses losses;
  TraceCursor cursor(trace);
  Record record;
  while (cursor.Next(&record)) losses.Look(record);
  for (const std::string& line : losses.Told()) Require(!line.empty());
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::Run(std::as_bytes(std::span(data, size)));
  return 0;
}
