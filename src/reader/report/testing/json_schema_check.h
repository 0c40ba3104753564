// SPDX-License-Identifier: Apache-2.0
//
// For tests: whether a JSON document follows one of our schemas (docs/*.schema.json).
#ifndef CAIRN_READER_REPORT_TESTING_JSON_SCHEMA_CHECK_H_
#define CAIRN_READER_REPORT_TESTING_JSON_SCHEMA_CHECK_H_

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

namespace cairn {

inline bool HasJsonType(const nlohmann::json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  return false;
}

// The part of JSON Schema that our schemas use. Returns the first violation, empty if there is none.
inline std::string SchemaViolation(const nlohmann::json& schema, const nlohmann::json& value,
                                   const std::string& at = "") {
  if (schema.contains("type")) {
    const nlohmann::json& types = schema["type"];
    const bool fits = types.is_string() ? HasJsonType(value, types)
                                        : std::any_of(types.begin(), types.end(),
                                                      [&value](const nlohmann::json& type) {
                                                        return HasJsonType(value, type);
                                                      });
    if (!fits) return at + ": type";
  }
  if (schema.contains("const") && value != schema["const"]) return at + ": const";
  if (schema.contains("enum") &&
      std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) {
    return at + ": enum";
  }
  if (schema.contains("minimum") && value.is_number() && value < schema["minimum"]) {
    return at + ": minimum";
  }
  if (schema.contains("pattern") &&
      !std::regex_search(value.get<std::string>(),
                         std::regex(schema["pattern"].get<std::string>()))) {
    return at + ": pattern";
  }
  if (value.is_array() && schema.contains("items")) {
    for (size_t i = 0; i < value.size(); ++i) {
      std::string found = SchemaViolation(schema["items"], value[i], at + "/" + std::to_string(i));
      if (!found.empty()) return found;
    }
  }
  if (!value.is_object()) return "";
  for (const nlohmann::json& key : schema.value("required", nlohmann::json::array())) {
    if (!value.contains(key.get<std::string>())) return at + ": lacks " + key.get<std::string>();
  }
  for (const auto& [key, child] : value.items()) {
    const nlohmann::json properties = schema.value("properties", nlohmann::json::object());
    const nlohmann::json& other = schema["additionalProperties"];
    if (!properties.contains(key) && other.is_boolean()) return at + ": unknown key " + key;
    std::string found =
        SchemaViolation(properties.contains(key) ? properties[key] : other, child, at + "/" + key);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_TESTING_JSON_SCHEMA_CHECK_H_
