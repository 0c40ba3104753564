// SPDX-License-Identifier: Apache-2.0
//
// For tests of addresses in buffers: buffers of a trace in memory.
#ifndef CAIRN_READER_REPLAY_TESTING_BUFFER_ADDRESSES_FIXTURE_H_
#define CAIRN_READER_REPLAY_TESTING_BUFFER_ADDRESSES_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "reader/replay/buffer_addresses.h"

namespace cairn {

inline constexpr uint64_t kList = 1;
inline constexpr uint64_t kSignature = 2;
inline constexpr uint64_t kBundle = 7;

// Buffers of a trace: recorded addresses start at 0x10000 * number, real ones 0x100 behind the recorded
// address of the next buffer, so that the two overlap.
class FakeMemory final : public BufferAddresses::Memory {
 public:
  static uint64_t Recorded(uint64_t buffer) { return 0x10000 * buffer; }
  static uint64_t Real(uint64_t buffer) { return 0x10000 * (buffer + 1) + 0x100; }

  std::vector<std::byte>& Add(uint64_t buffer, size_t size_bytes) {
    return buffers_[buffer] = std::vector<std::byte>(size_bytes);
  }
  void Put(uint64_t buffer, uint64_t offset, uint64_t value) {
    std::memcpy(buffers_.at(buffer).data() + offset, &value, sizeof(value));
  }
  void PutBytes(uint64_t buffer, uint64_t offset, std::span<const std::byte> bytes) {
    std::memcpy(buffers_.at(buffer).data() + offset, bytes.data(), bytes.size());
  }
  uint64_t Get(uint64_t buffer, uint64_t offset) {
    uint64_t value;
    std::memcpy(&value, buffers_.at(buffer).data() + offset, sizeof(value));
    return value;
  }
  int reads = 0;
  int writes = 0;
  std::map<uint64_t, uint64_t> moved;  // structures
  std::set<uint64_t> of_cpu;
  std::set<uint64_t> of_shaders;

  uint64_t SizeOf(uint64_t buffer) override {
    const auto found = buffers_.find(buffer);
    return found == buffers_.end() ? 0 : found->second.size();
  }
  bool IsOfCpu(uint64_t buffer) override { return of_cpu.contains(buffer); }
  bool IsOfShaders(uint64_t buffer) override { return of_shaders.contains(buffer); }
  Result<std::vector<std::byte>> Read(std::span<const Piece> pieces) override {
    ++reads;
    std::vector<std::byte> all;
    for (const Piece& piece : pieces) {
      const std::span<const std::byte> bytes = buffers_.at(piece.buffer);
      EXPECT_LE(piece.offset_bytes + piece.size_bytes, bytes.size());
      const auto part = bytes.subspan(piece.offset_bytes, piece.size_bytes);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  Status Write(std::span<const Piece> pieces, std::span<const std::byte> bytes) override {
    ++writes;
    for (const Piece& piece : pieces) {
      auto& buffer = buffers_.at(piece.buffer);
      EXPECT_LE(piece.offset_bytes + piece.size_bytes, buffer.size());
      std::memcpy(buffer.data() + piece.offset_bytes, bytes.data(), piece.size_bytes);
      bytes = bytes.subspan(piece.size_bytes);
    }
    EXPECT_TRUE(bytes.empty());
    return {};
  }
  std::optional<uint64_t> RealAddress(uint64_t recorded) override {
    const auto place = PlaceOf(recorded);
    if (!place) return std::nullopt;
    return Real(place->buffer) + place->offset_bytes;
  }
  std::optional<uint64_t> RealDescriptor(uint64_t recorded) override {
    if (recorded < 0xD0000000 || recorded >= 0xD0001000) return std::nullopt;
    return recorded + 0x10000000;
  }
  uint64_t StructureAt(uint64_t real) override {
    const auto found = moved.find(real);
    return found == moved.end() ? real : found->second;
  }
  std::optional<Place> PlaceOf(uint64_t recorded) override {
    const uint64_t buffer = recorded / 0x10000;
    if (!buffers_.contains(buffer) || recorded % 0x10000 >= buffers_.at(buffer).size()) {
      return std::nullopt;
    }
    return Place{buffer, recorded % 0x10000};
  }

 private:
  std::unordered_map<uint64_t, std::vector<std::byte>> buffers_;
};

inline D3D12_INDIRECT_ARGUMENT_DESC Argument(D3D12_INDIRECT_ARGUMENT_TYPE type) {
  D3D12_INDIRECT_ARGUMENT_DESC argument = {};
  argument.Type = type;
  return argument;
}

class BufferAddressesFixture : public testing::Test {
 protected:
  void SetUp() override {
    memory_.Add(10, 0x1000);
    memory_.Add(11, 0x1000);
    memory_.Add(12, 0x1000);
  }
  // Arguments: a constant, an address, a draw.
  void AddSignature() {
    D3D12_INDIRECT_ARGUMENT_DESC arguments[3] = {
        Argument(D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT),
        Argument(D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW),
        Argument(D3D12_INDIRECT_ARGUMENT_TYPE_DRAW)};
    arguments[0].Constant.Num32BitValuesToSet = 1;
    addresses_.AddSignature(kSignature, LayoutOfSignature({28, 3, arguments, 0}));
  }
  void Patch(uint64_t list = kList) {
    const Status status = addresses_.Patch(std::span(&list, 1), &memory_);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  uint64_t CountStale() {
    const Result<uint64_t> count = addresses_.CountStale(&memory_);
    EXPECT_TRUE(count.ok()) << count.status().message();
    return count.ok() ? *count : 0;
  }
  // As a replay does it: the write follows.
  void CpuWrites(uint64_t buffer, uint64_t offset, std::span<const std::byte> bytes) {
    addresses_.Overwrite(buffer, offset, bytes.size(),
                         [&](uint64_t at, std::span<const std::byte> recorded) {
                           memory_.PutBytes(buffer, at, recorded);
                         });
    memory_.PutBytes(buffer, offset, bytes);
  }

  FakeMemory memory_;
  BufferAddresses addresses_;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_TESTING_BUFFER_ADDRESSES_FIXTURE_H_
