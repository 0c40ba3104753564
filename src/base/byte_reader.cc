// SPDX-License-Identifier: Apache-2.0
#include "base/byte_reader.h"

namespace cairn {

template <typename T>
bool ByteReader::ReadFixed(T& value) {
  value = 0;
  if (!ok_ || remaining() < sizeof(T)) return ok_ = false;
  uint64_t bits = 0;
  for (size_t i = sizeof(T); i-- > 0;) {
    bits = bits << 8 | static_cast<uint8_t>(bytes_[offset_ + i]);
  }
  value = static_cast<T>(bits);
  offset_ += sizeof(T);
  return true;
}

bool ByteReader::ReadU16(uint16_t& value) {
  return ReadFixed(value);
}
bool ByteReader::ReadU32(uint32_t& value) {
  return ReadFixed(value);
}
bool ByteReader::ReadU64(uint64_t& value) {
  return ReadFixed(value);
}
bool ByteReader::ReadI32(int32_t& value) {
  return ReadFixed(value);
}
bool ByteReader::ReadI64(int64_t& value) {
  return ReadFixed(value);
}

bool ByteReader::ReadLongVarint(uint64_t& value) {
  value = 0;
  uint64_t bits = 0;
  size_t position = offset_;
  for (int shift = 0; ok_ && shift < 64 && position < bytes_.size(); shift += 7) {
    const uint64_t byte = static_cast<uint8_t>(bytes_[position++]);
    // The tenth byte holds bit 63 and nothing else.
    if (shift == 63 && byte > 1) break;
    bits |= (byte & 0x7F) << shift;
    if (byte < 0x80) {
      value = bits;
      offset_ = position;
      return true;
    }
  }
  return ok_ = false;
}

bool ByteReader::ReadCount(size_t min_item_bytes, uint32_t& count) {
  if (!ReadVarint32(count)) return false;
  if (count > remaining() / min_item_bytes) {
    count = 0;
    return ok_ = false;
  }
  return true;
}

bool ByteReader::ReadBytes(size_t size, std::span<const std::byte>& bytes) {
  bytes = {};
  if (!ok_ || remaining() < size) return ok_ = false;
  bytes = bytes_.subspan(offset_, size);
  offset_ += size;
  return true;
}

bool ByteReader::ReadString(size_t max_bytes, std::string_view& text) {
  text = {};
  uint64_t size = 0;
  if (!ReadVarint(size)) return false;
  if (size > max_bytes || size > remaining()) return ok_ = false;
  std::span<const std::byte> bytes;
  if (!ReadBytes(static_cast<size_t>(size), bytes)) return false;
  text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  return true;
}

bool ByteReader::Skip(size_t size) {
  std::span<const std::byte> skipped;
  return ReadBytes(size, skipped);
}

}  // namespace cairn
