// SPDX-License-Identifier: Apache-2.0
//
// Text that comes from applications, drivers and files: UTF-8 that nobody vouches for.
#ifndef CAIRN_BASE_TEXT_H_
#define CAIRN_BASE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cairn {

// UTF-8 as in RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::string_view text);

// Code points of `text`; a byte that is not part of valid UTF-8 counts as one.
size_t CodePointCount(std::string_view text);

// The longest beginning of `text` of at most `max_bytes` bytes that does not end inside a valid
// code point.
std::string_view Utf8Prefix(std::string_view text, size_t max_bytes);

// `text` as one line of valid UTF-8 that cannot act on a terminal: what moves the cursor, starts an
// escape sequence, reorders the line or is not text is written out.
//   control characters and DEL      \x1b \x0a \x7f
//   bytes that are not UTF-8        \xff
//   C1 controls, bidi controls, line separators, invisible format and tag characters,
//   noncharacters                   \u{202e}
// Everything else stays as it is, backslashes too: this is for reading, not for decoding back.
std::string VisibleText(std::string_view text);
// The same, added to the end of `out`.
void AppendVisibleText(std::string_view text, std::string& out);

// True when VisibleText(text) would equal `text`.
bool IsVisibleText(std::string_view text);

// Returns the text as one word of a shell's command line: unchanged if it is harmless, else in
// single quotes; as $'a\x0ab' if a terminal cannot show it unchanged.
std::string ShellQuoted(const std::string& word);

// "0a1b2c", with `separator` between the bytes.
void AppendHex(std::span<const std::byte> bytes, std::string_view separator, std::string& out);

// "18,233".
std::string GroupedDigits(uint64_t number);
// The word for so many: "vertex" for one of them, "vertices" for all other numbers.
constexpr std::string_view Plural(uint64_t count, std::string_view one, std::string_view several) {
  return count == 1 ? one : several;
}
// "1 call", "18,233 calls"; where an s does not make the plural, with `several`.
std::string Counted(uint64_t count, std::string_view one, std::string_view several = {});
// "2 s", "0.25 s".
std::string SecondsInWords(uint64_t time_ns);
// Parses "18,233", "18233"; returns nullopt for other text.
std::optional<uint64_t> ParseDigits(std::string_view text);

// Wide text as UTF-8. The characters have 2 bytes (UTF-16) or 4 (UTF-32), which programs on Linux
// choose for themselves, and need not be aligned; invalid characters become U+FFFD. The text ends
// at its first zero or after `max_characters` of them.
struct WideText {
  const void* characters = nullptr;
  size_t character_bytes = 2;
  size_t max_characters = static_cast<size_t>(-1);
};
// Fills the beginning of `out`, without a terminator; `cut` if not everything found room. Never ends
// inside a code point.
struct WrittenUtf8 {
  std::string_view text;
  bool cut = false;
};
WrittenUtf8 WriteUtf8(const WideText& text, std::span<char> out);

}  // namespace cairn

#endif  // CAIRN_BASE_TEXT_H_
