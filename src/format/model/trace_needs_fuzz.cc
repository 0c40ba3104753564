// SPDX-License-Identifier: Apache-2.0
//
// Finds the needs of any records, and what lists have bound: lists with any calls, descriptors of any
// heap. The input is that of format/trace/testing/record_fuzz_input.h.
#include <cstdint>
#include <cstdlib>

#include "format/model/list_state.h"
#include "format/model/start_losses.h"
#include "format/model/unneeded_contents.h"
#include "format/model/unused_objects.h"
#include "format/trace/testing/record_fuzz_input.h"

namespace cairn {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
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

void RequireLimits(const BoundState& state) {
  for (const BoundState::Root* const root : {&state.graphics, &state.compute}) {
    for (const auto& [place, argument] : root->arguments) {
      Require(place.first < BoundState::kMostRootWords);
      Require(place.second + argument.constants.size() <= BoundState::kMostRootWords);
    }
    Require(root->arguments.size() <= BoundState::kMostRootWords);
  }
  for (const BoundState::Slots* const slots : {&state.vertex_buffers, &state.stream_output}) {
    Require(slots->size() <= BoundState::kMostSlots);
  }
}

void Run(std::span<const std::byte> input) {
  TestTrace test(Compression::kNone);
  AddFuzzedRecords(input, &test);
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
  ListTracker lists(&trace);
  while (cursor.Next(&record)) {
    losses.Look(record);
    lists.Look(record);
    if (const BoundState* const state = lists.Find(record.object)) RequireLimits(*state);
  }
  for (const std::string& line : losses.Told()) Require(!line.empty());
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::Run(std::as_bytes(std::span(data, size)));
  return 0;
}
