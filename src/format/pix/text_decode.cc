// SPDX-License-Identifier: Apache-2.0
#include "format/pix/text_decode.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cairn {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;

// Windows-1252 differs from Latin-1 here; its five gaps stay C1 controls, as Windows converts them.
constexpr std::array<uint16_t, 32> kWindows1252 = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

bool IsSurrogate(uint32_t unit) {
  return unit >= 0xD800 && unit <= 0xDFFF;
}

uint32_t UnitAt(std::span<const std::byte> bytes, size_t offset, size_t unit_bytes) {
  uint32_t unit = 0;
  for (size_t i = 0; i < unit_bytes; ++i) {
    unit |= std::to_integer<uint32_t>(bytes[offset + i]) << (8 * i);
  }
  return unit;
}

// Bytes of the sequence that starts with `lead`; 0 if none does.
size_t SequenceBytes(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// `text` without a sequence at its end that lacks bytes.
std::string_view WithoutCutSequence(std::string_view text) {
  for (size_t tail = 1; tail <= 3 && tail <= text.size(); ++tail) {
    const uint8_t byte = static_cast<uint8_t>(text[text.size() - tail]);
    if ((byte & 0xC0) == 0x80) continue;
    if (SequenceBytes(byte) > tail) return text.substr(0, text.size() - tail);
    break;
  }
  return text;
}

}  // namespace

void AppendUtf8(uint32_t code_point, std::string& out) {
  if (code_point > 0x10FFFF || IsSurrogate(code_point)) code_point = kReplacement;
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0 | code_point >> 6);
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0 | code_point >> 12);
    out += static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code_point >> 18);
    out += static_cast<char>(0x80 | (code_point >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  }
}

DecodedText DecodeUtf16(std::span<const std::byte> bytes) {
  DecodedText decoded;
  size_t offset = 0;
  for (; offset + 2 <= bytes.size(); offset += 2) {
    const uint32_t unit = UnitAt(bytes, offset, 2);
    if (unit == 0) {
      decoded.has_terminator = true;
      offset += 2;
      break;
    }
    if (unit >= 0xD800 && unit <= 0xDBFF && offset + 4 <= bytes.size()) {
      const uint32_t low = UnitAt(bytes, offset + 2, 2);
      if (low >= 0xDC00 && low <= 0xDFFF) {
        AppendUtf8(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), decoded.text);
        offset += 2;
        continue;
      }
    }
    AppendUtf8(unit, decoded.text);
  }
  decoded.consumed_bytes = decoded.has_terminator ? offset : bytes.size();
  return decoded;
}

DecodedText DecodeUtf32(std::span<const std::byte> bytes) {
  DecodedText decoded;
  size_t offset = 0;
  for (; offset + 4 <= bytes.size() && !decoded.has_terminator; offset += 4) {
    const uint32_t unit = UnitAt(bytes, offset, 4);
    decoded.has_terminator = unit == 0;
    if (unit != 0) AppendUtf8(unit, decoded.text);
  }
  decoded.consumed_bytes = decoded.has_terminator ? offset : bytes.size();
  return decoded;
}

DecodedText DecodeAnsi(std::span<const std::byte> bytes) {
  DecodedText decoded;
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  const size_t size = static_cast<size_t>(end - bytes.begin());
  decoded.has_terminator = end != bytes.end();
  decoded.consumed_bytes = size + (decoded.has_terminator ? 1 : 0);
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), size);
  const std::string_view whole = decoded.has_terminator ? text : WithoutCutSequence(text);
  if (IsValidUtf8(whole)) {
    decoded.text = whole;
    return decoded;
  }
  for (const char c : text) {
    const uint8_t byte = static_cast<uint8_t>(c);
    AppendUtf8(byte >= 0x80 && byte < 0xA0 ? kWindows1252[byte - 0x80] : byte, decoded.text);
  }
  return decoded;
}

bool LooksLikeUtf32(std::span<const std::byte> bytes) {
  if (bytes.size() % 4 != 0) return false;
  size_t count = 0;
  for (size_t offset = 0; offset + 4 <= bytes.size(); offset += 4, ++count) {
    const uint32_t unit = UnitAt(bytes, offset, 4);
    if (unit == 0) break;
    if (unit > 0x3FFFF || IsSurrogate(unit)) return false;
    // "A" with its terminator in UTF-16 is "A" without in UTF-32.
    if (bytes.size() == 4 && unit <= 0xFFFF) return false;
  }
  return count > 0;
}

size_t UnitCount(std::string_view text, bool is_ansi) {
  if (is_ansi) return text.size();
  return static_cast<size_t>(
             std::count_if(text.begin(), text.end(),
                           [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; })) +
         static_cast<size_t>(std::count_if(text.begin(), text.end(),
                                           [](char c) { return static_cast<uint8_t>(c) >= 0xF0; }));
}

std::string_view UnitPrefix(std::string_view text, bool is_ansi, size_t max_units) {
  if (is_ansi) return Utf8Prefix(text, max_units);
  size_t units = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = std::max<size_t>(1, SequenceBytes(static_cast<uint8_t>(text[at])));
    units += bytes == 4 ? 2 : 1;
    if (units > max_units) return text.substr(0, at);
    at = std::min(text.size(), at + bytes);
  }
  return text;
}

}  // namespace cairn
