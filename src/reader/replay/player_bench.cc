// SPDX-License-Identifier: Apache-2.0
//
// The playback of a trace in this process, without an implementation's start: player_bench FILE.cairn
#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>
#include <string>

#include "reader/replay/player.h"

namespace cairn {
namespace {

void Play(benchmark::State& state, const std::string& path) {
  uint64_t calls = 0;
  uint64_t frames = 0;
  for (auto _ : state) {
    Result<TraceReader> trace = TraceReader::Open(path);
    if (!trace.ok()) return state.SkipWithError(trace.status().message().c_str());
    const Result<std::unique_ptr<Player>> player = Player::Create(&*trace, PlayerOptions());
    if (!player.ok()) return state.SkipWithError(player.status().message().c_str());
    const Status status = (*player)->Run();
    if (!status.ok()) return state.SkipWithError(status.message().c_str());
    calls += (*player)->result().calls;
    frames += (*player)->result().frames;
  }
  state.SetItemsProcessed(static_cast<int64_t>(calls));
  state.counters["frame"] = benchmark::Counter(
      static_cast<double>(frames), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string path = argv[i];
    benchmark::RegisterBenchmark(("Play/" + path).c_str(), [path](benchmark::State& state) {
      cairn::Play(state, path);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
