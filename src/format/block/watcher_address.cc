// SPDX-License-Identifier: Apache-2.0
#include "format/block/watcher_address.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace cairn {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

bool IsName(std::string_view text) {
  return text.size() <= kMaxWatcherNameBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-';
         });
}

int HexValue(char c) {
  const char* const found = std::find(kHexDigits, kHexDigits + 16, c);
  return found == kHexDigits + 16 ? -1 : static_cast<int>(found - kHexDigits);
}

bool ParseToken(std::string_view text, WatcherToken* token) {
  if (text.size() != token->size() * 2) return false;
  for (size_t i = 0; i < token->size(); ++i) {
    const int high = HexValue(text[2 * i]);
    const int low = HexValue(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    (*token)[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return true;
}

bool ParseInteger(std::string_view text, int64_t* number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && rest == end;
}

// The part before the next ':', which is taken away with it; all of it if there is none.
std::string_view TakePart(std::string_view* text) {
  const size_t colon = text->find(':');
  const std::string_view part = text->substr(0, colon);
  text->remove_prefix(colon == std::string_view::npos ? text->size() : colon + 1);
  return part;
}

}  // namespace

std::string FormatWatcherAddress(const WatcherAddress& address) {
  std::string text = address.name + ":";
  for (const uint8_t byte : address.token) {
    text += kHexDigits[byte / 16];
    text += kHexDigits[byte % 16];
  }
  return text + ":" + std::to_string(address.pid) + ":" + std::to_string(address.door);
}

std::optional<WatcherAddress> ParseWatcherAddress(std::string_view text) {
  WatcherAddress address;
  const std::string_view name = TakePart(&text);
  const std::string_view token = TakePart(&text);
  const std::string_view pid = TakePart(&text);
  int64_t door = 0;
  if (!IsName(name) || !ParseToken(token, &address.token) || !ParseInteger(pid, &address.pid) ||
      !ParseInteger(text, &door)) {
    return std::nullopt;
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (address.pid < 0 || address.pid > kMost || door < -1 || door > kMost) return std::nullopt;
  address.name = name;
  address.door = static_cast<int32_t>(door);
  return address;
}

std::string DoorPath(const WatcherAddress& address) {
  if (!address.path.empty()) return address.path;
  if (address.pid == 0 || address.door < 0) return "";
  return "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.door);
}

}  // namespace cairn
