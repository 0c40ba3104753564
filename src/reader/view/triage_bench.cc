// SPDX-License-Identifier: Apache-2.0
//
// How many dumps a second `cairn triage` reads on one core. `markers` is the number of scopes of a dump; 0 stands for
// a golden one, as small as dumps are.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "reader/view/triage.h"

namespace cairn {
namespace {

std::vector<std::byte> DumpBytes(uint32_t markers) {
  TestBlock block(64 << 20);
  markers == 0 ? FillVulkanBlock(&block) : FillLargeBlock(&block, markers);
  return SnapshotFileBytes(*SnapshotFromBlock(block.bytes(), 1));
}

void BM_Triage(benchmark::State& state) {
  const std::vector<std::byte> bytes = DumpBytes(static_cast<uint32_t>(state.range(0)));
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "cairn-triage-bench.cairn";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  Triage triage;
  for (auto _ : state) {
    const Result<DumpSummary> dump = SummariseDump(file.string());
    if (!dump.ok()) {
      state.SkipWithError(dump.status().message().c_str());
      break;
    }
    triage.Add(*dump);
  }
  std::filesystem::remove(file);
  state.SetItemsProcessed(state.iterations());
  state.counters["bytes"] = static_cast<double>(bytes.size());
}
BENCHMARK(BM_Triage)->ArgName("markers")->Arg(0)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(
    benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
