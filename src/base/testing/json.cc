// SPDX-License-Identifier: Apache-2.0
#include "base/testing/json.h"

#include <fstream>
#include <iterator>
#include <ostream>
#include <stdexcept>

// Exceptions name the place in the document.
#define JSON_DIAGNOSTICS 1
#include <nlohmann/json.hpp>

namespace cairn {

using nlohmann::ordered_json;

struct Json::Access {
  static Json Owning(ordered_json value) {
    return Json(std::make_shared<const ordered_json>(std::move(value)));
  }
  // A part of the document that `json` is of.
  static Json Part(const Json& json, const ordered_json& part) {
    return Json(std::shared_ptr<const void>(json.value_, &part));
  }
  static const ordered_json& Unchecked(const Json& json) {
    return *static_cast<const ordered_json*>(json.value_.get());
  }
  static const ordered_json& Value(const Json& json) {
    if (!json.error_.empty()) throw std::invalid_argument(json.error_);
    return Unchecked(json);
  }
};

Json Json::Parse(std::string_view text) {
  try {
    return Access::Owning(ordered_json::parse(text));
  } catch (const ordered_json::parse_error& error) {
    Json invalid = Access::Owning(ordered_json::value_t::discarded);
    invalid.error_ = error.what();
    return invalid;
  }
}

Json Json::ParseFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

Json::Json(std::shared_ptr<const void> value) : value_(std::move(value)) {}
Json::Json(std::nullptr_t) : Json(Access::Owning(nullptr)) {}
Json::Json(bool value) : Json(Access::Owning(value)) {}
Json::Json(int64_t value) : Json(Access::Owning(value)) {}
Json::Json(uint64_t value) : Json(Access::Owning(value)) {}
Json::Json(double value) : Json(Access::Owning(value)) {}
Json::Json(const std::string& value) : Json(Access::Owning(value)) {}

std::string_view Json::type() const {
  const ordered_json& value = Access::Unchecked(*this);
  return value.is_number_integer() ? "integer" : value.type_name();
}

template <typename T>
T Json::get() const {
  return Access::Value(*this).get<T>();
}
template bool Json::get() const;
template int Json::get() const;
template int64_t Json::get() const;
template uint32_t Json::get() const;
template uint64_t Json::get() const;
template double Json::get() const;
template std::string Json::get() const;
template std::vector<std::string> Json::get() const;

Json Json::at(const std::string& key) const {
  return Access::Part(*this, Access::Value(*this).at(key));
}

Json Json::at(size_t index) const {
  return Access::Part(*this, Access::Value(*this).at(index));
}

bool Json::contains(const std::string& key) const {
  return Access::Value(*this).contains(key);
}

Json Json::value(const std::string& key, const Json& otherwise) const {
  return is_object() && !contains(key) ? otherwise : at(key);
}

Json::Iterator Json::begin() const {
  return {this, 0};
}
Json::Iterator Json::end() const {
  return {this, size()};
}

size_t Json::size() const {
  const ordered_json& value = Access::Value(*this);
  if (!value.is_structured()) throw std::invalid_argument(value.dump() + " has no size");
  return value.size();
}

std::vector<std::pair<std::string, Json>> Json::items() const {
  std::vector<std::pair<std::string, Json>> items;
  for (const auto& item : Access::Value(*this).items()) {
    items.emplace_back(item.key(), Access::Part(*this, item.value()));
  }
  return items;
}

Json Json::With(const std::string& place, const Json& value) const {
  ordered_json changed = Access::Value(*this);
  changed[ordered_json::json_pointer(place)] = Access::Value(value);
  return Access::Owning(std::move(changed));
}

Json Json::Without(const std::string& place) const {
  const ordered_json patch = {{{"op", "remove"}, {"path", place}}};
  return Access::Owning(Access::Value(*this).patch(patch));
}

std::string Json::dump(int indent) const {
  return Access::Value(*this).dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

bool operator==(const Json& one, const Json& other) {
  return Json::Access::Unchecked(one) == Json::Access::Unchecked(other);
}

std::ostream& operator<<(std::ostream& out, const Json& json) {
  return out << (json.is_discarded() ? json.error_ : json.dump());
}

}  // namespace cairn
