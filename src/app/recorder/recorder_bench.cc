// SPDX-License-Identifier: Apache-2.0
//
// Measures the layer's cost for each call and each object: recorder_bench in docs/performance.md.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "app/recorder/block_writer.h"
#include "app/recorder/call_ring.h"
#include "app/recorder/user_data.h"

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

// Measures the record of a buffer's destruction: each thread's buffers lie in memory of its own.
void BM_NoteDestruction(benchmark::State& state) {
  Destructions& destructions = Block()->destructions();
  const uint64_t arena = static_cast<uint64_t>(state.thread_index() + 1) << 26;
  uint64_t handle = 0;
  for (auto _ : state) {
    handle = (handle + 0x100) & 0xF'FFFF;
    destructions.Note(0, {kVulkanObject | 9, arena + handle, {}});
  }
}

// Measures the replacement of an entry of user data of so many bytes.
void BM_SetUserData(benchmark::State& state) {
  static UserDataWriter& data = *new UserDataWriter(*Block());
  const std::vector<std::byte> bytes(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(data.Set("level", bytes).ok());
}

BENCHMARK(BM_Call)->ThreadRange(1, 2);
BENCHMARK(BM_CreateAndDestroyObject)->ThreadRange(1, 8);
BENCHMARK(BM_NameObject);
BENCHMARK(BM_NoteDestruction)->ThreadRange(1, 8);
BENCHMARK(BM_SetUserData)->Arg(16)->Arg(65536);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
