// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON text front to back. A document library would hold a tree of 100,000 scopes in memory,
// with an allocation for each key, while a program crashes.
#ifndef CAIRN_READER_REPORT_JSON_WRITER_H_
#define CAIRN_READER_REPORT_JSON_WRITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace cairn {

// Calls must nest as the document does: keys inside objects, values after keys or inside arrays.
class JsonWriter {
 public:
  // All texts together; those that come later are cut to kKeptTextBytes each.
  static constexpr size_t kMostTextBytes = size_t{128} << 20;
  static constexpr size_t kKeptTextBytes = 64;

  // `on_full`: called between values when `out` holds kPieceBytes, and may empty it; may be null.
  explicit JsonWriter(std::string* out, std::function<void()> on_full = nullptr)
      : out_(out), on_full_(std::move(on_full)) {}

  void BeginObject();
  void EndObject();
  void BeginArray();
  void EndArray();
  void Key(std::string_view key);

  // As AppendJsonText (base/json_text.h) writes it: nothing in it can act on a terminal.
  void String(std::string_view value);
  void Number(uint64_t value);
  void SignedNumber(int64_t value);
  // "0x2a", as a string: JSON readers keep only 53 bits of a number.
  void Hex(uint64_t value);
  void Bool(bool value);
  void Null();

  // A key with its value.
  void StringKey(std::string_view key, std::string_view value);
  void NumberKey(std::string_view key, uint64_t value);
  void SignedKey(std::string_view key, int64_t value);
  void HexKey(std::string_view key, uint64_t value);
  void BoolKey(std::string_view key, bool value);
  // Of a table of a snapshot: null for kNone.
  void IndexKey(std::string_view key, uint32_t index);

  // A mebibyte of texts to come is kept whole: what has to stand at the end.
  void MakeRoomForTheEnd() {
    text_bytes_ = std::min(text_bytes_, kMostTextBytes - (size_t{1} << 20));
  }
  uint64_t cut_count() const { return cut_count_; }  // texts that are cut

 private:
  static constexpr size_t kPieceBytes = 64 << 10;

  void Separate();
  void Open(char bracket);
  void Close(char bracket);

  std::string* out_;
  const std::function<void()> on_full_;
  size_t text_bytes_ = 0;
  uint64_t cut_count_ = 0;
  int depth_ = 0;
  bool first_ = true;       // nothing stands before the next value in its object or array
  bool after_key_ = false;  // the next value belongs to a key
};

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_JSON_WRITER_H_
