// SPDX-License-Identifier: Apache-2.0
//
// Measures an annotation in the runtime, with a driver that does nothing. Names are those of
// docs/performance.md.
#include <benchmark/benchmark.h>

#include <memory>

#include "app/annotations/logging_driver.h"
#include "app/annotations/runtime.h"

namespace cairn {
namespace {

constexpr char kPayload[33] = "0123456789abcdef0123456789abcdef";
constexpr uint32_t kPayloadBytes = 32;
// A frame's worth; then the allocator is reset, as applications do.
constexpr uint32_t kMarkersPerReset = 10000;

AnnotationRuntime& SharedRuntime() {
  static const std::unique_ptr<BlockWriter> block = BlockWriter::Create(kDefaultBlockBytes).value();
  static AnnotationRuntime runtime(
      [] {
        AnnotationOptions options;
        options.block = block.get();
        options.context_index = block->AddContext();
        return options;
      }(),
      LoggingDriverWithoutLog());
  return runtime;
}

void SetMarker(benchmark::State& state, AnnotationMode mode) {
  AnnotationRuntime& runtime = SharedRuntime();
  if (state.thread_index() == 0) runtime.SetMode(static_cast<uint32_t>(mode));
  const auto arena = runtime.NewAllocatorArena(nullptr);
  std::unique_ptr<AnnotatedList> list;
  uint32_t left = 0;
  for (auto _ : state) {
    if (left-- == 0) {
      if (list == nullptr) {  // behind the barrier at which all threads start
        list = std::make_unique<AnnotatedList>(runtime, D3D12DDI_HT_COMMAND_LIST, nullptr);
      }
      arena->Reset();
      list->OnOpen(arena, nullptr);
      left = kMarkersPerReset;
    }
    benchmark::DoNotOptimize(list->SetMarker(1, kPayload, kPayloadBytes));
  }
  state.SetItemsProcessed(state.iterations());
  arena->Reset();
  if (MarkerArena::LiveBytes(*runtime.options().block) != 0 && state.threads() == 1) {
    state.SkipWithError("bytes are alive after the reset");
  }
}

void BM_RuntimeOnly(benchmark::State& state) {
  SetMarker(state, AnnotationMode::kRuntimeOnly);
}
void BM_DriverRetail(benchmark::State& state) {
  SetMarker(state, AnnotationMode::kDriverRetail);
}

BENCHMARK(BM_RuntimeOnly)->Name("Annotations/RuntimeOnly");
BENCHMARK(BM_DriverRetail)->Name("Annotations/DriverRetail")->ThreadRange(1, 2)->UseRealTime();

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
