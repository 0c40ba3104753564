// SPDX-License-Identifier: Apache-2.0
//
// Rows of a dump as JSON, by tables of columns (json_columns.h): a column has a key, and the fields
// of the row from which its value is made. json_columns_test.cc compares the fields with
// format/snapshot/rows.h, so that a fact that is added there is printed, or left out on purpose.
#ifndef CAIRN_READER_REPORT_JSON_ROWS_H_
#define CAIRN_READER_REPORT_JSON_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json_writer.h"
#include "format/snapshot/snapshot.h"
#include "reader/report/words.h"

namespace cairn {

class JsonRows;

// The bytes of a field inside its row.
struct FieldPlace {
  const void* begin = nullptr;
  size_t size = 0;
};

template <typename Row>
struct JsonColumn {
  std::string_view key;
  // Writes the key with its value, or nothing where the row has none.
  void (*write)(const JsonRows& out, std::string_view key, const Row& row) = nullptr;
  // Adds the fields that the value is made of.
  void (*add_places)(const Row& row, std::vector<FieldPlace>* places) = nullptr;
};

// Writes into one JSON document; both arguments must live as long.
class JsonRows {
 public:
  JsonRows(const Snapshot& snapshot, JsonWriter* json) : snapshot_(snapshot), json_(*json) {}

  const Snapshot& snapshot() const { return snapshot_; }
  JsonWriter& json() const { return json_; }

  void TextKey(std::string_view key, TextRef text) const {
    json_.StringKey(key, snapshot_.Text(text));
  }
  // CLOCK_REALTIME, in words: ns since 1970 are beyond what readers keep of a number. Null for 0.
  void TimeKey(std::string_view key, uint64_t time_ns) const {
    time_ns == 0 ? json_.NullKey(key) : json_.StringKey(key, TimeInWords(time_ns));
  }
  // CLOCK_MONOTONIC, as seconds since the program started; null where the snapshot does not say.
  void MonotonicKey(std::string_view key, uint64_t time_ns) const {
    const std::string time = MonotonicTimeInWords(snapshot_.process, time_ns);
    time.empty() ? json_.NullKey(key) : json_.StringKey(key, time);
  }

  // Writes the columns into the object that is open.
  template <typename Row, size_t kCount>
  void Columns(const Row& row, const JsonColumn<Row> (&columns)[kCount]) const {
    for (const JsonColumn<Row>& column : columns) column.write(*this, column.key, row);
  }

  // Writes an array of objects. `more(row, index)` adds what a row's own fields do not say.
  template <typename Range, typename Row, size_t kCount, typename More>
  void Array(std::string_view key, const Range& rows, const JsonColumn<Row> (&columns)[kCount],
             const More& more) const {
    json_.BeginArray(key);
    size_t index = 0;
    for (const Row& row : rows) {
      json_.BeginObject();
      Columns(row, columns);
      more(row, index++);
      json_.EndObject();
    }
    json_.EndArray();
  }
  template <typename Range, typename Row, size_t kCount>
  void Array(std::string_view key, const Range& rows,
             const JsonColumn<Row> (&columns)[kCount]) const {
    Array(key, rows, columns, [](const Row&, size_t) {});
  }

 private:
  const Snapshot& snapshot_;
  JsonWriter& json_;
};

namespace json_column {

template <typename Member>
struct OwnerOf;
template <typename Row, typename Value>
struct OwnerOf<Value Row::*> {
  using Type = Row;
};
// The class that has this member.
template <auto kMember>
using RowOf = typename OwnerOf<decltype(kMember)>::Type;

template <typename Row, auto... kMembers>
void AddPlaces(const Row& row, std::vector<FieldPlace>* places) {
  (places->push_back({&(row.*kMembers), sizeof(row.*kMembers)}), ...);
}

// A value that `write` makes, of these fields.
template <auto kMember, auto... kMore>
constexpr JsonColumn<RowOf<kMember>> Made(std::string_view key,
                                          void (*write)(const JsonRows& out, std::string_view key,
                                                        const RowOf<kMember>& row)) {
  return {key, write, AddPlaces<RowOf<kMember>, kMember, kMore...>};
}

// The text of `kWords(row)`, or of `kWords(snapshot, row)`, which is made of these fields.
template <auto kWords, auto kMember, auto... kMore>
constexpr JsonColumn<RowOf<kMember>> Words(std::string_view key) {
  return Made<kMember, kMore...>(key,
                                 [](const JsonRows& out, std::string_view name, const auto& row) {
                                   if constexpr (requires { kWords(row); }) {
                                     out.json().StringKey(name, kWords(row));
                                   } else {
                                     out.json().StringKey(name, kWords(out.snapshot(), row));
                                   }
                                 });
}

// The object that has the member function.
template <auto kWrite>
auto& ObjectOf(const JsonRows& out) {
  if constexpr (std::is_same_v<RowOf<kWrite>, JsonWriter>) {
    return out.json();
  } else {
    return out;
  }
}
// The field itself, written by a member function of JsonWriter or JsonRows.
template <auto kMember, auto kWrite>
constexpr JsonColumn<RowOf<kMember>> Field(std::string_view key) {
  return Made<kMember>(key, [](const JsonRows& out, std::string_view name, const auto& row) {
    (ObjectOf<kWrite>(out).*kWrite)(name, row.*kMember);
  });
}
template <auto kMember>
constexpr auto Number(std::string_view key) {
  return Field<kMember, &JsonWriter::NumberKey>(key);
}
template <auto kMember>
constexpr auto Signed(std::string_view key) {
  return Field<kMember, &JsonWriter::SignedKey>(key);
}
template <auto kMember>
constexpr auto Hex(std::string_view key) {
  return Field<kMember, &JsonWriter::HexKey>(key);
}
template <auto kMember>
constexpr auto Bool(std::string_view key) {
  return Field<kMember, &JsonWriter::BoolKey>(key);
}
// A row of another table; null for kNone.
template <auto kMember>
constexpr auto Index(std::string_view key) {
  return Field<kMember, &JsonWriter::IndexKey>(key);
}
template <auto kMember>
constexpr auto Text(std::string_view key) {
  return Field<kMember, &JsonRows::TextKey>(key);
}
template <auto kMember>
constexpr auto Time(std::string_view key) {
  return Field<kMember, &JsonRows::TimeKey>(key);
}
template <auto kMember>
constexpr auto Monotonic(std::string_view key) {
  return Field<kMember, &JsonRows::MonotonicKey>(key);
}
// One bit of a number.
template <auto kMember, auto kFlag>
constexpr JsonColumn<RowOf<kMember>> Flag(std::string_view key) {
  return Made<kMember>(key, [](const JsonRows& out, std::string_view name, const auto& row) {
    out.json().BoolKey(name, (row.*kMember & kFlag) != 0);
  });
}
// An enumerator in the words of `kWord`.
template <auto kMember, auto kWord>
constexpr JsonColumn<RowOf<kMember>> Word(std::string_view key) {
  return Made<kMember>(key, [](const JsonRows& out, std::string_view name, const auto& row) {
    out.json().StringKey(name, kWord(row.*kMember));
  });
}

}  // namespace json_column
}  // namespace cairn

#endif  // CAIRN_READER_REPORT_JSON_ROWS_H_
