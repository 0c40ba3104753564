// SPDX-License-Identifier: Apache-2.0
//
// The CPU cost of a begin and an end through the FidelityFX spelling, which finds the list by its
// pointer each time; the backend records nothing. Items are pairs. Compare with BeginEnd.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "cairn/compat/ffx_breadcrumbs.h"

namespace {

constexpr int kPairsPerList = 512;
constexpr size_t kMaxLists = 1000;
constexpr int kMaxThreads = 2;

void Require(FfxErrorCode error) {
  if (error != FFX_OK) std::abort();
}

struct Scene {
  std::vector<uint64_t> memory;
  FfxBreadcrumbsContext context{};

  explicit Scene(uint32_t flags) {
    FfxBreadcrumbsContextDescription desc{};
    uint32_t queue = 0;
    desc.flags = flags;
    desc.frameHistoryLength = 1;
    desc.maxMarkersPerMemoryBlock = kPairsPerList;
    desc.usedGpuQueuesCount = 1;
    desc.pUsedGpuQueues = &queue;
    desc.backendInterface.device = this;
    desc.backendInterface.fpBreadcrumbsAllocBlock = [](FfxInterface* self, uint64_t bytes,
                                                       FfxBreadcrumbsBlockData* block) {
      std::vector<uint64_t>& memory = static_cast<Scene*>(self->device)->memory;
      memory.resize((bytes + 7) / 8);
      *block = {memory.data(), nullptr, nullptr, 0, 0};
      return FFX_OK;
    };
    desc.backendInterface.fpBreadcrumbsFreeBlock = [](FfxInterface*, FfxBreadcrumbsBlockData*) {};
    desc.backendInterface.fpBreadcrumbsWrite = [](FfxInterface*, FfxCommandList, uint32_t, uint64_t,
                                                  void*, bool) {};
    Require(ffxBreadcrumbsContextCreate(&context, &desc));
  }
  ~Scene() { ffxBreadcrumbsContextDestroy(&context); }
};

std::unique_ptr<Scene> scene;

void MakeScene(const benchmark::State&) {
  scene = std::make_unique<Scene>(0);
}
void MakeSynchronisedScene(const benchmark::State&) {
  scene = std::make_unique<Scene>(FFX_BREADCRUMBS_ENABLE_THREAD_SYNCHRONIZATION);
}
void DropScene(const benchmark::State&) {
  scene.reset();
}

// Any address names a list.
FfxCommandList ListHandle(int thread, size_t index) {
  static char handles[kMaxThreads][kMaxLists];
  return &handles[thread][index];
}

void StartFrame(size_t list_count) {
  Require(ffxBreadcrumbsStartFrame(&scene->context));
  for (size_t i = 0; i < list_count; ++i) {
    FfxBreadcrumbsCommandListDescription desc{};
    desc.commandList = ListHandle(0, i);
    Require(ffxBreadcrumbsRegisterCommandList(&scene->context, &desc));
  }
}

void Pair(FfxCommandList list) {
  static const FfxBreadcrumbsNameTag name{"Draw opaque geometry", true};
  benchmark::DoNotOptimize(
      ffxBreadcrumbsBeginMarker(&scene->context, list, FFX_BREADCRUMBS_MARKER_DRAW_INDEXED, &name));
  benchmark::DoNotOptimize(ffxBreadcrumbsEndMarker(&scene->context, list));
}

// Round robin over the lists, one pair each: the last list is never the next one.
void BM_FfxBeginEnd(benchmark::State& state) {
  const size_t list_count = static_cast<size_t>(state.range(0));
  StartFrame(list_count);
  int pairs = 0;
  for (auto _ : state) {
    for (size_t i = 0; i < list_count; ++i) Pair(ListHandle(0, i));
    if (++pairs == kPairsPerList) {
      state.PauseTiming();
      pairs = 0;
      StartFrame(list_count);
      state.ResumeTiming();
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(list_count));
}

// Each thread marks its own list, all in one context with synchronisation.
void BM_FfxBeginEndThreads(benchmark::State& state) {
  FfxBreadcrumbsCommandListDescription desc{};
  desc.commandList = ListHandle(state.thread_index(), 0);
  Require(ffxBreadcrumbsRegisterCommandList(&scene->context, &desc));
  for (auto _ : state) Pair(desc.commandList);
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(BM_FfxBeginEnd)
    ->Setup(MakeScene)
    ->Teardown(DropScene)
    ->Arg(1)
    ->Arg(16)
    ->Arg(256)
    ->Arg(kMaxLists);
BENCHMARK(BM_FfxBeginEndThreads)
    ->Setup(MakeSynchronisedScene)
    ->Teardown(DropScene)
    ->Threads(1)
    ->Threads(kMaxThreads)
    ->Iterations(100000)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
