// SPDX-License-Identifier: Apache-2.0
//
// Receives the output of value_printer.cc: text or JSON, written front to back. A trace has
// millions of calls, and a tree of a document library for each took ten times as long as all the
// rest.
#ifndef CAIRN_FORMAT_CALLS_VALUE_OUTPUT_H_
#define CAIRN_FORMAT_CALLS_VALUE_OUTPUT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"

namespace cairn {

class ValueOutput {
 public:
  virtual void BeginStruct() = 0;
  virtual void EndStruct() = 0;
  virtual void BeginArray() = 0;
  virtual void EndArray() = 0;
  virtual void Key(std::string_view name) = 0;   // of the next value, in structs
  virtual void Word(std::string_view word) = 0;  // an enumerator, a name of ours
  virtual void Text(std::string_view utf8) = 0;  // of the program
  virtual void Unsigned(uint64_t number) = 0;
  virtual void Signed(int64_t number) = 0;
  virtual void Float(double number, bool is_single) = 0;
  virtual void Bool(bool value) = 0;
  virtual void Null() = 0;
  virtual void Bytes(std::span<const std::byte> bytes) = 0;
  // `kind`: "object", "address", ...; `meaning`: "" if nothing is known.
  virtual void Reference(std::string_view kind, uint64_t value, const std::string& meaning) = 0;
  // Around each element of an array. False: no more elements are wanted.
  virtual bool BeginElement() = 0;
  virtual void EndElement() = 0;
  // The next element has the bytes of the last one. False: it is to be put like any other.
  virtual bool RepeatElement() = 0;
  virtual void LeftOut(uint64_t count) = 0;

 protected:
  ~ValueOutput() = default;
};

// However much an array has: where a value has become so long, its other elements are left out.
inline constexpr size_t kMostValueBytes = size_t{16} << 20;
// The most bytes shown of one value, also where the whole value was asked for.
inline constexpr size_t kMostShownBytes = size_t{32} << 20;

// Elements of an array that are like the one before them are counted: "[0 (8 times)]". Unless all is
// wanted, kShownElements different ones are shown.
class TextOutput final : public ValueOutput {
 public:
  static constexpr uint64_t kShownElements = 8;

  enum class Detail {
    kShort,
    kWhole,
    kToCompare,    // as a whole and nothing counted, but bytes by their number and hash
    kMemberLines,  // short, bytes as to compare, each member of the outermost struct on a line
  };
  explicit TextOutput(Detail detail) : detail_(detail) {}
  explicit TextOutput(bool whole) : TextOutput(whole ? Detail::kWhole : Detail::kShort) {}
  ~TextOutput() = default;

  void BeginStruct() override { Open('{'); }
  void EndStruct() override { Close('}'); }
  void BeginArray() override;
  void EndArray() override;
  bool BeginElement() override;
  void EndElement() override;
  bool RepeatElement() override;
  void Key(std::string_view name) override;
  void Word(std::string_view word) override;
  void Text(std::string_view utf8) override;
  void Unsigned(uint64_t number) override { Word(std::to_string(number)); }
  void Signed(int64_t number) override { Word(std::to_string(number)); }
  void Float(double number, bool is_single) override;
  void Bool(bool value) override { Word(value ? "TRUE" : "FALSE"); }
  void Null() override { Word("null"); }
  void Bytes(std::span<const std::byte> bytes) override;
  void Reference(std::string_view kind, uint64_t value, const std::string& meaning) override;
  void LeftOut(uint64_t count) override;

  std::string text;

 private:
  // The last distinct element of an open array, as it stands in `text`.
  struct Run {
    size_t separator = 0;  // where the element being put begins, with its separator
    size_t begin = 0;
    size_t end = 0;
    uint64_t times = 0;
    uint64_t shown = 0;  // different ones so far
  };

  // Returns true for members of the outermost struct, each of which gets its own line.
  bool IsMemberLine() const { return detail_ == Detail::kMemberLines && depth_ == 1; }
  bool IsShort() const { return detail_ == Detail::kShort || detail_ == Detail::kMemberLines; }
  void Separate();
  void Open(char bracket);
  void Close(char bracket);
  // Says how often the last element stood there, behind it.
  void EndRun(Run* run);

  // Elements that differ in memory, but not as text, cost as much as if they were shown: of so many bytes
  // they are counted, then they are shown or left out.
  static constexpr size_t kMostCountedBytes = 16 << 10;

  const Detail detail_;
  int depth_ = 0;
  bool first_ = true;
  bool after_key_ = false;
  size_t counted_bytes_ = 0;
  std::vector<Run> runs_;
};

// Bytes by their number and hash; `whole`: and as hexadecimal digits, kMostShownBytes of them. The last
// element of an array that is cut is {"left_out": n}.
class JsonOutput final : public ValueOutput {
 public:
  JsonOutput(bool whole, size_t most_bytes, JsonWriter* json)
      : whole_(whole), most_bytes_(json->size_bytes() + most_bytes), json_(*json) {}
  ~JsonOutput() = default;

  void BeginStruct() override { json_.BeginObject(); }
  void EndStruct() override { json_.EndObject(); }
  void BeginArray() override { json_.BeginArray(); }
  void EndArray() override { json_.EndArray(); }
  bool BeginElement() override { return json_.size_bytes() < most_bytes_; }
  void EndElement() override {}
  bool RepeatElement() override { return false; }
  void Key(std::string_view name) override { json_.Key(name); }
  void Word(std::string_view word) override { json_.String(word); }
  void Text(std::string_view utf8) override { json_.String(utf8); }
  void Unsigned(uint64_t number) override { json_.Number(number); }
  void Signed(int64_t number) override { json_.SignedNumber(number); }
  void Float(double number, bool is_single) override;
  void Bool(bool value) override { json_.Bool(value); }
  void Null() override { json_.Null(); }
  void Bytes(std::span<const std::byte> bytes) override;
  void Reference(std::string_view kind, uint64_t value, const std::string& meaning) override;
  void LeftOut(uint64_t count) override;

 private:
  const bool whole_;
  const size_t most_bytes_;  // of all that `json` has written
  JsonWriter& json_;
};

// "<3 bytes: 0a 1b 2c>"; more than 16 only if `whole`, and never more than kMostShownBytes.
void AppendBytesInWords(std::span<const std::byte> bytes, bool whole, std::string& out);

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_VALUE_OUTPUT_H_
