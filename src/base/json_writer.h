// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON text front to back. A document library would hold a tree of 100,000 scopes in memory,
// with an allocation for each key, while a program crashes.
#ifndef CAIRN_BASE_JSON_WRITER_H_
#define CAIRN_BASE_JSON_WRITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn {

// Calls must nest as the document does: keys inside objects, values after keys or inside arrays.
class JsonWriter {
 public:
  // The number of outer levels that give each of their values a line, so that a person finds the
  // parts; deeper values stand on one line. kOneLine: all values do, and no line feed ends the
  // text.
  static constexpr int kManyLines = 5;
  static constexpr int kOneLine = 0;

  // The limit of LimitTexts().
  static constexpr size_t kMostTextBytes = size_t{128} << 20;
  static constexpr size_t kKeptTextBytes = 64;

  // `on_full`: called between values when `out` holds kPieceBytes, and may empty it; may be null.
  explicit JsonWriter(std::string* out, int line_levels = kManyLines,
                      std::function<void()> on_full = nullptr)
      : out_(out), line_levels_(line_levels), on_full_(std::move(on_full)) {}

  void BeginObject();
  void BeginObject(std::string_view key);
  void EndObject();
  void BeginArray();
  void BeginArray(std::string_view key);
  void EndArray();
  // Plain ASCII of ours, which needs no escapes.
  void Key(std::string_view key);

  // Writes a text like AppendJsonText (base/json_text.h): nothing in it can act on a terminal.
  void String(std::string_view value);
  void Number(uint64_t value);
  void SignedNumber(int64_t value);
  // The shortest number that is read back as this one; null for infinities and NaN.
  void Real(double value);
  void Real(float value);
  // "0x2a", as a string: JSON readers keep only 53 bits of a number.
  void Hex(uint64_t value);
  // "0a1b2c".
  void HexBytes(std::span<const std::byte> bytes);
  void Bool(bool value);
  void Null();
  // Writes text that is already JSON, on one line: a value, or keys with their values.
  void Json(std::string_view json);

  // A key with its value.
  void StringKey(std::string_view key, std::string_view value);
  void StringsKey(std::string_view key, std::span<const std::string> values);
  void NumberKey(std::string_view key, uint64_t value);
  void SignedKey(std::string_view key, int64_t value);
  void RealKey(std::string_view key, double value);
  void HexKey(std::string_view key, uint64_t value);
  void BoolKey(std::string_view key, bool value);
  void JsonKey(std::string_view key, std::string_view json);
  void NullKey(std::string_view key);
  // Null without a value.
  void OptionalKey(std::string_view key, std::optional<uint64_t> value);
  // Writes the index into a table: null for the largest number, which stands for no index.
  void IndexKey(std::string_view key, uint32_t index);

  // All texts together have kMostTextBytes; those that come later are cut to kKeptTextBytes each.
  void LimitTexts() { text_room_ = kMostTextBytes; }
  // All together has about `bytes`: values of arrays that begin later are left out, with all that is in them. Keys and
  // what holds the arrays stay, so that the document is whole.
  void LimitBytes(uint64_t bytes) { most_bytes_ = bytes; }
  // A mebibyte to come is kept whole: what has to stand at the end.
  void MakeRoomForTheEnd();
  uint64_t cut_count() const { return cut_count_; }            // texts that are cut
  uint64_t left_out_count() const { return left_out_count_; }  // values of arrays that are left out

  size_t size_bytes() const { return out_->size(); }  // that are written and not emptied away

 private:
  static constexpr size_t kPieceBytes = 64 << 10;

  // Returns true if each value of the open object or array stands on a line of its own.
  bool HasLines() const { return depth_ != 0 && depth_ <= line_levels_; }
  // Appends what separates the next value from the one before. Returns false if the next value is left out.
  bool Separate();
  bool IsInArray() const { return depth_ != 0 && arrays_[static_cast<size_t>(depth_) - 1]; }
  void EndLine();
  void Open(char bracket);
  void Close(char bracket);
  template <typename Value>
  void AppendReal(Value value);

  std::string* out_;
  const int line_levels_;
  const std::function<void()> on_full_;
  size_t text_room_ = SIZE_MAX;
  uint64_t cut_count_ = 0;
  uint64_t most_bytes_ = UINT64_MAX;
  uint64_t given_bytes_ = 0;  // to on_full_
  uint64_t left_out_count_ = 0;
  int left_out_depth_ = 0;  // how deep in a value that is left out; 0: in none
  int depth_ = 0;
  std::vector<bool> arrays_;  // by depth: an array, and no object
  bool first_ = true;         // nothing stands before the next value in its object or array
  bool after_key_ = false;    // the next value belongs to a key
};

}  // namespace cairn

#endif  // CAIRN_BASE_JSON_WRITER_H_
