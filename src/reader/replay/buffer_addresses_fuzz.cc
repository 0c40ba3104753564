// SPDX-License-Identifier: Apache-2.0
// For any commands of lists, only bytes inside of buffers are read and written, and signatures may
// say anything.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "reader/replay/buffer_addresses.h"

namespace {

constexpr uint64_t kBuffers = 3;
constexpr uint64_t kBufferBytes = 512;

class Memory final : public cairn::BufferAddresses::Memory {
 public:
  uint64_t SizeOf(uint64_t buffer) override { return buffer < kBuffers ? kBufferBytes : 0; }
  cairn::Result<std::vector<std::byte>> Read(uint64_t buffer, uint64_t offset,
                                             uint64_t size) override {
    Check(buffer, offset, size);
    const auto begin = bytes_[buffer].begin() + static_cast<ptrdiff_t>(offset);
    return std::vector<std::byte>(begin, begin + static_cast<ptrdiff_t>(size));
  }
  cairn::Status Write(uint64_t buffer, uint64_t offset, std::span<const std::byte> bytes) override {
    Check(buffer, offset, bytes.size());
    std::memcpy(bytes_[buffer].data() + offset, bytes.data(), bytes.size());
    return {};
  }
  std::optional<uint64_t> RealAddress(uint64_t recorded) override {
    return PlaceOf(recorded) ? std::optional(recorded + 256) : std::nullopt;
  }
  std::optional<uint64_t> RealDescriptor(uint64_t recorded) override {
    return recorded % 2 == 0 ? std::nullopt : std::optional(recorded + 2);
  }
  std::optional<Place> PlaceOf(uint64_t recorded) override {
    if (recorded < 256 || recorded >= 256 + kBuffers * kBufferBytes) return std::nullopt;
    return Place{(recorded - 256) / kBufferBytes, (recorded - 256) % kBufferBytes};
  }

 private:
  static void Check(uint64_t buffer, uint64_t offset, uint64_t size) {
    if (buffer >= kBuffers || offset > kBufferBytes || size > kBufferBytes - offset) std::abort();
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
  constexpr uint64_t kList = 7;
  for (int step = 0; step < 64 && !input.empty(); ++step) {
    const uint64_t buffer = input.Number();
    switch (input.Number() % 7) {
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
        addresses.Copy(kList, buffer, input.Number(), input.Number(), input.Number(),
                       input.Number());
        break;
      case 2:
        addresses.Indirect(kList, input.Number(), buffer, input.Number(),
                           static_cast<uint32_t>(input.Number()));
        break;
      case 3:
        addresses.Instances(kList, buffer, input.Number(), static_cast<uint32_t>(input.Number()),
                            input.Number() % 2 != 0);
        break;
      case 4:
        addresses.ShaderTable(kList, buffer, input.Number(), input.Number(), input.Number());
        break;
      case 5: {
        const uint64_t value = input.Number();
        const uint64_t offset = input.Number();
        if (buffer < kBuffers && offset <= kBufferBytes - sizeof(value)) {
          (void)memory.Write(buffer, offset, std::as_bytes(std::span(&value, 1)));
        }
        break;
      }
      default: {
        const uint64_t lists[] = {kList};
        (void)addresses.Patch(lists, &memory);
        break;
      }
    }
  }
  const uint64_t lists[] = {kList};
  (void)addresses.Patch(lists, &memory);
  return 0;
}
