// SPDX-License-Identifier: Apache-2.0
#include "format/calls/value_output.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace cairn {

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
  if (!first_ && !after_key_) text += IsMemberLine() ? "\n" : ", ";
  first_ = false;
  after_key_ = false;
}

void TextOutput::Open(char bracket) {
  Separate();
  text += bracket;
  ++depth_;
  first_ = true;
}

void TextOutput::Close(char bracket) {
  text += bracket;
  --depth_;
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
  if (IsShort() && run.shown == kShownElements) return false;
  if (IsShort() && counted_bytes_ >= kMostCountedBytes) return false;
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
  text += IsMemberLine() ? "  " : " = ";
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
  if (detail_ == Detail::kToCompare || detail_ == Detail::kMemberLines) {
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

void JsonOutput::Float(double number, bool is_single) {
  // JSON has no numbers for these.
  if (!std::isfinite(number)) return json_.String(fmt::format("{}", number));
  // Prints a float with its own digits, not with those of its value as a double.
  is_single ? json_.Real(static_cast<float>(number)) : json_.Real(number);
}

void JsonOutput::Bytes(std::span<const std::byte> bytes) {
  json_.BeginObject();
  json_.NumberKey("bytes", bytes.size());
  json_.StringKey("xxh64", fmt::format("{:016x}", XXH64(bytes.data(), bytes.size(), 0)));
  if (whole_) {
    json_.Key("hex");
    json_.HexBytes(bytes.first(std::min(bytes.size(), kMostShownBytes)));
  }
  json_.EndObject();
}

void JsonOutput::LeftOut(uint64_t count) {
  json_.BeginObject();
  json_.NumberKey("left_out", count);
  json_.EndObject();
}

void JsonOutput::Reference(std::string_view kind, uint64_t value, const std::string& meaning) {
  json_.BeginObject();
  kind == "object" ? json_.NumberKey(kind, value) : json_.HexKey(kind, value);
  if (!meaning.empty()) json_.StringKey("text", meaning);
  json_.EndObject();
}

}  // namespace cairn
