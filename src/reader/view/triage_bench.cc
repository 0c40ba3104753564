// SPDX-License-Identifier: Apache-2.0
//
// Measures the dumps a second that `cairn triage` reads. `markers` is the number of scopes of a
// dump; 0 stands for a golden one, as small as dumps are. `threads`: 0 stands for as many as the
// verb takes.
#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "reader/view/dump_reader.h"
#include "reader/view/triage.h"

namespace cairn {
namespace {

std::vector<std::byte> DumpBytes(uint32_t markers) {
  TestBlock block(64 << 20);
  markers == 0 ? FillVulkanBlock(&block) : FillLargeBlock(&block, markers);
  return SnapshotFileBytes(*SnapshotFromBlock(block.bytes(), 1));
}

void BM_Triage(benchmark::State& state) {
  constexpr size_t kFiles = 256;
  const std::vector<std::byte> bytes = DumpBytes(static_cast<uint32_t>(state.range(0)));
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "cairn-triage-bench.cairn";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const std::vector<std::string> files(kFiles, file.string());
  Triage triage;
  for (auto _ : state) {
    DumpReader dumps(files, static_cast<size_t>(state.range(1)));
    for (size_t i = 0; i < kFiles; ++i) {
      const Result<DumpSummary> dump = *dumps.Next(std::chrono::hours(1));
      if (!dump.ok()) return state.SkipWithError(dump.status().message().c_str());
      triage.Add(*dump);
    }
  }
  std::filesystem::remove(file);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kFiles));
  state.counters["bytes"] = static_cast<double>(bytes.size());
}
BENCHMARK(BM_Triage)
    ->ArgNames({"markers", "threads"})
    ->ArgsProduct({{0, 1000, 10'000, 100'000}, {1, 0}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
