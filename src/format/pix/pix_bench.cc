// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <span>

#include "cairn/pix.h"

#include "format/pix/pix_event.h"

namespace cairn {
namespace {

const cairn_pix::Header kHeader(1, cairn_pix::Kind::kBegin, 0xff112233, 0);

// Measures the application's cost of a PIX macro, without the call that the macro makes.
void BM_EncodePixName(benchmark::State& state) {
  for (auto _ : state) {
    const cairn_pix::Blob blob = cairn_pix::Encode(kHeader, "Shadow cascade");
    benchmark::DoNotOptimize(blob.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_EncodePixName);

void BM_EncodePixArguments(benchmark::State& state) {
  for (auto _ : state) {
    const cairn_pix::Blob blob = cairn_pix::Encode(kHeader, "Cascade %d of %s", 2, "sun");
    benchmark::DoNotOptimize(blob.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_EncodePixArguments);

void BM_DecodePixEvent(benchmark::State& state) {
  const cairn_pix::Blob blob = cairn_pix::Encode(kHeader, "Cascade %d of %s", 2, "sun");
  const std::span bytes(static_cast<const std::byte*>(blob.data()), blob.size_bytes());
  for (auto _ : state) {
    benchmark::DoNotOptimize(DecodePixEvent(kPixMetadataBlob, bytes));
  }
}
BENCHMARK(BM_DecodePixEvent);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
