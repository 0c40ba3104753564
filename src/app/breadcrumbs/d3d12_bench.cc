// SPDX-License-Identifier: Apache-2.0
//
// Measures recording on the CPU: the backend's writes beside the bare API calls that they contain.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

#include "app/breadcrumbs/d3d12_backend.h"
#include "app/breadcrumbs/d3d12_drain.h"
#include "app/breadcrumbs/testing/d3d12_test_gpu.h"

namespace cairn {
namespace {

// The pairs recorded in a list before it is closed and begun again, outside of the measured time.
constexpr uint32_t kPairsPerList = 4096;

void Require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::abort();
}

// Calls pair() again and again in a list that is recorded, never executed.
template <typename Begin, typename Pair, typename End>
void RecordPairs(benchmark::State& state, D3D12Submitter& submitter, const Begin& begin,
                 const Pair& pair, const End& end) {
  uint32_t recorded = 0;
  Result<ID3D12GraphicsCommandList*> list = submitter.Begin();
  Require(list.status());
  begin(*list);
  for (auto _ : state) {
    pair(*list);
    if (++recorded < kPairsPerList) continue;
    state.PauseTiming();
    end();
    (*list)->Close();
    list = submitter.Begin();
    Require(list.status());
    begin(*list);
    recorded = 0;
    state.ResumeTiming();
  }
  end();
  (*list)->Close();
}

// A single device for the whole run: drivers cannot load and unload without end.
const ComPtr<ID3D12Device>& BenchDevice() {
  static const ComPtr<ID3D12Device> device = TestDevice();
  return device;
}

struct Setup {
  Setup() : device(BenchDevice()), words(1, 0), backend(CreateD3D12Backend(device.get())) {
    BackendDescription description;
    Require(backend->Initialize(words.region(), &description));
    Require(submitter.Create(device.get(), D3D12_COMMAND_LIST_TYPE_DIRECT));
  }
  ComPtr<ID3D12Device> device;
  TestWords words;
  std::unique_ptr<Backend> backend;
  D3D12Submitter submitter;
};

void WriteProgressPair(benchmark::State& state, PipeLocation end_location) {
  Setup setup;
  BackendList list;
  uint32_t sequence = 0;
  RecordPairs(
      state, setup.submitter,
      [&](ID3D12GraphicsCommandList* native) {
        list.native = native;
        Require(setup.backend->BeginList(list));
      },
      [&](ID3D12GraphicsCommandList*) {
        setup.backend->WriteProgress(list, WordKind::kReached, PipeLocation::kTop, ++sequence);
        setup.backend->WriteProgress(list, WordKind::kPassed, end_location, ++sequence);
      },
      [&] { setup.backend->ReleaseList(list); });
}

void BarePair(benchmark::State& state, bool drained) {
  Setup setup;
  Result<D3D12MappedBuffer> to =
      CreateMappedBuffer(setup.device.get(), MappedHeap::kReadback, kPageBytes);
  Require(to.status());
  Result<D3D12MappedBuffer> from =
      CreateMappedBuffer(setup.device.get(), MappedHeap::kUpload, kPageBytes);
  Require(from.status());
  D3D12Drain drain;
  Require(drain.Initialize(setup.device.get()));
  RecordPairs(
      state, setup.submitter, [&](ID3D12GraphicsCommandList* list) { drain.Prepare(list); },
      [&](ID3D12GraphicsCommandList* list) {
        list->CopyBufferRegion(to->resource.get(), 0, from->resource.get(), 0, sizeof(uint32_t));
        if (drained) drain.Wait(list, D3D12_COMMAND_LIST_TYPE_DIRECT);
        list->CopyBufferRegion(to->resource.get(), 4, from->resource.get(), 4, sizeof(uint32_t));
      },
      [] {});
}

BENCHMARK_CAPTURE(WriteProgressPair, TopTop, PipeLocation::kTop);
BENCHMARK_CAPTURE(BarePair, CopyBufferRegion, false);
BENCHMARK_CAPTURE(WriteProgressPair, TopBottom, PipeLocation::kBottom);
BENCHMARK_CAPTURE(BarePair, CopyBufferRegionAndBarriers, true);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
