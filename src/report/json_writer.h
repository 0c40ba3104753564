// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON text front to back. A document library would hold a tree of 100,000 scopes in memory,
// with an allocation for each key, while a program crashes.
#ifndef CAIRN_REPORT_JSON_WRITER_H_
#define CAIRN_REPORT_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

// Calls must nest as the document does: keys inside objects, values after keys or inside arrays.
class JsonWriter {
 public:
  explicit JsonWriter(std::string* out) : out_(out) {}

  void BeginObject();
  void EndObject();
  void BeginArray();
  void EndArray();
  void Key(std::string_view key);

  // Text that is not UTF-8 has each bad byte replaced by U+FFFD.
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

 private:
  void Separate();
  void Open(char bracket);
  void Close(char bracket);

  std::string* out_;
  int depth_ = 0;
  bool first_ = true;       // nothing stands before the next value in its object or array
  bool after_key_ = false;  // the next value belongs to a key
};

}  // namespace cairn

#endif  // CAIRN_REPORT_JSON_WRITER_H_
