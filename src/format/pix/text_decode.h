// SPDX-License-Identifier: Apache-2.0
//
// From the encodings that markers use to UTF-8, and how printf counts.
#ifndef CAIRN_FORMAT_PIX_TEXT_DECODE_H_
#define CAIRN_FORMAT_PIX_TEXT_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cairn {

// Text in front of the first zero unit, or all of the bytes.
struct DecodedText {
  std::string text;           // UTF-8
  size_t consumed_bytes = 0;  // with the terminator
  bool has_terminator = false;
};

// Unpaired surrogates become U+FFFD. One odd byte at the end is dropped.
DecodedText DecodeUtf16(std::span<const std::byte> bytes);
// Decodes UTF-32. Invalid code points become U+FFFD. One to three odd bytes at the end are dropped.
DecodedText DecodeUtf32(std::span<const std::byte> bytes);
// UTF-8 stays; a sequence that the end of unterminated bytes cuts is dropped. Bytes that are no UTF-8
// are Windows-1252, as a whole.
DecodedText DecodeAnsi(std::span<const std::byte> bytes);

// True if the bytes are rather 32-bit characters than UTF-16: their number is a multiple of four,
// there is at least one unit in front of the first zero unit, and all of them are code points of planes 0 to 3. As UTF-16, every second
// character of such text would be U+0000 to U+0003.
bool LooksLikeUtf32(std::span<const std::byte> bytes);

void AppendUtf8(uint32_t code_point, std::string& out);

// Returns the length of UTF-8 `text` in printf's units: bytes if it was passed as ANSI, else UTF-16
// units.
size_t UnitCount(std::string_view text, bool is_ansi);
// The longest beginning of at most `max_units` such units that ends between code points.
std::string_view UnitPrefix(std::string_view text, bool is_ansi, size_t max_units);

}  // namespace cairn

#endif  // CAIRN_FORMAT_PIX_TEXT_DECODE_H_
