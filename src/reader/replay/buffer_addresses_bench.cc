// SPDX-License-Identifier: Apache-2.0
//
// The replacement of addresses in buffers, without a device: a submission with 10,000 indirect commands and 10,000
// instances, all written anew by the CPU, or as they were.
#include <benchmark/benchmark.h>

#include <cstring>
#include <optional>
#include <unordered_map>
#include <vector>

#include "reader/replay/buffer_addresses.h"

namespace cairn {
namespace {

constexpr uint64_t kCommands = 10'000;
constexpr uint64_t kCommandBytes = 32;
constexpr uint64_t kInstances = 10'000;
constexpr uint64_t kInstanceBytes = 64;
constexpr uint64_t kArguments = 1;
constexpr uint64_t kInstanceBuffer = 2;
constexpr uint64_t kTargets = 64;
constexpr uint64_t kTargetBytes = 65536;

// Two buffers in memory; recorded addresses of other ones.
class Memory final : public BufferAddresses::Memory {
 public:
  explicit Memory(bool of_cpu) : of_cpu_(of_cpu) {
    buffers_[kArguments].resize(kCommands * kCommandBytes);
    buffers_[kInstanceBuffer].resize(kInstances * kInstanceBytes);
  }
  static uint64_t Recorded(uint64_t i) { return 0x7000'0000'0000 + i % kTargets * kTargetBytes; }
  void Fill(BufferAddresses* addresses, uint64_t turn) {
    for (auto& [buffer, bytes] : buffers_) {
      addresses->Overwrite(buffer, 0, bytes.size(), [](uint64_t, std::span<const std::byte>) {});
    }
    for (uint64_t i = 0; i < kCommands; ++i) Put(kArguments, i * kCommandBytes + 8, i + turn);
    for (uint64_t i = 0; i < kInstances; ++i) {
      Put(kInstanceBuffer, i * kInstanceBytes + 56, i + turn);
    }
  }
  uint64_t SizeOf(uint64_t buffer) override {
    const auto found = buffers_.find(buffer);
    return found == buffers_.end() ? 0 : found->second.size();
  }
  bool IsOfCpu(uint64_t) override { return of_cpu_; }
  bool IsOfShaders(uint64_t) override { return false; }
  Result<std::vector<std::byte>> Read(std::span<const Piece> pieces) override {
    std::vector<std::byte> all;
    for (const Piece& piece : pieces) {
      const auto part =
          std::span(buffers_.at(piece.buffer)).subspan(piece.offset_bytes, piece.size_bytes);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  Status Write(std::span<const Piece> pieces, std::span<const std::byte> bytes) override {
    for (const Piece& piece : pieces) {
      std::memcpy(buffers_.at(piece.buffer).data() + piece.offset_bytes, bytes.data(),
                  piece.size_bytes);
      bytes = bytes.subspan(piece.size_bytes);
    }
    return {};
  }
  std::optional<uint64_t> RealAddress(uint64_t recorded) override {
    if (recorded < Recorded(0) || recorded >= Recorded(0) + kTargets * kTargetBytes) return {};
    return recorded + 0x1000'0000'0000;
  }
  std::optional<uint64_t> RealDescriptor(uint64_t) override { return std::nullopt; }
  std::optional<Place> PlaceOf(uint64_t) override { return std::nullopt; }

 private:
  void Put(uint64_t buffer, uint64_t offset, uint64_t i) {
    const uint64_t value = Recorded(i);
    std::memcpy(buffers_.at(buffer).data() + offset, &value, sizeof(value));
  }

  const bool of_cpu_;
  std::unordered_map<uint64_t, std::vector<std::byte>> buffers_;
};

// `written`: in each submission all addresses are new.
void Submit(benchmark::State& state, bool of_cpu, bool written) {
  constexpr uint64_t kList = 10;
  constexpr uint64_t kSignature = 11;
  Memory memory(of_cpu);
  BufferAddresses addresses;
  IndirectLayout layout;
  layout.stride_bytes = kCommandBytes;
  layout.addresses = {8};
  addresses.AddSignature(kSignature, layout);
  addresses.Indirect(kList, kSignature, kArguments, 0, kCommands);
  addresses.Instances(kList, kInstanceBuffer, 0, kInstances, /*pointers=*/false);
  memory.Fill(&addresses, 0);
  uint64_t turn = 0;
  for (auto _ : state) {
    if (written) {
      state.PauseTiming();
      memory.Fill(&addresses, ++turn);
      state.ResumeTiming();
    }
    const Status status = addresses.Patch(std::span(&kList, 1), &memory);
    if (!status.ok()) state.SkipWithError(status.message().c_str());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * (kCommands + kInstances)));
}

BENCHMARK_CAPTURE(Submit, upload_heap_written, true, true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Submit, upload_heap_as_it_was, true, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Submit, default_heap_written, false, true)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
