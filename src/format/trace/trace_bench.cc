// SPDX-License-Identifier: Apache-2.0
//
// Cost of writing, opening, seeking and reading a trace of 10,000 frames and 5 million calls.
// docs/performance.md quotes the numbers.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "format/trace/testing/test_trace.h"

namespace cairn {
namespace {

constexpr uint64_t kFrames = 10'000;
constexpr uint64_t kCallsInFrame = 500;

// Writes frames of lists that draw and change constants.
Status Fill(TraceWriter* writer, uint64_t frames) {
  CAIRN_RETURN_IF_ERROR(writer->Begin(TraceFacts{}));
  Record record;
  for (uint64_t frame = 0; frame < frames; ++frame) {
    for (uint32_t i = 0; i < kCallsInFrame; ++i) {
      const bool draw = i % 2 == 0;
      const uint32_t arguments[4] = {draw ? 3 * (1 + i % 7) : i % 4,
                                     draw ? 1u : static_cast<uint32_t>(frame), 0,
                                     draw ? 0u : i * 2654435761u};
      record.kind = RecordKind::kCall;
      record.method = static_cast<uint16_t>(
          draw ? Method::ID3D12GraphicsCommandList_DrawInstanced
               : Method::ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstant);
      record.object = 10 + i / 100;
      ++record.number;
      record.body = std::as_bytes(std::span(arguments)).first(draw ? 16 : 12);
      CAIRN_RETURN_IF_ERROR(writer->Add(record));
    }
    FrameBody body{};
    body.frame = frame;
    record.kind = RecordKind::kFrame;
    record.object = 0;
    ++record.number;
    record.body = std::as_bytes(std::span(&body, 1));
    CAIRN_RETURN_IF_ERROR(writer->Add(record));
  }
  return writer->Finish({});
}

// Written once, and removed at the end.
const std::string& LargeTrace() {
  static const struct File {
    File() : path(std::filesystem::temp_directory_path() / "cairn-trace-bench.cairn") {
      Result<FileWriter> file = FileWriter::Create(path);
      if (!file.ok()) std::abort();
      TraceWriter writer(&*file);
      if (!Fill(&writer, kFrames).ok() || !file->Finish().ok()) std::abort();
    }
    ~File() { std::filesystem::remove(path); }
    std::string path;
  } file;
  return file.path;
}

void BM_WriteCalls(benchmark::State& state) {
  for (auto _ : state) {
    MemoryFile bytes;
    Result<FileWriter> file = FileWriter::CreateOn(std::make_unique<MemorySink>(bytes));
    TraceWriter writer(&*file);
    if (!Fill(&writer, 100).ok()) std::abort();
    state.counters["bytes_per_call"] =
        static_cast<double>(bytes.bytes.size()) / (100 * kCallsInFrame);
  }
  state.SetItemsProcessed(state.iterations() * 100 * static_cast<int64_t>(kCallsInFrame));
}
BENCHMARK(BM_WriteCalls)->Unit(benchmark::kMillisecond);

void BM_OpenAtFrame(benchmark::State& state) {
  const std::string& path = LargeTrace();
  uint64_t frame = 0;
  for (auto _ : state) {
    Result<TraceReader> trace = TraceReader::Open(path);
    if (!trace.ok()) std::abort();
    TraceCursor cursor(*trace);
    frame = (frame + 7919) % kFrames;
    Record record;
    if (!cursor.SeekFrame(frame).ok() || !cursor.Next(&record)) std::abort();
    benchmark::DoNotOptimize(record.number);
  }
}
BENCHMARK(BM_OpenAtFrame)->Unit(benchmark::kMillisecond);

void BM_ReadAll(benchmark::State& state) {
  const std::string& path = LargeTrace();
  uint64_t records = 0;
  for (auto _ : state) {
    Result<TraceReader> trace = TraceReader::Open(path);
    TraceCursor cursor(*trace);
    Record record;
    while (cursor.Next(&record)) ++records;
  }
  state.SetItemsProcessed(static_cast<int64_t>(records));
}
BENCHMARK(BM_ReadAll)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
