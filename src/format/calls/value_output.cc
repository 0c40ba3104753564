// SPDX-License-Identifier: Apache-2.0
#include "format/calls/value_output.h"

#include <fmt/compile.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/json_text.h"
#include "base/text.h"

namespace cairn {
void AppendHex(std::span<const std::byte> bytes, std::string_view separator, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out.reserve(out.size() + bytes.size() * (2 + separator.size()));
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0) out += separator;
    out += kDigits[static_cast<unsigned>(bytes[i]) >> 4];
    out += kDigits[static_cast<unsigned>(bytes[i]) & 15];
  }
}

void AppendBytesInWords(std::span<const std::byte> bytes, bool whole, std::string& out) {
  constexpr size_t kShortBytes = 16;
  out += fmt::format("<{} byte{}", GroupedDigits(bytes.size()), bytes.size() == 1 ? "" : "s");
  if (!bytes.empty() && (whole || bytes.size() <= kShortBytes)) {
    out += ": ";
    AppendHex(bytes.first(std::min(bytes.size(), kMostShownBytes)), " ", out);
    if (bytes.size() > kMostShownBytes) out += " ...";
  }
  out += '>';
}

// ---- TextOutput ----

void TextOutput::Separate() {
  if (!first_ && !after_key_) text += ", ";
  first_ = false;
  after_key_ = false;
}

void TextOutput::Open(char bracket) {
  Separate();
  text += bracket;
  first_ = true;
}

void TextOutput::Close(char bracket) {
  text += bracket;
  first_ = false;
}

void TextOutput::BeginArray() {
  Open('[');
  runs_.emplace_back();
}

void TextOutput::EndArray() {
  EndRun(&runs_.back());
  runs_.pop_back();
  Close(']');
}

bool TextOutput::BeginElement() {
  Run& run = runs_.back();
  if (detail_ == Detail::kShort && run.shown == kShownElements) return false;
  if (detail_ == Detail::kShort && counted_bytes_ >= kMostCountedBytes) return false;
  if (text.size() >= kMostValueBytes) return false;
  run.separator = text.size();
  return true;
}

void TextOutput::EndElement() {
  Run& run = runs_.back();
  const bool is_first = run.times == 0;
  const size_t begin =
      std::min(text.size(), run.separator + (is_first ? 0 : std::string_view(", ").size()));
  const std::string_view element = std::string_view(text).substr(begin);
  if (!is_first && detail_ != Detail::kToCompare && counted_bytes_ < kMostCountedBytes &&
      element == std::string_view(text).substr(run.begin, run.end - run.begin)) {
    counted_bytes_ += element.size();
    text.resize(run.separator);
    ++run.times;
    return;
  }
  const size_t size = element.size();
  EndRun(&run);
  run.end = text.size();
  run.begin = run.end - size;
  run.times = 1;
  ++run.shown;
}

bool TextOutput::RepeatElement() {
  if (detail_ == Detail::kToCompare) return false;
  ++runs_.back().times;
  return true;
}

void TextOutput::EndRun(Run* run) {
  if (run->times > 1) text.insert(run->end, fmt::format(" ({} times)", GroupedDigits(run->times)));
  run->times = 0;
}

void TextOutput::Key(std::string_view name) {
  Separate();
  text += name;
  text += " = ";
  after_key_ = true;
}

void TextOutput::Word(std::string_view word) {
  Separate();
  text += word;
}

void TextOutput::Text(std::string_view utf8) {
  Separate();
  text += '"';
  AppendVisibleText(utf8, text);
  text += '"';
}

void TextOutput::Float(double number, bool is_single) {
  Word(is_single ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number));
}

void TextOutput::Bytes(std::span<const std::byte> bytes) {
  Separate();
  if (detail_ == Detail::kToCompare) {
    text += fmt::format("<{}: {:016x}>", bytes.size(), XXH64(bytes.data(), bytes.size(), 0));
  } else {
    AppendBytesInWords(bytes, detail_ == Detail::kWhole, text);
  }
}

void TextOutput::Reference(std::string_view, uint64_t value, const std::string& meaning) {
  if (meaning.empty()) {
    Word(fmt::format("{:#x}", value));
  } else {
    Separate();
    AppendVisibleText(meaning, text);
  }
}

void TextOutput::LeftOut(uint64_t count) {
  EndRun(&runs_.back());
  Word(fmt::format("... {} more", GroupedDigits(count)));
}

// ---- JsonOutput ----

void JsonOutput::Separate() {
  if (!first_ && !after_key_) out_ += ',';
  first_ = false;
  after_key_ = false;
}

void JsonOutput::Open(char bracket) {
  Separate();
  out_ += bracket;
  first_ = true;
}

void JsonOutput::Close(char bracket) {
  out_ += bracket;
  first_ = false;
}

void JsonOutput::Plain(std::string_view json) {
  Separate();
  out_ += json;
}

void JsonOutput::Key(std::string_view name) {
  Word(name);
  out_ += ':';
  after_key_ = true;
}

void JsonOutput::Word(std::string_view word) {
  Separate();
  out_ += '"';
  AppendJsonText(word, out_);
  out_ += '"';
}

void JsonOutput::Unsigned(uint64_t number) {
  Separate();
  fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{}"), number);
}

void JsonOutput::Signed(int64_t number) {
  Separate();
  fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{}"), number);
}

void JsonOutput::Float(double number, bool is_single) {
  // The shortest decimal number that is this one; of a float not its exact value as a double.
  std::string digits =
      is_single ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
  if (!std::isfinite(number)) return Word(digits);  // JSON has no numbers for these
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  Plain(digits);
}

void JsonOutput::Bytes(std::span<const std::byte> bytes) {
  Separate();
  fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{{\"bytes\":{},\"xxh64\":\"{:016x}\""),
                 bytes.size(), XXH64(bytes.data(), bytes.size(), 0));
  if (whole_) {
    out_ += ",\"hex\":\"";
    AppendHex(bytes.first(std::min(bytes.size(), kMostShownBytes)), "", out_);
    out_ += '"';
  }
  out_ += '}';
}

void JsonOutput::LeftOut(uint64_t count) {
  Separate();
  fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{{\"left_out\":{}}}"), count);
}

void JsonOutput::Reference(std::string_view kind, uint64_t value, const std::string& meaning) {
  Separate();
  if (kind == "object") {
    fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{{\"object\":{}"), value);
  } else {
    fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{{\"{}\":\"{:#x}\""), kind, value);
  }
  if (!meaning.empty()) {
    out_ += ",\"text\":\"";
    AppendJsonText(meaning, out_);
    out_ += '"';
  }
  out_ += '}';
}

}  // namespace cairn
