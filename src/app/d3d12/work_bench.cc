// SPDX-License-Identifier: Apache-2.0
//
// Measures the layer's cost for a call of a command list: the same calls on the real list and on
// its wrapper. CAIRN_BREADCRUMBS chooses the mode of the whole run.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/breadcrumbs/testing/d3d12_test_gpu.h"
#include "app/d3d12/layer.h"

namespace cairn {
namespace {

// The calls recorded in a list before it is closed and begun again, outside of the measured time.
constexpr uint32_t kCallsPerList = 4096;

// A single device for the whole run: drivers cannot load and unload without end.
ID3D12Device* BenchDevice(bool wrapped) {
  static ID3D12Device* const real = [] {
    ID3D12Device* const device = TestDevice().Detach();
    return device;
  }();
  static ID3D12Device* const wrapper = [] {
    real->AddRef();
    return WrapDevice(real, {});
  }();
  return wrapped ? wrapper : real;
}

template <typename Call>
void Record(benchmark::State& state, bool wrapped, const Call& call) {
  D3D12Submitter submitter;
  if (!submitter.Create(BenchDevice(wrapped), D3D12_COMMAND_LIST_TYPE_DIRECT).ok()) std::abort();
  ID3D12GraphicsCommandList* list = *submitter.Begin();
  uint32_t recorded = 0;
  for (auto _ : state) {
    call(list);
    if (++recorded < kCallsPerList) continue;
    state.PauseTiming();
    list->Close();
    list = *submitter.Begin();
    recorded = 0;
    state.ResumeTiming();
  }
  list->Close();
}

// A call that does next to nothing in libvkd3d.
void BM_GetType(benchmark::State& state, bool wrapped) {
  Record(state, wrapped,
         [](ID3D12GraphicsCommandList* list) { benchmark::DoNotOptimize(list->GetType()); });
}
void BM_SetTopology(benchmark::State& state, bool wrapped) {
  Record(state, wrapped, [](ID3D12GraphicsCommandList* list) {
    list->IASetPrimitiveTopology(D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
  });
}
void BM_SetMarker(benchmark::State& state, bool wrapped) {
  Record(state, wrapped, [](ID3D12GraphicsCommandList* list) {
    list->SetMarker(1, "a marker of thirty-two bytes....", 32);
  });
}
// A draw with everything that it needs.
void BM_Draw(benchmark::State& state, bool wrapped) {
  SlowWork work(BenchDevice(wrapped));
  Record(state, wrapped, [&](ID3D12GraphicsCommandList* list) { work.RecordDraw(list, 1); });
}

BENCHMARK_CAPTURE(BM_GetType, Bare, false);
BENCHMARK_CAPTURE(BM_GetType, Layer, true);
BENCHMARK_CAPTURE(BM_SetTopology, Bare, false);
BENCHMARK_CAPTURE(BM_SetTopology, Layer, true);
BENCHMARK_CAPTURE(BM_SetMarker, Bare, false);
BENCHMARK_CAPTURE(BM_SetMarker, Layer, true);
BENCHMARK_CAPTURE(BM_Draw, Bare, false);
BENCHMARK_CAPTURE(BM_Draw, Layer, true);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
