// SPDX-License-Identifier: Apache-2.0
//
// Reads little-endian numbers, varints and strings from bytes that nobody vouches for. A read that
// would go past the end, or finds a malformed value, returns false, sets its output to zero or
// empty, and makes every later read fail too, so that a decoder may check once:
//
//   ByteReader reader(payload);
//   uint32_t count = 0;
//   reader.ReadU64(id);
//   reader.ReadCount(kBytesPerItem, count);  // bounded by what is left: safe to reserve()
//   if (!reader.ok()) return Status(StatusCode::kCorrupt, ...);
#ifndef CAIRN_BASE_BYTE_READER_H_
#define CAIRN_BASE_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace cairn {

class ByteReader {
 public:
  // `bytes` must outlive the reader and what ReadBytes and ReadString return.
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ReadU8(uint8_t& value) {
    if (!ok_ || offset_ == bytes_.size()) {
      value = 0;
      return ok_ = false;
    }
    value = static_cast<uint8_t>(bytes_[offset_++]);
    return true;
  }
  bool ReadU16(uint16_t& value);
  bool ReadU32(uint32_t& value);
  bool ReadU64(uint64_t& value);
  bool ReadI32(int32_t& value);
  bool ReadI64(int64_t& value);

  // LEB128, 7 bits a byte, low bits first. More than 10 bytes, or bits beyond the type's, fail.
  bool ReadVarint(uint64_t& value) {
    // Most are of one byte.
    if (ok_ && offset_ < bytes_.size() && bytes_[offset_] < std::byte{0x80}) {
      value = static_cast<uint64_t>(bytes_[offset_++]);
      return true;
    }
    return ReadLongVarint(value);
  }
  bool ReadVarint32(uint32_t& value) {
    uint64_t wide = 0;
    const bool read = ReadVarint(wide) && wide <= std::numeric_limits<uint32_t>::max();
    value = read ? static_cast<uint32_t>(wide) : 0;
    return ok_ = read;
  }
  // Zigzag: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...
  bool ReadSignedVarint(int64_t& value) {
    uint64_t bits = 0;
    const bool read = ReadVarint(bits);
    value = static_cast<int64_t>(bits >> 1 ^ (0 - (bits & 1)));
    return read;
  }

  // A varint that counts items of at least `min_item_bytes` (> 0) each, which follow: fails when
  // that many cannot fit in the remaining bytes.
  bool ReadCount(size_t min_item_bytes, uint32_t& count);

  // `size` bytes, not copied.
  bool ReadBytes(size_t size, std::span<const std::byte>& bytes);
  // A varint length, at most `max_bytes`, and that many bytes; any bytes, not only UTF-8.
  bool ReadString(size_t max_bytes, std::string_view& text);
  bool Skip(size_t size);

  bool ok() const { return ok_; }
  // Marks the data as malformed, for checks of the decoder's own.
  void Fail() { ok_ = false; }
  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }

 private:
  template <typename T>
  bool ReadFixed(T& value);
  bool ReadLongVarint(uint64_t& value);

  std::span<const std::byte> bytes_;
  size_t offset_ = 0;
  bool ok_ = true;
};

}  // namespace cairn

#endif  // CAIRN_BASE_BYTE_READER_H_
