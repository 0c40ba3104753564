// SPDX-License-Identifier: Apache-2.0
//
// Shows any trace as the verbs do: the output ends, is text that JSON can hold, and a trace does
// not differ from itself. The input is that of format/trace/testing/record_fuzz_input.h.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "format/trace/testing/record_fuzz_input.h"
#include "format/trace/verify.h"
#include "reader/view/bound_state.h"
#include "reader/view/call_listing.h"
#include "reader/view/perfetto_export.h"
#include "reader/view/trace_diff.h"
#include "reader/view/trace_views.h"

namespace cairn::cli {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckLines(std::string_view text, bool json) {
  Require(text.empty() || text.ends_with('\n'));
  while (json && !text.empty()) {
    const size_t end = text.find('\n');
    Require(nlohmann::json::accept(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
}

uint64_t CountListed(TraceReader& trace, const CallListingOptions& options) {
  const Result<ListedCalls> listed =
      ListCalls(trace, options, GpuStates(), [&](std::string_view text) {
        CheckLines(text, options.json);
        return true;
      });
  Require(listed.ok() || !listed.status().message().empty());
  return listed.ok() ? listed->calls : 0;
}

void ShowCalls(TraceReader& trace, std::span<const KeptRecord> records) {
  CallListingOptions options;
  const uint64_t calls = CountListed(trace, options);
  options.names = false;
  Require(CountListed(trace, options) == calls);
  options.names = true;
  options.whole = true;
  options.json = true;
  Require(CountListed(trace, options) == calls);
  for (const KeptRecord& kept : records) {
    if (kept.record.kind != RecordKind::kCall) continue;
    options.json = false;
    options.filter.around = kept.record.number;
    options.filter.context = 1;
    CountListed(trace, options);
    break;
  }
  options.filter = {};
  options.filter.submission = 1;
  CountListed(trace, options);
  options.filter = {};
  options.filter.object = 1;
  CountListed(trace, options);
}

void ShowStates(TraceReader& trace, std::span<const KeptRecord> records) {
  constexpr size_t kMostStates = 6;
  size_t states = 0;
  for (auto kept = records.rbegin(); kept != records.rend() && states < kMostStates; ++kept) {
    if (kept->record.kind != RecordKind::kCall) continue;
    const Result<ListState> state = ListStateAt(trace, kept->record.number);
    if (!state.ok()) {
      Require(!state.status().message().empty());
      continue;
    }
    ++states;
    Require(nlohmann::json::accept(ListStateJson(*state)));
    Require(!ListStateInWords(*state).empty());
  }
}

void ShowObjects(TraceReader& trace, std::span<const KeptRecord> records) {
  ObjectQuery query;
  const Result<ObjectList> at_end = ListObjects(trace, query);
  Require(at_end.ok() && at_end->alive <= at_end->made);
  std::string json;
  Require(!ObjectsText(*at_end).empty() && WriteObjectsJson(*at_end, [&](std::string_view piece) {
    json += piece;
    return !piece.empty();
  }));
  Require(nlohmann::json::accept(json));
  if (records.empty()) return;
  query.at_number = records[records.size() / 2].record.number;
  const Result<ObjectList> there = ListObjects(trace, query);
  Require(there.ok() && there->made <= at_end->made);
}

void ShowWhole(TraceReader& trace) {
  std::string info;
  JsonWriter json(&info);
  WriteTraceInfo(trace, &json);
  Require(!TraceInfoText(trace).empty() && nlohmann::json::accept(info));
  const Result<VerifyReport> report = VerifyTrace(&trace, {});
  if (!report.ok()) return;
  Require(!VerifyText("a.cairn", *report, trace.frame_count()).empty());
  Require(nlohmann::json::accept(VerifyJson(*report, trace.frame_count())));
}

void ShowExport(TraceReader& trace) {
  std::string bytes;
  const Result<ExportedCalls> exported = ExportCalls(
      trace,
      [&](std::string_view piece) {
        bytes += piece;
        return true;
      },
      [](uint64_t, uint64_t) { return true; });
  Require(exported.ok() ? !bytes.empty() : !exported.status().message().empty());
}

void Run(std::span<const std::byte> input) {
  TestTrace test(Compression::kNone);
  AddFuzzedRecords(input, &test);
  TraceReader trace = test.Open();
  const std::vector<KeptRecord> records = ReadAll(trace);
  ShowWhole(trace);
  ShowObjects(trace, records);
  ShowCalls(trace, records);
  ShowStates(trace, records);
  ShowExport(trace);
  TraceReader again = test.Open();
  const Result<TraceDiffResult> difference = CompareTraces(trace, again, {});
  Require(difference.ok() ? difference->differences == 0 : !difference.status().message().empty());
}

}  // namespace
}  // namespace cairn::cli

// A few bytes may ask for much memory, which is bounded and never touched. AddressSanitizer, which marks
// all of it, would take seconds: without it the record is refused, as it is beyond the bound.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=32";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::cli::Run(std::as_bytes(std::span(data, size)));
  return 0;
}
