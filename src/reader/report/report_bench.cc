// SPDX-License-Identifier: Apache-2.0
//
// Measures a crash: from the block to each form of the report. `markers` is the number of scopes.
#include <benchmark/benchmark.h>

#include "format/snapshot/progress_probe.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "reader/report/json.h"
#include "reader/report/text.h"

namespace cairn {
namespace {

constexpr uint32_t kEverything = 0xF;  // the four flags that expand the tree

TestBlock MakeBlock(const benchmark::State& state) {
  TestBlock block(64 << 20);
  FillLargeBlock(&block, static_cast<uint32_t>(state.range(0)));
  return block;
}

Snapshot Take(const TestBlock& block) {
  return std::move(SnapshotFromBlock(block.bytes(), 1).value());
}

void CountBytes(benchmark::State& state, size_t bytes) {
  state.counters["bytes"] = static_cast<double>(bytes);
}

void BM_SnapshotFromBlock(benchmark::State& state) {
  const TestBlock block = MakeBlock(state);
  for (auto _ : state) benchmark::DoNotOptimize(Take(block));
}

void BM_TextReport(benchmark::State& state) {
  const Snapshot snapshot = Take(MakeBlock(state));
  const Findings findings = AnalyseDump(snapshot);
  size_t bytes = 0;
  for (auto _ : state) bytes = TextReport(snapshot, findings, {}).size();
  CountBytes(state, bytes);
}

void BM_TextReportEverything(benchmark::State& state) {
  const Snapshot snapshot = Take(MakeBlock(state));
  const Findings findings = AnalyseDump(snapshot);
  size_t bytes = 0;
  for (auto _ : state) {
    bytes = TextReport(snapshot, findings, {.print_flags = kEverything}).size();
  }
  CountBytes(state, bytes);
}

void BM_JsonReport(benchmark::State& state) {
  const Snapshot snapshot = Take(MakeBlock(state));
  const Findings findings = AnalyseDump(snapshot);
  size_t bytes = 0;
  for (auto _ : state) bytes = JsonReport(snapshot, findings).size();
  CountBytes(state, bytes);
}

// Into memory: what the disk adds depends on the disk.
void BM_WriteSnapshot(benchmark::State& state) {
  const Snapshot snapshot = Take(MakeBlock(state));
  size_t bytes = 0;
  for (auto _ : state) bytes = SnapshotFileBytes(snapshot).size();
  CountBytes(state, bytes);
}

void BM_ReadSnapshot(benchmark::State& state) {
  const std::vector<std::byte> file = SnapshotFileBytes(Take(MakeBlock(state)));
  for (auto _ : state) {
    const Result<FileReader> reader = FileReader::FromBytes(file);
    benchmark::DoNotOptimize(ReadSnapshot(*reader));
  }
  CountBytes(state, file.size());
}

// The whole way: block, analysis, complete text.
void BM_BlockToText(benchmark::State& state) {
  const TestBlock block = MakeBlock(state);
  size_t bytes = 0;
  for (auto _ : state) {
    const Snapshot snapshot = Take(block);
    bytes = TextReport(snapshot, AnalyseDump(snapshot), {.print_flags = kEverything}).size();
  }
  CountBytes(state, bytes);
}

// Measures the work that a watchdog does ten times a second; the argument is the number of live
// lists.
void BM_ProgressProbe(benchmark::State& state) {
  TestBlock block(64 << 20);
  const uint32_t context = block.AddContext(static_cast<uint32_t>(state.range(0)));
  const uint32_t queue = block.AddQueue(context, 0, "");
  for (int64_t i = 0; i < state.range(0); ++i) {
    const TestBlock::List list = block.AddList(context, queue, 0, "");
    block.Scope(list, 0, "Pass");
    block.Close(list);
    block.Submit(queue, list);
    block.SetProgress(list, 1, 0);
  }
  ProgressProbe probe = std::move(ProgressProbe::Open(block.bytes()).value());
  for (auto _ : state) benchmark::DoNotOptimize(probe.Poll());
}

BENCHMARK(BM_SnapshotFromBlock)->ArgName("markers")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_TextReport)->ArgName("markers")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_TextReportEverything)->ArgName("markers")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_JsonReport)->ArgName("markers")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WriteSnapshot)->ArgName("markers")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadSnapshot)->ArgName("markers")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_BlockToText)->ArgName("markers")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ProgressProbe)->ArgName("lists")->Arg(16)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
