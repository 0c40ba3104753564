// SPDX-License-Identifier: Apache-2.0
#include "base/byte_writer.h"

#include "base/text.h"

namespace cairn {

template <typename T>
void ByteWriter::WriteFixed(T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes_.push_back(static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * i)));
  }
}

void ByteWriter::WriteU8(uint8_t value) {
  WriteFixed(value);
}
void ByteWriter::WriteU16(uint16_t value) {
  WriteFixed(value);
}
void ByteWriter::WriteU32(uint32_t value) {
  WriteFixed(value);
}
void ByteWriter::WriteU64(uint64_t value) {
  WriteFixed(value);
}

void ByteWriter::WriteVarint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    bytes_.push_back(static_cast<std::byte>(value | 0x80));
  }
  bytes_.push_back(static_cast<std::byte>(value));
}

void ByteWriter::WriteSignedVarint(int64_t value) {
  const uint64_t bits = static_cast<uint64_t>(value);
  WriteVarint(bits << 1 ^ (0 - (bits >> 63)));
}

void ByteWriter::WriteBytes(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void ByteWriter::WriteString(std::string_view text, size_t max_bytes) {
  const std::string_view kept = Utf8Prefix(text, max_bytes);
  WriteVarint(kept.size());
  WriteBytes(std::as_bytes(std::span(kept.data(), kept.size())));
}

void ByteWriter::AlignTo(size_t alignment) {
  bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
}

}  // namespace cairn
