// SPDX-License-Identifier: Apache-2.0
//
// For tests: reads the JSON that Cairn writes. The library that does it takes seconds to compile: only
// json.cc includes it.
#ifndef CAIRN_BASE_TESTING_JSON_H_
#define CAIRN_BASE_TESTING_JSON_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn {

// A value that does not change. It may outlive the document that it was taken from. Keys keep their
// order. Access to a missing value, or to one of another type, throws an exception that names the
// place.
class Json {
 public:
  class Iterator;

  // Parses a text. If it is no JSON, type() is "discarded", and any other access throws with the
  // error.
  static Json Parse(std::string_view text);
  static Json ParseFile(const std::string& path);

  // Make values for comparisons.
  Json(std::nullptr_t = nullptr);
  Json(bool value);
  Json(int value) : Json(int64_t{value}) {}
  Json(int64_t value);
  Json(uint32_t value) : Json(uint64_t{value}) {}
  Json(uint64_t value);
  Json(double value);
  Json(const char* value) : Json(std::string(value)) {}
  Json(const std::string& value);

  // Returns the type's name in schemas: "object", "array", "string", "integer", "number", "boolean"
  // or "null".
  std::string_view type() const;
  bool is_object() const { return type() == "object"; }
  bool is_array() const { return type() == "array"; }
  bool is_string() const { return type() == "string"; }
  bool is_null() const { return type() == "null"; }
  bool is_discarded() const { return type() == "discarded"; }

  // bool, int, int64_t, uint32_t, uint64_t, double, std::string or std::vector<std::string>.
  template <typename T>
  T get() const;

  // Access to the members of an object.
  Json at(const std::string& key) const;
  Json operator[](const std::string& key) const { return at(key); }
  bool contains(const std::string& key) const;
  Json value(const std::string& key, const Json& otherwise) const;
  // Access to the elements of an array.
  Json at(size_t index) const;
  Json operator[](size_t index) const { return at(index); }
  Iterator begin() const;
  Iterator end() const;
  // Returns the size of an object or array. Keys of an array are its indices.
  size_t size() const;
  bool empty() const { return size() == 0; }
  std::vector<std::pair<std::string, Json>> items() const;

  // A copy with another value at a place such as "/executions/0/state", or without the value there.
  Json With(const std::string& place, const Json& value) const;
  Json Without(const std::string& place) const;

  // Returns the text in one line, or indented.
  std::string dump(int indent = -1) const;

  friend bool operator==(const Json& one, const Json& other);
  friend std::ostream& operator<<(std::ostream& out, const Json& json);

 private:
  struct Access;
  explicit Json(std::shared_ptr<const void> value);

  std::shared_ptr<const void> value_;  // the library's; it keeps the whole document
  std::string error_;                  // of a text that is no JSON
};

class Json::Iterator {
 public:
  Iterator(const Json* array, size_t index) : array_(array), index_(index) {}
  Json operator*() const { return array_->at(index_); }
  Iterator& operator++() {
    ++index_;
    return *this;
  }
  bool operator==(const Iterator& other) const = default;

 private:
  const Json* array_;
  size_t index_;
};

}  // namespace cairn

#endif  // CAIRN_BASE_TESTING_JSON_H_
