// SPDX-License-Identifier: Apache-2.0
//
// Decodes UTF-8 that may be malformed, and collects escapes, for text.h and json_text.h.
#ifndef CAIRN_BASE_CODE_POINT_H_
#define CAIRN_BASE_CODE_POINT_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace cairn {

// One code point, or one byte that is not UTF-8.
struct CodePoint {
  uint32_t value = 0;
  uint32_t size_bytes = 1;
  bool valid = false;
};

// Decodes the code point in front of `text`, which is not empty.
inline CodePoint DecodeFirst(std::string_view text) {
  const auto byte = [text](uint32_t i) { return static_cast<uint8_t>(text[i]); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const CodePoint invalid{lead, 1, false};
  if (lead < 0xC2 || lead > 0xF4) return invalid;
  const uint32_t size_bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < size_bytes) return invalid;
  uint32_t value = lead & (0x7Fu >> size_bytes);
  for (uint32_t i = 1; i < size_bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return invalid;
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  constexpr uint32_t kLeast[] = {0x80, 0x800, 0x10000};  // smaller ones have a shorter form
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kLeast[size_bytes - 2] || surrogate || value > 0x10FFFF) return invalid;
  return {value, size_bytes, true};
}

// True for valid code points that are not shown as themselves: they act on a terminal, or cannot be seen.
bool IsHidden(uint32_t value);

// Collects escapes and appends many of them at once: names of hostile files consist of them, by the gigabyte.
class Escapes {
 public:
  explicit Escapes(std::string& out) : out_(out) {}

  // Adds `before`, the hexadecimal digits of `value`, `least` of them or more, and `after`.
  void Add(std::string_view before, uint32_t value, int least, std::string_view after = {}) {
    if (end_ + before.size() + 8 + after.size() > std::size(bytes_)) Flush();
    end_ += before.copy(bytes_ + end_, before.size());
    int digits = least;
    while (digits < 8 && value >> (4 * digits) != 0) ++digits;
    while (digits-- > 0) bytes_[end_++] = "0123456789abcdef"[value >> (4 * digits) & 15];
    end_ += after.copy(bytes_ + end_, after.size());
  }
  void Flush() {
    if (end_ == 0) return;
    out_.append(bytes_, end_);
    end_ = 0;
  }

 private:
  std::string& out_;
  char bytes_[512];
  size_t end_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_BASE_CODE_POINT_H_
