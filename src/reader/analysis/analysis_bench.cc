// SPDX-License-Identifier: Apache-2.0
//
// Analyse: the cost of judging 100,000 scopes, which is on the way between a device loss and the first
// line of its report. AnalyseDump: the same with everything else that a report has.
#include <benchmark/benchmark.h>

#include "cairn/marker_types.h"

#include "reader/analysis/findings.h"

namespace cairn {
namespace {

// `list_count` lists of passes with nine draws each, submitted in order to one queue; the middle one
// is in flight.
Snapshot MakeSnapshot(uint32_t scope_count, uint32_t list_count) {
  constexpr uint32_t kDrawsPerPass = 9;
  Snapshot snapshot;
  snapshot.devices.emplace_back();
  snapshot.queues.emplace_back().device = 0;
  const uint32_t pass_count = scope_count / list_count / (kDrawsPerPass + 1);
  for (uint32_t list = 0; list < list_count; ++list) {
    Recording recording;
    recording.device = 0;
    recording.queue = 0;
    recording.recording_id = list + 1;
    recording.first_event = static_cast<uint32_t>(snapshot.events.size());
    recording.submit_count = 1;
    for (uint32_t pass = 0; pass < pass_count; ++pass) {
      const uint32_t begin = recording.event_count + 1;
      const uint32_t end = begin + 2 * kDrawsPerPass + 1;
      snapshot.events.push_back(
          {EventKind::kBegin, kEventWritesTop, CAIRN_MARKER_PASS, kNone, end, {}});
      for (uint32_t draw = begin + 1; draw < end; draw += 2) {
        snapshot.events.push_back(
            {EventKind::kBegin, kEventWritesTop, CAIRN_MARKER_DRAW_INDEXED, kNone, draw + 1, {}});
        snapshot.events.push_back({EventKind::kEnd, kEventWritesBottom, 0, kNone, draw, {}});
      }
      snapshot.events.push_back({EventKind::kEnd, kEventWritesBottom, 0, kNone, begin, {}});
      recording.event_count = end;
    }
    if (list == list_count / 2) {
      const uint32_t middle = (recording.event_count / 2) & ~1u;
      recording.passed = snapshot.events[recording.first_event + middle].kind == EventKind::kEnd
                             ? middle + 1
                             : middle;
      recording.reached = 2;
    } else if (list < list_count / 2) {
      recording.reached = recording.event_count - 2;
      recording.passed = recording.event_count;
    }
    snapshot.submissions.push_back({list + 1u, 0, list, 1, list + 1u, 0});
    snapshot.recordings.push_back(recording);
  }
  return snapshot;
}

void Analyse(benchmark::State& state) {
  const Snapshot snapshot = MakeSnapshot(100'000, static_cast<uint32_t>(state.range(0)));
  size_t scope_count = 0;
  for (auto _ : state) {
    const Analysis analysis = Analyse(snapshot);
    scope_count = analysis.scopes.size();
    benchmark::DoNotOptimize(analysis.verdicts.data());
  }
  state.counters["scopes"] = static_cast<double>(scope_count);
  state.counters["per_scope"] = benchmark::Counter(
      static_cast<double>(scope_count),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(Analyse)->ArgName("lists")->Arg(1)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void AnalyseDump(benchmark::State& state) {
  const Snapshot snapshot = MakeSnapshot(100'000, static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    const Findings findings = AnalyseDump(snapshot);
    benchmark::DoNotOptimize(findings.culprit.suspects.data());
  }
}
BENCHMARK(AnalyseDump)
    ->ArgName("lists")
    ->Arg(1)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
