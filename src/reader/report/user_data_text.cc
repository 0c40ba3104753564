// SPDX-License-Identifier: Apache-2.0
#include "reader/report/user_data_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "base/text.h"

namespace cairn {
namespace {

constexpr size_t kMostShownBytes = 80;

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Texts may have several lines.
bool IsText(std::string_view value) {
  const bool has_zero = value.find('\0') != std::string_view::npos;
  return !has_zero && IsValidUtf8(value);
}

}  // namespace

void AppendUserData(const Snapshot& snapshot, const UserData& data, std::string& out) {
  AppendVisibleText(snapshot.Text(data.key), out);
  out += ", " + Counted(data.size_bytes, "byte");
  const std::string_view value = TextOf(snapshot.Blob(data.bytes));
  if (value.empty() || value.size() > kMostShownBytes || !IsVisibleText(value)) return;
  out += ": ";
  out += value;
}

void WriteUserDataValue(const Snapshot& snapshot, const UserData& data, JsonWriter* json) {
  const std::span<const std::byte> bytes = snapshot.Blob(data.bytes);
  const bool shown = data.size_bytes <= kMostJsonUserDataBytes && bytes.size() == data.size_bytes;
  const bool is_text = shown && IsText(TextOf(bytes));
  is_text ? json->StringKey("text", TextOf(bytes)) : json->NullKey("text");
  if (!shown || is_text) return json->NullKey("bytes");
  json->Key("bytes");
  json->HexBytes(bytes);
}

std::string UserDataFileName(const Snapshot& snapshot, size_t index) {
  std::string name = fmt::format("user-data-{:02}-", index);
  const std::string_view key = snapshot.Text(snapshot.user_data[index].key);
  std::transform(key.begin(), key.end(), std::back_inserter(name), [](char c) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '-' || c == '_';
    return kept ? c : '_';
  });
  name.resize(std::min<size_t>(name.size(), 80));
  if (name.ends_with('.')) name.back() = '_';  // Windows would remove it
  return name;
}

}  // namespace cairn
