// SPDX-License-Identifier: Apache-2.0
#include "base/testing/json_schema_check.h"

#include <regex>
#include <vector>

namespace cairn {
namespace {

bool HasType(const Json& value, const Json& type) {
  return type == std::string(value.type()) || (type == "number" && value.type() == "integer");
}

bool IsOneOf(const Json& values, const auto& accepts) {
  for (const Json& value : values) {
    if (accepts(value)) return true;
  }
  return false;
}

}  // namespace

std::string SchemaViolation(const Json& schema, const Json& value, const std::string& at) {
  if (schema.contains("type")) {
    const Json types = schema["type"];
    const auto fits = [&value](const Json& type) { return HasType(value, type); };
    if (types.is_array() ? !IsOneOf(types, fits) : !fits(types)) return at + ": type";
  }
  if (schema.contains("const") && value != schema["const"]) return at + ": const";
  if (schema.contains("enum") &&
      !IsOneOf(schema["enum"], [&value](const Json& allowed) { return value == allowed; })) {
    return at + ": enum";
  }
  if (schema.contains("minimum") && HasType(value, "number") &&
      value.get<double>() < schema["minimum"].get<double>()) {
    return at + ": minimum";
  }
  if (schema.contains("pattern") && HasType(value, "string") &&
      !std::regex_search(value.get<std::string>(),
                         std::regex(schema["pattern"].get<std::string>()))) {
    return at + ": pattern";
  }
  if (value.is_array() && schema.contains("items")) {
    for (const auto& [index, child] : value.items()) {
      std::string found = SchemaViolation(schema["items"], child, at + "/" + index);
      if (!found.empty()) return found;
    }
  }
  if (!value.is_object()) return "";
  if (schema.contains("required")) {
    for (const std::string& key : schema["required"].get<std::vector<std::string>>()) {
      if (!value.contains(key)) return at + ": lacks " + key;
    }
  }
  // A document of another schema.
  if (!schema.contains("properties") && !schema.contains("additionalProperties")) return "";
  for (const auto& [key, child] : value.items()) {
    const bool known = schema.contains("properties") && schema["properties"].contains(key);
    const Json rules = known ? schema["properties"][key] : schema["additionalProperties"];
    if (!known && rules.type() == "boolean") return at + ": unknown key " + key;
    std::string found = SchemaViolation(rules, child, at + "/" + key);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace cairn
