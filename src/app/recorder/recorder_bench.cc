// SPDX-License-Identifier: Apache-2.0
//
// Measures the layer's cost for each call and each object: recorder_bench in docs/performance.md.
#include <benchmark/benchmark.h>

#include <memory>

#include "app/recorder/block_writer.h"
#include "app/recorder/call_ring.h"

namespace cairn {
namespace {

BlockWriter* Block() {
  static const std::unique_ptr<BlockWriter> block =
      std::move(BlockWriter::Create(kDefaultBlockBytes).value());
  return block.get();
}

void BM_Call(benchmark::State& state) {
  if (state.thread_index() == 0) CallRing::SetBlock(Block());
  uint32_t function = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(function);
    CallRecord* const call = CallRing::Begin(function, &state);
    benchmark::ClobberMemory();
    CallRing::End(call);
  }
}
void BM_CreateAndDestroyObject(benchmark::State& state) {
  ObjectTable& table = Block()->objects();
  for (auto _ : state) table.Destroy(table.Add({}));
}
void BM_NameObject(benchmark::State& state) {
  ObjectTable& table = Block()->objects();
  const uint32_t index = table.Add({});
  for (auto _ : state) table.SetName(index, "Shadow map of the sun, cascade 3");
}

// Measures the record of a buffer's destruction.
void BM_NoteDestruction(benchmark::State& state) {
  Destructions& destructions = Block()->destructions();
  for (auto _ : state) destructions.Note(0, {kVulkanObject | 9, 0xB1, {}});
}

BENCHMARK(BM_Call)->ThreadRange(1, 2);
BENCHMARK(BM_CreateAndDestroyObject)->ThreadRange(1, 2);
BENCHMARK(BM_NameObject);
BENCHMARK(BM_NoteDestruction)->ThreadRange(1, 2);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
