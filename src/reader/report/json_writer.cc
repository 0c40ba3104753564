// SPDX-License-Identifier: Apache-2.0
#include "reader/report/json_writer.h"

#include <fmt/format.h>

#include <iterator>

#include "base/json_text.h"
#include "base/text.h"
#include "format/snapshot/snapshot.h"

namespace cairn {
namespace {

// The outer levels get a line each, so that a person finds the parts; scopes stay on one line.
constexpr int kDeepestOwnLine = 5;

}  // namespace

void JsonWriter::Separate() {
  if (on_full_ != nullptr && out_->size() >= kPieceBytes) on_full_();
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) *out_ += ',';
  first_ = false;
  if (depth_ != 0 && depth_ <= kDeepestOwnLine) {
    *out_ += '\n';
    out_->append(static_cast<size_t>(depth_), ' ');
  }
}

void JsonWriter::Open(char bracket) {
  Separate();
  *out_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonWriter::Close(char bracket) {
  --depth_;
  if (!first_ && depth_ < kDeepestOwnLine) {
    *out_ += '\n';
    out_->append(static_cast<size_t>(depth_), ' ');
  }
  *out_ += bracket;
  first_ = false;
}

void JsonWriter::BeginObject() {
  Open('{');
}
void JsonWriter::EndObject() {
  Close('}');
}
void JsonWriter::BeginArray() {
  Open('[');
}
void JsonWriter::EndArray() {
  Close(']');
}

void JsonWriter::Key(std::string_view key) {
  Separate();
  *out_ += '"';
  *out_ += key;
  *out_ += "\": ";
  after_key_ = true;
}

void JsonWriter::String(std::string_view value) {
  Separate();
  *out_ += '"';
  const size_t begin = out_->size();
  if (text_bytes_ > kMostTextBytes && value.size() > kKeptTextBytes) {
    AppendJsonText(Utf8Prefix(value, kKeptTextBytes), *out_);
    *out_ += "…";
    ++cut_count_;
  } else {
    AppendJsonText(value, *out_);
    text_bytes_ += out_->size() - begin;
  }
  *out_ += '"';
}

void JsonWriter::Number(uint64_t value) {
  Separate();
  fmt::format_to(std::back_inserter(*out_), "{}", value);
}

void JsonWriter::SignedNumber(int64_t value) {
  Separate();
  fmt::format_to(std::back_inserter(*out_), "{}", value);
}

void JsonWriter::Hex(uint64_t value) {
  Separate();
  fmt::format_to(std::back_inserter(*out_), "\"{:#x}\"", value);
}

void JsonWriter::Bool(bool value) {
  Separate();
  *out_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  Separate();
  *out_ += "null";
}

void JsonWriter::StringKey(std::string_view key, std::string_view value) {
  Key(key);
  String(value);
}
void JsonWriter::NumberKey(std::string_view key, uint64_t value) {
  Key(key);
  Number(value);
}
void JsonWriter::SignedKey(std::string_view key, int64_t value) {
  Key(key);
  SignedNumber(value);
}
void JsonWriter::HexKey(std::string_view key, uint64_t value) {
  Key(key);
  Hex(value);
}
void JsonWriter::BoolKey(std::string_view key, bool value) {
  Key(key);
  Bool(value);
}
void JsonWriter::IndexKey(std::string_view key, uint32_t index) {
  Key(key);
  index == kNone ? Null() : Number(index);
}

}  // namespace cairn
