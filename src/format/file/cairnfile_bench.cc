// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "format/file/file_reader.h"
#include "format/file/file_writer.h"
#include "format/file/testing/test_container.h"

namespace cairn {
namespace {

constexpr ChunkType kRecords = MakeChunkType("xREC");

// Records as a capture has them: counters, handles and a few names.
std::vector<std::byte> Records(size_t size_bytes) {
  ByteWriter writer;
  for (uint32_t i = 0; writer.size() < size_bytes; ++i) {
    writer.WriteU32(i);
    writer.WriteU64(0x00007F0000001000 + (i * uint64_t{2654435761} >> 20) * 64);
    writer.WriteU32(i % 7);
    writer.WriteString(i % 16 == 0 ? "Opaque pass" : "", 64);
  }
  return writer.Take();
}

class NullSink : public ByteSink {
 public:
  Status Write(std::span<const std::byte>) override { return Status(); }
  void CutBack(uint64_t) override {}
  Status Sync() override { return Status(); }
  Status Commit() override { return Status(); }
};

void BM_Append(benchmark::State& state) {
  const std::vector<std::byte> payload = Records(static_cast<size_t>(state.range(0)));
  const auto compression = state.range(1) != 0 ? Compression::kZstd : Compression::kNone;
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<NullSink>(), compression);
  for (auto _ : state) {
    if (writer->chunk_count() == kMaxChunkCount) {
      writer = FileWriter::CreateOn(std::make_unique<NullSink>(), compression);
    }
    benchmark::DoNotOptimize(writer->Append(kRecords, payload).ok());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(payload.size()));
}
BENCHMARK(BM_Append)->ArgNames({"bytes", "zstd"})->Args({65536, 0})->Args({65536, 1});

void BM_OpenAndRead(benchmark::State& state) {
  MemoryFile file;
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(file));
  const std::vector<std::byte> payload = Records(65536);
  constexpr int kChunks = 64;
  for (int i = 0; i < kChunks; ++i) {
    if (!writer->Append(kRecords, payload).ok()) state.SkipWithError("Append failed");
  }
  if (!writer->Finish().ok()) state.SkipWithError("Finish failed");
  for (auto _ : state) {
    const Result<FileReader> reader = FileReader::FromBytes(file.bytes);
    for (size_t i = 0; i < reader->chunks().size(); ++i) {
      benchmark::DoNotOptimize(reader->Read(i).ok());
    }
  }
  state.SetBytesProcessed(state.iterations() * kChunks * static_cast<int64_t>(payload.size()));
}
BENCHMARK(BM_OpenAndRead);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
