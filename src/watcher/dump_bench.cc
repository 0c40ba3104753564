// SPDX-License-Identifier: Apache-2.0
//
// Measures a dump once the watcher has noticed an incident, for a block of 100,000 markers.
#include <benchmark/benchmark.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <string>

#include "cairn/marker_types.h"

#include "format/file/file_writer.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/testing/test_block.h"
#include "watcher/watched_block.h"

namespace cairn {
namespace {

constexpr uint32_t kLists = 50;
constexpr uint32_t kMarkersPerList = 2000;
constexpr uint32_t kPipelines = 200;
constexpr uint32_t kNames = 5000;

// Names, types and pipelines in no order, so that the file does not compress better than a real
// one.
WatchedBlock BlockOf100000Markers() {
  TestBlock block(uint64_t{64} << 20);
  std::mt19937 random(1);
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "Graphics");
  for (uint32_t i = 0; i < kPipelines; ++i) {
    block.AddPipeline(context, "Material " + std::to_string(random()));
  }
  for (uint32_t i = 0; i < kLists; ++i) {
    const TestBlock::List list = block.AddList(context, queue, i, "List " + std::to_string(i));
    const uint32_t pass = block.Begin(list, CAIRN_MARKER_PASS, "Frame");
    for (uint32_t k = 1; k < kMarkersPerList; ++k) {
      const bool is_draw = random() % 4 != 0;
      block.Scope(list, is_draw ? CAIRN_MARKER_DRAW_INDEXED : CAIRN_MARKER_DISPATCH,
                  "Mesh " + std::to_string(random() % kNames), 1 + random() % kPipelines);
    }
    block.End(list, pass);
    block.Close(list);
    block.Submit(queue, list);
    block.SetProgress(list, kMarkersPerList, kMarkersPerList - 1);
  }
  Result<SharedMemory> memory = SharedMemory::Create("bench", block.bytes().size());
  std::memcpy(memory->data(), block.bytes().data(), block.bytes().size());
  return WatchedBlock(std::move(memory).value());
}

std::string OutputPath() {
  return (std::filesystem::temp_directory_path() / "cairn_dump_bench.cairn").string();
}

// From the decision to the renamed file, synchronised to the disk.
void Dump(benchmark::State& state) {
  const WatchedBlock block = BlockOf100000Markers();
  const NoticedIncident incidents[] = {{.kind = IncidentKind::kSignal, .value = 9, .time_ns = 1}};
  const DumpSubject subject{1, "game", "./game", incidents};
  for (auto _ : state) {
    const Status written = WriteDump(OutputPath(), subject, block);
    if (!written.ok()) state.SkipWithError(written.message().c_str());
  }
  state.counters["file_bytes"] = static_cast<double>(std::filesystem::file_size(OutputPath()));
  std::filesystem::remove(OutputPath());
}
BENCHMARK(Dump)->Unit(benchmark::kMillisecond)->UseRealTime();

// From the decision to the first bytes that survive a crash of the machine: what happened, to whom.
void DumpFirstBytes(benchmark::State& state) {
  Snapshot head;
  head.process.program = head.AddText("game");
  head.incidents.push_back({.kind = IncidentKind::kSignal, .value = 9});
  for (auto _ : state) {
    Result<FileWriter> writer = FileWriter::Create(OutputPath());
    if (!writer.ok() || !WriteSnapshotHead(head, &*writer).ok()) state.SkipWithError("no file");
    state.PauseTiming();
    (void)writer->Finish().ok();
    state.ResumeTiming();
  }
  std::filesystem::remove(OutputPath());
}
BENCHMARK(DumpFirstBytes)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
