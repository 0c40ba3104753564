// SPDX-License-Identifier: Apache-2.0
#include "calls/value_output.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cmath>

#include "base/text.h"

namespace cairn {
namespace {

// What is no UTF-8 written out: a JSON text must be.
std::string ValidUtf8(std::string_view text) {
  return IsValidUtf8(text) ? std::string(text) : VisibleText(text);
}

}  // namespace

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
  std::string hex;
  const size_t shown = whole_ ? bytes.size() : (bytes.size() <= 16 ? bytes.size() : 0);
  for (size_t i = 0; i < shown; ++i) {
    hex += fmt::format("{}{:02x}", i == 0 ? ": " : " ", static_cast<unsigned>(bytes[i]));
  }
  Word(
      fmt::format("<{} byte{}{}>", GroupedDigits(bytes.size()), bytes.size() == 1 ? "" : "s", hex));
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
  Word(fmt::format("... {} more", GroupedDigits(count)));
}

// ---- JsonOutput ----

nlohmann::ordered_json& JsonOutput::Put(nlohmann::ordered_json value) {
  if (stack_.empty()) {
    json = std::move(value);
    return json;
  }
  nlohmann::ordered_json& parent = *stack_.back();
  if (parent.is_array()) {
    parent.push_back(std::move(value));
    return parent.back();
  }
  nlohmann::ordered_json& place = parent[key_];
  place = std::move(value);
  return place;
}

void JsonOutput::Text(std::string_view utf8) {
  Put(ValidUtf8(utf8));
}

void JsonOutput::Float(double number, bool is_single) {
  if (!std::isfinite(number)) {
    Put(fmt::format("{}", number));  // JSON has no numbers for these
  } else if (is_single) {
    // The shortest decimal number that is this float, not its exact value as a double.
    Put(std::stod(fmt::format("{}", static_cast<float>(number))));
  } else {
    Put(number);
  }
}

void JsonOutput::Bytes(std::span<const std::byte> bytes) {
  Put({{"bytes", bytes.size()},
       {"xxh64", fmt::format("{:016x}", XXH64(bytes.data(), bytes.size(), 0))}});
}

void JsonOutput::Reference(std::string_view kind, uint64_t value, const std::string& meaning) {
  nlohmann::ordered_json reference = nlohmann::ordered_json::object();
  if (kind == "object") {
    reference["object"] = value;
  } else {
    reference[std::string(kind)] = fmt::format("{:#x}", value);
  }
  if (!meaning.empty()) reference["text"] = ValidUtf8(meaning);
  Put(std::move(reference));
}

}  // namespace cairn
