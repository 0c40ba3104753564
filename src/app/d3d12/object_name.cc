// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/object_name.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace cairn {

namespace {

constexpr uint32_t kReplacement = 0xFFFD;

// The application's characters; they need not be aligned.
class Characters {
 public:
  Characters(const void* data, uint32_t char_bytes, size_t max_bytes)
      : data_(static_cast<const char*>(data)), char_bytes_(char_bytes), left_(max_bytes) {}

  // 0 at the end, as for the character 0.
  uint32_t Peek() const {
    if (left_ < char_bytes_) return 0;
    uint32_t unit = 0;
    std::memcpy(&unit, data_, char_bytes_);  // Little-endian, as everything here.
    return unit;
  }
  void Skip() {
    data_ += char_bytes_;
    left_ -= char_bytes_;
  }

 private:
  const char* data_;
  uint32_t char_bytes_;
  size_t left_;
};

bool IsHighSurrogate(uint32_t unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool IsLowSurrogate(uint32_t unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

size_t Utf8Bytes(uint32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

}  // namespace

ObjectName::ObjectName(const void* name, uint32_t char_bytes, size_t max_bytes) {
  if (name == nullptr) return;
  if (char_bytes == 1) {
    const auto* const text = static_cast<const char*>(name);
    // A byte beyond the limit shows that the name has to be cut; three more complete its last
    // character.
    const std::string_view start(text, strnlen(text, std::min(max_bytes, sizeof(text_) + 4)));
    if (IsValidUtf8(Utf8Prefix(start, sizeof(text_)))) {
      length_ = Utf8Prefix(start, sizeof(text_)).copy(text_, sizeof(text_));
      cut_ = length_ < start.size();
      return;
    }
  }
  Characters characters(name, char_bytes, max_bytes);
  for (uint32_t unit = characters.Peek(); unit != 0 && !cut_; unit = characters.Peek()) {
    characters.Skip();
    uint32_t code_point = unit;
    if (IsHighSurrogate(unit) && IsLowSurrogate(characters.Peek())) {
      code_point = 0x10000 + ((unit - 0xD800) << 10) + (characters.Peek() - 0xDC00);
      characters.Skip();
    } else if (IsHighSurrogate(unit) || IsLowSurrogate(unit) || unit > 0x10FFFF) {
      code_point = kReplacement;
    }
    Append(code_point);
  }
}

void ObjectName::Append(uint32_t code_point) {
  const size_t bytes = Utf8Bytes(code_point);
  if (bytes > sizeof(text_) - length_) {
    cut_ = true;
    return;
  }
  static constexpr uint8_t kFirst[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
  for (size_t i = bytes - 1; i > 0; --i) {
    text_[length_ + i] = static_cast<char>(0x80 | (code_point & 0x3F));
    code_point >>= 6;
  }
  text_[length_] = static_cast<char>(kFirst[bytes] | code_point);
  length_ += bytes;
}

}  // namespace cairn
