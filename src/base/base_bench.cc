// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/crc32c.h"
#include "base/text.h"

namespace cairn {
namespace {

void BM_Crc32c(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<size_t>(state.range(0)), std::byte{0x5A});
  for (auto _ : state) benchmark::DoNotOptimize(Crc32c(bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Crc32c)->Arg(64)->Arg(65536);

void BM_Crc32cPortable(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<size_t>(state.range(0)), std::byte{0x5A});
  for (auto _ : state) benchmark::DoNotOptimize(Crc32cPortable(bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Crc32cPortable)->Arg(65536);

void BM_AppendVisibleText(benchmark::State& state) {
  const std::string name = "Opaque pass: gbuffer, terrain tile 17";
  std::string out;
  for (auto _ : state) {
    out.clear();
    AppendVisibleText(name, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(BM_AppendVisibleText);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
