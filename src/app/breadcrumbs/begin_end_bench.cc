// SPDX-License-Identifier: Apache-2.0
//
// The CPU cost of a begin and an end: our own work only; the backend records nothing. Items are pairs.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "app/breadcrumbs/context.h"

namespace cairn {
namespace {

// Claims every write and makes none.
class NullBackend final : public Backend {
 public:
  Status Initialize(const WordRegion&, BackendDescription* description) override {
    description->api = Api::kCustom;
    description->method = WriteMethod::kCustom;
    description->memory = WordMemory::kImported;
    return Status();
  }
  Status BeginList(BackendList&) override { return Status(); }
  bool WriteProgress(BackendList&, WordKind, PipeLocation, uint32_t) override { return true; }
  Status WriteRaw(void*, PipeLocation, uint32_t, uint64_t) override { return Status(); }
  void ReleaseList(BackendList&) override {}
};

// A frame: so many pairs, spread over the lists. The same for every number of lists, so that the
// memory that a frame's events take is the same as well.
constexpr int kPairsPerFrame = 16384;

CairnContextDesc Desc() {
  CairnContextDesc desc{};
  desc.struct_size = sizeof(desc);
  desc.flags = CAIRN_CONTEXT_NO_SIGNAL_HANDLER;
  desc.mode = CAIRN_MODE_FULL;
  desc.frame_history_length = 1;
  desc.max_command_lists = 8192;
  return desc;
}

// One context for all threads of a run.
struct Scene {
  std::unique_ptr<BlockWriter> block;
  Context* context = nullptr;

  Scene() {
    block = std::move(BlockWriter::Create(kDefaultBlockBytes).value());
    context = *Context::Create(Desc(), block.get(), std::make_unique<NullBackend>());
  }
  ~Scene() { Context::Destroy(context); }

  CommandList* Begin(void* native) {
    CairnCommandListDesc desc{};
    desc.flags = CAIRN_LIST_REUSABLE;
    desc.native = native;
    CommandList* list = nullptr;
    if (!context->BeginCommandList(desc, &list).ok()) std::abort();
    return list;
  }
};

std::unique_ptr<Scene> scene;

void MakeScene(const benchmark::State&) {
  scene = std::make_unique<Scene>();
}
void DropScene(const benchmark::State&) {
  scene.reset();
}

// Round robin over the lists, one pair each: the worst case for caches. Then a new frame starts with
// new lists; that is not counted.
template <typename Pair>
void RecordPairs(benchmark::State& state, Scene& scene, Pair pair) {
  const size_t list_count = static_cast<size_t>(state.range(0));
  const int pairs_per_list = kPairsPerFrame / static_cast<int>(list_count);
  std::vector<CommandList*> lists(list_count);
  for (CommandList*& list : lists) list = scene.Begin(&list);
  int pairs = 0;
  for (auto _ : state) {
    for (CommandList* list : lists) {
      pair(list);
    }
    if (++pairs == pairs_per_list) {
      state.PauseTiming();
      pairs = 0;
      for (CommandList*& list : lists) {
        if (!scene.context->ReleaseCommandList(list).ok()) std::abort();
        list = scene.Begin(&list);
      }
      state.ResumeTiming();
    }
  }
  for (CommandList* list : lists) {
    if (!scene.context->ReleaseCommandList(list).ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(list_count));
}

void BeginEnd(benchmark::State& state, Scene& scene, CairnNameKind kind, const char* name) {
  RecordPairs(state, scene, [kind, name](CommandList* list) {
    benchmark::DoNotOptimize(list->BeginMarker(CAIRN_MARKER_DRAW_INDEXED, name, kind));
    benchmark::DoNotOptimize(list->EndMarker());
  });
}

// Measures the cost that the Direct3D 12 layer adds to a draw.
void BM_Work(benchmark::State& state) {
  RecordPairs(state, *scene, [](CommandList* list) {
    list->BeginWork(CAIRN_MARKER_DRAW_INDEXED);
    list->EndWork();
  });
}
void BM_WorkWithArguments(benchmark::State& state) {
  RecordPairs(state, *scene, [](CommandList* list) {
    list->BeginWork(CAIRN_MARKER_DRAW_INDEXED);
    list->NoteArguments(IndexedDrawArguments(36, 1, 6, 0, 0));
    list->EndWork();
  });
}
// And to a marker: 32 bytes of payload.
void BM_Annotation(benchmark::State& state) {
  static constexpr char kPayload[33] = "0123456789abcdef0123456789abcdef";
  RecordPairs(state, *scene, [](CommandList* list) {
    list->BeginAnnotation(1, 2, kPayload, 32, CAIRN_MARKER_SET_MARKER);
    list->EndMarker();
  });
}

void BM_BeginEndStatic(benchmark::State& state) {
  BeginEnd(state, *scene, CAIRN_NAME_STATIC, "Draw opaque geometry");
}
// Threads that share nothing: what the machine itself gives for a second one.
void BM_BeginEndOwnBlock(benchmark::State& state) {
  Scene own;
  BeginEnd(state, own, CAIRN_NAME_STATIC, "Draw opaque geometry");
}
void BM_BeginEndCopied(benchmark::State& state) {
  BeginEnd(state, *scene, CAIRN_NAME_COPY, "Draw opaque geometry");
}
void BM_BeginEndNameless(benchmark::State& state) {
  BeginEnd(state, *scene, CAIRN_NAME_STATIC, nullptr);
}

// The first pairs of a new process: pages, names and tables are touched for the first time.
void BM_BeginEndCold(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    std::optional<Scene> cold(std::in_place);
    CommandList* list = cold->Begin(&state);
    state.ResumeTiming();
    for (int i = 0; i < kPairsPerFrame; ++i) {
      list->BeginMarker(CAIRN_MARKER_DRAW_INDEXED, "Draw opaque geometry", CAIRN_NAME_STATIC);
      list->EndMarker();
    }
    state.PauseTiming();
    if (!cold->context->ReleaseCommandList(list).ok()) std::abort();
    cold.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kPairsPerFrame);
}

BENCHMARK(BM_BeginEndStatic)
    ->Setup(MakeScene)
    ->Teardown(DropScene)
    ->Arg(1)
    ->Arg(16)
    ->Arg(256)
    ->Arg(1000);
BENCHMARK(BM_BeginEndCopied)
    ->Setup(MakeScene)
    ->Teardown(DropScene)
    ->Arg(1)
    ->Arg(16)
    ->Arg(256)
    ->Arg(1000);
BENCHMARK(BM_Work)->Setup(MakeScene)->Teardown(DropScene)->Arg(1)->Arg(1000);
BENCHMARK(BM_WorkWithArguments)->Setup(MakeScene)->Teardown(DropScene)->Arg(1)->Arg(1000);
BENCHMARK(BM_Annotation)->Setup(MakeScene)->Teardown(DropScene)->Arg(1)->Arg(1000);
BENCHMARK(BM_BeginEndNameless)->Setup(MakeScene)->Teardown(DropScene)->Arg(1)->Arg(1000);
BENCHMARK(BM_BeginEndStatic)
    ->Setup(MakeScene)
    ->Teardown(DropScene)
    ->Arg(1)
    ->Arg(256)
    ->Threads(2)
    ->UseRealTime();
BENCHMARK(BM_BeginEndOwnBlock)->Arg(1)->Arg(256)->Threads(2)->UseRealTime();
BENCHMARK(BM_BeginEndCold)->Iterations(20);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
