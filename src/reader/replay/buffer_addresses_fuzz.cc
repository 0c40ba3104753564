// SPDX-License-Identifier: Apache-2.0
// For any commands of lists, only bytes inside of buffers are read and written, and signatures may
// say anything.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>

#include "reader/replay/buffer_addresses.h"

namespace {

constexpr uint64_t kBuffers = 3;
constexpr uint64_t kBufferBytes = 512;

class Memory final : public cairn::BufferAddresses::Memory {
 public:
  uint64_t SizeOf(uint64_t buffer) override { return buffer < kBuffers ? kBufferBytes : 0; }
  bool IsOfCpu(uint64_t buffer) override { return buffer == 0; }
  bool IsOfShaders(uint64_t buffer) override { return buffer == 1; }
  cairn::Result<std::vector<std::byte>> Read(std::span<const Piece> pieces) override {
    std::vector<std::byte> all;
    for (const Piece& piece : pieces) {
      Check(piece);
      const auto begin = bytes_[piece.buffer].begin() + static_cast<ptrdiff_t>(piece.offset_bytes);
      all.insert(all.end(), begin, begin + static_cast<ptrdiff_t>(piece.size_bytes));
    }
    return all;
  }
  cairn::Status Write(std::span<const Piece> pieces, std::span<const std::byte> bytes) override {
    for (const Piece& piece : pieces) {
      Check(piece);
      if (piece.size_bytes > bytes.size()) std::abort();
      std::memcpy(bytes_[piece.buffer].data() + piece.offset_bytes, bytes.data(), piece.size_bytes);
      bytes = bytes.subspan(piece.size_bytes);
    }
    if (!bytes.empty()) std::abort();
    return {};
  }
  std::optional<uint64_t> RealAddress(uint64_t recorded) override {
    return PlaceOf(recorded) ? std::optional(recorded + 256) : std::nullopt;
  }
  std::optional<uint64_t> RealDescriptor(uint64_t recorded) override {
    return recorded % 2 == 0 ? std::nullopt : std::optional(recorded + 2);
  }
  uint64_t StructureAt(uint64_t real) override { return real % 512 == 8 ? real + 1024 : real; }
  std::optional<Place> PlaceOf(uint64_t recorded) override {
    if (recorded < 256 || recorded >= 256 + kBuffers * kBufferBytes) return std::nullopt;
    return Place{(recorded - 256) / kBufferBytes, (recorded - 256) % kBufferBytes};
  }

 private:
  static void Check(const Piece& piece) {
    if (piece.buffer >= kBuffers || piece.offset_bytes > kBufferBytes ||
        piece.size_bytes > kBufferBytes - piece.offset_bytes) {
      std::abort();
    }
  }
  std::array<std::array<std::byte, kBufferBytes>, kBuffers> bytes_ = {};
};

// Numbers, small ones more often than others; 0 when the input is used up.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  uint64_t Number() {
    const uint8_t first = Byte();
    if (first < 0xF0) return first;
    uint64_t number = 0;
    for (uint8_t i = first; i < 0xF8; ++i) number = number << 8 | Byte();
    return first >= 0xF8 ? ~uint64_t{0} - (first - 0xF8) : number;
  }

 private:
  uint8_t Byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  const uint8_t* data_;
  size_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Memory memory;
  cairn::BufferAddresses addresses;
  constexpr uint64_t kLists[] = {7, 8};
  const auto execute = [&] {
    size_t begin = 0;
    while (begin < std::size(kLists)) {
      const size_t together = addresses.CountTogether(std::span(kLists).subspan(begin), &memory);
      if (together == 0 || together > std::size(kLists) - begin) std::abort();
      (void)addresses.Patch(std::span(kLists).subspan(begin, together), &memory);
      (void)addresses.CountStale(&memory);
      begin += together;
    }
  };
  for (int step = 0; step < 64 && !input.empty(); ++step) {
    const uint64_t buffer = input.Number();
    const uint64_t list = kLists[input.Number() % std::size(kLists)];
    switch (input.Number() % 9) {
      case 0: {
        D3D12_INDIRECT_ARGUMENT_DESC arguments[3] = {};
        for (auto& argument : arguments) {
          argument.Type = static_cast<D3D12_INDIRECT_ARGUMENT_TYPE>(input.Number());
          argument.Constant.Num32BitValuesToSet = static_cast<UINT>(input.Number());
        }
        addresses.AddSignature(
            buffer, cairn::LayoutOfSignature({static_cast<UINT>(input.Number()), 3, arguments, 0}));
        break;
      }
      case 1:
        addresses.Copy(list, buffer, input.Number(), input.Number(), input.Number(),
                       input.Number());
        break;
      case 2:
        addresses.Indirect(list, input.Number(), buffer, input.Number(),
                           static_cast<uint32_t>(input.Number()));
        break;
      case 3:
        addresses.Instances(list, buffer, input.Number(), static_cast<uint32_t>(input.Number()),
                            input.Number() % 2 != 0);
        break;
      case 4:
        addresses.ShaderTable(list, buffer, input.Number(), input.Number(), input.Number(),
                              {input.Number(), input.Number()});
        break;
      case 5: {
        const uint64_t value = input.Number();
        const uint64_t offset = input.Number();
        if (buffer < kBuffers && offset <= kBufferBytes - sizeof(value)) {
          const cairn::BufferAddresses::Memory::Piece piece = {buffer, offset, sizeof(value)};
          addresses.Overwrite(
              buffer, offset, sizeof(value), [&](uint64_t at, std::span<const std::byte> recorded) {
                const cairn::BufferAddresses::Memory::Piece cut = {buffer, at, recorded.size()};
                (void)memory.Write(std::span(&cut, 1), recorded);
              });
          (void)memory.Write(std::span(&piece, 1), std::as_bytes(std::span(&value, 1)));
        }
        break;
      }
      case 6: addresses.ShadersWrote(list, buffer); break;
      case 7:
        addresses.Bundle(buffer, input.Number());  // buffers and lists share their numbers
        if (input.Number() % 4 == 0) addresses.Reset(list);
        break;
      default: execute(); break;
    }
  }
  execute();
  return 0;
}
