// SPDX-License-Identifier: Apache-2.0
//
// Measures turning a call into bytes, and back.
#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "format/calls/call_builder.h"
#include "format/calls/value_decoder.h"
#include "format/calls/value_encoder.h"
#include "format/calls/value_printer.h"

namespace cairn {
namespace {

// A page that is used again and again, as a ring is.
class PageSink final : public EncodeSink {
 public:
  PageSink() : EncodeSink(nullptr, nullptr) { Clear(); }
  ~PageSink() = default;
  void Clear() {
    begin_ = next_ = page_.data();
    end_ = begin_ + page_.size();
  }
  bool PutBlob(const void*, uint64_t) override { return false; }

 protected:
  std::byte* Grow(size_t) override { return nullptr; }

 private:
  std::array<std::byte, 4096> page_;
};

const EncodeContext kContext = {.object_number = [](const void* object, Chain) {
  return uint64_t{reinterpret_cast<uintptr_t>(object)};
}};

template <typename... Arguments>
void Encode(benchmark::State& state, Method method, const Arguments&... arguments) {
  const void* const places[] = {&arguments...};
  const MethodInfo& info = Describe(method);
  PageSink sink;
  for (auto _ : state) {
    sink.Clear();
    benchmark::DoNotOptimize(EncodeArguments(info, places, kContext, &sink));
    benchmark::ClobberMemory();
  }
  state.counters["bytes"] = static_cast<double>(sink.size_bytes());
}

void BM_EncodeCallDraw(benchmark::State& state) {
  const uint32_t count = 36, one = 1, zero = 0;
  Encode(state, Method::ID3D12GraphicsCommandList_DrawIndexedInstanced, count, one, zero, zero,
         zero);
}
BENCHMARK(BM_EncodeCallDraw);

struct Barrier {  // D3D12_RESOURCE_BARRIER of a transition
  uint32_t type = 0, flags = 0;
  void* resource = ObjectPointer(7);
  uint32_t subresource = 0, before = 4, after = 128, padding = 0;
};

void BM_EncodeCallBarrier(benchmark::State& state) {
  const uint32_t count = 1;
  const Barrier barrier;
  const Barrier* const barriers = &barrier;
  Encode(state, Method::ID3D12GraphicsCommandList_ResourceBarrier, count, barriers);
}
BENCHMARK(BM_EncodeCallBarrier);

void BM_EncodeCallVertexBuffers(benchmark::State& state) {
  const uint32_t slot = 0, count = 2;
  const uint64_t data[4] = {0x1000, 64, 0x2000, 64};
  const uint64_t* const views = data;
  Encode(state, Method::ID3D12GraphicsCommandList_IASetVertexBuffers, slot, count, views);
}
BENCHMARK(BM_EncodeCallVertexBuffers);

void BM_DecodeCallBarrier(benchmark::State& state) {
  const Barrier barrier;
  const auto method = Method::ID3D12GraphicsCommandList_ResourceBarrier;
  const CallBuilder::Body body = CallBuilder().Call(method, 1, &barrier);
  Arena arena;
  DecodedCall call;
  for (auto _ : state) {
    arena.Reset();
    benchmark::DoNotOptimize(DecodeArguments(Describe(method), body.bytes, {}, &arena, &call).ok());
  }
}
BENCHMARK(BM_DecodeCallBarrier);

// A line of `cairn calls`, as text and as JSON.
void PrintCall(benchmark::State& state, bool as_json) {
  const Barrier barrier;
  const auto method = Method::ID3D12GraphicsCommandList_ResourceBarrier;
  const CallBuilder::Body body = CallBuilder().Call(method, 1, &barrier);
  Arena arena;
  DecodedCall call;
  if (!DecodeArguments(Describe(method), body.bytes, {}, &arena, &call).ok()) {
    state.SkipWithError("it cannot be decoded");
    return;
  }
  std::string text;
  for (auto _ : state) {
    text.clear();
    if (as_json) {
      JsonWriter json(&text, JsonWriter::kOneLine);
      WriteArguments(Describe(method), call, ValueNames(), false, &json);
    } else {
      text = PrintArguments(Describe(method), call, ValueNames());
    }
    benchmark::DoNotOptimize(text.data());
  }
}

void BM_PrintCallText(benchmark::State& state) {
  PrintCall(state, false);
}
BENCHMARK(BM_PrintCallText);

void BM_PrintCallJson(benchmark::State& state) {
  PrintCall(state, true);
}
BENCHMARK(BM_PrintCallJson);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
