// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost for a captured program: docs/performance.md.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "app/capture/capture.h"
#include "app/capture/mapped_memory.h"
#include "app/capture/testing/test_watcher.h"
#include "os/environment.h"
#include "os/memory.h"
#include "os/write_tracker.h"

namespace cairn {
namespace {

EncodeContext Context() {
  EncodeContext context;
  context.object_number = [](const void*, Chain) { return uint64_t{7}; };
  return context;
}

// A capture whose records are read and thrown away by another thread.
Capture& Begin() {
  static TestWatcher& watcher = *new TestWatcher(TestWatcher::Keep::kNothing);
  (void)watcher;
  if (Capture::Active() == nullptr && !Capture::Start({}).ok()) std::abort();
  return *Capture::Active();
}

void BM_RecordCall(benchmark::State& state) {
  Capture& capture = Begin();
  const EncodeContext context = Context();
  const uint32_t counts[] = {36, 1, 0, 0, 0};
  const void* const arguments[] = {&counts[0], &counts[1], &counts[2], &counts[3], &counts[4]};
  const auto list = static_cast<uint64_t>(5 + state.thread_index());
  alignas(kApart) std::atomic<uint32_t> recorder{0};
  constexpr Method kDraw = Method::ID3D12GraphicsCommandList_DrawIndexedInstanced;
  for (auto _ : state) {
    capture.Returned(capture.BeginCall(kDraw, list, arguments, context, 0, &recorder));
  }
}
void BM_RecordBarriers(benchmark::State& state) {
  Capture& capture = Begin();
  const EncodeContext context = Context();
  const std::vector<uint64_t> barriers(4 * 4, 0);
  const uint32_t count = 4;
  const void* const data = barriers.data();
  const void* const arguments[] = {&count, &data};
  const auto list = static_cast<uint64_t>(5 + state.thread_index());
  std::atomic<uint32_t> recorder{0};
  constexpr Method kBarrier = Method::ID3D12GraphicsCommandList_ResourceBarrier;
  for (auto _ : state) {
    capture.Returned(capture.BeginCall(kBarrier, list, arguments, context, 0, &recorder));
  }
}
void BM_RecordCallWithResult(benchmark::State& state) {
  Capture& capture = Begin();
  const EncodeContext context = Context();
  const uint64_t value = 9;
  constexpr Method kGet = Method::ID3D12Fence_GetCompletedValue;
  for (auto _ : state) {
    const uint64_t call = capture.BeginCall(kGet, 5, nullptr, context);
    capture.EndCall(call, kGet, 5, nullptr, &value, context);
  }
}
void BM_RecordBulk(benchmark::State& state) {
  Capture& capture = Begin();
  const std::vector<std::byte> bytes(static_cast<size_t>(state.range(0)));
  const MemoryBody body{};
  for (auto _ : state) {
    capture.PutBytes(RecordKind::kMemory, 5, std::as_bytes(std::span(&body, 1)), bytes);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * state.range(0));
}

// Measures a submission while 256 MiB are mapped, of which the program has written some in every
// hundred pages since the last one: spread evenly, or next to each other. The writes themselves are
// not counted.
enum class Written { kSpread, kTogether };
void BM_TrackMapped(benchmark::State& state, const char* method, Written written) {
  constexpr size_t kBytes = 256u << 20;
  const auto in_hundred = static_cast<size_t>(state.range(0));
  SetVariable("CAIRN_CAPTURE_TRACKING", method);
  const SparseMemory pages = SparseMemory::ReserveForTracking(kBytes);
  std::byte* memory = pages.data();
  for (size_t i = 0; i < kBytes; i += 64) memory[i] = std::byte{1};
  MappedMemory& mapped = MappedMemory::Get();
  auto* const real = memory;
  memory = static_cast<std::byte*>(
      mapped.Map(1, 0, {.data = real, .size_bytes = kBytes, .may_stand_in = true}));
  uint64_t told = 0;
  const MappedMemory::Report count = [&told](uint64_t, uint32_t, uint64_t,
                                             std::span<const std::byte> bytes) {
    told += bytes.size();
  };
  mapped.Flush(count);
  const std::string found = mapped.Method();
  if (found.compare(0, 6, method, 6) != 0) {
    state.SkipWithError(("this process uses " + found).c_str());
  }
  auto value = std::byte{2};
  for (auto _ : state) {
    state.PauseTiming();
    value = static_cast<std::byte>(static_cast<int>(value) + 1);
    const size_t stride = written == Written::kSpread ? 100 / std::max<size_t>(in_hundred, 1) : 1;
    for (size_t i = 0; i < kBytes / PageBytes() * in_hundred / 100; ++i) {
      memory[i * stride * PageBytes() + 256] = value;
    }
    state.ResumeTiming();
    mapped.Flush(count);
  }
  mapped.Forget(1, count);
  benchmark::DoNotOptimize(told);
}

BENCHMARK(BM_RecordCall)->ThreadRange(1, 8)->UseRealTime();
BENCHMARK(BM_RecordBarriers);
BENCHMARK(BM_RecordCallWithResult);
BENCHMARK(BM_RecordBulk)->Arg(4096)->Arg(65536)->Arg(1 << 20);
// One method a process: --benchmark_filter=TrackMapped/kernel.
#define CAIRN_BENCH_TRACK(name, method)                                          \
  BENCHMARK_CAPTURE(BM_TrackMapped, name##_spread, method, Written::kSpread)     \
      ->Arg(0)                                                                   \
      ->Arg(1)                                                                   \
      ->Arg(10)                                                                  \
      ->Unit(benchmark::kMicrosecond);                                           \
  BENCHMARK_CAPTURE(BM_TrackMapped, name##_together, method, Written::kTogether) \
      ->Arg(1)                                                                   \
      ->Arg(10)                                                                  \
      ->Unit(benchmark::kMicrosecond)
CAIRN_BENCH_TRACK(kernel, kKernelWriteTracker);
CAIRN_BENCH_TRACK(faults, kFaultWriteTracker);
CAIRN_BENCH_TRACK(stand_in, "stand-in");
CAIRN_BENCH_TRACK(compare, "compare");

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
