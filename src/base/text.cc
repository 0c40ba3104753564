// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "base/code_point.h"

namespace cairn {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Valid code points that are not shown as themselves, in order.
constexpr std::array<Range, 14> kHidden = {{
    {0x00, 0x1F},        // C0 controls
    {0x7F, 0x9F},        // DEL and C1 controls: U+009B starts an escape sequence by itself
    {0xAD, 0xAD},        // soft hyphen
    {0x61C, 0x61C},      // Arabic letter mark (bidi)
    {0x180E, 0x180E},    // Mongolian vowel separator
    {0x200B, 0x200B},    // zero width space
    {0x200E, 0x200F},    // left-to-right and right-to-left mark
    {0x2028, 0x202E},    // line and paragraph separator, bidi embeddings and overrides
    {0x2060, 0x206F},    // word joiner, invisible operators, bidi isolates, deprecated controls
    {0xFDD0, 0xFDEF},    // noncharacters
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFF9, 0xFFFB},    // interlinear annotation
    {0x1D173, 0x1D17A},  // musical format controls
    {0xE0000, 0xE0FFF},  // tags and other invisible characters
}};

// Most text is printable ASCII: its length, so that it can be copied at once.
size_t PlainPrefixSize(std::string_view text) {
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7F; };
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), plain) - text.begin());
}

// For what a terminal would obey, or cannot show.
std::string QuotedByBytes(const std::string& word) {
  std::string quoted = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      // Not \': where a shell does not know $'...', it would end the word.
      if (c == '\\') quoted += '\\';
      quoted += c == '\'' ? std::string("\\x27") : std::string(1, c);
    }
  }
  return quoted + "'";
}

}  // namespace

bool IsHidden(uint32_t value) {
  // The last two code points of every plane are noncharacters.
  if ((value & 0xFFFE) == 0xFFFE) return true;
  const auto* range = std::upper_bound(
      kHidden.begin(), kHidden.end(), value,
      [](uint32_t wanted, const Range& candidate) { return wanted < candidate.first; });
  return range != kHidden.begin() && value <= std::prev(range)->last;
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = DecodeFirst(text);
    if (!point.valid) return false;
    text.remove_prefix(point.size_bytes);
  }
  return true;
}

size_t CodePointCount(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(DecodeFirst(text).size_bytes);
  return count;
}

std::string_view Utf8Prefix(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  // A code point that crosses the limit starts at most three bytes in front of it.
  for (size_t start = max_bytes; start > 0 && max_bytes - start < 3;) {
    --start;
    const CodePoint point = DecodeFirst(text.substr(start));
    if (point.valid && start + point.size_bytes > max_bytes) return text.substr(0, start);
  }
  return text.substr(0, max_bytes);
}

void AppendVisibleText(std::string_view text, std::string& out) {
  Escapes escapes(out);
  while (!text.empty()) {
    size_t size = PlainPrefixSize(text);
    if (size != 0) {
      escapes.Flush();
      out.append(text.substr(0, size));
    } else {
      const CodePoint point = DecodeFirst(text);
      size = point.size_bytes;
      if (!point.valid || point.value < 0x20 || point.value == 0x7F) {
        escapes.Add("\\x", point.value, 2);
      } else if (IsHidden(point.value)) {
        escapes.Add("\\u{", point.value, 1, "}");
      } else {
        escapes.Flush();
        out.append(text.substr(0, size));
      }
    }
    text.remove_prefix(size);
  }
  escapes.Flush();
}

std::string ShellQuoted(const std::string& word) {
  constexpr char kHarmless[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@%,";
  if (!word.empty() && word.find_first_not_of(kHarmless) == std::string::npos) return word;
  if (!IsVisibleText(word)) return QuotedByBytes(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

void AppendHex(std::span<const std::byte> bytes, std::string_view separator, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out.reserve(out.size() + bytes.size() * (2 + separator.size()));
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0) out += separator;
    out += kDigits[static_cast<unsigned>(bytes[i]) >> 4];
    out += kDigits[static_cast<unsigned>(bytes[i]) & 15];
  }
}

std::string Counted(uint64_t count, std::string_view one, std::string_view several) {
  std::string text = GroupedDigits(count);
  text += ' ';
  text += count == 1 || several.empty() ? one : several;
  if (count != 1 && several.empty()) text += 's';
  return text;
}

std::string SecondsInWords(uint64_t time_ns) {
  return fmt::format("{:g} s", static_cast<double>(time_ns) / 1e9);
}

std::string GroupedDigits(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t end = digits.size(); end > 3;) digits.insert(end -= 3, 1, ',');
  return digits;
}

std::optional<uint64_t> ParseDigits(std::string_view text) {
  std::string digits(text);
  std::erase(digits, ',');
  uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

std::string VisibleText(std::string_view text) {
  std::string visible;
  visible.reserve(text.size());
  AppendVisibleText(text, visible);
  return visible;
}

bool IsVisibleText(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = DecodeFirst(text);
    if (!point.valid || IsHidden(point.value)) return false;
    text.remove_prefix(point.size_bytes);
  }
  return true;
}

namespace {

class WideReader {
 public:
  explicit WideReader(const WideText& text)
      : at_(static_cast<const char*>(text.characters)),
        bytes_(text.character_bytes),
        left_(text.characters == nullptr ? 0 : text.max_characters) {}

  // The next code point, 0 at the end.
  uint32_t Next() {
    constexpr uint32_t kReplacement = 0xFFFD;
    const uint32_t unit = Take();
    if (bytes_ == 2 && unit >= 0xD800 && unit <= 0xDBFF) {
      const uint32_t low = Peek();
      if (low < 0xDC00 || low > 0xDFFF) return kReplacement;
      Take();
      return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    const bool surrogate = unit >= 0xD800 && unit <= 0xDFFF;
    return surrogate || unit > 0x10FFFF ? kReplacement : unit;
  }

 private:
  uint32_t Peek() const {
    if (left_ == 0) return 0;
    if (bytes_ == 2) {
      uint16_t unit;
      std::memcpy(&unit, at_, sizeof(unit));
      return unit;
    }
    uint32_t unit;
    std::memcpy(&unit, at_, sizeof(unit));
    return unit;
  }
  uint32_t Take() {
    const uint32_t unit = Peek();
    if (unit == 0) {
      left_ = 0;  // Ignore everything behind the terminator.
    } else {
      at_ += bytes_;
      --left_;
    }
    return unit;
  }

  const char* at_;
  size_t bytes_;
  size_t left_;
};

// Writes at most four bytes; returns their number.
size_t EncodeUtf8(uint32_t point, char* out) {
  const auto tail = [point](int shift) {
    return static_cast<char>(0x80 | ((point >> shift) & 0x3F));
  };
  if (point < 0x80) {
    out[0] = static_cast<char>(point);
    return 1;
  }
  if (point < 0x800) {
    out[0] = static_cast<char>(0xC0 | point >> 6);
    out[1] = tail(0);
    return 2;
  }
  if (point < 0x10000) {
    out[0] = static_cast<char>(0xE0 | point >> 12);
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | point >> 18);
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

}  // namespace

WrittenUtf8 WriteUtf8(const WideText& text, std::span<char> out) {
  WideReader reader(text);
  size_t size = 0;
  for (uint32_t point = reader.Next(); point != 0; point = reader.Next()) {
    char bytes[4];
    const size_t count = EncodeUtf8(point, bytes);
    if (count > out.size() - size) return {std::string_view(out.data(), size), true};
    std::memcpy(out.data() + size, bytes, count);
    size += count;
  }
  return {std::string_view(out.data(), size), false};
}

}  // namespace cairn
