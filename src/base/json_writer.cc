// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"

#include <fmt/compile.h>

#include <cmath>
#include <iterator>

#include "base/json_text.h"
#include "base/text.h"

namespace cairn {

bool JsonWriter::Separate() {
  if (left_out_depth_ != 0) return false;
  if (on_full_ != nullptr && out_->size() >= kPieceBytes) {
    given_bytes_ += out_->size();
    on_full_();
    given_bytes_ -= out_->size();
  }
  if (after_key_) {
    after_key_ = false;
    return true;
  }
  if (IsInArray() && given_bytes_ + out_->size() > most_bytes_) {
    ++left_out_count_;
    return false;
  }
  if (!first_) *out_ += ',';
  first_ = false;
  if (HasLines()) EndLine();
  return true;
}

void JsonWriter::MakeRoomForTheEnd() {
  constexpr size_t kRoom = size_t{1} << 20;
  text_room_ = std::max(text_room_, kRoom);
  if (most_bytes_ != UINT64_MAX) {
    most_bytes_ = std::max(most_bytes_, given_bytes_ + out_->size() + kRoom);
  }
}

void JsonWriter::EndLine() {
  *out_ += '\n';
  out_->append(static_cast<size_t>(depth_), ' ');
}

void JsonWriter::Open(char bracket) {
  if (!Separate()) {
    ++left_out_depth_;
    return;
  }
  *out_ += bracket;
  if (arrays_.size() <= static_cast<size_t>(depth_)) arrays_.resize(arrays_.size() + 16);
  arrays_[static_cast<size_t>(depth_++)] = bracket == '[';
  first_ = true;
}

void JsonWriter::Close(char bracket) {
  if (left_out_depth_ != 0) {
    --left_out_depth_;
    return;
  }
  --depth_;
  if (!first_ && depth_ < line_levels_) EndLine();
  *out_ += bracket;
  first_ = false;
  if (depth_ == 0 && line_levels_ != 0) *out_ += '\n';
}

void JsonWriter::BeginObject() {
  Open('{');
}
void JsonWriter::BeginObject(std::string_view key) {
  Key(key);
  BeginObject();
}
void JsonWriter::EndObject() {
  Close('}');
}
void JsonWriter::BeginArray() {
  Open('[');
}
void JsonWriter::BeginArray(std::string_view key) {
  Key(key);
  BeginArray();
}
void JsonWriter::EndArray() {
  Close(']');
}

void JsonWriter::Key(std::string_view key) {
  if (!Separate()) return;
  *out_ += '"';
  *out_ += key;
  *out_ += HasLines() ? "\": " : "\":";
  after_key_ = true;
}

void JsonWriter::String(std::string_view value) {
  if (!Separate()) return;
  *out_ += '"';
  const size_t begin = out_->size();
  if (text_room_ == 0 && value.size() > kKeptTextBytes) {
    AppendJsonText(Utf8Prefix(value, kKeptTextBytes), *out_);
    *out_ += "…";
    ++cut_count_;
  } else {
    AppendJsonText(value, *out_);
    text_room_ -= std::min(text_room_, out_->size() - begin);
  }
  *out_ += '"';
}

void JsonWriter::Number(uint64_t value) {
  if (!Separate()) return;
  fmt::format_to(std::back_inserter(*out_), FMT_COMPILE("{}"), value);
}

void JsonWriter::SignedNumber(int64_t value) {
  if (!Separate()) return;
  fmt::format_to(std::back_inserter(*out_), FMT_COMPILE("{}"), value);
}

template <typename Value>
void JsonWriter::AppendReal(Value value) {
  if (!std::isfinite(value)) return Null();
  if (!Separate()) return;
  const size_t begin = out_->size();
  fmt::format_to(std::back_inserter(*out_), FMT_COMPILE("{}"), value);
  // Shows readers that this is no integer.
  if (out_->find_first_of(".e", begin) == std::string::npos) *out_ += ".0";
}
void JsonWriter::Real(double value) {
  AppendReal(value);
}
void JsonWriter::Real(float value) {
  AppendReal(value);
}

void JsonWriter::Hex(uint64_t value) {
  if (!Separate()) return;
  fmt::format_to(std::back_inserter(*out_), FMT_COMPILE("\"{:#x}\""), value);
}

void JsonWriter::HexBytes(std::span<const std::byte> bytes) {
  if (!Separate()) return;
  *out_ += '"';
  AppendHex(bytes, "", *out_);
  *out_ += '"';
}

void JsonWriter::Bool(bool value) {
  if (!Separate()) return;
  *out_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  if (!Separate()) return;
  *out_ += "null";
}

void JsonWriter::Json(std::string_view json) {
  if (!Separate()) return;
  *out_ += json;
}

void JsonWriter::StringKey(std::string_view key, std::string_view value) {
  Key(key);
  String(value);
}
void JsonWriter::StringsKey(std::string_view key, std::span<const std::string> values) {
  BeginArray(key);
  for (const std::string& value : values) String(value);
  EndArray();
}
void JsonWriter::NumberKey(std::string_view key, uint64_t value) {
  Key(key);
  Number(value);
}
void JsonWriter::SignedKey(std::string_view key, int64_t value) {
  Key(key);
  SignedNumber(value);
}
void JsonWriter::RealKey(std::string_view key, double value) {
  Key(key);
  Real(value);
}
void JsonWriter::HexKey(std::string_view key, uint64_t value) {
  Key(key);
  Hex(value);
}
void JsonWriter::BoolKey(std::string_view key, bool value) {
  Key(key);
  Bool(value);
}
void JsonWriter::JsonKey(std::string_view key, std::string_view json) {
  Key(key);
  Json(json);
}
void JsonWriter::NullKey(std::string_view key) {
  Key(key);
  Null();
}
void JsonWriter::OptionalKey(std::string_view key, std::optional<uint64_t> value) {
  Key(key);
  value.has_value() ? Number(*value) : Null();
}
void JsonWriter::IndexKey(std::string_view key, uint32_t index) {
  Key(key);
  index == ~uint32_t{0} ? Null() : Number(index);
}

}  // namespace cairn
