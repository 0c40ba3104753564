// SPDX-License-Identifier: Apache-2.0
//
// Builds what ByteReader reads.
#ifndef CAIRN_BASE_BYTE_WRITER_H_
#define CAIRN_BASE_BYTE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn {

class ByteWriter {
 public:
  void WriteU8(uint8_t value);
  void WriteU16(uint16_t value);
  void WriteU32(uint32_t value);
  void WriteU64(uint64_t value);
  void WriteI32(int32_t value) { WriteU32(static_cast<uint32_t>(value)); }
  void WriteI64(int64_t value) { WriteU64(static_cast<uint64_t>(value)); }
  void WriteVarint(uint64_t value);
  void WriteSignedVarint(int64_t value);
  void WriteBytes(std::span<const std::byte> bytes);
  // Varint length and bytes. Text longer than `max_bytes` is cut, in front of a code point where
  // it is UTF-8, so that ReadString with the same limit accepts it.
  void WriteString(std::string_view text, size_t max_bytes);
  // Zeros up to the next multiple of `alignment` (> 0) of what was written.
  void AlignTo(size_t alignment);

  size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return bytes_; }
  // Hands the bytes over and leaves the writer empty.
  std::vector<std::byte> Take() { return std::exchange(bytes_, {}); }
  // Empties the writer and keeps its memory.
  void Clear() { bytes_.clear(); }
  void Reserve(size_t size_bytes) { bytes_.reserve(size_bytes); }

 private:
  template <typename T>
  void WriteFixed(T value);

  std::vector<std::byte> bytes_;
};

}  // namespace cairn

#endif  // CAIRN_BASE_BYTE_WRITER_H_
